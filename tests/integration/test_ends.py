"""Each way to end is named, and nothing that was started stays."""

from __future__ import annotations

import os
import signal
import subprocess
import uuid
from contextlib import suppress
from pathlib import Path

import pexpect
import pytest
from cli import COMMAND, FIXTURES, PROMPT, environment, gone, living, plain, send_signal, terminal

from pkdb_tui.engine import saved


@pytest.mark.parametrize(
    ("how", "text", "status"),
    [
        ("status", "exited: status 3", 3),
        ("message", "exited: status 1", 1),
        ("hard", "exited: status 7", 7),
        ("abort", "exited: signal SIGABRT", 134),
        ("segv", "exited: signal SIGSEGV", 139),
        ("kill", "exited: signal SIGKILL", 137),
        ("term", "exited: signal SIGTERM", 143),
        ("atexit", "exited: status 0", 0),
        ("thread", "exited: status 0", 0),
        ("exec", "exited: status 0", 0),
    ],
)
def test_an_end_is_named_and_gives_its_status(how: str, text: str, status: int) -> None:
    run = plain("ends.py", how, commands=["continue"])
    assert run.lines[2] == f"ending by {how}"
    assert run.lines[-1] == text
    assert run.starting("exited:") == [text]
    assert (run.status, run.err) == (status, "")


@pytest.mark.parametrize(("how", "name", "line"), [("abort", "SIGABRT", 22), ("segv", "SIGSEGV", 24)])
def test_a_fault_says_how_its_python_line_is_found_and_that_finds_it(how: str, name: str, line: int) -> None:
    (said,) = plain("ends.py", how, commands=["continue"]).starting("note: ")
    assert said == (
        f"note: Which Python line {name} came at isn't known: "
        "started as `PYTHONFAULTHANDLER=1 pkdb-tui …` the program prints it."
    )
    run = plain("ends.py", how, commands=["continue"], variables={"PYTHONFAULTHANDLER": "1"})
    assert any(row.endswith(f'ends.py", line {line} in <module>') for row in run.lines)
    assert run.starting("note: ") == []


def test_words_of_the_end_come_before_it() -> None:
    assert "a message" in plain("ends.py", "message", commands=["continue"]).lines
    assert plain("ends.py", "atexit", commands=["continue"]).lines[-2] == "the last word"
    assert plain("ends.py", "thread", commands=["continue"]).lines[-2] == "from the thread"
    assert plain("ends.py", "exec", commands=["continue"]).lines[-2] == "another program"


def test_an_exception_stops_and_then_ends() -> None:
    run = plain("ends.py", "raise", commands=["continue", "continue"])
    assert run.stops[1] == "stopped: exception KeyError: 'missing' ends.py:20 in <module>"
    assert run.lines[-1] == "exited: exception KeyError: 'missing'"
    assert run.status == 1


def test_commands_after_the_end_say_so() -> None:
    run = plain("ends.py", "status", commands=["continue", "next", "print how", "info breakpoints"])
    assert run.err.splitlines() == [
        "error: The program has ended: no `next`. `restart` (R) runs it again.",
        "error: The program has ended: no `print`. `restart` (R) runs it again.",
        "error: the command `next` was refused",
    ]
    assert run.lines[-1] == "there are no breakpoints"
    assert run.status == 1


def test_restart_after_the_end_keeps_breakpoints_and_displays() -> None:
    run = plain(
        "orders.py",
        commands=["break 24", "display amount", "continue", "continue", "restart", "info breakpoints", "continue"],
    )
    assert run.stops == [
        "stopped: start orders.py:1 in <module>",
        "stopped: breakpoint 1 orders.py:24 in main",
        "stopped: start orders.py:1 in <module>",
        "stopped: breakpoint 1 orders.py:24 in main",
    ]
    assert run.lines[-4] == "breakpoint 1 at orders.py:24: bound"
    assert (
        run.lines[-1] == "1: amount = 27.5  (was NameError: name 'amount' is not defined)"
        or run.lines[-1] == "1: amount = 27.5"
    )


def test_restart_from_a_stop_starts_anew() -> None:
    run = plain("orders.py", commands=["tbreak 24", "continue", "restart", "next", "continue"])
    assert run.stops[2] == "stopped: start orders.py:1 in <module>"
    assert run.lines[-2:] == ["amount 27.5", "exited: status 0"]
    assert run.out.count("exited:") == 1


@pytest.mark.parametrize("how", ["children", "catchall"])
def test_quit_ends_the_program_and_its_children(how: str) -> None:
    marker = f"mark{uuid.uuid4().hex}"
    with terminal("ends.py", how, marker) as child:
        child.expect_exact(PROMPT)
        child.sendline("tbreak 44" if how == "children" else "continue")
        child.expect_exact(PROMPT if how == "children" else "quit me: ")
        if how == "catchall":
            child.sendintr()
        else:
            child.sendline("continue")
        child.expect_exact(PROMPT)
        child.sendline("quit")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 0
    assert gone(marker)


def test_children_that_outlive_the_program_go_with_the_session() -> None:
    marker = f"mark{uuid.uuid4().hex}"
    run = plain("ends.py", "children", marker, commands=["continue"])
    assert run.lines[-1] == "exited: status 0"
    assert gone(marker)


def test_an_end_that_comes_at_the_prompt_stands_on_a_line_of_its_own_and_brings_the_prompt_again() -> None:
    marker = f"mark{uuid.uuid4().hex}"
    with terminal("waits.py", "calling", marker) as child:
        child.expect_exact(PROMPT)
        (program,) = [pid for pid in living(marker) if pid != child.pid]
        os.kill(program, signal.SIGKILL)
        child.expect_exact(f"\r\nexited: signal SIGKILL\r\n{PROMPT}")
        child.sendline("info breakpoints")
        child.expect_exact(f"there are no breakpoints\r\n{PROMPT}")
        assert child.before == ""
        child.sendline("quit")
        child.expect(pexpect.EOF)
    assert gone(marker)


def test_a_killed_debugger_leaves_no_process() -> None:
    marker = f"mark{uuid.uuid4().hex}"
    with terminal("waits.py", "spinning", marker) as child:
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("here spinning")
        assert len(living(marker)) == 2
        send_signal(child, signal.SIGKILL)
        assert gone(marker)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_debugger_terminated_at_its_prompt_leaves_no_process(number: signal.Signals) -> None:
    marker = f"mark{uuid.uuid4().hex}"
    with terminal("waits.py", "calling", marker) as child:
        child.expect_exact(PROMPT)
        send_signal(child, number)
        child.expect(pexpect.EOF)
    assert gone(marker)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminated_debugger_leaves_no_process(number: signal.Signals) -> None:
    marker = f"mark{uuid.uuid4().hex}"
    with terminal("waits.py", "calling", marker) as child:
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("here calling")
        send_signal(child, number)
        child.expect(pexpect.EOF)
    assert gone(marker)


def test_a_debugger_that_cannot_save_ends_its_program_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is to be kept can be on a disk that doesn't answer: a pipe that nobody writes to stands in for it."""
    marker = f"mark{uuid.uuid4().hex}"
    with terminal("waits.py", "calling", marker, state=tmp_path) as child:
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("here calling")
        monkeypatch.setenv("PKDB_STATE", str(tmp_path))
        kept = saved.path_of(str(FIXTURES / "waits.py"))
        kept.parent.mkdir(parents=True)
        os.mkfifo(kept)
        send_signal(child, signal.SIGHUP)
        assert gone(marker, but=child.pid)


def test_a_program_that_closes_its_descriptors_can_still_be_stopped() -> None:
    with terminal("ends.py", "closefds", "256", "600") as child:
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("still here")
        child.sendintr()
        child.expect_exact("stopped: pause ends.py:36 in <module>")


def test_a_program_that_closes_every_descriptor_runs_on_and_its_end_is_told() -> None:
    run = plain("ends.py", "closefds", "65536", "1", commands=["continue"])
    assert "still here" in run.lines
    assert run.err.startswith("error: The program closed the debugger's connection: it runs on")
    assert run.lines[-1] == "exited: status 0"


def test_a_program_that_closed_every_descriptor_can_be_quit() -> None:
    marker = f"mark{uuid.uuid4().hex}"
    with terminal("ends.py", "closefds", "65536", "600", marker) as child:
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("can't be stopped any more")
        child.sendintr()
        child.expect_exact(PROMPT)
        child.sendline("quit")
        child.expect(pexpect.EOF)
    assert gone(marker)


def test_end_of_input_ends_everything() -> None:
    marker = f"mark{uuid.uuid4().hex}"
    process = subprocess.Popen(
        [*COMMAND, "--plain", "waits.py", "calling", marker],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=FIXTURES,
        env=environment(),
        text=True,
    )
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.close()
    assert process.wait(20) == 0
    assert process.stdout is not None
    assert process.stdout.read().splitlines()[0] == "stopped: start waits.py:1 in <module>"
    assert gone(marker)


def test_it_ends_when_nobody_reads_its_output() -> None:
    marker = f"mark{uuid.uuid4().hex}"
    process = subprocess.Popen(
        [*COMMAND, "--plain", "-c", "continue", "speaking.py", "flood", marker],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=FIXTURES,
        env=environment(),
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "stopped: start speaking.py:1 in <module>\n"
    process.stdout.close()
    assert process.wait(20) == 141
    assert process.stderr.read() == ""
    process.stderr.close()
    assert gone(marker)
