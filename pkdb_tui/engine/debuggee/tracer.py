"""Decides at each event of a backend whether the thread stops there; knows nothing of how events are made."""

from __future__ import annotations

import _thread
import opcode
import traceback
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType
from typing import Any

from pkdb_tui.engine.debuggee.breakpoints import Breakpoint, BreakpointTable, CodeInfo, condition_holds
from pkdb_tui.engine.debuggee.frames import bottom_codes
from pkdb_tui.engine.debuggee.log_points import log_text
from pkdb_tui.engine.debuggee.plans import PAUSE, RETURN, START, STEP, Plan
from pkdb_tui.engine.debuggee.sources import CO_GENERATOR_LIKE, is_function, is_glue, is_runtime
from pkdb_tui.engine.debuggee.values import error_message

Json = dict[str, Any]
ENDINGS = (StopIteration, StopAsyncIteration, GeneratorExit)  # how generators and iterators say that they are done
ITERATING = ("__next__", "__anext__")
ITERATES = ("FOR_ITER", "SEND", "UNPACK_SEQUENCE", "UNPACK_EX", "END_ASYNC_FOR")


class Tracer:
    """The decisions shared by both backends; `stop` is called on the thread that is to stop and returns its plan."""

    def __init__(self, table: BreakpointTable, stop: Callable[..., None], event: Callable[[str, Json], None]) -> None:
        self.table = table
        self.plans: dict[int, Plan] = {}
        self.quiet: set[int] = set()  # threads that run debugger code, or code on the person's behalf
        self.just_my_code = True
        self.unquiet: Callable[[int, FrameType], None] = lambda ident, frame: self.quiet.discard(ident)
        self.code_seen: Callable[[CodeInfo], None] = lambda info: None
        self.log: Callable[[Json], None] = lambda body: event("logPoint", body)
        self._stop = stop
        self._event = event

    # --- discovery ---

    def see(self, code: CodeType) -> CodeInfo:
        """Register a code object on its first run, binding pending breakpoints of its file."""
        info = self.table.see(code)
        if self.table.wants(info.file) and (not is_glue(code.co_filename) or self.table.has_file(info.file)):
            changed = self.table.place_again()
            if changed:
                self._event("breakpoints", {"placements": changed})
            self.code_seen(info)
        return info

    def skips(self, code: CodeType) -> bool:
        """Whether steps don't stop in this code."""
        return is_glue(code.co_filename) if self.just_my_code else is_runtime(code.co_filename)

    def enters(self, plan: Plan, frame: FrameType) -> bool:
        """Whether the plan needs the events of a frame that starts or resumes."""
        return plan.frame is frame or (plan.enters_calls and not self.skips(frame.f_code))

    # --- events ---

    def on_resumed(self, frame: FrameType) -> None:
        """A generator or coroutine goes on: a pause shows its waiting line."""
        plan = self.plans.get(_thread.get_ident())
        if plan is not None and plan.kind == PAUSE and not self.skips(frame.f_code):
            self._stop_here(frame, reason=PAUSE)

    def on_line(self, frame: FrameType, line: int, info: CodeInfo) -> None:
        ident = _thread.get_ident()
        if ident in self.quiet:
            return
        hits = info.breakpoints.get(line)
        if hits and info.again and info.comes_back(line, frame.f_lasti):
            hits = None
        ids, failures = self._hits(hits, frame, line) if hits else ([], {})
        plan = self.plans.get(ident)
        if ids:
            # The start is told as a start even when a breakpoint sits on the first line.
            reason = START if plan is not None and plan.kind == START else "breakpoint"
            self._stop_here(frame, reason=reason, breakpoints=ids, can_jump=True, text=_told(ids, failures))
        elif plan is not None and plan.stops_on_line(frame, line) and not self.skips(frame.f_code):
            self._stop_here(frame, reason=plan.reason, can_jump=True)

    def on_return(self, frame: FrameType, value: Any) -> None:
        """The frame returns for good."""
        ident = _thread.get_ident()
        plan = self.plans.get(ident)
        if plan is None or ident in self.quiet:
            return
        asked = plan.kind == RETURN or is_function(frame.f_code)
        if asked and plan.stops_on_return(frame) and not self.skips(frame.f_code):
            self._stop_here(frame, reason=STEP, returned=value, has_returned=True)
            plan = self.plans.get(ident)
        self._left(ident, plan, frame)

    def on_exception(self, frame: FrameType, error: BaseException, trace: TracebackType | None) -> None:
        """An exception was raised in this frame, or came into it from a call; nothing has handled it yet."""
        ident = _thread.get_ident()
        plan = self.plans.get(ident)
        if plan is None or ident in self.quiet or not plan.stops_on_exception(frame):
            return
        if self.skips(frame.f_code) or _ends_iteration(frame, error):
            return
        self._stop_here(frame, reason="exception", exception=exception_body(error, trace))

    def on_unwind(self, frame: FrameType) -> None:
        """The frame ends by an exception."""
        ident = _thread.get_ident()
        if ident not in self.quiet:
            self._left(ident, self.plans.get(ident), frame)

    def _left(self, ident: int, plan: Plan | None, frame: FrameType) -> None:
        if plan is None:
            return
        plan.leave(frame)
        if frame.f_back is not None and frame.f_back.f_code in bottom_codes:
            self.plans.pop(ident, None)

    # --- stopping ---

    def _hits(
        self, candidates: tuple[Breakpoint, ...], frame: FrameType, line: int
    ) -> tuple[list[int], dict[int, str]]:
        """Count hits; the ids that stop, and why conditions of theirs failed. Log points speak and go on."""
        ident = _thread.get_ident()
        self.quiet.add(ident)
        ids: list[int] = []
        failures: dict[int, str] = {}
        try:
            for breakpoint in candidates:
                failure = "" if breakpoint.deleted else self._failure(breakpoint, frame)
                if breakpoint.deleted or failure is None:
                    continue
                if self._hit(breakpoint, frame, line, failure):
                    ids.append(breakpoint.id)
                    if failure:
                        failures[breakpoint.id] = failure
            return ids, failures
        finally:
            self.unquiet(ident, frame)

    @staticmethod
    def _failure(breakpoint: Breakpoint, frame: FrameType) -> str | None:
        """None when the condition is false, why it can't be told whether it holds, empty when it holds."""
        try:
            return "" if condition_holds(breakpoint, frame) else None
        except Exception as error:  # noqa: BLE001 - the person's condition may raise anything; told, and stopped at
            return f"{type(error).__name__}: {error_message(error)}"

    def _hit(self, breakpoint: Breakpoint, frame: FrameType, line: int, failure: str) -> bool:
        breakpoint.hits += 1
        if breakpoint.hits <= breakpoint.ignore_until:
            return False
        if breakpoint.log:
            text = f"<condition failed: {failure}>" if failure else log_text(breakpoint.log, frame)
            file = frame.f_code.co_filename.rsplit("/", 1)[-1]
            self.log({"breakpoint": breakpoint.id, "text": f"{file}:{line} {text}"})
            return False
        if breakpoint.temporary:
            breakpoint.deleted = True
            self.table.rearm()
        return True

    def _stop_here(self, frame: FrameType, **what: Any) -> None:
        self._stop(frame, **what)

    def internal_error(self) -> None:
        """A fault of the debugger's own is told and the program goes on."""
        self._event("notice", {"text": "The debugger failed: " + traceback.format_exc(), "severity": "error"})


def exception_body(error: BaseException, trace: TracebackType | None) -> Json:
    """An ExceptionBody of the protocol."""
    text = "".join(traceback.format_exception(type(error), error, trace))
    return {"type": type(error).__qualname__, "message": error_message(error), "traceback": text}


def _ends_iteration(frame: FrameType, error: BaseException) -> bool:
    """Whether an exception is only the sign of an iterator's or generator's end, which no person raised."""
    if not isinstance(error, ENDINGS):
        return False
    code = frame.f_code
    driven = bool(code.co_flags & CO_GENERATOR_LIKE) or code.co_name in ITERATING
    return driven or opcode.opname[code.co_code[frame.f_lasti]] in ITERATES


def _told(ids: list[int], failures: dict[int, str]) -> str:
    """Why conditions failed, of which breakpoint where more than one stops."""
    if len(ids) == 1:
        return "".join(f"condition failed: {why}" for why in failures.values())
    return "; ".join(f"condition of {number} failed: {why}" for number, why in failures.items())
