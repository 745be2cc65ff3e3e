"""Runs what a person typed in the program: bounded in time, written to the console, unseen by breakpoints."""

from __future__ import annotations

import _thread
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from pkdb_tui.engine.debuggee.console import Console
from pkdb_tui.engine.debuggee.evaluate import answer, evaluate
from pkdb_tui.engine.debuggee.limits import EvaluationInterrupted, EvaluationTimedOut, Limit, Limits
from pkdb_tui.engine.debuggee.scopes import Kernel

Json = dict[str, Any]
PARALLEL = "parallel"  # the mode of an evaluation that is a `parallel_launch`
STARTERS = (
    ("_thread", "start_new_thread"),
    ("_thread", "start_joinable_thread"),
    ("threading", "_start_new_thread"),
    ("threading", "_start_joinable_thread"),
)


class Evaluations:
    """All evaluations of a debuggee. `quiet` are the threads whose code no breakpoint sees."""

    def __init__(self, limits: Limits, quiet: set[int], console: Console, look_again: Callable[[], None]) -> None:
        self.limits = limits
        self._quiet = quiet
        self._console = console
        self._look_again = look_again
        self.aside: dict[int, Callable[[Any], Any]] = {}  # who sees the launches of a thread, in place of the debugger
        self._threads: set[int] = set()  # those that evaluate, and those that they started

    def run(
        self,
        text: str,
        frame: FrameType,
        mode: str,
        timeout: float,
        kernel: Kernel | None = None,
        stuck: Callable[[Limit], None] | None = None,
    ) -> Json:
        """An EvaluateBody."""
        ident = _thread.get_ident()
        self._threads.add(ident)
        taken = self._console.take(self._threads)

        def left(limit: Limit) -> None:
            self._console.give_back(taken)
            if stuck is not None:
                stuck(limit)

        self._look_again()  # launches that were let run unseen would count themselves as the program's
        try:
            with self._followed():
                limit = Limit(left if stuck is not None else None)
                if mode == PARALLEL:
                    return self._side_by_side(text, frame, timeout, kernel, limit)
                return self.limits.run(timeout, lambda: evaluate(text, frame, mode, timeout, kernel), limit)
        except EvaluationInterrupted:
            return answer(error="interrupted")
        finally:
            self._threads.discard(ident)
            self._console.give_back(taken)
            self._look_again()

    def _side_by_side(self, text: str, frame: FrameType, timeout: float, kernel: Kernel | None, limit: Limit) -> Json:
        """An EvaluateBody with `clauses`. Raises RequestError."""
        # Not at the top: few sessions need it, and what is imported is felt at every start.
        from pkdb_tui.engine.debuggee.side_by_side import parallel_launch

        body = answer()
        try:
            body["clauses"] = self.limits.run(timeout, lambda: parallel_launch(text, frame, kernel, self.aside), limit)
        except EvaluationInterrupted as error:
            how = f"stopped waiting after {timeout:g} s" if isinstance(error, EvaluationTimedOut) else "interrupted"
            body["error"] = f"{how}: kernels that still run end by themselves, and what they return is lost"
        return body

    @contextmanager
    def _followed(self) -> Iterator[None]:
        """Threads that the code starts belong to it: breakpoints don't see them, and they write to the console."""
        replaced = []
        for module_name, name in STARTERS:
            module = sys.modules.get(module_name)
            original = getattr(module, name, None)
            if original is not None:
                starter = self._starter(original)
                setattr(module, name, starter)
                replaced.append((module, name, original, starter))
        try:
            yield
        finally:
            for module, name, original, starter in replaced:
                if getattr(module, name) is starter:
                    setattr(module, name, original)

    def _starter(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def start(function: Callable[..., Any], *arguments: Any, **names: Any) -> Any:
            if _thread.get_ident() in self._threads:
                function = self._quietly(function)
            return original(function, *arguments, **names)

        return start

    def _quietly(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **names: Any) -> Any:
            ident = _thread.get_ident()
            self._threads.add(ident)
            self._quiet.add(ident)
            try:
                return function(*arguments, **names)
            finally:
                self._threads.discard(ident)
                self._quiet.discard(ident)

        return run
