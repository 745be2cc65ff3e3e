"""Kernels of a real PyKokkos under gdb. `PKDB_PYKOKKOS` names an interpreter that has it, where this one doesn't."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest
from cli import PROMPT, terminal

PYTHON = os.environ.get("PKDB_PYKOKKOS", sys.executable)
PROGRAM = """import numpy as np
import pykokkos as pk


@pk.function
def half(v: float) -> float:
    w: float = v / 2.0
    return w


@pk.workunit
def row_sums(j: int, acc: pk.Acc[pk.double], cols: int, a: pk.View2D[pk.double]):
    total: float = 0
    for i in range(cols):
        total += half(a[j][i])
    acc += total


a = np.arange(32.0).reshape(8, 4)
policy = pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, 8)
print("sum", pk.parallel_reduce(policy, row_sums, cols=4, a=a))
"""


def installed() -> bool:
    probe = "import pykokkos, sys; sys.exit(bool(getattr(pykokkos, 'embedded', False)))"
    return subprocess.run([PYTHON, "-c", probe], capture_output=True, check=False).returncode == 0


pytestmark = [
    pytest.mark.pykokkos,
    pytest.mark.skipif(not installed(), reason="no PyKokkos can be imported here"),
    pytest.mark.timeout(300),
]


def debug(folder: Path, *commands: str, program: str = PROGRAM) -> subprocess.CompletedProcess[str]:
    (folder / "sums.py").write_text(program)
    given = [part for command in commands for part in ("-c", command)]
    line = [sys.executable, "-m", "pkdb_tui", "--plain", "--python", PYTHON, *given, "sums.py"]
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=280)


def test_a_kernel_of_pykokkos_stops_and_its_values_are_numpys(tmp_path: Path) -> None:
    run = debug(
        tmp_path, "break 16", "continue", "print total", "print a[j, 0:4]", "print a.shape", "parallel_print total",
        "where", "delete", "finish", "continue",
    )  # fmt: skip
    lines = run.stdout.splitlines()
    assert run.stderr == ""
    assert "stopped: breakpoint 1 sums.py:16 in row_sums thread 0 of 2 · j = 0" in lines
    assert "3.0" in lines
    assert "array([0., 1., 2., 3.])" in lines
    assert "(8, 4)" in lines
    by_thread = next(line.split() for line in lines if line.split()[:1] == ["0"])
    assert list(map(float, by_thread)) == [0, 3.0, 1, 35.0]
    assert ">  0 row_sums sums.py:16 kernel" in lines
    assert "sum 248.0" in lines
    assert lines[-1] == "exited: status 0"


def test_stepping_goes_into_kernel_functions_and_never_into_kokkos(tmp_path: Path) -> None:
    run = debug(tmp_path, "break 15", "continue", "delete", "step", "step", "finish", "next", "finish", "continue")
    stops = [line for line in run.stdout.splitlines() if line.startswith("stopped: step")]
    assert [stop.split()[2] for stop in stops[:2]] == ["sums.py:7", "sums.py:8"]
    assert all("sums.py" in stop for stop in stops)
    assert "sum 248.0" in run.stdout


def test_breakpoints_set_and_deleted_in_the_kernel_take_effect(tmp_path: Path) -> None:
    run = debug(tmp_path, "break 16", "continue", "break 13", "delete 1", "continue", "delete", "finish", "continue")
    stops = [line for line in run.stdout.splitlines() if line.startswith("stopped: breakpoint")]
    assert [stop.split()[3] for stop in stops] == ["sums.py:16", "sums.py:13"]
    assert "sum 248.0" in run.stdout


def test_python_is_asked_and_changed_at_a_stop_in_a_kernel(tmp_path: Path) -> None:
    run = debug(
        tmp_path, "break 16 if j == 3", "continue", "print np.arange(3) * 2", "print [k * k for k in range(3)]", "up",
        "print policy.end", "a[7, 3] = 1031", "delete", "finish", "continue",
        program=PROGRAM + 'print("changed", a[7, 3])\n',
    )  # fmt: skip
    lines = run.stdout.splitlines()
    assert {"array([0, 2, 4])", "[0, 1, 4]", "8"} <= set(lines)
    assert "changed 1031.0" in lines
    assert lines[-1] == "exited: status 0"


def test_the_frameworks_own_cache_is_not_touched(tmp_path: Path) -> None:
    debug(tmp_path, "break 16", "continue", "delete", "finish", "continue")
    assert not (tmp_path / "pk_cpp").exists()


BOUNDS = """import numpy as np
import pykokkos as pk


@pk.workunit
def past(i: int, v: pk.View1D[pk.double]):
    at: int = i + 3
    v[at] = 1.0


pk.parallel_for(pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, 6), past, v=np.zeros(8))
"""


def test_an_index_out_of_bounds_stops_at_its_line_with_index_and_extent(tmp_path: Path) -> None:
    run = debug(tmp_path, "set catch on", "continue", "locals", "len v", "quit", program=BOUNDS)
    (stop,) = [line for line in run.stdout.splitlines() if line.startswith("stopped: bounds")]
    assert "v index 8 in dimension 0, extent 8" in stop
    assert "sums.py:8 in past" in stop
    assert "i = 5" in stop
    assert "v   float64[8]  host" in run.stdout.splitlines()
    assert "8" in run.stdout.splitlines()


@pytest.mark.parametrize(
    ("condition", "row"),
    [
        ("a[j, -1] // 3 == 7", 5),
        ("-j % 3 == 2 and (j - 8) // 3 == -3 and j in range(0, 8)", 1),
        ("a[j + 3, 0] > 1e9", 5),
    ],
)
def test_conditions_have_pythons_arithmetic_and_stop_on_errors(tmp_path: Path, condition: str, row: int) -> None:
    """Indices from the end, rounding down, and an index error, which stops as in pdb."""
    run = debug(tmp_path, f"break 16 if {condition}", "continue", "print j", "delete", "continue")
    assert str(row) in run.stdout.splitlines()
    assert "sum 248.0" in run.stdout
    failed = "condition failed: a index 8 in dimension 0, extent 8" in run.stdout
    assert failed is (condition == "a[j + 3, 0] > 1e9")


LONG = """import sys
import numpy as np
import pykokkos as pk


@pk.workunit
def spin(i: int, out: pk.View1D[pk.double], rounds: int):
    for k in range(rounds):
        out[i] += k
        if out[i] > 1000.0:
            out[i] = 0.0


out, policy = np.zeros(4), pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, 4)
pk.parallel_for(policy, spin, out=out, rounds=1)
for rounds in map(int, sys.argv[1:]):
    print("begins", rounds, flush=True)
    pk.parallel_for(policy, spin, out=out, rounds=rounds)
    print("ends", rounds, flush=True)
"""
ROUNDS = 300_000_000  # some seconds on two threads
PAUSE_AT_LAUNCH = r"stopped: pause sums\.py:1[6-9] in <module>"


def paused(child: pexpect.spawn[str], expected: str) -> None:
    """Ctrl-C until `expected` comes: it may come before the program goes on, or before it has entered the kernel."""
    for _ in range(10):
        child.sendintr()
        found = child.expect([expected, PAUSE_AT_LAUNCH, pexpect.TIMEOUT], timeout=10)
        if found == 0:
            return
        if found == 1:
            child.expect_exact(PROMPT)
            child.sendline("continue")
    pytest.fail("no pause came in the kernel")


def test_a_pause_in_its_own_optimised_build_names_the_kernel_and_stops_when_that_is_over(tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text(LONG)
    with terminal("--python", PYTHON, "sums.py", str(ROUNDS), folder=tmp_path) as child:
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact(f"begins {ROUNDS}", timeout=60)
        paused(
            child, r"note: The program is in the optimised build of spin launched at sums\.py:18, which keeps Python"
        )
        child.expect_exact("With a breakpoint in spin its next launch is a debug build")
        child.expect(PAUSE_AT_LAUNCH, timeout=60)
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("exited: status 0")


def test_a_pause_after_the_attach_stops_in_the_kernel_again_and_again(tmp_path: Path) -> None:
    """Where PKDB is stuck: after the first stop of a kernel."""
    (tmp_path / "sums.py").write_text(LONG)
    with terminal("--python", PYTHON, "-c", "tbreak 9 if k == 3", "sums.py", "2000000000", folder=tmp_path) as child:
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect(r"stopped: breakpoint 1 sums\.py:9 in spin thread", timeout=120)
        for _ in range(3):
            child.expect_exact(PROMPT)
            child.sendline("continue")
            paused(child, r"stopped: pause sums\.py:(8|9|10|11) in spin thread \d of 2")
            assert 8 <= int(child.match[1]) <= 11  # type: ignore[index]
        child.expect_exact(PROMPT)
        child.sendline("print rounds")
        child.expect_exact("2000000000")
        child.expect_exact(PROMPT)
        child.sendline("quit")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 0


def test_another_kernel_in_the_space_of_a_stopped_one_is_refused_and_runs_in_another(tmp_path: Path) -> None:
    """PyKokkos would have it wait for the stopped one for ever."""
    launch = "pk.parallel_for(pk.RangePolicy(pk.ExecutionSpace.{}, 0, 4), fill, out=other)"
    fill = "@pk.workunit\ndef fill(i: int, out: pk.View1D[pk.double]):\n    out[i] = 7.0\n\n\nother = np.zeros(4)\n"
    run = debug(
        tmp_path, "set timeout 100", "break 9", "continue", launch.format("OpenMP"), launch.format("Serial"), "other",
        "delete", "continue", program=LONG.replace("out, policy =", f"{fill}out, policy ="),
    )  # fmt: skip
    assert "RuntimeError: no other kernel can begin in OpenMP while spin is stopped in it" in run.stderr
    assert "array([7., 7., 7., 7.])" in run.stdout


def test_a_sum_as_long_as_pykokkos_itself_translates_is_debugged(tmp_path: Path) -> None:
    program = PROGRAM.replace("half(a[j][i])", " + ".join(["half(a[j][i])"] * 200))
    run = debug(tmp_path, "break 16 if total < 1300", "continue", "print total", "continue", program=program)
    assert run.stdout.count("stopped: breakpoint") == 1
    assert "600.0" in run.stdout.splitlines(), run.stdout + run.stderr
    assert run.stdout.splitlines()[-2:] == ["sum 49600.0", "exited: status 0"]
