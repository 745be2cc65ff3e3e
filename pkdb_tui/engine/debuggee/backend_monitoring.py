"""Watching by sys.monitoring (3.12 and later): only code that needs it makes events, all other code runs as it is."""

from __future__ import annotations

import _thread
import sys
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from pkdb_tui.engine.debuggee.backend import Backend
from pkdb_tui.engine.debuggee.breakpoints import CodeInfo
from pkdb_tui.engine.debuggee.plans import Plan
from pkdb_tui.engine.debuggee.tracer import Tracer

if TYPE_CHECKING or sys.version_info < (3, 12):
    monitoring: Any = None
else:
    from sys import monitoring

TOOL = 0  # sys.monitoring.DEBUGGER_ID


class MonitoringBackend(Backend):
    name = "monitoring"

    def __init__(self, tracer: Tracer) -> None:
        super().__init__(tracer)
        events = monitoring.events
        self._disable = monitoring.DISABLE
        self._line_events: int = events.LINE
        self._step_events: int = events.LINE | events.PY_RETURN | events.PY_YIELD
        self._idle_global: int = events.PY_START
        self._plan_global: int = events.PY_START | events.PY_RESUME | events.PY_THROW | events.PY_UNWIND | events.RAISE
        self._stepping: dict[int, CodeType] = {}
        self._armed: dict[int, CodeInfo] = {}
        self._global = 0
        self._started_here = False

    def start(self) -> None:
        events = monitoring.events
        monitoring.use_tool_id(TOOL, "pkdb-tui")
        for event, callback in (
            (events.PY_START, self._started),
            (events.PY_RESUME, self._resumed),
            (events.PY_THROW, self._thrown),
            (events.LINE, self._line),
            (events.PY_RETURN, self._returned),
            (events.PY_YIELD, self._yielded),
            (events.PY_UNWIND, self._unwound),
            (events.RAISE, self._raised),
        ):
            monitoring.register_callback(TOOL, event, callback)
        self._started_here = True
        self._set_global(self._idle_global)
        self._apply()

    def stop(self) -> None:
        if not self._started_here:
            return
        self._started_here = False
        for code in self._stepping.values():
            monitoring.set_local_events(TOOL, code, 0)
        for info in self.tracer.table.infos_with_breakpoints():
            seen = info.reference()
            if seen is not None:
                monitoring.set_local_events(TOOL, seen, 0)
        self._set_global(0)
        monitoring.free_tool_id(TOOL)

    def _set_global(self, events: int) -> None:
        if events != self._global:
            self._global = events
            monitoring.set_events(TOOL, events)

    def _set_local(self, code: CodeType, info: CodeInfo | None) -> None:
        if id(code) in self._stepping:
            events = self._step_events
        else:
            events = self._line_events if info is not None and info.breakpoints else 0
        if monitoring.get_local_events(TOOL, code) != events:
            monitoring.set_local_events(TOOL, code, events)

    def code_seen(self, info: object) -> None:
        if self._started_here:
            self._apply()

    def _apply(self) -> None:
        """Give line events to exactly the code objects that have breakpoints (or are being stepped)."""
        wanted = {info.key: info for info in self.tracer.table.infos_with_breakpoints()}
        for key, info in {**self._armed, **wanted}.items():
            code = info.reference()
            if code is not None:
                self._set_local(code, info if key in wanted else None)
        self._armed = wanted

    def breakpoints_changed(self) -> None:
        if not self._started_here:
            return
        infos = self.tracer.table.infos
        for frame in list(sys._current_frames().values()):
            walked: FrameType | None = frame
            while walked is not None:
                if id(walked.f_code) not in infos:
                    self.tracer.see(walked.f_code)
                walked = walked.f_back
        self._apply()
        monitoring.restart_events()

    def arm(self, plan: Plan | None, frame: FrameType) -> None:
        wanted: dict[int, CodeType] = {}
        if plan is not None:
            walked: FrameType | None = frame
            while walked is not None:
                if walked is plan.frame or not self.tracer.skips(walked.f_code):
                    wanted[id(walked.f_code)] = walked.f_code
                walked = walked.f_back
        others = any(other is not plan for other in self.tracer.plans.values())
        old = self._stepping
        self._stepping = {**old, **wanted} if others else wanted
        infos = self.tracer.table.infos
        for key, code in {**old, **wanted}.items():
            self._set_local(code, infos.get(key))
        self._set_global(self._plan_global if plan is not None or others else self._idle_global)
        if plan is not None:
            monitoring.restart_events()

    def _follow(self, code: CodeType, info: CodeInfo) -> None:
        self._stepping[id(code)] = code
        self._set_local(code, info)

    # --- callbacks ---

    def _started(self, code: CodeType, offset: int) -> Any:
        tracer = self.tracer
        ident = _thread.get_ident()
        if ident in tracer.quiet:
            return None
        try:
            info = tracer.table.infos.get(id(code)) or tracer.see(code)
            plan = tracer.plans.get(ident)
            if plan is not None and tracer.enters(plan, sys._getframe(1)):
                self._follow(code, info)
        except Exception:  # noqa: BLE001 - a fault of ours must not become the program's
            tracer.internal_error()
        return None if tracer.plans else self._disable

    def _resumed(self, code: CodeType, offset: int) -> Any:
        return self._continued(code)

    def _thrown(self, code: CodeType, offset: int, error: BaseException) -> Any:
        self._continued(code)

    def _continued(self, code: CodeType) -> Any:
        tracer = self.tracer
        ident = _thread.get_ident()
        plan = tracer.plans.get(ident)
        if plan is None or ident in tracer.quiet:
            return None
        try:
            frame = sys._getframe(2)
            if tracer.enters(plan, frame):
                self._follow(code, tracer.table.infos.get(id(code)) or tracer.see(code))
                tracer.on_resumed(frame)
        except Exception:  # noqa: BLE001 - a fault of ours must not become the program's
            tracer.internal_error()
        return None

    def _line(self, code: CodeType, line: int) -> Any:
        tracer = self.tracer
        try:
            info = tracer.table.infos.get(id(code)) or tracer.see(code)
            if line not in info.breakpoints and id(code) not in self._stepping:
                return self._disable
            tracer.on_line(sys._getframe(1), line, info)
        except Exception:  # noqa: BLE001 - a fault of ours must not become the program's
            tracer.internal_error()
        return None

    def _returned(self, code: CodeType, offset: int, value: Any) -> Any:
        tracer = self.tracer
        try:
            if tracer.plans:
                tracer.on_return(sys._getframe(1), value)
        except Exception:  # noqa: BLE001 - a fault of ours must not become the program's
            tracer.internal_error()
        return None

    def _yielded(self, code: CodeType, offset: int, value: Any) -> Any:
        return None

    def _unwound(self, code: CodeType, offset: int, error: BaseException) -> Any:
        tracer = self.tracer
        try:
            if tracer.plans:
                tracer.on_unwind(sys._getframe(1))
        except Exception:  # noqa: BLE001 - a fault of ours must not become the program's
            tracer.internal_error()
        return None

    def _raised(self, code: CodeType, offset: int, error: BaseException) -> Any:
        tracer = self.tracer
        try:
            if tracer.plans:
                tracer.on_exception(sys._getframe(1), error, error.__traceback__)
        except Exception:  # noqa: BLE001 - a fault of ours must not become the program's
            tracer.internal_error()
        return None
