"""Runs inside gdb: MI commands that take one JSON argument and answer JSON, and the end with whoever started gdb."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from typing import Any

import gdb

PR_SET_PDEATHSIG = 1


def go_with_parent() -> None:
    """Be killed by the system when whoever started gdb is; the end of its input is noticed only by a gdb that reads."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    except (ImportError, OSError, AttributeError):
        return  # a gdb with a smaller Python goes at the end of its input


class Command(gdb.MICommand):  # type: ignore[misc]
    """An MI command that takes one JSON argument and answers JSON."""

    def __init__(self, name: str, function: Callable[[Any], Any]) -> None:
        super().__init__("-pkdb-" + name)
        self._function = function

    def invoke(self, argv: list[str]) -> dict[str, str]:
        argument = json.loads(argv[0]) if argv else None
        return {"json": json.dumps(self._function(argument), ensure_ascii=True)}
