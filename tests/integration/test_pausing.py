"""Ctrl-C stops the program wherever it is, never kills it, and it goes on afterwards."""

from __future__ import annotations

import re
import time

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
        ("iterating", "iterating"),
    ],
)
def test_ctrl_c_stops_within_half_a_second_and_continue_goes_on(how: str, function: str) -> None:
    with terminal("waits.py", how) as child:
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact(f"here {how}")
        for _ in range(2):
            begun = time.monotonic()
            child.sendintr()
            child.expect(STOP)
            assert time.monotonic() - begun < 1.0
            child.expect_exact(PROMPT)
            child.sendline("where")
            child.expect(rf" \d+ {function} ")
            child.expect_exact(PROMPT)
            child.sendline("continue")
        child.sendintr()
        child.expect(STOP)
        child.expect_exact(PROMPT)
        child.sendline("quit")
        child.expect(pexpect.EOF)


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
