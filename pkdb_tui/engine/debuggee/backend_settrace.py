"""Watching by sys.settrace: the only way on 3.11."""

from __future__ import annotations

import _thread
import opcode
import sys
import threading
from types import FrameType
from typing import Any

from pkdb_tui.engine.debuggee.backend import Backend
from pkdb_tui.engine.debuggee.plans import Plan
from pkdb_tui.engine.debuggee.sources import CO_GENERATOR_LIKE, RESUME, is_own

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

    def start(self) -> None:
        threading.settrace(self._global)
        sys.settrace(self._global)

    def stop(self) -> None:
        sys.settrace(None)
        threading.settrace(None)

    def code_seen(self, info: object) -> None:
        pass

    def breakpoints_changed(self) -> None:
        infos = self.tracer.table.infos
        for frame in list(sys._current_frames().values()):
            walked: FrameType | None = frame
            while walked is not None:
                info = infos.get(id(walked.f_code))
                if info is not None and info.breakpoints and walked.f_trace is None:
                    walked.f_trace = self._local
                walked = walked.f_back

    def arm(self, plan: Plan | None, frame: FrameType) -> None:
        walked: FrameType | None = frame
        infos = self.tracer.table.infos
        while walked is not None:
            if plan is not None and not is_own(walked.f_code.co_filename):
                walked.f_trace = self._local
            elif plan is None:
                info = infos.get(id(walked.f_code))
                if info is not None and info.breakpoints:
                    walked.f_trace = self._local
            walked = walked.f_back

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
        if plan is not None and tracer.enters(plan, frame):
            if frame.f_lasti > 0 and code.co_flags & CO_GENERATOR_LIKE and frame.f_lineno != code.co_firstlineno:
                tracer.on_resumed(frame)
            return self._local
        return self._local if info.breakpoints else None

    def _local(self, frame: FrameType, event: str, argument: Any) -> Any:
        tracer = self.tracer
        try:
            if event == "line":
                info = tracer.table.infos.get(id(frame.f_code)) or tracer.see(frame.f_code)
                tracer.on_line(frame, frame.f_lineno, info)
            elif event == "return" and tracer.plans:
                how = leaving_by(frame)
                if how == "return":
                    tracer.on_return(frame, argument)
                elif how == "unwind":
                    tracer.on_unwind(frame)
        except Exception:  # noqa: BLE001 - a fault of ours must not become the program's
            tracer.internal_error()
        return self._local
