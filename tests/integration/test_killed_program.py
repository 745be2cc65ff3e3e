"""The program is killed while something is asked of it: its end is told once, and a restart has all it had."""

from __future__ import annotations

import os
import shutil
import signal
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pytest
from cli import PROMPT, gone, living, terminal
from dying_program import dying_program
from faulty_gdb import faulty_gdb

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)
SLOW = """\
import time


def slow(path):
    open(path, "w").close()
    time.sleep(600)


here = 1
slow("stepped over")
"""
KILLED = "exited: signal SIGKILL"


@contextmanager
def debugged(*arguments: str, folder: Path) -> Iterator[tuple[pexpect.spawn[str], str]]:
    """A session at its prompt, and the mark of its processes; at the end none of them is left."""
    marker = f"mark{uuid.uuid4().hex}"
    with terminal("--runtime", "embedded", *arguments, marker, folder=folder) as child:
        child.expect_exact(PROMPT)
        yield child, marker
        child.sendline("quit")
        child.expect(pexpect.EOF)
    assert gone(marker)


def told_once(child: pexpect.spawn[str]) -> None:
    """The end, and nothing else about it but that the request under way failed."""
    child.expect_exact(KILLED)
    child.sendline("info breakpoints")
    child.expect_exact("breakpoint 1 at ")
    child.expect_exact(PROMPT)
    assert "Traceback" not in (child.before or "")
    assert KILLED not in (child.before or "")


def kill(marker: str, *debuggers: int | None) -> None:
    (program,) = [pid for pid in living(marker) if pid not in debuggers]
    os.kill(program, signal.SIGKILL)


def appears(path: Path, child: pexpect.spawn[str]) -> None:
    """Until the program has made the file."""
    while not path.exists():
        assert child.expect([pexpect.TIMEOUT, "error: .*"], timeout=0.05) == 0


def met(moment: str) -> str:
    """What the moment is met by: the start itself, or a request."""
    return "^begin$" if moment == "begin" else f'"command": "{moment}"'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text(SLOW)
    shutil.copy(Path(__file__).parents[1] / "fixtures" / "rounds.py", tmp_path)
    return tmp_path


@pytest.mark.parametrize("moment", ["begin", "settings", "setBreakpoints", "resume"])
def test_during_the_start(folder: Path, moment: str) -> None:
    python = dying_program(folder, met(moment), 1)
    with debugged("--python", python, "slow.py", folder=folder) as (child, _):
        assert KILLED in (child.before or "")
        assert "error" not in (child.before or "")
        child.sendline("restart")
        child.expect_exact("stopped: start slow.py:1")
        child.expect_exact(PROMPT)


@pytest.mark.parametrize("moment", ["begin", "settings", "setBreakpoints", "setSubstitutions", "resume"])
def test_during_a_restart(folder: Path, moment: str) -> None:
    count = {"begin": 2, "settings": 4, "setSubstitutions": 2, "setBreakpoints": 3, "resume": 3}[moment]
    python = dying_program(folder, met(moment), count)
    with debugged("--python", python, "slow.py", folder=folder) as (child, _):
        child.sendline("break 9")
        child.expect_exact("breakpoint 1")
        child.expect_exact(PROMPT)
        if moment == "resume":
            child.sendline("continue")
            child.expect_exact("stopped: breakpoint 1")
            child.expect_exact(PROMPT)
        child.sendline("restart")
        told_once(child)
        child.sendline("restart")
        child.expect_exact("stopped: start slow.py:1")
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("stopped: breakpoint 1 slow.py:9 in <module>")
        child.expect_exact(PROMPT)


@pytest.mark.parametrize("verb", ["print slow('asked')", "next"])
def test_during_an_evaluation_and_a_step_in_python(folder: Path, verb: str) -> None:
    with debugged("-c", "break 10", "-c", "continue", "slow.py", folder=folder) as (child, marker):
        child.sendline(verb)
        appears(folder / ("stepped over" if verb == "next" else "asked"), child)
        kill(marker, child.pid)
        told_once(child)
        child.sendline("restart")
        child.expect_exact("stopped: start slow.py:1")
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("stopped: breakpoint 1 slow.py:10 in <module>")
        child.expect_exact(PROMPT)


def test_during_an_evaluation_in_python_at_a_kernel_stop(folder: Path) -> None:
    """The program's own Python, which the launch has left, is asked for what only it knows."""
    with debugged("-c", "break 11", "-c", "continue", "rounds.py", folder=folder) as (child, marker):
        child.sendline("up")
        child.expect_exact(PROMPT)
        child.sendline("print open('asked', 'w').close() or __import__('time').sleep(600)")
        appears(folder / "asked", child)
        debuggers = [pid for pid in living(marker) if Path(f"/proc/{pid}/comm").read_text() == "gdb\n"]
        kill(marker, *debuggers, child.pid)
        told_once(child)


@pytest.mark.parametrize("verb", ["next", "step", "finish", "print out[0:4]"])
def test_during_an_evaluation_and_a_step_in_a_kernel(folder: Path, verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    asked = {"next": r"thread apply .* next&", "step": r"-pkdb-entry", "finish": r"-pkdb-enable"}
    gdb = faulty_gdb(folder, asked.get(verb, r"-pkdb-read"), signal.SIGKILL, whom="program")
    given = ["-c", "break 11", "-c", "continue"]
    with debugged("--gdb", gdb, *given, "rounds.py", folder=folder) as (child, _):
        child.sendline(verb)
        told_once(child)
        child.sendline("restart")
        child.expect_exact("stopped: start rounds.py:1")
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("stopped: breakpoint 1 rounds.py:11 in fill")
        child.expect_exact(PROMPT)
