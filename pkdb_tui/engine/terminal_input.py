"""Whether the program waits for what is typed: a thread of it is blocked in a system call that reads its terminal.

Linux tells the system call of each thread in /proc (numbers of x86-64); where it doesn't, nobody is said to wait.
"""

from __future__ import annotations

import asyncio
import os
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pkdb_tui.engine.api import InputWanted

if TYPE_CHECKING:
    from pkdb_tui.engine.session import Session

PERIOD = 0.2  # seconds between two looks at a program that runs
SHARE = 0.02  # of the time that looking may take, where there are many threads
MOST_THREADS = 256  # of a process that are looked at
CONTROLLING = os.makedev(5, 0)  # /dev/tty
READ, READV, POLL, SELECT, EPOLL_WAIT, PSELECT, PPOLL, EPOLL_PWAIT, EPOLL_PWAIT2 = 0, 19, 7, 23, 232, 270, 271, 281, 441
FOREVER = 0xFFFFFFFF  # a time limit of -1, as an argument of 32 bits


def waits_for(pid: int, terminal: int) -> bool:
    """Whether a thread of the process, or of one it started, waits to read the terminal of that device number."""
    return any(
        any(_is_terminal(process, descriptor, terminal) for descriptor in _awaited(process, thread))
        for process in _family(pid)
        for thread in _threads(process)[:MOST_THREADS]
    )


def _family(pid: int) -> Iterator[int]:
    """The process and those it started, and those they started."""
    yield pid
    for thread in _threads(pid)[:MOST_THREADS]:
        with suppress(OSError):
            for child in Path(f"/proc/{pid}/task/{thread}/children").read_text().split():
                yield from _family(int(child))


def _threads(pid: int) -> Sequence[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return ()  # it has ended


def _is_terminal(pid: int, descriptor: int, terminal: int) -> bool:
    try:
        return os.stat(f"/proc/{pid}/fd/{descriptor}").st_rdev in (terminal, CONTROLLING)
    except OSError:
        return False


def _awaited(pid: int, thread: str) -> list[int]:
    """The descriptors that a thread waits to read, with no limit of time; none while it runs."""
    try:
        words = Path(f"/proc/{pid}/task/{thread}/syscall").read_text().split()
        number, *arguments = [int(word, 0) for word in words[:7]]
        return _descriptors(pid, number, arguments)
    except (OSError, ValueError, struct.error):
        return []  # it runs, has ended, or may not be looked at


def _descriptors(pid: int, number: int, arguments: Sequence[int]) -> list[int]:
    first, second, third, fourth, fifth = arguments[:5]
    if number in (READ, READV):
        return [first]
    if number in (SELECT, PSELECT) and second and not fifth:
        bits = int.from_bytes(_memory(pid, second, (first + 7) // 8), "little")
        return [descriptor for descriptor in range(first) if bits >> descriptor & 1]
    if (number == POLL and third & FOREVER == FOREVER) or (number == PPOLL and not third):
        return [descriptor for descriptor, _ in struct.iter_unpack("=ihxx", _memory(pid, first, second * 8))]
    if (number in (EPOLL_WAIT, EPOLL_PWAIT) and fourth & FOREVER == FOREVER) or (number == EPOLL_PWAIT2 and not fourth):
        rows = Path(f"/proc/{pid}/fdinfo/{first}").read_text().splitlines()
        return [int(row.split()[1]) for row in rows if row.startswith("tfd:")]
    return []


def _memory(pid: int, address: int, count: int) -> bytes:
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        return os.pread(memory.fileno(), min(count, 1 << 16), address)


class TerminalInput:
    """Looks at the program while it runs, and tells each change as `InputWanted`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.wanted = False
        self._next: asyncio.TimerHandle | None = None
        self._took = 0.0  # seconds that the last look took

    def follow(self) -> None:
        """To be called when the program goes on, stops or ends, and when an evaluation begins."""
        if not self._runs():
            self._tell(False)
        elif self._next is None:
            self._next = asyncio.get_running_loop().call_later(max(PERIOD, self._took / SHARE), self._look)

    def _runs(self) -> bool:
        return self._session.phase.running or self._session.evaluator.under_way

    def _look(self) -> None:
        self._next = None
        program = self._session.program
        if program is not None and self._runs():
            began = time.monotonic()
            wanted = waits_for(program.pid, program.terminal)
            self._took = time.monotonic() - began
            if wanted:
                program.drain()  # its question comes first
            self._tell(wanted)
        self.follow()

    def _tell(self, wanted: bool) -> None:
        if wanted != self.wanted:
            self.wanted = wanted
            self._session.emit(InputWanted(wanted=wanted))
