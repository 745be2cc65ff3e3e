"""What `import pykokkos` finds in a process that the program started: the embedded runtime, as in the program itself.

This folder is given to such processes as the last of their `sys.path`, or as the first where an installed PyKokkos is
not wanted. Their interpreter need not have pkdb-tui.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys


def _load_package() -> None:
    """Make `pkdb_tui` importable from where this file is, without putting that into sys.path."""
    if importlib.util.find_spec("pkdb_tui") is not None:
        return
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    spec = importlib.util.spec_from_file_location(
        "pkdb_tui", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["pkdb_tui"] = module
    spec.loader.exec_module(module)


_load_package()
del sys.modules[__name__]  # the import under way gives what stands there at its end
importlib.import_module("pkdb_tui.minikokkos.finder").install(force=True)
importlib.import_module("pykokkos")
