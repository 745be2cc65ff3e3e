"""Launches of kernels with breakpoints, one after the other: only what has changed is told to the native debugger."""

from __future__ import annotations

from pathlib import Path

from cli import FIXTURES, plain
from runtimes import OnRuntime

ADD, NOTE = 11, 16


def test_the_one_in_which_a_condition_holds_stops(debug: OnRuntime) -> None:
    run = debug(
        "alternating.py",
        f"break {ADD} if i == 3 and v[i] == 20.0",
        f"break {NOTE} if i == 5 and v[i] == 50.0",
        "continue",
        "print v[3]",
        "continue",
        "print v[5]",
        "continue",
    )
    stops = [stop.partition(" thread")[0] for stop in run.stops[1:]]
    assert stops == [
        "stopped: breakpoint 1 alternating.py:11 in add",
        "stopped: breakpoint 2 alternating.py:16 in note",
    ]
    assert [line for line in run.lines if line in ("20.0", "50.0")] == ["20.0", "50.0"]
    assert "sum 720.0" in run.lines


def test_a_number_compiled_in_is_the_one_of_now(tmp_path: Path) -> None:
    source = (FIXTURES / "alternating.py").read_text()
    (tmp_path / "outside.py").write_text(source.replace(", step: float", "").replace(", step=step", ""))
    commands = (f"break {ADD} if i == 0 and v[i] == 32.0", "continue", "print step", "continue")
    run = plain("--runtime", "embedded", "outside.py", commands=commands, folder=tmp_path)
    assert run.stops[1].startswith("stopped: breakpoint 1 outside.py:11 in add thread ")
    assert "2.0" in run.lines
    assert "sum 720.0" in run.lines


def test_hits_are_counted_over_launches(debug: OnRuntime) -> None:
    run = debug(
        "alternating.py",
        f"break {ADD}",
        f"break {NOTE} if v[i] == 90.0",
        "ignore 1 477",
        "continue",
        "info break",
        "delete 1",
        "continue",
        threads=1,
    )
    first, second = run.stops[1], run.stops[2]
    assert first.startswith("stopped: breakpoint 1 alternating.py:11 in add thread 0")
    assert any("hit 478" in line for line in run.lines)
    assert second.startswith("stopped: breakpoint 2 alternating.py:16 in note thread 0")


def test_a_filter_by_thread_holds_in_each(debug: OnRuntime) -> None:
    run = debug(
        "alternating.py",
        f"break {ADD} thread 1 if v[i] == 10.0",
        "continue",
        *["print i", "continue"] * 4,
    )
    stops = [stop for stop in run.stops if "breakpoint 1" in stop]
    assert len(stops) == 4
    assert all("thread 1" in stop for stop in stops)
    assert [line for line in run.lines if line in "01234567" and line] == ["4", "5", "6", "7"]


def test_what_is_changed_at_a_stop_holds_from_the_next_on(debug: OnRuntime) -> None:
    run = debug(
        "alternating.py",
        f"break {ADD} if i == 0 and v[i] == 5.0",
        "continue",
        "delete 1",
        f"break {NOTE} if i == 7 and v[i] == 8.0",
        f"break {ADD} if i == 1 and v[i] == 9.0",
        "continue",
        "condition 3 i == 2 and v[i] == 11.0",
        "disable 2",
        "continue",
        "print i",
        "continue",
    )
    stops = [stop.partition(" thread")[0] for stop in run.stops[1:]]
    assert stops == [
        "stopped: breakpoint 1 alternating.py:11 in add",
        "stopped: breakpoint 2 alternating.py:16 in note",
        "stopped: breakpoint 3 alternating.py:11 in add",
    ]
    assert "2" in run.lines
    assert "sum 720.0" in run.lines
