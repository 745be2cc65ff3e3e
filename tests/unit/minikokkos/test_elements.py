"""Arrays of every type of elements, however they lie in memory, against numpy."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import pkdb_tui.minikokkos as pk
from pkdb_tui.minikokkos.arguments import Layout
from pkdb_tui.minikokkos.program import definition

SPACES = [pk.OpenMP, pk.Serial, pk.Debug]
DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "c8", "c16", "G"]
SHAPE = (4, 5)

KERNELS = """
@pk.workunit
def mix(i: int, j: int, out, x):
    y = x[i, j]
    out[i, j] = y + y
    out[i, j] += x[i][j]


@pk.workunit
def rows(i: int, out, x):
    row = x[i, :]
    part = x[i, 1:4:2]
    to = out[i, :]
    for j in range(len(row)):
        to[j] = row[j] * 2
    to[0] = part[1]


@pk.workunit
def beyond(i: int, out, x):
    out[i, 0] = x[i + 1, 0]


@pk.workunit
def typed(i: int, out: pk.View1D[pk.double], x: pk.View1D[pk.double]):
    out[i] = scaled(x, i) / 2


@pk.function
def scaled(x: pk.View1D[pk.double], i: int) -> pk.double:
    return 3 * x[i]


@pk.workunit
def counted(i: int, n, most):
    pk.atomic_add(n, [i % 3], 1)
    pk.atomic_fetch_max(most, [0], i)
    pk.atomic_compare_exchange(most, [1], 0, 77)
    seen = pk.atomic_load(most, [1])
    pk.atomic_exchange(most, [2], seen)


@pk.workunit
def total(i: int, acc: pk.Acc[pk.longdouble], x):
    acc += x[i]


@pk.workunit
def least(i: int, acc: pk.Min[pk.float16], x):
    if x[i] < acc:
        acc = x[i]


@pk.workunit
def running(i: int, acc: pk.Acc[pk.longdouble], final, x):
    acc += x[i]
    if final:
        x[i] = acc


@pk.workunit
def halves(i: int, out, x, y, s: pk.float16):
    a = x[i]
    b: pk.float16 = y[i]
    out[i, 0] = a + b
    out[i, 1] = a * b
    out[i, 2] = a / b
    out[i, 3] = -a if a < b else abs(a)
    out[i, 4] = min(a, b) + s
    out[i, 5] = math.sqrt(abs(a))
    out[i, 6] = a
    out[i, 6] *= 3
    out[i, 7] = x[i] ** 2


@pk.workunit
def wide(i: int, out, x, s: pk.longdouble):
    out[i, 0] = x[i] / 3
    out[i, 1] = math.sqrt(x[i])
    out[i, 2] = x[i] ** 0.5 + THIRD
    out[i, 3] = max(x[i], s)
    out[i, 4] = pk.fmod(x[i], 0.7)
    out[i, 5] = pk.isinf(x[i] * HUGE)


THIRD = np.longdouble(1) / 3
HUGE = np.longdouble("1e4000")


@pk.workunit
def said(i: int, x, h, n):
    pk.printf("%.20g %g %d\\n", x[i], h[i], n[i])
"""


@pytest.fixture
def k(load: Any) -> Any:
    """The module of kernels."""
    return load(KERNELS)


def _forms(dtype: np.dtype[Any]) -> dict[str, Any]:
    """Arrays of one shape and type, zeros, by how they lie in memory."""
    rows, columns = SHAPE
    packed = np.dtype([("before", "u1"), ("it", dtype)])
    behind = np.zeros(1 + rows * columns * dtype.itemsize, np.uint8)
    between = np.dtype([("it", dtype), ("behind", "f8")])
    return {
        "contiguous": np.zeros(SHAPE, dtype),
        "every second": np.zeros((2 * rows, columns), dtype)[::2],
        "backwards": np.zeros(SHAPE, dtype)[::-1, ::-1],
        "transposed": np.zeros(SHAPE[::-1], dtype).T,
        "columns": np.zeros((rows, columns + 3), dtype)[:, 2:-1],
        "unaligned field": np.zeros(SHAPE, packed)["it"],
        "odd offset": np.frombuffer(behind.data, dtype, rows * columns, 1).reshape(SHAPE),
        "between others": np.zeros(SHAPE, between)["it"],
        "one for all": np.lib.stride_tricks.as_strided(np.zeros(columns, dtype), SHAPE, (0, dtype.itemsize)),
    }


def _fill(form: Any, dtype: np.dtype[Any]) -> Any:
    values = np.random.default_rng(5).integers(0, 30, SHAPE)
    form[...] = values - 1j * values if dtype.kind == "c" else values
    return form.copy()


@pytest.mark.parametrize("order", ["=", "swapped"])
@pytest.mark.parametrize("letter", DTYPES)
def test_every_dtype_in_every_form(k: Any, letter: str, order: str) -> None:
    dtype = np.dtype(letter) if order == "=" else np.dtype(letter).newbyteorder()
    forms, out = _forms(dtype), _forms(dtype)
    for name, x in forms.items():
        if name == "one for all":
            out[name] = np.zeros(SHAPE, dtype)
        values = _fill(x, dtype)
        for space in SPACES:
            out[name][...] = 0
            pk.parallel_for(pk.MDRangePolicy([0, 0], list(SHAPE), space=space), k.mix, out=out[name], x=x)
            np.testing.assert_array_equal(out[name], values + values + values, f"{name} {space}")
            np.testing.assert_array_equal(x, values)


@pytest.mark.parametrize("letter", [">f8", "f2", "g", ">c16", ">i2"])
@pytest.mark.parametrize("space", SPACES)
def test_subviews_of_every_form(k: Any, letter: str, space: Any) -> None:
    dtype = np.dtype(letter)
    for name, x in _forms(dtype).items():
        values, out = _fill(x, dtype), np.zeros(SHAPE, dtype)
        pk.parallel_for(pk.RangePolicy(space, 0, 4), k.rows, out=out, x=x)
        expected = 2 * values
        expected[:, 0] = values[:, 3]
        np.testing.assert_array_equal(out, expected, name)


@pytest.mark.parametrize("form", ["contiguous", "unaligned field", "every second"])
@pytest.mark.parametrize("letter", [">f8", "f2", "g", "<f8", ">G"])
def test_bounds_in_every_form(k: Any, letter: str, form: str) -> None:
    x, out = _forms(np.dtype(letter))[form], np.ones(SHAPE, letter)
    k.beyond.bounds = True
    with pytest.raises(IndexError, match=r"^x index 4 in dimension 0, extent 4$"):
        pk.parallel_for(pk.RangePolicy(pk.OpenMP, 0, 4), k.beyond, out=out, x=x)
    np.testing.assert_array_equal(out[:, 0], 0)


@pytest.mark.parametrize("space", SPACES)
def test_an_annotation_tells_the_type_and_not_how_it_lies(k: Any, space: Any) -> None:
    x = np.arange(6, dtype=">f8")
    out = np.zeros(6, [("a", "u1"), ("b", "f8")])["b"]
    pk.parallel_for(pk.RangePolicy(space, 0, 6), k.typed, out=out, x=x)
    np.testing.assert_array_equal(out, 1.5 * np.arange(6))
    with pytest.raises(pk.ArgumentError, match="x is annotated as View1D of float64, an array of float16"):
        pk.parallel_for(pk.RangePolicy(space, 0, 6), k.typed, out=out, x=np.zeros(6, "f2"))


@pytest.mark.parametrize("letter", ["f2", "g", ">i4", ">f8", "c16", "unaligned"])
@pytest.mark.parametrize("space", SPACES)
def test_atomics(k: Any, letter: str, space: Any) -> None:
    packed = np.zeros(3, [("a", "u1"), ("n", "i8")])
    n = packed["n"] if letter == "unaligned" else np.zeros(3, letter)
    most = np.zeros(3, "i4" if letter == "c16" else n.dtype)
    pk.parallel_for(pk.RangePolicy(space, 0, 1500), k.counted, n=n, most=most)
    assert n.tolist() == [500, 500, 500]
    assert most.tolist() == [1499, 77, 77]


@pytest.mark.parametrize("space", SPACES)
def test_reductions_keep_the_digits(k: Any, space: Any) -> None:
    tiny = np.longdouble(2) ** -60
    x = np.full(8, 1 + tiny, "g")
    found = pk.parallel_reduce(pk.RangePolicy(space, 0, 8), k.total, x=x)
    assert found - 8 == 8 * tiny
    assert pk.parallel_reduce(pk.RangePolicy(space, 0, 8), k.total, tiny, x=x) - 8 == 9 * tiny
    assert pk.parallel_scan(pk.RangePolicy(space, 0, 8), k.running, x=x) - 8 == 8 * tiny
    np.testing.assert_array_equal(x, np.full(8, 1 + tiny, "g").cumsum())
    half = np.array([3, -0.1, 2], "f2")
    assert pk.parallel_reduce(pk.RangePolicy(space, 0, 3), k.least, x=half) == half[1]
    assert pk.parallel_reduce(pk.RangePolicy(space, 0, 0), k.least, x=half) == np.inf


def test_float16_computes_as_numpy_does(k: Any) -> None:
    bits = np.random.default_rng(1).integers(0, 1 << 16, 4000).astype(np.uint16)
    x = bits.view("f2")
    y = np.roll(x, 7)
    out = np.zeros((4000, 8), "f2")
    pk.parallel_for(4000, k.halves, out=out, x=x, y=y, s=0.1)
    with np.errstate(all="ignore"):
        wide = np.where(y < x, y, x).astype("f4") + np.float32(np.float16(0.1))
        expected = [x + y, x * y, x / y, np.where(x < y, -x, abs(x)), wide.astype("f2"), np.sqrt(abs(x)), x * 3, x * x]
    for column, each in enumerate(expected):
        np.testing.assert_array_equal(out[:, column], each.astype("f2"), str(column))


def test_float16_takes_every_number_as_numpy_does(load: Any) -> None:
    k = load("@pk.workunit\ndef store(i: int, out, x):\n    out[i] = x[i]\n")
    every = np.arange(1 << 16, dtype=np.uint16).view("f2")
    numbers = every[np.isfinite(every)].astype("f8")
    edges = [np.nextafter(numbers, np.inf), np.nextafter(numbers, -np.inf), (numbers + np.roll(numbers, 1)) / 2]
    ties = np.concatenate(
        [*edges, numbers * (1 + 2.0**-11), [65519.99, 65520, -65520, 2.0**-25, 1e300, np.inf, np.nan]]
    )
    with np.errstate(all="ignore"):
        single, whole = ties.astype("f4"), ties[np.abs(ties) < 1e18].astype("i8")
    for x in (every, ties, np.nextafter(ties, 0), single, whole):
        out = np.zeros(len(x), "f2")
        pk.parallel_for(len(x), k.store, out=out, x=x)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(out.view("u2"), x.astype("f2").view("u2"))
    back = np.zeros(1 << 16, "f4")
    pk.parallel_for(1 << 16, k.store, out=back, x=every)
    np.testing.assert_array_equal(back.view("u4"), every.astype("f4").view("u4"))


def test_longdouble_has_all_its_digits(k: Any) -> None:
    x, out = np.arange(1, 9, dtype="g") / 7, np.zeros((8, 6), "g")
    s = 1 + np.longdouble(2) ** -62
    pk.parallel_for(8, k.wide, out=out, x=x, s=s)
    expected = [x / 3, np.sqrt(x), np.sqrt(x) + np.longdouble(1) / 3, np.maximum(x, s), np.fmod(x, 0.7), np.zeros(8)]
    np.testing.assert_array_equal(out, np.stack(expected, 1))


def test_printf(k: Any, capfd: pytest.CaptureFixture[str]) -> None:
    third = np.ones(1, "g") / 3
    pk.parallel_for(
        pk.RangePolicy(pk.Serial, 0, 1), k.said, x=third, h=np.full(1, 0.5, ">f2"), n=np.full(1, 258, ">i8")
    )
    ctypes.CDLL(None).fflush(None)
    assert capfd.readouterr().out == f"{np.format_float_positional(third[0], 20, unique=False)} 0.5 258\n"


@pytest.mark.parametrize("letter", ["M8[ns]", ">m8[s]"])
@pytest.mark.parametrize("space", SPACES)
def test_times_are_counts_of_their_unit(load: Any, letter: str, space: Any) -> None:
    k = load("@pk.workunit\ndef later(i: int, t: pk.View1D[pk.int64]):\n    t[i] = t[i] + 60 if t[i] >= 0 else 7\n")
    t = np.array([0, 5, "NaT"], letter)
    pk.parallel_for(pk.RangePolicy(space, 0, 3), k.later, t=t)
    assert t.astype("i8").tolist() == [60, 65, 7]


SCALARS = """
@pk.workunit
def wide(i: int, acc: pk.Acc[pk.clongdouble], z, s, t, c, n: pk.longdouble):
    acc += z[i] * s + t + c + n


@pk.workunit
def team(m: pk.TeamMember, acc: pk.Acc[pk.clongdouble], z):
    def inner(j: int, a: pk.Acc[pk.clongdouble]):
        a += z[j]

    acc += pk.parallel_reduce(pk.TeamThreadRange(m, 4), inner)


@pk.workunit
def scratch(m: pk.TeamMember, h):
    s: pk.ScratchView1D[pk.float16] = pk.ScratchView1D(m.team_scratch(0), 4)
    w: pk.ScratchView1D[pk.longdouble] = pk.ScratchView1D(m.team_scratch(0), 4)
    s[0] = h[m.league_rank()]
    w[0] = s[0]
    w[0] /= 3
    h[m.league_rank()] = w[0] * 6 + s[0]
"""


@pytest.mark.parametrize("space", SPACES)
def test_scalars_teams_and_scratch(load: Any, space: Any) -> None:
    k, third = load(SCALARS), np.longdouble(1) / 3
    z = np.arange(4) * (1 + 2j) * third
    given = {"z": z, "s": np.float16(2), "t": third, "c": np.clongdouble(1j), "n": 3}
    policy = pk.RangePolicy(space, 0, 4)
    assert pk.parallel_reduce(policy, k.wide, **given) == (z * 2 + third + 1j + 3).sum()
    assert pk.parallel_reduce(pk.TeamPolicy(space, 2, 2), k.team, z=z) == 4 * z.sum()
    h = np.arange(4, dtype=">f2")
    pk.parallel_for(pk.TeamPolicy(space, 4, 1).set_scratch_size(0, pk.PerTeam(256)), k.scratch, h=h)
    np.testing.assert_array_equal(h, 3 * np.arange(4))


def test_scalars_are_told_as_they_were_given(load: Any) -> None:
    k, third = load(SCALARS), np.longdouble(1) / 3
    given = {"z": np.zeros(4, "G"), "s": np.float16(2.5), "t": third, "c": np.clongdouble(1j), "n": 3}
    policy = pk.RangePolicy(pk.OpenMP, 0, 4)
    layout = Layout(definition(k.wide), "reduce", policy, given)
    told, found = layout.told(policy, layout.pack(0, policy.words, given))
    assert told == "RangePolicy(OpenMP, 0, 4)"
    assert {name: found[name] for name in "stcn"} == {name: given[name] for name in "stcn"}
    assert found["t"].dtype == np.longdouble
    assert found["z"] == (np.dtype("G").name, (4,), (32,), 32)
