"""Breakpoints as the person asked for them against what became of them, under one numbering."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from pkdb_tui.engine.api import Breakpoint, BreakpointSpec, BreakpointState
from pkdb_tui.engine.debuggee.log_points import template_parts
from pkdb_tui.engine.errors import BreakpointError
from pkdb_tui.engine.native.base import NativePlacement
from pkdb_tui.engine.protocol import BreakpointRequest, Placement

ALL_THREADS = 1 << 20


def parse_threads(text: str) -> tuple[int, ...]:
    """Kernel threads from `3`, `1,5`, `0:4` (end excluded) or `[0:4]`; empty text is all, an empty tuple.

    Raises BreakpointError for anything else.
    """
    found: set[int] = set()
    for part in text.strip().strip("[]").split(","):
        part = part.strip()
        if not part:
            continue
        begin, colon, end = part.partition(":")
        try:
            if colon:
                first, last = int(begin or 0), int(end)
                if not 0 <= first < last <= ALL_THREADS:
                    raise ValueError
                found.update(range(first, last))
            else:
                found.add(int(part))
        except ValueError:
            raise BreakpointError(
                f"`{text}` does not name kernel threads.", "Write a number, `1,5`, or a range such as `0:4`."
            ) from None
    return tuple(sorted(found))


def check(spec: BreakpointSpec) -> None:
    """Raises BreakpointError, naming what is wrong, for a request that could never work."""
    for what, text in (("condition", spec.condition), ("watch expression", spec.watch)):
        if text:
            _check_expression(what, text)
    if spec.log:
        _check_log(spec.log)
    parse_threads(spec.threads)
    if spec.ignore < 0:
        raise BreakpointError(f"An ignore count can't be {spec.ignore}.", "Give a number from 0 up.")
    if spec.line < 0 or (not spec.line and not spec.function and not spec.watch):
        raise BreakpointError(f"There is no line {spec.line}.", "Lines are counted from 1.")


def _check_log(text: str) -> None:
    try:
        template_parts(text)
    except (SyntaxError, ValueError) as error:
        message = (error.msg if isinstance(error, SyntaxError) else str(error)).removeprefix("f-string: ")
        raise BreakpointError(
            f"The log text can't be read: {message}.",
            "It is written as an f-string: {name}, {name:.3f}, {{ for a brace.",
        ) from None


def _check_expression(what: str, text: str) -> None:
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError) as error:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        raise BreakpointError(f"The {what} `{text}` is not a Python expression: {message}.") from None


@dataclass
class Entry:
    """One breakpoint with all that is known of it. `native` is its last placement in a kernel, if any."""

    id: int
    spec: BreakpointSpec
    enabled: bool = True
    python: Placement | None = None
    native: NativePlacement | None = None
    native_hits: int = 0
    unavailable: str = ""  # why no native debugger can serve it
    slow: str = ""  # why its condition is evaluated at each hit, from outside the program
    serial: int = 0  # grows when the ignore count is asked for anew
    ignored_from: int = 0  # hits there were when it was
    note: str = ""  # such as that its source line changed since it was saved
    copy_of: int = 0  # the breakpoint that this one stands for in an edited kernel

    @property
    def file(self) -> str:
        placed = self.python.file if self.python is not None else ""
        asked = self.spec.file
        return placed or (os.path.realpath(asked) if asked and not asked.startswith("<") else asked)

    @property
    def line(self) -> int:
        return (self.python.line if self.python is not None else 0) or self.spec.line

    @property
    def kernel(self) -> str:
        return self.python.kernel if self.python is not None else ""

    @property
    def hits(self) -> int:
        return self.native_hits + (self.python.hits if self.python is not None else 0)

    def state(self) -> tuple[BreakpointState, str]:
        """The state and why."""
        if not self.enabled:
            return BreakpointState.DISABLED, ""
        if self.python is not None and self.python.state == BreakpointState.UNBOUND.value:
            return BreakpointState.UNBOUND, self.python.reason
        moved = self.python.reason if self.python is not None else ""
        if self.kernel or self.spec.watch:
            if self.unavailable:
                return BreakpointState.UNBOUND, self.unavailable
            if self.native is None or self.native.pending:
                return BreakpointState.PENDING, moved or ("" if self.spec.watch else "the kernel has not run yet")
            if not self.native.locations:
                return BreakpointState.UNBOUND, self.native.reason
            return BreakpointState.BOUND, moved or self.native.reason or self.slow
        if self.python is None:
            return BreakpointState.PENDING, ""
        return BreakpointState(self.python.state), moved

    @property
    def ignoring(self) -> int:
        """Hits that will still be passed."""
        return max(0, self.spec.ignore - (self.hits - self.ignored_from))

    def public(self) -> Breakpoint:
        state, reason = self.state()
        return Breakpoint(
            id=self.id,
            spec=self.spec,
            enabled=self.enabled,
            state=state,
            file=self.file,
            line=self.line,
            kernel=self.kernel,
            hits=self.hits,
            ignoring=self.ignoring,
            reason=self.note or reason or (f"{self.copy_of} in the edited kernel" if self.copy_of else ""),
        )


@dataclass
class BreakpointBook:
    """All breakpoints of a session; numbers are never used twice."""

    entries: dict[int, Entry] = field(default_factory=dict)
    _next: int = 1

    def __getitem__(self, number: int) -> Entry:
        try:
            return self.entries[number]
        except KeyError:
            raise BreakpointError(f"There is no breakpoint {number}.", "`info breakpoints` lists them.") from None

    def add(self, spec: BreakpointSpec, *, enabled: bool = True) -> Entry:
        check(spec)
        entry = Entry(self._next, spec, enabled)
        self.entries[entry.id] = entry
        self._next += 1
        return entry

    def change(self, number: int, spec: BreakpointSpec, *, ignore_anew: bool = False) -> Entry:
        """A new request in the place of one; its ignore count goes on where it was unless it is asked for anew."""
        entry = self[number]
        check(spec)
        if ignore_anew:
            entry.serial += 1
            entry.ignored_from = entry.hits
        entry.spec = spec
        return entry

    def remove(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self[number]  # all must exist before any goes
        for number in [*numbers, *(each.id for each in self.entries.values() if each.copy_of in numbers)]:
            self.entries.pop(number, None)

    def public(self) -> tuple[Breakpoint, ...]:
        return tuple(entry.public() for entry in self.entries.values())

    def requests(self) -> list[dict[str, object]]:
        """The full set for the debuggee; watchpoints are native only."""
        wanted = [entry for entry in self.entries.values() if entry.enabled and not entry.spec.watch]
        return [msgspec.to_builtins(_request(entry)) for entry in wanted]

    def placed(self, placements: Sequence[Placement]) -> None:
        for placement in placements:
            entry = self.entries.get(placement.id)
            if entry is not None:
                entry.python = placement

    def placed_natively(self, placements: Sequence[NativePlacement]) -> None:
        for placement in placements:
            entry = self.entries.get(placement.id)
            if entry is not None:
                entry.native = placement

    def hit(self, hits: Mapping[int, int]) -> None:
        for number, count in hits.items():
            entry = self.entries.get(number)
            if entry is not None:
                entry.native_hits += count

    def spend_temporaries(self, numbers: Sequence[int]) -> bool:
        """Remove temporary ones that were hit; True when there were any."""
        hit = [self.entries[n] for n in numbers if n in self.entries]
        spent = {entry.copy_of or entry.id for entry in hit if entry.spec.temporary}
        self.remove([number for number in spent if number in self.entries])
        return bool(spent)

    def forget_bindings(self) -> None:
        """A new process: nothing is bound and nothing has been hit yet."""
        for entry in self.entries.values():
            entry.python, entry.native, entry.native_hits, entry.unavailable = None, None, 0, ""
            entry.ignored_from, entry.slow = 0, ""

    def in_kernels(self) -> list[Entry]:
        """Enabled ones that need a native debugger."""
        return [
            entry
            for entry in self.entries.values()
            if entry.enabled
            and (entry.kernel or entry.spec.watch)
            and (entry.python is None or entry.python.state != BreakpointState.UNBOUND.value)
        ]

    @property
    def watching(self) -> bool:
        """Whether a watchpoint is enabled."""
        return any(entry.enabled and entry.spec.watch for entry in self.entries.values())


def _request(entry: Entry) -> BreakpointRequest:
    spec = entry.spec
    return BreakpointRequest(
        id=entry.id,
        file=spec.file,
        line=spec.line,
        function=spec.function,
        condition=spec.condition,
        ignore=spec.ignore,
        serial=entry.serial,
        temporary=spec.temporary,
        log=spec.log,
    )
