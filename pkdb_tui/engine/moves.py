"""Moves: the verbs that let the program go on, one at a time, and the pause that stops it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from enum import StrEnum
from typing import TYPE_CHECKING

from pkdb_tui.engine.api import Phase, StopSnapshot
from pkdb_tui.engine.errors import DebuggeeLost, NativeLost, PkdbError, WrongPhase

if TYPE_CHECKING:
    from pkdb_tui.engine.session import Session

PAUSE_GRACE = 0.6  # until a pause that nobody answered is taken to a native debugger


class Verb(StrEnum):
    """Ways to go on. FINISH is gdb's: out of this frame, from the outermost kernel frame to the end of the launch."""

    CONTINUE = "continue"
    NEXT = "next"
    STEP = "step"
    FINISH = "finish"
    UNTIL = "until"


PYTHON_VERBS = {Verb.FINISH: "return"}


class Moves:
    """One verb at a time moves the program; another is refused as it is while the program runs."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._moving: asyncio.Event | None = None  # set when the verb under way has let the program go
        self._moved_from = 0  # the generation of the stop that it moves from
        self._pausing = -1  # the generation in which a pause was asked for
        self._in_kernel_heard = -1  # the generation in which Python answered a pause from within a launch

    @contextlib.asynccontextmanager
    async def _one_move(self) -> AsyncIterator[StopSnapshot]:
        """The stop to go on from."""
        session = self._session
        session.life.require_started()
        while self._moving is not None:
            if session.generation == self._moved_from:
                raise WrongPhase("The program is running.", "Pause it first.")
            await self._moving.wait()  # its stop was told before its reply
        snapshot = session.require_stop()
        moving = self._moving = asyncio.Event()
        self._moved_from = session.generation
        try:
            yield snapshot
        finally:
            if self._moving is moving:
                self._moving = None
            moving.set()

    async def resume(self, verb: Verb, *, line: int, threads: str, all_threads: bool) -> None:
        """See `Session.resume`."""
        session = self._session
        async with self._one_move() as snapshot:
            if session.phase is Phase.STOPPED_KERNEL:
                await session.kernel_stops.resume(verb, line=line, threads=threads, all_threads=all_threads)
                return
            frame = session.places[snapshot.frame].index if session.places else 0
            await session.connection.request("resume", verb=PYTHON_VERBS.get(verb, verb.value), line=line, frame=frame)
            session.enter(Phase.RUNNING_PYTHON)

    async def jump(self, line: int) -> None:
        """See `Session.jump`."""
        session = self._session
        async with self._one_move():
            if session.phase is Phase.STOPPED_KERNEL:
                raise WrongPhase("A kernel can't jump.", "Jump at a stop in Python.")
            session.unsettle()
            try:
                await session.connection.request("jump", line=line)
            except PkdbError:
                session.settle()
                raise

    async def debug(self, text: str) -> None:
        """See `Session.debug`."""
        session = self._session
        async with self._one_move() as snapshot:
            if session.phase is Phase.STOPPED_KERNEL:
                raise WrongPhase(
                    "A kernel is stopped, and code beside it can't stop at breakpoints of its own.",
                    "Without `debug` it is evaluated here, unseen by breakpoints; or go on to a stop in Python first.",
                )
            if text:
                frame = session.places[snapshot.frame].index if session.places else 0
                await session.connection.request("debugEvaluate", expression=text, frame=frame)
            else:
                await session.connection.request("endDebugged")
            session.enter(Phase.RUNNING_PYTHON)

    async def pause(self) -> None:
        """See `Session.pause`."""
        session = self._session
        with session.kernels.hurried():
            goes = session.phase.running or self.moving
            await session.kernels.answered()
            if self._moving is not None:
                await self._moving.wait()
            await session.kernel_stops.coped()
            if goes and session.phase.stopped:
                return  # the verb failed or stopped again at once: it stands, as was asked
            try:
                await self._pause()
            except NativeLost:
                await session.kernel_stops.coped()
                await self._pause()
            await session.kernel_stops.ready()

    @property
    def moving(self) -> bool:
        """Whether a verb is about to let the program go."""
        return self._moving is not None

    async def _pause(self) -> None:
        session = self._session
        if session.phase is Phase.STOPPED_KERNEL:
            await session.kernel_stops.pause_rest()
            return
        if not session.phase.running:
            raise WrongPhase(f"The program is {session.phase.value}; there is nothing to pause.")
        if not session.connection.connected:
            raise DebuggeeLost(
                "The program closed the debugger's connection and can't be stopped.",
                "`quit` ends it, `restart` runs it anew.",
            )
        self._pausing = session.generation
        if session.phase is Phase.RUNNING_KERNEL:
            await session.kernel_stops.interrupt()
        else:
            self.pause_in_python()

    @property
    def pausing(self) -> bool:
        """Whether a pause was asked for that no stop has answered yet."""
        return self._pausing == self._session.generation

    def take_pause(self) -> bool:
        """Whether a pause waits to be answered; whoever asks sees to that."""
        waits, self._pausing = self.pausing, -1
        return waits

    def pause_in_python(self) -> None:
        """Let the program's side stop, at a Python line or, by a native debugger, in the kernel that it says runs."""
        self._in_kernel_heard = -1
        self._session.connection.post("pause")
        self._session.spawn(self._pause_natively(self._session.generation))

    def heard_in_kernel(self) -> None:
        """Python answered a pause: it is in a launch, and can't stop before that ends."""
        self._in_kernel_heard = self._session.generation

    async def _pause_natively(self, generation: int) -> None:
        """A kernel that holds the interpreter's lock leaves no Python to answer a pause."""
        session = self._session
        await asyncio.sleep(PAUSE_GRACE)
        answered = self._in_kernel_heard == generation
        if session.generation == generation and session.phase is Phase.RUNNING_PYTHON and not answered:
            with session.kernels.hurried():
                await session.kernel_stops.interrupt()
