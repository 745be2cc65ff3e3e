"""Kernels whose names are words of C++, or look like those of the generated code."""

from __future__ import annotations

from pathlib import Path

from cli import Run, plain

PROGRAM = """import numpy as np
import pykokkos as pk


@pk.function
def template(new: float) -> float:
    delete: float = new * 2
    return delete


@pk.workunit
def xor(self: int, this: pk.View1D[pk.double], register: float, pk_total: float, new_: int):
    namespace: float = template(self * register) + pk_total
    this[self] = namespace
    __x: int = self
    new: int = new_ + __x
    this[new] = 1


this = np.zeros(11)
pk.parallel_for(pk.RangePolicy(pk.ExecutionSpace.Serial, 0, 8), xor, this=this, register=2.0, pk_total=0.5, new_=4)
"""


def run(folder: Path, *commands: str) -> Run:
    (folder / "names.py").write_text(PROGRAM)
    return plain("--runtime", "embedded", "names.py", commands=commands, folder=folder)


def test_names_of_kernels_are_the_programs(tmp_path: Path) -> None:
    looks = ("locals", "print new, register, pk_total, this.shape")
    done = run(tmp_path, "break 7 if new == 6", "break 17 if self == 3", "c", "locals", "where", "c", *looks)
    assert (done.err, done.status) == ("", 0)
    assert done.stops[1:] == [
        "stopped: breakpoint 1 names.py:7 in template thread 0 of 1 · self = 3",
        "stopped: breakpoint 2 names.py:17 in xor thread 0 of 1 · self = 3",
    ]
    values = [line.split() for line in done.lines if not line.startswith((" ", "stopped", "breakpoint"))]
    assert values == [
        ["new", "float", "6.0"],
        [">", "0", "template", "names.py:7", "kernel"],
        ["self", "int", "3"],
        ["this", "float64[11]", "host"],
        ["register", "float", "2.0"],
        ["pk_total", "float", "0.5"],
        ["new_", "int", "4"],
        ["namespace", "float", "12.5"],
        ["__x", "int", "3"],
        ["new", "int", "7"],
        ["(7,", "2.0,", "0.5,", "(11,))"],
    ]


def test_names_in_conditions_that_gdb_evaluates_and_in_watchpoints(tmp_path: Path) -> None:
    condition = "register == 2 and pk_total > 0 and this[self] == 1 and self > 6 and this.size == 11"
    done = run(
        tmp_path,
        "break 14",
        "continue",
        "register = 7",
        "print register",
        "register = 2",
        "watch this[self]",
        "watch namespace",
        "continue",
        "delete 2 3",
        f"condition 1 {condition}",
        "continue",
        "print self, namespace",
        "delete",
        "continue",
    )
    assert (done.err, done.status) == ("", 0)
    assert "7.0" in done.lines
    assert "(7, 28.5)" in done.lines
    assert done.stops[2:] == [
        "stopped: watchpoint 2: this[self] 0 -> 0.5 names.py:14 in xor thread 0 of 1 · self = 0",
        "stopped: breakpoint 1 names.py:14 in xor thread 0 of 1 · self = 7",
        "stopped: bounds: this index 11 in dimension 0, extent 11 names.py:17 in xor thread 0 of 1 · self = 7",
    ]
