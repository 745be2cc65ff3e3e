"""What debuggers of such programs have been seen to get wrong, with the right values, on either runtime."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from runtimes import BOTH, INSTALLED, PYTHON, ROOT, Run, debug

pytestmark = pytest.mark.parametrize("runtime", BOTH)
ONE = {"OMP_NUM_THREADS": "1"}

OTHER = """import pykokkos as pk


@pk.workunit
def shift(i: int, v: pk.View1D[pk.double]):
    moved: float = v[i] + 100.0
    v[i] = moved
"""
PROGRAM = """import sys

import numpy as np
import pykokkos as pk
from other import shift


@pk.function
def half(v: float) -> float:
    w: float = v / 2.0
    return w


@pk.workunit
def work(i: int, acc: pk.Acc[pk.double], v: pk.View1D[pk.double], m: pk.View2D[pk.double]):
    t: float = half(v[i])
    if i == 0:
        t = 1.0
    else:
        if i == 1:
            t = 2.0
        t += 10.0
    acc += (t +
            m[i][1])


@pk.workunit
def far(i: int, n: int, v: pk.View1D[pk.double]):
    at: int = i + n
    v[at] = 1.0


space = getattr(pk.ExecutionSpace, sys.argv[1] if len(sys.argv) > 1 else "OpenMP")
policy = pk.RangePolicy(space, 0, 8)
v = np.arange(8.0)
m = np.arange(2400.0).reshape(8, 300)
f = np.asfortranarray(np.arange(16.0).reshape(8, 2))
print("first", pk.parallel_reduce(policy, work, v=v, m=m))
print("columns", pk.parallel_reduce(policy, work, v=v, m=f))
pk.parallel_for(policy, shift, v=v)
print("shifted", v.sum())
if len(sys.argv) > 2:
    pk.parallel_for(policy, far, n=int(sys.argv[2]), v=v)
print({}[v.sum()])
"""
FIRST = 1 + 2 + 10 + sum(i / 2 + 10 for i in range(2, 8)) + sum(300.0 * i + 1 for i in range(8))
WORK, ACC, HALF, MOVED, FAR = 16, 23, 10, 6, 30


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("truths")
    (folder / "other.py").write_text(OTHER)
    (folder / "truths.py").write_text(PROGRAM)
    return folder / "truths.py"


def test_every_due_hit_is_met_and_counted(script: Path, runtime: str) -> None:
    run = debug(
        runtime, script, f"log {ACC} row {{i}}", f"break {ACC}", "ignore 2 1000", "break 39", "continue", "break",
        "quit",
    )  # fmt: skip
    assert run.stops == ["truths.py:39"]
    assert sorted(line.rpartition("row ")[2] for line in run.lines if f"truths.py:{ACC} thread" in line) == list(
        "01234567"
    )
    assert len([line for line in run.lines if line.endswith("hit 8 times")]) == 2


def test_conditions_hold_in_kernels_and_functions_stop(script: Path, runtime: str) -> None:
    run = debug(
        runtime, script, f"break {WORK + 1} if i == 6 and t > 2.5", "continue", "print i, t", "delete",
        f"break {HALF} if v == 5", "continue", "print v", "where", "delete", "continue", "quit",
    )  # fmt: skip
    assert "(6, 3.0)" in run.lines
    assert "5.0" in run.lines
    # In a function the indices are still those of the workunit that called it.
    assert any(f"truths.py:{HALF} in half" in line and line.endswith(" · i = 5") for line in run.starting("stopped: "))
    assert any("half" in line and f"truths.py:{HALF}" in line for line in run.starting(">  0"))
    assert any("work" in line and f"truths.py:{WORK}" in line for line in run.starting("   1"))


def test_breakpoints_set_and_deleted_anywhere_count_everywhere(script: Path, runtime: str) -> None:
    """Set in Python and deleted in the kernel, set in the kernel for another file's kernel, cleared in Python."""
    run = debug(
        runtime, script, f"break {ACC}", "continue", "delete 1", f"break other.py:{MOVED}", "continue", "print v[i]",
        "delete", "finish", "continue", "quit", variables=ONE,
    )  # fmt: skip
    assert run.stops == [f"truths.py:{ACC}", f"other.py:{MOVED}", "truths.py:40", "truths.py:44"]
    assert f"first {FIRST}" in run.lines
    assert "shifted 828.0" in run.lines


def test_a_breakpoint_cleared_in_python_after_it_fired_in_a_kernel_fires_no_more(script: Path, runtime: str) -> None:
    """Else it fires in the next launch of its kernel, whose build it has been placed in."""
    for clear, later in ((f"clear truths.py:{ACC}", []), ("delete 1", []), ("break", [f"truths.py:{ACC}"])):
        run = debug(
            runtime, script, f"break {ACC}", "ignore 1 7", "tbreak 39", "tbreak 40", "continue", "print i", "continue",
            clear, "continue", "print v[3]", "quit", variables=ONE,
        )  # fmt: skip
        assert run.stops == [f"truths.py:{ACC}", "truths.py:39", *(later or ["truths.py:40"])], clear
        assert {"7", "3.0", f"first {FIRST}"} <= set(run.lines)


def test_a_continuation_line_stops_at_its_statement(script: Path, runtime: str) -> None:
    run = debug(runtime, script, f"break {ACC + 1}", "continue", "quit", variables=ONE)
    assert f"moved to {ACC}" in run.lines[2]
    assert run.stops == [f"truths.py:{ACC}"]


def test_stepping_in_openmp_and_an_else_that_begins_with_an_if(script: Path, runtime: str) -> None:
    run = debug(runtime, script, f"break {WORK} if i == 1", "continue", "delete", *["next"] * 5, "print t", "quit")
    assert run.stops == [f"truths.py:{line}" for line in (WORK, 17, 20, 21, 22, ACC)]
    assert "12.0" in run.lines
    plain = debug(runtime, script, "continue", "quit")
    assert f"first {FIRST}" in plain.lines


def test_a_fault_is_shown_at_its_python_line_and_leaves_nothing_stuck(script: Path, runtime: str) -> None:
    done = debug_with(
        runtime, script, ("OpenMP", "1000000000"), "set catch on", "continue", "print i", "restart", "quit"
    )
    (stop,) = done.starting("stopped: signal SIGSEGV")
    assert f"truths.py:{FAR} in far" in stop
    assert done.lines[-1].strip() == "1 import sys"


def test_later_launches_are_debugged_after_one_was_left(script: Path, runtime: str) -> None:
    run = debug(
        runtime, script, f"break {ACC}", "continue", "finish", "continue", "delete", "finish", "continue", "quit"
    )
    assert run.stops[:3] == [f"truths.py:{ACC}", "truths.py:38", f"truths.py:{ACC}"]


def test_an_uncaught_exception_is_looked_at_where_it_was_raised(script: Path, runtime: str) -> None:
    run = debug(runtime, script, "continue", "print float(v[0]), policy.end", "quit")
    assert run.stops == ["truths.py:44"]
    assert "(100.0, 8)" in run.lines


def test_commands_come_through_a_pipe(script: Path, runtime: str) -> None:
    python = PYTHON if runtime == INSTALLED else sys.executable
    which = [] if runtime == INSTALLED else ["--runtime", "embedded"]
    done = subprocess.run(
        [sys.executable, "-m", "pkdb_tui", "--plain", "--python", python, *which, script.name],
        input=f"break {ACC}\ncontinue\nprint t + m[i, 1]\nquit\n", cwd=script.parent, capture_output=True, text=True,
        env={**os.environ, **ONE, "PYTHONPATH": str(ROOT), "PKDB_STATE": str(script.parent / "piped")},
        timeout=120, check=False,
    )  # fmt: skip
    assert "2.0" in done.stdout


def test_elements_slices_shapes_and_layouts_are_numpys(script: Path, runtime: str) -> None:
    run = debug(
        runtime, script, f"break {ACC} if i == 3", "continue", "print m[i][2], m[i, 2], m[-1, -1]", "print v[:]",
        "print m.shape, len(v)", "print v[::3]", "print m.sum(), m[:, 1].sum()", "print m[8, 0]", "finish", "continue",
        "print m[:, 1]", "quit", variables=ONE,
    )  # fmt: skip
    assert "(902.0, 902.0, 2399.0)" in run.lines
    assert "array([0., 1., 2., 3., 4., 5., 6., 7.])" in run.lines
    assert "((8, 300), 8)" in run.lines
    assert "array([0., 3., 6.])" in run.lines
    assert f"({2400 * 2399 / 2}, {300.0 * 28 + 8})" in run.lines
    assert "index 8 is out of bounds for axis 0 with size 8" in run.err.lower()


def test_a_fortran_ordered_arrays_columns_and_rows_are_numpys(script: Path, runtime: str) -> None:
    run = debug(
        runtime, script, "tbreak 39", "continue", f"break {ACC} if i == 2", "continue", "print m[:, 1]", "print m[2]",
        "print m[i, 1], m[1:3, 0], m[::-3, 1]", "print m.shape, m.sum()", "m[5, 1] = 100.0", "print m[:, 1]",
        "delete", "finish", "continue", "quit", variables=ONE,
    )  # fmt: skip
    assert run.stops[:2] == ["truths.py:39", f"truths.py:{ACC}"]
    assert run.lines.count("array([ 1.,  3.,  5.,  7.,  9., 11., 13., 15.])") == 1
    assert "array([4., 5.])" in run.lines
    assert "(5.0, array([2., 4.]), array([15.,  9.,  3.]))" in run.lines
    assert "((8, 2), 120.0)" in run.lines
    assert "array([  1.,   3.,   5.,   7.,   9., 100.,  13.,  15.])" in run.lines
    columns = FIRST - sum(300.0 * i + 1 for i in range(8)) + 64 + 100 - 11
    assert f"columns {columns}" in run.lines


def test_a_value_written_at_a_stop_is_the_programs(script: Path, runtime: str) -> None:
    run = debug(
        runtime, script, f"break {ACC} if i == 0", "continue", "print t", "t = 1001.0", "m[0, 1] = 0", "delete",
        "finish", "continue", "quit",
    )  # fmt: skip
    assert f"first {FIRST + 1000 - 1}" in run.lines


def test_no_native_debugger_without_a_kernel_breakpoint_and_serial_kernels_stop(script: Path, runtime: str) -> None:
    run = debug(runtime, script, "break 41", "continue", "info runtime", "quit")
    assert any(line.startswith("native debugger not attached") for line in run.lines)
    serial = debug_with(
        runtime, script, ("Serial",), f"break {ACC}", "continue", "print i", "delete", "continue", "quit"
    )
    if serial.starting("stopped: exception ValueError"):
        pytest.skip("this PyKokkos was built without Serial")
    assert serial.stops[0] == f"truths.py:{ACC}"
    assert "0" in serial.lines


def debug_with(runtime: str, script: Path, arguments: tuple[str, ...], *commands: str) -> Run:
    """With arguments of the program's own, and no bounds checks."""
    return debug(runtime, script, *commands, options=("--no-bounds",), arguments=arguments)
