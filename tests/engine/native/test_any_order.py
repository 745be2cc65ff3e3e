"""Continues, steps and pauses in any order, as a person in a hurry gives them: no hit is lost and nothing hangs."""

from __future__ import annotations

import asyncio
import contextlib
import random

import pytest
from debugged import Debugged, Ended
from kernel_programs import BODY, Compile, KernelProgram

from pkdb_tui.engine.api import ThreadState
from pkdb_tui.engine.errors import NativeError
from pkdb_tui.engine.native.base import NativeStop, StepKind

COUNT = 48


@pytest.fixture(scope="module")
def uneven(compiled: Compile) -> KernelProgram:
    """Iterations take between 0 and 12 ms, asleep or busy; one in four enters the branch."""
    return compiled(
        f"""
def work(i, acc, a):               ## {BODY}
    value: float = i               ## double value = i;
    pk.wait(i)                     ## pk_wait(i);
    if i % 4 == 1:                 ## if (i % 4 == 1) {{
        value = value * 10.0       ## value = value * 10.0;
                                   ## }}
    a[i] = value                   ## a(i) = value;
    acc += value                   ## acc += value;
                                   ## }}
""",
        preamble="""
static __attribute__((noinline)) void pk_wait(int pk_i) {
    const int pk_ms = pk_i * 7919 % 13;
    if (pk_i % 3) { usleep(pk_ms * 1000); return; }
    const double pk_until = omp_get_wtime() + pk_ms * 1e-3;
    while (omp_get_wtime() < pk_until) {}
}
""",
    )


def resting(stop: NativeStop) -> list[int]:
    still = (ThreadState.BREAKPOINT, ThreadState.STOPPED)
    return [n for t in stop.threads if t.state in still and t.line for n in range(t.first, t.last + 1)]


async def act(run: Debugged, stop: NativeStop, choice: random.Random) -> None:
    """One thing that a person may do at a stop, perhaps followed by a pause."""
    still = resting(stop)
    turn = choice.random()
    if turn < 0.3 and still:
        kind, thread = choice.choice((StepKind.STEP, StepKind.NEXT)), choice.choice(still)
        try:
            await run.controller.step(kind, thread, all_threads=choice.random() < 0.3)
        except NativeError:  # the stop is older than a pause: that thread runs again, or has left
            await run.controller.resume()
    elif turn < 0.5 and still:
        with contextlib.suppress(NativeError):
            await run.controller.resume(choice.sample(still, choice.randint(1, len(still))))
    else:
        await asyncio.sleep(choice.choice((0.0, 0.0, 0.005, 0.03)))
        await run.controller.resume()
    if choice.random() < 0.15:
        await asyncio.sleep(choice.choice((0.0, 0.001, 0.01)))
        await run.controller.interrupt()


@pytest.mark.parametrize("seed", range(12))
async def test_actions_in_any_order(uneven: KernelProgram, seed: int) -> None:
    choice = random.Random(seed)
    async with Debugged(uneven, threads=choice.choice((1, 2, 4, 8, 16)), count=COUNT) as run:
        await run.begin(run.at("a[i] = value", 1), run.at("value * 10.0", 2))
        while True:
            try:
                await act(run, await run.stop(), choice)
            except Ended as ended:
                answer = ended.answer
                break
        assert run.hits == {1: COUNT, 2: COUNT // 4}
        assert answer["total"] == sum(i * 10.0 if i % 4 == 1 else i for i in range(COUNT))
