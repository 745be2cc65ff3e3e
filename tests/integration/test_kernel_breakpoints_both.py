"""Conditions, ignore counts, log points, thread filters and temporaries on kernel lines, on either runtime."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from runtimes import BOTH, debug

pytestmark = pytest.mark.parametrize("runtime", BOTH)

PROGRAM = """import numpy as np
import pykokkos as pk

LIMIT = 5


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


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sums") / "sums.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize(
    ("line", "condition", "shown", "values"),
    [
        (18, "total > 30 and j % 2 == 1", "total, j", ["(43.0, 5)", "(59.0, 7)"]),
        (17, "j == LIMIT and a[j, 3] == 23 and 0 < i < 4", "j, i", ["(5, 1)", "(5, 2)", "(5, 3)"]),
        (17, "1 < i < 3 and not j & 6 or a[7][3] == 0", "j, i", ["(0, 2)", "(1, 2)"]),
        (18, "abs(total - 27) < 0.5 and a.shape[0] == len(a) and not j == 4", "total", ["27.0"]),
    ],
)
def test_a_condition_stops_exactly_where_it_holds(
    script: Path, runtime: str, line: int, condition: str, shown: str, values: list[str]
) -> None:
    run = debug(
        runtime, script, f"break {line} if {condition}", *[c for _ in values for c in ("continue", f"print {shown}")],
        "continue", variables={"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert run.stops == [f"sums.py:{line}"] * len(values), run.out + run.err
    assert [text for text in run.lines if text in values] == values
    assert run.lines[-2:] == ["sum 248.0", "exited: status 0"]


def test_a_condition_on_a_name_not_declared_yet_says_so_and_fails_as_in_pdb(script: Path, runtime: str) -> None:
    run = debug(
        runtime, script, "break 9 if w > 0", "break 18 if total > 50", "continue", "break", "delete 1", "continue",
        "delete", "continue", variables={"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert run.stops == ["sums.py:9", "sums.py:18"]
    (warning,) = run.starting("warning: The condition of breakpoint 1 can't be built into kernel row_sums: ")
    assert "`w`" in warning or "w is not defined" in warning
    assert "condition failed" in run.starting("stopped: breakpoint 1")[0]
    assert "sum 248.0" in run.lines


def test_ignored_hits_temporaries_and_thread_filters(script: Path, runtime: str) -> None:
    run = debug(
        runtime, script, "break 17", "ignore 1 30", "continue", "print j, i", "delete", "continue",
        variables={"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert run.stops == ["sums.py:17"]
    assert "(7, 2)" in run.lines
    once = debug(runtime, script, "tbreak 18", "continue", "continue", variables={"OMP_NUM_THREADS": "1"})
    assert once.stops == ["sums.py:18"]
    assert "sum 248.0" in once.lines
    one = debug(runtime, script, "break 18 thread 1", *["continue"] * 5)
    assert [line.partition("thread ")[2][:1] for line in one.starting("stopped: breakpoint")] == ["1"] * 4
    assert "sum 248.0" in one.lines


def test_log_points_log_and_do_not_stop(script: Path, runtime: str) -> None:
    run = debug(runtime, script, "log 18 j={j} total={total}", "continue", variables={"OMP_NUM_THREADS": "1"})
    assert run.stops == []
    logged = [line for line in run.lines if line.startswith("sums.py:18")]
    assert logged == [f"sums.py:18 thread 0 j={j} total={8.0 * j + 3}" for j in range(8)]
    assert run.lines[-1] == "exited: status 0"


def test_a_loops_line_is_met_at_each_turn_and_at_its_end(script: Path, runtime: str) -> None:
    run = debug(
        runtime, script, "break 16 if j == 2 and i >= 0", *["continue", "print i"] * 5, "delete", "next", "continue",
        variables={"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert run.stops == ["sums.py:16"] * 5 + ["sums.py:18"]
    assert [line for line in run.lines if line in ("0", "1", "2", "3", "4")] == ["0", "1", "2", "3", "4"]


BRANCHES = """import numpy as np
import pykokkos as pk


@pk.workunit
def sort(i: int, v: pk.View1D[pk.double]):
    \"\"\"By size.\"\"\"
    k: int = 0
    while True:
        k += 1
        if k > i:
            break
    if i < 2:
        v[i] = k
    elif i < 4:
        v[i] = 2
    elif i == 6:
        pass
    else:
        v[i] = 3


v = np.zeros(8)
pk.parallel_for(pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, 8), sort, v=v)
print(v)
"""


@pytest.mark.parametrize(
    ("breakpoints", "met"),
    [
        (["break 20"], ["20 4", "20 5", "20 7"]),
        (["break 20 if i > 4"], ["20 5", "20 7"]),
        (["break 18", "break 16", "break 14"], ["14 0", "14 1", "16 2", "16 3", "18 6"]),
        (["break 15 if i == 3", "break 17 if i % 2 == 1", "break 13 if i == 0"], ["13 0", "15 3", "17 5", "17 7"]),
        (
            ["break 17", "break 18 if k == 7", "break 20 if i == 5 and k == 6"],
            ["17 4", "17 5", "20 5", "17 6", "18 6", "17 7"],
        ),
        (["break 9 if i == 1", "break 12", "ignore 2 6"], ["9 1", "9 1", "12 6", "12 7"]),
        (["break 9", "ignore 1 33"], ["9 7"] * 3),
    ],
)
def test_lines_of_branches_stop_those_that_come_to_them(
    tmp_path_factory: pytest.TempPathFactory, runtime: str, breakpoints: list[str], met: list[str]
) -> None:
    path = tmp_path_factory.mktemp("branches") / "sizes.py"
    path.write_text(BRANCHES)
    run = debug(runtime, path, *breakpoints, *["continue"] * (len(met) + 1), variables={"OMP_NUM_THREADS": "1"})
    found = [
        re.search(r"sizes\.py:(\d+) in sort thread 0 of 1 · i = (\d+)", line) for line in run.starting("stopped:")[1:]
    ]
    assert [f"{match[1]} {match[2]}" for match in found if match] == met, run.out + run.err
    assert run.lines[-2:] == ["[1. 2. 2. 2. 3. 3. 0. 3.]", "exited: status 0"]
