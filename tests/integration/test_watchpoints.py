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
    assert " release 3× " in run.lines[-1]
