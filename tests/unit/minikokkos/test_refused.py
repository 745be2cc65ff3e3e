"""What is refused, and in which words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pkdb_tui.minikokkos as pk

HEAD = "@pk.workunit\ndef work(i: int, x: pk.View1D[pk.double]):\n"


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("x[i] = [1, 2]", 7, "a list is not supported in a kernel"),
        ("x[i] = sum(v for v in x)", 10, "a generator is not supported in a kernel"),
        ("print(i)", 0, "print is not supported in a kernel: use pk.printf"),
        ("x[i] = nowhere", 7, "nowhere is not defined in this kernel"),
        ("import os", 0, "import is not supported in a kernel"),
        ("a, b = i, i", 7, "a tuple is not supported in a kernel"),
        ("x[i] = x[i][i]", 7, "x has 1 dimensions, 2 indices are given"),
        ("x[0.5] = 1", 2, "the index 0.5 is a double, not an integer: use int(…)"),
        ("x[i] = i @ i", 7, "the operator @ is not supported in a kernel"),
        ("x[i] = np.linalg.norm(x)", 22, "x is not a number here"),
        ("y: str = 1", 3, "the type str is not known"),
    ],
)
def test_constructs_are_refused_at_their_place(load: Any, line: str, column: int, message: str) -> None:
    module = load(f"{HEAD}    {line}\n")
    with pytest.raises(pk.CompileError) as caught:
        pk.parallel_for(1, module.work, x=np.zeros(1))
    error = caught.value
    assert str(error) == f"{module.__file__}:6: {message}\n    {line}\n    {' ' * column}^"
    assert (error.file, error.line, error.column) == (module.__file__, 6, column + 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "The arguments don't fit work: it needs x."),
        ({"x": np.zeros(2), "y": 1}, "The arguments don't fit work: it has no parameter y."),
        (
            {"x": np.zeros(2, np.float32)},
            "work: x is annotated as View1D of float64, an array of float32 with 1 dimensions is given: "
            "annotate it as View1D of float32, or pass what the annotation says.",
        ),
        (
            {"x": np.zeros((2, 2))},
            "work: x is annotated as View1D of float64, an array of float64 with 2 dimensions is given: "
            "annotate it as View2D of float64, or pass what the annotation says.",
        ),
        ({"x": 3}, "work: x is annotated as a view of 1 dimensions, int 3 is given."),
        (
            {"x": np.zeros(2, object)},
            "work: x is an array of object, which are Python objects: pass their numbers in an array of a numeric "
            "type, such as x.astype(float).",
        ),
        (
            {"x": np.zeros(2, "U3")},
            "work: x is an array of <U3, which is text: pass numbers for it, such as the indices of "
            "numpy.unique(x, return_inverse=True).",
        ),
        (
            {"x": np.zeros(2, "V4")},
            "work: x is an array of |V4, which are bytes without a meaning: say what they are, such as x.view('u4').",
        ),
        (
            {"x": np.zeros(2, [("a", "f8")])},
            "work: x is annotated as View1D of float64, an array of [('a', '<f8')] with 1 dimensions is given: "
            "annotate it as View1D of a name for its dtype, or pass what the annotation says.",
        ),
    ],
)
def test_arguments_that_do_not_fit(load: Any, arguments: dict[str, Any], message: str) -> None:
    module = load(f"{HEAD}    x[i] = 1\n")
    with pytest.raises(pk.ArgumentError) as caught:
        pk.parallel_for(1, module.work, **arguments)
    assert str(caught.value) == message


def test_scalars_that_do_not_fit(load: Any) -> None:
    module = load("@pk.workunit\ndef work(i: int, x: pk.View1D[pk.double], n: int):\n    x[i] = n\n")
    with pytest.raises(pk.ArgumentError, match=r"work: n is 1099511627776, which does not fit int32"):
        pk.parallel_for(1, module.work, x=np.zeros(1), n=2**40)
    with pytest.raises(pk.ArgumentError, match=r"work: n is annotated as int32, 1\.5 is given"):
        pk.parallel_for(1, module.work, x=np.zeros(1), n=1.5)


def test_read_only_arrays(load: Any) -> None:
    module = load(f"{HEAD}    x[i] = 1\n")
    x = np.zeros(2)
    x.flags.writeable = False
    with pytest.raises(pk.ArgumentError, match="work writes to x, but that array is read-only"):
        pk.parallel_for(1, module.work, x=x)
    fields = load("@pk.workunit\ndef work(i: int, x):\n    x[i]['a'] = 1\n")
    x = np.zeros(2, [("a", "f8")])
    x.flags.writeable = False
    with pytest.raises(pk.ArgumentError, match="work writes to x, but that array is read-only"):
        pk.parallel_for(1, fields.work, x=x)


@pytest.mark.parametrize(
    "lines",
    ["r = x[i]\n    r['a'] = 1", "a = x['a']\n    part = a[1:]\n    part[i] = 1", "y = x\n    y[i]['a'] += 1"],
)
def test_read_only_arrays_are_not_written_to_by_another_name(load: Any, lines: str) -> None:
    module = load(f"@pk.workunit\ndef work(i: int, x, z):\n    r2 = z[i]\n    {lines}\n")
    x, z = (np.frombuffer(bytes(16), [("a", "f8")]) for _ in range(2))
    with pytest.raises(pk.ArgumentError, match="work writes to x, but that array is read-only"):
        pk.parallel_for(1, module.work, x=x, z=z)
    pk.parallel_for(1, module.work, x=x.copy(), z=z)


def test_spaces_and_decorators_that_are_not_here() -> None:
    with pytest.raises(pk.ArgumentError, match="no execution space HIP"):
        pk.RangePolicy(pk.HIP, 0, 1)
    with pytest.raises(pk.MinikokkosError, match=r"pk\.workload is not supported"):
        pk.workload(object)


def test_bounds(load: Any, hooked: Any) -> None:
    module = load(f"{HEAD}    x[i + 1] = 1\n")
    hooked(lambda launch: launch.run_debug(launch.build_debug()))
    x = np.zeros(4)
    with pytest.raises(IndexError, match=r"^x index 4 in dimension 0, extent 4$"):
        pk.parallel_for(pk.RangePolicy(pk.Serial, 0, 4), module.work, x=x)
    assert x.tolist() == [0, 1, 1, 1]


def test_bounds_in_an_optimised_build(load: Any) -> None:
    module = load(f"{HEAD}    x[i - 1] = 1\n")
    module.work.bounds = True
    with pytest.raises(IndexError, match=r"^x index -1 in dimension 0, extent 4$"):
        pk.parallel_for(4, module.work, x=np.zeros(4))


def test_no_compiler(load: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = load(f"{HEAD}    x[i] = 41\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(pk.CompileError) as caught:
        pk.parallel_for(1, module.work, x=np.zeros(1))
    assert str(caught.value) == (
        "No C++ compiler was found. Install one (Debian/Ubuntu: apt install g++) or name it in the environment "
        "variable CXX."
    )
