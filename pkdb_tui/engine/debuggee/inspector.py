"""Answers about the frames of one stop: variables, evaluation, slices, completion."""

from __future__ import annotations

from types import FrameType
from typing import Any

from pkdb_tui.engine.debuggee.completion import complete
from pkdb_tui.engine.debuggee.evaluate import answer, evaluate
from pkdb_tui.engine.debuggee.frames import Place
from pkdb_tui.engine.debuggee.hotswap import Swaps
from pkdb_tui.engine.debuggee.limits import EvaluationInterrupted, Limits
from pkdb_tui.engine.debuggee.previews import Previews
from pkdb_tui.engine.debuggee.slices import read_slice
from pkdb_tui.engine.debuggee.wire import RequestError

Json = dict[str, Any]
COMMANDS = ("variables", "evaluate", "readSlice", "complete", "addSubstitution")
SLICE_TIMEOUT = 10.0


class Inspector:
    """Serves the requests that only look at (or evaluate in) frames."""

    def __init__(self, places: list[Place], limits: Limits, previews: Previews, swaps: Swaps) -> None:
        self.places = places
        self._swaps = swaps
        self._limits = limits
        self._previews = previews

    def frame(self, arguments: Json) -> FrameType:
        index = int(arguments.get("frame") or 0)
        if not 0 <= index < len(self.places):
            raise RequestError(f"There is no frame {index}; the stack has {len(self.places)}.")
        return self.places[index][0]

    def serve(self, command: str, arguments: Json) -> Json:
        frame = self.frame(arguments)
        if command == "variables":
            return {"variables": self._previews.variables(frame)}
        if command == "evaluate":
            timeout = float(arguments.get("timeout") or 10.0)
            text, mode = str(arguments["expression"]), str(arguments.get("mode") or "auto")
            try:
                with self._limits.within(timeout):
                    return evaluate(text, frame, mode, timeout)
            except EvaluationInterrupted:
                return answer(error="interrupted")
        if command == "readSlice":
            with self._limits.within(SLICE_TIMEOUT):
                return read_slice(str(arguments["expression"]), frame, int(arguments.get("limit") or 4096))
        if command == "addSubstitution":
            return self._swaps.add(arguments["rule"], frame)
        return {"matches": complete(str(arguments.get("text") or ""), frame)}
