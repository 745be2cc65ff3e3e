"""gdb hangs or is killed at every moment: it is said, pause and restart and quit get out, the program is not lost."""

from __future__ import annotations

import os
import shutil
import signal
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pytest
from cli import PROMPT, gone, terminal
from faulty_gdb import faulty_gdb

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)
STOP = "stopped: breakpoint 1 rounds.py:11 in fill"
HANGS = "warning: The native debugger doesn't answer (3 s). It is ended after 20 s, or at once by pausing;"
GONE = "The program runs on; kernel breakpoints return at the next launch."
ANEW = "It is attached anew at the next launch."
BEFORE_THE_STOP = {
    "starting": (r"gdbside\.py", ANEW),
    "attaching": (r"-target-attach", ANEW),
    "letting the program go": (r"thread apply .* continue&", GONE),
    "loading": (r"-pkdb-load", GONE),
    "placing": (r"-pkdb-insert", GONE),
    "finding where it stopped": (r"-pkdb-place", GONE),
    "looking": (r"-pkdb-view", GONE),
}
AT_THE_STOP = {
    "next": r"thread apply .* next&",
    "step": r"-pkdb-entry",
    "finish": r"-pkdb-enable",
    "continue": r"thread apply .* continue&",
    "until": r"-pkdb-beyond",
    "parallel_print value": r"-pkdb-variables-of-threads",
    "print out[0:4]": r"-pkdb-read",
    "tbreak 10": r"-pkdb-rule",
}


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")


@contextmanager
def rounds(gdb: str, *commands: str) -> Iterator[pexpect.spawn[str]]:
    """`rounds.py` with a breakpoint in its kernel; every process of it is gone afterwards."""
    marker = f"mark{uuid.uuid4().hex}"
    given = [word for command in ("break 11", *commands) for word in ("-c", command)]
    with terminal("--runtime", "embedded", "--gdb", gdb, *given, "rounds.py", marker) as child:
        yield child
        child.sendline("quit")
        child.expect(pexpect.EOF)
    assert gone(marker)


@contextmanager
def hung_at_a_stop() -> Iterator[pexpect.spawn[str]]:
    """`rounds.py` at its breakpoint, its gdb stopped."""
    with rounds("gdb", "continue") as child:
        child.expect_exact(STOP)
        child.expect_exact(PROMPT)
        os.kill(native(child), signal.SIGSTOP)
        yield child


def run_out(child: pexpect.spawn[str]) -> None:
    """From the stop that is shown to a sound end: no element of the kernel's work is lost."""
    child.sendline("delete")
    child.sendline("continue")
    child.expect_exact("sum 31.0")
    child.expect_exact("exited: status 0")


@pytest.mark.parametrize("moment", BEFORE_THE_STOP)
def test_killed_on_the_way_to_a_stop(moment: str, tmp_path: Path) -> None:
    pattern, told = BEFORE_THE_STOP[moment]
    with rounds(faulty_gdb(tmp_path, pattern, signal.SIGKILL), "continue") as child:
        child.expect_exact(told)
        child.expect_exact(STOP)
        run_out(child)


@pytest.mark.parametrize("verb", AT_THE_STOP)
def test_killed_by_what_is_asked_at_a_stop(verb: str, tmp_path: Path) -> None:
    before = 1 if verb in ("continue", "tbreak 10") else 0  # on the way to the stop
    with rounds(faulty_gdb(tmp_path, AT_THE_STOP[verb], signal.SIGKILL, before + 1), "continue") as child:
        child.expect_exact(STOP)
        child.expect_exact(PROMPT)
        child.sendline(verb)
        child.expect_exact(GONE)
        child.expect_exact("stopped: breakpoint ")
        run_out(child)


@pytest.mark.parametrize("moment", ["attaching", "placing", "looking"])
def test_hung_on_the_way_to_a_stop_and_paused(moment: str, tmp_path: Path) -> None:
    pattern, told = BEFORE_THE_STOP[moment]
    with rounds(faulty_gdb(tmp_path, pattern, signal.SIGSTOP), "continue") as child:
        child.expect_exact(HANGS)
        child.sendintr()
        child.expect_exact(told, timeout=5)
        child.expect("stopped: (pause|breakpoint)")
        run_out(child)


@pytest.mark.parametrize("verb", ["next", "continue", "print out[0:4]"])
def test_hung_at_a_stop_and_paused(verb: str, tmp_path: Path) -> None:
    with hung_at_a_stop() as child:
        child.sendline(verb)
        child.expect_exact(HANGS)
        child.sendintr()
        child.expect_exact(GONE, timeout=5)
        child.expect("stopped: (pause|breakpoint)")
        run_out(child)


def test_hung_at_a_stop_is_given_up_by_itself(tmp_path: Path) -> None:
    with hung_at_a_stop() as child:
        child.sendline("next")
        child.expect_exact(HANGS)
        child.expect_exact("did not answer within 20 s and was ended", timeout=30)
        child.expect_exact(GONE)
        child.expect_exact(STOP)
        run_out(child)


def test_hung_at_a_stop_and_restarted() -> None:
    with hung_at_a_stop() as child:
        child.sendline("restart")
        child.expect_exact("stopped: start rounds.py:1")
        child.sendline("continue")
        child.expect_exact(STOP)
        run_out(child)


def test_hung_at_a_stop_and_quit() -> None:
    with hung_at_a_stop():
        pass  # its end quits, and looks whether all is gone


def test_hung_while_the_kernel_runs_and_paused() -> None:
    """The pause gives it up, attaches another and stops in the kernel that runs."""
    first = ["-c", "tbreak 11", "-c", "continue"]
    with terminal("--runtime", "embedded", *first, "long_kernel.py", "2000000000") as child:
        child.expect_exact("stopped: breakpoint 1 long_kernel.py:11 in spin")
        child.expect_exact(PROMPT)
        child.sendline("set catch on")  # it stays attached
        child.expect_exact("catch on")
        child.sendline("continue")
        debugger = native(child)
        wait_until_running(traced_by(debugger))
        os.kill(debugger, signal.SIGSTOP)
        child.sendintr()
        child.expect_exact(GONE)
        child.expect(r"stopped: pause long_kernel\.py:1[1-4] in spin thread \d")
        child.sendline("where")
        child.expect(r"1 <module> long_kernel\.py:19 python")


@pytest.mark.parametrize("state", ["sound", "hung"])
@pytest.mark.parametrize("verb", ["", "next", "print out[0:4]", "continue"])
def test_the_program_killed_at_a_stop(state: str, verb: str) -> None:
    with rounds("gdb", "continue") as child:
        child.expect_exact(STOP)
        child.expect_exact(PROMPT)
        debugger = native(child)
        program = traced_by(debugger)
        if state == "hung":
            os.kill(debugger, signal.SIGSTOP)
        if verb and state == "hung":
            child.sendline(verb)
            child.expect_exact(HANGS)
        os.kill(program, signal.SIGKILL)
        if verb and state == "sound":
            child.sendline(verb)
        child.expect_exact("exited: signal SIGKILL")
        child.sendline("restart")
        child.expect_exact("stopped: start rounds.py:1")
        child.sendline("continue")
        child.expect_exact(STOP)
        run_out(child)


@pytest.mark.parametrize("moment", ["attaching", "letting the program go", "placing", "looking"])
def test_the_program_killed_on_the_way_to_a_stop(moment: str, tmp_path: Path) -> None:
    gdb = faulty_gdb(tmp_path, BEFORE_THE_STOP[moment][0], signal.SIGKILL, whom="program")
    with rounds(gdb, "continue") as child:
        child.expect_exact("exited: signal SIGKILL")
        child.sendline("restart")
        child.expect_exact("stopped: start rounds.py:1")
        child.sendline("continue")
        child.expect_exact(STOP)
        run_out(child)


def native(child: pexpect.spawn[str]) -> int:
    """The gdb that is attached."""
    assert child.pid is not None
    (found,) = [pid for pid in children(child.pid) if read(f"/proc/{pid}/comm") == "gdb\n"]
    return found


def traced_by(debugger: int) -> int:
    for folder in Path("/proc").glob("[0-9]*"):
        if f"TracerPid:\t{debugger}\n" in read(f"{folder}/status"):
            return int(folder.name)
    raise AssertionError("it traces nothing")


def wait_until_running(program: int) -> None:
    """Until no thread of it is held."""
    limit = time.monotonic() + 10
    while any("State:\tt" in read(f"{task}/status") for task in Path(f"/proc/{program}/task").iterdir()):
        assert time.monotonic() < limit
        time.sleep(0.02)


def children(parent: int) -> list[int]:
    tasks = Path(f"/proc/{parent}/task").iterdir()
    return [int(pid) for task in tasks for pid in read(f"{task}/children").split()]


def read(path: str) -> str:
    """A file of /proc; empty for a process or thread that has just ended."""
    try:
        return Path(path).read_text()
    except OSError:
        return ""
