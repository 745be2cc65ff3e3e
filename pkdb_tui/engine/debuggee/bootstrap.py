"""Puts the parts together in the program's process, then runs the program."""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import sys
from typing import Any

from pkdb_tui.engine.debuggee import wire
from pkdb_tui.engine.debuggee.console import Console
from pkdb_tui.engine.debuggee.debugger import Debugger
from pkdb_tui.engine.debuggee.dispatch import Dispatch
from pkdb_tui.engine.debuggee.frameworks.base import Adapter
from pkdb_tui.engine.debuggee.frameworks.minikokkos import MinikokkosAdapter
from pkdb_tui.engine.debuggee.runner import run
from pkdb_tui.engine.debuggee.runtimes import describe, install

Json = dict[str, Any]
PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """A second line of defence against being left behind; only Linux has it."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _adapter(connection: wire.Connection) -> Adapter:
    """For the pykokkos that an import will find: the one installed, or the embedded runtime."""
    if describe()[0] != "installed":
        return MinikokkosAdapter()
    from pkdb_tui.engine.debuggee.frameworks.pykokkos import PyKokkosAdapter

    return PyKokkosAdapter(lambda text: connection.event("notice", {"text": text, "severity": "warning"}))


def begin(config: Json) -> None:
    """Connect, install the hooks, run the program; leaves as the program does."""
    _die_with_parent()
    connection = wire.Connection(wire.move_high(int(config["fd"])))
    install(str(config.get("runtime") or "auto"))
    dispatch = Dispatch(connection, [_adapter(connection)])
    debugger = Debugger(connection, dispatch.spans, Console(int(config.get("console", -1))))
    dispatch.debugger = debugger
    debugger.dispatch = dispatch
    dispatch.install()
    # Registered first, so it runs last: the program's own exit handlers can still be debugged.
    atexit.register(debugger.backend.stop)
    os.register_at_fork(
        before=debugger.before_fork, after_in_parent=debugger.after_fork, after_in_child=debugger.in_child
    )
    if "PYTHONBREAKPOINT" not in os.environ:
        sys.breakpointhook = debugger.breakpoint_called
    debugger.start()
    ready = {
        "pid": os.getpid(),
        "python": sys.version.split()[0],
        "backend": debugger.backend.name,
        "sign": dispatch.sign.address,
    }
    run(debugger, config, ready)
