"""Faults stop at the Python line with what happened, in kernels and outside them."""

from __future__ import annotations

import asyncio
import signal

import pytest
from debugged import Debugged
from kernel_programs import BODY, Compile, KernelProgram
from pkdb_tui.engine.api import ThreadState
from pkdb_tui.engine.native.base import ProcessEnded, StopCause


@pytest.fixture(scope="module")
def null(compiled: Compile) -> KernelProgram:
    return compiled(f"""
def work(i, acc, a):               ## {BODY}
    value: float = i               ## double value = i; double* pk_p = (i == 5) ? nullptr : a.data;
    acc += pk.at(a, i)             ## acc += pk_p[i == 5 ? 2 : i];
                                   ## }}
""")


@pytest.fixture(scope="module")
def division(compiled: Compile) -> KernelProgram:
    return compiled(f"""
def work(i, acc, a):               ## {BODY}
    zero: int = i - 3              ## volatile int32_t zero = i - 3;
    acc += 10 // zero              ## acc += 10 / zero;
                                   ## }}
""")


@pytest.fixture(scope="module")
def aborting(compiled: Compile) -> KernelProgram:
    return compiled(f"""
def work(i, acc, a):               ## {BODY}
    value: float = i               ## double value = i;
    pk.check(i)                    ## if (i == 2) std::abort();
    acc += value                   ## acc += value;
                                   ## }}
""")


@pytest.fixture(scope="module")
def beyond(compiled: Compile) -> KernelProgram:
    return compiled(
        f"""
def work(i, acc, a):               ## {BODY}
    value: float = a[i]            ## double value = a(i);
    a[i + 1] = value               ## a(i + 1) = value;
    acc += value                   ## acc += value;
                                   ## }}
""",
        flags=("-DPK_BOUNDS",),
    )


async def test_a_segmentation_fault_stops_at_its_line(null: KernelProgram) -> None:
    async with Debugged(null, threads=2, count=6) as run:
        await run.begin()
        stop = await run.stop()
        assert (stop.cause, stop.text, stop.thread) == (StopCause.SIGNAL, "SIGSEGV at 0x10", 1)
        assert await run.place_of(1) == ("work", null.line("acc += pk.at"))
        assert (await run.values(1))["i"].value == 5
        faulty = [t for t in stop.threads if t.state is ThreadState.FAULT]
        assert [(t.first, t.last, t.line) for t in faulty] == [(1, 1, null.line("acc += pk.at"))]


async def test_the_program_ends_of_its_fault_when_it_goes_on(null: KernelProgram) -> None:
    async with Debugged(null, threads=1, count=6) as run:
        await run.begin()
        await run.stop()
        await run.controller.resume()
        ended = await run.lost()
        assert isinstance(ended, ProcessEnded)
        assert ended.signal == "SIGSEGV"
        assert await run.process.wait() == -signal.SIGSEGV


async def test_a_division_by_zero(division: KernelProgram) -> None:
    async with Debugged(division, threads=2, count=8) as run:
        await run.begin()
        stop = await run.stop()
        assert stop.cause is StopCause.SIGNAL
        assert stop.text.startswith("SIGFPE")
        assert await run.place_of(stop.thread) == ("work", division.line("10 // zero"))
        assert (await run.values(stop.thread))["i"].value == 3


async def test_an_abort_is_shown_at_the_python_line(aborting: KernelProgram) -> None:
    async with Debugged(aborting, threads=2, count=4) as run:
        await run.begin()
        stop = await run.stop()
        assert (stop.cause, stop.text) == (StopCause.SIGNAL, "SIGABRT")
        assert await run.place_of(stop.thread) == ("work", aborting.line("pk.check"))
        frames = await run.controller.frames(stop.thread)
        assert frames[-1].function == "work"
        assert [f.function for f in frames if not f.glue] == ["work"]


async def test_an_index_beyond_its_extent_says_so(beyond: KernelProgram) -> None:
    async with Debugged(beyond, threads=2, count=8) as run:
        await run.begin()
        stop = await run.stop()
        assert (stop.cause, stop.thread) == (StopCause.BOUNDS, 1)
        assert stop.text == "a index 8 in dimension 0, extent 8"
        assert await run.place_of(1) == ("work", beyond.line("a[i + 1]"))
        assert (await run.values(1))["i"].value == 7
        await run.controller.resume()
        await run.end()


async def test_a_fault_outside_any_kernel_has_no_frames(null: KernelProgram) -> None:
    async with Debugged(null, threads=2, count=4) as run:
        await run.attach()
        run.process.send_signal(signal.SIGSEGV)
        stop = await asyncio.wait_for(run.stop(), 5)
        assert stop.cause is StopCause.SIGNAL
        assert stop.text.startswith("SIGSEGV")
        assert await run.controller.frames(stop.thread) == []
        await run.controller.resume()
        ended = await run.lost()
        assert isinstance(ended, ProcessEnded)
        assert ended.signal == "SIGSEGV"


async def test_signals_of_the_program_pass(null: KernelProgram) -> None:
    """A signal it handles itself never stops it."""
    async with Debugged(null, threads=2, count=4) as run:
        await run.attach()
        for number in (signal.SIGWINCH, signal.SIGCHLD, signal.SIGURG):
            run.process.send_signal(number)
        await run.begin()
        assert (await run.end())["total"] == 0 + 1 + 2 + 3
