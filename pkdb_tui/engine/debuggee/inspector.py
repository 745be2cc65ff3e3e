"""Answers about the frames of one stop: variables, evaluation, slices, completion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from pkdb_tui.engine.debuggee.completion import complete
from pkdb_tui.engine.debuggee.evaluations import Evaluations
from pkdb_tui.engine.debuggee.frames import Place
from pkdb_tui.engine.debuggee.hotswap import Swaps
from pkdb_tui.engine.debuggee.kernel_variables import kernel_of
from pkdb_tui.engine.debuggee.limits import Limit
from pkdb_tui.engine.debuggee.previews import Previews
from pkdb_tui.engine.debuggee.scopes import Kernel
from pkdb_tui.engine.debuggee.slices import read_slice
from pkdb_tui.engine.debuggee.wire import RequestError

Json = dict[str, Any]
COMMANDS = ("variables", "evaluate", "readSlice", "complete", "addSubstitution")
SLICE_TIMEOUT = 10.0
COMPLETION_TIMEOUT = 1.0


class Inspector:
    """Serves the requests that only look at (or evaluate in) frames.

    `arguments` are those of the kernel launch under way. `stuck` is called with a limit when an evaluation goes on
    after it was interrupted.
    """

    def __init__(
        self,
        places: list[Place],
        evaluations: Evaluations,
        previews: Previews,
        swaps: Swaps,
        *,
        arguments: Mapping[str, Any] | None = None,
        stuck: Callable[[Limit], None] | None = None,
    ) -> None:
        self.places = places
        self._swaps = swaps
        self._evaluations = evaluations
        self._previews = previews
        self._launched = arguments or {}
        self._stuck = stuck

    def frame(self, arguments: Json) -> FrameType:
        index = int(arguments.get("frame") or 0)
        if not 0 <= index < len(self.places):
            raise RequestError(f"There is no frame {index}; the stack has {len(self.places)}.")
        return self.places[index][0]

    def _kernel(self, arguments: Json) -> Kernel | None:
        variables = arguments.get("kernel")
        return kernel_of(variables, self._launched) if variables else None

    def serve(self, command: str, arguments: Json) -> Json:
        frame = self.frame(arguments)
        if command == "variables":
            return {"variables": self._previews.variables(frame)}
        if command == "evaluate":
            timeout = float(arguments.get("timeout") or 10.0)
            text, mode = str(arguments["expression"]), str(arguments.get("mode") or "auto")
            return self._evaluations.run(text, frame, mode, timeout, self._kernel(arguments), self._stuck)
        if command == "readSlice":
            text, most = str(arguments["expression"]), int(arguments.get("limit") or 4096)
            kernel = self._kernel(arguments)
            return self._evaluations.limits.run(SLICE_TIMEOUT, lambda: read_slice(text, frame, most, kernel))
        if command == "addSubstitution":
            return self._swaps.add(arguments["rule"], frame)
        return self._evaluations.limits.run(COMPLETION_TIMEOUT, lambda: self._completions(arguments, frame))

    def _completions(self, arguments: Json, frame: FrameType) -> Json:
        kernel = self._kernel(arguments)
        text = str(arguments.get("text") or "")
        return {"matches": complete(text, frame, kernel.values if kernel is not None else {})}
