"""Breakpoints, launches, status and key line."""

from __future__ import annotations

from typing import Any

import msgspec
from host import PALETTE, lines, sent, shown
from msgspec.structs import replace
from values import FILE, breakpoint_at, kernel_stop

from pkdb_tui.engine.api import Argument, BreakpointState, ExitCause, LaunchRecord, Phase, Progress, VariableKind
from pkdb_tui.panes.base import RunCommand
from pkdb_tui.panes.breakpoints import BreakpointsPane, Jump
from pkdb_tui.panes.launches import LaunchesPane
from pkdb_tui.panes.status import KeyLine, StatusLine


async def test_breakpoints_say_state_place_hits_and_why_not() -> None:
    pane = BreakpointsPane(PALETTE)
    async with shown(pane, 130, 4) as pilot:
        pane.show(
            (
                breakpoint_at(1, 13, BreakpointState.BOUND, hits=2, condition="j == 10"),
                breakpoint_at(
                    2, 14, BreakpointState.UNBOUND, reason="line 14 is not a kernel line; the next one is 17"
                ),
            )
        )
        first, second = lines(pane)[:2]
        assert first.split() == ["1", "●", "bound", "yax.py:13", "yax", "hit", "2", "if", "j", "==", "10"]
        assert second.endswith("line 14 is not a kernel line; the next one is 17")
        await pilot.press("space", "down", "d", "enter")
        await pilot.pause()
        assert [m.text for m in sent(pilot, RunCommand)] == ["disable 1", "delete 2"]
        (jump,) = sent(pilot, Jump)
        assert (jump.file, jump.line) == (FILE, 14)


async def test_a_reason_that_does_not_fit_stands_below_and_keys_mean_its_breakpoint() -> None:
    pane = BreakpointsPane(PALETTE)
    reason = "line 14 is not a kernel line; the next one is 17"
    async with shown(pane, 50, 8) as pilot:
        pane.show(
            (
                breakpoint_at(1, 14, BreakpointState.UNBOUND, reason=reason, condition="j == 10 and row_sum > 3.5"),
                breakpoint_at(2, 15, BreakpointState.BOUND, hits=12),
            )
        )
        assert lines(pane)[:5] == [
            "   1 × cannot bind  yax.py:14  yax",
            "        if j == 10 and row_sum > 3.5",
            "        line 14 is not a kernel line; the next",
            "          one is 17",
            "   2 ● bound        yax.py:15  yax  hit 12",
        ]
        await pilot.press("home", "d", "down", "d")
        await pilot.pause()
        assert [m.text for m in sent(pilot, RunCommand)] == ["delete 1", "delete 2"]


async def test_launches_count_and_warn() -> None:
    pane = LaunchesPane(PALETTE)
    launch = LaunchRecord(
        kernel="damp", file=FILE, line=25, pattern="parallel_for", policy="RangePolicy(OpenMP, 0, 120)", space="OpenMP",
        build="release", count=12_345, last_seconds=0.00041, total_seconds=1.25, warnings=("argument v has a stride",),
    )  # fmt: skip
    async with shown(pane, 130, 4):
        pane.show((launch,))
        first, second = lines(pane)[:2]
        assert "12,345×" in first
        assert "last 0.41 ms" in first
        assert second.strip() == "argument v has a stride"


def argument(name: str, type_name: str, text: str, **facts: Any) -> Argument:
    return Argument(name=name, type=type_name, text=text, **facts)


async def test_space_shows_what_a_launch_was_given_and_hides_it_again() -> None:
    launch = LaunchRecord(
        kernel="damp", file=FILE, line=25, pattern="parallel_for", policy="RangePolicy(OpenMP, 0, 120)", space="OpenMP",
        build="release", count=3, last_seconds=0.1, total_seconds=0.3, warnings=("an " + "old kernel " * 9 + "runs",),
        arguments=(
            argument("v", "float64[120, 3]", "host, rows", kind=VariableKind.ARRAY, shape=(120, 3), strides=(24, 8)),
            argument("w", "float64[8]", "host, strides 16", kind=VariableKind.ARRAY, shape=(8,), strides=(16,)),
            argument("factor", "float", "0.1", kind=VariableKind.SCALAR, value=0.1),
        ),
    )  # fmt: skip
    other = msgspec.structs.replace(launch, kernel="heat", line=30, warnings=(), arguments=())
    pane = LaunchesPane(PALETTE)
    async with shown(pane, 80, 12) as pilot:
        pane.show((launch, other))
        closed = lines(pane)[:4]
        assert closed[0].startswith("▸damp  yax.py:25")
        assert closed[1:3] == [f"     an {'old kernel ' * 6}old", f"       {'kernel old ' * 2}kernel runs"]
        assert closed[3].startswith("▸heat  yax.py:30")
        await pilot.press("space")
        opened = lines(pane)
        assert opened[0].startswith("▾damp  yax.py:25")
        assert opened[3:7] == [
            "     parallel_for RangePolicy(OpenMP, 0, 120) release build",
            "     v       float64[120, 3]  host, rows, strides 24, 8",
            "     w       float64[8]       host, strides 16",
            "     factor  float            0.1",
        ]
        assert opened[7].startswith("▸heat")
        pane.show((launch, other))
        assert lines(pane) == opened
        await pilot.press(*["down"] * 5, "space")
        assert lines(pane)[8:10] == [
            "     parallel_for RangePolicy(OpenMP, 0, 120) release build",
            "     no arguments",
        ]
        await pilot.press("home", "down", "space")
        assert lines(pane)[:3] == closed[:3]
        assert pane.cursor_row == 0
        await pilot.press("enter")
        await pilot.pause()
        assert [(jump.file, jump.line) for jump in sent(pilot, Jump)] == [(FILE, 25)]


async def test_a_running_launch_is_listed_with_its_time() -> None:
    pane = LaunchesPane(PALETTE)
    running = LaunchRecord(
        kernel="damp", file=FILE, line=25, pattern="parallel_for", policy="RangePolicy(OpenMP, 0, 120)", space="OpenMP",
        build="debug", count=0, last_seconds=0.0, total_seconds=0.0, running_since=100.0,
    )  # fmt: skip
    for width in (80, 130):
        pane = LaunchesPane(PALETTE)
        async with shown(pane, width, 3):
            assert lines(pane)[0] == " no kernel has been launched yet"
            pane._now = lambda: 102.5
            pane.show((running,))
            words = lines(pane)[0].split()
            assert words[:2] == ["▸damp", "yax.py:25"]
            assert words[-4:] == ["1×", "running", "2.5", "s"]
            pane.show((replace(running, stopped=True),))
            assert lines(pane)[0].split()[-2:] == ["1×", "stopped"]


async def test_the_top_line_says_what_where_why_and_the_focus() -> None:
    line = StatusLine(PALETTE, now=lambda: 0.0)
    line.program = "yax.py"
    async with shown(line, 110, 1):
        line.show_phase(Phase.STOPPED_KERNEL)
        line.show_stop(kernel_stop())
        text = lines(line)[0]
        assert text.startswith(" yax.py ▪ kernel yax · OpenMP · launch 1 · breakpoint 2")
        assert text.endswith("thread 3 of 8 · j = 96   ran 00:00.00")


async def test_a_narrow_top_line_keeps_the_reason() -> None:
    line = StatusLine(PALETTE, now=lambda: 0.0)
    line.program = "yax.py"
    async with shown(line, 76, 1):
        line.show_phase(Phase.STOPPED_KERNEL)
        line.show_stop(kernel_stop())
        assert "kernel yax · breakpoint 2" in lines(line)[0]


async def test_progress_and_the_end_are_shown_with_their_cause() -> None:
    clock = [0.0]
    line = StatusLine(PALETTE, now=lambda: clock[0])
    line.program = "yax.py"
    async with shown(line, 90, 1):
        line.show_progress(Progress(task="compiling yax"))
        clock[0] = 2.5
        assert "compiling yax, 2.5 s" in lines(line)[0]
        line.show_progress(Progress(task="compiling yax", done=True))
        line.show_phase(Phase.EXITED)
        line.show_exit(ExitCause(signal="SIGSEGV"))
        assert "exited: signal SIGSEGV" in lines(line)[0]


async def test_a_narrow_key_line_keeps_the_key_for_help() -> None:
    line = KeyLine(PALETTE, lambda: [("n", "next"), ("s", "step"), ("c", "continue"), ("?", "help"), ("q", "quit")])
    async with shown(line, 24, 1):
        assert lines(line)[0] == " n next  s step  ? help"


async def test_the_key_line_gives_way_to_a_message() -> None:
    line = KeyLine(PALETTE, lambda: [("n", "next"), ("s", "step")])
    async with shown(line, 40, 1):
        assert lines(line)[0] == " n next  s step"
        line.say("There is no line 900.", fault=True)
        assert lines(line)[0] == " There is no line 900."
        line.clear()
        assert lines(line)[0] == " n next  s step"
