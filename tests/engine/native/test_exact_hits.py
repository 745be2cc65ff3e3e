"""Every due hit is told once, however unevenly threads arrive and whenever the person goes on."""

from __future__ import annotations

import asyncio
import random

import pytest
from debugged import Debugged, Ended
from kernel_programs import BODY, Compile, KernelProgram

from pkdb_tui.engine.native.base import StepKind, StopCause


@pytest.fixture(scope="module")
def uneven(compiled: Compile) -> KernelProgram:
    """Iterations take between 0 and 40 ms, asleep or busy."""
    return compiled(
        f"""
def work(i, acc, a):               ## {BODY}
    pk.wait(i)                     ## pk_wait(i);
    a[i] = i                       ## a(i) = i;
    acc += a[i]                    ## acc += a(i);
                                   ## }}
""",
        preamble="""
#include <time.h>
static __attribute__((noinline)) void pk_wait(int pk_i) {
    const int pk_ms = pk_i * 7919 % 41;
    if (pk_i % 3) { usleep(pk_ms * 1000); return; }
    timespec pk_t; clock_gettime(CLOCK_MONOTONIC, &pk_t);
    const double pk_from = pk_t.tv_sec + pk_t.tv_nsec * 1e-9;
    do clock_gettime(CLOCK_MONOTONIC, &pk_t);
    while (pk_t.tv_sec + pk_t.tv_nsec * 1e-9 - pk_from < pk_ms * 1e-3);
}
""",
    )


async def run_out_with_pauses(run: Debugged, pauses: random.Random) -> dict[str, object]:
    """Continue from each stop after a while that may let more threads arrive, or may not."""
    while True:
        try:
            await run.stop()
        except Ended as ended:
            return ended.answer
        await asyncio.sleep(pauses.choice((0.0, 0.001, 0.005, 0.02, 0.06)))
        await run.controller.resume()


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_hits_of_uneven_threads_are_exact(uneven: KernelProgram, threads: int, seed: int) -> None:
    async with Debugged(uneven, threads=threads, count=48) as run:
        await run.begin(run.at("a[i] = i", 1), run.at("acc += a[i]", 2))
        answer = await run_out_with_pauses(run, random.Random(seed))
        assert run.hits == {1: 48, 2: 48}
        assert answer["total"] == sum(range(48))


async def test_hits_stay_exact_while_some_threads_step(uneven: KernelProgram) -> None:
    """Steps of one thread, others arriving meanwhile, then continues."""
    async with Debugged(uneven, threads=4, count=24) as run:
        await run.begin(run.at("a[i] = i", 1))
        turns = 0
        while True:
            try:
                stop = await run.stop()
                if turns % 2 and stop.cause is StopCause.BREAKPOINT:
                    stop = await run.step(StepKind.NEXT, stop.thread)
            except Ended as ended:
                answer = ended.answer
                break
            turns += 1
            await run.controller.resume()
        assert run.hits == {1: 24}
        assert answer["total"] == sum(range(24))


async def test_hits_stay_exact_while_pausing(uneven: KernelProgram) -> None:
    """Interrupting again and again loses nothing and tells nothing twice."""
    async with Debugged(uneven, threads=4, count=24) as run:
        await run.begin(run.at("a[i] = i", 1))
        pauses = random.Random(7)
        while True:
            try:
                await run.stop()
            except Ended as ended:
                answer = ended.answer
                break
            await run.controller.resume()
            if pauses.random() < 0.5:
                await asyncio.sleep(pauses.choice((0.0, 0.003, 0.03)))
                await run.controller.interrupt()
        assert run.hits == {1: 24}
        assert answer["total"] == sum(range(24))


async def test_single_threads_continue_apart(uneven: KernelProgram) -> None:
    async with Debugged(uneven, threads=4, count=32) as run:
        await run.begin(run.at("a[i] = i", 1))
        turn = 0
        while True:
            try:
                stop = await run.stop()
            except Ended as ended:
                answer = ended.answer
                break
            await run.controller.resume([stop.thread] if turn % 3 else None)
            turn += 1
        assert run.hits == {1: 32}
        assert answer["total"] == sum(range(32))
