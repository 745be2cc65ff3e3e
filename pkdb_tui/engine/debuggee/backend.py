"""What the two ways of watching Python code have in common."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from types import FrameType

from pkdb_tui.engine.debuggee.plans import Plan
from pkdb_tui.engine.debuggee.tracer import Tracer


class Backend(ABC):
    """Makes line, return and unwind events for a Tracer, for no more code than it needs."""

    name: str

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        tracer.code_seen = self.code_seen

    @abstractmethod
    def start(self) -> None:
        """Begin watching; called on the main thread before the program runs."""

    @abstractmethod
    def stop(self) -> None:
        """Leave the interpreter as it was, as a forked child must."""

    @abstractmethod
    def code_seen(self, info: object) -> None:
        """A code object was registered."""

    @abstractmethod
    def breakpoints_changed(self) -> None:
        """The table changed, on any thread, while the program may be running."""

    def on_signal(self) -> None:
        """The main thread's turn after `breakpoints_changed` on another thread; nothing to do by default."""
        return

    def rest_for_call(self) -> bool:
        """Stop watching this thread's calls until `wake_after_call`; False where that could lose a stop."""
        return False

    def wake_after_call(self) -> None:
        """Undo `rest_for_call`."""
        return

    @abstractmethod
    def arm(self, plan: Plan | None, frame: FrameType) -> None:
        """Prepare for the plan of the current thread, which goes on from `frame`; None is continue."""


def choose(tracer: Tracer) -> Backend:
    """sys.monitoring where there is one, unless PKDB_BACKEND asks for settrace."""
    forced = os.environ.get("PKDB_BACKEND", "")
    if sys.version_info >= (3, 12) and forced != "settrace":
        from pkdb_tui.engine.debuggee.backend_monitoring import MonitoringBackend

        return MonitoringBackend(tracer)
    from pkdb_tui.engine.debuggee.backend_settrace import SettraceBackend

    return SettraceBackend(tracer)
