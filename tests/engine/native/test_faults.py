"""Faults stop at the Python line with what happened, in kernels and outside them."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest
from debugged import Debugged
from kernel_programs import BODY, Compile, KernelProgram

from pkdb_tui.engine.api import ThreadState
from pkdb_tui.engine.native.base import ProcessEnded, StepKind, StopCause


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
def suicidal(compiled: Compile) -> KernelProgram:
    return compiled(f"""
def work(i, acc, a):               ## {BODY}
    value: float = i               ## double value = i;
    pk.check(i)                    ## if (i == 2) ::syscall(SYS_kill, ::getpid(), 11);
    acc += value                   ## acc += value;
                                   ## }}
""")


@pytest.fixture(scope="module")
def wild(compiled: Compile) -> KernelProgram:
    return compiled(f"""
def work(i, acc, a):               ## {BODY}
    value: float = i               ## double value = i; double* pk_p = i == 2 ? (double*)0x8000000000000000 : a.data;
    acc += pk.at(a, i)             ## acc += pk_p[0];
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
        assert stop.text == f"SIGSEGV sent by process {os.getpid()}"
        assert await run.controller.frames(stop.thread) == []
        await run.controller.resume()
        ended = await run.lost()
        assert isinstance(ended, ProcessEnded)
        assert ended.signal == "SIGSEGV"


@pytest.mark.parametrize("number", [signal.SIGFPE, signal.SIGABRT, signal.SIGBUS])
async def test_a_signal_that_is_no_fault_names_who_sent_it(null: KernelProgram, number: signal.Signals) -> None:
    async with Debugged(null, threads=1, count=4) as run:
        await run.attach()
        run.process.send_signal(number)
        stop = await asyncio.wait_for(run.stop(), 5)
        assert (stop.cause, stop.text) == (StopCause.SIGNAL, f"{number.name} sent by process {os.getpid()}")


async def test_a_signal_that_the_program_sends_itself_is_no_fault(suicidal: KernelProgram) -> None:
    async with Debugged(suicidal, threads=1, count=4) as run:
        await run.begin()
        stop = await run.stop()
        assert (stop.cause, stop.text) == (StopCause.SIGNAL, "SIGSEGV sent by the program itself")
        assert await run.place_of(0) == ("work", suicidal.line("pk.check"))


async def test_an_address_that_no_memory_has_is_not_called_null(wild: KernelProgram) -> None:
    """The processor doesn't tell it: the system's 0 is no address."""
    async with Debugged(wild, threads=1, count=4) as run:
        await run.begin()
        stop = await run.stop()
        assert stop.cause is StopCause.SIGNAL
        assert stop.text == "SIGSEGV at an address that the processor doesn't tell, as it can't be one of memory"
        assert await run.place_of(0) == ("work", wild.line("acc +="))


async def test_signals_of_the_program_pass(null: KernelProgram) -> None:
    """A signal it handles itself never stops it."""
    async with Debugged(null, threads=2, count=4) as run:
        await run.attach()
        for number in (signal.SIGWINCH, signal.SIGCHLD, signal.SIGURG):
            run.process.send_signal(number)
        await run.begin()
        assert (await run.end())["total"] == 0 + 1 + 2 + 3


async def test_a_step_onto_a_fault_reports_it(null: KernelProgram) -> None:
    async with Debugged(null, threads=1, count=8) as run:
        await run.begin(run.at("value: float", condition="i == 5"))
        await run.stop()
        await run.step(StepKind.NEXT, 0)
        stop = await run.step(StepKind.NEXT, 0)
        assert (stop.cause, stop.text) == (StopCause.SIGNAL, "SIGSEGV at 0x10")
        assert await run.place_of(0) == ("work", null.line("acc +="))


async def test_a_step_onto_a_bad_index_reports_it(beyond: KernelProgram) -> None:
    async with Debugged(beyond, threads=1, count=4, data=[0.0] * 4) as run:
        await run.begin(run.at("a[i + 1]", condition="i == 3"))
        await run.stop()
        stop = await run.step(StepKind.NEXT, 0)
        assert (stop.cause, stop.text) == (StopCause.BOUNDS, "a index 4 in dimension 0, extent 4")
        assert await run.place_of(0) == ("work", beyond.line("a[i + 1]"))


async def test_a_fault_on_the_way_to_the_end_of_the_launch_stops(null: KernelProgram) -> None:
    async with Debugged(null, threads=1, count=8) as run:
        await run.begin(run.at("value: float"))
        await run.stop()
        stop = await run.step(StepKind.FINISH, 0)
        assert (stop.cause, stop.text) == (StopCause.SIGNAL, "SIGSEGV at 0x10")
        assert (await run.values(0))["i"].value == 5


async def test_a_fault_inside_a_library_is_blamed_on_the_python_line(compiled: Compile) -> None:
    program = compiled(
        f"""
def work(i, acc, a):               ## {BODY}
    value: float = i               ## double value = i;
    pk.wipe(i)                     ## if (i == 2) std::memset((void*)(intptr_t)16, 1, 64 + (long)a.extent[0]);
    acc += value                   ## acc += value;
                                   ## }}
"""
    )
    async with Debugged(program, threads=2, count=4) as run:
        await run.begin()
        stop = await run.stop()
        assert stop.cause is StopCause.SIGNAL
        assert stop.text.startswith("SIGSEGV at 0x")
        assert await run.place_of(stop.thread) == ("work", program.line("pk.wipe"))
        assert (await run.values(stop.thread))["i"].value == 2


async def test_faults_of_two_threads_at_once_are_both_kept(compiled: Compile) -> None:
    program = compiled(
        f"""
def work(i, acc, a):               ## {BODY}
    value: float = i               ## double value = i;
    a[i] = pk.at(0)                ## *(volatile double*)(intptr_t)(16 + i * 16) = value;
                                   ## }}
"""
    )
    async with Debugged(program, threads=2, count=2) as run:
        await run.begin()
        stop = await run.stop()
        assert stop.cause is StopCause.SIGNAL
        while {t.state for t in await run.controller.thread_states()} != {ThreadState.FAULT}:
            await run.changed()
        assert [(await run.values(t))["i"].value for t in (0, 1)] == [0, 1]
