"""Session: the one façade of the engine, one verb per thing a person can do, and the state machine.

All coroutines run on one asyncio loop; the listener is called on that loop, in the order things happened, and a verb's
reply is delivered before the events it causes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import msgspec

from pkdb_tui.engine.api import (
    Breakpoint,
    BreakpointSpec,
    ClauseResult,
    Evaluation,
    Event,
    ExitCause,
    KernelSpan,
    LaunchOptions,
    LaunchRecord,
    Notice,
    Phase,
    PhaseChanged,
    Severity,
    Slice,
    SourceInfo,
    StopSnapshot,
    Substitution,
    ThreadValues,
    Watch,
    WatchesChanged,
)
from pkdb_tui.engine.breakpoints import BreakpointBook
from pkdb_tui.engine.connection import Connection
from pkdb_tui.engine.edits import Edits
from pkdb_tui.engine.errors import DebuggeeLost, PkdbError, WrongPhase
from pkdb_tui.engine.evaluating import Evaluator
from pkdb_tui.engine.hotswap import Substitutions
from pkdb_tui.engine.kernel_side import KernelSide
from pkdb_tui.engine.kernel_stops import KernelStops
from pkdb_tui.engine.launch_log import LaunchLog
from pkdb_tui.engine.launcher import Program
from pkdb_tui.engine.life import Life
from pkdb_tui.engine.looking import Looking
from pkdb_tui.engine.moves import Moves, Verb
from pkdb_tui.engine.native.base import Controller, ControllerEvent, Triple
from pkdb_tui.engine.placing import Placing
from pkdb_tui.engine.python_side import PythonSide
from pkdb_tui.engine.snapshots import Place, VariableHistory
from pkdb_tui.engine.terminal_input import TerminalInput
from pkdb_tui.engine.watches import WatchList


class Session:
    """One debugged program, from before its first line to after its end, and again after a restart.

    `controller` makes a native controller from a listener; the default attaches gdb.
    """

    def __init__(
        self,
        options: LaunchOptions,
        listener: Callable[[Event], None],
        *,
        controller: Callable[[Callable[[ControllerEvent], None]], Controller] | None = None,
    ) -> None:
        self.options = options
        self._listener = listener
        self.phase = Phase.IDLE
        self.generation = 0
        self.snapshot: StopSnapshot | None = None
        self.exit_cause: ExitCause | None = None
        self.launch_log = LaunchLog(self.emit)
        self.runtime = ""
        self.backend = ""
        self.python = ""
        self.file = ""
        self.settings = {
            "stepIntoKernel": True,
            "bounds": options.bounds,
            "catchFaults": False,
            "justMyCode": True,
        }
        self.book = BreakpointBook()
        self.history = VariableHistory()
        self.places: list[Place] = []
        self.glue = False
        self.program: Program | None = None
        self.life = Life(self)
        self.moves = Moves(self)
        self.placing = Placing(self)
        self.python_side = PythonSide(self)
        self.connection = Connection(self.python_side.on_event, self.life.connection_lost)
        self.substitutions = Substitutions(self.connection)
        self.edits = Edits(self)
        self.kernels = KernelSide(self.book, controller or self._gdb, self._cuda_gdb, self._on_native)
        self.kernel_stops = KernelStops(self)
        self.kernels.owner = self.kernel_stops
        self.evaluator = Evaluator(self)
        self.looking = Looking(self)
        self.watch_list = WatchList(self.looking)
        self.terminal_input = TerminalInput(self)
        self.ended_by = ""  # the expression that ended the program
        self._tasks: set[asyncio.Task[None]] = set()
        self._settled = asyncio.Event()

    def _gdb(self, listener: Callable[[ControllerEvent], None]) -> Controller:
        from pkdb_tui.engine.native.gdb import GdbController

        return GdbController(listener, gdb=self.options.gdb)

    def _cuda_gdb(self, listener: Callable[[ControllerEvent], None]) -> Controller:
        from pkdb_tui.engine.native.cuda import CudaController

        return CudaController(listener, gdb=self.options.cuda_gdb)

    # --- state ---

    @property
    def breakpoints(self) -> tuple[Breakpoint, ...]:
        return self.book.public()

    @property
    def launches(self) -> tuple[LaunchRecord, ...]:
        return self.launch_log.public()

    @property
    def watches(self) -> tuple[Watch, ...]:
        return self.watch_list.public()

    def emit(self, event: Event) -> None:
        self._listener(event)

    def enter(self, phase: Phase) -> None:
        if phase is not self.phase:
            self.phase = phase
            self.unsettle()
            if not phase.running and not phase.stopped:
                asyncio.get_running_loop().call_soon(self.settle)
            self.emit(PhaseChanged(phase=phase, generation=self.generation))
            self.launch_log.stopped(phase is Phase.STOPPED_KERNEL)
            self.terminal_input.follow()

    def unsettle(self) -> None:
        """What is shown is no longer all of it."""
        self._settled.clear()

    def settle(self) -> None:
        """All of a stop, or of the end, is shown."""
        if not self.phase.running:
            self._settled.set()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something of the session's own; what it can't do becomes a notice."""

        async def guarded() -> None:
            try:
                await work
            except DebuggeeLost:
                pass  # the end of the program is told by its exit
            except PkdbError as error:
                self.emit(Notice(text=str(error), severity=Severity.ERROR))

        task = asyncio.get_running_loop().create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._task_done)

    def cancel_tasks(self) -> None:
        """Stop what was spawned, but for the task that asks."""
        for task in list(self._tasks):
            if task is not asyncio.current_task():
                task.cancel()

    def _task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            text = f"Something went wrong inside the debugger ({task.exception()!r}); the session goes on as it can."
            self.emit(Notice(text=text, severity=Severity.ERROR))
            asyncio.get_running_loop().call_exception_handler(
                {"message": "A task of the session failed", "exception": task.exception(), "task": task}
            )

    def require_stop(self) -> StopSnapshot:
        if self.snapshot is None or not self.phase.stopped:
            raise WrongPhase(
                f"The program is {self.phase.value}.",
                "Pause it first." if self.phase.running else "Type `restart` to run it again.",
            )
        return self.snapshot

    # --- life ---

    async def start(self) -> None:
        """Start the program and stop before its first line. Raises LaunchError when it can't be started."""
        await self.life.start()

    async def restart(self) -> None:
        """End the program if it runs and start it again with the same breakpoints, watches and settings.

        Raises WrongPhase while another restart is under way.
        """
        await self.life.restart()

    async def quit(self) -> None:
        """End every process the session started; never raises."""
        await self.life.quit()

    def kill(self) -> None:
        """End every process at once, without waiting: for a front end whose terminal is gone."""
        self.life.kill()

    async def settled(self) -> None:
        """Until the program is stopped, all of the stop being shown, or has ended."""
        await self._settled.wait()

    # --- going on ---

    async def resume(self, verb: Verb, *, line: int = 0, threads: str = "", all_threads: bool = False) -> None:
        """Let the program go on; a stop or the end follows as an event.

        Raises WrongPhase when it isn't stopped, or when another verb is about to let it go.
        """
        await self.moves.resume(verb, line=line, threads=threads, all_threads=all_threads)

    async def jump(self, line: int) -> None:
        """Go on from another line of this function. Raises WrongPhase at a kernel stop."""
        await self.moves.jump(line)

    async def debug(self, text: str) -> None:
        """Run code of the person's with breakpoints and steps; without any, break off the one that runs so.

        Its end is told by a stop where this one was. Raises WrongPhase at a kernel stop.
        """
        await self.moves.debug(text)

    async def pause(self) -> None:
        """Stop the program where it is: at a Python line, or at a kernel line; at a kernel stop, what still runs.

        Never refused because of a verb under way: it follows as soon as that has let the program go. A native debugger
        that hangs is ended, and a new one attached.
        """
        await self.moves.pause()

    @property
    def pausable(self) -> bool:
        """Whether there is something to stop: what runs or is about to, or a native debugger that hangs."""
        return self.phase.running or self.moves.moving or self.kernels.hanging

    # --- breakpoints ---

    async def add_breakpoint(self, spec: BreakpointSpec, *, enabled: bool = True) -> Breakpoint:
        """Raises BreakpointError for a request that could never work."""
        return await self.placing.add(spec, enabled=enabled)

    async def change_breakpoint(self, number: int, spec: BreakpointSpec, *, ignore_anew: bool = False) -> Breakpoint:
        """Raises BreakpointError for a number that isn't there, or a request that could never work."""
        return await self.placing.change(number, spec, ignore_anew=ignore_anew)

    async def remove_breakpoints(self, ids: Sequence[int]) -> None:
        """Raises BreakpointError for a number that isn't there."""
        await self.placing.remove(ids)

    async def enable_breakpoints(self, ids: Sequence[int], enabled: bool) -> None:
        """Raises BreakpointError for a number that isn't there."""
        await self.placing.enable(ids, enabled)

    # --- kernels in place of others ---

    async def substitute(self, kernel: str, replacement: str, *, file: str = "", line: int = 0) -> Substitution:
        """From its next launch on, `replacement` runs for `kernel`, everywhere or at one line.

        Raises PkdbError when a name is no kernel, or when their parameters differ.
        """
        snapshot = self.require_stop()
        frame = self.places[snapshot.frame].in_python
        return await self.substitutions.add(kernel, replacement, file, line, frame)

    async def describe_file(self, path: str) -> SourceInfo:
        """What lines of a file can stop, before anything has run. Needs a started program."""
        body = await self.connection.request("describeFile", file=path)
        spans = tuple(
            KernelSpan(
                name=span["name"],
                first_line=span["first_line"],
                last_line=span["last_line"],
                lines=tuple(span["lines"]),
            )
            for span in body["kernels"]
        )
        return SourceInfo(
            file=body["file"], python_lines=tuple(body["python_lines"]), kernels=spans, error=body.get("error", "")
        )

    async def set_setting(self, name: str, value: bool) -> None:
        self.settings[name] = value
        if self.connection.connected:
            told = self.placing.every_kernel_debugged if name == "catchFaults" else value
            await self.connection.request("settings", **{name: told})

    # --- looking: see `looking.py` ---

    async def select_frame(self, index: int) -> StopSnapshot:
        return await self.looking.select_frame(index)

    async def select_thread(self, thread: int) -> StopSnapshot:
        return await self.looking.select_thread(thread)

    async def select_device_thread(self, block: Triple | None, thread: Triple | None) -> StopSnapshot:
        """Look at a thread of a device by its place in the grid; None stays. Raises NativeError where there is none."""
        number = self.kernels.controller.number_of(self.kernel_stops.thread, block, thread)
        return await self.looking.select_thread(number)

    async def show_glue(self, shown: bool) -> None:
        self.glue = shown
        await self.looking.rebuild_frames()

    async def evaluate(self, text: str, timeout: float | None = None) -> Evaluation:
        """In the selected frame; after `timeout` seconds (`evaluator.timeout` by default) it is broken off."""
        return await self.looking.evaluate(text, self.evaluator.timeout if timeout is None else timeout)

    def interrupt_evaluation(self) -> None:
        self.evaluator.interrupt()

    async def read_slice(self, expression: str, limit: int = 4096) -> Slice:
        return await self.looking.read_slice(expression, limit)

    async def strides_of(self, expression: str) -> tuple[int, ...]:
        return await self.looking.strides_of(expression)

    async def parallel_print(self, expression: str) -> ThreadValues:
        return await self.looking.parallel_print(expression)

    async def parallel_launch(self, text: str) -> tuple[ClauseResult, ...]:
        return await self.looking.parallel_launch(text)

    async def complete(self, text: str) -> list[str]:
        return await self.looking.complete(text)

    async def add_watch(self, expression: str) -> Watch:
        made = await self.watch_list.add(expression)
        self.emit(WatchesChanged(watches=self.watches))
        return made

    async def remove_watch(self, number: int) -> None:
        self.watch_list.remove(number)
        self.emit(WatchesChanged(watches=self.watches))

    async def send_native(self, command: str) -> str:
        return await self.kernels.controller.send(command)

    # --- the program's terminal ---

    def write_input(self, data: bytes) -> None:
        """Type into the program's terminal."""
        if self.program is not None:
            self.program.write(data)

    def resize_terminal(self, columns: int, rows: int) -> None:
        self.options = msgspec.structs.replace(self.options, columns=columns, rows=rows)
        if self.program is not None:
            self.program.resize(columns, rows)

    # --- what happens ---

    async def after_stop(self) -> None:
        """What may come a moment later: watches. The session is settled then."""
        generation = self.generation
        try:
            if await self.watch_list.refresh(generation):
                self.emit(WatchesChanged(watches=self.watches, stop=True))
        finally:
            if generation == self.generation:
                self.settle()

    def _on_native(self, event: ControllerEvent) -> None:
        self.kernel_stops.on_event(event)
