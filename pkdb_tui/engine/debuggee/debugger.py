"""The debuggee's half as one object: serves requests, stops threads, lets them go on."""

from __future__ import annotations

import _thread
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from types import FrameType
from typing import Any

from pkdb_tui.engine.debuggee import frames, sources
from pkdb_tui.engine.debuggee.backend import Backend, choose
from pkdb_tui.engine.debuggee.breakpoints import BreakpointTable
from pkdb_tui.engine.debuggee.evaluate import EvaluationInterrupted
from pkdb_tui.engine.debuggee.inspector import COMMANDS, Inspector
from pkdb_tui.engine.debuggee.plans import NEXT, PAUSE, RETURN, STEP, UNTIL, Plan
from pkdb_tui.engine.debuggee.tracer import Tracer
from pkdb_tui.engine.debuggee.values import frame_variables, preview
from pkdb_tui.engine.debuggee.wire import Connection, RequestError

Json = dict[str, Any]
STOP_COMMANDS = (*COMMANDS, "resume", "jump")
SIGNAL = signal.SIGRTMIN + 7
PAUSE_GRACE = 0.3


class Debugger:
    """One per process. The reader thread serves what it can; the rest waits for the stopped thread."""

    def __init__(self, connection: Connection, spans: Any) -> None:
        self.connection = connection
        self.spans = spans
        self.table = BreakpointTable(spans)
        self.tracer = Tracer(self.table, self.stop, connection.event)
        self.backend: Backend = choose(self.tracer)
        self.settings: Json = {"stepIntoKernel": True, "bounds": True, "catchFaults": False, "justMyCode": True}
        self.dispatch: Any = None
        self.main = _thread.get_ident()
        self._stop_lock = _thread.allocate_lock()
        self._mailbox: SimpleQueue[Json] = SimpleQueue()
        self._stopped = False
        self._pause = False
        self._evaluating: set[int] = set()
        self._interrupt: set[int] = set()
        self._interrupt_text = ""

    # --- life ---

    def start(self) -> None:
        """Take the pause signal and begin reading requests."""
        signal.signal(SIGNAL, self._on_signal)
        signal.siginterrupt(SIGNAL, False)
        _thread.start_new_thread(self._read, ())

    def wait_for_start(self) -> None:
        """Serve until the first `resume`, which starts the program."""
        self._stopped = True
        while True:
            request = self._mailbox.get()
            if request["command"] == "resume":
                self._stopped = False
                self.connection.reply(request["id"], {})
                self.connection.event("continued", {"thread": _thread.get_ident()})
                return
            self.connection.refuse(request["id"], RequestError("The program has not started yet."))

    def _read(self) -> None:
        frames.own_threads.add(_thread.get_ident())
        self.tracer.quiet.add(_thread.get_ident())
        try:
            for request in self.connection.messages():
                self._serve(request)
        except OSError:
            self.connection.open = False
            return
        self.end()

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
            handler = getattr(self, f"_do_{command}", None)
            if handler is None:
                raise RequestError(f"The debuggee knows no request {command}.")
            body = handler(arguments)
        except RequestError as error:
            self.connection.refuse(number, error)
        except Exception as error:  # noqa: BLE001 - the reader must live on; the fault is told to whoever asked
            self.tracer.internal_error()
            self.connection.refuse(number, RequestError(f"The debuggee failed at {command}: {error}"))
        else:
            self.connection.reply(number, body or {})

    def _pass_on(self, command: str, request: Json) -> None:
        if self._stopped:
            self._mailbox.put(request)
        elif self.dispatch is not None and self.dispatch.inspects(command):
            self.dispatch.inspect(request)
        elif command == "complete":
            self.connection.reply(request["id"], {"matches": []})
        else:
            raise RequestError("The program is running.", "Pause it first.")

    def _do_setBreakpoints(self, arguments: Json) -> Json:
        placements = self.table.replace(list(arguments.get("breakpoints") or []))
        self.backend.breakpoints_changed()
        if self.dispatch is not None:
            self.dispatch.changed_breakpoints()
        return {"placements": placements}

    def _do_describeFile(self, arguments: Json) -> Json:
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

    def _do_settings(self, arguments: Json) -> None:
        self.settings.update({name: bool(value) for name, value in arguments.items() if name in self.settings})
        self.tracer.just_my_code = bool(self.settings["justMyCode"])

    def _do_pause(self, arguments: Json) -> None:
        if self._stopped:
            return
        if self.dispatch is not None and self.dispatch.in_kernel():
            self.connection.event("inKernel", {"launch": self.dispatch.in_kernel()})
            return
        self._pause = True
        signal.pthread_kill(self.main, SIGNAL)

    def _do_interruptEvaluation(self, arguments: Json) -> None:
        self._interrupt_all("interrupted")

    def _do_launchGo(self, arguments: Json) -> None:
        self.dispatch.go(int(arguments["launch"]))

    def _do_launchDone(self, arguments: Json) -> None:
        self.dispatch.done(int(arguments["launch"]), str(arguments.get("then") or "continue"))

    def _do_launches(self, arguments: Json) -> Json:
        return {"launches": self.dispatch.launches() if self.dispatch is not None else []}

    def _do_terminate(self, arguments: Json) -> None:
        self.end()

    # --- the signal: pause, and interrupting an evaluation on the main thread ---

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.main in self._interrupt and self.main in self._evaluating:
            self._interrupt.discard(self.main)
            raise EvaluationInterrupted(self._interrupt_text)
        if not self._pause or frame is None or self.main in self.tracer.quiet:
            return
        self._pause = False
        asyncio = sys.modules.get("asyncio")
        loop = asyncio._get_running_loop() if asyncio is not None else None
        if not sources.is_glue(frame.f_code.co_filename) or loop is None:
            if not sources.is_own(frame.f_code.co_filename):
                self.stop(frame, reason=PAUSE)
                return
        self.tracer.plans[self.main] = Plan(PAUSE)
        self.backend.arm(self.tracer.plans[self.main], frame)

    # --- evaluation limits ---

    @contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        """Bound what runs inside: after that time, or on request, EvaluationInterrupted is raised in this thread."""
        ident = _thread.get_ident()
        finished = _thread.allocate_lock()
        finished.acquire()
        self._evaluating.add(ident)

        def watch() -> None:
            frames.own_threads.add(_thread.get_ident())
            if not finished.acquire(timeout=seconds) and ident in self._evaluating:
                self._interrupt_text = f"stopped after {seconds:g} s"
                self._interrupt_thread(ident)
            frames.own_threads.discard(_thread.get_ident())

        _thread.start_new_thread(watch, ())
        try:
            yield
        finally:
            self._evaluating.discard(ident)
            self._interrupt.discard(ident)
            finished.release()

    def _interrupt_all(self, text: str) -> None:
        self._interrupt_text = text
        for ident in list(self._evaluating):
            self._interrupt_thread(ident)

    def _interrupt_thread(self, ident: int) -> None:
        if ident == self.main:
            self._interrupt.add(ident)
            signal.pthread_kill(ident, SIGNAL)
            return
        import ctypes

        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(EvaluationInterrupted))

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
        text: str = "",
    ) -> None:
        """Stop the current thread at `frame` until a resume, then arm what it asked for."""
        ident = _thread.get_ident()
        self.tracer.quiet.add(ident)
        try:
            with self._stop_lock:
                places = frames.stack_of(frame)
                body = self._stop_body(places, reason, breakpoints or [], text)
                if has_returned:
                    with self.limited(1.0):
                        body["returnText"] = preview(returned)
                plan = self._interact(places, body, frame if can_jump else None)
        finally:
            self.tracer.quiet.discard(ident)
        if plan is None:
            self.tracer.plans.pop(ident, None)
        else:
            self.tracer.plans[ident] = plan
        self.backend.arm(plan, frame)

    def post_mortem(self, error: BaseException, body: Json) -> None:
        """Stop with the stack of an exception that nothing caught; a resume ends the program."""
        ident = _thread.get_ident()
        self.tracer.quiet.add(ident)
        with self._stop_lock:
            places = frames.stack_of_traceback(error.__traceback__)
            stop = {**self._stop_body(places, "exception", [], ""), "exception": body, "postMortem": True}
            self._interact(places, stop, None)
        self.tracer.quiet.discard(ident)

    def _stop_body(self, places: list[frames.Place], reason: str, breakpoints: list[int], text: str) -> Json:
        index = frames.selected(places)
        variables: list[Json] = []
        if places:
            with self.limited(2.0):
                variables = frame_variables(places[index][0])
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

    def _interact(self, places: list[frames.Place], body: Json, jumpable: FrameType | None) -> Plan | None:
        """Serve this stop's requests until one resumes."""
        inspector = Inspector(places, self.limited)
        if body["breakpoints"]:
            hit = [b.placement() for b in self.table.all if b.id in body["breakpoints"]]
            self.connection.event("breakpoints", {"placements": hit})
        self._stopped = True
        self._announce_launches()
        self.connection.event("stopped", body)
        while True:
            request = self._mailbox.get()
            number, command, arguments = request["id"], request["command"], request.get("arguments") or {}
            try:
                if command == "resume":
                    plan = self._plan(places, arguments, bool(body.get("postMortem")))
                    self._stopped = False
                    self.connection.reply(number, {})
                    self.connection.event("continued", {"thread": _thread.get_ident()})
                    return plan
                if command == "jump":
                    self._jump(jumpable, int(arguments["line"]))
                    self.connection.reply(number, {})
                    places[:] = frames.stack_of(places[0][0])
                    body = self._stop_body(places, STEP, [], "")
                    self.connection.event("stopped", body)
                    continue
            except RequestError as error:
                self.connection.refuse(number, error)
            else:
                self.answer(inspector, request)

    def answer(self, inspector: Inspector, request: Json) -> None:
        """Serve one request about frames and reply."""
        number, command = request["id"], request["command"]
        try:
            body = inspector.serve(command, request.get("arguments") or {})
        except RequestError as error:
            self.connection.refuse(number, error)
        except EvaluationInterrupted as error:
            self.connection.refuse(number, RequestError(f"{command} was {error}."))
        except Exception as error:  # noqa: BLE001 - the stop must go on; the fault is told to whoever asked
            self.tracer.internal_error()
            self.connection.refuse(number, RequestError(f"The debuggee failed at {command}: {error}"))
        else:
            self.connection.reply(number, body)

    def _announce_launches(self) -> None:
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
            frame.f_lineno = line  # type: ignore[misc]
        except ValueError as error:
            raise RequestError(f"Line {line} can't be jumped to: {error}.") from error
