"""A session from start to end on real terminals of three sizes."""

from __future__ import annotations

import pytest
from programs import KERNEL, SUM_LINE
from sessions import AT_START, enter, stop_in_kernel
from terminal import Start

pytestmark = pytest.mark.e2e
SIZES = pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40), (200, 60)])


@SIZES
def test_start_step_quit(start: Start, columns: int, rows: int) -> None:
    screen = start(KERNEL, columns, rows)
    screen.wait_for(AT_START)
    screen.wait_for(r"\n +1  ▶ import numpy as np")
    screen.press("n")
    screen.wait_for(r"\n +2  ▶ import pykokkos as pk")
    screen.press("n")
    screen.wait_for(r"\n +5  ▶ @pk.workunit")
    assert len(screen.lines) == rows
    screen.press("q")
    assert screen.wait_end() == "0"


@SIZES
def test_kernel(start: Start, columns: int, rows: int) -> None:
    screen = start(KERNEL, columns, rows)
    stop_in_kernel(screen)
    screen.wait_for("thread 0 of 2 · j = 0")
    screen.wait_for(rf"\n +{SUM_LINE} ●▶     acc \+= row \* width")
    enter(screen, "print a[j, 0:2]")
    screen.wait_for(r"array\(\[0\., 1\.\]\)")
    screen.move("Escape")
    screen.move("t")
    screen.wait_for(r"\[0\]● 8   1 ● 8")
    screen.press("Right", "Enter")
    screen.wait_for("thread 1 of 2 · j = 4")
    enter(screen, "print a[j, 0:2]")
    screen.wait_for(r"array\(\[16\., 17\.\]\)")
    screen.move("Escape")
    screen.move("4")
    screen.wait_for(r"row +float +64\.0")
    screen.move("Escape")
    screen.press("f")
    screen.wait_for("returns 2240")
