"""A program in a pseudo-terminal: keys in, screen text out, each with the time it passed the terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

ESCAPE = re.compile(
    rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # operating system commands
    rb"|\x1b[P_^X][^\x1b]*\x1b\\"  # device control strings
    rb"|\x1b\[[0-?]*[ -/]*[@-~]"  # control sequences
    rb"|\x1b[()*+][A-Z0-9]|\x1b[=>78cDEHMNOZ]|[\x0e\x0f]"
)
QUIET = 0.03  # seconds without output after which a repaint counts as complete


class Timeout(RuntimeError):
    """What was waited for did not appear on the screen."""


class Terminal:
    """One program on a terminal of its own; used as a context manager, it leaves no process behind."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        directory: Path,
        columns: int = 120,
        rows: int = 40,
    ) -> None:
        self.started = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            try:
                os.execvpe(command[0], list(command), dict(environment))
            except OSError as error:
                print(f"{command[0]} can't be started: {error}", file=sys.stderr)
            os._exit(127)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.raw = bytearray()  # since the last mark
        self.last = self.started  # when the last output came
        self.ended = False

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def text(self) -> str:
        """Output since the last mark without escape sequences."""
        return ESCAPE.sub(b"", bytes(self.raw)).decode("utf-8", "replace")

    def mark(self) -> float:
        """Forgets the output so far; returns the time."""
        self.raw.clear()
        return time.perf_counter()

    def send(self, keys: str) -> float:
        """Types keys after a mark; returns the time they were sent."""
        self.mark()
        os.write(self.fd, keys.encode())
        return time.perf_counter()

    def pump(self, timeout: float) -> bool:
        """Takes what output there is within `timeout` seconds; False when none came."""
        if self.ended or not select.select([self.fd], [], [], max(timeout, 0))[0]:
            return False
        try:
            data = os.read(self.fd, 1 << 18)
        except OSError:
            data = b""
        if not data:
            self.ended = True
            return False
        self.last = time.perf_counter()
        self.raw += data
        return True

    def wait_for(self, pattern: str, timeout: float = 30.0) -> float:
        """The time at which text matching `pattern` had appeared since the last mark. Raises Timeout."""
        deadline = time.perf_counter() + timeout
        wanted = re.compile(pattern)
        while not wanted.search(self.text):
            left = deadline - time.perf_counter()
            if (not self.pump(left) and self.ended) or left <= 0:
                raise Timeout(f"{pattern!r} did not appear; the last text was {self.text[-400:]!r}")
        return self.last

    def settle(self, quiet: float = QUIET, timeout: float = 5.0) -> float:
        """Waits until nothing was drawn for `quiet` seconds; returns the time of the last drawing."""
        deadline = time.perf_counter() + timeout
        while time.perf_counter() < deadline and self.pump(quiet):
            pass
        return self.last

    def drain(self, timeout: float) -> None:
        """Reads until the program ends, keeping only the end of what it wrote. Raises Timeout."""
        deadline = time.perf_counter() + timeout
        while not self.ended:
            if time.perf_counter() > deadline:
                raise Timeout(f"The program did not end within {timeout:.0f} s.")
            self.pump(0.5)
            del self.raw[:-4096]

    def memory(self) -> int:
        """Resident bytes of the program itself (not its children)."""
        fields = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        line = next(field for field in fields if field.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024

    def close(self) -> None:
        """Ends the program: by hangup first, so that it can end what it started, then for certain."""
        os.close(self.fd)
        for number, patience in ((signal.SIGHUP, 2.0), (signal.SIGTERM, 1.0), (signal.SIGKILL, 5.0)):
            if self._gone(0.0):
                return
            os.kill(self.pid, number)
            if self._gone(patience):
                return

    def _gone(self, patience: float) -> bool:
        deadline = time.perf_counter() + patience
        while True:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                return True
            if time.perf_counter() >= deadline:
                return False
            time.sleep(0.01)
