"""Whether threads that run wait for others: asleep on a lock of the system, or turning in a barrier."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from pkdb_tui.engine.native.proc import waits_for_a_thread

if TYPE_CHECKING:
    from pkdb_tui.engine.native.gdb import GdbController

LOOKS = 0.02  # seconds between two looks at the system's table of threads
ASLEEP = 0.16  # seconds asleep after which a thread counts as waiting
PEEK = 1.0  # seconds that stopping it may take
BUSY = 0.4  # seconds busy after which it is worth stopping a thread for an instant


class Waiting:
    """Looks from outside while threads sleep; stops one for an instant when only that can tell."""

    def __init__(self, controller: GdbController) -> None:
        self._controller = controller
        self._peeked: dict[int, asyncio.Future[bool]] = {}

    def asleep(self, numbers: Sequence[int]) -> bool:
        controller = self._controller
        return all(waits_for_a_thread(controller.pid, controller.threads.lwps.get(n, 0)) for n in numbers)

    def takes(self, number: int, reason: str, signal: str) -> bool:
        """Whether a stop is the one of `_turns`; any other stop of that thread answers it too."""
        future = self._peeked.get(number)
        if future is None or future.done():
            return False
        ours = reason == "signal-received" and signal in ("0", "SIGINT", "SIGSTOP")
        future.set_result(ours)
        return ours

    async def until_they_wait(self, numbers: Sequence[int]) -> None:
        """Return when all of these that still run wait for others; never as long as one computes or stands."""
        loop = asyncio.get_running_loop()
        asleep_since = busy_since = loop.time()
        patience = BUSY
        while True:
            await asyncio.sleep(LOOKS)
            running = [n for n in numbers if n in self._controller.threads.running]
            now = loop.time()
            if not self.asleep(running):
                asleep_since = now
            elif now - asleep_since >= ASLEEP:
                return
            if now - busy_since >= patience:
                await self._controller.learn_threads()
                for number in self._controller.threads.stopped.intersection(running):
                    self._controller.stepper.stands(number)
                if await self._all_turn(running):
                    return
                busy_since, patience = loop.time(), min(2 * patience, 5.0)

    async def _all_turn(self, numbers: Sequence[int]) -> bool:
        for number in numbers:
            if not self.asleep([number]) and not await self._look(number):
                return False
        return True

    async def _look(self, number: int) -> bool:
        """A look that has begun is finished even when nobody wants to know any more: it holds a thread stopped."""
        look = asyncio.ensure_future(self._turns(number))
        try:
            return await asyncio.shield(look)
        finally:
            await asyncio.wait({look})

    async def _turns(self, number: int) -> bool:
        """Stop a thread for an instant: whether it is in a barrier. Then it goes on as it went before."""
        async with self._controller.gathering.lock:
            return await self._stopped_at_barrier(number)

    @contextlib.asynccontextmanager
    async def held(self, number: int) -> AsyncIterator[None]:
        """A thread stopped, if it can be, for as long as this lasts."""
        controller = self._controller
        async with controller.gathering.lock:
            runs = number in controller.threads.running
            ours = runs and await self._stop(number)
            try:
                yield
            finally:
                if ours:
                    await controller.release([number])

    async def _stop(self, number: int) -> bool:
        """Stop a thread that runs; False when it comes to a stop of its own meanwhile, or to none."""
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._peeked[number] = future
        try:
            await self._controller.mi.command(f"-exec-interrupt --thread {number}")
            async with asyncio.timeout(PEEK):
                return await future
        except TimeoutError:
            return False
        finally:
            del self._peeked[number]

    async def _stopped_at_barrier(self, number: int) -> bool:
        controller = self._controller
        if number in controller.threads.stopped or controller.gathering.interrupting:
            return False  # it stands, or is to
        if not await self._stop(number):
            return False
        place = await self._place(number)
        controller.placing.stands(number, place)
        if not await controller.stepper.goes_on(number, place):
            await controller.release([number])
        return bool(place.get("barrier"))

    async def _place(self, number: int) -> dict[str, Any]:
        place: dict[str, Any] = (await self._controller.ask("place", {"threads": [number]}))[0]
        if not place.get("file") and not place.get("barrier"):
            await self._controller.ask("unwindable", {"threads": [number]})
            place = (await self._controller.ask("place", {"threads": [number]}))[0]
        return place
