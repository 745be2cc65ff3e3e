"""Frees a program from a debugger that died: takes its breakpoints out, and lets go what it had stopped."""

from __future__ import annotations

import logging
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

from pkdb_tui.engine.native.proc import session_members

log = logging.getLogger(__name__)

# What a breakpoint is in memory, by machine; elsewhere it isn't known, and nothing is touched.
BREAKPOINT = {"x86_64": b"\xcc", "i686": b"\xcc", "aarch64": b"\x00\x00\x20\xd4"}.get(os.uname().machine, b"")
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) r[w-]xp ([0-9a-f]+) \S+ \d+ +(/.*)")
_CHANGED = re.compile(r"Anonymous: +(\d+) kB")


def set_free(pid: int) -> int:
    """How many breakpoints were taken out of the code of a process and of those that it forked.

    Code that was written to is compared with its file, so nothing needs to be known of who wrote what.
    """
    freed = 0
    for member in {pid, *session_members(pid)}:
        try:
            restored = _restore(member)
            freed += restored
            if restored or member == pid:
                # A stop that was asked for and never collected would become one that nobody ends.
                os.kill(member, signal.SIGCONT)
        except OSError as error:
            log.warning("Process %d can't be freed of breakpoints: %s", member, error)
    return freed


def _restore(pid: int) -> int:
    count = 0
    for start, length, offset, path in _written_code(pid):
        try:
            original = _file(path, offset, length)
        except OSError as error:
            log.warning("%s can't be read: %s", path, error)
            continue
        with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
            memory.seek(start)
            present = memory.read(length)
            for at in _differences(present, original):
                memory.seek(start + at)
                memory.write(original[at : at + len(BREAKPOINT)])
                count += 1
    return count


def _file(path: str, offset: int, length: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(length)


def _differences(present: bytes, original: bytes) -> Iterator[int]:
    """Where a breakpoint stands that the file doesn't have."""
    at = present.find(BREAKPOINT) if BREAKPOINT else -1
    while at >= 0:
        ours = len(BREAKPOINT) == 1 or at % len(BREAKPOINT) == 0
        if ours and at + len(BREAKPOINT) <= len(original) and not original.startswith(BREAKPOINT, at):
            yield at
        at = present.find(BREAKPOINT, at + 1)


def _written_code(pid: int) -> Iterator[tuple[int, int, int, str]]:
    """(start, length, offset in the file, path as seen from here) of code from files of which pages were written to."""
    mapping: tuple[int, int, int, str] | None = None
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if match := _MAPPING.match(line):
            start, end, offset = (int(match[n], 16) for n in (1, 2, 3))
            mapping = start, end - start, offset, f"/proc/{pid}/map_files/{match[1]}-{match[2]}"
            if not os.access(mapping[3], os.R_OK):
                mapping = start, end - start, offset, f"/proc/{pid}/root{match[4]}"
        elif line[0] not in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
            mapping = None  # another mapping
        elif mapping is not None and (changed := _CHANGED.match(line)):
            if int(changed[1]):
                yield mapping
            mapping = None
