"""Which `pykokkos` an import finds: the one installed, or the embedded runtime under its name."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any, cast

from pkdb_tui.engine.debuggee.frameworks.after_import import after_import

NAME = "pykokkos"
EMBEDDED = "pkdb_tui.minikokkos"
SPAWN = "multiprocessing.spawn"


class _Alias:
    """Finds `pykokkos` (and its submodules) as the embedded runtime's own modules."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != NAME and not name.startswith(NAME + "."):
            return None
        real = EMBEDDED + name[len(NAME) :]
        found = importlib.util.find_spec(real)
        if found is None:
            return None
        return importlib.machinery.ModuleSpec(name, cast(Any, self), origin=found.origin)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(EMBEDDED + spec.name[len(NAME) :])
        self._kept = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._kept


def install(wanted: str) -> None:
    """Make the embedded runtime importable as `pykokkos`: instead of an installed one, or where there is none."""
    if wanted == "embedded":
        sys.meta_path.insert(0, _Alias())
    elif wanted == "auto":
        sys.meta_path.append(_Alias())
    else:
        return
    after_import(SPAWN, lambda module: _for_children(module, first=wanted == "embedded"))


def _for_children(spawn: Any, *, first: bool) -> None:
    """Let the processes that `multiprocessing` starts anew find it too, by their `sys.path`; the program's stays."""
    root = os.path.dirname(sys.modules["pkdb_tui"].__file__ or "")
    folder = os.path.join(root, "minikokkos", "children")
    stock = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        data: dict[str, Any] = stock(name)
        path = data.get("sys_path", [])
        data["sys_path"] = [folder, *path] if first else [*path, folder]
        return data

    spawn.get_preparation_data = get_preparation_data


def describe() -> tuple[str, str]:
    """(installed, embedded or none; where it would come from), without importing it."""
    try:
        spec = importlib.util.find_spec(NAME)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return "none", ""
    if isinstance(spec.loader, _Alias):
        return "embedded", "pykokkos is not installed" if sys.meta_path[0] is not spec.loader else "asked for"
    return "installed", spec.origin or ""
