"""Threads under two names: gdb's numbers and the kernel's, with what each is known to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pkdb_tui.engine.api import ThreadRange, ThreadState
from pkdb_tui.engine.errors import NativeError
from pkdb_tui.engine.native.base import StopCause


@dataclass
class Arrival:
    """A thread that came to rest; `place` and what follows are found out later."""

    number: int
    reason: str
    body: dict[str, Any]
    place: dict[str, Any] = field(default_factory=dict)
    cause: StopCause = StopCause.BREAKPOINT
    ids: tuple[int, ...] = ()
    text: str = ""
    failures: dict[int, str] = field(default_factory=dict)  # of `ids`, why a condition could not be evaluated
    matters: bool | None = None  # None: not classified yet
    returned: str = ""  # what the function returned that a finish has left, as Python writes it
    passing: bool = False  # at a breakpoint that doesn't stop it: a log point, a condition that doesn't hold

    @property
    def faulty(self) -> bool:
        return self.cause in (StopCause.SIGNAL, StopCause.BOUNDS)

    @property
    def in_kernel(self) -> bool:
        """Whether there is something to stop at: a breakpoint, a step's end, a line of a kernel."""
        return self.cause is not StopCause.PAUSE or bool(self.place.get("file"))

    @property
    def rank(self) -> int:
        """Faults are looked at first."""
        order = (StopCause.SIGNAL, StopCause.BOUNDS, StopCause.WATCHPOINT, StopCause.BREAKPOINT, StopCause.STEP)
        return order.index(self.cause) if self.cause in order else len(order) + (0 if self.place.get("file") else 1)

    @property
    def state(self) -> ThreadState:
        if self.cause in (StopCause.SIGNAL, StopCause.BOUNDS):
            return ThreadState.FAULT
        return ThreadState.BREAKPOINT if self.cause is StopCause.BREAKPOINT else ThreadState.STOPPED


class Threads:
    """All threads of the process; `team` maps gdb numbers to kernel threads."""

    def __init__(self) -> None:
        self.lwps: dict[int, int] = {}
        self.stopped: set[int] = set()
        self.team: dict[int, int] = {}
        self.team_size = 0
        self.dispatching = 0  # the thread that called the kernel, by the system's number
        self._numbers: dict[int, int] = {}  # lwp -> kernel thread, where no runtime tells
        self._places: dict[int, Arrival] = {}

    # --- what gdb tells ---

    def learn(self, listed: Sequence[Sequence[Any]], team: Sequence[Sequence[int]]) -> None:
        """Take in gdb's list of [number, lwp, stopped] and the runtime's of [lwp, kernel thread]."""
        self.lwps = {int(number): int(lwp) for number, lwp, _ in listed}
        self.stopped = {int(number) for number, _, stopped in listed if stopped}
        by_lwp = {int(lwp): int(thread) for lwp, thread in team}
        self.team_size = len(team)
        self.team = {number: by_lwp[lwp] for number, lwp in self.lwps.items() if lwp in by_lwp}

    @property
    def running(self) -> set[int]:
        return set(self.lwps) - self.stopped

    def team_running(self) -> list[int]:
        """Threads that a stop may wait for; where no runtime names the team, any that runs may belong to it."""
        return [number for number in self.team or self.lwps if number not in self.stopped]

    def stops(self, number: int) -> None:
        self.stopped.add(number)

    def goes_on(self, number: int) -> None:
        self.stopped.discard(number)
        self._places.pop(number, None)

    def running_record(self, which: str) -> None:
        if which == "all":
            self.stopped.clear()
            self._places.clear()
        elif which.isdigit():
            self.goes_on(int(which))

    def appeared(self, number: int) -> None:
        self.lwps.setdefault(number, 0)

    def gone(self, number: int) -> None:
        self.lwps.pop(number, None)
        self.stopped.discard(number)
        self.team.pop(number, None)
        self._places.pop(number, None)

    def place(self, number: int) -> Arrival | None:
        """Where a thread rests, if it does."""
        return self._places.get(number) if number in self.stopped else None

    def at(self, arrival: Arrival) -> None:
        """A thread rests at a known place."""
        self._places[arrival.number] = arrival

    def incomplete(self, numbers: Iterable[int]) -> bool:
        """Whether not all of the team is known yet, or one of these threads isn't."""
        return len(self.team) < max(self.team_size, 1) or any(not self.lwps.get(number) for number in numbers)

    def in_kernel(self, number: int) -> bool:
        """Whether a thread belongs to the team, or rests at a kernel line."""
        arrival = self._places.get(number)
        return number in self.team or (arrival is not None and bool(arrival.place.get("file")))

    def forget_team(self) -> None:
        self.team = {}
        self._places = {}

    # --- names ---

    def kernel_number(self, number: int) -> int:
        """The kernel thread of a gdb thread; without a team those seen in kernels get numbers and keep them."""
        if number in self.team:
            return self.team[number]
        if self.team:
            return -1
        self._number_new_ones()
        return self._numbers.get(self.lwps.get(number, 0), -1)

    def _number_new_ones(self) -> None:
        """The thread that called the kernel is 0, as OpenMP has it; others in the order of their age."""
        seen = (self.lwps.get(n, 0) for n, arrival in self._places.items() if arrival.place.get("file"))
        for lwp in sorted(seen):
            if lwp and lwp not in self._numbers:
                taken = len([other for other in self._numbers if other != self.dispatching])
                self._numbers[lwp] = 0 if lwp == self.dispatching else taken + (1 if self.dispatching else 0)

    def knows(self, thread: int) -> bool:
        return any(self.kernel_number(number) == thread for number in self._candidates())

    def gdb_number(self, thread: int) -> int:
        """Raises NativeError for a thread that isn't there."""
        for number in self._candidates():
            if self.kernel_number(number) == thread:
                return number
        raise NativeError(f"There is no kernel thread {thread}.", "`threads` lists them.")

    def _candidates(self) -> list[int]:
        return list(self.team) if self.team else list(self._places)

    # --- states ---

    def ranges(self, asleep: Callable[[int], bool]) -> tuple[ThreadRange, ...]:
        """Every kernel thread's state, equal neighbours merged."""
        rows: list[ThreadRange] = []
        for thread, number in sorted((self.kernel_number(n), n) for n in self._candidates()):
            if thread < 0:
                continue
            arrival = self._places.get(number)
            if arrival is not None and number in self.stopped:
                place = arrival.place
                row = ThreadRange(
                    first=thread,
                    last=thread,
                    state=arrival.state,
                    file=place.get("file", ""),
                    line=place.get("line", 0),
                )
            else:
                state = ThreadState.BARRIER if asleep(number) else ThreadState.RUNNING
                row = ThreadRange(first=thread, last=thread, state=state)
            last = rows[-1] if rows else None
            if (
                last is not None
                and last.last == thread - 1
                and (last.state, last.file, last.line) == (row.state, row.file, row.line)
            ):
                rows[-1] = ThreadRange(first=last.first, last=thread, state=last.state, file=last.file, line=last.line)
            else:
                rows.append(row)
        return tuple(rows)
