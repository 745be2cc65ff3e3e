"""Ctrl-C stops the program wherever it is, never kills it, and it goes on afterwards."""

from __future__ import annotations

import re
import tempfile
import time
from pathlib import Path

import pexpect
import pytest
from cli import PROMPT, terminal

STOP = re.compile(r"stopped: pause (\S+):(\d+) in (\S+)")


@pytest.mark.parametrize(
    ("how", "function"),
    [
        ("spinning", "spinning"),
        ("sleeping", "sleeping"),
        ("ticking", "ticking"),
        ("joining", "joining"),
        ("asking", "asking"),
        ("calling", "calling"),
    ],
)
def test_ctrl_c_stops_within_half_a_second_and_continue_goes_on(how: str, function: str) -> None:
    with terminal("waits.py", how) as child:
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact(f"here {how}")
        begun = time.monotonic()
        child.sendintr()
        child.expect(STOP)
        assert time.monotonic() - begun < 1.0  # half a second, and as much for a busy machine
        child.expect_exact(PROMPT)
        child.sendline("where")
        child.expect(rf" \d+ {function} ")
        child.expect_exact(PROMPT)
        child.sendline("continue")
        stop_again(child)
        child.expect_exact(PROMPT)
        child.sendline("quit")
        child.expect(pexpect.EOF)


def stop_again(child: pexpect.spawn[str]) -> None:
    """Interrupt until the program, which may not have gone on yet, is stopped."""
    for _ in range(10):
        child.sendintr()
        if child.expect([STOP, pexpect.TIMEOUT], timeout=2) == 0:
            return
    pytest.fail("the program could not be stopped a second time")


def test_native_code_that_keeps_python_waiting_is_named_and_can_be_quit() -> None:
    with terminal("waits.py", "iterating") as child:
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("here iterating")
        child.sendintr()
        child.expect_exact("note: The program is in native code that keeps Python waiting, with no line to stop at.")
        child.sendintr()
        child.expect_exact("note: The program runs on.")
        child.expect_exact(PROMPT)
        child.sendline("print 1")
        child.expect_exact("error: `print` can't be used while the program runs")
        child.sendintr()
        child.expect_exact(PROMPT)
        child.sendline("quit")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 0


def test_ctrl_c_throws_nothing_away_that_was_said_and_not_yet_shown() -> None:
    with terminal("waits.py", "sleeping") as child:
        child.expect_exact(PROMPT)
        for turn in range(20):
            child.sendline(f"print 'said', {turn}")
            child.expect_exact(f"('said', {turn})\r\n")
            child.sendintr()  # just as the prompt is written
            child.expect_exact(PROMPT)
        child.send("print 'half")
        child.sendintr()
        child.expect_exact(f"\r\n{PROMPT}")
        child.sendline("print 'whole'")
        child.expect_exact("whole")
        child.expect_exact(PROMPT)
        child.sendline("for each in range(3):")
        child.expect_exact("....> ")
        child.sendintr()
        child.expect_exact(PROMPT)
        child.sendline("print 'anew'")
        child.expect_exact("anew")


def test_a_continue_typed_ahead_is_carried_out_and_then_paused() -> None:
    with terminal("waits.py", "sleeping") as child:
        child.sendline("where")  # before there is a prompt
        child.sendline("continue")
        child.expect_exact(PROMPT)
        child.sendintr()
        child.expect(STOP)
        child.expect_exact(PROMPT)
        child.sendline("quit")
        child.expect(pexpect.EOF)


def test_a_pause_in_a_module_that_is_half_imported_does_not_disturb_the_program() -> None:
    program = "import asyncio\nprint('imported', asyncio.sleep.__name__)\n"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "imports.py").write_text(program)
        with terminal("imports.py", folder=Path(folder)) as child:
            child.expect_exact(PROMPT)
            for _ in range(30):
                child.sendline("continue")
                child.sendintr()
                over = child.expect([STOP, "exited: "]) == 1
                assert "Error" not in child.before
                if over:
                    break
                child.expect_exact(PROMPT)
            else:
                child.sendline("continue")
                child.expect_exact("exited: ")
            child.expect_exact("status 0")


def test_a_paused_question_is_answered_afterwards() -> None:
    with terminal("waits.py", "asking") as child:
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("name? ")
        child.sendintr()
        child.expect(STOP)
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.sendline("Ada")
        child.expect_exact("name Ada")
        child.expect_exact("exited: status 0")


def test_a_sleep_that_was_paused_can_be_looked_at_and_left() -> None:
    with terminal("waits.py", "joining") as child:
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("here joining")
        child.sendintr()
        child.expect(STOP)
        child.expect_exact(PROMPT)
        child.sendline("info threads")
        child.expect(r"> MainThread")
        child.expect(r"Thread-1")
        child.expect_exact(PROMPT)
        child.sendline("quit")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 0


def test_ctrl_c_at_the_prompt_does_nothing_to_the_program() -> None:
    with terminal("orders.py") as child:
        child.expect_exact(PROMPT)
        child.sendintr()
        child.sendline("print 6 * 7")
        child.expect_exact("42")
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("exited: status 0")
