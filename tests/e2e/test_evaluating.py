"""Evaluations on a real screen: seen while they run, broken off, their output in order and harmless."""

from __future__ import annotations

import pytest
from programs import KERNEL
from sessions import AT_START, enter, stop_in_kernel
from terminal import Start, Terminal

pytestmark = pytest.mark.e2e
WHERES = pytest.mark.parametrize("where", ["in Python", "in a kernel"])
SLEEP = "print('begun'); __import__('time').sleep(600)"
DEADLOCK = "import threading; own = threading.Lock(); own.acquire() and own.acquire()"
ENDLESS = "exec('while True: pass')"


def stopped(start: Start, where: str) -> Terminal:
    screen = start(KERNEL)
    if where == "in a kernel":
        stop_in_kernel(screen)
    else:
        screen.wait_for(AT_START)
    return screen


@pytest.mark.parametrize(
    ("where", "text"),
    [(where, text) for where in ("in Python", "in a kernel") for text in (SLEEP, DEADLOCK, ENDLESS)],
)
def test_a_busy_evaluation_is_shown_and_ctrl_c_ends_it(start: Start, where: str, text: str) -> None:
    screen = stopped(start, where)
    enter(screen, text)
    screen.wait_for(r"▪ evaluating `.*`, [1-9]\d*\.\d s")
    screen.press("C-c")
    screen.wait_for(r"(?m)^\W*interrupted\b")
    screen.wait_without(r"▪ evaluating")
    screen.type("11 * 11")
    screen.press("Enter")
    screen.wait_for(r"\b121\b")


@WHERES
def test_exceptions_and_exit_are_told_and_the_session_goes_on(start: Start, where: str) -> None:
    screen = stopped(start, where)
    enter(screen, "1 / 0")
    screen.wait_for("ZeroDivisionError: division by zero")
    screen.type("exit()")
    screen.press("Enter")
    screen.wait_for("SystemExit: None. The program goes on; use quit to end the session.")
    screen.type("11 * 11")
    screen.press("Enter")
    screen.wait_for(r"\b121\b")


@WHERES
def test_output_stands_before_the_value_and_can_not_spoil_the_screen(start: Start, where: str) -> None:
    screen = stopped(start, where)
    enter(screen, r"print('\x1b[2J\x1b[31mred\x1b[0m \x1b]0;title\x07\x1bc\x9b5Aafter'); 77")
    screen.wait_for(r"(?m)red .*after\W*\n\W*77\b")
    screen.type(r"raise ValueError('bad\x1bc\x1b[2Jtext')")
    screen.press("Enter")
    screen.wait_for(r"ValueError: bad␛c␛\[2Jtext")
    screen.type(r"type('Odd', (), {'__repr__': lambda self: '<\x1bc\x1b[9;9H>'})()")
    screen.press("Enter")
    text = screen.wait_for(r"<␛c␛\[9;9H>")
    assert "▪ " in text.splitlines()[0]
    assert "1:program.py" in text.splitlines()[1]


@WHERES
@pytest.mark.parametrize("key", ["q", "R"])
def test_ending_the_session_during_an_evaluation_asks(start: Start, where: str, key: str) -> None:
    screen = stopped(start, where)
    enter(screen, SLEEP)
    screen.wait_for(r"▪ evaluating `")
    screen.press("Escape")
    screen.press(key)
    screen.wait_for(rf"An expression is being evaluated.*{key}")
    screen.press(key)
    if key == "q":
        screen.wait_end()
    else:
        screen.wait_for(AT_START)
