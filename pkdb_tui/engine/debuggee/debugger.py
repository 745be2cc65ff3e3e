"""The debuggee's half as one object: serves requests, stops threads, lets them go on."""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any

from pkdb_tui.engine.debuggee import frames, sources
from pkdb_tui.engine.debuggee.backend import Backend, choose
from pkdb_tui.engine.debuggee.breakpoints import BreakpointTable
from pkdb_tui.engine.debuggee.console import Console
from pkdb_tui.engine.debuggee.debugged import Debugged, Wish
from pkdb_tui.engine.debuggee.edited import Edited
from pkdb_tui.engine.debuggee.evaluations import Evaluations
from pkdb_tui.engine.debuggee.forks import ForkWarningFilter
from pkdb_tui.engine.debuggee.hotswap import Swaps
from pkdb_tui.engine.debuggee.inspector import COMMANDS, Inspector
from pkdb_tui.engine.debuggee.limits import SIGNAL, EvaluationInterrupted, EvaluationTimedOut, Limits
from pkdb_tui.engine.debuggee.plans import DEBUG, NEXT, PAUSE, RETURN, STEP, UNTIL, Plan
from pkdb_tui.engine.debuggee.previews import Previews
from pkdb_tui.engine.debuggee.tracer import Tracer
from pkdb_tui.engine.debuggee.wire import Connection, RequestError

Json = dict[str, Any]
STOP_COMMANDS = (*COMMANDS, "resume", "jump", "debugEvaluate", "endDebugged")
PAUSE_GRACE = 0.3
HEARD_SECONDS = 2.0  # that writing a log point's line may take
SIGNALS, SIGNAL_EVERY = 20, 0.05
KERNEL_GRACE = 0.1  # a kernel over by then needs no native pause


def _loop_runs() -> bool:
    """Whether this thread is inside a running event loop; asyncio is not imported to find out."""
    # It may be half imported.
    running_loop = getattr(sys.modules.get("asyncio"), "_get_running_loop", None)
    return running_loop is not None and running_loop() is not None


class Debugger:
    """One per process. The reader thread serves what it can; the rest waits for the stopped thread."""

    def __init__(self, connection: Connection, spans: Any, console: Console) -> None:
        self.connection = connection
        self.spans = spans
        self.table = BreakpointTable(spans)
        self.swaps = Swaps(self._call_lines)
        self.tracer = Tracer(self.table, self.stop, connection.event)
        self.tracer.unquiet = self.unquiet
        self.tracer.log = self.log
        self.backend: Backend = choose(self.tracer)
        self.settings: Json = {"stepIntoKernel": True, "bounds": True, "catchFaults": False, "justMyCode": True}
        self.dispatch: Any = None
        self.main = _thread.get_ident()
        self.stop_lock = _thread.allocate_lock()  # held while a thread is stopped, or a launch looked at natively
        self._mailbox: SimpleQueue[Json] = SimpleQueue()
        self._stopped = True  # until the start
        self._pause = False
        self._pauses = 0  # asked for so far
        self._heard = True  # whether the signal of the last pause arrived
        self._reader = 0
        self._alone = False
        self._interrupted = False
        self._logged: dict[int, SimpleQueue[bool]] = {}
        self._wake_backend = False
        self._force_pause = False
        self.limits = Limits(self.main)
        self.previews = Previews(self.limits)
        self.debugged = Debugged(self)
        self.evaluations = Evaluations(self.limits, self.tracer.quiet, console, self._look_again)
        self.edited = Edited(self)
        self._handlers: dict[str, Callable[[Json], Json | None]] = {
            "setBreakpoints": self._serve_set_breakpoints,
            "setSubstitutions": self._serve_set_substitutions,
            "substitutions": self._serve_substitutions,
            "findKernel": self.edited.find,
            "describeFile": self._serve_describe_file,
            "settings": self._serve_settings,
            "pause": self._serve_pause,
            "interruptEvaluation": self._serve_interrupt_evaluation,
            "launchGo": self._serve_launch_go,
            "launchDone": self._serve_launch_done,
            "launches": self._serve_launches,
            "terminate": self._serve_terminate,
            "logHeard": self._serve_log_heard,
        }

    # --- life ---

    def start(self) -> None:
        """Take the pause signal and begin reading requests."""
        signal.signal(SIGNAL, self._on_signal)
        _thread.start_new_thread(self._read, ())

    def wait_for_start(self) -> None:
        """Serve until the first `resume`, which starts the program."""
        while True:
            request = self.wait(self._mailbox)
            if request["command"] == "resume":
                self._stopped = False
                self.connection.reply(request["id"], {})
                self.connection.event("continued", {"thread": _thread.get_ident()})
                return
            self.limits.waiting -= request["command"] in COMMANDS
            self.connection.refuse(request["id"], RequestError("The program has not started yet."))

    def _read(self) -> None:
        self._reader = _thread.get_native_id()
        frames.own_threads.add(_thread.get_ident())
        self.tracer.quiet.add(_thread.get_ident())
        try:
            for request in self.connection.messages():
                self._serve(request)
        except EOFError:
            self.end()
        except OSError:
            self.connection.open = False
        finally:
            frames.own_threads.discard(_thread.get_ident())
            self.tracer.quiet.discard(_thread.get_ident())

    # --- fork: the program forks with the threads it would have without a debugger ---

    def before_fork(self) -> None:
        """End the reader thread and see it gone."""
        if self.connection.open and self._reader:
            self.connection.interrupt()
            while os.path.exists(f"/proc/self/task/{self._reader}"):
                time.sleep(0.0002)
            self._alone = len(os.listdir("/proc/self/task")) == 1

    def after_fork(self) -> None:
        """Read on, in the parent. From 3.13 on the interpreter counts threads only after this."""
        if self.connection.open and self._reader:
            if self._alone and sys.version_info >= (3, 13):
                quiet = ForkWarningFilter()
                _thread.start_new_thread(quiet.remove_soon, ())
            _thread.start_new_thread(self._read, ())

    def in_child(self) -> None:
        """Leave nothing of the debugger in a forked child."""
        self._reader = 0
        self.backend.stop()
        self.connection.forget()
        signal.signal(SIGNAL, signal.SIG_DFL)
        if self.dispatch is not None:
            self.dispatch.uninstall()

    def end(self) -> None:
        """The engine is gone or asked for it: end this process and all it started."""
        os.killpg(os.getpgrp(), signal.SIGKILL)

    # --- requests, on the reader thread ---

    def _serve(self, request: Json) -> None:
        command, number = request["command"], request["id"]
        arguments = request.get("arguments") or {}
        try:
            if command in STOP_COMMANDS:
                self._pass_on(command, request)
                return
            if command == "checkKernel":
                self.edited.check(request)
                return
            handler = self._handlers.get(command)
            if handler is None:
                raise RequestError(f"The debuggee knows no request {command}.")
            body = handler(arguments)
        except RequestError as error:
            self.connection.refuse(number, error)
        except Exception as error:  # noqa: BLE001 - the reader must live on; the fault is told to whoever asked
            self._failed(request, error)
        else:
            self.connection.reply(number, body or {})

    def _failed(self, request: Json, error: Exception) -> None:
        self.tracer.internal_error()
        self.connection.refuse(request["id"], RequestError(f"The debuggee failed at {request['command']}: {error}"))

    def _pass_on(self, command: str, request: Json) -> None:
        if self._stopped:
            self.limits.waiting += command in COMMANDS
            self._mailbox.put(request)
        elif self.dispatch is not None and self.dispatch.inspects(command):
            self.limits.waiting += 1
            if not self.dispatch.inspect(request):
                self.limits.waiting -= 1
                raise RequestError("The kernel is over.", "Ask at the next stop.")
        elif command == "complete":
            self.connection.reply(request["id"], {"matches": []})
        else:
            raise RequestError("The program is running.", "Pause it first.")

    def _serve_set_breakpoints(self, arguments: Json) -> Json:
        placements = self.table.replace(list(arguments.get("breakpoints") or []))
        self.backend.breakpoints_changed()
        self._wake_backend = True
        if self.dispatch is None or not self.dispatch.debugging:
            self.wake()
        if self.dispatch is not None:
            self.dispatch.changed_breakpoints()
        return {"placements": placements}

    def wake(self) -> None:
        """Let the backend have its turn on the main thread; not while a native debugger counts what happens there.

        Where the main thread is quiet it takes its turn itself, when it is so no more.
        """
        if self._wake_backend and self.main not in self.tracer.quiet:
            signal.pthread_kill(self.main, SIGNAL)

    def _turn(self) -> None:
        """The backend's turn, where one is due and this is the main thread."""
        if self._wake_backend and _thread.get_ident() == self.main and self.main not in self.tracer.quiet:
            self._wake_backend = False
            self.backend.on_signal()

    def _call_lines(self, file: str, line: int) -> tuple[int, int]:
        """First and last line of the statement at a line that may launch kernels. Raises RequestError."""
        name = os.path.basename(file)
        try:
            source = self.table.source(file)
        except (OSError, SyntaxError, ValueError) as error:
            raise RequestError(f"{name} can't be read: {error}.") from error
        span = source.span(line)
        if any(s["firstLine"] <= line <= s["lastLine"] for s in self.spans(file)):
            raise RequestError(f"Line {line} of {name} is inside a kernel.", "Name the line that launches the kernel.")
        if not any(span[0] <= each <= span[1] for each in source.all_lines()):
            raise RequestError(f"Line {line} of {name} has no code.", "Name the line that launches the kernel.")
        known = self.dispatch is not None and self.dispatch.launches_at(file, span)
        if not known and not sources.may_launch(sources.read_source(file), *span):
            raise RequestError(f"Line {line} of {name} launches no kernel.", "Name the line that does.")
        return span

    def _serve_set_substitutions(self, arguments: Json) -> Json:
        substitutions = self.swaps.replace(list(arguments.get("rules") or []))
        if self.dispatch is not None:
            self.dispatch.changed_breakpoints()  # what is launched may be kernels with other breakpoints
        return {"substitutions": substitutions}

    def _serve_substitutions(self, arguments: Json) -> Json:
        return {"substitutions": self.swaps.bodies()}

    def _serve_describe_file(self, arguments: Json) -> Json:
        file = sources.real_path(str(arguments["file"]))
        body: Json = {"file": file, "python_lines": [], "kernels": [], "error": ""}
        try:
            source = self.table.source(file)
        except OSError as error:
            body["error"] = f"{file} can't be read: {error.strerror}."
        except SyntaxError as error:
            body["error"] = f"Line {error.lineno} is not valid Python: {error.msg}."
        except ValueError as error:
            body["error"] = f"{file} is not Python source: {error}."
        else:
            body["python_lines"] = list(source.all_lines())
            body["kernels"] = [
                {"name": s["name"], "first_line": s["firstLine"], "last_line": s["lastLine"], "lines": list(s["lines"])}
                for s in self.spans(file)
            ]
        return body

    def _serve_settings(self, arguments: Json) -> None:
        self.settings.update({name: bool(value) for name, value in arguments.items() if name in self.settings})
        self.tracer.just_my_code = bool(self.settings["justMyCode"])
        self._look_again()

    def _look_again(self) -> None:
        if self.dispatch is not None:
            self.dispatch.look_again()

    def _serve_pause(self, arguments: Json) -> None:
        if self._stopped:
            return
        run = self.dispatch.runs.any() if self.dispatch is not None else None
        if run is not None and run.adapter.holds_lock:
            run = None  # as this is read, its kernel has yet to begin or is over: Python stops at the next line
        deadline = time.monotonic() + KERNEL_GRACE
        while run is not None and self.dispatch.runs.includes(run):
            if time.monotonic() > deadline:
                if self.dispatch.attend(run):
                    return
                break
            time.sleep(0.005)
        self._pause, self._heard = True, False
        self._pauses += 1
        signal.pthread_kill(self.main, SIGNAL)
        _thread.start_new_thread(self._see_to_pause, (self._pauses,))

    def _see_to_pause(self, number: int) -> None:
        """Until the pause is answered, or another asked for: what it may have come just before.

        A signal just before the thread begins to wait in the system doesn't wake it: one more will. A kernel that began
        just then, or was still to be compiled, is stopped by a native debugger.
        """
        ident = _thread.get_ident()
        frames.own_threads.add(ident)
        self.tracer.quiet.add(ident)
        moment = _thread.allocate_lock()
        moment.acquire()
        signals, run = SIGNALS, None
        while True:
            moment.acquire(timeout=SIGNAL_EVERY)
            if not self._pause or self._pauses != number:
                break
            if not self._heard and signals:
                signals -= 1
                signal.pthread_kill(self.main, SIGNAL)
            if self.dispatch is None or self.dispatch.debugging:
                continue  # its kernel is paused natively
            if run is not None and self.dispatch.runs.includes(run) and self.dispatch.attend(run):
                break
            run = self.dispatch.runs.any()
        self.tracer.quiet.discard(ident)
        frames.own_threads.discard(ident)

    def _serve_interrupt_evaluation(self, arguments: Json) -> None:
        self.limits.interrupt()

    def _serve_launch_go(self, arguments: Json) -> None:
        self.dispatch.go(int(arguments["launch"]))

    def _serve_launch_done(self, arguments: Json) -> None:
        self._pause = False  # the engine knows whether a stop in the kernel has answered it; if not, `then` says so
        self.dispatch.done(int(arguments["launch"]), str(arguments.get("then") or "continue"))

    def _serve_launches(self, arguments: Json) -> Json:
        return {"launches": self.dispatch.launches() if self.dispatch is not None else []}

    def _serve_terminate(self, arguments: Json) -> None:
        self.end()

    # --- the signal: pause, and interrupting an evaluation on the main thread ---

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._heard = True
        self.limits.on_signal()  # what this raises is meant for the code that is evaluated
        self._turn()
        if not self._pause or frame is None or self.main in self.tracer.quiet:
            return
        try:
            self._pause_in(frame)
        except Exception:  # noqa: BLE001 - a fault of ours must not become the program's
            self.tracer.internal_error()

    def _pause_in(self, frame: FrameType) -> None:
        """Stop here, or at the next line of the program where this is code between it and its event loop."""
        force, self._force_pause = self._force_pause, False
        file = frame.f_code.co_filename
        if not sources.is_own(file) and (force or not _loop_runs() or not sources.is_glue(file)):
            self.stop(frame, reason=PAUSE)
        elif not force:
            self._pause_soon(frame)

    def _pause_soon(self, frame: FrameType) -> None:
        """Stop at the program's next line or coroutine resume; where it is when none comes in a moment."""
        plan = Plan(PAUSE)
        self.tracer.plans[self.main] = plan
        self.backend.arm(plan, frame)

        def insist() -> None:
            frames.own_threads.add(_thread.get_ident())
            moment = _thread.allocate_lock()
            moment.acquire()
            moment.acquire(timeout=PAUSE_GRACE)
            if self.tracer.plans.get(self.main) is plan:
                self._force_pause = True
                signal.pthread_kill(self.main, SIGNAL)
            frames.own_threads.discard(_thread.get_ident())

        _thread.start_new_thread(insist, ())

    def unquiet(self, ident: int, frame: FrameType) -> None:
        """The thread goes back to the program's code; breakpoints and a pause that came meanwhile are taken up."""
        self.tracer.quiet.discard(ident)
        self._turn()
        if ident == self.main and not self._pause_answered():
            self._pause_soon(frame)

    def _pause_answered(self) -> bool:
        """Whether no pause is open: none was asked for, or another stop answers it, or a kernel is looked at."""
        return not self._pause or (self.dispatch is not None and self.dispatch.debugging)

    # --- stopping, on the thread that stops ---

    def stop(
        self,
        frame: FrameType,
        *,
        reason: str,
        breakpoints: list[int] | None = None,
        can_jump: bool = False,
        returned: Any = None,
        has_returned: bool = False,
        exception: Json | None = None,
        text: str = "",
        owed: bool = False,
    ) -> None:
        """Stop the current thread at `frame` until a resume, then arm what it asked for.

        A pause that something else answers while this thread waits for its turn is no stop here, unless it is `owed`:
        what is stopped may wait for this thread.
        """
        ident = _thread.get_ident()
        self.tracer.quiet.add(ident)
        unless = self._pause_answered if reason == PAUSE and not owed else None
        try:
            with self.turn(unless) as mine:
                if not mine:
                    if (asked := self.tracer.plans.get(ident)) is not None and asked.kind == PAUSE:
                        self.let_go(frame)
                    return
                places = frames.stack_of(frame)
                body = self._stop_body(places, reason, breakpoints or [], text)
                if exception is not None:
                    body["exception"] = exception
                if has_returned:
                    body["returnText"] = self.previews.text(returned)
                plan = self._interact(places, body, frame if can_jump else None)
            while isinstance(plan, Wish):
                self.connection.event("evaluated", self.debugged.run(plan))
                with self.turn():
                    places, text = frames.stack_of(frame), plan.ended
                    plan = self._interact(places, self._stop_body(places, DEBUG, [], text), frame if can_jump else None)
            if plan is None:
                self.tracer.plans.pop(ident, None)
            else:
                self.tracer.plans[ident] = plan
            self.backend.arm(plan, frame)
        finally:
            self._look_again()
            self.unquiet(ident, frame)
            self.deliver_interrupt()

    def log(self, body: Json) -> None:
        """Let a log point speak, and go on when it has been written: in its place among the program's own output."""
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:  # noqa: BLE001 - a stream of the program's that can't be flushed is its own affair
                continue
        ident = _thread.get_ident()
        heard = self._logged.setdefault(ident, SimpleQueue())
        self.connection.event("logPoint", {**body, "thread": ident})
        if self.connection.open:
            with contextlib.suppress(Empty):
                self.wait(heard, HEARD_SECONDS)

    def _serve_log_heard(self, arguments: Json) -> None:
        self._logged[int(arguments["thread"])].put(True)

    def let_go(self, frame: FrameType) -> None:
        """Drop the current thread's plan: it runs on freely."""
        self.tracer.plans.pop(_thread.get_ident(), None)
        self.backend.arm(None, frame)

    def post_mortem(self, error: BaseException, body: Json) -> None:
        """Stop with the stack of an exception that nothing caught; a resume ends the program."""
        ident = _thread.get_ident()
        self.tracer.quiet.add(ident)
        with self.turn():
            places = frames.stack_of_traceback(error.__traceback__)
            stop = {**self._stop_body(places, "exception", [], ""), "exception": body, "postMortem": True}
            self._interact(places, stop, None)
        self.tracer.quiet.discard(ident)

    def _stop_body(self, places: list[frames.Place], reason: str, breakpoints: list[int], text: str) -> Json:
        index = frames.selected(places) if reason in ("pause", "exception") else 0
        variables: list[Json] = []
        if places:
            variables = self.previews.variables(places[index][0])
        return {
            "reason": reason,
            "breakpoints": breakpoints,
            "thread": _thread.get_ident(),
            "frames": frames.frame_bodies(places),
            "frame": index,
            "variables": variables,
            "threads": frames.thread_bodies(_thread.get_ident(), places),
            "text": text,
        }

    def _interact(self, places: list[frames.Place], body: Json, jumpable: FrameType | None) -> Plan | Wish | None:
        """Serve this stop's requests until one lets the thread go on.

        Raises EvaluationInterrupted where it breaks off the expression that is being debugged.
        """
        inspector = Inspector(places, self.evaluations, self.previews, self.swaps)
        if body["breakpoints"]:
            hit = [b.placement() for b in self.table.all if b.id in body["breakpoints"]]
            self.connection.event("breakpoints", {"placements": hit})
        self._pause = False
        self._stopped = True
        self.announce_launches()
        self.connection.event("stopped", body)
        while True:
            request = self.wait(self._mailbox)
            number, command, arguments = request["id"], request["command"], request.get("arguments") or {}
            try:
                if command == "resume":
                    plan = self._plan(places, arguments, bool(body.get("postMortem")))
                    self._goes_on(number)
                    return plan
                if command == "debugEvaluate":
                    if body.get("postMortem"):
                        raise RequestError("The program has ended by an exception: nothing of it runs any more.")
                    wish = self.debugged.wish(str(arguments["expression"]), inspector.frame(arguments))
                    self._goes_on(number)
                    return wish
                if command == "endDebugged":
                    self.debugged.check_one()
                    self.tracer.plans.pop(_thread.get_ident(), None)
                    self._goes_on(number)
                    raise EvaluationInterrupted
                if command == "jump":
                    self._jump(jumpable, int(arguments["line"]))
                    self.connection.reply(number, {})
                    places[:] = frames.stack_of(places[0][0])
                    body = self._stop_body(places, STEP, [], "")
                    self.connection.event("stopped", body)
                    continue
            except RequestError as error:
                self.connection.refuse(number, error)
            except Exception as error:  # noqa: BLE001 - it must not become the program's
                self._failed(request, error)
            else:
                self.answer(inspector, request)

    def _goes_on(self, request: int) -> None:
        """The stop is over, by a request."""
        self._stopped = False
        self.connection.reply(request, {})
        self.connection.event("continued", {"thread": _thread.get_ident()})

    def answer(self, inspector: Inspector, request: Json, wanted: Callable[[], bool] = lambda: True) -> None:
        """Serve one request about frames and reply, if the reply is still wanted then."""
        number, command = request["id"], request["command"]
        try:
            body = inspector.serve(command, request.get("arguments") or {})
            if command == "addSubstitution":
                self._look_again()
            if not wanted():
                return
        except RequestError as error:
            self.connection.refuse(number, error)
        except EvaluationInterrupted as error:
            how = "ran out of time" if isinstance(error, EvaluationTimedOut) else "was interrupted"
            self.connection.refuse(number, RequestError(f"{command} {how}."))
        except Exception as error:  # noqa: BLE001 - the stop must go on; the fault is told to whoever asked
            self._failed(request, error)
        else:
            self.connection.reply(number, body)
        finally:
            self.limits.waiting -= 1

    def ending(self, body: Json) -> None:
        """Tell that the program is about to end, with the last of the launch log."""
        self.announce_launches()
        self.connection.event("ending", body)

    def wait(self, queue: SimpleQueue[Any], seconds: float | None = None) -> Any:
        """Wait on the program's thread; an interrupt typed meanwhile is kept for when the program goes on.

        Raises Empty when nothing has come in the given time.
        """
        while True:
            try:
                return queue.get(timeout=seconds)
            except Empty:
                raise
            except KeyboardInterrupt:
                self._interrupted = True
            except Exception as error:  # noqa: BLE001 - a signal handler of the program's raised into this wait
                self._drop(error)

    def _drop(self, error: Exception) -> None:
        text = f"A signal handler raised {type(error).__name__} while the program was stopped; it was dropped."
        self.connection.event("notice", {"text": text, "severity": "warning"})

    @contextmanager
    def turn(self, unless: Callable[[], bool] | None = None) -> Iterator[bool]:
        """While no other thread is stopped, nor a launch of one looked at; interrupts are kept for afterwards.

        False where `unless` came to hold first.
        """
        with self._interrupts_kept():
            if not self._await_turn(unless):
                yield False
                return
            try:
                yield True
            finally:
                self.stop_lock.release()

    def take_turn(self) -> None:
        """The same for who ends it himself, by releasing `stop_lock`."""
        with self._interrupts_kept():
            self._await_turn()

    def _await_turn(self, unless: Callable[[], bool] | None = None) -> bool:
        if self.dispatch is not None:
            self.dispatch.end_early()
        mine = False  # kept where `unless` is broken off by a signal handler of the program's
        while True:
            try:
                mine = mine or self.stop_lock.acquire(timeout=-1 if unless is None else SIGNAL_EVERY)
                answered = unless is not None and unless()
            except KeyboardInterrupt:
                self._interrupted = True
            except Exception as error:  # noqa: BLE001 - a signal handler of the program's raised into this wait
                self._drop(error)
            else:
                if mine and answered:
                    self.stop_lock.release()
                if mine or answered:
                    return not answered

    @contextmanager
    def _interrupts_kept(self) -> Iterator[None]:
        """While the main thread is stopped, an interrupt typed at the terminal is remembered, not raised."""

        def remember(number: int, frame: FrameType | None) -> None:
            self._interrupted = True

        usual = _thread.get_ident() == self.main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if usual:
            signal.signal(signal.SIGINT, remember)
        try:
            yield
        finally:
            if usual:
                signal.signal(signal.SIGINT, signal.default_int_handler)

    def deliver_interrupt(self) -> None:
        """Interrupt the program once it is in its own code again, as if it were typed now."""
        if not self._interrupted or _thread.get_ident() != self.main:
            return
        self._interrupted = False

        def later() -> None:
            moment = _thread.allocate_lock()
            moment.acquire()
            while (frame := sys._current_frames().get(self.main)) and sources.is_own(frame.f_code.co_filename):
                moment.acquire(timeout=0.001)
            signal.pthread_kill(self.main, signal.SIGINT)

        _thread.start_new_thread(later, ())

    def breakpoint_called(self, *arguments: Any, **names: Any) -> None:
        """The program's own `breakpoint()`: stops at that line."""
        frame = sys._getframe(1)
        if _thread.get_ident() not in self.tracer.quiet:
            self.stop(frame, reason="breakpoint")

    def announce_launches(self) -> None:
        """Tell what was counted since this was told last."""
        if self.dispatch is not None and self.dispatch.changed:
            self.connection.event("launches", {"launches": self.dispatch.launches()})

    def _plan(self, places: list[frames.Place], arguments: Json, post_mortem: bool) -> Plan | None:
        verb = str(arguments.get("verb") or "continue")
        if post_mortem or verb == "continue":
            return None
        if verb == STEP:
            return Plan(STEP)
        index = int(arguments.get("frame") or 0)
        if not 0 <= index < len(places):
            raise RequestError(f"There is no frame {index}; the stack has {len(places)}.")
        frame, line = places[index]
        if verb in (NEXT, RETURN):
            return Plan(verb, frame)
        if verb == UNTIL:
            return Plan(UNTIL, frame, int(arguments.get("line") or 0) or line + 1)
        raise RequestError(f"There is no way to go on called {verb}.")

    @staticmethod
    def _jump(frame: FrameType | None, line: int) -> None:
        if frame is None:
            raise RequestError("A jump is possible only at a line about to run.", "Step once, then jump.")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that locals not bound yet become None: said to nobody's program
                frame.f_lineno = line  # type: ignore[misc]
        except ValueError as error:
            raise RequestError(f"Line {line} can't be jumped to: {error}.") from error
