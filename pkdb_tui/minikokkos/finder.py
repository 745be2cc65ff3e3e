"""Lets `import pykokkos` find this package where no PyKokkos is installed."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any

NAME = "pykokkos"
EMBEDDED = "pkdb_tui.minikokkos"


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `pykokkos` and its submodules as this package's own modules."""

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != NAME and not name.startswith(f"{NAME}."):
            return None
        found = importlib.util.find_spec(EMBEDDED + name.removeprefix(NAME))
        if found is None:
            return None
        return importlib.machinery.ModuleSpec(name, self, origin=found.origin)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(EMBEDDED + spec.name.removeprefix(NAME))
        self._kept[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to run; the module keeps the name it was made under."""
        for name in [NAME + module.__name__.removeprefix(EMBEDDED)]:
            module.__spec__ = self._kept.pop(name, module.__spec__)


def install(force: bool = False) -> None:
    """Serve `pykokkos` where nothing else does; with `force` before anything else does. Installing twice is once."""
    for finder in [finder for finder in sys.meta_path if isinstance(finder, Finder)]:
        sys.meta_path.remove(finder)
    if force:
        sys.meta_path.insert(0, Finder())
    else:
        sys.meta_path.append(Finder())
