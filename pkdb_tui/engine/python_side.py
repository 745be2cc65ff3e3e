"""The Python half of a session: what the program's side tells, and stops in Python as snapshots."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from pkdb_tui.engine.api import (
    BreakpointsChanged,
    ExceptionInfo,
    ExitCause,
    LogPoint,
    Notice,
    Phase,
    Printed,
    Progress,
    Reason,
    Severity,
    StopSnapshot,
)
from pkdb_tui.engine.protocol import EvaluateBody, ExceptionBody, KernelReady, PythonStop, Ready
from pkdb_tui.engine.snapshots import python_frames, python_threads, python_variable

if TYPE_CHECKING:
    from pkdb_tui.engine.session import Session


class PythonSide:
    """One handler for each event of `protocol.py`; `stop` is the last stop in Python, as it was told."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.stop: PythonStop | None = None
        self._handlers: dict[str, Callable[[dict[str, Any]], None]] = {
            "ready": self._ready,
            "stopped": self._stopped,
            "continued": self._continued,
            "breakpoints": self._breakpoints,
            "logPoint": self._log_point,
            "notice": self._notice,
            "progress": self._progress,
            "launchReady": self._launch_ready,
            "launchEnded": self._launch_ended,
            "launched": self._launched,
            "inKernel": self._in_kernel,
            "launches": self._launches,
            "serving": self._serving,
            "evaluated": self._evaluated,
            "ending": self._ending,
        }

    def on_event(self, name: str, body: dict[str, Any]) -> None:
        """An event came over the socket; one of another version of the program's side is passed over."""
        handler = self._handlers.get(name)
        if handler is not None:
            handler(body)

    def _drain(self) -> None:
        """What the program printed before this is shown before it."""
        if self._session.program is not None:
            self._session.program.drain()

    # --- stops ---

    def _stopped(self, body: dict[str, Any]) -> None:
        self._drain()
        self.show(msgspec.convert(body, PythonStop))
        self._session.spawn(self._session.after_stop())

    def show(self, stop: PythonStop) -> None:
        """A new stop in Python."""
        session = self._session
        session.generation += 1
        self.stop = stop
        frames, session.places = python_frames(stop.frames, glue=session.glue)
        selected = next((i for i, place in enumerate(session.places) if place.index == stop.frame), 0)
        variables = [python_variable(variable) for variable in stop.variables]
        session.snapshot = StopSnapshot(
            generation=session.generation,
            phase=Phase.STOPPED_PYTHON,
            reason=Reason(stop.reason),
            reason_text=_reason_text(stop),
            frames=tuple(frames),
            frame=selected,
            variables=session.history.mark(frames[selected], variables, session.generation),
            breakpoints=tuple(stop.breakpoints),
            python_threads=python_threads(stop.threads),
            exception=_exception(stop.exception),
            return_text=stop.return_text,
        )
        if session.book.spend_temporaries(stop.breakpoints):
            session.emit(BreakpointsChanged(breakpoints=session.breakpoints))
        session.enter(Phase.STOPPED_PYTHON)
        session.looking.emit_stop()

    def _evaluated(self, body: dict[str, Any]) -> None:
        """An expression that was debugged has ended; the stop that it was typed at is shown again next."""
        self._drain()
        evaluation = msgspec.convert(body, EvaluateBody)
        if evaluation.error:
            self._session.emit(Notice(text=evaluation.error, severity=Severity.ERROR))
        elif evaluation.text:
            self._session.emit(Printed(text=evaluation.text))

    def _continued(self, body: dict[str, Any]) -> None:
        if self._session.phase is Phase.STOPPED_PYTHON:
            self._session.enter(Phase.RUNNING_PYTHON)

    # --- launches ---

    def _progress(self, body: dict[str, Any]) -> None:
        session = self._session
        if session.phase is Phase.RUNNING_PYTHON and not body["done"]:
            session.enter(Phase.DISPATCHING)
        session.emit(Progress(task=body["task"], done=body["done"], seconds=body["seconds"]))

    def _launch_ready(self, body: dict[str, Any]) -> None:
        self._session.spawn(self._session.kernel_stops.launch_ready(body))

    def _launch_ended(self, body: dict[str, Any]) -> None:
        self._session.spawn(self._session.kernel_stops.launch_ended(body))

    def _launched(self, body: dict[str, Any]) -> None:
        self._session.life.launched = True

    def _in_kernel(self, body: dict[str, Any]) -> None:
        self._session.moves.heard_in_kernel()
        self._session.spawn(self._session.kernel_stops.in_kernel(msgspec.convert(body, KernelReady, strict=False)))

    def _serving(self, body: dict[str, Any]) -> None:
        self._session.evaluator.serving(body["thread"])

    def _launches(self, body: dict[str, Any]) -> None:
        self._session.launch_log.counted(body["launches"])

    # --- the rest ---

    def _ready(self, body: dict[str, Any]) -> None:
        self._session.life.ready(msgspec.convert(body, Ready))

    def _ending(self, body: dict[str, Any]) -> None:
        exception = _exception(msgspec.convert(body["exception"], ExceptionBody)) if body.get("exception") else None
        self._session.life.ending(ExitCause(status=body.get("status"), exception=exception))

    def _breakpoints(self, body: dict[str, Any]) -> None:
        self._session.placing.placed(body["placements"])

    def _log_point(self, body: dict[str, Any]) -> None:
        self._drain()
        self._session.emit(LogPoint(breakpoint=body["breakpoint"], text=body["text"]))
        self._session.connection.post("logHeard", thread=body["thread"])

    def _notice(self, body: dict[str, Any]) -> None:
        if self._session.program is not None:
            self._session.program.drain_lines()
        self._session.emit(Notice(text=body["text"], severity=Severity(body.get("severity", "info"))))


def _exception(body: ExceptionBody | None) -> ExceptionInfo | None:
    if body is None:
        return None
    return ExceptionInfo(type=body.type, message=body.message, traceback=body.traceback)


def _reason_text(stop: PythonStop) -> str:
    if stop.breakpoints:
        failed = f": {first}" if (first := stop.text.partition("\n")[0]) else ""
        return "breakpoint " + ", ".join(map(str, stop.breakpoints)) + failed
    if stop.exception is not None:
        first = stop.exception.message.partition("\n")[0]  # the traceback has all of it
        return f"exception {stop.exception.type}{': ' if first else ''}{first}"
    first = stop.text.partition("\n")[0]
    return f"{stop.reason}: {first}" if first else stop.reason
