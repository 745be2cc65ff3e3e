"""CudaController: kernels on an NVIDIA device. A stop is everybody's: what it is, what it shows, how it goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from pkdb_tui.engine.api import ThreadRange, ThreadState
from pkdb_tui.engine.errors import NativeError
from pkdb_tui.engine.native.base import (
    KernelStopped,
    Listener,
    NativeBreakpoint,
    NativeFrame,
    NativePlacement,
    NativeStop,
    NativeVariable,
    PauseMissed,
    StepKind,
    StopCause,
    Triple,
    variable_of,
)
from pkdb_tui.engine.native.cuda_breakpoints import DeviceBreakpoints
from pkdb_tui.engine.native.cuda_process import CudaProcess
from pkdb_tui.engine.native.cuda_steps import DeviceSteps
from pkdb_tui.engine.native.grid import Grid, Row, rows_of, spoken
from pkdb_tui.engine.native.mi import quote
from pkdb_tui.engine.protocol import KernelReady

OUTWARD = 5  # attempts to bring a thread out of library code, which others may interrupt
OUTSIDE = "outside of the kernel"  # of threads that are through, and of those beyond the last iteration
LOOKED_AT = 64  # groups of threads in library code whose Python line is asked for at a stop


class CudaController(CudaProcess):
    """cuda-gdb attached to the program; see `base.Controller`."""

    def __init__(self, listener: Listener, *, gdb: str = "cuda-gdb") -> None:
        super().__init__(listener, gdb=gdb)
        self.breakpoints = DeviceBreakpoints(self)
        self.steps = DeviceSteps(self)
        self.kernel: KernelReady | None = None
        self.grid = Grid()
        self._kernel = ""  # cuda-gdb's number of the launch that is stopped
        self._rows: list[Row] = []
        self._states: tuple[ThreadRange, ...] = ()
        self._faulty = -1  # the thread whose exception the stop is

    def renew(self) -> None:
        self.breakpoints = DeviceBreakpoints(self)
        self._reset()

    async def clear(self) -> None:
        await self.breakpoints.clear()

    def cancel_steps(self) -> None:
        self.steps.cancel()

    def moves(self, *, all_threads: bool) -> None:
        self._views = {}
        if all_threads:
            self._faulty = -1

    # --- a launch ---

    async def load_kernel(self, kernel: KernelReady) -> None:
        conditions = [(placed.file, placed.line, placed.number) for placed in kernel.conditions]
        facts = {"entry": kernel.entry, "name": kernel.kernel, "lines": kernel.lines, "conditions": conditions}
        await self.ask("load", facts)
        self.kernel = kernel

    async def place(self, breakpoints: Sequence[NativeBreakpoint]) -> list[NativePlacement]:
        return await self.breakpoints.reconcile(breakpoints)

    async def launch_begun(self, kernel: KernelReady) -> None:
        self.kernel = kernel
        self.focus = 0
        self._reset()
        await self.breakpoints.catch(kernel)

    async def launch_ended(self) -> None:
        self._reset()
        if self.attached:
            with contextlib.suppress(NativeError):  # cuda-gdb is gone; its end is told elsewhere
                await self.breakpoints.launch_ended()

    def _reset(self) -> None:
        self.cancel()
        self.shown = False
        self._rows, self._states, self._views, self._faulty = [], (), {}, -1

    # --- going on ---

    def _still(self) -> None:
        if not self.mi.running:
            raise NativeError("The native debugger is not running.")
        if not self.shown:
            raise NativeError("The kernel is not stopped.")

    async def resume(self, threads: Sequence[int] | None = None) -> None:
        self._still()
        if threads is not None:
            raise NativeError("Threads of a device can't go on alone.", "`continue` lets all of them go on.")
        async with self.lock:
            self.breakpoints.all_move()
            await self.go()

    async def step(self, kind: StepKind, thread: int, *, all_threads: bool = False, line: int = 0) -> None:
        self._still()
        if all_threads:
            raise NativeError(
                "A device steps one warp, the others stay.", "To move all, set a breakpoint further on and `continue`."
            )
        await self.select(thread)
        await self.steps.begin(kind, line)

    async def arrived(self, body: dict[str, Any], cause: StopCause | None = None) -> None:
        """Find out what a stop is, and tell it, or let everything go on."""
        async with self.lock:
            signal = str(body.get("signal-name", ""))
            pausing, self._pausing = self._pausing, False
            sent, self._sent = self._sent, False
            if signal == "SIGINT" and not pausing:
                await self._interrupted()
            elif signal == "SIGINT":
                await self._paused(body)
            else:
                self._owed += sent  # what was asked to stop has stopped by itself: the signal is still to come
                await self._met(body, signal, cause)

    async def _paused(self, body: Mapping[str, Any]) -> None:
        place = await self._look(body) if "CudaFocus" in body else {}
        if not place.get("file"):
            place = await self._some_thread(place)
        if place.get("file"):
            place = await self._outward(place)
        if not place.get("file"):
            await self.go()
            self.listener(PauseMissed())
            return
        await self.tell(StopCause.PAUSE, place)

    async def _outward(self, place: dict[str, Any]) -> dict[str, Any]:
        """Bring the thread in focus from library code back to its Python line; empty when it isn't there any more.

        cuda-gdb doesn't know the variables of outer frames: they are in registers that the inner ones use.
        """
        thread = self.grid.number(tuple(place["block"]), tuple(place["thread"]))
        for _ in range(OUTWARD):
            if place["at_top"] or not place["file"]:
                break
            await self.mi.command(f"-interpreter-exec console {quote('frame ' + str(place['level'] - 1))}")
            body = await self.move("-exec-finish")
            if "CudaFocus" not in body:
                return {}
            self._kernel = str(body["CudaFocus"].get("kernel", ""))
            await self.select(thread)
            place = await self.ask("place")
        await self._take_rows(place)
        return place

    async def _some_thread(self, place: Mapping[str, Any]) -> dict[str, Any]:
        """A thread that is in the workunit, where the one in focus is not."""
        found = next((part for part in self._states if part.line), None) if place else None
        if found is None:
            return {}
        await self.select(found.first)
        answer: dict[str, Any] = await self.ask("place")
        return answer

    async def _met(self, body: Mapping[str, Any], signal: str, cause: StopCause | None) -> None:
        if "CudaFocus" not in body:
            await self.go()  # the host has nothing that stops but for us
            return
        place = await self._look(body)
        if signal:
            text = str(body.get("exception_name", "") or body.get("signal-meaning", ""))
            self._faulty = self.grid.number(tuple(place["block"]), tuple(place["thread"]))
            await self.tell(StopCause.SIGNAL, place, text=f"{signal}: {text}" if text else signal)
            return
        meeting = await self.breakpoints.meet(place, self._rows, cause)
        if meeting is None:
            await self.go()
            return
        if meeting.thread >= 0:
            await self.select(meeting.thread)
            place = await self.ask("place")
        if meeting.cause is StopCause.BOUNDS:
            place = await self._outward(place)
            if not place:
                await self.go()
                return
        await self.tell(meeting.cause, place, text=meeting.text, ids=meeting.ids, hits=meeting.hits)

    async def _look(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Where the focus is, what shape the launch has, and what all threads do."""
        place: dict[str, Any] = await self.ask("place")
        self.grid = Grid(tuple(place["grid"]), tuple(place["size"]))
        self._kernel = str(body["CudaFocus"].get("kernel", ""))
        await self._take_rows(place)
        return place

    async def _take_rows(self, place: Mapping[str, Any]) -> None:
        self._rows = rows_of(await self.mi.command("-cuda-info-threads"), self.grid, self._kernel)
        self._states = await self._ranges(place)

    async def _ranges(self, place: Mapping[str, Any]) -> tuple[ThreadRange, ...]:
        """What each thread does; the line of those in library code is the one they called it from."""
        inside = [row for row in self._rows if not row.file.endswith(".py") and "#pkdb" not in row.file][:LOOKED_AT]
        asked = [self.grid.place(row.first) for row in inside]
        lines = await self.ask("lines-of-threads", {"threads": asked}) if asked else []
        known = {row.first: line for row, line in zip(inside, lines, strict=True)}
        if asked:
            await self.ask("lines-of-threads", {"threads": [[place["block"], place["thread"]]]})  # the focus as it was
        merged: list[ThreadRange] = []
        for row in self._rows:
            python = (row.file.partition("#pkdb")[0], row.line)
            file, line = known.get(row.first, python if python[0].endswith(".py") else ("", 0))
            state = ThreadState.BREAKPOINT if file and self.breakpoints.at(row.address) else ThreadState.STOPPED
            detail = OUTSIDE if row.first in known and not file else ""
            part = ThreadRange(first=row.first, last=row.last, state=state, file=file, line=line, detail=detail)
            last = merged[-1] if merged else None
            if (
                last
                and last.last == row.first - 1
                and msgspec.structs.replace(part, first=last.first, last=last.last) == last
            ):
                merged[-1] = msgspec.structs.replace(last, last=row.last)
            else:
                merged.append(part)
        return tuple(with_absent(merged, self.grid.count))

    # --- telling ---

    async def tell(
        self,
        cause: StopCause,
        place: Mapping[str, Any],
        *,
        text: str = "",
        ids: tuple[int, ...] = (),
        hits: Mapping[int, int] | None = None,
        returned: str = "",
    ) -> None:
        thread = self.grid.number(tuple(place["block"]), tuple(place["thread"]))
        self._views = {}
        await self.breakpoints.revive()
        with contextlib.suppress(NativeError):  # asked again, and told, when it is looked at
            await self._view(thread)
        self.shown = True
        stop = NativeStop(
            cause=cause, thread=thread, breakpoints=ids, hits=hits or {}, text=text, threads=self._states,
            returned=returned,
        )  # fmt: skip
        self.listener(KernelStopped(stop=stop))

    async def stands(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """As `_look`, for a step."""
        return await self._look(body)

    # --- looking ---

    def number_of(self, near: int, block: Triple | None, thread: Triple | None) -> int:
        here = self.grid.place(near)
        block, thread = block or here[0], thread or here[1]
        if not self.grid.has(block, thread):
            raise NativeError(
                f"There is no thread {spoken(thread, self.grid.size)} in block {spoken(block, self.grid.blocks)}.",
                f"The grid is {_shape(self.grid.blocks)}, a block {_shape(self.grid.size)}.",
            )
        return self.grid.number(block, thread)

    def name_of(self, thread: int, count: int) -> str:
        block, place = self.grid.place(thread)
        return f"block {spoken(block, self.grid.blocks)} thread {spoken(place, self.grid.size)} of {self.grid.count}"

    async def select(self, thread: int) -> None:
        block, place = self.grid.place(thread)
        await self.ask("lines-of-threads", {"threads": [[block, place]]})

    def _named(self, thread: int) -> dict[str, Any]:
        block, place = self.grid.place(thread)
        return {"block": block, "thread": place, "fault": thread == self._faulty}

    async def _view(self, thread: int) -> dict[str, Any]:
        found = self._views.get(thread)
        if found is None:
            found = self._views[thread] = await self.ask("view", self._named(thread))
        return found

    async def thread_states(self) -> tuple[ThreadRange, ...]:
        return self._states

    async def frames(self, thread: int) -> list[NativeFrame]:
        if self.running:
            return []
        return [msgspec.convert(row, NativeFrame) for row in (await self._view(thread))["frames"]]

    async def variables(self, thread: int, level: int) -> list[NativeVariable]:
        view = await self._view(thread)
        rows = view["variables"]
        if level != view["level"]:
            rows = await self.ask("variables", {**self._named(thread), "level": level})
        return [variable_of(row) for row in rows]

    async def variables_of_threads(
        self, threads: Sequence[int], names: Sequence[str]
    ) -> dict[int, list[NativeVariable]]:
        if self.running:
            return {}
        places = [self.grid.place(thread) for thread in threads]
        rows = await self.ask("variables-of-threads", {"threads": places, "names": list(names)})
        return {thread: [variable_of(row) for row in found] for thread, found in zip(threads, rows, strict=True)}

    async def read_memory(self, regions: Sequence[tuple[int, int]]) -> list[bytes]:
        return await self.memory_of(self.focus, regions)

    async def memory_of(self, thread: int, regions: Sequence[tuple[int, int]]) -> list[bytes]:
        if not regions:
            return []
        if self.running:
            raise NativeError("The device's memory can be read only while its kernel is stopped.")
        block, place = self.grid.place(thread)
        asked = {"block": block, "thread": place, "regions": [list(region) for region in regions]}
        return [bytes.fromhex(text) for text in await self.ask("read", asked)]


def with_absent(parts: Sequence[ThreadRange], count: int) -> Iterator[ThreadRange]:
    """All threads of the launch: those between, too, that are not on the device."""
    following = 0
    for part in parts:
        if part.first > following:
            yield ThreadRange(first=following, last=part.first - 1, state=ThreadState.ABSENT)
        yield part
        following = part.last + 1
    if following < count:
        yield ThreadRange(first=following, last=count - 1, state=ThreadState.ABSENT)


def _shape(shape: Sequence[int]) -> str:
    return " × ".join(str(extent) for extent in shape)
