"""Launches that nobody looks at run without the debugger, are counted all the same, and are looked at when wanted."""

from __future__ import annotations

from pathlib import Path

import pexpect
from cli import FIXTURES, PROMPT, Run, terminal
from runtimes import OnRuntime


def counts(run: Run) -> list[str]:
    return [line.partition(" last")[0] for line in run.starting("add many.py:")]


def test_all_are_counted(debug: OnRuntime) -> None:
    run = debug("many.py", "tbreak 29", "continue", "info launches")
    assert counts(run) == ["add many.py:19 parallel_for RangePolicy(OpenMP, 0, 4) release 200×"]


def test_policy_and_arguments_are_the_latest_launchs(debug: OnRuntime) -> None:
    """Of many from one line, also where the arrays are gone by then, and where a call of the same line is another's."""
    run = debug("growing.py", "tbreak 21", "continue", "info launches", "break 10", "continue", "info launches")
    begun = run.lines.index(run.starting("fill growing.py:")[0])
    assert run.lines[begun].startswith("fill growing.py:20 parallel_for RangePolicy(OpenMP, 0, 19) release 17×")
    assert run.lines[begun + 1 : begun + 5] == [
        "  v       float64[19]  host",
        "  a       float64[19, 2]  host, rows, strides 16, 8",
        "  times   int  19",
        "  factor  float  9.5",
    ]
    (stopped,) = [line for line in run.starting("fill growing.py:22") if "stopped" in line]
    begun = run.lines.index(stopped)
    assert "RangePolicy(OpenMP, 0, 3) debug 1× stopped" in stopped
    assert run.lines[begun + 1 : begun + 5] == [
        "  v       float64[3]  host",
        "  a       float64[3, 4]  host, rows, strides 32, 8",
        "  times   int  1",
        "  factor  float  0.5",
    ]


def test_a_breakpoint_set_after_a_hundred_is_met_by_the_next(debug: OnRuntime) -> None:
    run = debug(
        "many.py",
        "tbreak 26",
        "continue",
        "break 9 if i == 2",
        *["continue"] * 3,
        "delete",
        "tbreak 30",
        "continue",
        "info launches",
    )
    assert [stop.partition(" thread")[0] for stop in run.stops[2:5]] == ["stopped: breakpoint 2 many.py:9 in add"] * 3
    assert counts(run)[0].endswith(" 200×")
    assert "after 200.0" in run.lines


def test_a_step_goes_into_the_next_launch(debug: OnRuntime) -> None:
    run = debug("many.py", "tbreak 29", "continue", "step", "print v[i]", "delete", "continue")
    assert run.stops[2].startswith("stopped: step many.py:9 in add thread ")
    assert "200.0" in run.lines
    assert "end 201.0" in run.lines


def test_catching_faults_takes_the_next_launch_on(debug: OnRuntime) -> None:
    run = debug("many.py", "tbreak 26", "continue", "set catch on", "tbreak 28", "continue", "info launches")
    assert counts(run) == ["add many.py:19 parallel_for RangePolicy(OpenMP, 0, 4) debug 200×"]


def test_a_rule_takes_the_next_launch_on(debug: OnRuntime) -> None:
    run = debug("many.py", "tbreak 26", "continue", "hotswap add add_two", "continue")
    assert "after 300.0" in run.lines


def test_a_pause_finds_its_way_in_one_that_runs_unseen(tmp_path: Path) -> None:
    source = (FIXTURES / "long_kernel.py").read_text().replace("int(sys.argv[1])", "rounds")
    head, launch, tail = source.partition("pk.parallel_for(")
    loop = (
        f"for rounds in (1, 1, 2_000_000_000):\n    {launch}{tail.partition(chr(10))[0]}\n    print('round', rounds)\n"
    )
    (tmp_path / "again.py").write_text(head + loop)
    with terminal("--runtime", "embedded", "again.py", folder=tmp_path) as child:
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("round 1\r\nround 1")
        for _ in range(10):
            child.sendintr()
            if child.expect([r"pause again\.py:(\d+) in spin thread", r"pause again\.py:\d+ in <module>"]) == 0:
                break
            child.expect_exact(PROMPT)
            child.sendline("continue")
        assert int(child.match[1]) in range(11, 15)  # type: ignore[index]
        child.expect_exact(PROMPT)
        child.sendline("where")
        child.expect(r"1 <module> again\.py:20 python")
        child.expect_exact(PROMPT)
        child.sendline("info launches")
        child.expect_exact("release 3× stopped")
        child.sendline("quit")
        child.expect(pexpect.EOF)
