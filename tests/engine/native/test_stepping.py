"""Steps walk Python lines, in one thread or in all, and always come back."""

from __future__ import annotations

import pytest
from debugged import Debugged, Ended
from kernel_programs import BODY, Compile, KernelProgram

from pkdb_tui.engine.api import ThreadState
from pkdb_tui.engine.errors import NativeError
from pkdb_tui.engine.native.base import StepKind, StopCause


@pytest.fixture(scope="module")
def meeting(compiled: Compile) -> KernelProgram:
    """Every iteration waits for all threads, as many iterations as threads."""
    return compiled(
        f"""
def work(i, acc, a):               ## {BODY}
    value: float = i               ## double value = i;
    pk.barrier()                   ## pk_meet();
    acc += value                   ## acc += value;
                                   ## }}
""",
        preamble="""
static std::atomic<int> pk_arrived;
static __attribute__((noinline)) void pk_meet() {
    ++pk_arrived;
    while (pk_arrived < omp_get_num_threads()) sched_yield();
#pragma omp barrier
}
""",
    )


async def test_step_enters_a_function_that_begins_in_generated_code(compiled: Compile) -> None:
    """As those of PyKokkos' kernels do."""
    program = compiled(
        f"""
                                   ## PK_FUNCTION double half(double x) {{
def half(x):                       ##
    y: float = x / 2.0             ## double y = x / 2.0;
    return y                       ## return y;
                                   ## }}
def work(i, acc, a):               ## {BODY}
    a[i] = half(a[i])              ## a(i) = half(a(i));
    acc += a[i]                    ## acc += a(i);
                                   ## }}
""",
        glue='#line 1 "pk_glue.hpp"',
    )
    async with Debugged(program, threads=1, count=2) as run:
        await run.begin(run.at("half(a[i])"))
        await run.stop()
        await run.step(StepKind.STEP, 0)
        assert await run.place_of(0) == ("half", program.line("y: float"))


async def test_next_walks_the_lines_of_one_thread(calls: KernelProgram) -> None:
    async with Debugged(calls, threads=2, count=4) as run:
        await run.begin(run.at("total: float"))
        await run.stop()
        first, loop, add = (calls.line(t) for t in ("total: float", "for k", "total +="))
        walked = [first]
        for _ in range(7):
            stop = await run.step(StepKind.NEXT, 0)
            assert (stop.cause, stop.thread) == (StopCause.STEP, 0)
            walked.append((await run.place_of(0))[1])
        assert walked == [first, loop, add, loop, add, loop, add, loop]
        assert await run.place_of(1) == ("work", first)


async def test_step_enters_kernel_functions_and_finish_leaves_them(calls: KernelProgram) -> None:
    async with Debugged(calls, threads=2, count=4) as run:
        await run.begin(run.at("total +="))
        await run.stop()
        await run.step(StepKind.STEP, 1)
        assert await run.place_of(1) == ("half", calls.line("y: float"))
        functions = [f.function for f in await run.controller.frames(1) if not f.glue]
        assert functions == ["half", "work"]
        assert (await run.values(1))["x"].value == 2.0
        await run.step(StepKind.NEXT, 1)
        assert (await run.values(1))["y"].value == 1.0
        await run.step(StepKind.FINISH, 1)
        assert await run.place_of(1) == ("work", calls.line("total +="))


async def test_next_does_not_enter_functions(calls: KernelProgram) -> None:
    async with Debugged(calls, threads=1, count=2) as run:
        await run.begin(run.at("total +="))
        await run.stop()
        await run.step(StepKind.NEXT, 0)
        assert await run.place_of(0) == ("work", calls.line("for k"))


async def test_a_step_out_of_a_call_arrives_in_the_next(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=2) as run:
        await run.begin(run.at("acc += value"))
        await run.stop()
        await run.controller.place([])
        assert (await run.values(1))["i"].value == 32
        await run.step(StepKind.NEXT, 1)
        assert await run.place_of(1) == ("work", branch.line("value: float"))
        assert (await run.values(1))["i"].value == 33


async def test_a_step_out_of_the_last_call_ends_the_launch(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=1, count=1) as run:
        await run.begin(run.at("acc += value"))
        await run.stop()
        with pytest.raises(Ended) as ended:
            await run.step(StepKind.NEXT, 0)
        assert ended.value.answer["total"] == 0.0


async def test_a_stepping_thread_reports_the_breakpoint_it_meets(calls: KernelProgram) -> None:
    async with Debugged(calls, threads=1, count=2) as run:
        await run.begin(run.at("total +=", 1), run.at("return y", 2))
        await run.stop()
        stop = await run.step(StepKind.NEXT, 0)
        assert (stop.cause, stop.breakpoints, stop.hits) == (StopCause.BREAKPOINT, (2,), {2: 1})
        assert await run.place_of(0) == ("half", calls.line("return y"))


async def test_until_leaves_a_loop(calls: KernelProgram) -> None:
    async with Debugged(calls, threads=1, count=2) as run:
        await run.begin(run.at("for k"))
        await run.stop()
        await run.controller.place([])
        await run.step(StepKind.NEXT, 0)
        await run.step(StepKind.NEXT, 0)
        await run.step(StepKind.UNTIL, 0)
        assert await run.place_of(0) == ("work", calls.line("total +="))


async def test_until_a_line(calls: KernelProgram) -> None:
    async with Debugged(calls, threads=2, count=4) as run:
        await run.begin(run.at("total: float"))
        await run.stop()
        stop = await run.step(StepKind.UNTIL, 1, line=calls.line("a[i] = total"))
        assert stop.thread == 1
        assert await run.place_of(1) == ("work", calls.line("a[i] = total"))
        assert (await run.values(1))["total"].value == 6.0
        with pytest.raises(NativeError, match="is not a kernel line"):
            await run.controller.step(StepKind.UNTIL, 1, line=1)


async def test_all_threads_step_together(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=4) as run:
        await run.begin(run.at("value: float"))
        await run.stop()
        stop = await run.step(StepKind.NEXT, 0, all_threads=True)
        assert [(t.first, t.last, t.line) for t in stop.threads] == [(0, 3, branch.line("if i % 8"))]


async def test_finish_from_the_outermost_frame_ends_the_launch(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=2) as run:
        await run.begin(run.at("a[i] = value"))
        await run.stop()
        with pytest.raises(Ended) as ended:
            await run.step(StepKind.FINISH, 0)
        assert ended.value.answer["total"] == sum(i * 10.0 + 0.5 if i % 8 == 3 else float(i) for i in range(64))
        assert run.hits == {1: 2}


async def test_breakpoints_work_after_such_a_finish(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=2) as run:
        await run.begin(run.at("value * 10.0"))
        await run.stop()
        with pytest.raises(Ended):
            await run.step(StepKind.FINISH, 0)
        await run.begin(run.at("value * 10.0"))
        await run.run_out()
        assert run.hits == {1: 2 + 8}


async def test_a_step_that_waits_for_others_says_so(meeting: KernelProgram) -> None:
    async with Debugged(meeting, threads=2, count=2) as run:
        await run.begin(run.at("pk.barrier()"))
        await run.stop()
        stop = await run.step(StepKind.NEXT, 1)
        assert stop.text == "thread 1 waits for the others"
        states = {t.first: t.state for t in stop.threads}
        assert states[0] is ThreadState.BREAKPOINT
        assert states[1] in (ThreadState.RUNNING, ThreadState.BARRIER)
        await run.controller.resume()
        assert (await run.end())["total"] == 1.0


async def test_the_waiting_step_arrives_when_the_others_come(meeting: KernelProgram) -> None:
    async with Debugged(meeting, threads=2, count=2) as run:
        await run.begin(run.at("pk.barrier()"))
        await run.stop()
        stop = await run.step(StepKind.NEXT, 0, all_threads=True)
        assert [(t.first, t.last, t.line) for t in stop.threads] == [(0, 1, meeting.line("acc += value"))]
        await run.controller.resume()
        assert (await run.end())["total"] == 1.0


async def test_steps_to_the_end_of_a_kernel(branch: KernelProgram) -> None:
    """Nothing but steps, through branches and from call to call, until the launch ends."""
    async with Debugged(branch, threads=2, count=6) as run:
        await run.begin(run.at("value: float"))
        await run.stop()
        await run.controller.place([])
        steps, answer = await run.step_out()
        assert 11 <= steps <= 30
        assert answer["total"] == 0 + 1 + 2 + 30.5 + 4 + 5


async def test_the_first_thread_stops_at_entry_when_asked(branch: KernelProgram) -> None:
    import msgspec

    async with Debugged(branch, threads=2) as run:
        run.program = KernelProgram(
            ready=msgspec.structs.replace(branch.ready, stop_at_entry=True), script=branch.script, text=branch.text
        )
        await run.begin()
        stop = await run.stop()
        assert stop.cause is StopCause.STEP
        assert await run.place_of(stop.thread) == ("work", branch.line("value: float"))
        await run.controller.resume()
        assert (await run.end())["total"] == sum(i * 10.0 + 0.5 if i % 8 == 3 else float(i) for i in range(64))
