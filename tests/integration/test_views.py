"""Arguments of kernels have numpy's values, whatever their rank, order and element type, on either runtime."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from runtimes import BOTH, EMBEDDED, INSTALLED, PYKOKKOS, PYTHON, ROOT, debug

on_pykokkos = pytest.mark.parametrize("runtime", [pytest.param(INSTALLED, marks=PYKOKKOS)])
on_each = pytest.mark.parametrize("runtime", BOTH)


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("views") / "forms"
    return Path(shutil.copytree(ROOT / "tests" / "fixtures" / "forms", folder)) / "views.py"


def can(program: str) -> bool:
    """Whether PyKokkos' interpreter runs this."""
    return subprocess.run([PYTHON, "-c", program], capture_output=True, check=False).returncode == 0


def needs_small_integers(runtime: str) -> None:
    """Skip where pykokkos-base was built without them, as its releases are."""
    if runtime == INSTALLED and not can("import numpy, pykokkos; pykokkos.array(numpy.zeros(1, dtype='i1'))"):
        pytest.skip("this PyKokkos was built without integers of 8 bits")


def seen(runtime: str, script: Path, marker: str, *commands: str) -> list[str]:
    """What commands show at the first stop at the line with `marker`."""
    line = next(n for n, text in enumerate(script.read_text().splitlines(), 1) if marker in text)
    done = debug(runtime, script, f"break {line}", "continue", *commands, "quit", variables={"OMP_NUM_THREADS": "1"})
    assert done.stops[0] == f"{script.name}:{line}", done.out + done.err
    assert done.err == ""
    return done.lines[done.lines.index(done.starting("stopped: breakpoint")[0]) + 2 :]


@on_each
def test_ranks_orders_and_subviews(runtime: str, script: Path) -> None:
    shown = seen(
        runtime, script, "r1[i] = t", "print r1.sum(), r2.sum(), r3.sum(), f2.sum(), f3.sum(), pad.sum()",
        "print r3[1, 2, 3], f3[1, 2, 3], f2[1, -1], f3[0, 1, 2], r3[0, 1, 2]", "print row, column", "print part[:, 1]",
        "print f3[:, 1, 0], f3.shape", "locals",
    )  # fmt: skip
    total = [float(n * (n - 1) / 2) for n in (2, 6, 24, 6, 24, 6)]
    assert shown[0] == f"({', '.join(map(str, total))})"
    assert shown[1] == "(23.0, 23.0, 5.0, 6.0, 6.0)"
    assert shown[2] == "(array([0., 1., 2.]), array([0., 3.]))"
    assert shown[3] == "array([5., 9.])"
    assert shown[4] == "(array([ 4., 16.]), (2, 3, 4))"
    types = {line.split()[0]: " ".join(line.split()[1:]) for line in shown[5:]}
    assert types["f3"] == "float64[2, 3, 4] host, columns"
    assert types["r3"] == "float64[2, 3, 4] host, rows"
    assert types["column"] == "float64[2] host, strides 24"


@on_each
def test_element_types(runtime: str, script: Path) -> None:
    needs_small_integers(runtime)
    shown = seen(
        runtime, script, "i4[i] = i4[i] + 1", "print i1, i2, i4", "print i8, u1, u2", "print u4, u8", "print g4, g8",
        "print k, n",
        "print i1.dtype, u8.dtype, g4.dtype",
    )  # fmt: skip
    assert "".join(shown[:1]) == (
        "(array([-1,  0,  1], dtype=int8), array([-1,  0,  1], dtype=int16), array([-1,  0,  1], dtype=int32))"
    )
    assert shown[1] == "(array([-1,  0,  1]), array([0, 1, 2], dtype=uint8), array([0, 1, 2], dtype=uint16))"
    assert shown[2] == "(array([0, 1, 2], dtype=uint32), array([0, 1, 2], dtype=uint64))"
    assert shown[3] == "(array([-1.,  0.,  1.], dtype=float32), array([-1.,  0.,  1.]))"
    assert shown[4] == "(1.5, 7)"


@on_each
def test_complex_numbers(runtime: str, script: Path) -> None:
    needs_small_integers(runtime)
    shown = seen(runtime, script, "z: float = i", "print c8", "print c16[1], abs(c16[0]) > 2", "print c16")
    assert shown == ["array([1.+2.j, 3.+0.j], dtype=complex64)", "(3j, True)", "array([1.+2.j, 0.+3.j])"]


@on_each
def test_four_dimensions(runtime: str, script: Path) -> None:
    if runtime == INSTALLED and not can("import numpy, pykokkos; pykokkos.array(numpy.zeros((1, 1, 1, 1)))"):
        pytest.skip("this PyKokkos was built for fewer dimensions")
    shown = seen(
        runtime, script.with_name("four.py"), "f4[i][0][0][0] = t", "locals",
        "print r4.sum(), f4.sum(), r4[1, 2, 3, 4], f4[1, 2, 3, 4], t", "print f4[:, 1, 2, 3], r4[1, 0, ::2, -1]",
    )  # fmt: skip
    assert {
        "r4  float64[2, 3, 4, 5]  host, rows",
        "f4  float64[2, 3, 4, 5]  host, columns",
        "(7140.0, 7140.0, 119.0, 119.0, 33.0)",
        "(array([33., 93.]), array([64., 74.]))",
    } <= set(shown)


@on_each
def test_five_to_seven_dimensions(runtime: str, script: Path) -> None:
    if runtime == INSTALLED and not can("import numpy, pykokkos; pykokkos.array(numpy.zeros((1,) * 7))"):
        pytest.skip("this PyKokkos was built for fewer dimensions")
    shown = seen(
        runtime, script.with_name("seven.py"), "f7[i][0]", "locals",
        "print r5.sum(), f5.sum(), r6.sum(), f6.sum(), r7.sum(), f7.sum()",
        "print r7[1, 2, 1, 0, 2, 1, 1], f7[1, 2, 1, 0, 2, 1, 1], f7[-1, -1, -1, -1, -1, -1, -1], t",
        "print f7[:, 1, 0, 1, 2, 0, 1], r6[1, 0, 1, 1, ::2, -1], f5[0, 1, 1, :, 2]",
    )  # fmt: skip
    assert {
        "r5  float64[2, 3, 2, 2, 3]  host, rows",
        "f6  float64[2, 3, 2, 2, 3, 2]  host, columns",
        "r7  float64[2, 3, 2, 2, 3, 2, 2]  host, rows",
        "f7  float64[2, 3, 2, 2, 3, 2, 2]  host, columns",
        "(2556.0, 2556.0, 10296.0, 10296.0, 41328.0, 41328.0)",
        "(275.0, 275.0, 287.0, 52.0)",
        "(array([ 69., 213.]), array([91., 95.]), array([20., 23.]))",
    } <= set(shown)


@on_pykokkos
def test_tensors_of_torch(runtime: str, script: Path) -> None:
    """In the kernel they are views, in Python tensors, and both are the same memory."""
    if not can("import torch"):
        pytest.skip("PyKokkos' interpreter has no torch")
    tensors = script.with_name("tensors.py")
    done = debug(
        runtime, tensors, "break 10", "continue", "locals", "print m[i, 0:3], m.shape, v[-1], m.T[1], t", "v[2] = 5.5",
        "print v", "up", "print v[2].item(), m.shape[1]", "delete", "continue", variables={"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert {
        "v  float64[4]  host",
        "m  float64[4, 3]  host, rows",
        "(array([0., 1., 2.]), (4, 3), 0.0, array([ 1.,  4.,  7., 10.]), 2.0)",
        "array([0. , 0. , 5.5, 0. ])",
        "(5.5, 3)",
        "whole [2.0, 8.0, 14.0, 20.0]",
        "strided [2.0, 8.0, 14.0, 20.0, 0.0, 0.0, 0.0, 0.0]",
    } <= set(done.lines)
    (warning,) = done.starting("warning:")
    assert "scale at tensors.py:18: argument v has a stride of 16 bytes (2 elements); PyKokkos ignores" in warning


@on_pykokkos
def test_atomic_traits(runtime: str, script: Path) -> None:
    """The embedded runtime refuses the trait: `pk.atomic_add` and its like are for both."""
    atomic = script.with_name("atomic.py")
    shown = seen(runtime, atomic, "hits[0] += 1", "next", "print hits", "next", "print hits[0], hits[1]")
    assert [line for line in shown if line.startswith(("array", "("))] == ["array([1., 0., 0., 0.])", "(3.0, 0.0)"]


def test_the_embedded_runtime_refuses_the_atomic_trait_by_name(script: Path) -> None:
    stop = debug(EMBEDDED, script.with_name("atomic.py"), "continue").starting("stopped: exception")
    assert "Atomic" in stop[0]
