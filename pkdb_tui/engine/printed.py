"""What code typed at a stop prints: read from its pipe, and told in whole lines."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import fcntl
import os
from collections.abc import Callable

CHUNK = 1 << 16
PIPE = 1 << 20  # bytes that the program can write ahead
READS = 4  # in one turn of the loop
MOST = 64  # reads for all that is there: a thread may go on writing
LONGEST = 1 << 16  # characters of a line that is waited for
TELL_SECONDS = 1 / 60


class Lines:
    """The reading end of a pipe. `told(text)` gets whole lines, at most about sixty times a second."""

    def __init__(self, descriptor: int, told: Callable[[str], None]) -> None:
        self._descriptor = descriptor
        self._told = told
        self._loop = asyncio.get_running_loop()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._parts: list[str] = []
        self._begun = ""  # a line whose end has not come yet
        self._timer: asyncio.TimerHandle | None = None
        self._open = True
        os.set_blocking(descriptor, False)
        with contextlib.suppress(OSError):  # a system that allows less: the program waits a little oftener
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE)
        self._loop.add_reader(descriptor, self._readable)

    def _readable(self) -> None:
        for _ in range(READS):
            if not self._take():
                return

    def _take(self) -> bool:
        """Read once; False at the end of what is there."""
        try:
            data = os.read(self._descriptor, CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self.close()
            return False
        self._parts.append(self._decoder.decode(data))
        if self._timer is None:
            self._timer = self._loop.call_later(TELL_SECONDS, self._tell)
        return True

    def drain(self) -> None:
        """Tell all that has been written so far, also a line that has no end yet."""
        budget = MOST
        while self._open and budget and self._take():
            budget -= 1
        self._tell()
        begun, self._begun = self._begun, ""
        if begun:
            self._told(begun)

    def _tell(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        text = self._begun + "".join(self._parts)
        self._parts = []
        lines, end, self._begun = text.rpartition("\n")
        if len(self._begun) > LONGEST:
            lines, end, self._begun = text, "\n", ""
        if end:
            self._told(lines)

    def close(self) -> None:
        if self._open:
            self._open = False
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
