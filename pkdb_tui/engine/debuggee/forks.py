"""Keeps the interpreter from blaming the program for the debugger's own thread when it forks."""

from __future__ import annotations

import time
import warnings
from typing import Any

MESSAGE = r"This process \(pid=\d+\) is multi-threaded"
MOMENT = 0.05  # longer than a fork's way back into Python code


class _Nothing(Warning):
    """A category nobody warns in."""


class ForkWarningFilter:
    """Hides the warning about a fork with threads, for the fork that is under way."""

    def __init__(self) -> None:
        before: list[Any] = list(warnings.filters)
        warnings.filterwarnings("ignore", message=MESSAGE, category=DeprecationWarning)
        self._added = [entry for entry in warnings.filters if entry not in before]

    def remove_soon(self) -> None:
        """On a thread of its own: put the filters back as they were."""
        time.sleep(MOMENT)
        filters: Any = warnings.filters
        for entry in self._added:
            if entry in filters:
                filters.remove(entry)
        # Adding and dropping an entry makes the interpreter notice the change.
        warnings.simplefilter("ignore", category=_Nothing)
        filters[:] = [entry for entry in filters if entry[2] is not _Nothing]
