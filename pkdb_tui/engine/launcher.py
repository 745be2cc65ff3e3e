"""Starts the program on a terminal of its own, in a session of its own, and ends all of it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import json
import os
import pty
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable
from pathlib import Path

from pkdb_tui.engine.api import LaunchOptions
from pkdb_tui.engine.errors import LaunchError
from pkdb_tui.engine.held_output import HeldOutput
from pkdb_tui.engine.native.proc import session_members, thread_state
from pkdb_tui.engine.printed import Lines

ROOT = Path(__file__).resolve().parents[2]
BOOT = ROOT / "pkdb_tui" / "engine" / "debuggee" / "__main__.py"
CHUNK = 1 << 16
READS = 16  # in one turn of the loop
HELD = 1 << 22  # bytes of output kept for a listener that doesn't keep up; older ones are dropped and counted
FLUSH_SECONDS = 1 / 60

Output = Callable[[bytes, int], None]


class Program:
    """The running program: its process, its terminal, and our end of its socketpair.

    `on_output(data, dropped)` gets what it prints, at most about sixty times a second; `on_exit(status)` the status
    as subprocess tells it (negative: a signal), after all output. `on_console(text)` gets what evaluated code prints.
    """

    def __init__(
        self,
        options: LaunchOptions,
        on_output: Output,
        on_exit: Callable[[int], None],
        on_console: Callable[[str], None],
    ) -> None:
        self._on_output = on_output
        self._on_exit = on_exit
        self._loop = asyncio.get_running_loop()
        self._held = HeldOutput(HELD)
        self._flush: asyncio.TimerHandle | None = None
        self._input = b""
        self._reaped = asyncio.Event()
        self.socket, theirs = socket.socketpair()
        # Our own end of the program's side keeps the terminal there while the program has closed it: reading doesn't
        # end, and what it opens as /dev/tty later is still it.
        self.master, self._slave = pty.openpty()
        os.set_blocking(self.master, False)
        self._open = True
        self.terminal = os.fstat(self._slave).st_rdev
        self.resize(options.columns, options.rows)
        printed, printing = os.pipe()
        self.console = Lines(printed, on_console)
        try:
            self.process = _spawn(options, self._slave, theirs, printing)
        except OSError as error:
            self.console.close()
            self.socket.close()
            os.close(self.master)
            os.close(self._slave)
            raise LaunchError(f"{_python(options)} can't be started: {error.strerror}.", "Check --python.") from error
        finally:
            os.close(printing)
            theirs.close()
        self.pid = self.process.pid
        self._loop.add_reader(self.master, self._readable)
        self._pidfd = os.pidfd_open(self.pid)
        self._loop.add_reader(self._pidfd, self._ended)

    # --- terminal ---

    def resize(self, columns: int, rows: int) -> None:
        """Tell the program the size of its terminal; nothing once it is let go of."""
        if self._open:
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", max(rows, 1), max(columns, 1), 0, 0))

    def write(self, data: bytes) -> None:
        """Type into the program's terminal; what doesn't fit now follows as it reads."""
        if not self._open:
            return
        self._input += data
        self._writable()

    def _writable(self) -> None:
        try:
            self._input = self._input[os.write(self.master, self._input) :] if self._open else b""
        except BlockingIOError:
            pass
        except OSError:
            self._input = b""
        if self._input:
            self._loop.add_writer(self.master, self._writable)
        elif self._open:
            self._loop.remove_writer(self.master)

    def _readable(self) -> None:
        # A terminal hands out 4 KiB a read: a turn of the loop for each would slow a program that prints flat out.
        for _ in range(READS):
            if not self._take(CHUNK):
                return

    def _take(self, most: int) -> bool:
        """Read once; False at the end of what is there."""
        try:
            data = os.read(self.master, most)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            data = b""
        if not data:  # the terminal is hung up: the leader of its session ended
            self._loop.remove_reader(self.master)
            return False
        self._held.add(data)
        self._flush_soon()
        return True

    def _flush_soon(self) -> None:
        if self._flush is None:
            self._flush = self._loop.call_later(FLUSH_SECONDS, self._flush_lines)

    def drain(self) -> None:
        """Deliver everything the program has written so far: to be called before a stop is shown."""
        self._take_all()
        self.flush()

    def drain_lines(self) -> None:
        """Deliver every whole line written so far: to be called before something is said while the program runs on.

        It may be in the midst of writing a line, which is not to be split.
        """
        self._take_all()
        self._deliver(*self._held.take_lines())

    def _take_all(self) -> None:
        budget = HELD // CHUNK
        while self._open and budget and self._take(CHUNK):
            budget -= 1

    def _flush_lines(self) -> None:
        self._flush = None
        self._deliver(*self._held.take_later())
        if self._held:
            self._flush_soon()

    def flush(self) -> None:
        """Deliver what has been read."""
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        self._deliver(*self._held.take())

    def _deliver(self, data: bytes, dropped: int) -> None:
        if data or dropped:
            self._on_output(data, dropped)

    def _let_go(self) -> None:
        if self._open:
            self._open = False
            self._loop.remove_reader(self.master)
            self._loop.remove_writer(self.master)
            os.close(self.master)
            os.close(self._slave)

    # --- ends ---

    def _ended(self) -> None:
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        status = self.process.poll()
        if status is not None:
            self._finish(status)
        else:  # a native debugger holds it, and lets us have it when it is done or gone: the loop can't wait for that
            threading.Thread(target=self._reap, daemon=True).start()

    def _reap(self) -> None:
        status = self.process.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody asks any more
            self._loop.call_soon_threadsafe(self._finish, status)

    @property
    def over(self) -> bool:
        """Whether it has ended, told or not."""
        return self.process.poll() is not None or self.dying

    @property
    def dying(self) -> bool:
        """Whether it has ended but can't be reaped yet, because a native debugger holds it or threads of it."""
        return thread_state(self.pid, self.pid) in ("Z", "X")

    def _finish(self, status: int) -> None:
        self._reaped.set()
        self.drain()
        self.console.drain()
        self._on_exit(status)

    def kill(self) -> None:
        """End the program and everything in its session, and let go of the terminal; safe to call twice."""
        for leader in {self.pid, *session_members(self.pid).values()}:
            try:
                os.killpg(leader, signal.SIGKILL)
            except ProcessLookupError:
                continue
            except PermissionError:
                continue  # a child that changed its user: not ours to end
        self._let_go()
        self.console.close()

    async def wait(self) -> None:
        """Until the process is reaped; to be called after `kill`."""
        await self._reaped.wait()


def _python(options: LaunchOptions) -> str:
    return options.python or sys.executable


def _spawn(options: LaunchOptions, slave: int, theirs: socket.socket, printing: int) -> subprocess.Popen[bytes]:
    source = _in_memory(options.source) if options.script == "-" else -1
    config = {
        "fd": theirs.fileno(),
        "console": printing,
        "source": source,
        "script": options.script,
        "module": options.module,
        "args": list(options.arguments),
        "runtime": options.runtime,
        "root": str(ROOT),
    }
    environment = {**os.environ, **options.environment, "PKDB_DEBUGGEE": json.dumps(config)}
    for name in ("COLUMNS", "LINES"):  # they describe another terminal
        environment.pop(name, None)
    try:
        return subprocess.Popen(
            [_python(options), str(BOOT)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=options.directory or None,
            env=environment,
            pass_fds=[fd for fd in (theirs.fileno(), printing, source) if fd >= 0],
            start_new_session=True,
            # The terminal becomes the new session's own, so that /dev/tty, hang-up and Ctrl-C work in it.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
    finally:
        if source >= 0:
            os.close(source)


def _in_memory(text: str) -> int:
    """A descriptor to read a text from: standard input itself is the program's terminal."""
    descriptor = os.memfd_create("source")
    with open(descriptor, "w", encoding="utf-8", closefd=False) as stream:
        stream.write(text)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
