"""Runs a callback once a module has been imported by the program, without importing it."""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class AfterImport:
    """Wraps the loader of one module, found where it would be found anyway."""

    def __init__(self, name: str, then: Callable[[ModuleType], None]) -> None:
        self._name = name
        self._then = then

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            self._then(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def after_import(name: str, then: Callable[[ModuleType], None]) -> None:
    """Call `then(module)` now when `name` is imported already, else right after its import."""
    loaded = sys.modules.get(name)
    if loaded is not None:
        then(loaded)
    else:
        sys.meta_path.insert(0, AfterImport(name, then))
