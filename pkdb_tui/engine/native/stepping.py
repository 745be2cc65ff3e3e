"""Stepping one thread or all of them from Python line to Python line, through whatever lies between."""

from __future__ import annotations

import asyncio
import contextlib
import re
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pkdb_tui.engine.errors import NativeError
from pkdb_tui.engine.native.base import StepKind, StopCause
from pkdb_tui.engine.native.threads import Arrival

if TYPE_CHECKING:
    from pkdb_tui.engine.native.gdb import GdbController

DOUBLE_DIGITS = 17  # that gdb writes of a double; more are those of a long double
TRIES = 60  # hops through generated code before giving a thread up as lost in it
OUTWARD = "outward"  # until a thread is back at the Python line it called from
VERBS = {StepKind.STEP: "step", StepKind.NEXT: "next", StepKind.FINISH: "finish", StepKind.UNTIL: "continue"}


class Stepper:
    """At most one step at a time; the stops of its threads come here first.

    A thread whose step waits for others is `late`: the stop is told without it, and it is expected to arrive.
    """

    def __init__(self, controller: GdbController) -> None:
        self._controller = controller
        self._task: asyncio.Task[None] | None = None
        self._kind = StepKind.STEP
        self._starts: dict[int, dict[str, Any]] = {}  # gdb thread -> where its step began
        self._waiting: set[int] = set()
        self._arrivals: dict[int, Arrival] = {}  # came, and not told yet
        self._inward: set[int] = set()  # threads sent back out of generated code into the line they step from
        self._late: set[int] = set()
        self._came = asyncio.Event()
        self._own: dict[int, list[int]] = {}  # gdb thread, 0 for any -> gdb numbers of breakpoints of ours
        self._silenced = False
        self._entering = False

    # --- from the controller ---

    @property
    def active(self) -> bool:
        return self._task is not None and not self._task.done()

    def takes(self, arrival: Arrival) -> bool:
        """Whether a stop belongs to the step under way."""
        if arrival.number not in self._waiting:
            return False
        self._waiting.discard(arrival.number)
        if self._kind is StepKind.FINISH:
            arrival.returned = python_text(str(arrival.body.get("return-value", "")))
        self._arrivals[arrival.number] = arrival
        self._came.set()
        return True

    def expects(self, arrival: Arrival, numbers: Sequence[int]) -> bool:
        """Whether a stop that is nobody's breakpoint is a thread at its first line, or one late from its step."""
        if self._entering and any(number in self._own.get(0, ()) for number in numbers):
            return True
        at_line = bool(arrival.place.get("file")) and bool(arrival.place.get("at_top"))
        return arrival.number in self._late and at_line

    def stands(self, number: int) -> None:
        """gdb says that a thread expected to step is stopped, and has not told of a stop."""
        if number in self._waiting:
            self.takes(Arrival(number, "", {}))

    def cancel(self) -> None:
        """Follow no step any more; what has come and was not told is gathered as any other stop."""
        task, self._task = self._task, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()
        arrivals, self._arrivals = self._arrivals, {}
        self._waiting.clear()
        for arrival in arrivals.values():
            self._controller.gathering.arrived(arrival)

    async def leave(self) -> None:
        """Threads are about to be let go, or to be stopped, by something else."""
        self.cancel()
        self._late.clear()
        self._entering = False
        await self._drop_own()

    async def revive(self) -> None:
        """Breakpoints that were silenced for running to the end are wanted again."""
        if self._silenced:
            self._silenced = False
            await self._controller.placing.enable(True)

    async def launch_ended(self) -> None:
        with contextlib.suppress(NativeError):  # gdb is gone; its end is told elsewhere
            await self.leave()
            await self.revive()

    async def stop_at_entry(self) -> None:
        """Each thread stops at the first line of its first workunit call."""
        for address in await self._entry_addresses():
            await self._own_breakpoint(address, 0)
        self._entering = True

    # --- steps ---

    async def step(self, kind: StepKind, number: int, *, all_threads: bool, line: int) -> None:
        controller = self._controller
        told = controller.gathering.told
        self.cancel()
        rest = controller.gathering.at_rest()
        numbers = (
            [n for n in rest if controller.threads.in_kernel(n)] if all_threads else [n for n in rest if n == number]
        )
        if not numbers:
            thread = controller.threads.kernel_number(number)
            raise NativeError(f"Thread {thread} is not stopped.", "`threads` shows what each one does.")
        late = self._late - set(numbers)
        await self.leave()
        self._late = late
        rows = await controller.ask("place", {"threads": numbers})
        starts = {row["thread"]: row for row in rows}
        if kind is StepKind.FINISH and all(_in_workunit(start) for start in starts.values()):
            await self._run_out(told)
            return
        if kind is StepKind.UNTIL:
            for thread in numbers:
                await self._until(thread, starts[thread], line)
        if kind is StepKind.STEP:
            for thread in [n for n in numbers if starts[n].get("file")]:
                await self._arrive_inside(thread, launches=starts[thread].get("stack") == -1)
        async with controller.gathering.lock:
            controller.gathering.still(told)
            controller.gathering.shown = False
            self._kind, self._starts = kind, starts
            self._arrivals, self._inward = {}, set()
            self._waiting = set(numbers)
            await self._set_off(numbers)
            self._task = controller.watched(asyncio.get_running_loop().create_task(self._follow(numbers)))

    async def _set_off(self, numbers: Sequence[int]) -> None:
        """Each in the way its place asks for: gdb refuses to step where it knows no lines, and says so to nobody."""
        by_verb: dict[str, list[int]] = {}
        for number in numbers:
            by_verb.setdefault(await self._first_verb(number), []).append(number)
        for verb, together in by_verb.items():
            if verb == OUTWARD:
                further = 1 if self._kind is StepKind.FINISH else 0  # out of the frame that is shown, too
                for number in together:
                    await self._controller.go_outward(number, self._starts[number]["depth"] + further)
            else:
                await self._controller.release(together, verb)

    async def _first_verb(self, number: int) -> str:
        place = self._starts[number]
        if place.get("at_top") or self._kind is StepKind.UNTIL:
            return VERBS[self._kind]
        return await self._way_out(number, place)

    async def _run_out(self, told: int) -> None:
        """To the end of the launch, whatever breakpoints there are."""
        self._silenced = True
        await self._controller.placing.enable(False)
        try:
            await self._controller.gathering.go_on(None, told)
        except NativeError:
            await self.revive()
            raise

    async def _until(self, number: int, start: dict[str, Any], line: int) -> None:
        controller = self._controller
        if not line:
            found = await controller.ask("beyond", {"thread": number})
            deep = f"(unsigned long) $sp >= {found['stack']}"
            for address in found["addresses"]:
                await self._own_breakpoint(address, number, deep)
            await self._arrive_at_next_call(number)
            return
        answer = await controller.ask("where", {"source": start["file"], "line": line})
        if not answer["addresses"]:
            hint = f"The next one is {answer['next']}." if answer["next"] else "`finish` leaves the kernel."
            raise NativeError(f"Line {line} is not a kernel line.", hint)
        for address in answer["addresses"]:
            await self._own_breakpoint(address, number)

    async def _follow(self, numbers: list[int]) -> None:
        """Bring every stepping thread to a Python line, then tell the stop."""
        settled: list[Arrival] = []
        tries = dict.fromkeys(numbers, 0)
        trouble = ""
        try:
            while await self._next_arrivals():
                arrivals = [a for a in self._arrivals.values() if a not in settled]
                for row in await self._controller.ask("place", {"threads": [a.number for a in arrivals]}):
                    self._arrivals[row["thread"]].place = row
                for arrival in arrivals:
                    tries[arrival.number] += 1
                    if not await self._hop(arrival, tries[arrival.number]):
                        settled.append(arrival)
        except NativeError as error:
            trouble = error.title
        await self._tell(settled, trouble)

    async def _next_arrivals(self) -> bool:
        """Until a stepping thread stops; False when all have, or when those that haven't wait for others."""
        self._came.clear()
        fresh = [a for a in self._arrivals.values() if not a.place]
        if fresh or not self._waiting:
            return bool(fresh)
        came = asyncio.ensure_future(self._came.wait())
        wait = asyncio.ensure_future(self._controller.gathering.waiting.until_they_wait(list(self._waiting)))
        try:
            await asyncio.wait({came, wait}, return_when=asyncio.FIRST_COMPLETED)
            if wait.done() and not came.done():
                wait.result()
                return False
            return True
        finally:
            came.cancel()
            await self._end_of(wait)

    @staticmethod
    async def _end_of(wait: asyncio.Future[None]) -> None:
        """A look at the threads that has begun is finished: it may hold one of them stopped."""
        if not wait.done():
            wait.cancel()
        await asyncio.wait({wait})

    async def _hop(self, arrival: Arrival, tries: int) -> bool:
        """Send a thread on that stands in generated code; False when it has arrived somewhere."""
        controller = self._controller
        place, number = arrival.place, arrival.number
        shown, _ = await controller.placing.classify({number: arrival}, interrupting=False)
        if shown:
            return False  # a breakpoint, a watchpoint or a fault on the way
        if arrival.passing and await self._passes(arrival):
            return True  # a log point on the way
        arrival.cause, arrival.matters = StopCause.STEP, True
        if place.get("kind") == "error" or tries > TRIES:
            return False
        if place.get("file") and place.get("at_top"):
            if place.get("before_turn") and self._kind in (StepKind.STEP, StepKind.NEXT):
                await self._send(number, VERBS[self._kind])
                return True
            if not self._is_same_statement(number, place):
                return False
            await self._send(number, VERBS[self._kind])
            return True
        await self._drop_own(number)
        verb = await self._way_out(number, place)
        if not arrival.reason:
            verb = "continue"  # gdb has refused the other ways without a word
        if verb == OUTWARD:
            self._arrivals.pop(number, None)
            self._waiting.add(number)
            await controller.go_outward(number, place["depth"])
        else:
            await self._send(number, verb)
        return True

    async def _passes(self, arrival: Arrival) -> bool:
        """Send a thread on whose step a breakpoint has interrupted that stops nobody; False where the step ends."""
        number, place = arrival.number, arrival.place
        if self._kind is StepKind.UNTIL:
            await self._send(number, "continue")
            return True
        outward = int(place.get("stack", -1)) - int(self._starts.get(number, {}).get("stack", -1))
        if self._kind is StepKind.FINISH:
            outward += 1
        if outward <= 0 or self._kind is StepKind.STEP:
            return False
        self._arrivals.pop(number, None)
        self._waiting.add(number)
        self._inward.add(number)
        await self._controller.go_outward(number, outward)
        return True

    async def _way_out(self, number: int, place: dict[str, Any]) -> str:
        """How a thread leaves generated code or a library. Its next workunit call is a place to arrive at, too."""
        await self._arrive_at_next_call(number)
        if self._kind is StepKind.STEP:
            await self._arrive_inside(number, launches=False)
        if place.get("stack") == 0:
            return "next"
        if place.get("file"):
            self._inward.add(number)
            return OUTWARD
        return "continue"

    def _is_same_statement(self, number: int, place: dict[str, Any]) -> bool:
        """Whether a thread only came from a built-in condition to its statement, or back into the line it left."""
        start = self._starts.get(number, {})
        if any(start.get(key) != place.get(key) for key in ("line", "file", "stack")):
            return False
        if number in self._inward:
            self._inward.discard(number)
            return self._kind is not StepKind.FINISH and not place.get("begins")
        if self._kind is not StepKind.FINISH and place.get("begins") is False:
            return True  # it was left for a part of the same line that isn't the person's, as a lambda's head
        from_condition = "#pkdb" in start.get("source", "") and "#pkdb" not in place.get("source", "")
        to_test = bool(start.get("before_turn")) and not place.get("before_turn")
        self._starts[number] = place
        return from_condition or to_test

    async def _send(self, number: int, verb: str) -> None:
        self._arrivals.pop(number, None)
        self._waiting.add(number)
        await self._controller.release([number], verb)

    async def goes_on(self, number: int, place: dict[str, Any]) -> bool:
        """A stepping thread was stopped for an instant: resume its step, if gdb has lost it by that."""
        if number not in self._waiting or self._kind is StepKind.UNTIL:
            return False
        outward = int(place.get("stack", -1)) - int(self._starts.get(number, {}).get("stack", -1))
        if place.get("stack", -1) < 0 or outward < 0:
            await self._arrive_at_next_call(number)
            return False
        if self._kind is StepKind.FINISH:
            outward += 1
        if outward > 0:
            self._inward.add(number)
            await self._controller.go_outward(number, outward)
        else:
            await self._controller.release([number], VERBS[self._kind])
        return True

    async def _tell(self, settled: list[Arrival], trouble: str) -> None:
        controller = self._controller
        gathering = controller.gathering
        late = sorted(self._waiting)
        self._waiting.clear()
        for arrival in [a for a in self._arrivals.values() if a not in settled]:
            del self._arrivals[arrival.number]
            gathering.arrived(arrival)
        async with gathering.lock:
            await self._drop_own()
            self._late.update(late)
            if settled:
                await gathering.tell_stop(settled)
                self._arrivals = {}
            else:
                await gathering.tell_waiting(late, trouble)
        self._task = None
        gathering.start()

    # --- breakpoints of ours ---

    async def _arrive_at_next_call(self, number: int) -> None:
        for address in await self._entry_addresses():
            await self._own_breakpoint(address, number)

    async def _arrive_inside(self, number: int, *, launches: bool) -> None:
        """In what a line calls through a library: a lambda, or, of a line that `launches` kernels, the kernel."""
        for address in (await self._controller.ask("entry", {"lambdas": True}))["addresses"]:
            await self._own_breakpoint(address, number)
        if launches:
            await self._arrive_at_next_call(number)

    async def _entry_addresses(self) -> list[int]:
        answer = await self._controller.ask("entry")
        addresses: list[int] = answer["addresses"]
        return addresses

    async def _own_breakpoint(self, address: int, number: int, condition: str = "") -> None:
        argument = {"address": address, "thread": number, "condition": condition}
        made = await self._controller.ask("insert", argument)
        self._own.setdefault(number, []).append(made["number"])

    async def _drop_own(self, number: int | None = None) -> None:
        """Those for one thread, or all."""
        threads = list(self._own) if number is None else [number]
        numbers = [own for thread in threads for own in self._own.pop(thread, [])]
        if numbers:
            await self._controller.ask("remove", {"numbers": numbers})


def _in_workunit(place: dict[str, Any]) -> bool:
    """Whether the innermost Python frame is the workunit call itself; it may stand in what its line calls."""
    stack = int(place.get("stack", -1))
    return stack >= 0 and stack == max(int(place.get("depth", 0)), 0)


def python_text(value: str) -> str:
    """A number or truth value that gdb has written, as Python writes it; empty for anything else."""
    if value in ("true", "false"):
        return value.capitalize()
    try:
        return str(int(value))
    except ValueError:
        pass
    sign = "-" if value.startswith("-") else ""
    if value.removeprefix("-").startswith("nan"):
        return "nan"
    if value.removeprefix("-") == "inf":
        return f"{sign}inf"
    half = re.fullmatch(r"\{bits = (\d+)\}", value)  # the embedded runtime's float16
    if half is not None:
        return str(struct.unpack("<e", int(half[1]).to_bytes(2, "little"))[0])
    try:
        number = float(value)
    except ValueError:
        return ""
    digits = sum(map(str.isdigit, value.partition("e")[0].lstrip("-0.")))
    return repr(number) if digits <= DOUBLE_DIGITS else _long_double(value)


def _long_double(text: str) -> str:
    import numpy as np  # takes longer to load than the rest of the start

    return str(np.longdouble(text))
