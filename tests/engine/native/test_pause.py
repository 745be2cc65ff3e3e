"""Pausing: an endless kernel, a waiting Python, and what may be done there."""

from __future__ import annotations

import struct

import pytest
from debugged import Debugged
from kernel_programs import BODY, Compile, KernelProgram

from pkdb_tui.engine.native.base import StepKind, StopCause


@pytest.fixture(scope="module")
def endless(compiled: Compile) -> KernelProgram:
    """Turns until somebody writes 100 into a[0]."""
    return compiled(f"""
def work(i, acc, a):               ## {BODY}
    value: float = i               ## double value = i;
    while a[0] < 100:              ## while (*(volatile double*)a.data < 100.0) {{
        value += 1.0               ## value += 1.0;
                                   ## }}
    acc += 1                       ## acc += 1.0;
                                   ## }}
""")


async def inside(run: Debugged) -> None:
    """Begin, and let both threads run in the kernel's loop."""
    await run.begin(run.at("value += 1.0"))
    await run.stop()
    await run.controller.place([])
    await run.controller.resume()


async def test_pause_and_continue_again_and_again(endless: KernelProgram) -> None:
    async with Debugged(endless, count=2) as run:
        await inside(run)
        for _ in range(4):
            await run.controller.interrupt()
            stop = await run.stop()
            assert stop.cause is StopCause.PAUSE
            assert stop.thread in (0, 1)
            function, line = await run.place_of(stop.thread)
            assert function == "work"
            assert line in (endless.line("while a"), endless.line("value += 1.0"))
            assert sum(t.last - t.first + 1 for t in stop.threads if t.line) == 2
            await run.controller.resume()
        await run.controller.interrupt()
        stop = await run.stop()
        view = (await run.values(stop.thread))["a"]
        await run.controller.write_memory(view.address, struct.pack("<d", 100.0))
        await run.controller.resume()
        assert (await run.end())["total"] == 2.0


async def test_memory_is_read_and_written_while_threads_run(endless: KernelProgram) -> None:
    async with Debugged(endless, count=2) as run:
        await inside(run)
        await run.controller.interrupt()
        stop = await run.stop()
        view = (await run.values(stop.thread))["a"]
        await run.controller.resume()
        [data] = await run.controller.read_memory([(view.address, 24)])
        assert struct.unpack("<3d", data) == (0.0, 1.0, 0.0) or struct.unpack("<2d", data[:16]) == (0.0, 1.0)
        await run.controller.write_memory(view.address, struct.pack("<d", 100.0))
        assert (await run.end())["total"] == 2.0


async def test_stepping_after_a_pause(endless: KernelProgram) -> None:
    async with Debugged(endless, count=2) as run:
        await inside(run)
        await run.controller.interrupt()
        stop = await run.stop()
        lines = {endless.line("while a"), endless.line("value += 1.0")}
        for _ in range(4):
            stop = await run.step(StepKind.NEXT, stop.thread)
            assert stop.cause is StopCause.STEP
            assert (await run.place_of(stop.thread))[1] in lines


async def test_a_breakpoint_set_at_a_pause(endless: KernelProgram) -> None:
    async with Debugged(endless, count=2) as run:
        await inside(run)
        await run.controller.interrupt()
        await run.stop()
        await run.controller.place([run.at("value += 1.0")])
        await run.controller.resume()
        stop = await run.stop()
        assert (stop.cause, stop.breakpoints, stop.hits) == (StopCause.BREAKPOINT, (1,), {1: 2})


async def test_an_endless_kernel_is_paused_while_one_thread_stands_at_a_breakpoint(endless: KernelProgram) -> None:
    async with Debugged(endless, count=2) as run:
        await run.begin(run.at("value += 1.0", threads=(1,)))
        stop = await run.stop()
        assert (stop.thread, stop.cause) == (1, StopCause.BREAKPOINT)
        await run.controller.interrupt_rest()
        threads = (await run.changed()).threads
        assert sum(t.last - t.first + 1 for t in threads if t.line) == 2
        assert (await run.place_of(0))[0] == "work"
        assert (await run.place_of(1))[0] == "work"


async def test_breakpoints_come_and_go_while_threads_run(endless: KernelProgram) -> None:
    async with Debugged(endless, count=2) as run:
        await inside(run)
        [placement] = await run.controller.place([run.at("value += 1.0", 5, threads=(0,))])
        assert placement.locations == 1
        stop = await run.stop()
        assert (stop.cause, stop.thread, stop.breakpoints) == (StopCause.BREAKPOINT, 0, (5,))
        await run.controller.place([])
        await run.controller.resume()
        await run.controller.interrupt()
        assert (await run.stop()).cause is StopCause.PAUSE
        assert run.hits == {1: 2, 5: 1}


async def test_a_pause_of_what_stands_already_is_no_second_stop(endless: KernelProgram) -> None:
    async with Debugged(endless, count=2) as run:
        await inside(run)
        await run.controller.interrupt()
        await run.controller.interrupt()  # before the first has been told
        stop = await run.stop()
        await run.controller.interrupt()  # and after
        await run.step(StepKind.NEXT, stop.thread)
        for _ in range(10):  # a pause left over would be told at some step's end
            assert (await run.step(StepKind.NEXT, stop.thread)).cause is StopCause.STEP
        assert run.events.empty()


async def test_a_pause_that_races_with_a_breakpoint_is_one_stop(endless: KernelProgram) -> None:
    async with Debugged(endless, count=2) as run:
        await run.begin(run.at("value += 1.0"))
        for _ in range(12):
            stop = await run.stop()
            assert stop.cause in (StopCause.BREAKPOINT, StopCause.PAUSE)
            assert sum(t.last - t.first + 1 for t in stop.threads if t.line) == 2
            assert run.events.empty()
            await run.controller.resume()
            await run.controller.interrupt()


async def test_a_pause_of_threads_that_wait_for_one_let_alone_looks_at_the_others(straggler: KernelProgram) -> None:
    """Iteration 0 has ended and waits; its thread, stopped there, has no line to look at."""
    async with Debugged(straggler, count=2) as run:
        await run.begin(run.at("value += 1.0"))
        assert (await run.stop()).thread == 1
        await run.controller.resume([1])
        assert (await run.stop()).thread == 1
        await run.controller.place([])
        await run.controller.resume([1])
        await run.controller.interrupt()
        stop = await run.stop()
        assert (stop.cause, stop.thread) == (StopCause.PAUSE, 1)
        assert (await run.place_of(1))[0] == "work"


async def test_pause_while_python_waits(branch: KernelProgram) -> None:
    async with Debugged(branch) as run:
        await run.attach()
        await run.controller.interrupt()
        await run.missed()
        await run.begin(run.at("value * 10.0"))
        await run.run_out()
        assert run.hits == {1: 8}


@pytest.fixture(scope="module")
def straggler(compiled: Compile) -> KernelProgram:
    """Iteration 0 is done at once; iteration 1 turns until somebody writes 100 into a[0]."""
    return compiled(f"""
def work(i, acc, a):               ## {BODY}
    value: float = i               ## double value = i;
    while i and a[0] < 100:        ## while (i && *(volatile double*)a.data < 100.0) {{
        value += 1.0               ## value += 1.0;
                                   ## }}
    acc += 1                       ## acc += 1.0;
                                   ## }}
""")


async def test_all_step_while_some_wait_at_the_end(straggler: KernelProgram) -> None:
    """gdb refuses to step a thread where it knows no lines: that thread goes on to the end, the others step."""
    async with Debugged(straggler, count=2) as run:
        await run.begin(run.at("value += 1.0"))
        await run.stop()
        await run.controller.place([])
        await run.controller.interrupt_rest()
        await run.changed()
        lines = {straggler.line("while i"), straggler.line("value += 1.0")}
        for _ in range(3):
            stop = await run.step(StepKind.NEXT, 1, all_threads=True)
            assert (stop.cause, stop.thread) == (StopCause.STEP, 1)
            assert (await run.place_of(1))[1] in lines
        await run.controller.write_memory((await run.values(1))["a"].address, struct.pack("<d", 100.0))
        await run.controller.resume()
        assert (await run.end())["total"] == 2.0
