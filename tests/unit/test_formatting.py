"""How values look."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pkdb_tui.engine import formatting


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (253.64878, "253.649"),
        (0.4487731, "0.448773"),
        (0.448773, "0.448773"),
        (0.25, "0.25"),
        (0.2500000001, "0.250000"),
        (1e15, "1e+15"),
        (1 / 3 * 1e-7, "3.33333e-08"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1e-5, "1e-05"),
        (1234567.8, "1.23457e+06"),
        (123456.7, "123457."),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (np.float32(0.1), "0.1"),
        (np.float32(1 / 3), "0.333333"),
        (np.float16(0.1), "0.1"),
        (7, "7"),
        (-12345678901234567890, "-12345678901234567890"),
        (np.int8(-3), "-3"),
        (True, "True"),
        (np.bool_(False), "False"),
        (1 + 2j, "1.0+2.0j"),
        (np.complex64(1 / 3 - 0.1j), "0.333333-0.1j"),
        (complex(1, -0.0), "1.0-0.0j"),
        (complex(math.nan, math.inf), "nan+infj"),
        ("text", "text"),
    ],
)
def test_numbers_in_tables(value: Any, text: str) -> None:
    assert formatting.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.2, "0.30000000000000004"),
        (np.float64(0.1) + 0.2, "0.30000000000000004"),
        (np.float32(0.1), "0.1"),
        (-0.0, "-0.0"),
        (np.int32(5), "5"),
        (True, "True"),
        ("a'b", '"a\'b"'),
        ((np.float64(0.5),), "(0.5,)"),
        ([np.int8(1), [True]], "[1, [True]]"),
        ({"k": np.float64(1.5)}, "{'k': 1.5}"),
        ({3}, "{3}"),
        (set(), "set()"),
        ({}, "{}"),
        (None, "None"),
        (np.array([0.5, 0.25]), "array([0.5 , 0.25])"),
        (np.array([], dtype=np.float64), "array([], dtype=float64)"),
    ],
)
def test_values_in_full(value: Any, text: str) -> None:
    assert formatting.full(value) == text


def test_arrays_are_summarised_and_lists_bounded() -> None:
    text = formatting.full(np.arange(100_000))
    assert text.startswith("array([    0,     1,     2, ..., 99997, 99998, 99999]")
    text = formatting.full(list(range(2000)))
    assert text.startswith("[0, 1, 2, ")
    assert text.endswith(", 999, ...]")


def test_columns_are_aligned_on_the_point() -> None:
    assert formatting.columns([253.64878, 0.448773, -3.0, math.nan]) == [
        "253.649   ",
        "  0.448773",
        " -3.0     ",
        "       nan",
    ]


@pytest.mark.parametrize(
    ("now", "before", "texts"),
    [
        (0.5, 0.25, ("0.5", "0.25")),
        (253.648781234, 0.0, ("253.649", "0.0")),
        (0.12345671, 0.12345672, ("0.12345671", "0.12345672")),
        (1.0, 1.0 + 2**-52, ("1.0", "1.0000000000000002")),
        (3, 4, ("3", "4")),
        (1.0, 1.0, ("1.0", "1.0")),
    ],
)
def test_values_that_differ_look_different(now: float, before: float, texts: tuple[str, str]) -> None:
    assert formatting.distinct(now, before) == texts


def test_columns_of_integers_are_right_aligned() -> None:
    assert formatting.columns([1, -20, 300], 6) == ["     1", "   -20", "   300"]


def test_columns_use_exponents_rather_than_cut() -> None:
    assert formatting.columns([123456789012, 3], 6) == ["123456789012", "           3"]
    texts = formatting.columns([1.5, 0.00012345], 8)
    assert [float(text) for text in texts] == [1.5, 0.00012345]
    assert len({len(text) for text in texts}) == 1


@pytest.mark.parametrize("seed", range(50))
def test_columns_never_cut_a_number(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = [float(value) for value in rng.normal(size=5) * 10.0 ** rng.integers(-12, 12, 5)]
    values += [int(rng.integers(-(2**40), 2**40)), math.nan, math.inf, 0.0]
    texts = formatting.columns(values, int(rng.integers(0, 14)))
    assert len({len(text) for text in texts}) == 1
    for text, value in zip(texts, values, strict=True):
        assert float(text) == pytest.approx(value, rel=1e-4, nan_ok=True)


def test_no_values_make_no_columns() -> None:
    assert formatting.columns([], 8) == []


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.00041, "0.41 ms"),
        (0.0000005, "0.50 µs"),
        (0.0123, "12.3 ms"),
        (0.4567, "457 ms"),
        (0.99951, "1.0 s"),
        (1.2, "1.2 s"),
        (9.99, "10.0 s"),
        (12.34, "12.3 s"),
        (59.96, "1 min 00 s"),
        (185, "3 min 05 s"),
        (7260, "2 h 01 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert formatting.duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (20 * 1024**3, "20 GiB"),
        (1024**2 - 1, "1.0 MiB"),
        (5 * 1024**6, "5120 PiB"),
    ],
)
def test_byte_sizes(count: int, text: str) -> None:
    assert formatting.byte_size(count) == text


def test_ranges_of_threads() -> None:
    assert formatting.ranges([3, 0, 1, 2, 5, 5]) == "0-3,5"
    assert formatting.ranges([]) == ""
    assert formatting.ranges([7]) == "7"
    assert formatting.ranges([4, 6, 8]) == "4,6,8"


def test_types_and_thousands() -> None:
    assert formatting.array_type("<f8", (256, 1024)) == "float64[256, 1024]"
    assert formatting.type_name(np.zeros(3, dtype=np.int32)) == "int32[3]"
    assert formatting.type_name(np.float64(1)) == "float64"
    assert formatting.type_name(3) == "int"
    assert formatting.thousands(1048576) == "1,048,576"


@pytest.mark.skipif(np.dtype("g").itemsize == 8, reason="longdouble is double here")
def test_longdouble_is_neither_cut_nor_made_infinite() -> None:
    third, huge = np.longdouble(1) / 3, np.longdouble("1.25e4000")
    assert formatting.number(third) == "0.333333"
    assert formatting.number(-third, 3) == "-0.333"
    assert formatting.number(np.longdouble(2) / 3 * 10**8) == "6.66667e+07"
    assert formatting.number(huge) == "1.25e+4000"
    assert formatting.number(huge / 3) == "4.16667e+3999"
    assert formatting.number(np.longdouble("inf")) == "inf"
    assert formatting.number(np.longdouble(0.25)) == "0.25"
    assert formatting.columns([third, huge, np.longdouble(2)]) == ["0.333333  ", "1.25e+4000", "2.0       "]
    now, before = formatting.distinct(third, third + np.longdouble(2) ** -64)
    assert np.longdouble(now) != np.longdouble(before)
