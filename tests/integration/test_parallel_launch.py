"""Several kernels at once on the live data: on copies, compared, each with its own end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli import plain
from runtimes import OnRuntime

SCRIPT, LAUNCH, AFTER, KERNEL = "side_by_side.py", 32, 33, 9
TO_LAUNCH = (f"break {LAUNCH}", "continue")
PATTERN = r"{}  {} +RangePolicy\({}, 0, {}\)  +\d[\d.]* (?:ns|µs|ms|s){}"


def launched(lines: list[str], number: int, kernel: str, space: str, count: int, returned: str = "") -> bool:
    text = PATTERN.format(number, kernel, space, count, f"  returned {re.escape(returned)}" if returned else "")
    return any(re.fullmatch(text, line.strip()) for line in lines)


def test_each_has_arrays_of_its_own(debug: OnRuntime) -> None:
    run = debug(
        SCRIPT,
        *TO_LAUNCH,
        "parallel_launch damp n v ; damp_less pk.ExecutionSpace.Serial policy v=v ; damp n v",
        "print v[3]",
        "continue",
    )
    assert launched(run.lines, 1, "damp", "OpenMP", 12)
    assert launched(run.lines, 2, "damp_less", "Serial", 12)
    found = next(line for line in run.lines if line.startswith("   v: "))
    assert found.startswith("   v: 12 of 12 differ, max abs 3, rel 0.5, ")
    assert found.endswith(" ulp, most at [11]")
    assert "   the same as 1" in run.lines
    assert "4.0" in run.lines
    assert run.starting("total 39.0 18.0 ")
    assert run.starting("total ")[0].endswith(" OpenMP")  # the program's policy is what it was


def test_results_are_compared(debug: OnRuntime) -> None:
    run = debug(
        SCRIPT,
        *TO_LAUNCH,
        "parallel_launch reduce dot n v v ; reduce dot n v, v + 1.0 ; parallel_reduce dot n // 2 v v",
    )
    assert launched(run.lines, 1, "dot", "OpenMP", 12, "650.0")
    assert launched(run.lines, 2, "dot", "OpenMP", 12, "728.0")
    assert launched(run.lines, 3, "dot", "OpenMP", 6, "91.0")
    assert any(line.startswith("   returned: 1 of 1 differ, max abs 78, rel 0.12, ") for line in run.lines)
    assert any(line.startswith("   y: 12 of 12 differ, max abs 1, ") for line in run.lines)


def test_what_is_shared_is_the_programs_own(debug: OnRuntime) -> None:
    run = debug(SCRIPT, *TO_LAUNCH, "parallel_launch damp n mut:v", "print v[3], w[1]", f"tbreak {AFTER}", "continue")
    assert "(np.float64(2.0), np.float64(1.5))" in run.lines or "(2.0, 1.5)" in run.lines


def test_one_that_fails_does_not_keep_the_others(debug: OnRuntime) -> None:
    clauses = "damp n 1/0 ; nope n v ; damp ; damp 'x' v ; damp_less n v ; damp n v"
    run = debug(SCRIPT, *TO_LAUNCH, f"parallel_launch {clauses}", "print v[3]")
    assert "1  damp       failed: ZeroDivisionError: division by zero" in run.lines
    assert "2  nope       failed: NameError: name 'nope' is not defined" in run.lines
    assert any(line.startswith("3  damp       failed: `damp` has no policy.") for line in run.lines)
    assert any(line.startswith("4  damp       failed: 'x' is no policy.") for line in run.lines)
    assert launched(run.lines, 5, "damp_less", "OpenMP", 12)
    assert launched(run.lines, 6, "damp", "OpenMP", 12)
    assert any("v: 12 of 12 differ" in line for line in run.lines)  # to the fifth, the first that ended well
    assert "4.0" in run.lines


def test_no_breakpoint_no_rule_and_no_count(debug: OnRuntime) -> None:
    run = debug(
        SCRIPT,
        *TO_LAUNCH,
        f"break {KERNEL}",
        "hotswap damp damp_less",
        "parallel_launch damp n mut:v",
        "print v[3]",
        "info launches",
        "info break",
    )
    assert len(run.stops) == 2
    assert "2.0" in run.lines
    assert not run.starting("damp side_by_side.py")
    assert not any("hit " in line for line in run.lines if f":{KERNEL}" in line)


def test_arrays_that_overlap_still_do(debug: OnRuntime) -> None:
    clauses = "scaled 6 v[:6] v[6:] 3.0 ; scaled 6 v[:6] w=v[:6] factor=3.0 ; scaled 6 v[:6] v[3:9] 3.0"
    run = debug(SCRIPT, *TO_LAUNCH, f"parallel_launch {clauses}", "print v[6]", threads=1)
    differences = [line.strip().partition(" ulp")[0] for line in run.lines if line.startswith("   v: ")]
    assert differences[0].startswith("v: 6 of 6 differ, max abs 12, rel 2, ")
    assert differences[1].startswith("v: 3 of 6 differ, max abs 3, ")  # 3, 6, 9 in the place of 4, 5, 6
    assert "7.0" in run.lines


def test_at_a_stop_in_a_kernel(embedded: OnRuntime) -> None:
    commands = (f"tbreak {KERNEL} if i == 3", "continue", "parallel_launch damp i + 1 v ; damp n mut:v", "print v[3]")
    run = embedded(SCRIPT, *TO_LAUNCH, *commands, "delete", "continue", threads=1)
    assert launched(run.lines, 1, "damp", "OpenMP", 4)
    assert launched(run.lines, 2, "damp", "OpenMP", 12)
    assert "2.0" in run.lines
    assert any(line.startswith("total ") for line in run.lines)


WAITING = """import numpy as np
import pykokkos as pk


@pk.workunit
def meet(i: int, flags: pk.View1D[pk.double], mine: int, other: int):
    pk.atomic_fetch_add(flags, [mine], 1.0)
    while pk.atomic_fetch_add(flags, [other], 0.0) < 1.0:
        pass


flags = np.zeros(2)
print("ready")
print("met", flags.sum())
"""


def test_they_run_at_the_same_time(tmp_path: Path) -> None:
    (tmp_path / "meeting.py").write_text(WAITING)
    clauses = " ; ".join(f"meet pk.ExecutionSpace.Serial 1 mut:flags {a} {b}" for a, b in ((0, 1), (1, 0)))
    commands = ("break 13", "continue", f"parallel_launch {clauses}", "continue")
    run = plain("--runtime", "embedded", "meeting.py", commands=commands, folder=tmp_path)
    assert launched(run.lines, 1, "meet", "Serial", 1)
    assert launched(run.lines, 2, "meet", "Serial", 1)
    assert "met 2.0" in run.lines


@pytest.mark.parametrize("text", ["", "damp", "; ;"])
def test_nothing_to_launch_says_what_to_write(embedded: OnRuntime, text: str) -> None:
    run = embedded(SCRIPT, *TO_LAUNCH, f"parallel_launch {text}".strip())
    told = run.err + run.out
    assert "parallel_launch" in told or "[reduce|scan] KERNEL [SPACE] POLICY ARGUMENT" in told
    assert "Traceback" not in told
