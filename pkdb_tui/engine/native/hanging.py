"""Whether a debugger that owes an answer still does anything."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pkdb_tui.engine.native.proc import computing_of

BEAT = 0.25  # seconds between two looks at it
HANGING = 3.0  # seconds without a word and without computing after which it counts as hung


class HangWatch:
    """Calls `on_hang(seconds)` once, and `give_up(seconds)` as soon as somebody is in a hurry to go on without it."""

    def __init__(self, on_hang: Callable[[float], None], give_up: Callable[[float], None]) -> None:
        self._on_hang = on_hang
        self._give_up = give_up
        self._pid = 0
        self._words = 0
        self._signs = (-1, -1)
        self._beats = 0
        self._timer: asyncio.TimerHandle | None = None
        self._hurried = False
        self.hanging = False

    def asked(self, pid: int) -> None:
        self._pid = pid
        if self._timer is None:
            self._signs, self._beats = (-1, -1), 0
            self._again()

    def heard(self) -> None:
        self._words += 1

    def answered(self) -> None:
        """Nothing is owed any more."""
        self.hanging = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def hurry(self, wanted: bool) -> None:
        """Somebody waits to get past it, or does no longer."""
        self._hurried = wanted
        if self._hurried and self.hanging:
            self._give_up(HANGING)

    def _again(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(BEAT, self._beat)

    def _beat(self) -> None:
        signs = self._words, computing_of(self._pid)
        # Beats are counted, not seconds: a loop that was kept busy has heard nothing either.
        self._beats = self._beats + 1 if signs == self._signs else 0
        self._signs = signs
        was, self.hanging = self.hanging, self._beats * BEAT >= HANGING
        self._again()
        if self.hanging and self._hurried:
            self._give_up(HANGING)
        elif self.hanging and not was:
            self._on_hang(HANGING)
