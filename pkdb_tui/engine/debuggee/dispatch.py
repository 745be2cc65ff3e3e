"""Every kernel launch passes here: logged, and run as it is or through a debug build when the person looks at it."""

from __future__ import annotations

import _thread
import contextlib
import sys
import time
from types import FrameType
from typing import TYPE_CHECKING, Any

from pkdb_tui.engine.debuggee import frames
from pkdb_tui.engine.debuggee.arguments import bodies_of
from pkdb_tui.engine.debuggee.evaluate import answer
from pkdb_tui.engine.debuggee.frameworks.base import Adapter, pattern_of
from pkdb_tui.engine.debuggee.hotswap import Rule
from pkdb_tui.engine.debuggee.inspector import COMMANDS, Inspector
from pkdb_tui.engine.debuggee.launches import LaunchLog
from pkdb_tui.engine.debuggee.limits import EvaluationInterrupted, Limit, start_named
from pkdb_tui.engine.debuggee.plans import PAUSE, STEP
from pkdb_tui.engine.debuggee.runs import Attended, Outcome, Run, Runs, Sign, system_thread
from pkdb_tui.engine.debuggee.sources import read_source, real_path
from pkdb_tui.engine.debuggee.wire import Connection, RequestError

if TYPE_CHECKING:
    from pkdb_tui.engine.debuggee.debugger import Debugger

Json = dict[str, Any]
LEFT_BEHIND = (
    "but it waits or is in native code, where Python can't break it off. It was left behind in a thread of its own and "
    "ends as soon as it is back in Python."
)
LOG_SECONDS = 0.2  # a launch that ends sooner after the log was told is told of with the next one, or at the next stop

BUSY = (
    "no other kernel can begin in {space} while {kernel} is stopped in it; "
    "another space, such as Serial, can run one, and so can this one when {kernel} is over"
)


class Dispatch:
    """Decides per launch; `spans` tells which lines of a file are kernel lines."""

    debugger: Debugger

    def __init__(self, connection: Connection, adapters: list[Adapter]) -> None:
        self._connection = connection
        self.adapters = adapters
        self._log = LaunchLog()
        # One at a time, while `debugger.stop_lock` is held.
        self._ready: Attended | None = None
        self._busy: tuple[int, Any] | None = None  # (thread, launch) of a framework that lets no other begin meanwhile
        self.looked_at: tuple[Adapter, Any] | None = None  # the launch in its debug build
        self._looking = 0  # the thread of that
        self.runs = Runs(adapters)
        self.sign = Sign()
        self._count = 0
        self._counting = _thread.allocate_lock()
        self._turn = _thread.allocate_lock()
        self._spans: dict[str, list[Json]] = {}

    def install(self) -> None:
        for adapter in self.adapters:
            adapter.install(self.launch)

    def add(self, adapter: Adapter) -> None:
        """One framework more, found only now."""
        self.adapters.append(adapter)
        adapter.install(self.launch)

    def knows(self, framework: str) -> bool:
        return any(adapter.name == framework for adapter in self.adapters)

    def tell(self, text: str, severity: str = "warning") -> None:
        self._connection.event("notice", {"text": text, "severity": severity})

    def uninstall(self) -> None:
        for adapter in self.adapters:
            adapter.uninstall()

    # --- what the debugger asks ---

    def spans(self, file: str) -> list[Json]:
        """Kernel spans of a Python file, cached; none where it can't be read."""
        if file not in self._spans:
            try:
                source = read_source(file)
                found = []
                for span in (span for adapter in self.adapters for span in adapter.spans(file, source)):
                    if span not in found:
                        found.append(span)
            except (OSError, SyntaxError, ValueError, RecursionError):
                found = []
            self._spans[file] = found
        return self._spans[file]

    def changed_breakpoints(self) -> None:
        self._log.forget_wanted()
        self.look_again()

    def look_again(self) -> None:
        """Breakpoints, settings, rules or steps may be others than before: no launch is let run unseen for now."""
        for adapter in self.adapters:
            adapter.look_again()

    @property
    def changed(self) -> bool:
        return self._log.changed

    def launches(self) -> list[Json]:
        return self._log.bodies()

    def _next(self, unseen: int = 0) -> int:
        """The number of a launch that begins now; those that ran unseen count as well, as do those under way."""
        with self._counting:
            self._count = max(self._count, self._log.total + self.runs.count - unseen) + 1
            return self._count

    @property
    def debugging(self) -> bool:
        """Whether a native debugger looks at a launch."""
        return self._ready is not None

    def inspects(self, command: str) -> bool:
        """Whether a request about frames is served here, while a kernel that is looked at runs or is stopped."""
        return self._ready is not None and command in COMMANDS

    def inspect(self, request: Json) -> bool:
        """Have such a request served; False when the kernel is over."""
        ready = self._ready
        return ready is not None and ready.ask(request)

    def go(self, number: int) -> None:
        self._answer(number, "go")

    def done(self, number: int, then: str) -> None:
        self._answer(number, then)

    def _answer(self, number: int, text: str) -> None:
        if self._ready is None or self._ready.number != number:
            raise RequestError(f"Launch {number} is not waiting.")
        self._ready.answers.put(text)

    def launches_at(self, file: str, lines: tuple[int, int]) -> bool:
        """Whether a kernel was launched from these lines of a file."""
        return self._log.has(file, lines)

    # --- launches, on the program's threads ---

    def launch(self, adapter: Adapter, launch: Any) -> Any:
        """The hook: what it returns is what the launch returns."""
        ident = _thread.get_ident()
        aside = self.debugger.evaluations.aside.get(ident)
        if aside is not None:
            return aside(launch)
        caller = sys._getframe(launch.frame_depth + 2)
        number = 0  # of an expression's own
        if ident not in self.debugger.tracer.quiet:
            number = self._next()
            if number == 1:
                self._connection.event("launched", {"kernel": launch.kernel.name})
        if self.debugger.swaps.armed:
            return self._substituted(adapter, launch, caller, number)
        return self._launch(adapter, launch, caller, number)

    def _substituted(self, adapter: Adapter, launch: Any, caller: FrameType, number: int) -> Any:
        """The launch with the kernel that a rule puts in its place; the original where that one can't run."""
        swaps = self.debugger.swaps
        try:
            chosen = swaps.chosen(launch, caller)
        except RequestError as error:
            self.tell(f"Not substituted: {error.title} {error.hint}".strip())
            chosen = None
        if chosen is None:
            return self._launch(adapter, launch, caller, number)
        rule, workunit = chosen
        rule.uses += 1
        try:
            instead = launch.substituted(workunit)
        except Exception as error:  # noqa: BLE001 - whatever the framework has against it, the original runs
            return self._original(adapter, launch, caller, number, rule, str(error))
        try:
            return self._launch(adapter, instead, caller, number)
        except Exception as error:
            if not adapter.is_build_error(error):
                raise
            return self._original(adapter, launch, caller, number, rule, str(error))

    def _original(self, adapter: Adapter, launch: Any, caller: FrameType, number: int, rule: Rule, error: str) -> Any:
        """The program's own kernel, as the one that was to stand for it can't be built."""
        rule.uses -= 1
        self.debugger.swaps.refuse(rule, error.partition("\n")[0])
        self.tell(f"{rule.replacement} can't run here, so {launch.kernel.name} does: {error}")
        return self._launch(adapter, launch, caller, number)

    def _launch(self, adapter: Adapter, launch: Any, caller: FrameType, number: int) -> Any:
        ident = _thread.get_ident()
        if ident in self.debugger.tracer.quiet:
            if self._busy is not None and self._busy[0] != ident and self._busy[1].space == launch.space:
                raise RuntimeError(BUSY.format(space=launch.space, kernel=self._busy[1].kernel.name))
            if self._looking == ident and self.looked_at is not None:
                return self._unseen(launch, caller, self.looked_at[1].kernel.name)
            return launch.run()  # by an expression of the person's: no launch of the program's, and no place to stop
        epoch = adapter.epoch  # before anything is looked up: what changes from here on makes it an old one
        record = self._log.note(launch, caller)
        if record.first:
            record.first = False
            for text in adapter.warnings(launch):
                self._warn(launch, record, caller, text)
        if record.watch_strides:
            for text in record.stride_warnings(launch.arguments):
                self._warn(launch, record, caller, f"{text}; {adapter.stride_note()}")
        plan = self.debugger.tracer.plans.get(ident)
        entry = plan is not None and plan.kind == STEP and self.debugger.settings["stepIntoKernel"]
        if launch.space != "Debug":
            if record.wanted is None:
                record.wanted = self._wanted(adapter, launch, caller)
            if record.wanted or entry or self.debugger.settings["catchFaults"]:
                return self._debug(adapter, launch, caller, record, number, bool(entry))
            if not self.debugger.swaps.armed:
                launch.let_run(epoch, record, caller)
        return self._optimised(adapter, launch, caller, record, number)

    def _optimised(self, adapter: Adapter, launch: Any, caller: FrameType, record: Any, number: int) -> Any:
        """The launch as it is; a pause may have a native debugger look at it."""
        run = None
        begun = time.perf_counter()
        try:
            launch.prepare()
            run = self.runs.begin(adapter, launch, caller, number)
            if adapter.holds_lock:
                self.sign.show(record.sign)
            return self._unwatched(launch)
        except (Exception, SystemExit) as error:
            if adapter.is_build_error(error):
                self.debugger.stop(caller, reason="error", text=adapter.build_error_text(error))
            raise
        finally:
            if adapter.holds_lock:
                self.sign.show(b"")
            if run is not None:
                self.runs.end(run)
            record.add(time.perf_counter() - begun)
            if run is not None and run.attended is not None:
                self._over(run)

    def _unwatched(self, launch: Any) -> Any:
        """Run the launch without events for the runtime's own Python calls, each of which would cost microseconds."""
        backend = self.debugger.backend
        if launch.space == "Debug" or not backend.rest_for_call():
            return launch.run()
        try:
            return launch.run()
        finally:
            backend.wake_after_call()

    def _wanted(self, adapter: Adapter, launch: Any, caller: FrameType) -> bool:
        """Whether a breakpoint concerns the kernel.

        One that doesn't translate stops at its launch; the program's own does so by the exception that it raises there.
        """
        try:
            return bool(self._concerned(launch))
        except Exception as error:
            if launch.stands_for and adapter.is_build_error(error):
                self.debugger.stop(caller, reason="error", text=adapter.build_error_text(error))
            raise

    def _concerned(self, launch: Any) -> list[Any]:
        """Breakpoints on lines of the kernel or of the functions it calls."""
        parts = [launch.kernel, *launch.functions]
        return [
            b
            for b in self.debugger.table.all
            if b.state != "cannot bind"
            and any(b.file == real_path(part.file) and part.first_line <= b.line <= part.last_line for part in parts)
        ]

    def _warn(self, launch: Any, record: Any, caller: FrameType, text: str) -> None:
        place = f"{frames.display_file(caller.f_code.co_filename)}:{caller.f_lineno}"
        sentence = f"{launch.kernel.name} at {place.rsplit('/', 1)[-1]}: {text}."
        record.warnings.append(sentence)
        self._connection.event("notice", {"text": sentence, "severity": "warning"})

    def _unseen(self, launch: Any, caller: FrameType, around: str) -> Any:
        """A launch by a signal handler on the thread of one that is looked at: nothing else is debugged there."""
        record = self._log.note(launch, caller)
        if not record.told_unseen:
            record.told_unseen = True
            self.tell(
                f"{launch.kernel.name} was launched by a signal handler before the launch of {around} had ended: "
                "breakpoints in both the kernel and the handler had no effect."
            )
        begun = time.perf_counter()
        try:
            return launch.run()
        finally:
            record.add(time.perf_counter() - begun)

    # --- debug launches ---

    def _debug(self, adapter: Adapter, launch: Any, caller: FrameType, record: Any, number: int, entry: bool) -> Any:
        """A debug build in place of the launch; returns or raises what it does."""
        ident = _thread.get_ident()
        quiet = self.debugger.tracer.quiet
        with self._turn:
            quiet.add(ident)
            try:
                build = self._build(adapter, launch)
            except Exception as error:
                quiet.discard(ident)
                self.debugger.stop(caller, reason="error", text=adapter.build_error_text(error))
                if not adapter.says_itself(error):
                    raise
                return launch.run()
            try:
                outcome = self._run(adapter, launch, build, caller, record, number, entry)
            finally:
                quiet.discard(ident)
        self._go_on(caller, outcome, entry=entry)
        if outcome.error is not None:
            raise outcome.error
        return outcome.result

    def _go_on(self, caller: FrameType, outcome: Outcome, *, entry: bool = False) -> None:
        """As the person said at the last stop in the kernel."""
        if outcome.then in ("stop", PAUSE):
            reason = STEP if outcome.then == "stop" else PAUSE
            has = outcome.result is not None
            self.debugger.stop(caller, reason=reason, returned=outcome.result, has_returned=has, owed=True)
        elif entry or outcome.then == "run":
            # The kernel used the step up: what comes next is the person's next wish, not the caller's next line.
            self.debugger.let_go(caller)
        self.debugger.unquiet(_thread.get_ident(), caller)
        self.debugger.deliver_interrupt()

    def _run(
        self, adapter: Adapter, launch: Any, build: Any, caller: FrameType, record: Any, number: int, entry: bool
    ) -> Outcome:
        """Announce the build, wait for the go, run it, wait until its end has been seen.

        No other thread is stopped meanwhile, nor is a launch of another one looked at: they wait.
        """
        self.debugger.take_turn()
        ready = Attended(number, frames.stack_of(caller), launch.arguments, self._serve)
        self._ready = ready
        self._busy = (_thread.get_ident(), launch) if adapter.one_at_a_time else None
        self.looked_at, self._looking = (adapter, launch), _thread.get_ident()
        outcome = Outcome()
        try:
            self.debugger.announce_launches()
            self._connection.event("launchReady", self._ready_body(adapter, launch, build, ready, entry))
            self.debugger.wait(ready.answers)
            begun = time.perf_counter()
            try:
                outcome.result = launch.run_debug(build)
            except BaseException as raised:  # noqa: BLE001 - handed on to the program, an interrupt, too
                outcome.error = raised
            seconds = time.perf_counter() - begun
            record.add(seconds, "debug")
            self._tell_end(ready, seconds, outcome)
            return outcome
        finally:
            self._look_away(ready)

    def _look_away(self, attended: Attended) -> None:
        self._ready = self._busy = self.looked_at = None
        attended.close()
        self.debugger.wake()  # while no other launch can be looked at
        self.debugger.stop_lock.release()

    def _tell_end(self, attended: Attended, seconds: float, outcome: Outcome) -> None:
        """Say that a kernel is over, and wait for what is to come then."""
        if time.monotonic() - self._log.told_at > LOG_SECONDS:
            self._connection.event("launches", {"launches": self.launches()})
        ended = {"launch": attended.number, "seconds": seconds, "error": outcome.text}
        self._connection.event("launchEnded", ended)
        outcome.then = self.debugger.wait(attended.answers)

    def attend(self, run: Run) -> bool:
        """Have a native debugger find its way in an optimised kernel, whose end is told from here on.

        False when it is over, or while a thread is stopped.
        """
        places = frames.stack_of(run.caller)
        attended = Attended(run.number or self._next(unseen=1), places, run.launch.arguments, self._serve)
        body = self._body(run.adapter, run.launch, run.launch.optimised(), attended, run.thread)
        if not self.debugger.stop_lock.acquire(blocking=False):
            return False
        self._ready = attended
        if not self.runs.attend(run, attended, lambda: self._over(run)):
            self._look_away(attended)
            return False
        self.debugger.announce_launches()
        self._connection.event("inKernel", {**body, "build": "release", "breakpoints": []})
        return True

    def end_early(self) -> None:
        """On a thread that wants its turn, such as by a signal handler: a kernel of its own is not under way any more.

        If that is looked at, its end is told now: the thread would wait for itself otherwise.
        """
        run = self.runs.end_early()
        if run is not None:
            self._over(run)

    def _over(self, run: Run) -> None:
        """On the thread of an optimised kernel that is looked at: it is over."""
        attended = run.attended
        if attended is None or not attended.claim_end():
            return
        self.runs.look_away(run)
        ident, outcome = _thread.get_ident(), Outcome()
        self.debugger.tracer.quiet.add(ident)
        try:
            self._tell_end(attended, 0.0, outcome)
        finally:
            self._look_away(attended)
            self.debugger.tracer.quiet.discard(ident)
        self._go_on(run.caller, outcome)

    def _build(self, adapter: Adapter, launch: Any) -> Any:
        conditions = [
            adapter.condition(b.id, b.file, b.line, b.condition) for b in self._concerned(launch) if b.condition
        ]
        bounds = bool(self.debugger.settings["bounds"])
        known = launch.built_debug(conditions, bounds=bounds)
        if known is not None:
            return known
        task = f"compiling {launch.kernel.name} for debugging"
        begun = time.perf_counter()
        self._connection.event("progress", {"task": task, "done": False, "seconds": 0.0})
        try:
            return launch.build_debug(conditions, bounds=bounds)
        finally:
            seconds = time.perf_counter() - begun
            self._connection.event("progress", {"task": task, "done": True, "seconds": seconds})

    def _ready_body(self, adapter: Adapter, launch: Any, build: Any, ready: Attended, entry: bool) -> Json:
        return {**self._body(adapter, launch, build, ready, _thread.get_ident()), "stopAtEntry": entry}

    def _body(self, adapter: Adapter, launch: Any, build: Any, attended: Attended, thread: int) -> Json:
        kernel = launch.kernel
        return {
            "launch": attended.number,
            "kernel": kernel.name,
            "file": real_path(kernel.file),
            "firstLine": kernel.first_line,
            "lastLine": kernel.last_line,
            "pattern": pattern_of(launch),
            "space": launch.space,
            "policy": launch.policy,
            "framework": adapter.name,
            "binary": build.path,
            "lines": {file: list(lines) for file, lines in build.lines.items()},
            "entry": build.entry,
            "views": adapter.views,
            "oneAtATime": adapter.one_at_a_time,
            "holdsLock": getattr(build, "holds_lock", adapter.holds_lock),
            "team": build.team,
            "boundsSymbol": build.bounds,
            "indexNames": list(launch.index_names),
            "breakpoints": [b.id for b in self._concerned(launch)],
            "conditions": [{"id": number, **placed._asdict()} for number, placed in build.conditions.items()],
            "refused": {str(number): reason for number, reason in build.refused.items()},
            "thread": system_thread(thread),
            "frames": frames.frame_bodies(attended.places),
            "arguments": bodies_of(launch.arguments),
        }

    def _serve(self, ready: Attended) -> None:
        """Answers about the dispatching frames while their thread is in the kernel."""
        ident = _thread.get_ident()
        frames.own_threads.add(ident)
        self.debugger.tracer.quiet.add(ident)
        me = ready.server = object()
        request: Json | None = None
        self._connection.event("serving", {"thread": _thread.get_native_id()})

        def stuck(limit: Limit) -> None:
            """The expression is left to itself, and another thread serves from now on."""
            if ready.server is me and request is not None:
                ready.server = None
                how = "ran out of time" if limit.fired else "interrupted"
                self._connection.reply(request["id"], answer(f"{how}, {LEFT_BEHIND}"))
                start_named(lambda: self._serve(ready))

        debugger = self.debugger
        inspector = Inspector(
            ready.places,
            debugger.evaluations,
            debugger.previews,
            debugger.swaps,
            arguments=ready.arguments,
            stuck=stuck,
        )
        with contextlib.suppress(EvaluationInterrupted):  # one that came late, to an expression that was left behind
            while ready.server is me and (request := ready.requests.get()) is not None:
                debugger.answer(inspector, request, lambda: ready.server is me)
        if ready.server is not me:
            self.tell("An expression that was left behind has ended.", "info")
        debugger.tracer.quiet.discard(ident)
        frames.own_threads.discard(ident)
