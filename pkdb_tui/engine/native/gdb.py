"""GdbController: OpenMP kernels through gdb in non-stop mode, every thread for itself."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from pkdb_tui.engine.api import ThreadRange, ThreadState
from pkdb_tui.engine.errors import NativeError, NativeUnavailable
from pkdb_tui.engine.native.base import (
    Controller,
    ControllerLost,
    KernelStopped,
    Listener,
    NativeBreakpoint,
    NativeFrame,
    NativePlacement,
    NativeStop,
    NativeVariable,
    ProcessEnded,
    StepKind,
    StopCause,
    ThreadsChanged,
)
from pkdb_tui.engine.native.ending import EndWatch
from pkdb_tui.engine.native.mi import MiProcess, Record, quote
from pkdb_tui.engine.native.placing import Placing
from pkdb_tui.engine.native.proc import attach_remedy, thread_state
from pkdb_tui.engine.native.stepping import Stepper
from pkdb_tui.engine.native.threads import Arrival, Threads
from pkdb_tui.engine.protocol import KernelReady

GDBSIDE = Path(__file__).with_name("gdbside.py")
SETTINGS = (
    "set pagination off", "set confirm off", "set width 0", "set height 0", "set auto-load off",
    "set auto-solib-add off", "set debuginfod enabled off", "set print thread-events off", "set mi-async on",
    "set non-stop on", "set print frame-arguments none", "set print entry-values no",
    "set libthread-db-search-path /nonexistent", "set breakpoint pending off", "set exec-file-mismatch off", "set print inferior-events off",
    "set follow-fork-mode parent", "set detach-on-fork on", "set history save off", "set python print-stack none",
    "handle all nostop noprint pass", "handle SIGINT nostop noprint pass",
    "handle SIGSEGV SIGFPE SIGABRT SIGBUS SIGILL stop print pass",
    "skip -rfu ^(Kokkos|std|desul|pk)::", "skip -gfi */pk_runtime.hpp", "skip -gfi /usr/include/*",
)  # fmt: skip
ATTACH_SECONDS = 5.0
QUIET = 0.05  # seconds without a further thread after which a stop is shown
SLEEPING = 0.004  # between two looks at whether the remaining threads sleep


class GdbController(Controller):
    """gdb attached to the program; see `base.Controller`."""

    def __init__(self, listener: Listener, *, gdb: str = "gdb") -> None:
        super().__init__(listener)
        self._gdb = gdb
        self._pid = 0
        self.mi = MiProcess(self._on_record, self._on_end)
        self.threads = Threads()
        self.placing = Placing(self)
        self.stepper = Stepper(self)
        self.kernel: KernelReady | None = None
        self._attached = False
        self._arrivals: dict[int, Arrival] = {}
        self._arrived = asyncio.Event()
        self._collector: asyncio.Task[None] | None = None
        self._interrupting = False
        self._shown = False  # a stop has been told; later arrivals are changes of it
        self._views: dict[int, dict[str, Any]] = {}
        self._detaching = False
        self._end = EndWatch(self._program_ended)

    # --- transport ---

    async def ask(self, name: str, argument: Any = None) -> Any:
        """One of the commands of gdbside."""
        return await self.mi.command(f"-pkdb-{name} {quote(json.dumps(argument))}")

    @property
    def attached(self) -> bool:
        return self._attached and self.mi.running

    async def attach(self, pid: int) -> None:
        self._pid = pid
        self._detaching = False
        self.threads, self.placing = Threads(), Placing(self)
        self._reset()
        await self.mi.start([self._gdb, "--interpreter=mi3", "-nx", "-q"])
        try:
            script = "\n".join(f"gdb.execute({setting!r}, to_string=True)" for setting in SETTINGS)
            code = f"import gdb\n{script}"
            await self.mi.command(f"-interpreter-exec console {quote('python exec(' + repr(code) + ')')}")
            await self.mi.command(f"-interpreter-exec console {quote(f'source {GDBSIDE}')}")
            await self.mi.command(f"-interpreter-exec console {quote(f'exec-file /proc/{pid}/exe')}")
            await self.mi.command(f"-target-attach {pid}")
        except NativeError as error:
            await self.mi.close()
            raise NativeUnavailable(*attach_remedy(pid, error.title)) from error
        await self._all_stopped()
        self._attached = True
        self._end.watch(pid)
        await self.release(list(self.threads.stopped))

    async def _all_stopped(self) -> None:
        """Until every thread has been stopped by attaching."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + ATTACH_SECONDS
        while loop.time() < deadline:
            await self._learn_threads()
            if not self.threads.running:
                return
            self._arrived.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._arrived.wait(), 0.05)

    async def _learn_threads(self) -> None:
        answer = await self.ask("threads")
        self.threads.learn(answer["threads"], answer["team"])

    async def detach(self) -> None:
        self._detaching = True
        self._cancel_collector()
        self.stepper.cancel()
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

    def kill(self) -> None:
        self._detaching = True
        self.mi.kill()

    # --- a launch ---

    async def load_kernel(self, kernel: KernelReady) -> None:
        conditions = [[c.file, c.line] for c in kernel.conditions]
        await self.ask(
            "load",
            {
                "binary": kernel.binary,
                "entry": kernel.entry,
                "name": kernel.kernel,
                "team": kernel.team,
                "lines": kernel.lines,
                "sources": conditions,
            },
        )
        self.kernel = kernel

    async def place(self, breakpoints: Sequence[NativeBreakpoint]) -> list[NativePlacement]:
        return await self.placing.reconcile(breakpoints)

    async def launch_begun(self, kernel: KernelReady) -> None:
        self.kernel = kernel
        self._reset()
        await self.placing.catch_bounds(kernel)
        if kernel.stop_at_entry:
            await self.stepper.stop_at_entry()

    async def launch_ended(self) -> None:
        self._cancel_collector()
        await self.stepper.launch_ended()
        self._reset()
        self.threads.forget_team()

    def _reset(self) -> None:
        self._arrivals = {}
        self._arrived.clear()
        self._shown = False
        self._interrupting = False
        self._views = {}

    # --- going on ---

    async def release(self, numbers: Sequence[int], verb: str = "continue") -> None:
        """Let these gdb threads go on, and no others: one that has stopped unseen must stay."""
        numbers = [number for number in numbers if number in self.threads.stopped]
        if not numbers:
            return
        for number in numbers:
            self._arrivals.pop(number, None)
            self.threads.goes_on(number)
        self._views = {}
        listed = " ".join(map(str, numbers))
        await self.mi.command(f"-interpreter-exec console {quote(f'thread apply {listed} -q -s {verb}&')}")

    async def resume(self, threads: Sequence[int] | None = None) -> None:
        self._shown = False
        if threads is None:
            wanted = [n for n in self.threads.stopped]
        else:
            wanted = [self.threads.gdb_number(thread) for thread in threads]
        await self.release(wanted)
        self._look_again()

    def _look_again(self) -> None:
        """Threads that stopped unseen before make a stop of their own."""
        if self._arrivals:
            self._start_collector()

    async def step(self, kind: StepKind, thread: int, *, all_threads: bool = False, line: int = 0) -> None:
        self._shown = False
        await self.stepper.step(kind, self.threads.gdb_number(thread), all_threads=all_threads, line=line)

    async def interrupt(self) -> None:
        self._shown = False
        self._interrupting = True
        await self._learn_threads()
        await self.mi.command("-exec-interrupt --all")
        self._start_collector()

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
            return
        number = int(body["thread-id"])
        self.threads.stops(number)
        if not self._attached:
            self._arrived.set()
            return
        arrival = Arrival(number, reason, dict(body))
        if self.stepper.takes(arrival):
            return
        self._arrivals[number] = arrival
        self._arrived.set()
        self._start_collector()

    def _ended(self, body: Mapping[str, Any]) -> None:
        self._attached = False
        code = body.get("exit-code")
        status = int(str(code), 8) if code is not None else 0 if body.get("reason") == "exited-normally" else None
        self._end.cancel()
        self.listener(ProcessEnded(status=status, signal=str(body.get("signal-name", ""))))

    def _program_ended(self, status: int | None, signal: str) -> None:
        """gdb does not tell the end of a program all of whose threads it holds, and keeps its parent from it."""
        self._attached, self._detaching = False, True
        self._cancel_collector()
        self.stepper.cancel()
        self.mi.kill()
        self.listener(ProcessEnded(status=status, signal=signal))

    def _on_end(self, reason: str) -> None:
        was, self._attached = self._attached, False
        self._cancel_collector()
        self.stepper.cancel()
        if was and not self._detaching:
            self.listener(ControllerLost(reason="gdb ended."))

    # --- gathering: one stop out of many threads' ---

    def _start_collector(self) -> None:
        if self._collector is None or self._collector.done():
            self._collector = asyncio.get_running_loop().create_task(self._collect())

    def _cancel_collector(self) -> None:
        collector, self._collector = self._collector, None
        if collector is not None and collector is not asyncio.current_task():
            collector.cancel()

    async def _collect(self) -> None:
        """Wait until the team has come to rest, then tell it as one stop, or as a change of the one shown."""
        try:
            while True:
                await self._rest()
                arrivals, self._arrivals = self._arrivals, {}
                self._arrived.clear()
                if not arrivals and not self._interrupting:
                    return
                told = await self._tell(arrivals)
                if told or not self._arrivals:
                    if not self._arrivals:
                        return
        except NativeError:
            return  # gdb is gone; `_on_end` says so

    async def _rest(self) -> None:
        """Until every team thread stopped, sleeps at a barrier, or nothing more has come for a moment."""
        loop = asyncio.get_running_loop()
        if not self.threads.team or self._unknown_threads():
            await self._learn_threads()
        last, seen = loop.time(), len(self._arrivals)
        while loop.time() - last < QUIET:
            running = self.threads.team_running() if not self._interrupting else list(self.threads.running)
            if not running or self._interrupting is False and self._asleep(running):
                return
            self._arrived.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._arrived.wait(), SLEEPING)
            if len(self._arrivals) > seen:
                last, seen = loop.time(), len(self._arrivals)

    def _unknown_threads(self) -> bool:
        return any(number not in self.threads.lwps for number in self._arrivals)

    def _asleep(self, numbers: Sequence[int]) -> bool:
        """Whether threads wait in the system: at the end of the region, or at a barrier."""
        return all(thread_state(self._pid, self.threads.lwps.get(n, 0)) in ("S", "D", "") for n in numbers)

    async def _tell(self, arrivals: dict[int, Arrival]) -> bool:
        """Classify what arrived, let go what nobody asked for, and tell the rest."""
        answer = await self.ask("place", {"threads": list(arrivals)})
        for row in answer:
            arrivals[row["thread"]].place = row
        interrupting, self._interrupting = self._interrupting, False
        if interrupting:
            await self._unwind(arrivals)
        shown, passed = await self.placing.classify(arrivals, interrupting=interrupting)
        if passed:
            await self.release([arrival.number for arrival in passed])
        for arrival in shown:
            self.threads.at(arrival)
        hits = self.placing.hits(shown)
        if not shown and not interrupting:
            return False
        if self._shown:
            self.listener(ThreadsChanged(threads=await self.thread_states(), hits=hits))
            return True
        self._shown = True
        await self.tell_stop(shown, hits)
        return True

    async def _unwind(self, arrivals: Mapping[int, Arrival]) -> None:
        """Look again at threads that stand in a library, once its unwind tables are read."""
        lost = [number for number, arrival in arrivals.items() if not arrival.place.get("file")]
        if lost:
            await self.ask("unwindable", {"threads": lost})
            for row in await self.ask("place", {"threads": lost}):
                arrivals[row["thread"]].place = row

    async def tell_stop(
        self, shown: Sequence[Arrival], hits: Mapping[int, int], cause: StopCause | None = None
    ) -> None:
        """Send one KernelStopped; the focus is the worst thread, else the one with the lowest number."""
        first = min(shown, key=lambda a: (a.rank, self.threads.kernel_number(a.number)), default=None)
        if first is None:
            self.listener(
                KernelStopped(stop=NativeStop(cause=StopCause.PAUSE, thread=0, threads=await self.thread_states()))
            )
            return
        ids = tuple(sorted({number for arrival in shown for number in arrival.ids}))
        found = cause or first.cause
        stop = NativeStop(
            cause=found,
            thread=self.threads.kernel_number(first.number),
            breakpoints=ids if found in (StopCause.BREAKPOINT, StopCause.WATCHPOINT) else (),
            hits=hits,
            text=first.text,
            threads=await self.thread_states(),
        )
        await self._prefetch(first)
        self._shown = True
        self.listener(KernelStopped(stop=stop))

    async def _prefetch(self, arrival: Arrival) -> None:
        """Frames and variables of the focus, so that showing the stop needs no further round trip."""
        if arrival.cause is StopCause.SIGNAL and not arrival.place.get("file"):
            await self.ask("unwindable", {"threads": [arrival.number]})
        await self._view(arrival.number, watched=arrival.cause is StopCause.WATCHPOINT)

    async def _view(self, number: int, *, watched: bool = False) -> dict[str, Any]:
        found = self._views.get(number)
        if found is None:
            found = self._views[number] = await self.ask("view", {"thread": number, "watched": watched})
        return found

    async def thread_states(self) -> tuple[ThreadRange, ...]:
        return self.threads.ranges(lambda n: self._asleep([n]))

    # --- looking ---

    async def frames(self, thread: int) -> list[NativeFrame]:
        if not self.threads.knows(thread):
            return []
        view = await self._view(self.threads.gdb_number(thread))
        return [msgspec.convert(row, NativeFrame) for row in view["frames"]]

    async def variables(self, thread: int, level: int) -> list[NativeVariable]:
        number = self.threads.gdb_number(thread)
        view = await self._view(number)
        rows = view["variables"]
        if level != view["level"]:
            rows = await self.ask("variables", {"thread": number, "level": level})
        return [_variable(row) for row in rows]

    async def variables_of_threads(
        self, threads: Sequence[int], names: Sequence[str]
    ) -> dict[int, list[NativeVariable]]:
        numbers = {self.threads.gdb_number(thread): thread for thread in threads}
        rows = await self.ask("variables-of-threads", {"threads": list(numbers), "names": list(names)})
        return {numbers[number]: [_variable(row) for row in found] for number, found in rows}

    async def read_memory(self, regions: Sequence[tuple[int, int]]) -> list[bytes]:
        if not regions:
            return []
        return [bytes.fromhex(text) for text in await self.ask("read", {"regions": [list(r) for r in regions]})]

    async def write_memory(self, address: int, data: bytes) -> None:
        self._views = {}
        await self.ask("write", {"address": address, "data": data.hex()})

    async def send(self, command: str) -> str:
        self._views = {}
        return await self.mi.console(command)

    async def location_text(self, binary: str, file: str, line: int) -> Mapping[str, Any]:
        found: dict[str, Any] = await self.ask("where", {"source": os.path.realpath(file), "line": line})
        return found


def _variable(row: Mapping[str, Any]) -> NativeVariable:
    return msgspec.convert(dict(row), NativeVariable)


__all__ = ["GdbController", "ThreadState"]
