"""Ends of the program and of its native debugger at awkward moments: each is told once, and nothing hangs."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from pathlib import Path

import pytest
from cli import FIXTURES

from pkdb_tui.engine.api import BreakpointSpec, Event, Exited, LaunchOptions, Notice, Phase, Progress
from pkdb_tui.engine.kernel_stops import ATTACHING
from pkdb_tui.engine.moves import Verb
from pkdb_tui.engine.session import Session

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)
SCRIPT = str(FIXTURES / "some_rows.py")
PATIENCE = 30.0


async def stopped_in_kernel(events: list[Event]) -> tuple[Session, int]:
    """A session at a stop in a kernel, and its gdb, which has been stopped too."""
    options = LaunchOptions(script=SCRIPT, runtime="embedded", environment={"OMP_NUM_THREADS": "2"})
    session = Session(options, events.append)
    await session.start()
    await asyncio.wait_for(session.settled(), PATIENCE)
    await session.add_breakpoint(BreakpointSpec(file=SCRIPT, line=13))
    await session.resume(Verb.CONTINUE)
    await asyncio.wait_for(session.settled(), PATIENCE)
    assert session.phase is Phase.STOPPED_KERNEL
    assert session.program is not None
    [debugger] = tracers(session.program.pid)
    os.kill(debugger, signal.SIGSTOP)
    return session, debugger


def tracers(pid: int) -> set[int]:
    status = Path(f"/proc/{pid}/status").read_text()
    return {int(line.split()[1]) for line in status.splitlines() if line.startswith("TracerPid")}


def alive(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


async def test_the_end_of_the_program_is_told() -> None:
    events: list[Event] = []
    session, debugger = await stopped_in_kernel(events)
    assert session.program is not None
    os.kill(session.program.pid, signal.SIGKILL)
    await asyncio.wait_for(session.settled(), PATIENCE)
    while session.phase is not Phase.EXITED:
        await asyncio.sleep(0.05)
    assert [event.cause.signal for event in events if isinstance(event, Exited)] == ["SIGKILL"]
    assert not alive(debugger)
    await session.quit()


async def test_an_end_while_attaching_is_the_programs_and_final() -> None:
    events: list[Event] = []

    def listen(event: Event) -> None:
        events.append(event)
        if isinstance(event, Progress) and event.task == ATTACHING and not event.done:
            assert session.program is not None
            os.kill(session.program.pid, signal.SIGKILL)

    session = Session(LaunchOptions(script=SCRIPT, runtime="embedded"), listen)
    await session.start()
    await asyncio.wait_for(session.settled(), PATIENCE)
    await session.add_breakpoint(BreakpointSpec(file=SCRIPT, line=13))
    await session.resume(Verb.CONTINUE)
    while session.phase is not Phase.EXITED:
        await asyncio.sleep(0.05)
    await asyncio.wait_for(session.settled(), PATIENCE)
    await session.kernels.detach()
    assert session.phase is Phase.EXITED
    assert [event.cause.signal for event in events if isinstance(event, Exited)] == ["SIGKILL"]
    assert [event.text for event in events if isinstance(event, Notice)] == []
    await session.restart()
    await asyncio.wait_for(session.settled(), PATIENCE)
    assert session.phase is Phase.STOPPED_PYTHON
    await session.quit()


async def test_quit_ends_both() -> None:
    session, debugger = await stopped_in_kernel([])
    assert session.program is not None
    program = session.program.pid
    await asyncio.wait_for(session.quit(), PATIENCE)
    assert not alive(program)
    assert not alive(debugger)


async def test_restart_stops_before_the_first_line_again() -> None:
    session, debugger = await stopped_in_kernel([])
    await asyncio.wait_for(session.restart(), PATIENCE)
    await asyncio.wait_for(session.settled(), PATIENCE)
    assert session.phase is Phase.STOPPED_PYTHON
    assert not alive(debugger)
    await session.resume(Verb.CONTINUE)
    await asyncio.wait_for(session.settled(), PATIENCE)
    assert session.phase is Phase.STOPPED_KERNEL
    await session.quit()
