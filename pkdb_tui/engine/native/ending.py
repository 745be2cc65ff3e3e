"""The end of the debugged process, seen from outside of the debugger."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable

from pkdb_tui.engine.native.proc import exit_of

GRACE = 0.3  # seconds the debugger has to tell the end itself


class EndWatch:
    """Calls `ended` with exit status and signal name when a process is over and the debugger has not said so."""

    def __init__(self, ended: Callable[[int | None, str], None]) -> None:
        self._ended = ended
        self._pid = 0
        self._handle = -1
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, pid: int) -> None:
        """Where the system has no process handles (Linux before 5.3) only the debugger tells."""
        self.cancel()
        with contextlib.suppress(OSError):
            self._pid, self._handle = pid, os.pidfd_open(pid)
            asyncio.get_running_loop().add_reader(self._handle, self._over)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._handle >= 0:
            asyncio.get_running_loop().remove_reader(self._handle)
            os.close(self._handle)
        self._handle, self._timer = -1, None

    def _over(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._handle)
        # Read now: it is gone as soon as its parent has collected it.
        self._timer = loop.call_later(GRACE, self._tell, *exit_of(self._pid))

    def _tell(self, status: int | None, signal: str) -> None:
        self.cancel()
        self._ended(status, signal)
