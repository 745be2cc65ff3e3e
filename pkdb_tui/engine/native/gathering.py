"""Gathering: one stop out of many threads', every arrival told exactly once."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pkdb_tui.engine.errors import NativeError
from pkdb_tui.engine.native.base import (
    ExpressionFaulted,
    KernelStopped,
    NativeStop,
    PauseMissed,
    StopCause,
    ThreadsChanged,
    failed_text,
)
from pkdb_tui.engine.native.threads import Arrival
from pkdb_tui.engine.native.waiting import Waiting

if TYPE_CHECKING:
    from pkdb_tui.engine.native.gdb import GdbController

QUIET = 0.05  # seconds without a further thread after which a stop is shown
SLEEPING = 0.004  # between two looks at whether the remaining threads wait
PAUSING = 1.0  # seconds that a thread may take to stop when all are asked to


class Gathering:
    """Arrivals stay pending, and their threads stopped, until they have been told.

    `lock` is held while arrivals are told and while threads are let go, so that neither sees half of the other.
    """

    def __init__(self, controller: GdbController) -> None:
        self._controller = controller
        self.lock = asyncio.Lock()
        self.waiting = Waiting(controller)
        self.pending: dict[int, Arrival] = {}
        self.shown = False  # a stop has been told; later arrivals are changes of it
        self.told = 0  # stops told so far
        self.interrupting = False  # all threads are asked to stop
        self._came = asyncio.Event()
        self._collector: asyncio.Task[None] | None = None
        self._apart: asyncio.Task[None] | None = None

    # --- from the controller ---

    def arrived(self, arrival: Arrival) -> None:
        self.pending[arrival.number] = arrival
        self._came.set()
        self.start()

    def start(self) -> None:
        """Tell what is pending, soon."""
        if (self.pending or self.interrupting) and (self._collector is None or self._collector.done()):
            self._collector = self._controller.watched(asyncio.get_running_loop().create_task(self._collect()))

    def cancel(self) -> None:
        """Tell nothing more; what is pending stays stopped."""
        for task in (self._collector, self._apart):
            if task is not None and task is not asyncio.current_task():
                task.cancel()
        self._collector = self._apart = None

    def reset(self) -> None:
        self.cancel()
        self.pending = {}
        self.shown = False
        self.interrupting = False

    def at_rest(self) -> list[int]:
        """Stopped threads whose stop has been told."""
        return [number for number in self._controller.threads.stopped if number not in self.pending]

    def still(self, told: int) -> None:
        """Raises NativeError when a stop was told after that many: whoever lets threads go on has not seen it."""
        if self.told != told:
            raise NativeError("The kernel has stopped anew.", "Look at that stop, then go on.")

    async def go_on(self, threads: Sequence[int] | None, told: int) -> None:
        """Let threads go on, all or these. Those that stopped untold make the next stop instead."""
        controller = self._controller
        async with self.lock:
            self.still(told)
            self.shown = False
            if threads is None:
                wanted = self.at_rest()
            else:
                wanted = [controller.threads.gdb_number(thread) for thread in threads]
            await controller.release(wanted)
        self.start()
        if threads is not None:
            self.watch_apart(wanted)

    def watch_apart(self, numbers: Sequence[int]) -> None:
        """Threads let go alone may come to wait for those that stay: then nothing else would ever be told."""
        if self._apart is not None:
            self._apart.cancel()
        self._apart = asyncio.get_running_loop().create_task(self._wait_apart(list(numbers)))

    async def _wait_apart(self, numbers: list[int]) -> None:
        try:
            await self.waiting.until_they_wait(numbers)
            async with self.lock:
                if not self.shown and not self.pending and not self._controller.stepper.active:
                    await self.tell_waiting(numbers)
        except NativeError:
            return  # gdb or the thread is gone, which is told elsewhere

    async def interrupt(self, *, rest: bool = False) -> None:
        """Stop every thread. Where a stop is shown that is done, but for the `rest`, which are changes of it."""
        async with self.lock:
            if self.shown and not rest:
                return
            if not self.shown:
                await self._controller.stepper.leave()
            self.interrupting = True
            await self._controller.learn_threads()
            await self._controller.mi.command("-exec-interrupt --all")
        self.start()

    # --- collecting ---

    async def _collect(self) -> None:
        """Wait until the team has come to rest, then tell it as one stop, or as a change of the one shown."""
        while self.pending or self.interrupting:
            asked = self.interrupting
            await self._rest()
            async with self.lock:
                if self._controller.stepper.active:
                    return  # its stop comes first
                if self.interrupting and not asked:
                    continue  # a pause came meanwhile: it means those too that were not waited for
                await self._tell()

    async def _rest(self) -> None:
        """Until every team thread stopped or waits, or nothing more has come for a moment."""
        loop = asyncio.get_running_loop()
        threads = self._controller.threads
        last, seen = loop.time(), len(self.pending)
        while loop.time() - last < (PAUSING if self.interrupting else QUIET):
            if threads.incomplete(self.pending):
                await self._controller.learn_threads()
            running = list(threads.running) if self.interrupting else threads.team_running()
            if not running or (not self.interrupting and self.waiting.asleep(running)):
                return
            self._came.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._came.wait(), SLEEPING)
            if len(self.pending) > seen:
                last, seen = loop.time(), len(self.pending)

    async def _tell(self) -> None:
        """Classify what is pending, let go what nobody asked for, and tell the rest."""
        controller = self._controller
        arrivals = dict(self.pending)
        interrupting = self.interrupting
        await self._find_places(arrivals, interrupting)
        shown, passed = await controller.placing.classify(arrivals, interrupting=interrupting)
        self.interrupting = False
        paused = interrupting and not self.shown
        if paused and not self._resting() and not any(arrival.in_kernel for arrival in shown):
            shown, passed = [], shown + passed
        if passed:
            self._forget(passed)
            await controller.release([arrival.number for arrival in passed])
        for arrival in [arrival for arrival in shown if arrival.faulty and self._evaluates(arrival)]:
            shown.remove(arrival)
            self._forget([arrival])
            controller.listener(ExpressionFaulted(text=arrival.text))
        if not shown and not interrupting:
            return
        if self.shown and not any(arrival.faulty for arrival in shown):
            self.rest(shown)
            hits = await controller.placing.hits(shown)
            controller.listener(ThreadsChanged(threads=controller.threads_now(), hits=hits))
            await controller.placing.retire(shown)
            return
        if not shown and not self._resting():  # about to enter a kernel, or to leave it
            controller.listener(PauseMissed())
            return
        await self.tell_stop(shown)

    def _evaluates(self, arrival: Arrival) -> bool:
        """Whether it is no thread of a kernel's, but one that runs an expression of the person's."""
        controller = self._controller
        return controller.owner is not None and controller.owner.evaluates(controller.threads.lwps[arrival.number])

    async def _find_places(self, arrivals: Mapping[int, Arrival], interrupting: bool) -> None:
        controller = self._controller
        unknown = [number for number, arrival in arrivals.items() if not arrival.place]
        rows = await controller.ask("place", {"threads": unknown}) if unknown else []
        for row in rows:
            arrivals[row["thread"]].place = row
        lost = [n for n in unknown if interrupting and not arrivals[n].place.get("file")]
        if lost:
            await controller.ask("unwindable", {"threads": lost})
            for row in await controller.ask("place", {"threads": lost}):
                arrivals[row["thread"]].place = row

    def _forget(self, arrivals: Sequence[Arrival]) -> None:
        for arrival in arrivals:
            if self.pending.get(arrival.number) is arrival:
                del self.pending[arrival.number]

    def rest(self, shown: Sequence[Arrival]) -> None:
        """These have been told, or are about to be: they rest at their places."""
        self._forget(shown)
        for arrival in shown:
            self._controller.threads.at(arrival)

    # --- telling ---

    async def tell_stop(self, shown: Sequence[Arrival]) -> None:
        """Send one KernelStopped; the focus is the worst thread, else the one looked at, else the lowest number.

        One of those that rest already, where none of the others stands at a line.
        """
        controller = self._controller
        for arrival in shown:
            controller.threads.at(arrival)
        first = min(shown, key=self._order, default=None)
        focus = first
        if first is None or not (first.faulty or first.place.get("file")):
            focus = next(iter(self._resting()), first)
        if focus is not None:
            await controller.prefetch(focus)
        await controller.stepper.revive()
        hits = await controller.placing.hits(shown)
        await controller.placing.retire(shown)
        self.rest(shown)
        self._send(self._stop(shown, first, focus, hits))

    def _order(self, arrival: Arrival) -> tuple[int, bool, int]:
        thread = self._controller.threads.kernel_number(arrival.number)
        return arrival.rank, thread != self._controller.focus, thread

    def _send(self, stop: NativeStop) -> None:
        self.shown = True
        self.told += 1
        self._controller.listener(KernelStopped(stop=stop))

    def _resting(self) -> list[Arrival]:
        """Where threads rest that were told before: those at kernel lines, by their numbers."""
        threads = self._controller.threads
        places = [place for number in self.at_rest() if (place := threads.place(number)) is not None]
        return sorted((p for p in places if p.place.get("file")), key=lambda p: threads.kernel_number(p.number))

    def _stop(
        self, shown: Sequence[Arrival], first: Arrival | None, focus: Arrival | None, hits: Mapping[int, int]
    ) -> NativeStop:
        controller = self._controller
        cause = first.cause if first is not None else StopCause.PAUSE
        ids = tuple(sorted({number for arrival in shown for number in arrival.ids}))
        text = first.text if first is not None else ""
        if cause is StopCause.BREAKPOINT:
            text = failed_text(ids, _failures(sorted(shown, key=self._order)))
        return NativeStop(
            cause=cause,
            thread=controller.threads.kernel_number(focus.number) if focus is not None else 0,
            breakpoints=ids if cause in (StopCause.BREAKPOINT, StopCause.WATCHPOINT) else (),
            hits=hits,
            text=text,
            threads=controller.threads_now(),
            returned=first.returned if first is not None and first is focus else "",
        )

    async def tell_waiting(self, numbers: Sequence[int], trouble: str = "") -> None:
        """Say that threads wait for those that are stopped; nothing when nobody is left in the kernel."""
        controller = self._controller
        threads = controller.threads
        resting = sorted(threads.kernel_number(n) for n in self.at_rest() if threads.in_kernel(n))
        if not resting:
            return
        names = ", ".join(str(threads.kernel_number(n)) for n in numbers)
        text = f"thread {names} waits for the others" if len(numbers) == 1 else f"threads {names} wait for the others"
        states = controller.threads_now()
        self._send(NativeStop(cause=StopCause.STEP, thread=resting[0], text=trouble or text, threads=states))


def _failures(shown: Sequence[Arrival]) -> dict[int, str]:
    """Why conditions could not be evaluated, by breakpoint; of the first thread for which one couldn't."""
    failures: dict[int, str] = {}
    for arrival in shown:
        failures = {**arrival.failures, **failures}
    return failures
