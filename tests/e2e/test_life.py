"""What ends, what goes on, and what is left when parts of a session are taken away."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import ASKING, BUSY, KERNEL, SUM_LINE
from sessions import AT_START, stop_in_kernel
from terminal import Marked, Start, Terminal, until

from pkdb_tui.engine import saved

pytestmark = pytest.mark.e2e
SCREEN = r"^\S*python\S* -m pkdb_tui "
PROGRAM = r"^\S*python\S* .*debuggee"
GDB = r"^gdb "


@pytest.mark.parametrize("moment", ["starting", "stopped", "running", "in a kernel", "stepping", "with a hung gdb"])
def test_screen_killed(start: Start, marked: Marked, moment: str) -> None:
    screen = start(BUSY if moment == "running" else KERNEL)
    if moment == "starting":
        assert until(lambda: bool(marked.matching(PROGRAM)), 15.0), marked.processes()
    elif moment in ("stopped", "running"):
        screen.wait_for(AT_START)
        if moment == "running":
            screen.press("c")
            screen.wait_for("▪ running")
    else:
        stop_in_kernel(screen)
        assert len(marked.debugging()) >= 3, marked.debugging()
    if moment == "with a hung gdb":
        os.kill(marked.one(GDB), signal.SIGSTOP)
    if moment == "stepping":
        screen.press("n", "n", "n")
    os.kill(marked.one(SCREEN), signal.SIGKILL)
    assert until(lambda: not marked.debugging(), 3.0), marked.debugging()


def test_terminal_gone(start: Start, marked: Marked) -> None:
    screen = start(KERNEL)
    stop_in_kernel(screen)
    screen.kill()
    assert until(lambda: not marked.processes(), 3.0), marked.processes()


@pytest.mark.parametrize("way", ["signal", "key"])
def test_program_ends_where_nothing_can_be_saved(
    start: Start, marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """What is to be kept can be on a disk that doesn't answer: a pipe that nobody writes to stands in for it."""
    screen = start(KERNEL)
    stop_in_kernel(screen)
    monkeypatch.setenv("PKDB_STATE", str(tmp_path / "state"))
    kept = saved.path_of(os.path.realpath(tmp_path / "program.py"))
    kept.parent.mkdir(parents=True)
    os.mkfifo(kept)
    if way == "signal":
        os.kill(marked.one(SCREEN), signal.SIGTERM)
    else:
        screen.press("q")
    assert until(lambda: len(marked.debugging()) == 1, 3.0), marked.debugging()
    os.kill(marked.one(SCREEN), signal.SIGKILL)


def test_program_killed(start: Start, marked: Marked) -> None:
    screen = start(KERNEL)
    screen.wait_for(AT_START)
    os.kill(marked.one(PROGRAM), signal.SIGKILL)
    screen.wait_for("exited: signal SIGKILL")
    screen.press("R")
    screen.wait_for(AT_START)
    screen.press("q")
    assert screen.wait_end() == "0"


def test_native_debugger_killed(start: Start, marked: Marked) -> None:
    """Its breakpoints are taken out of the program, which runs on; a restart has them all."""
    screen = start(KERNEL)
    stop_in_kernel(screen)
    os.kill(marked.one(GDB), signal.SIGKILL)
    screen.wait_for("The native debugger is gone: gdb ended. The program runs on")
    screen.wait_for("exited: status 0")
    screen.press("7")
    screen.wait_for("total is 2240.0")
    screen.press("Escape")
    screen.press("R")
    screen.wait_for(AT_START)
    screen.press("c")
    screen.wait_for(r"▪ kernel scaled_sum .*breakpoint 1")


def test_native_debugger_hung(start: Start, marked: Marked) -> None:
    """It is said what to do; a pause ends it and lets the program run on."""
    screen = start(KERNEL)
    stop_in_kernel(screen)
    os.kill(marked.one(GDB), signal.SIGSTOP)
    screen.press("n")
    screen.wait_for(r"The native debugger doesn't answer \(3 s\)")
    screen.press("C-c")
    screen.wait_for("The native debugger is gone: gdb did not answer within 3 s and was ended. The program runs on")
    screen.wait_for("exited: status 0")
    screen.press("R")
    screen.wait_for(AT_START)
    screen.press("q")
    assert screen.wait_end() == "0"


@pytest.mark.parametrize("verb", ["n", "c", ""])
def test_restart_behind_a_hung_native_debugger(start: Start, marked: Marked, verb: str) -> None:
    screen = start(KERNEL)
    stop_in_kernel(screen)
    os.kill(marked.one(GDB), signal.SIGSTOP)
    if verb:
        screen.press(verb)
    screen.press("R")
    screen.wait_for(AT_START)
    screen.press("c")
    screen.wait_for(r"▪ kernel scaled_sum .*breakpoint 1")
    os.kill(marked.one(GDB), signal.SIGSTOP)
    if verb:
        screen.press(verb)
    screen.press("q")
    assert screen.wait_end() == "0"
    assert until(lambda: not marked.debugging(), 3.0), marked.debugging()


def test_restart_keeps_breakpoint(start: Start) -> None:
    screen = start(KERNEL)
    stop_in_kernel(screen)
    screen.press("R")
    screen.wait_for(AT_START)
    screen.wait_for(rf"{SUM_LINE} [○●]")
    screen.press("c")
    screen.wait_for(r"▪ kernel scaled_sum .*breakpoint 1")
    screen.press("q")
    assert screen.wait_end() == "0"


def test_busy_program_pauses(start: Start) -> None:
    screen = start(BUSY)
    screen.wait_for(AT_START)
    screen.press("c")
    screen.wait_for("▪ running")
    screen.press("C-c")
    screen.wait_for(r"▪ python · <module> · pause")
    screen.press("n")
    screen.wait_for(r"▪ python · <module> · step")
    screen.press("q")
    assert screen.wait_end() == "0"


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40), (200, 60)])
def test_typed_line_reaches_program(start: Start, columns: int, rows: int) -> None:
    screen = start(ASKING, columns, rows)
    screen.wait_for(AT_START)
    screen.press("c")
    screen.wait_for("▪ waiting for input · 7 and type it")
    screen.wait_for("who is there\\?")
    screen.press("7")
    screen.wait_for_cursor("the program waits for a line")
    screen.type("Ada")
    screen.press("Enter")
    screen.wait_for("good day, Ada")
    screen.wait_for("exited")


def test_resize_keeps_focus_line(start: Start) -> None:
    screen = start(KERNEL)
    stop_in_kernel(screen)
    for columns, rows in ((80, 24), (200, 60), (60, 16), (120, 40)):
        screen.resize(columns, rows)
        screen.wait_for(rf"\n +{SUM_LINE} ●▶ +acc \+= row")
        assert len(screen.lines) == rows


def test_tiny_terminal(start: Start) -> None:
    screen = start(KERNEL, 20, 5)
    screen.wait_for("pkdb>")
    screen.type("break 8")
    screen.press("Enter")
    screen.wait_for(r"not +run yet|has not|pending")
    screen.type("continue")
    screen.press("Enter")
    screen.wait_for(r"^ breakpoint 1 +t0\n")
    assert len(screen.lines) == 5
    screen.resize(120, 40)
    screen.wait_for(rf"\n +{SUM_LINE} ●▶ +acc \+= row")


def test_keys_in_the_middle_of_a_step(start: Start) -> None:
    """Keys for a stop that is just over change nothing, and the session goes on."""
    screen = start(KERNEL)
    stop_in_kernel(screen)
    screen.press("n", "a", "n", "a", "n", "a")
    screen.wait_for(r"▪ kernel scaled_sum .*(step|j = 1)")
    screen.press("q")
    assert screen.wait_end() == "0"


def test_suspended_and_brought_back(
    terminals: Callable[..., Terminal], environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "p.py").write_text("one = 1\ntwo = 2\nprint(one + two)\n")
    screen = terminals(["bash", "--norc", "-i"], tmp_path, {**environment, "PS1": "shell> "}, 80, 24)
    screen.wait_for("shell>")
    screen.type(f"{sys.executable} -m pkdb_tui p.py\n")
    screen.wait_for("▪ python · <module> · start")
    screen.press("C-z")
    screen.wait_for("Stopped")
    screen.type("echo $((40 + 2)); fg\n")
    screen.wait_for("▪ python · <module> · start")
    assert "shell>" not in screen.wait_for("1  ▶ one = 1")
    assert "n next  s step" in screen.wait_for("print\\(one")
    screen.press("n")
    screen.wait_for("2  ▶ two = 2")
    screen.press("q")
    screen.wait_for("(?s)\\n42\\n.*\\nshell>")
    screen.type("exit\n")
    screen.wait_end()
