"""What controllers have in common that speak MI with a debugger of gdb's kind: its life, its end, its memory."""

from __future__ import annotations

import asyncio
import json
import logging
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from pkdb_tui.engine.errors import NativeLost
from pkdb_tui.engine.native.base import Controller, ControllerHangs, ControllerLost, Listener, ProcessEnded
from pkdb_tui.engine.native.ending import EndWatch
from pkdb_tui.engine.native.mi import PATIENCE, MiProcess, Record, quote
from pkdb_tui.engine.native.proc import thread_state

log = logging.getLogger(__name__)

SETTINGS = (
    "set pagination off", "set confirm off", "set width 0", "set height 0", "set auto-load off",
    "set auto-solib-add off", "set debuginfod enabled off", "set print thread-events off", "set mi-async on",
    "set print frame-arguments none", "set print entry-values no",
    "set libthread-db-search-path /nonexistent", "set breakpoint pending off", "set exec-file-mismatch off",
    "set print inferior-events off",
    "set follow-fork-mode parent", "set detach-on-fork on", "set history save off", "set python print-stack none",
)  # fmt: skip


class MiController(Controller):
    """One debugger process; `debugger` is what messages call it."""

    debugger = "gdb"

    def __init__(self, listener: Listener) -> None:
        super().__init__(listener)
        self.pid = 0
        self.mi = MiProcess(self._on_record, self._on_end, self._on_hang, self.set_free)
        self._attached = False
        self._detaching = False
        self._end = EndWatch(self._program_ended)
        self._views: dict[int, dict[str, Any]] = {}  # what a stop looks like in each thread that was looked at

    @abstractmethod
    def cancel(self) -> None:
        """Make no more sense of stops, and go on with no step."""

    def set_free(self) -> None:
        """What a debugger that is gone, or is about to be ended, has left in the program doesn't end it."""

    def gone(self) -> None:
        """The debugger has ended: whoever waits for a stop waits in vain."""

    @abstractmethod
    def _on_record(self, record: Record) -> None: ...

    # --- transport ---

    async def ask(self, name: str, argument: Any = None) -> Any:
        """One of the commands that run inside the debugger."""
        return await self.mi.command(f"-pkdb-{name} {quote(json.dumps(argument))}")

    @property
    def attached(self) -> bool:
        return self._attached and self.mi.running

    @property
    def hanging(self) -> bool:
        return self.mi.hang.hanging

    def hurry(self, wanted: bool) -> None:
        self.mi.hang.hurry(wanted)

    async def answered(self) -> None:
        await self.mi.answered()

    def kill(self) -> None:
        self._attached, self._detaching = False, True
        self.mi.kill()

    # --- ends ---

    def lost_sight(self, error: Exception) -> None:
        """Nobody can say any more where threads stand: they must not be held for ever. A program's end tells itself."""
        log.error("Threads can't be followed", exc_info=error)
        if thread_state(self.pid, self.pid) not in ("", "Z", "X"):
            self.mi.give_up(f"it can't say where threads stopped ({str(error).rstrip('.')}) and was ended")

    def watched(self, task: asyncio.Task[None]) -> asyncio.Task[None]:
        """A task that follows threads; when it fails nothing else would."""
        task.add_done_callback(self._followed)
        return task

    def _followed(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None and not isinstance(error, NativeLost):
            assert isinstance(error, Exception)
            self.lost_sight(error)

    def _ended(self, body: Mapping[str, Any]) -> None:
        """A `stopped` record says that the program has ended."""
        self._attached = False
        code = body.get("exit-code")
        status = int(str(code), 8) if code is not None else 0 if body.get("reason") == "exited-normally" else None
        self._end.cancel()
        self.cancel()
        self.listener(ProcessEnded(status=status, signal=str(body.get("signal-name", ""))))

    def _program_ended(self, status: int | None, signal: str) -> None:
        """The end of a program whose threads it all holds is not told by the debugger, nor to its parent."""
        self._attached, self._detaching = False, True
        self.cancel()
        self.mi.kill()
        self.listener(ProcessEnded(status=status, signal=signal))

    def _on_end(self, reason: str) -> None:
        was, self._attached = self._attached, False
        self.cancel()
        self._end.cancel()
        self.gone()
        if was and not self._detaching:
            self.set_free()
            self.listener(ControllerLost(reason=f"{reason.replace('it', self.debugger, 1)}."))

    def _on_hang(self, seconds: float) -> None:
        self.listener(ControllerHangs(seconds=seconds, limit=PATIENCE))

    # --- memory ---

    async def read_memory(self, regions: Sequence[tuple[int, int]]) -> list[bytes]:
        if not regions:
            return []
        return [bytes.fromhex(text) for text in await self.ask("read", {"regions": [list(r) for r in regions]})]

    async def write_memory(self, address: int, data: bytes) -> None:
        self._views = {}
        await self.ask("write", {"address": address, "data": data.hex()})

    async def send(self, command: str) -> str:
        self._views = {}
        return await self.mi.console(command)
