"""Previews of a frame's variables, with the time that the program's own `__repr__`s take bounded."""

from __future__ import annotations

import time
from types import FrameType
from typing import Any

from pkdb_tui.engine.debuggee import values
from pkdb_tui.engine.debuggee.limits import EvaluationTimedOut, Limit, Limits

VARIABLE_LIMIT = 500
ONE_REPR = 0.25
ALL_REPRS = 1.0


class Previews:
    """Makes previews for one debugger; only a `__repr__` written in Python needs the watch."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left = ALL_REPRS
        values.own_text = self._own_text

    def text(self, value: Any) -> str:
        self._left = ALL_REPRS
        return values.preview(value)

    def _own_text(self, value: Any) -> str:
        if not hasattr(type(value).__repr__, "__code__"):
            return values.plain_text(value)
        if self._left <= 0:
            return f"<{type(value).__name__} object>"
        begun = time.perf_counter()
        limit = Limit()
        try:
            return self._limits.run(ONE_REPR, lambda: values.plain_text(value), limit)
        except EvaluationTimedOut:
            if not limit.fired:
                raise
            return f"<{type(value).__name__}: its __repr__ took too long>"
        finally:
            self._left -= time.perf_counter() - begun

    def variables(self, frame: FrameType) -> list[dict[str, Any]]:
        """Arguments, locals and closure names of a frame; at module level the module's own names."""
        self._left = ALL_REPRS
        code = frame.f_code
        names = frame.f_locals
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
        arguments = code.co_varnames[:count]
        module = names is frame.f_globals or code.co_name == "<module>"
        found = []
        for name, value in list(names.items())[: VARIABLE_LIMIT + 50]:
            if module and name.startswith("__") and name.endswith("__"):
                continue
            if name in arguments:
                scope = "argument"
            elif name in code.co_freevars:
                scope = "closure"
            else:
                scope = "global" if module else "local"
            found.append(values.describe(name, value, scope))
        order = {"argument": 0, "local": 1, "global": 1, "closure": 2}
        found.sort(key=lambda variable: order[variable["scope"]])
        return found[:VARIABLE_LIMIT]
