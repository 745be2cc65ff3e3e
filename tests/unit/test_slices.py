"""Slices of arrays in the program: values, exact statistics, truncation, changes."""

from __future__ import annotations

import asyncio
import base64
import math
import warnings
from typing import Any

import numpy as np
import pytest
from native_memory import Memory

from pkdb_tui.engine import slices
from pkdb_tui.engine.api import ArrayStatistics, Slice
from pkdb_tui.engine.errors import ExpressionError
from pkdb_tui.engine.protocol import SliceBody


def read(expression: str, memory: Memory, limit: int = 4096, **arrays: np.ndarray[Any, Any]) -> Slice:
    variables = {name: memory.place(name, array) for name, array in arrays.items()}
    variables["j"] = memory.scalar("j", "int", "int", 2, "<i4")
    return asyncio.run(slices.read(expression, variables, memory.reader, limit))


def test_a_row_with_its_statistics() -> None:
    memory = Memory()
    a = np.random.default_rng(1).random((6, 8))
    part = read("A[j, 0:4]", memory, A=a)
    np.testing.assert_array_equal(part.values, a[2, :4])
    assert (part.dtype, part.shape, part.total, part.truncated, part.layout) == ("float64", (4,), 4, False, "host")
    assert part.statistics.minimum == a[2, :4].min()
    assert part.statistics.mean == pytest.approx(a[2, :4].mean(), rel=1e-15)
    assert memory.read == 32


def test_a_large_array_is_read_in_part() -> None:
    memory = Memory()
    a = np.arange(100_000.0).reshape(500, 200)
    part = read("A", memory, limit=1000, A=a)
    np.testing.assert_array_equal(part.values, a[:5])
    assert (part.shape, part.total, part.truncated, part.layout) == ((500, 200), 100_000, True, "host, rows")
    assert memory.read == 8000


def test_a_row_longer_than_the_limit_is_read_in_part() -> None:
    memory = Memory()
    part = read("A", memory, limit=10, A=np.arange(60.0).reshape(3, 20))
    np.testing.assert_array_equal(part.values, [np.arange(10.0)])
    assert part.truncated


def test_three_dimensions_are_shown_as_a_table() -> None:
    a = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    part = read("T", Memory(), T=a)
    assert part.shape == (2, 3, 4)
    np.testing.assert_array_equal(part.values, a.reshape(6, 4))


def test_scalars_and_computed_arrays() -> None:
    x = np.arange(5.0)
    assert read("j", Memory()).values == 2
    assert read("x[1]", Memory(), x=x).statistics.maximum == 1.0
    computed = read("x * 2 + j", Memory(), x=x)
    np.testing.assert_array_equal(computed.values, x * 2 + 2)
    assert computed.layout == "computed"


@pytest.mark.parametrize(
    ("array", "layout"),
    [
        (np.zeros((4, 5)), "host, rows"),
        (np.zeros((4, 5), order="F"), "host, columns"),
        (np.zeros((4, 10))[:, ::2], "host, strides 80 16"),
        (np.zeros(6), "host"),
        (np.zeros(6)[::2], "host, strides 16"),
        (np.zeros((3, 1)), "host, rows"),
    ],
)
def test_layout_is_said(array: np.ndarray[Any, Any], layout: str) -> None:
    assert read("v", Memory(), v=array).layout == layout


def test_what_is_not_numeric_is_refused() -> None:
    with pytest.raises(ExpressionError) as caught:
        read("f'{j}'", Memory())
    assert caught.value.title == "`f'{j}'` is a str, not numbers."


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([]), (0, 0, 0, 0, None, None, None)),
        (np.array([math.nan] * 3), (3, 3, 0, 0, None, None, None)),
        (np.array([1.0, math.nan, -2.0, 0.0, -0.0]), (5, 1, 0, 2, -2.0, 1.0, -0.25)),
        (np.array([1.0, math.inf]), (2, 0, 1, 0, 1.0, math.inf, math.inf)),
        (np.array([2**63 - 1, 2**63 - 3], dtype=np.int64), (2, 0, 0, 0, 2**63 - 3, 2**63 - 1, float(2**63 - 2))),
        (np.array([0, 2**64 - 1], dtype=np.uint64), (2, 0, 0, 1, 0, 2**64 - 1, (2**64 - 1) / 2)),
        (np.array([-128, 127, 0], dtype=np.int8), (3, 0, 0, 1, -128, 127, -1 / 3)),
        (np.array([True, False, True]), (3, 0, 0, 1, 0, 1, 2 / 3)),
        (np.array([0j, 1 + 1j, complex(math.nan, 0)]), (3, 1, 0, 1, None, None, None)),
        (np.array([1e308, 1e308, 1e308]), (3, 0, 0, 0, 1e308, 1e308, 1e308)),
        (np.array([0.1] * 10), (10, 0, 0, 0, 0.1, 0.1, 0.1)),
        (np.array([1e16, 1.0, -1e16]), (3, 0, 0, 0, -1e16, 1e16, 1 / 3)),
        (np.array(7.5), (1, 0, 0, 0, 7.5, 7.5, 7.5)),
        (np.array([[1, 2], [3, 4]], dtype=np.float32), (4, 0, 0, 0, 1.0, 4.0, 2.5)),
    ],
)
def test_statistics_are_exact_and_silent(values: np.ndarray[Any, Any], expected: tuple[Any, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = slices.statistics(values)
    names = ("count", "nan", "inf", "zero", "minimum", "maximum", "mean")
    assert found == ArrayStatistics(**dict(zip(names, expected, strict=True)))
    assert all(not isinstance(getattr(found, name), np.generic) for name in names)


def test_infinities_of_both_signs_have_no_mean() -> None:
    found = slices.statistics(np.array([math.inf, -math.inf]))
    assert found.mean is not None
    assert math.isnan(found.mean)


def shown(values: Any) -> Slice:
    array = np.asarray(values)
    return slices.build("x", array, array.shape)


@pytest.mark.parametrize(
    ("before", "after", "positions"),
    [
        ([1.0, 2.0, 3.0], [1.0, 5.0, 3.0], (1,)),
        ([[1, 2], [3, 4]], [[0, 2], [3, 5]], (0, 3)),
        ([math.nan, 0.0], [math.nan, -0.0], (1,)),
        ([1.0], [math.nan], (0,)),
        ([1.0, 2.0], [1.0, 2.0, 3.0], ()),
        ([1, 2], [1.0, 3.0], ()),
        ([1 + 1j], [1 + 2j], (0,)),
        ([True, False], [True, True], (1,)),
    ],
)
def test_changed_elements(before: Any, after: Any, positions: tuple[int, ...]) -> None:
    assert slices.changed(shown(before), shown(after)) == positions
    assert slices.changed(None, shown(after)) == ()


def body(values: np.ndarray[Any, Any], shape: list[int], **fields: Any) -> SliceBody:
    data = base64.b64encode(values.tobytes()).decode()
    return SliceBody(dtype=values.dtype.str, shape=shape, data=data, total=math.prod(shape), **fields)


def test_a_slice_from_the_programs_own_side() -> None:
    part = slices.from_bytes("a", body(np.arange(6, dtype="<f8").reshape(2, 3), [2, 3], layout="host, rows"))
    np.testing.assert_array_equal(part.values, [[0, 1, 2], [3, 4, 5]])
    assert (part.truncated, part.layout, part.statistics.mean) == (False, "host, rows", 2.5)


def test_a_truncated_slice_from_the_programs_own_side() -> None:
    part = slices.from_bytes("a", body(np.arange(6, dtype="<i4"), [10, 3], truncated=True))
    np.testing.assert_array_equal(part.values, [[0, 1, 2], [3, 4, 5]])
    assert (part.truncated, part.total, part.shape) == (True, 30, (10, 3))
    part = slices.from_bytes("a", body(np.arange(3, dtype="<i4"), [10, 3], truncated=True))
    np.testing.assert_array_equal(part.values, np.arange(3).reshape(1, 3))


def test_an_incomplete_slice_is_refused() -> None:
    with pytest.raises(ExpressionError, match="`a` came back incomplete: 40 bytes for <f8\\[2, 3\\]"):
        slices.from_bytes("a", body(np.arange(5, dtype="<f8"), [2, 3]))


def test_a_truncated_box_keeps_its_rows_and_columns() -> None:
    part = slices.from_bytes("a", body(np.arange(4, dtype="<i4"), [10, 8], truncated=True))
    np.testing.assert_array_equal(part.values, [[0, 1, 2, 3]])
    assert part.shape == (10, 8)


@pytest.mark.skipif(np.dtype("g").itemsize == 8, reason="longdouble is double here")
def test_statistics_of_longdouble_keep_its_digits_and_range() -> None:
    third, huge = np.longdouble(1) / 3, np.longdouble("1e4000")
    found = slices.statistics(np.array([third, huge, np.nan]))
    assert (found.minimum, found.maximum, found.mean) == (third, huge, (third + huge) / 2)
    assert (found.nan, found.inf) == (1, 0)
    assert type(slices.statistics(np.array([0.5], "g")).minimum) is float
