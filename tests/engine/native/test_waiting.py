"""Steps that take long, steps that wait, and threads that nobody named."""

from __future__ import annotations

import msgspec
import pytest
from debugged import Debugged
from kernel_programs import BODY, Compile, KernelProgram

from pkdb_tui.engine.api import ThreadState
from pkdb_tui.engine.errors import NativeError
from pkdb_tui.engine.native.base import StepKind, StopCause

LONG = """
#include <time.h>
static double pk_now() {
    timespec pk_t;
    clock_gettime(CLOCK_MONOTONIC, &pk_t);
    return pk_t.tv_sec + pk_t.tv_nsec * 1e-9;
}
"""
MEET = """
static std::atomic<int> pk_arrived;
static __attribute__((noinline)) void pk_barrier() {
    ++pk_arrived;
    while (pk_arrived % omp_get_num_threads()) sched_yield();
}
"""


@pytest.fixture(scope="module")
def slow(compiled: Compile) -> KernelProgram:
    """A function that computes for a second and a half, in a kernel function and in generated code."""
    return compiled(
        f"""
def busy(x):                       ## PK_FUNCTION double busy(double x) {{
    y: float = x                   ## double y = x; const double pk_end = pk_now() + 1.5;
    while pk.now() < end:          ## while (pk_now() < pk_end) {{
        y += 1.0                   ## y += 1.0;
                                   ## }}
    return x                       ## return x;
                                   ## }}
def work(i, acc, a):               ## {BODY}
    value: float = busy(i)         ## double value = busy(i);
    a[i] = value                   ## a(i) = value;
    acc += value                   ## acc += value;
                                   ## }}
""",
        preamble=LONG,
    )


@pytest.fixture(scope="module")
def meeting(compiled: Compile) -> KernelProgram:
    return compiled(
        f"""
def work(i, acc, a):               ## {BODY}
    value: float = i               ## double value = i;
    pk.barrier()                   ## pk_barrier();
    a[i] = value                   ## a(i) = value;
    acc += value                   ## acc += value;
                                   ## }}
""",
        preamble=MEET,
    )


async def test_next_over_a_long_computation_arrives(slow: KernelProgram) -> None:
    async with Debugged(slow, threads=2, count=2) as run:
        await run.begin(run.at("value: float"))
        await run.stop()
        stop = await run.step(StepKind.NEXT, 1)
        assert (stop.cause, stop.thread, stop.text) == (StopCause.STEP, 1, "")
        assert await run.place_of(1) == ("work", slow.line("a[i] = value"))
        assert (await run.values(1))["value"].value == 1.0


async def test_finish_of_a_long_computation_arrives(slow: KernelProgram) -> None:
    async with Debugged(slow, threads=2, count=2) as run:
        await run.begin(run.at("y: float"))
        await run.stop()
        await run.step(StepKind.FINISH, 1)
        assert await run.place_of(1) == ("work", slow.line("value: float"))


async def test_until_over_a_long_loop_arrives(slow: KernelProgram) -> None:
    async with Debugged(slow, threads=1, count=1) as run:
        await run.begin(run.at("y += 1.0"))
        await run.stop()
        await run.controller.place([])
        await run.step(StepKind.UNTIL, 0)
        assert await run.place_of(0) == ("busy", slow.line("return x"))


async def test_a_long_step_can_be_paused_and_stepped_on(slow: KernelProgram) -> None:
    async with Debugged(slow, threads=2, count=2) as run:
        await run.begin(run.at("value: float"))
        await run.stop()
        await run.controller.step(StepKind.NEXT, 0)
        await run.controller.interrupt()
        stop = await run.stop()
        assert stop.cause is StopCause.PAUSE
        await run.step(StepKind.NEXT, 0)
        await run.controller.place([])
        await run.controller.resume()
        assert (await run.end())["total"] == 1.0


async def test_a_late_thread_stays_at_the_line_it_was_stepping_to(meeting: KernelProgram) -> None:
    async with Debugged(meeting, threads=2, count=2) as run:
        await run.begin(run.at("pk.barrier()"))
        await run.stop()
        stop = await run.step(StepKind.NEXT, 0)
        assert stop.text == "thread 0 waits for the others"
        assert stop.thread == 1
        stop = await run.step(StepKind.NEXT, 1)
        while not any(t.first <= 0 <= t.last and t.line for t in await run.controller.thread_states()):
            await run.changed()
        assert await run.place_of(0) == ("work", meeting.line("a[i] = value"))
        assert await run.place_of(1) == ("work", meeting.line("a[i] = value"))
        await run.controller.resume()
        assert (await run.end())["total"] == 1.0
        assert run.hits == {1: 2}


async def test_continue_of_a_thread_that_comes_to_wait_comes_back(meeting: KernelProgram) -> None:
    async with Debugged(meeting, threads=2, count=2) as run:
        await run.begin(run.at("pk.barrier()"))
        await run.stop()
        await run.controller.resume([0])
        stop = await run.stop()
        assert stop.text == "thread 0 waits for the others"
        states = {t.first: t.state for t in stop.threads}
        assert states[1] is ThreadState.BREAKPOINT
        assert states[0] in (ThreadState.RUNNING, ThreadState.BARRIER)
        await run.controller.resume()
        assert (await run.end())["total"] == 1.0


async def test_a_thread_that_waits_cannot_be_stepped(meeting: KernelProgram) -> None:
    async with Debugged(meeting, threads=2, count=2) as run:
        await run.begin(run.at("pk.barrier()"))
        await run.stop()
        await run.step(StepKind.NEXT, 0)
        with pytest.raises(NativeError, match="Thread 0 is not stopped"):
            await run.controller.step(StepKind.NEXT, 0)
        assert await run.controller.frames(0) == []
        found = await run.controller.variables_of_threads([0, 1], ["i"])
        assert [v.value for v in found[1]] == [1]
        await run.controller.resume()
        await run.end()


async def test_until_goes_to_a_later_line_only(meeting: KernelProgram, calls: KernelProgram) -> None:
    async with Debugged(calls, threads=2, count=4) as run:
        await run.begin(run.at("total +="))
        await run.stop()
        await run.controller.place([])
        await run.step(StepKind.UNTIL, 0)
        assert await run.place_of(0) == ("work", calls.line("a[i] = total"))
        await run.step(StepKind.UNTIL, 0)
        await run.step(StepKind.UNTIL, 0)
        assert await run.place_of(0) == ("work", calls.line("total: float"))
        assert (await run.values(0))["i"].value == 1


async def test_until_leaves_a_function_for_its_caller(calls: KernelProgram) -> None:
    async with Debugged(calls, threads=1, count=1) as run:
        await run.begin(run.at("return y"))
        await run.stop()
        await run.controller.place([])
        await run.step(StepKind.UNTIL, 0)
        assert await run.place_of(0) == ("work", calls.line("total +="))


@pytest.fixture
def unnamed(branch: KernelProgram) -> KernelProgram:
    """Without a table of the team, as PyKokkos has none."""
    return KernelProgram(msgspec.structs.replace(branch.ready, team=""), branch.script, branch.text)


async def test_threads_without_a_team_are_gathered_and_numbered(unnamed: KernelProgram) -> None:
    async with Debugged(unnamed, threads=4) as run:
        run.program = KernelProgram(
            msgspec.structs.replace(unnamed.ready, thread=run.process.pid), unnamed.script, unnamed.text
        )
        await run.begin(run.at("a[i] = value"))
        stop = await run.stop()
        assert stop.hits == {1: 4}
        assert {t: (await run.values(t))["i"].value for t in range(4)} == {0: 0, 1: 16, 2: 32, 3: 48}
        await run.step(StepKind.NEXT, 2)
        assert await run.place_of(2) == ("work", unnamed.line("acc += value"))
        await run.controller.resume()
        _, answer = await run.run_out()
        assert run.hits == {1: 64}
        assert answer["total"] == sum(i * 10.0 + 0.5 if i % 8 == 3 else float(i) for i in range(64))
