"""Bars are as high as values lie, however large, small or far apart these are."""

from __future__ import annotations

import math

import pytest

from pkdb_tui.panes.bars import BARS, NOT_FINITE, bar, level


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.0, 1.0), (-1.7e308, 1.7e308), (0.0, 5e-324), (0, 10**400), (2**53, 2**53 + 2), (-3, 2.5), (1e16, 1e16 + 4)],
)
def test_the_least_lies_at_the_bottom_and_the_greatest_at_the_top(low: float, high: float) -> None:
    assert (level(low, low, high, 6), level(high, low, high, 6)) == (0, 6)
    assert (bar(low, low, high), bar(high, low, high)) == (BARS[0], BARS[-1])


def test_integers_that_are_no_floats_are_told_apart() -> None:
    low = 10**30
    assert [level(low + step, low, low + 4, 4) for step in range(5)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_has_no_height(value: float) -> None:
    assert level(value, 0.0, 1.0, 6) is None
    assert bar(value, 0.0, 0.0) == NOT_FINITE


def test_equal_values_stand_in_the_middle() -> None:
    assert bar(3, 3, 3) == bar(0.5, 0.5, 0.5) == BARS[len(BARS) // 2]
