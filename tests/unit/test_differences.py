"""Differences of arrays, against what numpy and Python's own numbers say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pkdb_tui.engine.debuggee import differences
from pkdb_tui.engine.debuggee.differences import between


def test_equal_arrays_differ_nowhere() -> None:
    values = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1e-320])
    found = between(np, values, values[::1] + 0.0)
    assert (found.differ, found.nans, found.abs, found.rel, found.ulp, found.at) == (0, 0, 0.0, 0.0, 0, [])


def test_the_largest_difference_and_its_place() -> None:
    mine, other = np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4)
    mine[1, 2] += 0.5
    mine[2, 3] -= 2.0
    mine[0, 1] = 1.25
    found = between(np, mine, other)
    assert (found.size, found.differ, found.at) == (12, 3, [2, 3])
    assert found.abs == 2.0
    assert found.rel == 0.25  # 1.25 against 1.0


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("steps", [1, 2, 7])
def test_ulps_count_floats_in_between(kind: type, steps: int) -> None:
    for start in (1.0, -1.0, 0.0, 3e4, -1e-7):
        value = moved = kind(start)
        for _ in range(steps):
            moved = np.nextafter(moved, kind(np.inf))
        assert between(np, np.array([moved]), np.array([value])).ulp == steps
        assert between(np, np.array([value]), np.array([moved])).ulp == steps


def test_nan_against_a_number_is_counted_and_does_not_hide_the_rest() -> None:
    found = between(np, np.array([np.nan, 1.0, np.nan]), np.array([2.0, 1.5, np.nan]))
    assert (found.differ, found.nans, found.abs, found.at) == (2, 1, 0.5, [1])
    only = between(np, np.array([1.0, np.nan]), np.array([1.0, 2.0]))
    assert (only.differ, only.nans, only.abs, only.at) == (1, 1, 0.0, [1])


def test_infinities() -> None:
    found = between(np, np.array([np.inf, 1.0]), np.array([-np.inf, 0.0]))
    assert (found.differ, found.abs, found.rel, found.at) == (2, math.inf, math.inf, [0])


def test_integers_do_not_wrap_around() -> None:
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    assert between(np, np.array([high]), np.array([low])).abs == float(high - low)
    assert between(np, np.array([100], np.int8), np.array([-100], np.int8)).abs == 200.0
    found = between(np, np.array([True, False]), np.array([False, False]))
    assert (found.differ, found.abs, found.ulp) == (1, 1.0, None)


def test_complex_numbers_by_their_distance() -> None:
    found = between(np, np.array([1 + 1j, 2j]), np.array([1 - 2j, 2j]))
    assert (found.differ, found.abs, found.ulp, found.at) == (1, 3.0, None, [0])
    assert found.rel == pytest.approx(3 / abs(1 - 2j))


def test_what_cannot_be_compared_says_why() -> None:
    assert between(np, np.zeros(3), np.zeros((3, 1))).error == "shape [3] against [3, 1]"
    assert between(np, np.array(["a"]), np.array(["b"])).error == "it is no array of numbers"


def test_layouts_and_pieces_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "CHUNK", 5)
    mine, other = np.asfortranarray(np.arange(24.0).reshape(4, 6)), np.arange(48.0)[::2].reshape(4, 6) / 2
    assert between(np, mine, other).differ == 0
    mine[3, 4] += 1
    mine[0, 5] += 3
    found = between(np, mine, other)
    assert (found.differ, found.abs, found.at) == (2, 3.0, [0, 5])
