"""The embedded runtime's adapter."""

from __future__ import annotations

import _thread
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from pkdb_tui.engine.debuggee.frameworks import lost_debugger
from pkdb_tui.engine.debuggee.frameworks.after_import import after_import
from pkdb_tui.engine.debuggee.frameworks.base import Adapter
from pkdb_tui.engine.debuggee.sources import read_source

Json = dict[str, Any]
PACKAGE = "pkdb_tui.minikokkos"
ADDITION = f'\n#line 1 "pk_glue.cpp"{lost_debugger.TEXT}'


class MinikokkosAdapter(Adapter):
    name = "minikokkos"
    views = "minikokkos"
    marks: Mapping[str, Sequence[str]] = {}  # what the scanner looks for, where it differs

    def __init__(self) -> None:
        self._hook: Callable[[Adapter, Any], Any] | None = None
        self._spans: Callable[..., Any] | None = None

    def spans(self, file: str, source: str) -> list[Json]:
        if "pykokkos" not in source and "minikokkos" not in source:
            return []
        if self._spans is None:
            self._spans = self._load_spans()
        return [
            {"name": span.name, "firstLine": span.first_line, "lastLine": span.last_line, "lines": list(span.lines)}
            for span in self._spans(source, file, **self.marks)
        ]

    def spans_of_file(self, file: str) -> list[Json]:
        """Spans of a file on disk; none where it can't be read."""
        try:
            return self.spans(file, read_source(file))
        except (OSError, SyntaxError, ValueError, RecursionError):
            return []

    @staticmethod
    def _load_spans() -> Callable[..., Any]:
        """The scanner alone: importing its package would import numpy into a program that may not use it."""
        folder = os.path.join(os.path.dirname(sys.modules["pkdb_tui"].__file__ or ""), "minikokkos")
        spec = importlib.util.spec_from_file_location("_pkdb_minikokkos_spans", os.path.join(folder, "spans.py"))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        scanner: Callable[..., Any] = module.kernel_spans
        return scanner

    def install(self, hook: Callable[[Adapter, Any], Any]) -> None:
        self._hook = hook
        after_import(f"{PACKAGE}.debug", self._set)

    def _set(self, module: ModuleType) -> None:
        hook = self._hook
        module.hook = (lambda launch: hook(self, launch)) if hook is not None else None  # type: ignore[attr-defined]
        module.addition = ADDITION if hook is not None else ""  # type: ignore[attr-defined]

    def uninstall(self) -> None:
        self._hook = None
        loaded = sys.modules.get(f"{PACKAGE}.debug")
        if loaded is not None:
            self._set(loaded)

    @property
    def epoch(self) -> object:
        debug = sys.modules.get(f"{PACKAGE}.debug")
        return getattr(debug, "epoch", None)

    def look_again(self) -> None:
        debug = sys.modules.get(f"{PACKAGE}.debug")
        if debug is not None:
            debug.epoch = object()  # type: ignore[attr-defined]

    def running(self) -> Mapping[int, Any]:
        debug = sys.modules.get(f"{PACKAGE}.debug")
        return dict(getattr(debug, "running", {}))

    def launch_of(self, mark: Any) -> tuple[Any, Any]:
        found: tuple[Any, Any] = sys.modules[f"{PACKAGE}.launch"].running(*mark)
        return found

    def attend(self, mark: Any, over: Callable[[], None] | None) -> None:
        debug: Any = sys.modules[f"{PACKAGE}.debug"]
        debug.over, debug.attended = over, mark

    def end_early(self) -> None:
        debug: Any = sys.modules.get(f"{PACKAGE}.debug")
        mark = None if debug is None else debug.running.pop(_thread.get_ident(), None)
        if mark is not None and debug.attended is mark:
            debug.over()

    def condition(self, number: int, file: str, line: int, expression: str) -> Any:
        return sys.modules[f"{PACKAGE}.debug"].Condition(number, file, line, expression)

    def is_build_error(self, error: BaseException) -> bool:
        kinds = type(error).__mro__
        return any(kind.__module__.startswith(PACKAGE) and kind.__name__ == "CompileError" for kind in kinds)

    def compile_edited(self, make: Callable[[Any], Any], *, bounds: bool) -> int:
        if f"{PACKAGE}.launch" not in sys.modules:
            return 0
        trial: Any = importlib.import_module(f"{PACKAGE}.trial")
        return int(trial.compile_instead(make, bounds=bounds))

    def build_problem(self, error: BaseException) -> Json:
        found: Any = error
        return {"line": found.line, "column": found.column, "message": found.message}

    def stride_note(self) -> str:
        return "the embedded runtime follows the stride"
