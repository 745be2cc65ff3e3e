"""What ends, what goes on, and what is left when parts of a session are taken away."""

from __future__ import annotations

import os
import signal

import pytest
from programs import ASKING, BUSY, KERNEL, SUM_LINE
from sessions import AT_START, stop_in_kernel
from terminal import Marked, Start, until

pytestmark = pytest.mark.e2e
SCREEN = r"^\S*python\S* -m pkdb_tui "
PROGRAM = r"^\S*python\S* .*debuggee"
GDB = r"^gdb "


def test_screen_killed_in_kernel(start: Start, marked: Marked) -> None:
    stop_in_kernel(start(KERNEL))
    assert len(marked.debugging()) >= 3, marked.debugging()
    os.kill(marked.one(SCREEN), signal.SIGKILL)
    assert until(lambda: not marked.debugging(), 3.0), marked.debugging()


def test_terminal_gone(start: Start, marked: Marked) -> None:
    screen = start(KERNEL)
    stop_in_kernel(screen)
    screen.kill()
    assert until(lambda: not marked.processes(), 3.0), marked.processes()


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
    """Its breakpoint instructions stay in the program, which can't go on: it is said, and a restart keeps all."""
    screen = start(KERNEL)
    stop_in_kernel(screen)
    os.kill(marked.one(GDB), signal.SIGKILL)
    screen.wait_for("The native debugger ended while its breakpoints were in the program")
    screen.wait_for("exited: signal SIGTRAP")
    screen.press("R")
    screen.wait_for(AT_START)
    screen.press("c")
    screen.wait_for(r"▪ kernel scaled_sum .*breakpoint 1")


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


def test_typed_line_reaches_program(start: Start) -> None:
    screen = start(ASKING)
    screen.wait_for(AT_START)
    screen.press("c")
    screen.wait_for("▪ running")
    screen.press("7")
    screen.wait_for("who is there\\?")
    screen.wait_for("to the program")
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
    screen.wait_for("of 2 · j = 0")  # the end of the stop as the console tells it
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
