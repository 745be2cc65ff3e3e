"""Breakpoints on kernel lines stop on real OpenMP threads, through the same commands."""

from __future__ import annotations

import re
import shutil
import signal
import uuid
from pathlib import Path

import pexpect
import pytest
from cli import PROMPT, gone, living, plain, send_signal, terminal
from runtimes import OnRuntime

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)

PAUSED = r"stopped: pause long_kernel\.py:(\d+) in spin thread \d"


def test_values_in_a_kernel_are_numpys(debug: OnRuntime) -> None:
    run = debug(
        "dot.py", "break 21", "continue", "print row", "print y[i:i+2]", "print a[i, 0:4]", "len a", "print a.shape"
    )
    assert run.stops[1] == "stopped: breakpoint 1 dot.py:21 in weigh thread 0 of 2 · i = 0"
    assert run.lines[4:] == [
        "  21     total += y[i] * row",
        "162.75",
        "array([0.   , 0.125])",
        "array([0.    , 0.0625, 0.125 , 0.1875])",
        "64",
        "(64, 32)",
    ]
    assert (run.status, run.err) == (0, "")


def test_a_lens_shows_the_elements_and_statistics_of_a_kernels_view(debug: OnRuntime) -> None:
    run = debug("dot.py", "break 21", "continue", "lens a[$i, 1]", "lens a[3:5]", "lens y")
    text = "\n".join(run.lines)
    assert "a[$i, 1]  float64 64  host, strides 256" in text
    assert "a[3:5]  float64 2×32  host, rows" in text
    assert "y  float64 64  host" in text
    assert (run.status, run.err) == (0, "")


def test_the_stack_goes_on_in_python(debug: OnRuntime) -> None:
    run = debug("dot.py", "break 20", "continue", "where", "up", "print ROWS", "down")
    assert run.lines[5:] == [
        ">  0 weigh dot.py:20 kernel",
        "   1 main dot.py:29 python",
        "   2 <module> dot.py:34 python",
        "dot.py:29 in main",
        "  29     result = pk.parallel_reduce(policy, weigh, columns=COLUMNS, y=y, x=x, a=a)",
        "64",
        "dot.py:20 in weigh thread 0 of 2 · i = 0",
        "  20         row += a[i][k] * x[k]",
    ]


def test_debugging_does_not_change_the_result(debug: OnRuntime) -> None:
    run = debug("dot.py", "break 21", "continue", "continue", "next", "delete", "continue")
    assert run.lines[-2:] == ["same True", "exited: status 0"]


def test_a_condition_in_python_syntax(debug: OnRuntime) -> None:
    run = debug(
        "dot.py",
        "break 20 if i == 5 and k == 3 and a[i, k] > 0",
        "continue",
        "print i",
        "print k",
        "info breakpoints",
        "continue",
    )
    assert run.stops[1] == "stopped: breakpoint 1 dot.py:20 in weigh thread 0 of 2 · i = 5"
    assert run.lines[5:7] == ["5", "3"]
    assert run.lines[7].endswith(": bound, hit 1 time")
    assert run.lines[-2:] == ["same True", "exited: status 0"]


@pytest.mark.parametrize("threads", [2, 8])
def test_every_continue_through_a_rare_branch_comes_back(debug: OnRuntime, threads: int) -> None:
    stops = 2 * 8 // threads  # eight rows take the branch, in each of two launches
    commands = ["break 11", *["continue"] * stops, "info breakpoints", "continue"]
    run = debug("some_rows.py", *commands, threads=threads)
    hit = f"stopped: breakpoint 1 some_rows.py:11 in mark thread 0 of {threads} · i = "
    assert [stop.startswith(hit) for stop in run.stops[1:]] == [True] * stops
    assert "breakpoint 1 at some_rows.py:11 in kernel mark: bound, hit 16 times" in run.lines
    assert "sum 4252.0" in run.lines
    beside = "0.0" if debug.embedded else "3260.0"  # PyKokkos ignores strides
    assert run.lines[-2:] == [f"strided 4252.0 {beside}", "exited: status 0"]


def test_steps_in_a_kernel_and_out_of_it(debug: OnRuntime) -> None:
    run = debug("some_rows.py", "tbreak 19", "continue", "step", "next", "next", "finish", "next")
    first = re.fullmatch(r"stopped: step some_rows.py:9 in mark (thread [01] of 2 · i = (?:0|32))", run.stops[2])
    assert first is not None
    assert run.stops[3:5] == [f"stopped: step some_rows.py:{line} in mark {first[1]}" for line in (10, 13)]
    assert run.stops[5].startswith("stopped: step some_rows.py:19 in main")
    assert run.stops[6] == "stopped: step some_rows.py:20 in main"


def test_step_enters_a_kernel_function_and_finish_leaves_it(debug: OnRuntime) -> None:
    run = debug("bins.py", "break 18 thread 0", "continue", "step", "args", "finish", "where")
    assert run.stops[2] == "stopped: step bins.py:11 in bin_of thread 0 of 2 · i = 0"
    assert run.stops[3].startswith("stopped: step bins.py:18 in count thread 0 of 2 · i = 0")


def test_an_index_out_of_bounds_stops_at_its_line(debug: OnRuntime) -> None:
    run = debug(
        "bins.py", "set catch on", "continue", "print where", "len counter", "print i", "where", "continue", "continue"
    )
    assert run.stops[1] == (
        "stopped: bounds: counter index 40 in dimension 0, extent 40 bins.py:19 in count thread 0 of 2 · i = 42"
    )
    assert run.lines[5:8] == ["40", "40", "42"]
    assert "   1 main bins.py:27 python" in run.lines
    if not debug.embedded:  # Kokkos aborts there
        assert run.stops[2] == "stopped: signal SIGABRT bins.py:19 in count thread 0 of 2 · i = 42"
        assert run.lines[-1] == "exited: signal SIGABRT"
        return
    assert (
        run.stops[2] == "stopped: exception IndexError: counter index 40 in dimension 0, extent 40 bins.py:27 in main"
    )
    assert run.lines[-1] == "exited: exception IndexError: counter index 40 in dimension 0, extent 40"
    assert run.status == 1


def test_a_strided_argument_is_warned_about_at_its_launch(debug: OnRuntime) -> None:
    run = debug("some_rows.py", "continue")
    (warning,) = run.starting("warning:")
    assert warning.startswith("warning: mark at some_rows.py:22: argument out has a stride of 16 bytes (2 elements)")
    assert run.lines.index("sum 4252.0") < run.lines.index(warning)


def test_threads_one_at_a_time(debug: OnRuntime) -> None:
    run = debug(
        "some_rows.py",
        "break 13",
        "continue",
        "continue threads 0:1",
        "threads",
        "thread 1",
        "print i",
        "parallel_print i",
    )
    assert run.stops[2] == "stopped: breakpoint 1 some_rows.py:13 in mark thread 0 of 2 · i = 1"
    assert "some_rows.py:13 in mark thread 1 of 2 · i = 32" in run.lines
    assert run.lines[-2].strip() == "32"
    assert run.lines[-1].split() == ["0", "1", "1", "32"]


def test_log_points_in_kernels(debug: OnRuntime) -> None:
    run = debug("some_rows.py", "log 11 i={i} value={value}", "tbreak 20", "continue")
    said = [line for line in run.lines if line.startswith("some_rows.py:11 thread")]
    assert sorted(int(re.search(r"i=(\d+) ", line)[1]) for line in said) == [3, 11, 19, 27, 35, 43, 51, 59]  # type: ignore[index]
    assert run.stops[-1] == "stopped: breakpoint 2 some_rows.py:20 in main"


def test_a_watchpoint_says_what_changed_and_where(debug: OnRuntime) -> None:
    run = debug("some_rows.py", "break 11 thread 0", "continue", "watch value", "delete 1", "continue", "continue")
    assert run.stops[2] == "stopped: watchpoint 2: value 3 -> 30 some_rows.py:11 in mark thread 0 of 2 · i = 3"
    assert run.stops[3] == "stopped: watchpoint 2: value 30 -> 30.5 some_rows.py:12 in mark thread 0 of 2 · i = 3"


def test_a_watched_store_in_the_last_statement_of_a_kernel_stops_at_it(debug: OnRuntime) -> None:
    run = debug("some_rows.py", "break 11 thread 0", "continue", "watch out[3]", "delete 1", "continue", "continue")
    assert run.stops[2] == "stopped: watchpoint 2: out[3] 0 -> 30.5 some_rows.py:13 in mark thread 0 of 2 · i = 3"


def test_restart_keeps_kernel_breakpoints(debug: OnRuntime) -> None:
    run = debug("some_rows.py", "break 11", "continue", "restart", "continue", "info breakpoints")
    assert [stop.split(" in ")[0] for stop in run.stops] == [
        "stopped: start some_rows.py:1",
        "stopped: breakpoint 1 some_rows.py:11",
        "stopped: start some_rows.py:1",
        "stopped: breakpoint 1 some_rows.py:11",
    ]


def test_without_gdb_the_program_runs_and_the_reason_is_said(debug: OnRuntime, tmp_path: Path) -> None:
    run = debug("some_rows.py", "break 11", "continue", "info breakpoints", options=("--gdb", str(tmp_path / "gdb")))
    assert run.lines[-2].startswith("exited: status 0")
    assert "gdb" in run.err
    assert "cannot bind" in run.lines[-1]


def test_a_kernel_that_can_not_be_translated_stops_at_its_launch_in_one_line(tmp_path: Path) -> None:
    source = (
        "import numpy as np\nimport pykokkos as pk\n\n\n@pk.workunit\n"
        "def k(i: int, v: pk.View1D[pk.double]):\n    with open('x') as f:\n        v[i] = 1.0\n\n\n"
        "pk.parallel_for(pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, 4), k, v=np.zeros(4))\n"
    )
    (tmp_path / "bad.py").write_text(source)
    run = plain("--runtime", "embedded", "bad.py", commands=["continue", "continue"], folder=tmp_path)
    assert run.stops[1] == (
        f"stopped: exception CompileError: {tmp_path}/bad.py:7: with is not supported in a kernel bad.py:11 in <module>"
    )
    assert "    with open('x') as f:" in run.lines
    assert run.starting("exited:")[0].startswith("exited: exception CompileError: ")
    assert "debuggee" not in run.out


@pytest.mark.parametrize("debugged", [False, True])
def test_ctrl_c_stops_a_running_kernel_at_its_line(debugged: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert (
        "over" in plain("--runtime", "embedded", "long_kernel.py", "1", commands=["continue"]).lines
    )  # it is compiled from here on
    first = ["-c", "tbreak 11", "-c", "continue"] if debugged else []
    with terminal("--runtime", "embedded", *first, "long_kernel.py", "2000000000") as child:
        child.expect_exact(PROMPT)
        child.sendline("continue")
        if not debugged:
            child.expect_exact("here kernel")
        for _ in range(10):
            child.sendintr()
            found = child.expect(
                [
                    r"stopped: pause long_kernel\.py:(\d+) in spin thread \d",
                    r"stopped: pause long_kernel\.py:\d+ in <module>",
                    pexpect.TIMEOUT,
                ],
                timeout=3,
            )
            if found == 0:
                break
            if found == 1:  # the launch had not begun
                child.expect_exact(PROMPT)
                child.sendline("continue")
        else:
            pytest.fail("the kernel could not be stopped")
        assert int(child.match[1]) in range(11, 15)  # type: ignore[index]
        child.expect_exact(PROMPT)
        child.sendline("where")
        child.expect(r"1 <module> long_kernel\.py:19 python")
        child.expect_exact(PROMPT)
        child.sendline("quit")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 0


def test_a_debugger_killed_at_a_kernel_stop_leaves_no_process() -> None:
    marker = f"mark{uuid.uuid4().hex}"
    with terminal("--runtime", "embedded", "-c", "break 21", "-c", "continue", "dot.py", marker) as child:
        child.expect_exact("stopped: breakpoint 1 dot.py:21 in weigh")
        assert len(living(marker)) >= 2
        send_signal(child, signal.SIGKILL)
        assert gone(marker)
