"""Answers about the frames of one stop: variables, evaluation, slices, completion."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any

from pkdb_tui.engine.debuggee.completion import complete
from pkdb_tui.engine.debuggee.evaluate import evaluate
from pkdb_tui.engine.debuggee.frames import Place
from pkdb_tui.engine.debuggee.slices import read_slice
from pkdb_tui.engine.debuggee.values import frame_variables
from pkdb_tui.engine.debuggee.wire import RequestError

Json = dict[str, Any]
COMMANDS = ("variables", "evaluate", "readSlice", "complete")
SLICE_TIMEOUT = 10.0


class Inspector:
    """Serves the requests that only look at (or evaluate in) frames; `limited` bounds and interrupts a run."""

    def __init__(self, places: list[Place], limited: Callable[[float], AbstractContextManager[None]]) -> None:
        self.places = places
        self._limited = limited

    def frame(self, arguments: Json) -> FrameType:
        index = int(arguments.get("frame") or 0)
        if not 0 <= index < len(self.places):
            raise RequestError(f"There is no frame {index}; the stack has {len(self.places)}.")
        return self.places[index][0]

    def serve(self, command: str, arguments: Json) -> Json:
        frame = self.frame(arguments)
        if command == "variables":
            with self._limited(2.0):
                return {"variables": frame_variables(frame)}
        if command == "evaluate":
            timeout = float(arguments.get("timeout") or 10.0)
            text, mode = str(arguments["expression"]), str(arguments.get("mode") or "auto")
            with self._limited(timeout):
                return evaluate(text, frame, mode, timeout)
        if command == "readSlice":
            with self._limited(SLICE_TIMEOUT):
                return read_slice(str(arguments["expression"]), frame, int(arguments.get("limit") or 4096))
        return {"matches": complete(str(arguments.get("text") or ""), frame)}
