"""The engine's end of the socketpair: requests with their replies, and events in order."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
from collections.abc import Callable
from typing import Any

from pkdb_tui.engine.errors import DebuggeeLost, PkdbError

Json = dict[str, Any]
LONGEST_LINE = 1 << 28
OWED = ("launchDone",)  # what the program waits for: asked however busy it is
OFF_LOOP = 1 << 16  # bytes beyond which a message is decoded in a thread


class Connection:
    """Requests to the debuggee. `on_event(name, body)` is called for each event, after the replies before it."""

    def __init__(self, on_event: Callable[[str, Json], None], on_lost: Callable[[], None]) -> None:
        self._on_event = on_event
        self._on_lost = on_lost
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._writer: asyncio.StreamWriter | None = None
        self._task: asyncio.Task[None] | None = None
        self.busy: PkdbError | None = None  # why nobody there can answer now

    async def open(self, ours: socket.socket) -> None:
        reader, self._writer = await asyncio.open_unix_connection(sock=ours, limit=LONGEST_LINE)
        self._task = asyncio.create_task(self._read(reader))

    @property
    def connected(self) -> bool:
        return self._writer is not None

    async def request(self, command: str, **arguments: Any) -> Json:
        """The reply's body. Raises PkdbError as the debuggee refuses, DebuggeeLost when it is gone."""
        if self._writer is None:
            raise DebuggeeLost("The program is not running.", "Type `restart` to run it again.")
        if self.busy is not None and command not in OWED:
            raise self.busy
        number = next(self._numbers)
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        self.post(command, number, **arguments)
        try:
            return await future
        finally:
            self._waiting.pop(number, None)

    def post(self, command: str, number: int | None = None, **arguments: Any) -> None:
        """Send without waiting for the reply, which is dropped unless someone waits for its number."""
        if self._writer is None:
            return
        message = {"id": next(self._numbers) if number is None else number, "command": command, "arguments": arguments}
        self._writer.write(json.dumps(message).encode() + b"\n")

    async def finish(self) -> None:
        """Take in what the program sent before it ended, then close."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=1.0)
        await self.close()

    async def close(self) -> None:
        self._drop()
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _drop(self) -> None:
        self.busy = None
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(DebuggeeLost("The program ended before it answered."))

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while line := await self._line(reader):
            message = json.loads(line) if len(line) < OFF_LOOP else await asyncio.to_thread(json.loads, line)
            if "reply" in message:
                self._settle(message)
                # Whoever waits for the reply goes on before the events that came after it.
                await asyncio.sleep(0)
            else:
                self._on_event(message["event"], message.get("body") or {})
        self._drop()
        self._on_lost()

    @staticmethod
    async def _line(reader: asyncio.StreamReader) -> bytes:
        try:
            line = await reader.readline()
        except (ConnectionError, ValueError):
            return b""
        return line if line.endswith(b"\n") else b""

    def _settle(self, message: Json) -> None:
        future = self._waiting.get(message["reply"])
        if future is None or future.done():
            return
        if message["ok"]:
            future.set_result(message.get("body") or {})
        else:
            future.set_exception(PkdbError(message["title"], message.get("hint", "")))
