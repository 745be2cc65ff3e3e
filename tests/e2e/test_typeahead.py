"""Keys in one write to a real terminal: each goes where the ones before it have led."""

from __future__ import annotations

import pytest
from sessions import AT_START
from terminal import Start

pytestmark = pytest.mark.e2e
TEXT = "".join(f"value_{number} = {number}\n" for number in range(1, 61))


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
def test_whole_sequences_in_one_write(start: Start, columns: int, rows: int) -> None:
    screen = start(TEXT, columns, rows)
    screen.wait_for(AT_START)
    screen.type("/cqn")
    shown = screen.wait_for(r"search in the source: cqn")
    assert "value_1 = 1" in shown
    screen.type("\x1bg30\rb")
    screen.wait_for(r"\n +30 ○|\n +30 ●")
    screen.type("wvalue_1 * 3\r")
    screen.type("e20 + 3\r")
    screen.wait_for(r"\n 23\b")
    screen.type(":print 40 + 2\r")
    screen.wait_for(r"\n 42\b")
    screen.type("qnc\x1b:print 6 * 7.5\r")
    screen.wait_for(r"\n 45\.0\b")
    screen.type("\x1bn")
    screen.wait_for(r"\n +2  ▶ value_2")
    screen.type("q")
    assert screen.wait_end() == "0"
