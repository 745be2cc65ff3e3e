"""Several breakpoints on a kernel line, conditions built into the kernel among them: one stop for each pass."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from runtimes import BOTH, EMBEDDED, Run, debug

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
ONE = {"OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sums") / "sums.py"
    path.write_text(PROGRAM)
    return path


def stops(run: Run) -> list[tuple[str, str, str]]:
    """(why, line, value of the index) of each stop after the start."""
    found = [
        re.match(r"stopped: (.*) sums\.py:(\d+) in \w+ thread \d of \d(?: · \w = (\d))?", line)
        for line in run.starting("stopped:")[1:]
    ]
    return [(match[1], match[2], match[3]) for match in found if match is not None]


def hits(run: Run) -> dict[int, int]:
    """By breakpoint, as the last `info breakpoints` has them."""
    found = re.findall(r"^(?:temporary )?(?:log point|breakpoint) (\d+) at .* hit (\d+) times?", run.out, re.MULTILINE)
    return {int(number): int(count) for number, count in found}


@pytest.mark.parametrize("runtime", BOTH)
def test_all_breakpoints_of_a_line_that_hold_make_one_stop(script: Path, runtime: str) -> None:
    run = debug(
        runtime, script, "break 16 if j % 4 == 2", "break 16 if total > 0 and j > 5", "break 16", "ignore 3 1",
        *["continue"] * 7, "info breakpoints", "delete", "continue", variables=ONE,
    )  # fmt: skip
    named = {"2": "breakpoint 1, 3", "6": "breakpoint 1, 2, 3", "7": "breakpoint 2, 3"}
    assert stops(run) == [(named.get(j, "breakpoint 3"), "16", j) for j in "1234567"]
    assert hits(run) == {1: 2, 2: 2, 3: 8}
    assert run.lines[-2:] == ["sum 248.0", "exited: status 0"]


@pytest.mark.parametrize("runtime", BOTH)
@pytest.mark.parametrize("threads", ["2", "8"])
def test_each_thread_stops_once_and_each_hit_counts_once(script: Path, runtime: str, threads: str) -> None:
    run = debug(
        runtime, script, "break 16 if j >= 0", "break 16 if total >= 0", "break 16", "break 16 thread 0",
        *["continue"] * 8, "info breakpoints", "delete", "continue", variables={"OMP_NUM_THREADS": threads},
    )  # fmt: skip
    by_thread_0 = 8 // int(threads)
    assert {why for why, *_ in stops(run)} <= {"breakpoint 1, 2, 3, 4", "breakpoint 1, 2, 3"}
    assert hits(run) == {1: 8, 2: 8, 3: 8, 4: by_thread_0}
    assert "sum 248.0" in run.lines


@pytest.mark.parametrize("runtime", BOTH)
def test_each_turn_of_a_loop_and_each_call_is_a_pass(script: Path, runtime: str) -> None:
    run = debug(
        runtime, script, "break 14 if j == 1 and i > 1", "break 14 if i == 2 and j < 2", "break 14 thread 0",
        "ignore 3 6", "break 7 if v == 7", "break half", "ignore 5 6", *["continue", "print i"] * 3,
        *["continue"] * 4, "delete", "continue", variables=ONE,
    )  # fmt: skip
    assert stops(run) == [
        ("breakpoint 2", "14", "0"),
        ("breakpoint 3", "14", "1"),
        ("breakpoint 1, 2, 3", "14", "1"),
        ("breakpoint 5", "7", "1"),
        ("breakpoint 1, 3", "14", "1"),
        ("breakpoint 4, 5", "7", "1"),
        ("breakpoint 1, 3", "14", "1"),
    ]
    assert [line for line in run.lines if len(line) == 1] == ["2", "1", "2"]
    assert "sum 248.0" in run.lines


@pytest.mark.parametrize("runtime", BOTH)
def test_a_step_onto_the_line_is_its_stop_and_going_on_from_there_is_no_second_one(script: Path, runtime: str) -> None:
    run = debug(
        runtime, script, "break 15 if i == 1 and j == 1", "break 15 if j == 1", "break 15", "ignore 3 4", "continue",
        "next", "next", "continue", "step", "finish", "next", "next", "next", "next", "delete", "continue",
        variables=ONE,
    )  # fmt: skip
    assert stops(run) == [
        ("breakpoint 2, 3", "15", "1"),
        ("step", "14", "1"),
        ("breakpoint 1, 2, 3", "15", "1"),
        ("breakpoint 2, 3", "15", "1"),
        ("step", "7", "1"),
        ("step", "15", "1"),
        ("step", "14", "1"),
        ("breakpoint 2, 3", "15", "1"),
        ("step", "14", "1"),
        ("step", "16", "1"),
    ]


@pytest.mark.parametrize("runtime", BOTH)
def test_a_breakpoint_set_where_the_thread_stands_is_met_in_its_next_pass(script: Path, runtime: str) -> None:
    run = debug(
        runtime, script, "break 16 if j == 1", "ignore 1 5", "break 14 if j == 1 and i == 4", "continue", "next",
        "break 16", "continue", "break 16 if j < 4", "condition 1 j > 1", "continue", "info breakpoints", "delete 1",
        "condition 4", "continue", "delete", "continue", variables=ONE,
    )  # fmt: skip
    assert stops(run) == [
        ("breakpoint 2", "14", "1"),
        ("step", "16", "1"),
        ("breakpoint 3", "16", "2"),
        ("breakpoint 3, 4", "16", "3"),
        ("breakpoint 3, 4", "16", "4"),
    ]
    assert hits(run) == {1: 2, 2: 1, 3: 2, 4: 1}


@pytest.mark.parametrize("runtime", BOTH)
def test_log_points_speak_once_a_pass_and_before_its_stop(script: Path, runtime: str) -> None:
    run = debug(
        runtime, script, "break 16 if j == 1", "log 16 plain {j}", "break 16 if j > 0 and total < 28", "log 16 odd {j}",
        "condition 4 j % 2 == 1", "tbreak 16 if j == 2", "break 16 if j // (j - 2) == 99",
        "break 16 if a[j * 4, 0] < 0", *["continue"] * 2, "delete 7", "continue", "continue", variables=ONE,
    )  # fmt: skip
    said = [line.partition(" in row")[0] for line in run.lines if "16 thread" in line or line.startswith("stopped: b")]
    assert said == [
        "sums.py:16 thread 0 plain 0",
        "sums.py:16 thread 0 plain 1",
        "sums.py:16 thread 0 odd 1",
        "stopped: breakpoint 1, 3 sums.py:16",
        "sums.py:16 thread 0 plain 2",
        "stopped: breakpoint 3, 5, 6, 7: condition of 6 failed: division by zero; condition of 7 failed: a index 8 in "
        "dimension 0, extent 8 sums.py:16",
        "sums.py:16 thread 0 plain 3",
        "sums.py:16 thread 0 odd 3",
        "stopped: breakpoint 3 sums.py:16",
        *[f"sums.py:16 thread 0 {text}" for text in ("plain 4", "plain 5", "odd 5", "plain 6", "plain 7", "odd 7")],
    ]


TEAMS = """import numpy as np
import pykokkos as pk


@pk.workunit
def work(m: pk.TeamMember, acc: pk.Acc[pk.double], cols: int, a: pk.View2D[pk.double]):
    j: int = m.league_rank()
    k: int = 0
    while k < 3:
        k = k + 1
    x: float = 1.0; y: float = 2.0
    if j > 5:
        k = 1
    elif k > 2:
        k = 2

    def inner(i: int, s: pk.Acc[pk.double]):
        s += a[j][i]

    t: float = pk.parallel_reduce(pk.TeamThreadRange(m, cols), inner)
    if m.team_rank() == 0:
        acc += t * y


a = np.arange(32.0).reshape(8, 4)
print("sum", pk.parallel_reduce(pk.TeamPolicy(pk.OpenMP, 8, 1), work, cols=4, a=a))
"""


@pytest.mark.parametrize("runtime", BOTH)
def test_loops_branches_nested_functions_and_lines_of_two_statements(tmp_path: Path, runtime: str) -> None:
    path = tmp_path / "sums.py"
    path.write_text(TEAMS)
    run = debug(
        runtime, path, "break 9 if j == 1 and k == 2", "break 9 if j == 1 and k >= 2", "break 9 if j > 6",
        "break 11 if j == 1", "break 11", "ignore 5 1", "break 14 if j == 1", "break 14 if j < 1", "break 14",
        "break 18 if i == 2 and j == 1", "break 18 if i > 1 and j == 1", "break 22 if j == 1", "break 22",
        *["continue"] * 10, "info breakpoints", "delete", "continue", variables=ONE,
    )  # fmt: skip
    assert [(why.removeprefix("breakpoint "), line) for why, line, _ in stops(run)] == [
        ("7, 8", "14"),
        ("12", "22"),
        ("1, 2", "9"),
        ("2", "9"),
        ("4, 5", "11"),
        ("6, 8", "14"),
        ("9, 10", "18"),
        ("10", "18"),
        ("11, 12", "22"),
        ("5", "11"),
    ]
    assert hits(run) == {1: 1, 2: 2, 4: 1, 5: 3, 6: 1, 7: 1, 8: 2, 9: 1, 10: 2, 11: 1, 12: 2}
    assert run.lines[-2:] == ["sum 992.0", "exited: status 0"]


SEVERAL = """import pykokkos as pk


@pk.function
def twice(v):
    w = v + v
    return w


@pk.workunit
def work(i: int, out: pk.View1D[pk.double]):
    n: int = twice(i)
    x: float = twice(out[i]); out[i] = x + n


out = pk.View([4], pk.double)
out.fill(2.0)
pk.parallel_for(4, work, out=out)
print(out)
"""


def test_a_condition_holds_for_all_types_that_a_function_is_called_with(tmp_path: Path) -> None:
    path = tmp_path / "sums.py"
    path.write_text(SEVERAL)
    run = debug(
        EMBEDDED, path, "break 6 if v == 2", "break 6 if v // 1 == 2", "break 13 if i == 3", "break 13", "ignore 4 2",
        *["continue", "print v"] * 3, *["continue"] * 3, "delete", "continue", variables=ONE,
    )  # fmt: skip
    assert stops(run) == [
        ("breakpoint 1, 2", "6", "0"),
        ("breakpoint 1, 2", "6", "1"),
        ("breakpoint 1, 2", "6", "2"),
        ("breakpoint 4", "13", "2"),
        ("breakpoint 1, 2", "6", "2"),
        ("breakpoint 3, 4", "13", "3"),
    ]
    assert [line for line in run.lines if line in ("2", "2.0")] == ["2.0", "2.0", "2"]
    assert "[ 4.  6.  8. 10.]" in run.lines
