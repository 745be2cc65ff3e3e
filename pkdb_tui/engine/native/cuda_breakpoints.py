"""Breakpoints on a device: exact addresses in the modules that are loaded, and who hit what when everything stops."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pkdb_tui.engine.native.base import (
    Hit,
    NativeBreakpoint,
    NativePlacement,
    StopCause,
    ThreadsChanged,
    failed_text,
)
from pkdb_tui.engine.native.grid import Row, outside
from pkdb_tui.engine.protocol import KernelReady

if TYPE_CHECKING:
    from pkdb_tui.engine.native.cuda import CudaController

JUDGED = 4096  # threads at one place for which cuda-gdb evaluates a condition that isn't built in, at most
NUMBER = (
    "(((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * (blockDim.x * blockDim.y * blockDim.z)"
    " + (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)"
)


@dataclass
class Placed:
    """One of the person's breakpoints as it stands in cuda-gdb."""

    wanted: NativeBreakpoint
    addresses: tuple[int, ...] = ()
    numbers: list[int] = field(default_factory=list)
    reason: str = ""
    pending: bool = False
    passed: int = 0  # hits that its ignore count has let pass

    @property
    def placement(self) -> NativePlacement:
        return NativePlacement(id=self.wanted.id, locations=len(self.numbers), reason=self.reason, pending=self.pending)


@dataclass(frozen=True)
class Meeting:
    """What a stop is about; `thread` is another one to look at, -1 for the one in focus."""

    cause: StopCause
    ids: tuple[int, ...] = ()
    hits: Mapping[int, int] = field(default_factory=dict)
    text: str = ""
    thread: int = -1


class DeviceBreakpoints:
    """Reconciles desired and placed breakpoints. All threads at a breakpoint's address have hit it together."""

    def __init__(self, controller: CudaController) -> None:
        self._controller = controller
        self._placed: dict[int, Placed] = {}
        self._own: list[int] = []  # the debugger's own: the entry, where `until` goes
        self._own_at: set[int] = set()
        self._bounds: list[int] = []
        self._bounds_at: set[int] = set()
        self._silent = False
        self._counted: dict[int, list[tuple[int, int]]] = {}  # address -> threads whose hit there was counted

    # --- reconciling ---

    async def reconcile(self, wanted: Sequence[NativeBreakpoint]) -> list[NativePlacement]:
        by_id = {breakpoint.id: breakpoint for breakpoint in wanted}
        gone = [placed for number, placed in self._placed.items() if _differs(placed.wanted, by_id.get(number))]
        for placed in gone:
            del self._placed[placed.wanted.id]
        new: dict[int, tuple[int, ...]] = {}
        for breakpoint in wanted:
            placed = self._placed.setdefault(breakpoint.id, Placed(breakpoint))
            if placed.wanted.serial != breakpoint.serial:
                placed.passed = 0
            placed.wanted = breakpoint
            found = await self._addresses(placed)
            if found != placed.addresses:
                new[breakpoint.id] = found
        out = [number for placed in gone for number in placed.numbers]
        if out or new:
            async with self._controller.halted():
                await self._change(out, new)
        return [self._placed[breakpoint.id].placement for breakpoint in wanted]

    async def _addresses(self, placed: Placed) -> tuple[int, ...]:
        wanted = placed.wanted
        placed.pending = False
        if wanted.watch:
            placed.reason = "elements in a device's memory can't be watched: cuda-gdb has no watchpoints there"
            return ()
        if wanted.function:
            placed.reason = "kernels on a device take breakpoints on lines only: name the function's first line"
            return ()
        asked = {"source": _real(wanted.source), "line": wanted.line, "bit": wanted.bit}
        answer = await self._controller.ask("where", asked)
        following = f"; the next one is {answer['next']}" if answer["next"] else ""
        placed.reason = f"line {wanted.line} is not a kernel line{following}" if answer["known"] else ""
        placed.pending = not answer["known"]
        if placed.pending:
            placed.reason = "the kernel has not run yet"
        if answer["addresses"]:
            placed.reason = ""
        return tuple(answer["addresses"])

    async def _change(self, out: list[int], new: Mapping[int, tuple[int, ...]]) -> None:
        ask = self._controller.ask
        if out:
            await ask("remove", {"numbers": out})
        for number, addresses in new.items():
            placed = self._placed[number]
            if placed.numbers:
                await ask("remove", {"numbers": placed.numbers})
                placed.numbers = []
            for address in addresses:
                condition = self._condition(placed.wanted)
                made = await ask("insert", {"address": address, "condition": condition})
                placed.numbers.append(made["number"])
            placed.addresses = addresses
        if self._silent:
            await self.silence(True)

    def _condition(self, wanted: NativeBreakpoint) -> str:
        """The condition and the threads it is for, in cuda-gdb's terms."""
        parts = [f"({wanted.condition})"] if wanted.condition else []
        if wanted.threads:
            parts.append("(" + " || ".join(f"{NUMBER} == {thread}" for thread in wanted.threads) + ")")
        return " && ".join(parts)

    async def clear(self) -> None:
        """Take out everything; called while nothing runs."""
        numbers = [n for placed in self._placed.values() for n in placed.numbers] + self._own + self._bounds
        self._placed, self._own, self._bounds = {}, [], []
        if numbers:
            await self._controller.ask("remove", {"numbers": numbers})

    async def catch(self, kernel: KernelReady) -> None:
        """Stop where a bounds check fails and, where that is wanted, at the workunit's first line."""
        ask = self._controller.ask
        bounds: list[int] = []
        if kernel.bounds_symbol:
            bounds = (await ask("symbol", {"symbol": kernel.bounds_symbol}))["addresses"]
        entry = (await ask("entry"))["addresses"] if kernel.stop_at_entry else []
        fresh = [address for address in bounds if address not in self._bounds_at]
        if fresh or entry:
            async with self._controller.halted():
                for address in fresh:
                    self._bounds.append((await ask("insert", {"address": address}))["number"])
                    self._bounds_at.add(address)
                await self.own(entry)

    async def own(self, addresses: Sequence[int], condition: str = "") -> None:
        """Breakpoints of the debugger's own, until `drop_own`; called while nothing runs."""
        for address in addresses:
            made = await self._controller.ask("insert", {"address": address, "condition": condition})
            self._own.append(made["number"])
            self._own_at.add(address)

    async def drop_own(self) -> None:
        numbers, self._own, self._own_at = self._own, [], set()
        if numbers:
            await self._controller.ask("remove", {"numbers": numbers})

    async def revive(self) -> None:
        """At a stop: the debugger's own are gone, and what was silenced is wanted again."""
        await self.drop_own()
        if self._silent:
            await self.silence(False)

    async def silence(self, silent: bool) -> None:
        """For running a launch to its end: called while nothing runs."""
        self._silent = silent
        numbers = [n for placed in self._placed.values() for n in placed.numbers]
        if numbers:
            await self._controller.ask("enable", {"numbers": numbers, "enabled": not silent})

    async def launch_ended(self) -> None:
        self._counted = {}
        if self._own or self._silent:
            async with self._controller.halted():
                await self.revive()

    # --- what a stop means ---

    def at(self, address: int) -> bool:
        """Whether one of the person's breakpoints is at an address."""
        return not self._silent and any(address in placed.addresses for placed in self._placed.values())

    def is_own(self, address: int) -> bool:
        return address in self._own_at

    def all_move(self) -> None:
        """Every thread goes on: whoever is at a breakpoint at the next stop has hit it anew."""
        self._counted = {}

    async def meet(self, place: Mapping[str, Any], rows: Sequence[Row], cause: StopCause | None) -> Meeting | None:
        """What stops everybody at this place, or None where they are to go on."""
        address = int(place["pc"])
        if address in self._bounds_at:
            return Meeting(StopCause.BOUNDS, text=await self._controller.ask("fault"))
        here = [] if self._silent else [p for p in self._placed.values() if address in p.addresses]
        if here:
            return await self._hit(here, address, place, rows, cause)
        if self.is_own(address):
            await self.drop_own()
            return Meeting(StopCause.STEP)
        return Meeting(cause) if cause is not None and place.get("file") else None

    async def _hit(
        self, here: list[Placed], address: int, place: Mapping[str, Any], rows: Sequence[Row], cause: StopCause | None
    ) -> Meeting | None:
        grid = self._controller.grid
        focus = grid.number(tuple(place["block"]), tuple(place["thread"]))
        groups = [(row.first, row.last) for row in rows if row.address == address]
        everyone = [thread for first, last in groups for thread in range(first, last + 1)]
        known = self._counted.get(address, [])
        self._counted[address] = groups
        failures = await self._failures(here) if "#pkdb" in str(place["source"]) else {}
        ids: list[int] = []
        hits: dict[int, int] = {}
        thread = -1
        for placed in here:
            wanted = placed.wanted
            threads, why = await self._met(wanted, everyone, focus)
            if why:
                failures[wanted.id] = why
            count = outside(threads, known)
            if not threads or (not count and cause is None):
                continue
            hits[wanted.id] = count
            before = placed.passed
            placed.passed += count
            if before + count <= wanted.ignore:
                continue
            if wanted.speaks:
                await self._speak(wanted.id, threads, failures.get(wanted.id, ""))
                continue
            ids.append(wanted.id)
            preferred = self._controller.focus if self._controller.focus in threads else focus
            if preferred not in threads:
                preferred = threads[0]
            thread = thread if thread >= 0 else preferred
        if not ids:
            if cause is None:
                self._passed(hits)
                return None
            return Meeting(cause, hits=hits)
        failed = failed_text(ids, failures)
        return Meeting(StopCause.BREAKPOINT, tuple(ids), hits, failed, thread if thread != focus else -1)

    async def _met(self, wanted: NativeBreakpoint, threads: Sequence[int], focus: int) -> tuple[Sequence[int], str]:
        """Those of the threads at its place that a breakpoint is for, and why a condition can't be told.

        Several may stand there: cuda-gdb stops for the first thread that any of them is for, and tells no others.
        """
        if wanted.threads:
            threads = [thread for thread in threads if thread in wanted.threads]
        if wanted.condition:
            near = sorted(threads, key=lambda thread: thread != focus)[:JUDGED]
            places = [self._controller.grid.place(thread) for thread in near]
            asked = {"condition": wanted.condition, "threads": places}
            told = dict(zip(near, await self._controller.ask("holding", asked), strict=True)) if near else {}
            await self._controller.select(focus)
            why = next((why for _, why in told.values() if why), "")
            return sorted(thread for thread, (held, _) in told.items() if held), why
        if wanted.judged:
            verdicts = await self._judge(wanted.id, threads)
            held = [thread for thread in threads if verdicts.get((wanted.id, thread), "") is not None]
            return held, next((why for why in verdicts.values() if why), "")
        return threads, ""

    async def _failures(self, here: Sequence[Placed]) -> dict[int, str]:
        """Why conditions that are built in could not be evaluated by the thread in focus, by breakpoint."""
        own = [placed.wanted for placed in here if placed.wanted.bit >= 0]
        if not own:
            return {}
        told = await self._controller.ask("failures", {"line": own[0].line, "bits": [wanted.bit for wanted in own]})
        return {wanted.id: why for wanted, why in zip(own, told, strict=True) if why}

    def _passed(self, hits: Mapping[int, int]) -> None:
        """Count hits that stop nobody."""
        if hits:
            self._controller.listener(ThreadsChanged(threads=(), hits=hits))
        self.all_move()

    async def _judge(self, number: int, threads: Sequence[int]) -> Mapping[Hit, str | None]:
        owner = self._controller.owner
        return await owner.judge([(number, thread) for thread in threads]) if owner is not None else {}

    async def _speak(self, number: int, threads: Sequence[int], text: str) -> None:
        owner = self._controller.owner
        if owner is not None:
            hits = [(number, thread) for thread in threads]
            await owner.speak(hits, dict.fromkeys(hits, text) if text else {})


def _differs(placed: NativeBreakpoint, wanted: NativeBreakpoint | None) -> bool:
    if wanted is None:
        return True
    names = ("source", "line", "function", "watch", "condition", "threads", "bit")
    return any(getattr(placed, name) != getattr(wanted, name) for name in names)


def _real(source: str) -> str:
    file, mark, rest = source.partition("#pkdb")
    return os.path.realpath(file) + mark + rest
