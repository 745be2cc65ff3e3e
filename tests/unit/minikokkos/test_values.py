"""Results of kernels against numpy, on every space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pkdb_tui.minikokkos as pk

SPACES = [pk.OpenMP, pk.Serial, pk.Debug]
COMPILED = [pk.OpenMP, pk.Serial]
DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "c8", "c16"]

KERNELS = """
SCALE = 3
OFFSET = 0.5


@pk.workunit
def copy(i, out, x):
    out[i] = x[i]


@pk.workunit
def add2(i: int, j: int, out, x):
    out[i, j] = x[i][j] + x[i, j]


@pk.workunit
def axpy(i: int, x: pk.View1D[pk.double], y: pk.View1D[pk.double], a: float):
    y[i] += a * x[i]


@pk.workunit
def total(i: int, acc: pk.Acc[pk.double], x: pk.View1D[pk.double]):
    acc += x[i]


@pk.workunit
def least(i: int, acc: pk.Min[pk.double], x: pk.View1D[pk.double]):
    if x[i] < acc:
        acc = x[i]


@pk.workunit
def most(i: int, acc: pk.Acc[pk.double], x: pk.View1D[pk.double]):
    acc = max(acc, x[i])


@pk.workunit
def running(i, acc, final, view):
    acc += view[i]
    if final:
        view[i] = acc


@pk.workunit
def arithmetic(i: int, out: pk.View2D[pk.double], a: int, b: int, c: float):
    out[i, 0] = a // b
    out[i, 1] = a % b
    out[i, 2] = a / b
    out[i, 3] = a ** 2
    out[i, 4] = c // 2
    out[i, 5] = (a << 2) | 1
    out[i, 6] = ~a & 15
    out[i, 7] = 1 if 0 < b <= 3 else 0
    out[i, 8] = not a == b and (a < b or a > 0)
    whole: int = c
    out[i, 9] = whole
    out[i, 10] = SCALE * OFFSET


@pk.workunit
def maths(i: int, out: pk.View1D[pk.double], x: float):
    out[0] = math.sqrt(x)
    out[1] = pk.exp(x) + math.pi
    out[2] = pk.atan2(x, 2)
    out[3] = abs(-x)
    out[4] = min(x, 1, 3) + max(2, x)
    out[5] = np.hypot(x, 3.0)
    out[6] = pk.fmod(x, 0.3)
    out[7] = round(x)
    out[8] = math.inf
    out[9] = pk.pow(x, 3)
    out[10] = pk.erf(x)
    out[11] = pk.rsqrt(x)
    out[12] = float(int(x * 10))
    out[13] = pk.isnan(x)


@pk.workunit
def atomics(i: int, n: pk.View1D[pk.int32], f: pk.View2D[pk.double]):
    pk.atomic_increment(n, [0])
    pk.atomic_add(n, [1], i)
    before: int = pk.atomic_fetch_sub(n, [2], 1)
    pk.atomic_fetch_max(n, [3], i)
    pk.atomic_fetch_or(n, [4], 1 << (i % 8))
    pk.atomic_compare_exchange(n, [5], 0, 99)
    pk.atomic_fetch_add(f, [i % 2, 0], 0.5 + 0 * before)


@pk.workunit
def scopes(i: int, out: pk.View1D[pk.int64]):
    s = 0
    k = 10
    while True:
        k -= 1
        if k < 3:
            break
        elif k % 2 == 0:
            continue
        else:
            s += k
        for j in range(10, 0, -3):
            s += j
    for j in range(3):
        pass
    step = 2
    for q in range(i, i + 6, step):
        s += q
    if i > 2:
        late = 7
    else:
        late = 8
    out[i] = s * 1000 + j * 100 + late


@pk.workunit
def rows(i: int, a: pk.View2D[pk.double], out: pk.View1D[pk.double]):
    row = a[i, :]
    part = a[i, 1:3]
    out[i] = row[0] + part[1] + len(a) * 10 + a.extent(1) + a.shape[0] + part.extent(0)


@pk.workunit
def waves(i: int, z, out):
    out[i] = z[i] * z[i] + 2 * z[i] + z[i].imag
"""


@pytest.fixture
def k(load: Any) -> Any:
    """The module of kernels."""
    return load(KERNELS)


def _range(space: Any, n: int) -> Any:
    return pk.RangePolicy(space, 0, n)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("space", SPACES)
def test_every_dtype(k: Any, dtype: str, space: Any) -> None:
    x = np.array([0, 1, 1, 0, 100]).astype(dtype)
    out = np.zeros_like(x)
    pk.parallel_for(_range(space, 5), k.copy, out=out, x=x)
    np.testing.assert_array_equal(out, x)


@pytest.mark.parametrize("space", COMPILED)
@pytest.mark.parametrize(
    "view",
    [
        lambda a: a,
        lambda a: a[::-1],
        lambda a: a[:, ::-2],
        lambda a: a.T,
        lambda a: a[1::3, 2:],
        lambda a: np.asfortranarray(a),
        lambda a: a[:0],
        lambda a: a[:, :1],
        lambda a: np.lib.stride_tricks.as_strided(a, (4, 4), (0, 8)),
    ],
)
def test_every_layout(k: Any, space: Any, view: Any) -> None:
    x = view(np.arange(42.0).reshape(6, 7))
    out = view(np.zeros((6, 7)))
    pk.parallel_for(pk.MDRangePolicy([0, 0], list(x.shape), space=space), k.add2, out=out, x=x)
    np.testing.assert_array_equal(out, 2 * x)


@pytest.mark.parametrize("space", SPACES)
def test_reductions_and_scan(k: Any, space: Any) -> None:
    x = np.random.default_rng(3).normal(size=101)
    assert pk.parallel_reduce("named", _range(space, 101), k.total, x=x) == pytest.approx(x.sum())
    assert pk.parallel_reduce(_range(space, 101), k.total, 100.0, x=x) == pytest.approx(100 + x.sum())
    assert pk.parallel_reduce(_range(space, 101), k.total, initial_value=1, x=x) == pytest.approx(1 + x.sum())
    assert pk.parallel_reduce(_range(space, 101), k.least, x=x) == x.min()
    assert pk.parallel_reduce(_range(space, 101), k.least, -50.0, x=x) == -50.0
    assert pk.parallel_reduce(_range(space, 101), k.most, x=x - 10) == x.max() - 10
    assert pk.parallel_reduce(_range(space, 0), k.total, x=x) == 0
    view = np.arange(1.0, 38.0)
    assert pk.parallel_scan(_range(space, 37), k.running, view=view) == 703.0
    np.testing.assert_array_equal(view, np.arange(1.0, 38.0).cumsum())
    assert pk.parallel_scan(_range(space, 0), k.running, view=view) == 0.0


def test_an_integer_is_a_policy_on_the_default_space(k: Any) -> None:
    x, y = np.arange(5.0), np.ones(5)
    pk.parallel_for("axpy", 5, k.axpy, x=x, y=y, a=2.0)
    np.testing.assert_array_equal(y, 1 + 2 * x)
    pk.set_default_space(pk.Serial)
    assert pk.RangePolicy(0, 3).space is pk.get_default_space() is pk.ExecutionSpace.Serial
    pk.set_default_space(pk.OpenMP)


@pytest.mark.parametrize("space", COMPILED)
def test_integers_are_those_of_c(k: Any, space: Any) -> None:
    out = np.zeros((1, 11))
    pk.parallel_for(_range(space, 1), k.arithmetic, out=out, a=-7, b=2, c=7.9)
    assert out[0].tolist() == [-3, -1, -3.5, 49, 3, -27, 6, 1, 1, 7, 1.5]


@pytest.mark.parametrize("space", SPACES)
def test_mathematics(k: Any, space: Any) -> None:
    import math

    x, out = 0.7, np.zeros(14)
    pk.parallel_for(_range(space, 1), k.maths, out=out, x=x)
    expected = [
        math.sqrt(x), math.exp(x) + math.pi, math.atan2(x, 2), x, x + 2, math.hypot(x, 3), math.fmod(x, 0.3), 1,
        math.inf, x**3, math.erf(x), 1 / math.sqrt(x), 7, 0,
    ]  # fmt: skip
    np.testing.assert_allclose(out, expected, rtol=1e-14)


@pytest.mark.parametrize("space", SPACES)
def test_atomics(k: Any, space: Any) -> None:
    n, f = np.zeros(6, np.int32), np.zeros((2, 1))
    pk.parallel_for(_range(space, 1000), k.atomics, n=n, f=f)
    assert n.tolist() == [1000, 499500, -1000, 999, 255, 99]
    assert f.ravel().tolist() == [250.0, 250.0]


@pytest.mark.parametrize("space", SPACES)
def test_locals_live_as_in_python(k: Any, space: Any) -> None:
    out = np.zeros(4, np.int64)
    pk.parallel_for(_range(space, 4), k.scopes, out=out)
    assert out.tolist() == [_scopes(i) for i in range(4)]


def _scopes(i: int) -> int:
    loops = 9 + 7 + 5 + 3 + 4 * (10 + 7 + 4 + 1) + sum(range(i, i + 6, 2))
    return loops * 1000 + 200 + (7 if i > 2 else 8)


@pytest.mark.parametrize("space", SPACES)
def test_rows_and_extents(k: Any, space: Any) -> None:
    a, out = np.arange(12.0).reshape(3, 4), np.zeros(3)
    pk.parallel_for(_range(space, 3), k.rows, a=a, out=out)
    np.testing.assert_array_equal(out, a[:, 0] + a[:, 2] + 30 + 4 + 3 + 2)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("space", SPACES)
def test_complex(k: Any, space: Any, dtype: Any) -> None:
    z = (np.arange(4) + 1j * np.arange(4)[::-1]).astype(dtype)
    out = np.zeros_like(z)
    pk.parallel_for(_range(space, 4), k.waves, z=z, out=out)
    np.testing.assert_allclose(out, z * z + 2 * z + z.imag, rtol=1e-6)


def test_constants_are_read_again_when_they_change(k: Any) -> None:
    out = np.zeros((1, 11))
    pk.parallel_for(_range(pk.Serial, 1), k.arithmetic, out=out, a=1, b=1, c=1.0)
    k.SCALE = 10
    pk.parallel_for(_range(pk.Serial, 1), k.arithmetic, out=out, a=1, b=1, c=1.0)
    assert out[0, 10] == 5.0


def test_views_are_arrays() -> None:
    view = pk.View([3, 2], pk.int32)
    view.fill(4)
    assert (view.extent(0), view.rank(), int(view.sum()), str(view.dtype)) == (3, 2, 24, "int32")
    assert pk.View((2,)).dtype == np.float64
    assert pk.View([2, 3], pk.float, layout=pk.LayoutLeft).strides == (4, 8)
