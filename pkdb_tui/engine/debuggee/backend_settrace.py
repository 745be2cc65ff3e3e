"""Watching by sys.settrace: the only way on 3.11."""

from __future__ import annotations

import _thread
import opcode
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from pkdb_tui.engine.debuggee.backend import Backend
from pkdb_tui.engine.debuggee.breakpoints import CodeInfo
from pkdb_tui.engine.debuggee.plans import Plan
from pkdb_tui.engine.debuggee.resting import Resting
from pkdb_tui.engine.debuggee.sources import CO_GENERATOR_LIKE, RESUME, is_own
from pkdb_tui.engine.debuggee.tracer import Tracer

LocalTrace = Callable[[FrameType, str, Any], Any]
RETURNS = {opcode.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST") if name in opcode.opmap}
YIELDS = {opcode.opmap[name] for name in ("YIELD_VALUE", "SEND") if name in opcode.opmap}


def leaving_by(frame: FrameType) -> str:
    """At a return event: whether the frame returns, yields or ends by an exception."""
    code = frame.f_code.co_code
    operation = code[frame.f_lasti]
    if operation in RETURNS:
        return "return"
    if frame.f_code.co_flags & CO_GENERATOR_LIKE:
        # From 3.13 on the position is already that of the RESUME behind the yield.
        if operation == RESUME and frame.f_lasti >= 2:
            operation = code[frame.f_lasti - 2]
        if operation in YIELDS:
            return "yield"
    return "unwind"


class SettraceBackend(Backend):
    name = "settrace"

    def __init__(self, tracer: Tracer) -> None:
        super().__init__(tracer)
        self._main = _thread.get_ident()
        self._active = False
        # From 3.12 on this backend is for tests only; the hooks are written for 3.11's bytecode.
        self._resting = Resting(tracer.table, self._entered) if sys.version_info < (3, 12) else None
        self._calls = 0
        self._next_try = 1

    def start(self) -> None:
        self._active = True
        if self._resting is not None:
            # It is called for every audit event of the program: a method bound to its object would take thrice as long.
            def audit(event: str, arguments: tuple[Any, ...]) -> None:
                if event == "exec":
                    self._executes(arguments[0])

            sys.addaudithook(audit)
        threading.settrace(self._global)
        sys.settrace(self._global)

    def stop(self) -> None:
        self._active = False
        sys.settrace(None)
        threading.settrace(None)

    def code_seen(self, info: object) -> None:
        self._unsettle()

    def breakpoints_changed(self) -> None:
        self._unsettle()
        infos = self.tracer.table.infos
        for frame in list(sys._current_frames().values()):
            walked: FrameType | None = frame
            while walked is not None:
                info = infos.get(id(walked.f_code))
                if info is not None and info.breakpoints and walked.f_trace is None:
                    walked.f_trace = self._local(info)
                walked = walked.f_back

    def on_signal(self) -> None:
        """On the main thread, soon after `breakpoints_changed` on another one."""
        if self._active:
            self._trace()
            self._rest(sys._getframe(1))

    def arm(self, plan: Plan | None, frame: FrameType) -> None:
        if not self._active:
            return
        self._trace()
        walked: FrameType | None = frame
        infos = self.tracer.table.infos
        while walked is not None:
            code = walked.f_code
            info = infos.get(id(code))
            if plan is not None and not is_own(code.co_filename):
                walked.f_trace = self._local(info or self.tracer.see(code))
            elif info is not None and info.breakpoints:
                walked.f_trace = self._local(info)
            walked = walked.f_back
        if plan is None:
            self._rest(frame)

    # --- tracing only while it is needed ---

    def _unsettle(self) -> None:
        self._next_try = self._calls = 0
        if self._resting is not None:
            self._resting.unsettle()

    def _trace(self) -> None:
        if sys.gettrace() is None:
            sys.settrace(self._global)

    def _rest(self, frame: FrameType) -> None:
        """Turn tracing off in the main thread if nothing needs it now."""
        resting = self._resting
        ident = _thread.get_ident()
        if resting is None or ident != self._main or ident in self.tracer.plans:
            return
        if resting.settle() and not resting.needed_by(frame):
            sys.settrace(None)

    def rest_for_call(self) -> bool:
        # A signal handler may run in the call: functions with breakpoints must be hooked. `settle` would cost too much.
        if self._resting is None or not self._resting.settled or sys.gettrace() != self._global:
            return False
        ident = _thread.get_ident()
        if ident != self._main or ident in self.tracer.plans:
            return False
        sys.settrace(None)
        return True

    def wake_after_call(self) -> None:
        if self._active:
            self._trace()

    def _entered(self) -> None:
        """Called by a function that has breakpoints, as its first act."""
        frame = sys._getframe(1)
        info = self.tracer.table.infos.get(id(frame.f_code))
        if self._active and info is not None and info.breakpoints and _thread.get_ident() not in self.tracer.quiet:
            frame.f_trace = self._local(info)
            self._trace()

    def _executes(self, code: object) -> None:
        """Code about to be executed: the only sign of new code while tracing is off."""
        if not self._active or self._resting is None:
            return
        if not isinstance(code, CodeType) or _thread.get_ident() in self.tracer.quiet:
            return
        try:
            info = self.tracer.see(code)
            if self.tracer.table.has_file(info.file):
                self._resting.executed(code)
                self._trace()
        except Exception:  # noqa: BLE001 - a fault of ours must not become the program's
            self.tracer.internal_error()

    # --- events ---

    def _global(self, frame: FrameType, event: str, argument: Any) -> Any:
        tracer = self.tracer
        code = frame.f_code
        info = tracer.table.infos.get(id(code))
        if info is None:
            ident = _thread.get_ident()
            if ident in tracer.quiet:
                return None
            try:
                info = tracer.see(code)
            except Exception:  # noqa: BLE001 - a fault of ours must not become the program's
                tracer.internal_error()
                return None
        plan = tracer.plans.get(_thread.get_ident())
        if plan is not None:
            if tracer.enters(plan, frame):
                if frame.f_lasti > 0 and code.co_flags & CO_GENERATOR_LIKE and frame.f_lineno != code.co_firstlineno:
                    tracer.on_resumed(frame)
                return self._local(info)
        elif not info.breakpoints and self._resting is not None:
            self._calls += 1
            if self._calls >= self._next_try:
                self._next_try = 2 * self._calls
                self._rest(frame)
        return self._local(info) if info.breakpoints else None

    def _local(self, info: CodeInfo) -> LocalTrace:
        """The trace function of frames that run this code; reading `f_code` there would cost an audit event a line."""
        if info.trace is None:
            info.trace = self._make_local(info)
        return info.trace

    def _make_local(self, info: CodeInfo) -> LocalTrace:
        plans = self.tracer.plans
        slow = self._event

        def local(frame: FrameType, event: str, argument: Any) -> Any:
            if event != "line" or plans or frame.f_lineno in info.breakpoints:
                slow(info, frame, event, argument)
            return local

        return local

    def _event(self, info: CodeInfo, frame: FrameType, event: str, argument: Any) -> None:
        tracer = self.tracer
        try:
            if event == "line":
                tracer.on_line(frame, frame.f_lineno, info)
            elif event == "exception":
                if tracer.plans:
                    tracer.on_exception(frame, argument[1], argument[2])
            elif event == "return":
                if tracer.plans:
                    how = leaving_by(frame)
                    if how == "return":
                        tracer.on_return(frame, argument)
                    elif how == "unwind":
                        tracer.on_unwind(frame)
                if self._resting is not None and self._resting.settled and frame.f_back is not None:
                    self._rest(frame.f_back)
        except Exception:  # noqa: BLE001 - a fault of ours must not become the program's
            tracer.internal_error()
