"""Where plain mode's commands are typed: a terminal, or a pipe or file."""

from __future__ import annotations

import asyncio
import os
import select
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

CHUNK = 1 << 16


class LineInput:
    """Standard input, a line at a time.

    It is read below Python's buffers: a lock held by a thread left behind would break the interpreter's end, and at a
    Ctrl-C it must be known which lines were complete.
    """

    def __init__(self) -> None:
        self.terminal = sys.stdin.isatty()
        self.asking = ""  # the prompt that stands there while a line is waited for
        self._typed = b""
        self._over = False
        self._more = asyncio.Event()
        self._other: Callable[[bytes], None] | None = None  # who is given what is typed now

    async def line(self, prompt: str) -> str | None:
        """The next line without its end; None at the end of input."""
        if not self.terminal:
            return await self._piped()
        self.asking = prompt
        self.show_prompt()
        loop, descriptor = asyncio.get_running_loop(), sys.stdin.fileno()
        loop.add_reader(descriptor, self._take)
        try:
            while not (self._over or self.waiting):
                self._more.clear()
                await self._more.wait()
        finally:
            loop.remove_reader(descriptor)
            self.asking = ""
        return self._next()

    def show_prompt(self) -> None:
        sys.stdout.write(self.asking)
        sys.stdout.flush()

    def back(self) -> None:
        """The shell may have set up its terminal as it likes it."""
        if self.terminal:
            _set_local_flags(termios.tcgetattr(sys.stdin)[3] | termios.NOFLSH)

    @property
    def waiting(self) -> bool:
        """Whether a whole line has been typed that nobody has taken yet."""
        return b"\n" in self._typed

    def drop(self) -> None:
        """Forget the line that has only been begun, as a terminal does at Ctrl-C; those typed before it count."""
        if not self.terminal:
            return
        while select.select([sys.stdin], [], [], 0)[0] and self._take():
            pass
        termios.tcflush(sys.stdin, termios.TCIFLUSH)

    @contextmanager
    def given_to(self, other: Callable[[bytes], None]) -> Iterator[None]:
        """Meanwhile what is typed is for somebody else."""
        loop, descriptor = asyncio.get_running_loop(), sys.stdin.fileno()
        self._other = other
        loop.add_reader(descriptor, self._take)
        try:
            yield
        finally:
            loop.remove_reader(descriptor)
            self._other = None

    def _take(self) -> bool:
        """Read once; False at the end."""
        try:
            data = os.read(sys.stdin.fileno(), CHUNK)
        except OSError:  # the terminal is gone
            data = b""
        if self._other is not None:
            self._other(data)
        else:
            self._typed += data
            self._over = not data
            self._more.set()
        return bool(data)

    def _next(self) -> str | None:
        if not self._typed:
            return None
        line, _, self._typed = self._typed.partition(b"\n")
        return line.decode(errors="replace")

    async def _piped(self) -> str | None:
        """A file can't be waited for by the loop, so a thread reads, which may be left waiting when the run ends."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()

        def wait() -> None:
            while not (self._over or self.waiting):
                data = os.read(sys.stdin.fileno(), CHUNK)
                self._typed += data
                self._over = not data
            with suppress(RuntimeError):  # the loop is closed: nobody asks any more
                loop.call_soon_threadsafe(lambda: None if done.done() else done.set_result(None))

        threading.Thread(target=wait, daemon=True).start()
        await done
        return self._next()


@contextmanager
def nothing_flushed() -> Iterator[None]:
    """Keep the terminal from throwing away, at a Ctrl-C, what was written to it and not yet shown: stops, a prompt."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    _set_local_flags(before[3] | termios.NOFLSH)
    try:
        yield
    finally:
        _set_local_flags(before[3])


def _set_local_flags(flags: int) -> None:
    with suppress(termios.error):  # the terminal is gone
        now = termios.tcgetattr(sys.stdin)
        now[3] = flags
        termios.tcsetattr(sys.stdin, termios.TCSANOW, now)
