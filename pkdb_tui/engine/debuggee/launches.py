"""The launch log: launches of one kernel from one line are one record."""

from __future__ import annotations

import os
import time
from types import CodeType, FrameType
from typing import Any

from pkdb_tui.engine.debuggee.arguments import bodies_of, given, told
from pkdb_tui.engine.debuggee.frameworks.base import pattern_of
from pkdb_tui.engine.debuggee.sources import real_path
from pkdb_tui.engine.debuggee.values import byte_strides, is_array, is_contiguous, item_size

Json = dict[str, Any]


class LaunchRecord:
    """Counts and times of one kernel at one call line."""

    def __init__(self, launch: Any, code: CodeType, line: int) -> None:
        self.code = code  # kept, so that its id stays its own
        self.first = True  # nothing has been told of it yet
        self.wanted: bool | None = None  # whether a breakpoint concerns the kernel; None when not looked up
        self.kernel = launch.kernel.name
        self.kernel_file = real_path(launch.kernel.file)
        self.stands_for = launch.stands_for
        self.file = real_path(code.co_filename)
        self.line = line
        self.pattern = pattern_of(launch)
        self.space = launch.space
        self.build = "release"
        self.count = 0
        self.last = 0.0
        self.total = 0.0
        place = f"{os.path.basename(self.file)}:{line}"
        self.sign = f"{launch.kernel.name} launched at {place}".encode()
        self.latest: tuple[Any, ...] = ()
        self.warnings: list[str] = []
        self.told_unseen = False
        self._warned: set[str] = set()
        self.watch_strides = any(is_array(value) for value in launch.arguments.values())

    def began(self, launch: Any) -> None:
        """Policy and arguments are those of the latest launch, which may be another one's at each."""
        self.latest = (given, launch.policy, told(launch.arguments))

    def add(self, seconds: float, build: str = "release") -> None:
        self.count += 1
        self.last = seconds
        self.total += seconds
        self.build = build

    def stride_warnings(self, arguments: Any) -> list[str]:
        """One sentence for each array argument found neither in row nor in column order, told once."""
        found = []
        for name, value in arguments.items():
            flags = getattr(value, "flags", None)
            if flags is None or name in self._warned or flags.forc:
                continue
            if not is_array(value):
                continue
            shape, strides, size = tuple(value.shape), byte_strides(value), item_size(value)
            if is_contiguous(shape, strides, size, columns=False) or is_contiguous(shape, strides, size, columns=True):
                continue
            self._warned.add(name)
            found.append(_stride_sentence(name, strides, size))
        return found

    def body(self) -> Json:
        reader, *what = self.latest
        policy, arguments = reader(*what)
        return {
            "kernel": self.kernel,
            "kernelFile": self.kernel_file,
            "standsFor": self.stands_for,
            "file": self.file,
            "line": self.line,
            "pattern": self.pattern,
            "policy": policy,
            "space": self.space,
            "build": self.build,
            "count": self.count,
            "lastSeconds": self.last,
            "totalSeconds": self.total,
            "arguments": bodies_of(arguments),
            "warnings": self.warnings,
        }


def _stride_sentence(name: str, strides: tuple[int, ...], size: int) -> str:
    in_elements = [f"{step // size}" if step % size == 0 else f"{step / size:.3g}" for step in strides]
    if len(strides) == 1:
        many = "element" if in_elements[0] == "1" else "elements"
        return f"argument {name} has a stride of {strides[0]} bytes ({in_elements[0]} {many})"
    listed = ", ".join(map(str, strides))
    return f"argument {name} has strides of {listed} bytes ({', '.join(in_elements)} elements)"


class LaunchLog:
    """All records, in the order of their first launch."""

    def __init__(self) -> None:
        self._records: dict[tuple[Any, ...], LaunchRecord] = {}
        self._told = 0
        self.told_at = 0.0

    def note(self, launch: Any, caller: FrameType) -> LaunchRecord:
        """The record of this kernel at the caller's line."""
        code = caller.f_code
        # Not the code object itself: a function that gets a breakpoint runs a copy of it.
        place = code.co_filename, code.co_qualname, caller.f_lineno
        key = (*place, launch.kernel.name, launch.kernel.file, launch.space, launch.stands_for)
        record = self._records.get(key)
        if record is None:
            record = self._records.setdefault(key, LaunchRecord(launch, code, caller.f_lineno))
        record.began(launch)
        return record

    def has(self, file: str, lines: tuple[int, int]) -> bool:
        """Whether something was launched from these lines, both bounds inclusive."""
        records = list(self._records.values())
        return any(record.file == file and lines[0] <= record.line <= lines[1] for record in records)

    def forget_wanted(self) -> None:
        """The breakpoints changed."""
        for record in list(self._records.values()):
            record.wanted = None

    @property
    def total(self) -> int:
        """How many launches have ended."""
        return sum(record.count for record in list(self._records.values()))

    @property
    def changed(self) -> bool:
        return self._told != self.total

    def bodies(self) -> list[Json]:
        self._told, self.told_at = self.total, time.monotonic()
        return [record.body() for record in self._records.values()]
