"""Keys one at a time: each goes where the focus is once the key before it has had its effect.

A terminal delivers keys in bursts (typed ahead, or sent by a script). Textual routes each by the focus of the moment it
arrives, so that what is meant for a prompt would run as commands before the prompt is there.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.message_pump import MessagePump

from pkdb_tui.panes.guard import errors_shown

if TYPE_CHECKING:
    from textual.app import App
    from textual.message import Message

ROUNDS = 3  # a key's event, the message it makes, and the message that one makes
PATIENCE = 2.0  # seconds; what takes longer does not hold up the keyboard
LONE_ESCAPE = re.compile(r"(?<=\x1b)(?=[^\[OP\]X^_\x1b])")  # Esc before what no terminal sequence begins with


class Typeahead:
    """The keyboard's queue; `route` gives an event to what has the focus, `settled` is false while the focus moves."""

    def __init__(
        self, app: App[Any], route: Callable[[events.Event], Awaitable[None]], settled: Callable[[], bool]
    ) -> None:
        self._app = app
        self._route = route
        self._settled = settled
        self._waiting: deque[events.Event] = deque()
        self.busy = False  # a key has yet to have its effect
        self._work: asyncio.Task[None] | None = None

    async def add(self, event: events.Event) -> None:
        """A key or a paste; it is routed at once when none is under way."""
        self._waiting.append(event)
        if not self.busy:
            self.busy = True
            target = await self._next()
            self._work = asyncio.create_task(self._rest(target))

    async def _next(self) -> MessagePump:
        target = self._target()
        with errors_shown(self._app):
            await self._route(self._waiting.popleft())
        return target

    async def _rest(self, target: MessagePump) -> None:
        try:
            await self._effect(target)
            while self._waiting:
                await self._effect(await self._next())
        finally:
            self.busy = False

    def _target(self) -> MessagePump:
        return self._app.focused or self._app.screen

    async def _effect(self, target: MessagePump) -> None:
        """Until the key has gone from the focus up to the app, and what it opened has the focus."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                rounds = 0
                while rounds < ROUNDS or not self._settled():
                    rounds += 1
                    for pump in dict.fromkeys([*self._path(target), *self._path(self._target())]):
                        done = asyncio.Event()
                        if pump.call_later(done.set):  # behind all that it has to do so far
                            await done.wait()

    def _path(self, pump: MessagePump | None) -> Iterator[MessagePump]:
        while pump is not None:
            yield pump
            pump = pump._parent
        yield self._app


class KeyParser(XTermParser):
    """Textual's, but Esc and a key right behind it are these two keys, as typed, and no Alt."""

    _escaped = False

    def feed(self, data: str) -> Iterable[Message]:
        if data and self._escaped and data[0] not in "[OP]X^_\x1b":
            yield from self._end_escape()
        first, *rest = LONE_ESCAPE.split(data)
        yield from super().feed(first)
        for part in rest:
            yield from self._end_escape()
            yield from super().feed(part)
        self._escaped = data.endswith("\x1b")

    def tick(self) -> Iterable[Message]:
        ended = self._timeout_time
        yield from super().tick()
        self._escaped = self._escaped and self._timeout_time == ended

    def _end_escape(self) -> Iterable[Message]:
        if self._timeout_time is not None:
            self._timeout_time = 0.0
            yield from super().tick()
        self._escaped = False


def read_keys_as_typed() -> None:
    """Have the terminal's driver parse with `KeyParser`; it offers no other way to choose its parser."""
    setattr(linux_driver, "XTermParser", KeyParser)  # noqa: B010 - not a name it exports
