"""A program under a real gdb: what the session would do around a launch, and what it would be told."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from kernel_programs import KernelProgram

from pkdb_tui.engine.native.base import (
    ControllerEvent,
    ControllerLost,
    KernelStopped,
    NativeBreakpoint,
    NativePlacement,
    NativeStop,
    NativeVariable,
    PauseMissed,
    PlacementsChanged,
    ProcessEnded,
    StepKind,
    ThreadsChanged,
)
from pkdb_tui.engine.native.gdb import GdbController

HOST = Path(__file__).with_name("native_host.py")
PATIENCE = 15.0


class Ended(Exception):
    """The launch is over; `answer` is what the program computed."""

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__(answer)
        self.answer = answer


class Debugged:
    """One process, one controller, one kernel. Used as an asynchronous context manager."""

    def __init__(
        self, program: KernelProgram, *, threads: int = 2, count: int = 64, data: Sequence[float] = ()
    ) -> None:
        self.program = program
        self.threads = threads
        self.count = count
        self.data = list(data) or [float(i) for i in range(count)]
        self.controller = GdbController(self._told)
        self.hits: Counter[int] = Counter()
        self.events: asyncio.Queue[ControllerEvent | dict[str, Any]] = asyncio.Queue()
        self.changes: list[ThreadsChanged] = []
        self.placements: list[NativePlacement] = []  # those that changed by themselves
        self._change = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None
        self.process: asyncio.subprocess.Process

    async def __aenter__(self) -> Debugged:
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, str(HOST), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 26
        )
        await self._ask({"load": self.program.ready.binary})
        await self._answer()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._reader is not None:
            self._reader.cancel()
        await self.controller.detach()
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()

    # --- the program ---

    async def _ask(self, request: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        await self.process.stdin.drain()

    async def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(await self.process.stdout.readline())
        return answer

    async def _launch(self) -> None:
        await self._ask(
            {"binary": self.program.ready.binary, "threads": self.threads, "count": self.count, "data": self.data}
        )
        self._reader = asyncio.create_task(self._wait_for_end())

    async def _wait_for_end(self) -> None:
        try:
            answer = await self._answer()
        except ValueError:
            return  # the program was killed
        await self.controller.launch_ended()
        self.events.put_nowait(answer)

    def _told(self, event: ControllerEvent) -> None:
        match event:
            case KernelStopped(stop=stop):
                self.hits.update(stop.hits)
            case PlacementsChanged(placements=placements):
                self.placements += placements
                return
            case ThreadsChanged(hits=hits):
                self.hits.update(hits)
                self.changes.append(event)
                self._change.set()
                return
        self.events.put_nowait(event)

    # --- what a session does ---

    async def attach(self) -> None:
        await self.controller.attach(self.process.pid)
        await self.controller.load_kernel(self.program.ready)

    async def begin(self, *breakpoints: NativeBreakpoint) -> list[NativePlacement]:
        """Attach when not yet, place, and let the kernel go."""
        if not self.controller.attached:
            await self.attach()
        placements = await self.controller.place(breakpoints)
        await self.controller.launch_begun(self.program.ready)
        await self._launch()
        return placements

    def at(self, part: str, number: int = 1, **more: Any) -> NativeBreakpoint:
        """A breakpoint on the line that says `part`."""
        return NativeBreakpoint(id=number, source=self.program.script, line=self.program.line(part), **more)

    async def stop(self) -> NativeStop:
        """The next stop; anything else that happens is an error, but for a pause that found nobody in the kernel."""
        event = await asyncio.wait_for(self.events.get(), PATIENCE)
        while isinstance(event, PauseMissed):
            event = await asyncio.wait_for(self.events.get(), PATIENCE)
        if isinstance(event, dict):
            raise Ended(event)
        assert isinstance(event, KernelStopped), event
        return event.stop

    async def missed(self) -> None:
        """The next thing told is that a pause found nobody in a kernel."""
        event = await asyncio.wait_for(self.events.get(), PATIENCE)
        assert isinstance(event, PauseMissed), event

    async def end(self) -> dict[str, Any]:
        """What the program computed; a stop before that is an error."""
        event = await asyncio.wait_for(self.events.get(), PATIENCE)
        assert isinstance(event, dict), event
        return event

    async def lost(self) -> ControllerLost | ProcessEnded:
        while True:
            event = await asyncio.wait_for(self.events.get(), PATIENCE)
            if isinstance(event, ControllerLost | ProcessEnded):
                return event

    async def changed(self) -> ThreadsChanged:
        """The next change of threads after a stop."""
        self._change.clear()
        await asyncio.wait_for(self._change.wait(), PATIENCE)
        return self.changes[-1]

    async def run_out(self) -> tuple[int, dict[str, Any]]:
        """Continue from stop to stop until the end: (how many stops, what the program computed)."""
        stops = 0
        while True:
            try:
                await self.stop()
            except Ended as ended:
                return stops, ended.answer
            stops += 1
            await self.controller.resume()

    async def step(self, kind: StepKind, thread: int, **more: Any) -> NativeStop:
        await self.controller.step(kind, thread, **more)
        return await self.stop()

    async def step_out(self) -> tuple[int, dict[str, Any]]:
        """Step all threads until the end: (how many steps, what the program computed)."""
        steps = 0
        while True:
            try:
                await self.step(StepKind.STEP, 0, all_threads=True)
            except Ended as ended:
                return steps, ended.answer
            steps += 1

    async def place_of(self, thread: int) -> tuple[str, int]:
        """(function, line) of a thread's innermost kernel frame."""
        frame = next(f for f in await self.controller.frames(thread) if not f.glue)
        return frame.function, frame.line

    async def values(self, thread: int, level: int | None = None) -> dict[str, NativeVariable]:
        if level is None:
            level = next(f.level for f in await self.controller.frames(thread) if not f.glue)
        return {v.name: v for v in await self.controller.variables(thread, level)}
