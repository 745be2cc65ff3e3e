"""The launch log: each kernel at each line that launches it, with counts, times and warnings."""

from __future__ import annotations

import os
import time

from rich.style import Style

from pkdb_tui.engine import formatting
from pkdb_tui.engine.api import LaunchRecord
from pkdb_tui.panes.base import Pane, Row
from pkdb_tui.panes.breakpoints import Jump
from pkdb_tui.panes.fitting import fitted, longest
from pkdb_tui.panes.palette import Palette

TICK = 1.0  # seconds between new times of a running launch
TIMES = 46  # columns of the count, the last time and the total


def _name(launch: LaunchRecord) -> str:
    return f"{launch.kernel} for {launch.stands_for}" if launch.stands_for else launch.kernel


def _place(launch: LaunchRecord) -> str:
    return f"{os.path.basename(launch.file)}:{launch.line}"


class LaunchesPane(Pane):
    name_of_pane = "launches"
    help_text = "Each kernel at each line that launches it. Enter shows that line."

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self._launches: tuple[LaunchRecord, ...] = ()
        self._rows: list[tuple[LaunchRecord, str]] = []
        self._items: list[int] = []  # the launch that each row is about
        self._now = time.monotonic

    def on_mount(self) -> None:
        self.set_interval(TICK, self._tick)

    def _tick(self) -> None:
        """A running launch's time goes on."""
        if any(launch.running_since is not None for launch in self._launches):
            self.refresh_rows()

    @property
    def badge(self) -> str:
        return str(len(self._launches)) if self._launches else ""

    def _times(self, launch: LaunchRecord) -> tuple[str, str, str]:
        """(how often, the last time or the running one, the total)."""
        count = f"{formatting.thousands(launch.count)}×"
        if launch.running_since is not None:
            last = f"running {formatting.duration(max(self._now() - launch.running_since, 0.0))}"
        else:
            last = f"last {formatting.duration(launch.last_seconds)}"
        return count, last, f"total {formatting.duration(launch.total_seconds)}" if launch.count else ""

    def show(self, launches: tuple[LaunchRecord, ...]) -> None:
        self._launches = launches
        self._rows = [(launch, text) for launch in launches for text in ("", *launch.warnings)]
        self._items = [number for number, launch in enumerate(launches) for _ in ("", *launch.warnings)]
        self.rows_changed()

    def row_count(self) -> int:
        return len(self._rows) or 1

    def item(self, index: int) -> object:
        return self._items[index] if self._rows else 0

    def row(self, index: int, width: int) -> Row:
        palette = self.palette
        if not self._rows:
            return [(" no kernel has been launched yet", palette.dim)]
        launch, warning = self._rows[index]
        if warning:
            return [(f"     {warning}", palette.changed)]
        count, last, total = self._times(launch)
        running = launch.running_since is not None
        return [
            *((f" {fitted(text, size)} ", style) for text, size, style in self._columns(launch, width)),
            (f"{count:>9}  ", palette.text),
            (f"{last:<18}  ", palette.here if running else palette.text),
            (total, palette.dim),
        ]

    def _columns(self, launch: LaunchRecord, width: int) -> list[tuple[str, int, Style]]:
        """(text, columns, style) of what names a launch; where room is short the policy gives way, then the build."""
        palette = self.palette
        names = longest([_name(row) for row in self._launches], 28)
        places = longest([_place(row) for row in self._launches], 28)
        policies = longest([row.policy for row in self._launches], 48)
        room = width - names - places - TIMES - 6
        columns = [(_name(launch), names, palette.kernel), (_place(launch), places, palette.text)]
        if room >= 10:
            columns.append((launch.build, 7, palette.dim))
        if room - 9 >= 14:
            columns.insert(2, (launch.policy, min(policies, room - 11), palette.text))
        return columns

    def chosen(self, index: int) -> None:
        if self._rows:
            launch = self._rows[index][0]
            self.post_message(Jump(launch.file, launch.line))
