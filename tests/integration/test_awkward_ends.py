"""Ends of the program and of its native debugger at awkward moments: each is told once, and nothing hangs."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from pathlib import Path

import pytest
from kernel_session import PATIENCE, SomeRows

from pkdb_tui.engine.api import Event, Exited, Notice, Phase, Progress
from pkdb_tui.engine.kernel_stops import ATTACHING
from pkdb_tui.engine.moves import Verb
from pkdb_tui.engine.native.proc import tracer_of

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)


async def hung(run: SomeRows) -> int:
    """Stop in the kernel, and gdb, too: its process."""
    await run.to_the_kernel()
    assert run.session.program is not None
    debugger = tracer_of(run.session.program.pid)
    os.kill(debugger, signal.SIGSTOP)
    return debugger


def alive(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


async def test_the_end_of_the_program_is_told() -> None:
    events: list[Event] = []
    run = SomeRows(listener=events.append)
    async with run as session:
        debugger = await hung(run)
        assert session.program is not None
        os.kill(session.program.pid, signal.SIGKILL)
        await run.settled()
        while session.phase is not Phase.EXITED:
            await asyncio.sleep(0.05)
        assert [event.cause.signal for event in events if isinstance(event, Exited)] == ["SIGKILL"]
        assert not alive(debugger)


async def test_an_end_while_attaching_is_the_programs_and_final() -> None:
    events: list[Event] = []

    def listen(event: Event) -> None:
        events.append(event)
        if isinstance(event, Progress) and event.task == ATTACHING and not event.done:
            assert run.session.program is not None
            os.kill(run.session.program.pid, signal.SIGKILL)

    run = SomeRows(listener=listen)
    async with run as session:
        await session.resume(Verb.CONTINUE)
        while session.phase is not Phase.EXITED:
            await asyncio.sleep(0.05)
        await run.settled()
        await session.kernels.detach()
        assert session.phase is Phase.EXITED
        assert [event.cause.signal for event in events if isinstance(event, Exited)] == ["SIGKILL"]
        assert [event.text for event in events if isinstance(event, Notice)] == []
        await session.restart()
        await run.settled()
        assert session.phase is Phase.STOPPED_PYTHON


async def test_quit_ends_both() -> None:
    run = SomeRows()
    async with run as session:
        debugger = await hung(run)
        assert session.program is not None
        program = session.program.pid
        await asyncio.wait_for(session.quit(), PATIENCE)
        assert not alive(program)
        assert not alive(debugger)


async def test_restart_stops_before_the_first_line_again() -> None:
    run = SomeRows()
    async with run as session:
        debugger = await hung(run)
        await asyncio.wait_for(session.restart(), PATIENCE)
        await run.settled()
        assert session.phase is Phase.STOPPED_PYTHON
        assert not alive(debugger)
        await run.to_the_kernel()
