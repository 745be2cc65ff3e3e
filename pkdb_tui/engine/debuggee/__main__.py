"""Starts a program under the debugger, inside the program's own interpreter.

`PYTHON <root>/pkdb_tui/engine/debuggee/__main__.py` with a JSON object in the environment variable PKDB_DEBUGGEE, which
is removed from the environment at once:

| key     | meaning                                                                                         |
|---------|-------------------------------------------------------------------------------------------------|
| fd      | the inherited end of the socketpair                                                             |
| console | the inherited end of a pipe to which evaluated code writes; -1 or absent: where the program does     |
| script  | path of the script, `-` for standard input; or empty                                            |
| module  | name of the module to run as with -m; or empty                                                  |
| args    | the program's arguments                                                                         |
| runtime | auto, embedded or installed: which `pykokkos` an import finds                                   |
| root    | the directory that contains the `pkdb_tui` package; it doesn't get into the program's sys.path  |

The interpreter need not have pkdb_tui installed. The process should lead its own process group: when the engine is gone
the whole group is killed.
"""

from __future__ import annotations

import json
import os
import sys


def _load_package(root: str) -> None:
    """Make `pkdb_tui` importable from `root` without putting that into sys.path."""
    import importlib.util

    folder = os.path.join(root, "pkdb_tui")
    spec = importlib.util.spec_from_file_location(
        "pkdb_tui", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["pkdb_tui"] = module
    spec.loader.exec_module(module)


def main() -> None:
    config = json.loads(os.environ.pop("PKDB_DEBUGGEE"))
    here = os.path.dirname(os.path.realpath(__file__))
    if sys.path and os.path.realpath(sys.path[0]) == here:
        del sys.path[0]
    _load_package(config["root"])
    from pkdb_tui.engine.debuggee import library

    library.load("pkdb_tui.engine.debuggee.bootstrap").begin(config)


if __name__ == "__main__":
    main()
