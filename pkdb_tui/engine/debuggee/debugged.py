"""`debug EXPRESSION`: code typed at a stop, run as the program's own code is, with its breakpoints and steps."""

from __future__ import annotations

import _thread
import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

from pkdb_tui.engine.debuggee import evaluate
from pkdb_tui.engine.debuggee.plans import STEP, Plan
from pkdb_tui.engine.debuggee.scopes import Kernel
from pkdb_tui.engine.debuggee.snippets import Snippet
from pkdb_tui.engine.debuggee.wire import RequestError

if TYPE_CHECKING:
    from pkdb_tui.engine.debuggee.debugger import Debugger

Json = dict[str, Any]
SHOWN = 60  # characters of an expression in a message


class Wish:
    """What is to be debugged, in a frame of the stop."""

    def __init__(self, text: str, frame: FrameType) -> None:
        self.text = text
        self.frame = frame

    @property
    def ended(self) -> str:
        first, _, rest = self.text.strip().partition("\n")
        short = first if len(first) <= SHOWN and not rest else first[: SHOWN - 1] + "…"
        return f"`{short}` has ended"


class Debugged:
    """Expressions that are being debugged, each on the thread at whose stop it was typed."""

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        self._depths: dict[int, int] = {}

    @staticmethod
    def wish(text: str, frame: FrameType) -> Wish:
        """Raises RequestError for what is no Python."""
        try:
            Snippet(text)
        except (SyntaxError, ValueError) as error:
            raise RequestError(evaluate.error_line(error)) from error
        return Wish(text, frame)

    def check_one(self) -> None:
        """Raises RequestError where this thread stops for no expression that is being debugged."""
        if not self._depths.get(_thread.get_ident()):
            raise RequestError("No expression is being debugged here.", "Type `debug EXPRESSION` to debug one.")

    def run(self, wish: Wish) -> Json:
        """An EvaluateBody: the thread steps to the first line of the program's that the code comes to."""
        debugger, ident = self._debugger, _thread.get_ident()

        def in_the_program(text: str, frame: FrameType, mode: str, kernel: Kernel | None) -> Any:
            plan = Plan(STEP)
            self._depths[ident] = self._depths.get(ident, 0) + 1
            debugger.tracer.plans[ident] = plan
            debugger.backend.arm(plan, frame)
            debugger.unquiet(ident, frame)
            try:
                # The stop itself may lie in a trace function, in which Python traces nothing.
                return sys.call_tracing(evaluate.run, (text, frame, mode, kernel))
            finally:
                debugger.tracer.quiet.add(ident)
                debugger.tracer.plans.pop(ident, None)
                self._depths[ident] -= 1

        return evaluate.evaluate(wish.text, wish.frame, "auto", 0.0, run=in_the_program)
