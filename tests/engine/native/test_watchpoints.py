"""Hardware watchpoints: what changed, from what to what, and at which line."""

from __future__ import annotations

from debugged import Debugged
from kernel_programs import KernelProgram

from pkdb_tui.engine.native.base import NativeBreakpoint, StopCause


async def test_an_element_of_a_view(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=2) as run:
        await run.begin(run.at("value: float"))
        await run.stop()
        address = (await run.values(0))["a"].address + 8 * 3
        [placement] = await run.controller.place([NativeBreakpoint(id=7, watch=f"*(double*){address}")])
        assert placement.locations == 1, placement.reason
        await run.controller.resume()
        stop = await run.stop()
        assert (stop.cause, stop.breakpoints, stop.hits) == (StopCause.WATCHPOINT, (7,), {7: 1})
        assert stop.text.endswith("3 -> 30.5")
        assert await run.place_of(stop.thread) == ("work", branch.line("a[i] = value"))
        await run.controller.resume()
        await run.end()


async def test_a_local_ends_quietly_with_its_scope(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=1, count=12) as run:
        await run.begin(run.at("if i % 8", condition="i == 3"))
        await run.stop()
        [placement] = await run.controller.place([NativeBreakpoint(id=7, watch="value")])
        assert placement.locations == 1, placement.reason
        await run.controller.resume()
        told = [(await run.stop()).text]
        await run.controller.resume()
        told.append((await run.stop()).text)
        assert told == ["3 -> 30", "30 -> 30.5"]
        await run.controller.resume()
        await run.end()
        assert run.hits == {1: 1, 7: 2}
        assert [(p.id, p.locations, p.ended) for p in run.placements] == [(7, 0, True)]
        assert run.placements[0].reason == "value has left its scope: watch it anew at another stop"
        [placement] = await run.controller.place([NativeBreakpoint(id=7, watch="value")])
        assert placement == run.placements[0]


async def test_a_condition_on_a_watchpoint(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=1, count=12) as run:
        await run.begin(run.at("if i % 8", condition="i == 3"))
        await run.stop()
        await run.controller.place([NativeBreakpoint(id=7, watch="value", condition="value > 30.2")])
        await run.controller.resume()
        assert (await run.stop()).text.endswith("30 -> 30.5")
        assert (await run.values(0))["value"].value == 30.5
        await run.controller.resume()
        await run.end()


async def test_a_removed_watchpoint_is_silent(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=2) as run:
        await run.begin(run.at("value: float"))
        await run.stop()
        address = (await run.values(0))["a"].address + 8 * 3
        await run.controller.place([NativeBreakpoint(id=7, watch=f"*(double*){address}")])
        await run.controller.place([])
        await run.controller.resume()
        await run.end()
        assert run.hits == {1: 2}


async def test_more_watchpoints_than_the_processor_has(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=1) as run:
        await run.begin(run.at("value: float"))
        await run.stop()
        start = (await run.values(0))["a"].address
        wanted = [NativeBreakpoint(id=n, watch=f"*(double*){start + 8 * n}") for n in range(5)]
        placements = await run.controller.place(wanted)
        assert [p.locations for p in placements[:4]] == [1, 1, 1, 1]
        assert placements[4].locations == 0
        assert placements[4].reason == (
            "the processor has 4 watch registers, which watchpoints 0, 1, 2 and 3 take: delete one, and this one is set"
        )
        placements = await run.controller.place(wanted[1:])
        assert [p.locations for p in placements] == [1, 1, 1, 1]
        await run.controller.place([])
        await run.controller.resume()
        await run.end()


async def test_a_double_between_two_words_takes_two_registers(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=1) as run:
        await run.begin(run.at("value: float"))
        await run.stop()
        start = (await run.values(0))["a"].address
        wanted = [NativeBreakpoint(id=n, watch=f"*(double*){start + 4 + 16 * n}") for n in range(3)]
        placements = await run.controller.place([*wanted, run.at("value: float", 9)])
        assert [p.locations for p in placements] == [1, 1, 0, 1]
        assert "which watchpoints 0 and 1 take" in placements[2].reason
        await run.controller.resume()
        assert (await run.stop()).cause is StopCause.BREAKPOINT
        await run.controller.place([])
        await run.controller.resume()
        await run.end()


async def test_a_watchpoint_before_any_thread_is_stopped_says_what_to_do(branch: KernelProgram) -> None:
    async with Debugged(branch) as run:
        await run.attach()
        [placement] = await run.controller.place([NativeBreakpoint(id=7, watch="value")])
        assert placement.locations == 0
        assert "no thread is stopped in a kernel" in placement.reason
