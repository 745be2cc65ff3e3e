"""The all-stop half of the controller for devices, on gdb and a process of the host: it needs no device to be true."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pkdb_tui.engine.native.base import ControllerEvent, NativeBreakpoint, PauseMissed, ProcessEnded
from pkdb_tui.engine.native.cuda import CudaController
from pkdb_tui.engine.native.proc import tracer_of

PATIENCE = 20.0
PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, lambda *_: print("interrupted", flush=True))
print("ready", flush=True)
for line in sys.stdin:
    print("heard", line.strip(), flush=True)
"""


class Attached:
    """A process with the controller attached, and what that told."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.events: asyncio.Queue[ControllerEvent] = asyncio.Queue()
        self.controller = CudaController(self.events.put_nowait, gdb="gdb")

    async def line(self) -> str:
        assert self.process.stdout is not None
        return (await asyncio.wait_for(self.process.stdout.readline(), PATIENCE)).decode().strip()

    async def answers(self) -> None:
        """The process runs: it answers what it is told."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"word\n")
        assert await self.line() == "heard word"

    async def event(self) -> ControllerEvent:
        return await asyncio.wait_for(self.events.get(), PATIENCE)


@pytest.fixture
async def attached() -> AsyncIterator[Attached]:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, stdin=PIPE, stdout=PIPE)
    made = Attached(process)
    try:
        assert await made.line() == "ready"
        await made.controller.attach(process.pid)
        yield made
    finally:
        await made.controller.detach()
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_attaching_lets_the_process_run_on(attached: Attached) -> None:
    assert attached.controller.attached
    await attached.answers()
    await attached.controller.detach()
    assert tracer_of(attached.process.pid) == 0
    await attached.answers()


async def test_a_pause_outside_of_a_kernel_is_missed_and_may_be_asked_again(attached: Attached) -> None:
    for _ in range(3):
        await attached.controller.interrupt()
        assert isinstance(await attached.event(), PauseMissed)
        await attached.answers()


async def test_the_programs_own_interrupt_reaches_it(attached: Attached) -> None:
    for _ in range(2):
        os.kill(attached.process.pid, signal.SIGINT)
        assert await attached.line() == "interrupted"
    await attached.controller.interrupt()
    assert isinstance(await attached.event(), PauseMissed)
    await attached.answers()


async def test_it_stands_still_while_something_is_changed(attached: Attached) -> None:
    controller = attached.controller
    async with controller.halted():
        assert not controller.running
        assert Path(f"/proc/{attached.process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "t"
    await attached.answers()


async def test_changes_and_a_pause_at_once_lose_nothing(attached: Attached) -> None:
    controller = attached.controller
    changed = 0

    async def change() -> None:
        nonlocal changed
        async with controller.halted():
            assert not controller.running
            changed += 1

    await asyncio.gather(change(), controller.interrupt(), change(), change())
    assert isinstance(await attached.event(), PauseMissed)
    assert changed == 3
    await attached.answers()
    assert attached.events.empty()


async def test_a_line_without_a_kernel_is_pending(attached: Attached) -> None:
    (placed,) = await attached.controller.place([NativeBreakpoint(id=1, source="/nowhere/rows.py", line=3)])
    assert (placed.locations, placed.pending) == (0, True)
    assert placed.reason == "the kernel has not run yet"


async def test_the_end_of_the_process_is_told(attached: Attached) -> None:
    assert attached.process.stdin is not None
    attached.process.stdin.close()
    event = await attached.event()
    assert isinstance(event, ProcessEnded)
    assert event.status == 0
    assert not attached.controller.attached
