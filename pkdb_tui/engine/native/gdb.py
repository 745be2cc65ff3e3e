"""GdbController: OpenMP kernels through gdb in non-stop mode, every thread for itself."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from pkdb_tui.engine.api import ThreadRange
from pkdb_tui.engine.errors import NativeError, NativeLost, NativeUnavailable
from pkdb_tui.engine.native import mi_controller
from pkdb_tui.engine.native.base import (
    Listener,
    NativeBreakpoint,
    NativeFrame,
    NativePlacement,
    NativeVariable,
    StepKind,
    StopCause,
    ThreadsChanged,
    variable_of,
)
from pkdb_tui.engine.native.gathering import Gathering
from pkdb_tui.engine.native.mi import Record, quote
from pkdb_tui.engine.native.placing import Placing
from pkdb_tui.engine.native.proc import attach_remedy
from pkdb_tui.engine.native.rescue import set_free
from pkdb_tui.engine.native.stepping import Stepper
from pkdb_tui.engine.native.threads import Arrival, Threads
from pkdb_tui.engine.protocol import KernelReady

Json = dict[str, Any]
log = logging.getLogger(__name__)

GDBSIDE = Path(__file__).with_name("gdbside.py")
SETTINGS = (
    *mi_controller.SETTINGS, "set non-stop on",
    "handle all nostop noprint pass", "handle SIGINT nostop noprint pass",
    "handle SIGSEGV SIGFPE SIGABRT SIGBUS SIGILL stop print pass",
    "skip -rfu ^(Kokkos|std|desul|pk)::", "skip -gfi /usr/include/*",
    # By name, because functions of PyKokkos' kernels begin in pk_glue.hpp.
    "skip -gfi */pk_common.hpp", "skip -gfi */pk_runtime.hpp",
)  # fmt: skip
ATTACH_SECONDS = 5.0


class GdbController(mi_controller.MiController):
    """gdb attached to the program; see `base.Controller`."""

    def __init__(self, listener: Listener, *, gdb: str = "gdb") -> None:
        super().__init__(listener)
        self._gdb = gdb
        self.threads = Threads()
        self.placing = Placing(self)
        self.gathering = Gathering(self)
        self.stepper = Stepper(self)
        self.kernel: KernelReady | None = None
        self._stops = asyncio.Event()
        self._loaded: set[str] = set()  # binaries whose symbols gdb has read
        self._last: Json = {}  # what gdb was told of the kernel that was loaded last

    # --- life ---

    async def attach(self, pid: int) -> None:
        self.pid = pid
        self._detaching = False
        self.threads, self.placing = Threads(), Placing(self)
        self._loaded, self._last = set(), {}
        self._reset()
        await self.mi.start([self._gdb, "--interpreter=mi3", "-nx", "-q"])
        try:
            script = "\n".join(f"gdb.execute({setting!r}, to_string=True)" for setting in SETTINGS)
            code = f"import gdb\n{script}"
            await self.mi.command(f"-interpreter-exec console {quote('python exec(' + repr(code) + ')')}")
            await self.mi.command(f"-interpreter-exec console {quote(f'source {GDBSIDE}')}")
            await self.mi.command(f"-interpreter-exec console {quote(f'exec-file /proc/{pid}/exe')}")
            await self.mi.command(f"-target-attach {pid}")
            await self._all_stopped()
        except NativeError as error:
            await self.mi.close()
            self.set_free()
            if isinstance(error, NativeLost):
                raise NativeUnavailable(error.title, "It is attached anew at the next launch.") from error
            raise NativeUnavailable(*attach_remedy(pid, error.title)) from error
        self._attached = True
        self._end.watch(pid)
        await self.release(list(self.threads.stopped))

    async def _all_stopped(self) -> None:
        """Until every thread has been stopped by attaching."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + ATTACH_SECONDS
        while loop.time() < deadline:
            await self.learn_threads()
            if not self.threads.running:
                return
            self._stops.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stops.wait(), 0.05)

    async def learn_threads(self) -> None:
        answer = await self.ask("threads")
        self.threads.learn(answer["threads"], answer["team"])

    async def detach(self) -> None:
        self._detaching = True
        self.cancel()
        self._end.cancel()
        if self.attached:
            try:
                await self.placing.clear()
                await self.mi.command("-target-detach", timeout=3.0)
                await self.mi.command("-gdb-exit", timeout=1.0)
            except NativeError:
                pass  # killed below; the kernel of the system detaches what a dead tracer held
        self._attached = False
        await self.mi.close()

    def cancel(self) -> None:
        self.stepper.cancel()
        self.gathering.reset()

    # --- a launch ---

    async def load_kernel(self, kernel: KernelReady) -> None:
        if kernel.binary in self._loaded or not self.placing.watches:
            await self._load(kernel, 0)
            return
        # gdb takes watchpoints out as it reads symbols, and puts them in again only with a stopped thread to look at.
        await self.learn_threads()
        number = next((n for n, lwp in self.threads.lwps.items() if lwp == kernel.thread), 0)
        async with self.gathering.waiting.held(number):
            await self._load(kernel, number)
            await self.placing.renew_watches(number)

    async def _load(self, kernel: KernelReady, thread: int) -> None:
        """Read symbols with a stopped thread selected, or with none; a kernel that gdb knows costs no round trip."""
        facts = {
            "binary": kernel.binary,
            "entry": kernel.entry,
            "name": kernel.kernel,
            "team": kernel.team,
            "lines": kernel.lines,
            "sources": [[c.file, c.line, c.met] for c in kernel.conditions],
        }
        if thread or facts != self._last or self.placing.filters:
            self._last = {}
            await self.ask("load", {**facts, "thread": thread})
            self._last = facts
        self._loaded.add(kernel.binary)
        self.kernel = kernel
        self.threads.forget_team()
        self.threads.dispatching = kernel.thread

    async def place(self, breakpoints: Sequence[NativeBreakpoint]) -> list[NativePlacement]:
        return await self.placing.reconcile(breakpoints)

    async def launch_begun(self, kernel: KernelReady) -> None:
        self.kernel = kernel
        self.focus = 0
        self._reset()
        await self.placing.catch_bounds(kernel)
        if kernel.stop_at_entry:
            await self.stepper.stop_at_entry()

    async def launch_ended(self) -> None:
        self._reset()
        self.threads.forget_team()
        await self.stepper.launch_ended()
        if self.attached:
            try:
                if hits := await self.placing.hits():  # those that nothing stopped at
                    self.listener(ThreadsChanged(threads=(), hits=hits))
                await self.release(list(self.threads.stopped))
            except NativeLost:
                pass  # its end is told elsewhere
            except NativeError as error:
                self.lost_sight(error)

    def _reset(self) -> None:
        self.cancel()
        self._views = {}

    # --- going on ---

    async def release(self, numbers: Sequence[int], verb: str = "continue") -> None:
        """Let these gdb threads go on, and no others: one that has stopped untold must stay.

        A release that has begun is finished, even when nobody waits for it any more.
        """
        await asyncio.shield(asyncio.ensure_future(self._release(numbers, verb)))

    async def _release(self, numbers: Sequence[int], verb: str) -> None:
        resting = self.gathering.at_rest()
        numbers = [number for number in numbers if number in resting]
        if not numbers:
            return
        unmet = self.placing.unmet(numbers) if verb == "continue" else {}
        for number in numbers:
            self.threads.goes_on(number)
        self._views = {}
        for number, address in unmet.items():
            await self._apply([number], f"jump *{address:#x}")
        await self._apply([number for number in numbers if number not in unmet], verb)

    async def go_outward(self, number: int, levels: int) -> None:
        """Let a thread run until it is back so many frames out, or just run on where gdb can't tell the way."""
        self._views = {}
        self.threads.goes_on(number)
        try:
            await self.ask("outward", {"thread": number, "levels": levels})
        except NativeError as error:
            log.debug("Thread %d can't be followed outward: %s", number, error)
            self.threads.stops(number)
            await self.release([number])

    async def _apply(self, numbers: Sequence[int], verb: str) -> None:
        if numbers:
            listed = " ".join(map(str, numbers))
            await self.mi.command(f"-interpreter-exec console {quote(f'thread apply {listed} -q -s {verb}&')}")

    async def resume(self, threads: Sequence[int] | None = None) -> None:
        if not self.mi.running:
            raise NativeError("The native debugger is not running.")
        told = self.gathering.told
        await self.stepper.leave()
        await self.gathering.go_on(threads, told)

    async def step(self, kind: StepKind, thread: int, *, all_threads: bool = False, line: int = 0) -> None:
        await self.stepper.step(kind, self.threads.gdb_number(thread), all_threads=all_threads, line=line)

    async def interrupt(self) -> None:
        await self.gathering.interrupt()

    async def interrupt_rest(self) -> None:
        await self.gathering.interrupt(rest=True)

    # --- records ---

    def _on_record(self, record: Record) -> None:
        body = record.body
        match record.kind, record.name:
            case "*", "running":
                self.threads.running_record(str(body.get("thread-id", "all")))
            case "*", "stopped":
                self._stopped(body)
            case "=", "thread-exited":
                self.threads.gone(int(body.get("id", 0)))
            case "=", "thread-created":
                self.threads.appeared(int(body.get("id", 0)))

    def _stopped(self, body: Mapping[str, Any]) -> None:
        reason = str(body.get("reason", ""))
        if reason.startswith("exited"):
            self._ended(body)
            return
        if "thread-id" not in body:
            raise ValueError("a stop of no thread")
        number = int(body["thread-id"])
        self.threads.stops(number)
        self._stops.set()
        self.placing.uncounted = True
        if not self._attached or self.gathering.waiting.takes(number, reason, str(body.get("signal-name", ""))):
            return
        arrival = Arrival(number, reason, dict(body))
        if not self.stepper.takes(arrival):
            self.gathering.arrived(arrival)

    def set_free(self) -> None:
        if self.pid:
            set_free(self.pid)

    # --- looking ---

    async def prefetch(self, arrival: Arrival) -> None:
        """Frames and variables of the focus, so that showing the stop needs no further round trip."""
        try:
            if arrival.cause is StopCause.SIGNAL and not arrival.place.get("file"):
                await self.ask("unwindable", {"threads": [arrival.number]})
            await self._view(arrival.number)
        except NativeError as error:
            log.warning("Thread %d can't be looked at yet: %s", arrival.number, error)

    async def _view(self, number: int) -> dict[str, Any]:
        found = self._views.get(number)
        if found is None:
            asked = {"thread": number, "watched": self._wrote(number)}
            found = self._views[number] = await self.ask("view", asked)
        return found

    def _wrote(self, number: int) -> bool:
        """Whether a thread has just written what is watched: it stands behind its line then, perhaps at no other."""
        place = self.threads.place(number)
        return place is not None and place.cause is StopCause.WATCHPOINT

    def threads_now(self) -> tuple[ThreadRange, ...]:
        return self.threads.ranges(lambda n: self.gathering.waiting.asleep([n]))

    async def thread_states(self) -> tuple[ThreadRange, ...]:
        return self.threads_now()

    async def frames(self, thread: int) -> list[NativeFrame]:
        if not self.threads.knows(thread):
            return []
        number = self.threads.gdb_number(thread)
        if number not in self.threads.stopped:
            return []
        view = await self._view(number)
        return [msgspec.convert(row, NativeFrame) for row in view["frames"]]

    async def variables(self, thread: int, level: int) -> list[NativeVariable]:
        number = self.threads.gdb_number(thread)
        view = await self._view(number)
        rows = view["variables"]
        if level != view["level"]:
            rows = await self.ask("variables", {"thread": number, "level": level, "watched": self._wrote(number)})
        return [variable_of(row) for row in rows]

    async def variables_of_threads(
        self, threads: Sequence[int], names: Sequence[str]
    ) -> dict[int, list[NativeVariable]]:
        numbers = {self.threads.gdb_number(thread): thread for thread in threads}
        still = [number for number in numbers if number in self.threads.stopped]
        watched = [number for number in still if self._wrote(number)]
        asked = {"threads": still, "names": list(names), "watched": watched}
        rows = await self.ask("variables-of-threads", asked)
        return {numbers[number]: [variable_of(row) for row in found] for number, found in rows}
