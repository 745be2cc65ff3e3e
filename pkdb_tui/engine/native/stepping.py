"""Stepping one thread or all of them from Python line to Python line, through whatever lies between."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pkdb_tui.engine.errors import NativeError
from pkdb_tui.engine.native.base import KernelStopped, NativeStop, StepKind, StopCause
from pkdb_tui.engine.native.threads import Arrival

if TYPE_CHECKING:
    from pkdb_tui.engine.native.gdb import GdbController

MOMENT = 0.6  # seconds after which a step that doesn't come back is said to wait
TRIES = 40  # hops through generated code before giving a thread up as lost in it
VERBS = {StepKind.STEP: "step", StepKind.NEXT: "next", StepKind.FINISH: "finish", StepKind.UNTIL: "until"}


class Stepper:
    """At most one step at a time; its thread's stops come here first."""

    def __init__(self, controller: GdbController) -> None:
        self._controller = controller
        self._task: asyncio.Task[None] | None = None
        self._waiting: set[int] = set()
        self._arrivals: dict[int, Arrival] = {}
        self._came = asyncio.Event()
        self._own: list[int] = []  # gdb numbers of breakpoints of ours
        self._silenced = False
        self._entry = False
        self._start: dict[str, Any] = {}

    # --- from the controller ---

    def takes(self, arrival: Arrival) -> bool:
        """Whether a stop belongs to the step under way."""
        if self._entry and arrival.reason == "breakpoint-hit" and int(arrival.body.get("bkptno", 0)) in self._own:
            self._entry = False
            self._task = asyncio.get_running_loop().create_task(self._entered(arrival))
            return True
        if arrival.number not in self._waiting:
            return False
        self._waiting.discard(arrival.number)
        self._arrivals[arrival.number] = arrival
        self._came.set()
        return True

    def cancel(self) -> None:
        task, self._task = self._task, None
        self._waiting.clear()
        self._entry = False
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def launch_ended(self) -> None:
        self.cancel()
        await self._drop_own()
        if self._silenced:
            self._silenced = False
            await self._controller.placing.enable(True)

    async def stop_at_entry(self) -> None:
        """The first thread to enter the kernel stops at its first line."""
        await self._own_breakpoints(await self._entry_addresses(), 0)
        self._entry = True

    # --- steps ---

    async def step(self, kind: StepKind, number: int, *, all_threads: bool, line: int) -> None:
        self.cancel()
        await self._drop_own()
        controller = self._controller
        places = await controller.ask("place", {"threads": [number]})
        start: dict[str, Any] = places[0]
        self._start = start
        if kind is StepKind.FINISH and start.get("depth", -1) >= 0 and start["function"] == self._kernel_name():
            self._silenced = True
            await controller.placing.enable(False)
            await controller.release(list(controller.threads.stopped))
            return
        numbers = [n for n in controller.threads.stopped if n in controller.threads.team] if all_threads else [number]
        self._arrivals = {}
        self._came.clear()
        if kind is StepKind.UNTIL and line:
            answer = await controller.ask("where", {"source": start["source"], "line": line})
            if not answer["addresses"]:
                raise NativeError(f"Line {line} is not a kernel line.", "Choose a line with a dot in the gutter.")
            await self._own_breakpoints(answer["addresses"], number)
            verb = "continue"
        else:
            verb = VERBS[kind]
        self._waiting = set(numbers)
        await controller.release(numbers, verb)
        self._task = asyncio.get_running_loop().create_task(self._follow(kind, numbers, verb))

    def _kernel_name(self) -> str:
        return self._controller.kernel.kernel if self._controller.kernel is not None else ""

    async def _follow(self, kind: StepKind, numbers: list[int], verb: str) -> None:
        """Bring every stepping thread to a Python line, then tell the stop."""
        settled: list[Arrival] = []
        try:
            tries = {number: 0 for number in numbers}
            while self._waiting or self._arrivals:
                if not await self._arrival():
                    break
                arrivals, self._arrivals = self._arrivals, {}
                for row in await self._controller.ask("place", {"threads": list(arrivals)}):
                    arrivals[row["thread"]].place = row
                for arrival in arrivals.values():
                    tries[arrival.number] += 1
                    if await self._hop(kind, arrival, tries[arrival.number]):
                        continue
                    settled.append(arrival)
            await self._tell(settled, numbers)
        except NativeError as error:
            await self._tell(settled, numbers, error.title)

    async def _arrival(self) -> bool:
        """Until a stepping thread stops; False when none does for a moment."""
        if self._arrivals:
            return True
        self._came.clear()
        try:
            await asyncio.wait_for(self._came.wait(), MOMENT)
        except TimeoutError:
            return False
        return True

    async def _hop(self, kind: StepKind, arrival: Arrival, tries: int) -> bool:
        """Send a thread on that stands in generated code; False when it has arrived somewhere."""
        controller = self._controller
        place = arrival.place
        shown, _ = await controller.placing.classify({arrival.number: arrival}, interrupting=False)
        if shown:
            return False  # a breakpoint, a watchpoint or a fault on the way
        arrival.cause = StopCause.STEP
        if place.get("file") and place.get("at_top"):
            if not self._same_statement(place):
                return False
            self._waiting.add(arrival.number)
            await controller.release([arrival.number], VERBS[kind])
            return True
        if tries > TRIES:
            return False
        await self._drop_own()
        # Wherever it stands: the next workunit call of this thread is a place to arrive at, too.
        await self._own_breakpoints(await self._entry_addresses(), arrival.number)
        in_entry = place.get("innermost", "").endswith(self._entry_name())
        verb = "next" if in_entry else "finish" if place.get("file") else "continue"
        self._waiting.add(arrival.number)
        await controller.release([arrival.number], verb)
        return True

    def _same_statement(self, place: dict[str, Any]) -> bool:
        """Whether a thread only went from a built-in condition to the statement it belongs to."""
        start, self._start = self._start, {}
        same = all(start.get(key) == place.get(key) for key in ("thread", "line", "file", "depth"))
        return "#pkdb" in start.get("source", "") and "#pkdb" not in place.get("source", "") and same

    def _entry_name(self) -> str:
        return self._controller.kernel.entry if self._controller.kernel is not None else "?"

    async def _tell(self, settled: list[Arrival], numbers: list[int], trouble: str = "") -> None:
        controller = self._controller
        await self._drop_own()
        waiting = [n for n in numbers if n in self._waiting]
        self._waiting.clear()
        for arrival in settled:
            controller.threads.at(arrival)
        hits = controller.placing.hits(settled)
        if settled:
            await controller.tell_stop(settled, hits)
            return
        threads = ", ".join(str(controller.threads.kernel_number(n)) for n in waiting)
        text = trouble or f"thread {threads} waits for the others"
        resting = [n for n in controller.threads.stopped if n in controller.threads.team]
        focus = min((controller.threads.kernel_number(n) for n in resting), default=-1)
        if focus < 0:
            return  # nobody is left in the kernel: its end will be told
        states = await controller.thread_states()
        controller.listener(
            KernelStopped(stop=NativeStop(cause=StopCause.STEP, thread=focus, text=text, threads=states))
        )

    async def _entered(self, arrival: Arrival) -> None:
        controller = self._controller
        await self._drop_own()
        await controller._learn_threads()
        rows = await controller.ask("place", {"threads": [arrival.number]})
        arrival.place, arrival.cause = rows[0], StopCause.STEP
        controller.threads.at(arrival)
        await controller.tell_stop([arrival], {}, StopCause.STEP)

    # --- breakpoints of ours ---

    async def _entry_addresses(self) -> list[int]:
        answer = await self._controller.ask("entry")
        addresses: list[int] = answer["addresses"]
        return addresses

    async def _own_breakpoints(self, addresses: list[int], thread: int) -> None:
        for address in addresses:
            made = await self._controller.ask("insert", {"address": address, "thread": thread})
            self._own.append(made["number"])

    async def _drop_own(self) -> None:
        numbers, self._own = self._own, []
        if numbers:
            await self._controller.ask("remove", {"numbers": numbers})
