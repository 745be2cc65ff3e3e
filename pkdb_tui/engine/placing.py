"""Placing: what the breakpoint book wants, taken to both sides of the program, and what they answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from pkdb_tui.engine.api import Breakpoint, BreakpointsChanged, BreakpointSpec, Phase
from pkdb_tui.engine.protocol import Placement

if TYPE_CHECKING:
    from pkdb_tui.engine.session import Session


class Placing:
    """Each change of the book is sent at once, or as soon as somebody can answer it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._unheard = False  # breakpoints were sent whose placements nobody could answer

    async def add(self, spec: BreakpointSpec, *, enabled: bool) -> Breakpoint:
        """See `Session.add_breakpoint`."""
        entry = self._session.book.add(spec, enabled=enabled)
        await self.changed()
        return entry.public()

    async def change(self, number: int, spec: BreakpointSpec, *, ignore_anew: bool) -> Breakpoint:
        """Give a breakpoint another specification; `ignore_anew` starts its ignore count again."""
        entry = self._session.book.change(number, spec, ignore_anew=ignore_anew)
        await self.changed()
        return entry.public()

    async def remove(self, ids: Sequence[int]) -> None:
        """Delete breakpoints. Raises BreakpointError for a number that isn't there."""
        self._session.book.remove(ids)
        await self.changed()

    async def enable(self, ids: Sequence[int], enabled: bool) -> None:
        """Enable or disable breakpoints. Raises BreakpointError for a number that isn't there."""
        for entry in [self._session.book[number] for number in ids]:
            entry.enabled = enabled
        await self.changed()

    async def changed(self) -> None:
        """The book is another one."""
        self._session.edits.carry()
        await self.send()
        await self._session.kernel_stops.breakpoints_changed()
        self._tell()

    def _tell(self) -> None:
        self._session.emit(BreakpointsChanged(breakpoints=self._session.breakpoints))

    @property
    def every_kernel_debugged(self) -> bool:
        """Whether launches without breakpoints need a debug build too: a watched element may change in any of them."""
        return self._session.settings["catchFaults"] or self._session.book.watching

    @property
    def python_blocked(self) -> bool:
        """Whether the program's side can't answer: Python's lock is held, by a kernel or by an endless expression."""
        return self.kernel_holds_lock or self._session.evaluator.overdue

    @property
    def kernel_holds_lock(self) -> bool:
        """Whether a kernel under way holds Python's lock."""
        kernel = self._session.kernels.kernel
        busy = self._session.phase in (Phase.RUNNING_KERNEL, Phase.STOPPED_KERNEL)
        return busy and kernel is not None and kernel.holds_lock

    async def send(self) -> None:
        """Send the whole book to the program's side, which answers where each breakpoint lies."""
        session = self._session
        if self.python_blocked:
            session.connection.post("settings", catchFaults=self.every_kernel_debugged)
            session.connection.post("setBreakpoints", breakpoints=session.book.requests())
            session.kernel_stops.place_unheard()
            self._unheard = True
            return
        if session.connection.connected:
            await session.connection.request("settings", catchFaults=self.every_kernel_debugged)
            body = await session.connection.request("setBreakpoints", breakpoints=session.book.requests())
            session.book.placed([msgspec.convert(placement, Placement) for placement in body["placements"]])

    async def hear(self) -> None:
        """Ask again for what could not be answered while a kernel held Python's lock."""
        if self._unheard:
            self._unheard = False
            await self.send()
            self._tell()

    def placed(self, placements: Sequence[dict[str, Any]]) -> None:
        """The program's side placed breakpoints by itself: a file of theirs was imported."""
        self._session.book.placed([msgspec.convert(placement, Placement) for placement in placements])
        self._tell()
