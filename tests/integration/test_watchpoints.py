"""A watched element stops the program in every launch that changes it, also where no breakpoint is left."""

from __future__ import annotations

import shutil

import pytest
from runtimes import OnRuntime

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)


def test_a_watchpoint_alone_keeps_watching_in_later_launches(debug: OnRuntime) -> None:
    run = debug(
        "rounds.py", "break 9", "continue", "watch out[3]", "delete 1", "continue", "continue", "continue", "continue"
    )
    assert run.stops[2:] == [
        "stopped: watchpoint 2: out[3] 0 -> 4 rounds.py:10 in fill thread 0 of 2 · i = 3",
        "stopped: watchpoint 2: out[3] -1 -> 4 rounds.py:10 in fill thread 0 of 2 · i = 3",
        "stopped: watchpoint 2: out[3] -1 -> 4 rounds.py:10 in fill thread 0 of 2 · i = 3",
    ]
    assert run.lines[-2:] == ["sum 31.0", "exited: status 0"]
    assert (run.status, run.err) == (0, "")


def test_without_an_enabled_watchpoint_launches_are_optimised_again(debug: OnRuntime) -> None:
    run = debug(
        "rounds.py", "break 9", "continue", "watch out[3]", "delete 1", "continue", "disable 2", "tbreak 20",
        "continue", "info launches",
    )  # fmt: skip
    assert len(run.stops) == 4
    assert any(" release 3× " in line for line in run.lines)


def test_a_watchpoint_stays_when_the_library_of_another_kernel_is_loaded(debug: OnRuntime) -> None:
    run = debug(
        "watched_twice.py", "break 9", "continue", "watch out[3]", "delete 1", *["continue"] * 5, "info breakpoints"
    )
    assert [stop.partition(" of ")[0] for stop in run.stops[2:]] == [
        "stopped: watchpoint 2: out[3] 0 -> 4 watched_twice.py:10 in first thread 0",
        "stopped: watchpoint 2: out[3] 4 -> 40 watched_twice.py:16 in second thread 0",
        "stopped: watchpoint 2: out[3] 40 -> 4 watched_twice.py:10 in first thread 0",
        "stopped: watchpoint 2: out[3] 4 -> 40 watched_twice.py:16 in second thread 0",
    ]
    assert run.lines[-1] == "watchpoint 2 on out[3]: bound, hit 4 times"
    assert "sum 360.0" in run.lines


def test_a_watched_local_is_over_with_its_scope_and_can_be_watched_anew(debug: OnRuntime) -> None:
    run = debug(
        "rounds.py", "break 10 if i == 3", "continue", "watch value", "continue", "tbreak 19", "continue",
        "info breakpoints", "continue", "info breakpoints", "disable 2", "enable 2", "info breakpoints", "continue",
    )  # fmt: skip
    assert [stop.partition(" thread")[0] for stop in run.stops[1:]] == [
        "stopped: breakpoint 1 rounds.py:10 in fill",
        "stopped: watchpoint 2: value 3 -> 6 rounds.py:11 in fill",
        "stopped: breakpoint 3 rounds.py:19 in main",
        "stopped: breakpoint 1 rounds.py:10 in fill",
        "stopped: watchpoint 2: value 3 -> 6 rounds.py:11 in fill",
    ]
    over = "cannot bind (value has left its scope: watch it anew at another stop), hit 1 time"
    told = [line.removeprefix("watchpoint 2 on value: ") for line in run.starting("watchpoint 2 on value")]
    assert told == ["bound", over, over, "bound, hit 1 time"]


def test_more_watchpoints_than_registers_say_which_to_delete_and_none_is_lost(debug: OnRuntime) -> None:
    run = debug(
        "rounds.py", "break 9", "continue", *[f"watch out[{i}]" for i in range(5)], "delete 1", "continue", "delete 2",
        "info breakpoints", *["continue"] * 4, threads=1,
    )  # fmt: skip
    refused = (
        "watchpoint 6 on out[4]: cannot bind (the processor has 4 watch registers, which watchpoints 2, 3, 4 and 5 "
        "take: delete one, and this one is set)"
    )
    assert refused in run.lines
    assert "watchpoint 6 on out[4]: bound" in run.lines
    assert any(stop.startswith("stopped: watchpoint 6: out[4] 0 -> 5 ") for stop in run.stops), run.stops
