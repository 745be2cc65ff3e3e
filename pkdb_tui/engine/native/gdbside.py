"""Runs inside gdb: the commands `-pkdb-NAME "JSON"`, which answer `^done,json="JSON"`.

Python's standard library, gdb's module and the other rooms called `gdbside_*` only: this is gdb's own Python.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import gdb

# Behind gdb's own: only this package is wanted from there.
sys.path.append(os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3)))

from pkdb_tui.engine.native import gdbside_breakpoints as breakpoints
from pkdb_tui.engine.native import gdbside_commands as commands
from pkdb_tui.engine.native import gdbside_frames as frames
from pkdb_tui.engine.native import gdbside_looking as looking
from pkdb_tui.engine.native import gdbside_places as places
from pkdb_tui.engine.native import gdbside_symbols as symbols
from pkdb_tui.engine.native import gdbside_threads as threads


def load(argument: Any) -> Any:
    if argument.get("thread"):
        frames.select(argument["thread"])
    answer = symbols.load(argument)
    places.forget_team()
    return answer


COMMANDS: dict[str, Callable[[Any], Any]] = {
    "load": load,
    "entry": symbols.entry,
    "symbol": symbols.symbol,
    "where": symbols.where,
    "functions": symbols.functions,
    "insert": breakpoints.insert,
    "rule": places.rule,
    "hits": places.hits,
    "watch": breakpoints.watch,
    "renew": breakpoints.renew,
    "remove": breakpoints.remove,
    "enable": breakpoints.enable,
    "beyond": breakpoints.beyond,
    "outward": breakpoints.outward,
    "threads": threads.threads,
    "place": threads.place,
    "fault": threads.fault,
    "unwindable": threads.unwindable,
    "view": looking.view,
    "variables": looking.variables,
    "variables-of-threads": looking.variables_of_threads,
    "read": looking.read,
    "write": looking.write,
}

commands.go_with_parent()
gdb.events.stop.connect(threads.on_stop)
for name, function in COMMANDS.items():
    commands.Command(name, function)
