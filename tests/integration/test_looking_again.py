"""What is shown of a stop belongs to that stop, whatever is told while it is being read."""

from __future__ import annotations

import asyncio
import shutil

import pytest
from kernel_session import SomeRows

from pkdb_tui.engine.api import ThreadRange, ThreadState
from pkdb_tui.engine.errors import WrongPhase
from pkdb_tui.engine.native.base import ThreadsChanged

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)


async def test_threads_told_while_a_frame_is_being_read_are_kept() -> None:
    run = SomeRows()
    async with run as session:
        await run.to_the_kernel()
        choosing = asyncio.ensure_future(session.select_frame(1))
        await asyncio.sleep(0)  # it has asked now, and the answer needs a turn of the loop more
        told = (
            ThreadRange(first=0, last=0, state=ThreadState.BREAKPOINT),
            ThreadRange(first=1, last=1, state=ThreadState.RUNNING),
        )
        session.kernel_stops.on_event(ThreadsChanged(threads=told, hits={}))
        chosen = await choosing
        assert chosen.frame == 1
        assert chosen.threads == told


async def test_a_frame_read_for_a_stop_that_is_over_is_not_shown() -> None:
    run = SomeRows()
    async with run as session:
        await run.to_the_kernel()
        choosing = asyncio.ensure_future(session.select_frame(1))
        await asyncio.sleep(0)
        session.generation += 1  # as another stop does
        with pytest.raises(WrongPhase):
            await choosing
        assert session.snapshot is not None
        assert session.snapshot.frame == 0
