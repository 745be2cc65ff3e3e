"""Breakpoints in gdb: exact addresses, one of ours to many of gdb's, and who really hit what."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pkdb_tui.engine.errors import NativeError
from pkdb_tui.engine.native.base import Hit, NativeBreakpoint, NativePlacement, PlacementsChanged, StopCause
from pkdb_tui.engine.native.threads import Arrival
from pkdb_tui.engine.protocol import KernelReady

if TYPE_CHECKING:
    from pkdb_tui.engine.native.gdb import GdbController

FAULTS = ("SIGSEGV", "SIGFPE", "SIGABRT", "SIGBUS", "SIGILL")


@dataclass
class Placed:
    """One of our breakpoints as it stands in gdb."""

    wanted: NativeBreakpoint
    addresses: tuple[int, ...] = ()
    numbers: list[int] = field(default_factory=list)
    reason: str = ""
    pending: bool = False  # no kernel with its line has been loaded
    spent: bool = False  # temporary, and hit
    ended: bool = False  # a watchpoint whose variable has left its scope

    @property
    def placement(self) -> NativePlacement:
        return NativePlacement(
            id=self.wanted.id,
            locations=len(self.numbers),
            reason=self.reason,
            pending=self.pending,
            ended=self.ended,
        )


@dataclass(frozen=True)
class Meeting:
    """A thread at one of our breakpoints."""

    arrival: Arrival
    placed: Placed


class Placing:
    """Reconciles desired and placed breakpoints, and tells hits from passing stops."""

    def __init__(self, controller: GdbController) -> None:
        self._controller = controller
        self._placed: dict[int, Placed] = {}
        self._bounds: dict[str, list[int]] = {}
        self._settled: tuple[NativeBreakpoint, ...] = ()  # these are in, in the binaries `_settled_in` that have them
        self._settled_in: set[str] = set()
        self._silent = False
        self.uncounted = False  # a thread has stopped since hits were asked for
        self._left: dict[int, int] = {}  # gdb thread -> where it was let go last
        self._counted: dict[int, int] = {}  # hits that were counted here, not told yet
        self._ignored: dict[tuple[int, int], int] = {}  # (id, serial) -> hits passed here
        self._unmet: dict[int, int] = {}  # gdb thread -> address of a breakpoint before which it was interrupted

    # --- reconciling ---

    async def reconcile(self, wanted: Sequence[NativeBreakpoint]) -> list[NativePlacement]:
        """Exactly these afterwards; unchanged ones keep their place and their counts."""
        kernel = self._controller.kernel
        if tuple(wanted) != self._settled or any(breakpoint.watch for breakpoint in wanted):
            self._settled, self._settled_in = tuple(wanted), set()
        if kernel is None or kernel.binary not in self._settled_in:
            await self._reconcile(wanted)
            if kernel is not None:
                self._settled_in.add(kernel.binary)
        return [self._placed[breakpoint.id].placement for breakpoint in wanted]

    async def _reconcile(self, wanted: Sequence[NativeBreakpoint]) -> None:
        by_id = {breakpoint.id: breakpoint for breakpoint in wanted}
        for number, placed in list(self._placed.items()):
            new = by_id.get(number)
            if new == placed.wanted:
                continue
            if new is not None and placed.addresses and _place(new) == _place(placed.wanted):
                placed.wanted = new  # taken out and put in again it could be met twice by a thread that stands there
                await self._controller.ask("rule", _rule(new))
            else:
                await self._remove(self._placed.pop(number))
        for breakpoint in wanted:
            await self._place(breakpoint)

    async def _place(self, wanted: NativeBreakpoint) -> None:
        placed = self._placed.get(wanted.id)
        if placed is None:
            placed = self._placed[wanted.id] = Placed(wanted)
        try:
            if wanted.watch:
                await self._watch(placed)
            else:
                await self._addresses(placed)
        except NativeError as error:
            placed.reason, self._settled = error.title, ()

    async def _watch(self, placed: Placed) -> None:
        if placed.numbers or placed.ended:
            return
        threads = self._controller.threads
        thread = next((n for n in threads.stopped if n in threads.team), None)
        if thread is None:
            raise NativeError("no thread is stopped in a kernel, so nothing can be watched")
        wanted = placed.wanted
        answer = await self._controller.ask(
            "watch", {"thread": thread, "expression": wanted.watch, "condition": wanted.condition}
        )
        if "number" not in answer:
            placed.reason = self._no_register(answer["registers"], answer["needed"])
            return
        placed.numbers, placed.reason = [answer["number"]], ""

    def _no_register(self, registers: int, needed: int) -> str:
        taken = [str(number) for number, other in self._placed.items() if other.wanted.watch and other.numbers]
        listed = " and ".join(filter(None, [", ".join(taken[:-1]), taken[-1]])) if taken else ""
        if not taken:
            return f"it takes {needed} of the processor's {registers} watch registers: watch something smaller"
        which = f"watchpoint {listed} takes" if len(taken) == 1 else f"watchpoints {listed} take"
        return f"the processor has {registers} watch registers, which {which}: delete one, and this one is set"

    @property
    def filters(self) -> bool:
        """Whether gdb must know which thread of the kernel each one is."""
        return any(placed.wanted.threads for placed in self._placed.values())

    @property
    def watches(self) -> bool:
        """Whether a watchpoint is in."""
        return any(placed.wanted.watch and placed.numbers for placed in self._placed.values())

    async def renew_watches(self, thread: int) -> None:
        """Put watchpoints in anew after symbols were read, in a thread that stands."""
        numbers = {n: placed for placed in self._placed.values() if placed.wanted.watch for n in placed.numbers}
        for number in await self._controller.ask("renew", {"thread": thread, "numbers": list(numbers)}):
            numbers[number].reason = "gdb could not put it in again: delete it, and watch anew at the next stop"

    async def _addresses(self, placed: Placed) -> None:
        """New addresses only: a kernel loaded later adds its own."""
        wanted = placed.wanted
        if wanted.function:
            answer = await self._controller.ask("functions", {"function": wanted.function})
            reason = f"no kernel loaded so far has a function {wanted.function}"
        else:
            answer = await self._controller.ask("where", {"source": _real(wanted.source), "line": wanted.line})
            following = f"; the next one is {answer['next']}" if answer["next"] else ""
            reason = (
                f"line {wanted.line} is not a kernel line{following}"
                if answer["known"]
                else "the kernel has not run yet"
            )
        stops = dict(answer["stops"])
        if stops and not placed.addresses:
            await self._controller.ask("rule", _rule(wanted))
        for address, when in stops.items():
            if address not in placed.addresses:
                place = {"address": address, "owner": wanted.id, "when": wanted.held or when, "why": wanted.why}
                placed.numbers.append((await self._controller.ask("insert", place))["number"])
        placed.addresses = tuple(stops) or placed.addresses
        placed.reason = "" if placed.numbers else reason
        placed.pending = not placed.numbers and not answer.get("known", True)

    async def _remove(self, placed: Placed) -> None:
        if placed.numbers:
            await self._controller.ask("remove", {"numbers": placed.numbers})

    async def clear(self) -> None:
        """Take out everything."""
        numbers = self.all_numbers()
        self._placed, self._bounds, self._settled = {}, {}, ()
        if numbers:
            await self._controller.ask("remove", {"numbers": numbers})

    def all_numbers(self) -> list[int]:
        own = [number for placed in self._placed.values() for number in placed.numbers]
        return own + [number for numbers in self._bounds.values() for number in numbers]

    async def enable(self, enabled: bool) -> None:
        """Silence or revive all breakpoints and bounds checks, for running a launch to its end."""
        self._silent = not enabled
        numbers = [number for placed in self._placed.values() if not placed.spent for number in placed.numbers]
        numbers += [number for bounds in self._bounds.values() for number in bounds]
        if numbers:
            await self._controller.ask("enable", {"numbers": numbers, "enabled": enabled})

    async def catch_bounds(self, kernel: KernelReady) -> None:
        """Stop where a bounds check fails."""
        if kernel.bounds_symbol and kernel.binary not in self._bounds:
            answer = await self._controller.ask("symbol", {"binary": kernel.binary, "symbol": kernel.bounds_symbol})
            self._bounds[kernel.binary] = [
                (await self._controller.ask("insert", {"address": address}))["number"]
                for address in answer["addresses"]
            ]

    async def retire(self, shown: Sequence[Arrival]) -> None:
        """Temporary breakpoints that were hit are over."""
        hit = {number for arrival in shown for number in arrival.ids}
        spent = [p for n, p in self._placed.items() if n in hit and p.wanted.temporary and not p.spent]
        for placed in spent:
            placed.spent = True
            await self._controller.ask("enable", {"numbers": placed.numbers, "enabled": False})

    # --- what a stop means ---

    async def classify(
        self, arrivals: Mapping[int, Arrival], *, interrupting: bool
    ) -> tuple[list[Arrival], list[Arrival]]:
        """(arrivals to show, arrivals that nobody asked for and that go on)."""
        shown: list[Arrival] = []
        passed: list[Arrival] = []
        await self._meet([arrival for arrival in arrivals.values() if arrival.matters is None])
        for arrival in arrivals.values():
            self.stands(arrival.number, arrival.place)
            if arrival.matters is None:
                arrival.matters = await self._matters(arrival, interrupting)
            (shown if arrival.matters else passed).append(arrival)
        return shown, passed

    def stands(self, number: int, place: Mapping[str, Any]) -> None:
        """Note a thread that was interrupted right before a breakpoint: gdb would let it go on without meeting it.

        One that was let go from that very place may not have moved at all, and has met it before.
        """
        address = int(place.get("pc", 0))
        interrupted = place.get("kind") == "signal" and place.get("detail") == "0"
        known = any(address in placed.addresses for placed in self._placed.values() if not placed.spent)
        if interrupted and known and self._left.get(number) != address:
            self._unmet[number] = address
        else:
            self._unmet.pop(number, None)
        self._left[number] = address

    def unmet(self, numbers: Sequence[int]) -> dict[int, int]:
        """Of threads about to be let go, those that have yet to meet the breakpoint where they stand."""
        return {number: self._unmet.pop(number) for number in numbers if number in self._unmet}

    async def _matters(self, arrival: Arrival, interrupting: bool) -> bool:
        signal = str(arrival.body.get("signal-name", ""))
        if signal in FAULTS:
            arrival.cause = StopCause.SIGNAL
            arrival.text = await self._controller.ask("fault", {"thread": arrival.number, "what": signal})
            return True
        if arrival.reason.startswith(("watchpoint", "hw-watchpoint", "access-watchpoint", "read-watchpoint")):
            return self._watched(arrival)
        numbers = arrival.place.get("breakpoints", [])
        if any(number in bounds for bounds in self._bounds.values() for number in numbers):
            arrival.cause = StopCause.BOUNDS
            arrival.text = await self._controller.ask("fault", {"thread": arrival.number, "what": "message"})
            return True
        if arrival.ids:
            arrival.cause = StopCause.BREAKPOINT
            return True
        if self._controller.stepper.expects(arrival, numbers):
            arrival.cause = StopCause.STEP
            return True
        arrival.cause = StopCause.PAUSE
        in_kernel = bool(arrival.place.get("file"))
        if not self._controller.gathering.shown:
            in_kernel = in_kernel or arrival.number in self._controller.threads.team
        return interrupting and in_kernel

    def _watched(self, arrival: Arrival) -> bool:
        if "scope" in arrival.reason:
            self._out_of_scope(int(arrival.body.get("wpnum", 0)))
            return False
        if not arrival.place.get("file"):
            return False  # memory that Python, not a kernel, has written
        number = int(arrival.body.get("wpt", {}).get("number", 0) or arrival.body.get("hw-rwpt", {}).get("number", 0))
        found = [n for n, placed in self._placed.items() if number in placed.numbers]
        if not found:
            return False
        value = arrival.body.get("value", {})
        arrival.cause, arrival.ids = StopCause.WATCHPOINT, tuple(found)
        dtype = self._placed[found[0]].wanted.watched
        old, new = (_as_watched(str(value.get(when, "?")), dtype) for when in ("old", "new"))
        arrival.text = f"{old} -> {new}"
        return True

    def _out_of_scope(self, number: int) -> None:
        """gdb has taken out a watchpoint with the frame of its variable."""
        for placed in self._placed.values():
            if number in placed.numbers:
                placed.numbers, placed.ended = [], True
                placed.reason = f"{placed.wanted.watch} has left its scope: watch it anew at another stop"
                self._controller.listener(PlacementsChanged(placements=(placed.placement,)))

    # --- who hit what ---

    async def _meet(self, arrivals: Sequence[Arrival]) -> None:
        """Find out which breakpoints stop each thread; log points speak."""
        met: dict[Hit, Meeting] = {}
        failures: dict[Hit, str] = {}
        reached = [] if self._silent else [arrival for arrival in arrivals if arrival.place.get("breakpoints")]
        for arrival in reached:
            self._controller.threads.at(arrival)  # where no runtime names the threads, those at rest get numbers
        for arrival in reached:
            numbers = arrival.place["breakpoints"]
            thread = self._controller.threads.kernel_number(arrival.number)
            for placed in self._reached(numbers, thread):
                hit = placed.wanted.id, thread
                met[hit] = Meeting(arrival, placed)
                why = arrival.place.get("failures", {})
                text = next((why[str(n)] for n in placed.numbers if str(n) in why), "")
                if text:
                    failures[hit] = text
                arrival.passing = True
        stopping = await self._judged(met, failures)
        spoken = [hit for hit in stopping if met[hit].placed.wanted.speaks]
        if spoken and self._controller.owner is not None:
            await self._controller.owner.speak(spoken, failures)
        for hit in stopping:
            if hit not in spoken and self._stands(met[hit].placed):
                arrival = met[hit].arrival
                arrival.ids = (*arrival.ids, hit[0])
                if hit in failures:
                    arrival.failures[hit[0]] = failures[hit]

    def _stands(self, placed: Placed) -> bool:
        """Whether a breakpoint is still what and where it was: it may be taken out while others are asked."""
        return self._placed.get(placed.wanted.id) is placed

    def _reached(self, numbers: Sequence[int], thread: int) -> list[Placed]:
        """Ours that have one of these gdb numbers and mean this thread."""
        return [
            placed
            for placed in self._placed.values()
            if any(n in placed.numbers for n in numbers)
            and not placed.wanted.watch
            and not placed.spent
            and (not placed.wanted.threads or thread in placed.wanted.threads)
        ]

    async def _judged(self, met: Mapping[Hit, Meeting], failures: dict[Hit, str]) -> list[Hit]:
        """Those whose condition holds, or can't be told, and that no ignore count lets pass."""
        asked = [hit for hit, meeting in met.items() if meeting.placed.wanted.judged]
        owner = self._controller.owner
        verdicts = await owner.judge(asked) if asked and owner is not None else {}
        found = []
        for hit, meeting in met.items():
            verdict = verdicts.get(hit, "")
            if verdict is None or not self._stands(meeting.placed):
                continue
            if verdict:
                failures[hit] = verdict
            if not self._counted_here(meeting.placed.wanted):
                found.append(hit)
        return found

    def _counted_here(self, wanted: NativeBreakpoint) -> bool:
        """Count a hit that gdb could not count; whether an ignore count lets it pass."""
        if not wanted.judged and not (wanted.threads and not self._controller.threads.team):
            return False
        self._counted[wanted.id] = self._counted.get(wanted.id, 0) + 1
        key = (wanted.id, wanted.serial)
        self._ignored[key] = self._ignored.get(key, 0) + 1
        return self._ignored[key] <= wanted.ignore

    async def hits(self, shown: Sequence[Arrival] = ()) -> dict[int, int]:
        """How often each breakpoint was hit since this was asked last, by all threads, hits let pass included."""
        counts, self._counted = self._counted, {}
        if self.uncounted or any(placed.wanted.ignore for placed in self._placed.values()):
            self.uncounted = False
            for number, count in await self._controller.ask("hits"):
                counts[number] = counts.get(number, 0) + count
        for arrival in shown:
            if arrival.cause is StopCause.WATCHPOINT:
                for number in arrival.ids:
                    counts[number] = counts.get(number, 0) + 1
        return counts


def _place(wanted: NativeBreakpoint) -> tuple[str, int, str, str, str]:
    return wanted.source, wanted.line, wanted.function, wanted.watch, wanted.held


def _rule(wanted: NativeBreakpoint) -> dict[str, Any]:
    return {
        "id": wanted.id,
        "counts": not wanted.judged,
        "threads": list(wanted.threads),
        "condition": wanted.condition,
        "ignore": 0 if wanted.judged else wanted.ignore,
        "serial": wanted.serial,
    }


def _real(source: str) -> str:
    file, mark, rest = source.partition("#pkdb")
    return os.path.realpath(file) + mark + rest


def _as_watched(text: str, dtype: str) -> str:
    """What gdb tells as an integer, as the number of `dtype` that its bytes are."""
    if not dtype or not text.isdigit():
        return text
    import numpy as np  # takes longer to load than the rest of the start

    kind = np.dtype(dtype)
    return str(np.frombuffer(int(text).to_bytes(kind.itemsize, sys.byteorder), kind)[0])
