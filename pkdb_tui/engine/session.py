"""Session: the one façade of the engine, one verb per thing a person can do, and the state machine.

All coroutines run on one asyncio loop; the listener is called on that loop, in the order things happened, and a verb's
reply is delivered before the events it causes.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from pkdb_tui.engine.api import (
    Breakpoint,
    BreakpointsChanged,
    BreakpointSpec,
    Evaluation,
    Event,
    ExceptionInfo,
    ExitCause,
    Exited,
    KernelSpan,
    LaunchOptions,
    LaunchRecord,
    LogPoint,
    Notice,
    Phase,
    PhaseChanged,
    ProgramOutput,
    Progress,
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
from pkdb_tui.engine.errors import DebuggeeLost, LaunchError, PkdbError, WrongPhase
from pkdb_tui.engine.hotswap import Substitutions
from pkdb_tui.engine.kernel_side import KernelSide
from pkdb_tui.engine.kernel_stops import KernelStops
from pkdb_tui.engine.launch_log import LaunchLog
from pkdb_tui.engine.launcher import Program
from pkdb_tui.engine.looking import Looking
from pkdb_tui.engine.native.base import Controller, ControllerEvent
from pkdb_tui.engine.protocol import ExceptionBody, KernelReady, Placement, PythonStop, Ready
from pkdb_tui.engine.snapshots import NATIVE, Place, VariableHistory, python_frames, python_threads, python_variable
from pkdb_tui.engine.watches import WatchList

READY_SECONDS = 30.0
FAULTS = ("SIGSEGV", "SIGFPE", "SIGABRT", "SIGBUS", "SIGILL")
CATCH_HINT = "If a kernel caused {signal}: `set catch on` and `restart` stop at the line where it happens."
TRAPPED = (
    "The native debugger ended while its breakpoints were in the program, and they ended the program. "
    "`restart` runs it again with all breakpoints."
)
PAUSE_GRACE = 0.6  # until a pause that nobody answered is taken to a native debugger


class Verb(StrEnum):
    """Ways to go on. FINISH is gdb's: out of this frame, from the outermost kernel frame to the end of the launch."""

    CONTINUE = "continue"
    NEXT = "next"
    STEP = "step"
    FINISH = "finish"
    UNTIL = "until"


PYTHON_VERBS = {Verb.FINISH: "return"}


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
        self.connection = Connection(self._on_event, self._on_lost)
        self.substitutions = Substitutions(self.connection)
        self.kernels = KernelSide(self.book, controller or self._gdb, self._on_native)
        self.kernel_stops = KernelStops(self)
        self.kernels.owner = self.kernel_stops
        self.looking = Looking(self)
        self.watch_list = WatchList(self.looking)
        self._ready: asyncio.Future[Ready] | None = None
        self._ending: ExitCause | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._python_stop: PythonStop | None = None
        self._quitting = False
        self._in_kernel_heard = -1  # the generation in which Python answered a pause from within a launch
        self._unheard = False  # breakpoints were sent whose placements nobody could answer
        self._launched = False  # whether any kernel was launched
        self._settled = asyncio.Event()
        self._moving: asyncio.Event | None = None  # set when the verb under way has let the program go
        self._moved_from = 0  # the generation of the stop that it moves from
        self._restarting = False

    def _gdb(self, listener: Callable[[ControllerEvent], None]) -> Controller:
        from pkdb_tui.engine.native.gdb import GdbController

        return GdbController(listener, gdb=self.options.gdb)

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
            self._settled.clear()
            if not phase.running and not phase.stopped:
                asyncio.get_running_loop().call_soon(self._set_settled)
            self.emit(PhaseChanged(phase=phase, generation=self.generation))

    def _set_settled(self) -> None:
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
        if self.program is not None:
            raise WrongPhase("The program is running already.", "`restart` runs it anew.")
        self._quitting = False
        self.exit_cause, self._ending = None, None
        self.program = Program(self.options, self._on_output, self._on_exit)
        self._ready = asyncio.get_running_loop().create_future()
        await self.connection.open(self.program.socket)
        try:
            ready = await asyncio.wait_for(self._ready, READY_SECONDS)
        except DebuggeeLost:
            return  # it ended before its first line; Exited says how
        except TimeoutError:
            await self._end_program()
            raise LaunchError(
                f"The program did not start within {READY_SECONDS:g} s.", "Check --python and the machine's load."
            ) from None
        self._take_ready(ready)
        await self.connection.request("settings", **self.settings)
        await self._send_breakpoints()
        await self.substitutions.send()
        await self.connection.request("resume", verb="continue")

    def _take_ready(self, ready: Ready) -> None:
        self.file, self.python, self.backend = ready.file, ready.python, ready.backend
        detail = f" ({ready.runtime_detail})" if ready.runtime_detail else ""
        self.runtime = {"embedded": f"embedded runtime{detail}", "installed": f"installed PyKokkos{detail}"}.get(
            ready.runtime, ""
        )
        self.enter(Phase.RUNNING_PYTHON)

    async def restart(self) -> None:
        """End the program if it runs and start it again with the same breakpoints, watches and settings.

        Raises WrongPhase while another restart is under way.
        """
        if self._restarting:
            raise WrongPhase("The program is being restarted.", "Wait until it stops before its first line.")
        self._restarting = True
        try:
            await self._restart()
        finally:
            self._restarting = False

    async def _restart(self) -> None:
        await self._end_program()
        self.book.forget_bindings()
        self.history = VariableHistory()
        self.watch_list.forget_values()
        self.substitutions.forget_bindings()
        self.snapshot = None
        self.enter(Phase.IDLE)
        self.launch_log.forget()
        self.emit(WatchesChanged(watches=self.watches))
        self.emit(BreakpointsChanged(breakpoints=self.breakpoints))
        await self.start()

    async def quit(self) -> None:
        """End every process the session started; never raises."""
        self._quitting = True
        await self._end_program()

    def kill(self) -> None:
        """End every process at once, without waiting: for a front end whose terminal is gone."""
        self._quitting = True
        if self.program is not None:
            self.program.kill()
        self.kernels.kill()

    async def _end_program(self) -> None:
        program, self.program = self.program, None
        if program is not None:
            program.kill()
            await program.wait()
        await self.connection.close()
        await self.kernels.detach()
        for task in list(self._tasks):
            if task is not asyncio.current_task():
                task.cancel()
        if program is not None and self.phase is not Phase.EXITED:
            self.snapshot = None
            self.enter(Phase.IDLE)

    async def settled(self) -> None:
        """Until the program is stopped, all of the stop being shown, or has ended."""
        await self._settled.wait()

    # --- going on ---

    @contextlib.asynccontextmanager
    async def _one_move(self) -> AsyncIterator[StopSnapshot]:
        """The stop to go on from. One verb at a time moves the program; another is refused as it is while it runs."""
        if self._restarting:
            raise WrongPhase("The program is being restarted.", "Wait until it stops before its first line.")
        while self._moving is not None:
            if self.generation == self._moved_from:
                raise WrongPhase("The program is running.", "Pause it first.")
            await self._moving.wait()  # its stop was told before its reply
        snapshot = self.require_stop()
        moving = self._moving = asyncio.Event()
        self._moved_from = self.generation
        try:
            yield snapshot
        finally:
            self._moving = None
            moving.set()

    async def resume(self, verb: Verb, *, line: int = 0, threads: str = "", all_threads: bool = False) -> None:
        """Let the program go on; a stop or the end follows as an event.

        Raises WrongPhase when it isn't stopped, or when another verb is about to let it go.
        """
        async with self._one_move() as snapshot:
            if self.phase is Phase.STOPPED_KERNEL:
                await self.kernel_stops.resume(verb, line=line, threads=threads, all_threads=all_threads)
                return
            frame = self.places[snapshot.frame].index if self.places else 0
            await self.connection.request("resume", verb=PYTHON_VERBS.get(verb, verb.value), line=line, frame=frame)
            self.enter(Phase.RUNNING_PYTHON)

    async def jump(self, line: int) -> None:
        async with self._one_move():
            if self.phase is Phase.STOPPED_KERNEL:
                raise WrongPhase("A kernel can't jump.", "Jump at a stop in Python.")
            self._settled.clear()
            try:
                await self.connection.request("jump", line=line)
            except PkdbError:
                self._set_settled()
                raise

    async def pause(self) -> None:
        """Stop the program where it is: at a Python line, or at a kernel line; at a kernel stop, what still runs.

        Never refused because of a verb under way: it follows as soon as that has let the program go.
        """
        if self._moving is not None:
            await self._moving.wait()
            if self.phase.stopped:
                return  # the verb failed or stopped again at once: it stands, as was asked
        if self.phase is Phase.STOPPED_KERNEL:
            await self.kernel_stops.pause_rest()
            return
        if not self.phase.running:
            raise WrongPhase(f"The program is {self.phase.value}; there is nothing to pause.")
        if not self.connection.connected:
            raise DebuggeeLost(
                "The program closed the debugger's connection and can't be stopped.",
                "`quit` ends it, `restart` runs it anew.",
            )
        if self.phase is Phase.RUNNING_KERNEL:
            await self.kernel_stops.interrupt()
            return
        generation = self.generation
        self.connection.post("pause")
        self.spawn(self._pause_natively(generation))

    async def _pause_natively(self, generation: int) -> None:
        """A kernel that holds the interpreter's lock leaves no Python to answer a pause."""
        await asyncio.sleep(PAUSE_GRACE)
        answered = self._in_kernel_heard == generation
        if self.generation == generation and self.phase is Phase.RUNNING_PYTHON and not answered:
            await self.kernel_stops.interrupt()

    # --- breakpoints ---

    async def add_breakpoint(self, spec: BreakpointSpec, *, enabled: bool = True) -> Breakpoint:
        """Raises BreakpointError for a request that could never work."""
        entry = self.book.add(spec, enabled=enabled)
        await self._breakpoints_changed()
        return entry.public()

    async def change_breakpoint(self, number: int, spec: BreakpointSpec, *, ignore_anew: bool = False) -> Breakpoint:
        entry = self.book.change(number, spec, ignore_anew=ignore_anew)
        await self._breakpoints_changed()
        return entry.public()

    async def remove_breakpoints(self, ids: Sequence[int]) -> None:
        self.book.remove(ids)
        await self._breakpoints_changed()

    async def enable_breakpoints(self, ids: Sequence[int], enabled: bool) -> None:
        for entry in [self.book[number] for number in ids]:
            entry.enabled = enabled
        await self._breakpoints_changed()

    async def _breakpoints_changed(self) -> None:
        await self._send_breakpoints()
        await self.kernel_stops.breakpoints_changed()
        self.emit(BreakpointsChanged(breakpoints=self.breakpoints))

    @property
    def every_kernel_debugged(self) -> bool:
        """Whether launches without breakpoints need a debug build too: a watched element may change in any of them."""
        return self.settings["catchFaults"] or self.book.watching

    @property
    def python_blocked(self) -> bool:
        """Whether a kernel under way holds Python's lock, so that the program's side can't answer."""
        kernel = self.kernels.kernel
        busy = self.phase in (Phase.RUNNING_KERNEL, Phase.STOPPED_KERNEL)
        return busy and kernel is not None and kernel.holds_lock

    async def _send_breakpoints(self) -> None:
        if self.python_blocked:
            self.connection.post("settings", catchFaults=self.every_kernel_debugged)
            self.connection.post("setBreakpoints", breakpoints=self.book.requests())
            self.kernel_stops.place_unheard()
            self._unheard = True
            return
        if self.connection.connected:
            await self.connection.request("settings", catchFaults=self.every_kernel_debugged)
            body = await self.connection.request("setBreakpoints", breakpoints=self.book.requests())
            self.book.placed([msgspec.convert(placement, Placement) for placement in body["placements"]])

    async def hear_placements(self) -> None:
        """Ask again for what could not be answered while a kernel held Python's lock."""
        if self._unheard:
            self._unheard = False
            await self._send_breakpoints()
            self.emit(BreakpointsChanged(breakpoints=self.breakpoints))

    # --- kernels in place of others ---

    async def substitute(self, kernel: str, replacement: str, *, file: str = "", line: int = 0) -> Substitution:
        """From its next launch on, `replacement` runs for `kernel`, everywhere or at one line.

        Raises PkdbError when a name is no kernel, or when their parameters differ.
        """
        snapshot = self.require_stop()
        place = self.places[snapshot.frame]
        frame = place.index if place.side != NATIVE else 0
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
            told = self.every_kernel_debugged if name == "catchFaults" else value
            await self.connection.request("settings", **{name: told})

    # --- looking: see `looking.py` ---

    async def select_frame(self, index: int) -> StopSnapshot:
        return await self.looking.select_frame(index)

    async def select_thread(self, thread: int) -> StopSnapshot:
        return await self.looking.select_thread(thread)

    async def show_glue(self, shown: bool) -> None:
        self.glue = shown
        await self.looking.rebuild_frames()

    async def evaluate(self, text: str, timeout: float = 10.0) -> Evaluation:
        return await self.looking.evaluate(text, timeout)

    async def interrupt_evaluation(self) -> None:
        await self.connection.request("interruptEvaluation")

    async def read_slice(self, expression: str, limit: int = 4096) -> Slice:
        return await self.looking.read_slice(expression, limit)

    async def strides_of(self, expression: str) -> tuple[int, ...]:
        return await self.looking.strides_of(expression)

    async def parallel_print(self, expression: str) -> ThreadValues:
        return await self.looking.parallel_print(expression)

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

    def _on_output(self, data: bytes, dropped: int) -> None:
        self.emit(ProgramOutput(data=data, dropped=dropped))

    def _on_event(self, name: str, body: dict[str, Any]) -> None:
        handler = getattr(self, f"_event_{name}", None)
        if handler is not None:
            handler(body)

    def _event_ready(self, body: dict[str, Any]) -> None:
        if self._ready is not None and not self._ready.done():
            self._ready.set_result(msgspec.convert(body, Ready))

    def _event_stopped(self, body: dict[str, Any]) -> None:
        stop = msgspec.convert(body, PythonStop)
        if self.program is not None:
            self.program.drain()
        self.show_python_stop(stop)
        self.spawn(self.after_stop())

    def show_python_stop(self, stop: PythonStop) -> None:
        """A new stop in Python."""
        self.generation += 1
        self._python_stop = stop
        self.launch_log.ended()  # that of an optimised kernel isn't told
        frames, self.places = python_frames(stop.frames, glue=self.glue)
        selected = next((i for i, place in enumerate(self.places) if place.index == stop.frame), 0)
        variables = [python_variable(variable) for variable in stop.variables]
        exception = _exception(stop.exception)
        self.snapshot = StopSnapshot(
            generation=self.generation,
            phase=Phase.STOPPED_PYTHON,
            reason=_reason(stop),
            reason_text=_reason_text(stop),
            frames=tuple(frames),
            frame=selected,
            variables=self.history.mark(frames[selected], variables, self.generation),
            breakpoints=tuple(stop.breakpoints),
            python_threads=python_threads(stop.threads),
            exception=exception,
            return_text=stop.return_text,
        )
        if self.book.spend_temporaries(stop.breakpoints):
            self.emit(BreakpointsChanged(breakpoints=self.breakpoints))
        self.enter(Phase.STOPPED_PYTHON)
        self.looking.emit_stop()

    @property
    def python_frames_known(self) -> PythonStop | None:
        return self._python_stop

    async def after_stop(self) -> None:
        """What may come a moment later: watches. The session is settled then."""
        generation = self.generation
        try:
            if await self.watch_list.refresh(generation):
                self.emit(WatchesChanged(watches=self.watches, stop=True))
        finally:
            if generation == self.generation:
                self._set_settled()

    def _event_continued(self, body: dict[str, Any]) -> None:
        if self.phase is Phase.STOPPED_PYTHON:
            self.enter(Phase.RUNNING_PYTHON)

    def _event_breakpoints(self, body: dict[str, Any]) -> None:
        self.book.placed([msgspec.convert(placement, Placement) for placement in body["placements"]])
        self.emit(BreakpointsChanged(breakpoints=self.breakpoints))

    def _event_logPoint(self, body: dict[str, Any]) -> None:
        if self.program is not None:
            self.program.drain()
        self.emit(LogPoint(breakpoint=body["breakpoint"], text=body["text"]))
        self.connection.post("logHeard", thread=body["thread"])

    def _event_notice(self, body: dict[str, Any]) -> None:
        if self.program is not None:
            self.program.drain()
        self.emit(Notice(text=body["text"], severity=Severity(body.get("severity", "info"))))

    def _event_progress(self, body: dict[str, Any]) -> None:
        if self.phase is Phase.RUNNING_PYTHON and not body["done"]:
            self.enter(Phase.DISPATCHING)
        self.emit(Progress(task=body["task"], done=body["done"], seconds=body["seconds"]))

    def _event_launchReady(self, body: dict[str, Any]) -> None:
        self.spawn(self.kernel_stops.launch_ready(body))

    def _event_launchEnded(self, body: dict[str, Any]) -> None:
        self.spawn(self.kernel_stops.launch_ended(body))

    def _event_launched(self, body: dict[str, Any]) -> None:
        self._launched = True

    def _event_inKernel(self, body: dict[str, Any]) -> None:
        self._in_kernel_heard = self.generation
        self.spawn(self.kernel_stops.interrupt(msgspec.convert(body, KernelReady, strict=False)))

    def _event_launches(self, body: dict[str, Any]) -> None:
        self.launch_log.counted(body["launches"])

    def _event_ending(self, body: dict[str, Any]) -> None:
        exception = _exception(msgspec.convert(body["exception"], ExceptionBody)) if body.get("exception") else None
        self._ending = ExitCause(status=body.get("status"), exception=exception)

    def _on_native(self, event: ControllerEvent) -> None:
        self.kernel_stops.on_event(event)

    def _on_lost(self) -> None:
        """The socket is closed: the program is ending, or closed what it should not have."""
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(DebuggeeLost("The program ended before its first line."))
        if self.program is not None and self.program.process.poll() is None and not self._quitting:
            self.spawn(self._explain_lost_connection())

    async def _explain_lost_connection(self) -> None:
        await asyncio.sleep(0.2)
        if self.program is not None and self.program.process.returncode is None:
            self.emit(
                Notice(
                    text="The program closed the debugger's connection: it runs on, but can't be stopped any more. "
                    "`restart` runs it anew, `quit` ends it.",
                    severity=Severity.ERROR,
                )
            )

    def _on_exit(self, status: int) -> None:
        """The process is gone and its output delivered."""
        if self._quitting or self.program is None:
            return
        self.spawn(self._show_exit(status))

    async def _show_exit(self, status: int) -> None:
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(DebuggeeLost("The program ended before its first line."))
        await self.connection.finish()
        # A debugger that is there lets no SIGTRAP through: it is gone, whether or not its own end was seen already.
        if status == -signal.SIGTRAP and self.program is not None and self.kernels.entered == self.program.pid:
            self.emit(Notice(text=TRAPPED, severity=Severity.ERROR))
        await self.kernels.detach()
        program, self.program = self.program, None
        if program is not None:
            program.kill()
        self.generation += 1
        self.snapshot = None
        self.launch_log.ended()
        self.exit_cause = exit_cause(status, self._ending)
        self.enter(Phase.EXITED)
        if self.exit_cause.signal in FAULTS and self._launched and not self.settings["catchFaults"]:
            self.emit(Notice(text=CATCH_HINT.format(signal=self.exit_cause.signal)))
        self.emit(Exited(cause=self.exit_cause))


def exit_cause(status: int, ending: ExitCause | None) -> ExitCause:
    """How it ended: a signal that killed it, the exception nothing caught, or its status."""
    if status < 0:
        try:
            return ExitCause(signal=signal.Signals(-status).name)
        except ValueError:
            return ExitCause(signal=f"number {-status}")
    if ending is not None and ending.exception is not None:
        return ExitCause(status=status, exception=ending.exception)
    return ExitCause(status=status)


def _exception(body: ExceptionBody | None) -> ExceptionInfo | None:
    if body is None:
        return None
    return ExceptionInfo(type=body.type, message=body.message, traceback=body.traceback)


def _reason(stop: PythonStop) -> Any:
    from pkdb_tui.engine.api import Reason

    return Reason(stop.reason)


def _reason_text(stop: PythonStop) -> str:
    if stop.breakpoints:
        failed = f": {first}" if (first := stop.text.partition("\n")[0]) else ""
        return "breakpoint " + ", ".join(map(str, stop.breakpoints)) + failed
    if stop.exception is not None:
        first = stop.exception.message.partition("\n")[0]  # the traceback has all of it
        return f"exception {stop.exception.type}{': ' if first else ''}{first}"
    first = stop.text.partition("\n")[0]
    return f"{stop.reason}: {first}" if first else stop.reason
