"""What breakpoints in kernels let pass, count, say and refuse, on real OpenMP threads under gdb."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from cli import Run
from runtimes import OnRuntime

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)


def listed(run: Run) -> str:
    """The last line of the last `info breakpoints`."""
    return next(line for line in reversed(run.lines) if line.startswith("breakpoint 1 at ") and "pending" not in line)


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("condition", ["", " if i % 8 == 0"])
def test_an_ignore_count_is_of_all_threads_and_counted(debug: OnRuntime, threads: int, condition: str) -> None:
    run = debug(
        "some_rows.py", f"break 13{condition}", "ignore 1 3", "continue", "info breakpoints", "threads", threads=threads
    )
    total = 8 if condition else 64
    hits = re.search(r"hit (\d+) time", listed(run))
    assert hits is not None
    stopped = 0
    for line in run.lines:
        if row := re.match(r"\s+(\d+)(?:-(\d+))?\s+at breakpoint", line):
            stopped += int(row[2] or row[1]) - int(row[1]) + 1
    assert "ignore" not in listed(run)
    assert int(hits[1]) == min(total, stopped + 3)


def test_an_ignore_count_asked_for_again_begins_anew(debug: OnRuntime) -> None:
    run = debug(
        "some_rows.py", "break 13", "ignore 1 3", "continue", "ignore 1 5", "info breakpoints", "continue",
        "info breakpoints", threads=1,
    )  # fmt: skip
    assert [re.sub(".* · ", "", stop) for stop in run.stops[1:]] == ["i = 3", "i = 9"]
    assert "ignore next 5 hits: bound, hit 4 times" in run.out
    assert listed(run).endswith("bound, hit 10 times")


def test_a_line_reached_by_a_step_while_its_breakpoint_is_ignored_is_a_step(debug: OnRuntime) -> None:
    run = debug("some_rows.py", "break 9 thread 0", "continue", "break 10", "ignore 2 100", "next", "info breakpoints")
    assert run.stops[2].startswith("stopped: step some_rows.py:10 in mark thread 0 of 2")
    assert re.search(
        r"breakpoint 2 at some_rows.py:10 in kernel mark ignore next \d+ hits: bound, hit \d+ time", run.out
    )


def test_hits_of_a_launch_that_stops_nowhere_are_counted_too(debug: OnRuntime) -> None:
    run = debug("some_rows.py", "break 13", "ignore 1 1000", "break 20", "continue", "info breakpoints")
    assert "breakpoint 1 at some_rows.py:13 in kernel mark ignore next 936 hits: bound, hit 64 times" in run.lines


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        ("out[i + 60] == 0 and i >= 4", ""),
        ("i > 3 and out[i * 1000] == 0", "out index 4000 in dimension 0, extent 64"),
        ("i // (i - 5) == 100", "division by zero"),
        ("i % (i - 5) == 100", "division by zero"),
    ],
)
@pytest.mark.parametrize("options", [(), ("--no-bounds",)])
def test_a_condition_that_fails_stops_and_says_so_and_harms_nothing(
    debug: OnRuntime, condition: str, why: str, options: tuple[str, ...]
) -> None:
    run = debug(
        "some_rows.py", f"break 13 if {condition}", "continue", "delete", "continue", threads=1, options=options
    )
    why = why or "out index 64 in dimension 0, extent 64"
    assert run.stops[1].startswith(f"stopped: breakpoint 1: condition failed: {why} some_rows.py:13 in mark thread 0")
    assert "sum 4252.0" in run.lines
    assert run.lines[-1] == "exited: status 0"


def test_a_condition_has_pythons_floor_and_modulo(debug: OnRuntime) -> None:
    run = debug("some_rows.py", "break 13 if (i - 9) // 4 == -2 and (i - 9) % 4 == 1", "continue", threads=1)
    assert [re.sub(".* · ", "", stop) for stop in run.stops[1:]] == ["i = 2"]


def test_a_condition_that_cannot_be_built_in_is_evaluated_at_each_hit(debug: OnRuntime) -> None:
    run = debug("some_rows.py", "break 13 if any(k == i for k in (5, 6))", "continue", "info breakpoints", threads=1)
    (warning,) = run.starting("warning: The condition")
    assert warning.startswith("warning: The condition of breakpoint 1 can't be built into kernel mark: ")
    assert run.stops[1].endswith(" · i = 5")
    assert listed(run).endswith(", hit 1 time")


def test_a_condition_with_a_name_that_its_kernel_lacks_is_refused_at_once(debug: OnRuntime) -> None:
    run = debug("some_rows.py", "break 13 if nn == 3", "continue")
    assert run.lines[2].startswith(
        "breakpoint 1 at some_rows.py:13 in kernel mark if nn == 3: cannot bind (the condition names nn, and kernel "
        "mark has only "
    )
    assert len(run.stops) == 1


def test_log_points_format_as_f_strings_do_and_are_no_reason_to_stop(debug: OnRuntime) -> None:
    run = debug(
        "some_rows.py",
        "log 13 {i:>3}|{i!r}|{i=}|{value:.2f}|{{}}|{absent}|{out[70]}",
        "break 13 if i == 2",
        "continue",
        threads=1,
    )
    logged = [line for line in run.lines if line.startswith("some_rows.py:13 thread 0")]
    assert [line.split("|")[:3] for line in logged] == [
        [f"some_rows.py:13 thread 0 {i:>3}", f"{i}", f"i={i}"] for i in range(3)
    ]
    assert re.search(r"\|\d+\.\d\d\|\{\}\|<There is no `absent` here.*>\|<.*out.*>$", logged[0])
    assert run.stops[1] == "stopped: breakpoint 2 some_rows.py:13 in mark thread 0 of 1 · i = 2"


def test_a_step_goes_on_through_a_log_point_in_a_called_function(debug: OnRuntime) -> None:
    run = debug("bins.py", "break 18 thread 0", "log 11 here", "continue", "delete 1", "next")
    assert run.stops[2].startswith("stopped: step bins.py:19 in count thread 0")
    assert "bins.py:11 thread 0 here" in run.lines


def test_a_thread_filter_holds_nobody_else_up(debug: OnRuntime) -> None:
    run = debug("some_rows.py", "break 13 thread 1", "continue", "threads", "continue", "info breakpoints")
    assert [re.search(r"thread (\d)", stop)[1] for stop in run.stops[1:]] == ["1", "1"]  # type: ignore[index]
    assert any(re.match(r"\s+0\s+at barrier", line) for line in run.lines)
    assert listed(run).endswith("thread 1: bound, hit 2 times")


def test_pause_stops_the_threads_that_a_filter_lets_go_on_and_keeps_the_stop(debug: OnRuntime) -> None:
    run = debug(
        "uneven.py", "break 24 thread 0", "continue", "threads", "pause", "threads", "thread 1", "where", "pause"
    )
    rows = [line.split() for line in run.lines if re.match(r" {6}[01] ", line)]
    assert rows[:2] == [["0", "at", "breakpoint", "uneven.py:24"], ["1", "running"]]
    assert rows[2] == ["0", "at", "breakpoint", "uneven.py:24"]
    assert rows[3][:2] == ["1", "stopped"]
    assert len(run.stops) == 2
    # Where in the loop it was is chance, and so is whether it is in the function that the loop calls.
    assert any(re.search(r" work uneven\.py:2[123] kernel", line) for line in run.lines)
    assert "No thread of the kernel runs" in run.err


def test_finish_shows_what_a_kernel_function_returned(debug: OnRuntime) -> None:
    run = debug("uneven.py", "break 9 thread 0", "continue", "finish", "next", "step", "finish", "next")
    assert run.stops[2] == "stopped: step uneven.py:19 in work thread 0 of 2 · i = 0 returning 0.1"
    assert run.stops[5] == "stopped: step uneven.py:20 in work thread 0 of 2 · i = 0 returning 2"
    assert "returning" not in run.stops[6]
    told = debug("uneven.py", "break 9 thread 0", "continue", "finish", options=("--json",)).events("stopped")
    assert told[-1]["returning"] == "0.1"


@pytest.mark.parametrize(("line", "turns"), [(9, 4), (12, 4)])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_loops_line_is_met_at_each_turn(debug: OnRuntime, line: int, turns: int, threads: int) -> None:
    commands = [f"break {line}", "ignore 1 1000", "tbreak 20", "continue", "info breakpoints"]
    run = debug("loops.py", *commands, threads=threads)
    assert listed(run).endswith(f"bound, hit {4 * turns} times")


@pytest.mark.parametrize(("line", "condition"), [(9, "j == 2"), (12, "k == 2")])
def test_a_condition_of_a_loops_line_is_met_in_its_turn(debug: OnRuntime, line: int, condition: str) -> None:
    run = debug("loops.py", f"break {line} if {condition}", "continue", f"print {condition[0]}", "continue", threads=1)
    assert [re.sub(".* · ", "", stop) for stop in run.stops[1:]] == ["i = 0", "i = 1"]
    assert "2" in run.lines
    assert not run.starting("warning")


def test_steps_pass_a_loops_line_once_a_turn(debug: OnRuntime) -> None:
    run = debug("loops.py", "break turn", "continue", "delete", *["next"] * 8, "until 14", threads=1)
    lines = [int(re.search(r"loops.py:(\d+)", stop)[1]) for stop in run.stops[1:]]  # type: ignore[index]
    assert lines == [9, 10, 9, 10, 9, 10, 9, 11, 12, 14]


def test_a_step_into_a_kernel_that_begins_with_a_loop_stops_there_once(debug: OnRuntime) -> None:
    run = debug("loops.py", "break 19", "continue", "step", "next", threads=1)
    assert [re.search(r"loops.py:(\d+)", stop)[1] for stop in run.stops[1:]] == ["19", "9", "10"]  # type: ignore[index]


def test_lines_of_thousands_of_branches_and_long_sums_stop(tmp_path: Path) -> None:
    chain = "".join(f"    elif i == {k}:\n        v[i] = {k}\n" for k in range(1, 2000))
    (tmp_path / "long.py").write_text(
        "import numpy as np\nimport pykokkos as pk\n\n\n@pk.workunit\ndef work(i: int, v: pk.View1D[pk.double]):\n"
        f"    if i == 0:\n        v[i] = 1\n{chain}    v[i] += {' + '.join(['1'] * 2000)}\n\n\n"
        "v = np.zeros(4)\npk.parallel_for(4, work, v=v)\nprint(v)\n"
    )
    run = OnRuntime("embedded", tmp_path)(
        "long.py", "break 12", "break 13 if i > 2", "break 4007 if v[i] == 3", *["continue"] * 4, threads=1
    )
    assert [line.partition("·")[2] for line in run.stops[1:]] == [" i = 2", " i = 3", " i = 3"], run.out + run.err
    assert [re.findall(r"long\.py:(\d+)", line) for line in run.stops[1:]] == [["12"], ["13"], ["4007"]]
    assert run.lines[-2:] == ["[2001. 2001. 2002. 2003.]", "exited: status 0"]
