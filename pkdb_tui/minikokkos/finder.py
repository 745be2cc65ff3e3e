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
    """Finds `pykokkos` and its submodules as this package's own modules, never as copies of them."""

    def __init__(self) -> None:
        self._specs: dict[str, Any] = {}

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if not f"{name}.".startswith(f"{NAME}."):
            return None
        found = importlib.util.find_spec(EMBEDDED + name.removeprefix(NAME))
        return importlib.machinery.ModuleSpec(name, self, origin=found.origin) if found is not None else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(EMBEDDED + spec.name.removeprefix(NAME))
        self._specs[module.__name__] = module.__spec__
        if spec.name == NAME:
            # The path finder, asked first, would load the package's files a second time under the other name.
            sys.meta_path.insert(0, self)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to run; the module keeps its own specification."""
        module.__spec__ = self._specs.pop(module.__name__)


def install(force: bool = False) -> None:
    """Serve `pykokkos` where nothing else does; with `force` before anything else does. Installing twice is once."""
    for finder in [finder for finder in sys.meta_path if isinstance(finder, Finder)]:
        sys.meta_path.remove(finder)
    if force:
        sys.meta_path.insert(0, Finder())
    else:
        sys.meta_path.append(Finder())
