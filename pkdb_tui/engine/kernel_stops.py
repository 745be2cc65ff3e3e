"""Kernel stops of a session: the launch protocol with the debuggee, and native events turned into snapshots."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from pkdb_tui.engine.api import (
    BreakpointsChanged,
    Focus,
    Frame,
    FrameKind,
    LogPoint,
    Notice,
    Phase,
    Progress,
    Reason,
    Severity,
    StopSnapshot,
    ThreadRange,
    ThreadState,
    Variable,
)
from pkdb_tui.engine.breakpoints import Entry
from pkdb_tui.engine.debuggee.log_points import template_literal
from pkdb_tui.engine.errors import NativeError, NativeLost, NativeUnavailable, PkdbError, UsageError, WrongPhase
from pkdb_tui.engine.kernel_side import DEVICES, is_still
from pkdb_tui.engine.native.base import (
    ControllerEvent,
    ControllerHangs,
    ControllerLost,
    ExpressionFaulted,
    Hit,
    KernelStopped,
    NativeStop,
    NativeVariable,
    PauseMissed,
    PlacementsChanged,
    ProcessEnded,
    StepKind,
    StopCause,
    ThreadsChanged,
)
from pkdb_tui.engine.protocol import KernelReady, Placement
from pkdb_tui.engine.snapshots import NATIVE, Place, native_frames, native_variable, python_frames, python_variable

if TYPE_CHECKING:
    from pkdb_tui.engine.moves import Verb
    from pkdb_tui.engine.session import Session

CONSTANT_SECONDS = 2.0
PAUSE_SECONDS = 2.0
MISSED_SECONDS = 0.02  # until a pause that found nobody in the kernel is tried again
ATTACHING = "attaching the native debugger"
HANGS = (
    "The native debugger doesn't answer ({seconds:g} s). It is ended after {limit:g} s, or at once by pausing; "
    "`restart` and `quit` work meanwhile."
)
GONE = "The native debugger is gone: {reason} The program runs on; kernel breakpoints return at the next launch."
IN_NATIVE_CODE = (
    "The program is in native code that keeps Python waiting, with no line to stop at. "
    "It stops as soon as that code returns."
)
IN_OPTIMISED = (
    "The program is in the optimised build of {launch}, which keeps Python waiting and has no lines to stop at. "
    "It stops as soon as that is over. With a breakpoint in {kernel} its next launch is a debug build, "
    "which stops at once."
)
FATAL = "After an exception of the device the program ends as soon as it goes on: look around now, then `restart`."
REASONS = {
    StopCause.BREAKPOINT: Reason.BREAKPOINT,
    StopCause.STEP: Reason.STEP,
    StopCause.PAUSE: Reason.PAUSE,
    StopCause.SIGNAL: Reason.SIGNAL,
    StopCause.WATCHPOINT: Reason.WATCHPOINT,
    StopCause.BOUNDS: Reason.BOUNDS,
}


class _View(msgspec.Struct, frozen=True):
    """A snapshot, with what its frame and thread numbers mean."""

    snapshot: StopSnapshot
    places: list[Place]
    thread: int


class KernelStops:
    """What a session does while a kernel is debugged."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.thread = 0  # the focus
        self._shown: NativeStop | None = None  # the stop that is on the screen
        self._launch = 0  # the launch that is looked at, or was last
        self._over = 0  # the one whose end was told last
        self._optimised: KernelReady | None = None  # an optimised kernel under way that a pause has found
        self.level = 0  # native level of its innermost kernel frame
        self._threads: tuple[ThreadRange, ...] = ()
        self._after_launch = "continue"  # `then` of launchDone: continue, stop, run or pause
        self._changed = asyncio.Event()
        self._told_unavailable: dict[bool, str] = {}  # by whether it is a device's debugger that can't be used
        self._told_slow: set[tuple[int, str]] = set()
        self._interrupting = asyncio.Lock()
        self._left: KernelReady | None = None  # the kernel under way, whose debugger is gone
        self._coped = asyncio.Event()  # with the loss of a debugger, if there was one
        self._coped.set()
        self._ready = asyncio.Event()  # no launch is being made ready
        self._ready.set()

    def begin(self) -> None:
        """A new process: it counts its launches from one."""
        self._launch, self._over, self._optimised, self._left = 0, 0, None, None

    # --- the launch protocol ---

    async def launch_ready(self, body: dict[str, Any]) -> None:
        """Attach if needed, place, let the kernel go; whatever fails, the kernel runs."""
        session = self._session
        self._left = None
        self._ready.clear()
        try:
            kernel = msgspec.convert(body, KernelReady, strict=False)
            session.enter(Phase.DISPATCHING)
            session.launch_log.began(kernel)
            self._launch, self._after_launch = kernel.launch, "continue"
            await self._attach(kernel.space)
            await session.kernels.prepare(kernel)
            self._tell_slow(kernel)
        except NativeUnavailable as error:
            self._left = kernel
            self._unavailable(str(error), kernel.space)
        except NativeLost:
            pass  # told with the loss
        except NativeError as error:
            session.emit(Notice(text=str(error), severity=Severity.ERROR))
        finally:
            # Whatever went wrong, the program must not wait for ever.
            session.connection.post("launchGo", launch=body["launch"])
            self._ready.set()
        session.emit(BreakpointsChanged(breakpoints=session.breakpoints))
        session.enter(Phase.RUNNING_KERNEL)
        if session.moves.pausing:  # asked for while it was compiled, or the debugger attached
            await self.interrupt()

    def _tell_slow(self, kernel: KernelReady) -> None:
        """Say once of each condition that it could not be built into its kernel."""
        for entry in self._session.book.in_kernels():
            told = (entry.id, entry.spec.condition)
            if entry.slow and entry.id in kernel.refused and told not in self._told_slow:
                self._told_slow.add(told)
                reason = kernel.refused[entry.id].rstrip(".")
                text = (
                    f"The condition of breakpoint {entry.id} can't be built into kernel {kernel.kernel}: {reason}. "
                    "It is evaluated at each hit instead, which takes longer."
                )
                self._session.emit(Notice(text=text, severity=Severity.WARNING))

    def place_unheard(self) -> None:
        """Place what was asked for while the program's side can't say where: on the lines of the kernel itself."""
        kernel = self._session.kernels.kernel
        if kernel is None:
            return
        for entry in self._session.book.entries.values():
            if entry.python is None and entry.spec.line in kernel.lines.get(entry.file, []):
                entry.python = Placement(
                    id=entry.id, state="bound", file=entry.file, line=entry.spec.line, kernel=kernel.kernel
                )

    async def _attach(self, space: str) -> None:
        session = self._session
        if session.kernels.attached_for(space) or session.program is None:
            return
        session.emit(Progress(task=ATTACHING))
        try:
            await session.kernels.attach(session.program.pid, space)
        finally:
            session.emit(Progress(task=ATTACHING, done=True))
        self._told_unavailable.pop(space in DEVICES, None)
        for entry in session.book.entries.values():
            entry.unavailable = ""

    def _unavailable(self, reason: str, space: str) -> None:
        """Kernel breakpoints say why they can't bind; told in words once."""
        if self._session.program is None or self._session.program.over:
            return  # it can't be attached to because it has ended, which is told
        for entry in self._session.book.in_kernels():
            entry.unavailable = reason
        if reason != self._told_unavailable.get(space in DEVICES):
            self._told_unavailable[space in DEVICES] = reason
            self._session.emit(Notice(text=reason, severity=Severity.ERROR))

    async def launch_ended(self, body: dict[str, Any]) -> None:
        """The kernel is over; whatever fails here, the program goes on as it was told to."""
        session = self._session
        self._over, self._optimised = body["launch"], None
        self._left = None
        try:
            await session.kernels.ended()
            session.evaluator.launch_ended()
            session.launch_log.ended()
            session.snapshot = None
            session.enter(Phase.RUNNING_PYTHON)
            if not self._needed():
                await session.kernels.detach()
        finally:
            # A pause that found nobody in the kernel any more is meant for the next Python line.
            known = self._after_launch if self._launch == self._over else "continue"
            then = "pause" if session.moves.take_pause() else known
            session.connection.post("launchDone", launch=body["launch"], then=then)
        await session.placing.hear()

    def _needed(self) -> bool:
        """Whether the native debugger should stay for later launches."""
        return bool(self._session.book.in_kernels()) or self._session.settings["catchFaults"]

    async def breakpoints_changed(self) -> None:
        session = self._session
        if session.kernels.attached:
            await session.kernels.place()
            if session.kernels.kernel is None and not self._needed():
                await session.kernels.detach()

    # --- going on ---

    async def resume(self, verb: Verb, *, line: int, threads: str, all_threads: bool) -> None:
        """From a kernel stop."""
        session = self._session
        kind = {"next": StepKind.NEXT, "step": StepKind.STEP, "finish": StepKind.FINISH, "until": StepKind.UNTIL}
        if session.kernels.stop is not self._shown:
            raise WrongPhase("The kernel has stopped anew.", "Look at that stop, then go on.")
        if session.evaluator.crash:
            await session.evaluator.end_by_crash(going=verb == "continue" and not threads)
            return
        generation, before = session.generation, self._after_launch
        # The launch may end before the controller answers, so this is settled first.
        self._after_launch = "run" if verb == "continue" else "stop"
        try:
            if verb == "continue":
                await session.kernels.resume(threads)
            else:
                await session.kernels.step(kind[verb.value], self.thread, all_threads=all_threads, line=line)
        except PkdbError:
            self._after_launch = before
            raise
        if session.generation == generation and session.phase is Phase.STOPPED_KERNEL:
            session.enter(Phase.RUNNING_KERNEL)

    async def in_kernel(self, kernel: KernelReady) -> None:
        """A pause has found an optimised kernel, whose end will be told."""
        if kernel.launch == self._over:
            return  # and was, before this
        self._optimised = kernel
        self._launch, self._after_launch = kernel.launch, "continue"
        self._session.launch_log.began(kernel)
        self._session.enter(Phase.RUNNING_KERNEL)
        await self.interrupt()

    async def interrupt(self) -> None:
        """Stop the kernel where it is, attaching first when no native debugger is."""
        session = self._session
        async with self._interrupting:
            if not session.moves.pausing:
                return
            try:
                optimised = self._optimised
                under_way = session.kernels.kernel or self._left or optimised
                await self._attach(under_way.space if under_way is not None else "")
                await self._find_again()
                if optimised is not None and session.kernels.kernel is None:
                    await session.kernels.adopt(optimised)
                    if self._optimised is not optimised:  # over meanwhile
                        session.kernels.forget()
                if session.moves.pausing:
                    await session.kernels.controller.interrupt()
            except NativeUnavailable as error:
                if session.program is not None and not session.program.over:
                    session.emit(Notice(text=f"The kernel can't be paused: {error}", severity=Severity.ERROR))
            except NativeError:
                if session.moves.pausing:
                    raise  # else the launch has ended meanwhile, and the pause been handed on

    async def _missed(self) -> None:
        """A pause found no thread in a kernel: try again, or let Python stop."""
        session = self._session
        if not session.moves.pausing or session.phase.stopped:
            return
        kernel = session.kernels.kernel
        if kernel is None:
            await session.kernels.detach()
            launch = session.life.sign()
            kernel_name = launch.partition(" launched at ")[0]
            text = IN_OPTIMISED.format(launch=launch, kernel=kernel_name) if launch else IN_NATIVE_CODE
            session.emit(Notice(text=text))
        else:
            await asyncio.sleep(MISSED_SECONDS)  # it is about to enter the kernel, or to tell its end
            if session.moves.pausing and session.kernels.kernel is kernel:
                await self.interrupt()

    async def _find_again(self) -> None:
        """A new debugger, in a kernel whose first one is gone: the same breakpoints in it."""
        kernel, self._left = self._left, None
        if kernel is not None and self._session.kernels.kernel is None:
            await self._session.kernels.prepare(msgspec.structs.replace(kernel, stop_at_entry=False))
            self._session.emit(BreakpointsChanged(breakpoints=self._session.breakpoints))

    async def coped(self) -> None:
        """Until the loss of a debugger has been dealt with."""
        await self._coped.wait()

    async def ready(self) -> None:
        """Until no debugger is being attached for a launch."""
        await self._ready.wait()

    @property
    def some_run(self) -> bool:
        """Whether some threads of the kernel run while it is stopped."""
        stopped = self._session.phase is Phase.STOPPED_KERNEL
        return stopped and any(part.state is ThreadState.RUNNING for part in self._threads)

    async def pause_rest(self) -> None:
        """Stop also the threads that run on while some are stopped; the stop stays as it is."""
        controller = self._session.kernels.controller
        if not any(part.state is ThreadState.RUNNING for part in await controller.thread_states()):
            raise WrongPhase(
                "No thread of the kernel runs: each is stopped, or waits for those that are.",
                "`threads` shows what each one does.",
            )
        self._changed.clear()
        await controller.interrupt_rest()
        with contextlib.suppress(TimeoutError):  # one that can't be stopped soon stays shown as running
            await asyncio.wait_for(self._changed.wait(), PAUSE_SECONDS)

    # --- native events ---

    def on_event(self, event: ControllerEvent) -> None:
        session = self._session
        match event:
            case KernelStopped(stop=stop):
                session.kernels.stopped(stop)
                session.book.hit(stop.hits)
                self._threads = stop.threads
                session.spawn(self._stopped(stop))
            case ThreadsChanged(threads=threads, hits=hits):
                session.book.hit(hits)
                self._threads = threads
                self._changed.set()
                shown = session.phase is Phase.STOPPED_KERNEL and session.kernels.stop is self._shown
                if shown and session.snapshot is not None:
                    session.looking.show(msgspec.structs.replace(session.snapshot, threads=threads))
                if hits:
                    session.emit(BreakpointsChanged(breakpoints=session.breakpoints))
            case PlacementsChanged(placements=placements):
                session.book.placed_natively(placements)
                session.emit(BreakpointsChanged(breakpoints=session.breakpoints))
            case ExpressionFaulted(text=text):
                session.evaluator.crashed(text)
            case PauseMissed():
                session.spawn(self._missed())
            case ControllerHangs(seconds=seconds, limit=limit):
                session.emit(Notice(text=HANGS.format(seconds=seconds, limit=limit), severity=Severity.WARNING))
            case ControllerLost(reason=reason):
                kernel = session.kernels.kernel
                self._left = kernel if kernel is not None and kernel.build != "release" else None
                self._coped.clear()
                session.spawn(self._lost(reason))
            case ProcessEnded():
                pass  # the program's own end is told by its exit status

    async def _lost(self, reason: str) -> None:
        session = self._session
        try:
            await session.kernels.detach()
            for entry in session.book.in_kernels():
                entry.unavailable = (
                    f"the native debugger is gone ({reason.rstrip('.')}); it is attached again at the next launch"
                )
                entry.native = None
            session.emit(Notice(text=GONE.format(reason=reason), severity=Severity.ERROR))
            session.emit(BreakpointsChanged(breakpoints=session.breakpoints))
            if session.phase is Phase.STOPPED_KERNEL:
                session.snapshot = None
                session.enter(Phase.RUNNING_KERNEL)
        finally:
            self._coped.set()

    async def _stopped(self, stop: NativeStop) -> None:
        session = self._session
        if session.program is not None:
            session.program.drain()
        if session.book.spend_temporaries(stop.breakpoints):
            await session.kernels.place()
        generation = session.generation + 1
        view = await self._view(stop, stop.thread, generation)
        if session.kernels.stop is not stop:
            return  # one more stop has come, which is shown in its place
        session.generation, self._shown = generation, stop
        session.snapshot = self._take(view)
        session.emit(BreakpointsChanged(breakpoints=session.breakpoints))
        session.enter(Phase.STOPPED_KERNEL)
        session.looking.emit_stop()
        if stop.cause is StopCause.SIGNAL and session.kernels.controller.ends_faulty:
            session.emit(Notice(text=FATAL))
        await session.after_stop()

    # --- asked by the native debugger while threads stand at breakpoints ---

    def evaluates(self, thread: int) -> bool:
        """See `base.Owner`."""
        return self._session.evaluator.runs_in(thread)

    async def judge(self, hits: Sequence[Hit]) -> dict[Hit, str | None]:
        """See `base.Owner`."""
        answer: dict[Hit, str | None] = {}
        for entry, threads in self._by_entry(hits):
            condition = entry.spec.condition
            constants = await self._constants(condition, threads)
            found = await self._session.kernels.failures_of_threads(condition, threads, constants)
            answer.update({(entry.id, thread): failure for thread, failure in found.items()})
        return answer

    async def speak(self, hits: Sequence[Hit], failures: Mapping[Hit, str]) -> None:
        """See `base.Owner`."""
        session = self._session
        if session.program is not None:
            session.program.drain()
        for entry, threads in self._by_entry(hits):
            literal = template_literal(entry.spec.log)
            constants = await self._constants(literal, threads)
            texts = await session.kernels.texts_of_threads(entry.spec.log, threads, constants)
            place = f"{entry.file.rsplit('/', 1)[-1]}:{entry.line}"
            for thread in threads:
                failure = failures.get((entry.id, thread), "")
                text = f"<condition failed: {failure}>" if failure else texts[thread]
                session.emit(LogPoint(breakpoint=entry.id, text=f"{place} thread {thread} {text}"))

    def _by_entry(self, hits: Sequence[Hit]) -> list[tuple[Entry, list[int]]]:
        book = self._session.book.entries
        found: dict[int, list[int]] = {}
        for number, thread in sorted(hits):
            if number in book:
                found.setdefault(number, []).append(thread)
        return [(book[number], threads) for number, threads in found.items()]

    async def _constants(self, expression: str, threads: Sequence[int]) -> dict[str, Any]:
        """Numbers of the Python code that launched the kernel, for names the kernel doesn't have."""
        from pkdb_tui.engine import expressions

        session = self._session
        variables = await session.kernels.controller.variables_of_threads(
            list(threads)[:1], sorted(expressions.names(expression))
        )
        known = {variable.name for found in variables.values() for variable in found}
        constants: dict[str, Any] = {}
        kernel = session.kernels.kernel
        if kernel is None or kernel.holds_lock:
            return constants
        for name in sorted(expressions.names(expression) - known):
            body = await session.connection.request(
                "evaluate", expression=name, frame=0, timeout=CONSTANT_SECONDS, mode="eval"
            )
            if not body.get("error") and isinstance(body.get("value"), (int, float, bool)):
                constants[name] = body["value"]
        return constants

    # --- what a stop shows ---

    async def build(self) -> StopSnapshot:
        """The snapshot of the current kernel stop, as `session.glue` asks for now."""
        return await self.focus_on(self.thread)

    async def _view(self, stop: NativeStop, thread: int, generation: int) -> _View:
        """What a stop shows with the focus on a thread."""
        session = self._session
        kernel = session.kernels.kernel
        frames, places = native_frames(await session.kernels.frames(thread), glue=session.glue)
        if kernel is not None:
            rest, more = python_frames(kernel.frames, glue=session.glue, start=len(frames))
            frames, places = frames + rest, places + more
        if not frames:
            frames, places = [Frame(index=0, function="?", file="", line=0, kind=FrameKind.GLUE)], [Place("python", 0)]
        selected = next((f.index for f in frames if f.kind is FrameKind.KERNEL), 0)
        variables: tuple[Variable, ...] = ()
        if places[selected].side == NATIVE:
            variables = await self._variables(thread, places[selected].index, frames[selected], generation)
        snapshot = StopSnapshot(
            generation=generation,
            phase=Phase.STOPPED_KERNEL,
            reason=REASONS[stop.cause],
            reason_text=self._reason_text(stop),
            frames=tuple(frames),
            frame=selected,
            variables=variables,
            breakpoints=stop.breakpoints,
            threads=self._threads or stop.threads,
            focus=await self._focus(thread, frames, places, selected, variables),
            kernel=session.kernels.info(),
            return_text=stop.returned if thread == stop.thread else "",
        )
        return _View(snapshot=snapshot, places=places, thread=thread)

    def _take(self, view: _View) -> StopSnapshot:
        """Make this what is looked at, all of it at once."""
        self.thread, self._session.places = view.thread, view.places
        self._session.kernels.controller.focus = view.thread
        place = view.places[view.snapshot.frame]
        if place.side == NATIVE:
            self.level = place.index
        return msgspec.structs.replace(view.snapshot, threads=self._threads or view.snapshot.threads)

    async def _focus(
        self, thread: int, frames: list[Frame], places: list[Place], selected: int, variables: tuple[Variable, ...]
    ) -> Focus:
        """The thread and its indices, which are the workunit's, also in a function that it calls."""
        kernel = self._session.kernels.kernel
        count = 1 + max((part.last for part in self._threads), default=thread)
        text = self._session.kernels.controller.name_of(thread, count)
        names = kernel.index_names if kernel is not None else []
        workunit = max((f.index for f in frames if f.kind is FrameKind.KERNEL), default=selected)
        if names and workunit != selected and kernel is not None and kernel.build != "release":
            found = await self._session.kernels.variables(thread, places[workunit].index)
            variables = tuple(native_variable(variable) for variable in found)
        values = {variable.name: variable.text for variable in variables}
        for name in names:
            if name in values:
                text += f" · {name} = {values[name]}"
        return Focus(thread=thread, threads=count, text=text)

    def _reason_text(self, stop: NativeStop) -> str:
        if stop.cause is StopCause.BREAKPOINT and stop.breakpoints:
            failed = f": {stop.text}" if stop.text else ""
            return "breakpoint " + ", ".join(map(str, stop.breakpoints)) + failed
        if stop.cause is StopCause.WATCHPOINT:
            return self._watchpoint_text(stop)
        if stop.cause is StopCause.SIGNAL:
            return f"signal {stop.text}"
        return f"{stop.cause.value}: {stop.text}" if stop.text else stop.cause.value

    def _watchpoint_text(self, stop: NativeStop) -> str:
        """The watchpoints, then the breakpoints that other threads have come to meanwhile."""
        watched: dict[int, str] = {}
        others: list[str] = []
        for number in stop.breakpoints:
            entry = self._session.book.entries.get(number)
            if entry is None or entry.spec.watch:
                watched[number] = entry.spec.watch if entry is not None else ""
            else:
                others.append(str(number))
        text = f"watchpoint {', '.join(map(str, watched))}: {', '.join(filter(None, watched.values()))} {stop.text}"
        return f"{text}; breakpoint {', '.join(others)}" if others else text

    async def variables_of(self, level: int, frame: Frame) -> tuple[Variable, ...]:
        return await self._variables(self.thread, level, frame, self._session.generation)

    async def _variables(self, thread: int, level: int, frame: Frame, generation: int) -> tuple[Variable, ...]:
        session = self._session
        kernel = session.kernels.kernel
        if kernel is not None and kernel.build == "release":
            # What is in its registers can't be told apart reliably; what it was given is known.
            return tuple(python_variable(body) for body in kernel.arguments)
        found = [native_variable(v) for v in await session.kernels.variables(thread, level)]
        return session.history.mark(frame, found, generation, thread)

    async def native_variables(self, level: int) -> dict[str, NativeVariable]:
        return {v.name: v for v in await self._session.kernels.variables(self.thread, level)}

    async def focus_on(self, thread: int) -> StopSnapshot:
        """The current stop with the focus on a thread. Raises WrongPhase when the kernel goes on meanwhile."""
        stop = self._session.kernels.stop
        if stop is None or stop is not self._shown:
            raise WrongPhase("The kernel is not stopped any more.")
        view = await self._view(stop, thread, self._session.generation)
        if self._session.kernels.stop is not stop:
            raise WrongPhase("The program went on meanwhile.")
        return self._take(view)

    async def select(self, thread: int) -> StopSnapshot:
        """As `focus_on`. Raises UsageError for a thread that can't be looked at."""
        part = next((part for part in self._threads if part.first <= thread <= part.last), None)
        if part is None:
            last = self._threads[-1].last if self._threads else 0
            raise UsageError(f"There is no thread {thread}.", f"Threads are numbered 0 to {last}.")
        if part.state is ThreadState.ABSENT:
            why = "is not on the device: its block has not begun, or is over"
            raise UsageError(f"Thread {thread} {why}.", "`threads` lists those that are there.")
        if not is_still(part):
            raise UsageError(f"Thread {thread} is not stopped in the kernel.", "`threads` shows what each one does.")
        return await self.focus_on(thread)
