"""Breakpoints in OpenMP kernels: placed exactly, every hit told once, and a continue that always comes back."""

from __future__ import annotations

import pytest
from debugged import Debugged, Ended
from kernel_programs import KernelProgram

from pkdb_tui.engine.api import ThreadState
from pkdb_tui.engine.native.base import NativeBreakpoint, StopCause

SUM = sum(i * 10.0 + 0.5 if i % 8 == 3 else float(i) for i in range(64))


@pytest.mark.parametrize("threads", [1, 2, 8])
async def test_every_hit_is_told_exactly_once(branch: KernelProgram, threads: int) -> None:
    async with Debugged(branch, threads=threads) as run:
        await run.begin(run.at("a[i] = value"))
        stops, answer = await run.run_out()
        assert run.hits == {1: 64}
        assert answer["total"] == SUM
        assert 64 // threads <= stops <= 64


@pytest.mark.parametrize("threads", [1, 2, 8])
async def test_a_branch_few_iterations_reach(branch: KernelProgram, threads: int) -> None:
    async with Debugged(branch, threads=threads) as run:
        await run.begin(run.at("value * 10.0"))
        _, answer = await run.run_out()
        assert run.hits == {1: 8}
        assert answer["total"] == SUM


async def test_sixty_four_threads_stop_once_each(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=64) as run:
        await run.begin(run.at("acc += value"))
        stop = await run.stop()
        assert stop.cause is StopCause.BREAKPOINT
        assert stop.breakpoints == (1,)
        await run.controller.resume()
        _, answer = await run.run_out()
        assert run.hits == {1: 64}
        assert answer["total"] == SUM


async def test_two_threads_rest_together(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=2) as run:
        await run.begin(run.at("a[i] = value"))
        stop = await run.stop()
        assert stop.thread == 0
        assert stop.hits == {1: 2}
        assert [(t.first, t.last, t.state, t.line) for t in stop.threads] == [
            (0, 1, ThreadState.BREAKPOINT, branch.line("a[i] = value"))
        ]


async def test_two_breakpoints_two_ids(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=2) as run:
        await run.begin(run.at("value * 10.0", 1), run.at("acc += value", 2), run.at("acc += value", 3))
        _, answer = await run.run_out()
        assert run.hits == {1: 8, 2: 64, 3: 64}
        assert answer["total"] == SUM


async def test_continue_of_one_thread(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=2) as run:
        await run.begin(run.at("a[i] = value"))
        await run.stop()
        assert (await run.values(0))["i"].value == 0
        await run.controller.resume([1])
        stop = await run.stop()
        assert stop.thread == 1
        assert stop.hits == {1: 1}
        assert (await run.values(0))["i"].value == 0
        assert (await run.values(1))["i"].value == 33


async def test_a_line_without_code_is_not_bound(branch: KernelProgram) -> None:
    async with Debugged(branch) as run:
        await run.attach()
        empty = branch.line("value + 0.5") + 1
        [placement] = await run.controller.place([NativeBreakpoint(id=1, source=branch.script, line=empty)])
        assert (placement.locations, placement.pending) == (0, False)
        assert placement.reason == f"line {empty} is not a kernel line; the next one is {empty + 1}"


async def test_a_line_of_no_kernel_loaded_so_far_is_pending(branch: KernelProgram) -> None:
    async with Debugged(branch) as run:
        await run.attach()
        [placement] = await run.controller.place([NativeBreakpoint(id=1, source=branch.script, line=99)])
        assert (placement.locations, placement.pending, placement.reason) == (0, True, "the kernel has not run yet")


async def test_function_breakpoints(calls: KernelProgram) -> None:
    async with Debugged(calls, threads=2, count=8) as run:
        [placement] = await run.begin(NativeBreakpoint(id=4, function="half"))
        assert placement.locations == 1
        await run.stop()
        assert await run.place_of(0) == ("half", calls.line("y: float"))
        await run.controller.resume()
        await run.run_out()
        assert run.hits == {4: 24}


async def test_conditions_are_evaluated_in_each_thread(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=2) as run:
        await run.begin(run.at("a[i] = value", condition="i == 37 && value > 36.5"))
        stop = await run.stop()
        assert stop.hits == {1: 1}
        assert (await run.values(stop.thread))["i"].value == 37
        await run.controller.resume()
        assert (await run.end())["total"] == SUM


async def test_ignore_counts(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=2) as run:
        await run.begin(run.at("a[i] = value", ignore=60))
        shown, answer = 0, None
        while answer is None:
            try:
                stop = await run.stop()
            except Ended as ended:
                answer = ended.answer
            else:
                shown += sum(r.last - r.first + 1 for r in stop.threads if r.state is ThreadState.BREAKPOINT)
                await run.controller.resume()
        assert (shown, run.hits) == (4, {1: 64})
        assert answer["total"] == SUM


async def test_thread_filters(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=4) as run:
        await run.begin(run.at("a[i] = value", threads=(1, 3)))
        _, answer = await run.run_out()
        assert run.hits == {1: 32}
        assert answer["total"] == SUM


async def test_removed_while_stopped_never_fires_again(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=2) as run:
        await run.begin(run.at("a[i] = value"))
        await run.stop()
        await run.controller.place([])
        await run.controller.resume()
        assert (await run.end())["total"] == SUM


async def test_a_second_launch_stops_again(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=2) as run:
        for _ in range(2):
            await run.begin(run.at("value * 10.0"))
            _, answer = await run.run_out()
            assert answer["total"] == SUM
        assert run.hits == {1: 16}
