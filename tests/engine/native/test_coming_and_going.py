"""Attaching and detaching at the same time: a process has one tracer, and none that nobody knows of."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator

import pytest

from pkdb_tui.engine.breakpoints import BreakpointBook
from pkdb_tui.engine.errors import NativeError, NativeUnavailable
from pkdb_tui.engine.kernel_side import KernelSide
from pkdb_tui.engine.native.base import ControllerEvent
from pkdb_tui.engine.native.gdb import GdbController
from pkdb_tui.engine.native.proc import tracer_of


@pytest.fixture
def pid() -> Iterator[int]:
    """A program that waits to be looked at."""
    command = [sys.executable, "-c", "import sys; print('here', flush=True); sys.stdin.read()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"here\n"
        yield program.pid
        program.kill()


@pytest.fixture
def kernels() -> KernelSide:
    """A session's native half with the real debugger."""
    told: list[ControllerEvent] = []
    return KernelSide(BreakpointBook(), GdbController, GdbController, told.append)


async def gdb_of(pid: int) -> int:
    """The tracer of a process, once it has one."""
    while not (tracer := tracer_of(pid)):
        await asyncio.sleep(0)
    return tracer


async def test_two_that_attach_at_once_share_one_debugger(kernels: KernelSide, pid: int) -> None:
    await asyncio.gather(kernels.attach(pid), kernels.attach(pid))
    assert kernels.attached
    await kernels.detach()
    assert tracer_of(pid) == 0


@pytest.mark.parametrize("turns", [0, 1, 2, 5, 20])
async def test_detaching_while_it_attaches(kernels: KernelSide, pid: int, turns: int) -> None:
    attaching = asyncio.create_task(kernels.attach(pid))
    for _ in range(turns):
        await asyncio.sleep(0)
    await kernels.detach()
    with contextlib.suppress(NativeError):
        await attaching
    await kernels.detach()
    assert tracer_of(pid) == 0
    await kernels.attach(pid)
    assert kernels.attached
    await kernels.detach()


async def test_detaching_once_it_has_hold_of_the_program(kernels: KernelSide, pid: int) -> None:
    attaching = asyncio.create_task(kernels.attach(pid))
    await gdb_of(pid)
    await kernels.detach()
    await attaching
    assert tracer_of(pid) == 0
    assert not kernels.attached


async def test_attaching_while_it_detaches(kernels: KernelSide, pid: int) -> None:
    await kernels.attach(pid)
    before = tracer_of(pid)
    detaching = asyncio.create_task(kernels.detach())
    await asyncio.sleep(0)
    await kernels.attach(pid)
    await detaching
    assert tracer_of(pid) not in (0, before)
    assert kernels.attached
    await kernels.detach()


@pytest.mark.parametrize("turns", [1, 2, 5, 20])
async def test_killing_it_while_it_attaches(kernels: KernelSide, pid: int, turns: int) -> None:
    attaching = asyncio.create_task(kernels.attach(pid))
    for _ in range(turns):
        await asyncio.sleep(0)
    kernels.kill()
    with pytest.raises(NativeUnavailable):
        await attaching
    await kernels.detach()
    assert tracer_of(pid) == 0
