"""The launch log: each kernel at each line that launches it, with counts, times and warnings."""

from __future__ import annotations

import os
import time
from typing import ClassVar, NamedTuple

from rich.style import Style
from textual.binding import BindingType

from pkdb_tui import keys
from pkdb_tui.engine import formatting
from pkdb_tui.engine.api import Argument, LaunchRecord
from pkdb_tui.panes.base import Pane, Row
from pkdb_tui.panes.breakpoints import Jump
from pkdb_tui.panes.fitting import fitted, longest, wrapped
from pkdb_tui.panes.palette import Palette
from pkdb_tui.panes.variables import texts_of

TICK = 1.0  # seconds between new times of a running launch
TIMES = 46  # columns of the count, the last time and the total


def _place(launch: LaunchRecord) -> str:
    return f"{os.path.basename(launch.file)}:{launch.line}"


def _value(given: Argument) -> str:
    return formatting.layout(given.text, given.strides) if given.shape else texts_of(given)[0]


def _identity(launch: LaunchRecord) -> tuple[str, ...]:
    return launch.title, launch.file, str(launch.line), launch.space


class Line(NamedTuple):
    """A row of the pane: a launch's own, which is drawn anew as time goes on, or a fixed one below it.

    A launch and its warnings are one for the cursor; what it was given can be longer than the pane.
    """

    launch: int
    below: Row | None = None
    alone: bool = False


class LaunchesPane(Pane):
    name_of_pane = "launches"
    BINDINGS: ClassVar[list[BindingType]] = keys.pane_bindings("launches")
    help_text = (
        "Each kernel at each line that launches it. Enter shows that line.\n"
        "Space shows policy, build and arguments of its latest launch, or hides them; strides are in bytes."
    )

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self._launches: tuple[LaunchRecord, ...] = ()
        self._open: set[tuple[str, ...]] = set()
        self._rows: list[Line] = []
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
        """(how often, the launch under way included, the last time or the running one, the total)."""
        count = f"{formatting.thousands(launch.count + (launch.running_since is not None))}×"
        if launch.stopped:
            last = "stopped"
        elif launch.running_since is not None:
            last = f"running {formatting.duration(max(self._now() - launch.running_since, 0.0))}"
        else:
            last = f"last {formatting.duration(launch.last_seconds)}"
        return count, last, f"total {formatting.duration(launch.total_seconds)}" if launch.count else ""

    def show(self, launches: tuple[LaunchRecord, ...]) -> None:
        self._launches = launches
        self._build()

    def on_resize(self) -> None:
        self._build()

    def _build(self) -> None:
        width = self.scrollable_content_region.width
        self._rows = []
        for number, launch in enumerate(self._launches):
            self._rows += [Line(number), *(Line(number, row) for row in self._warnings(launch, width))]
            if _identity(launch) in self._open:
                self._rows += [Line(number, row, alone=True) for row in self._details(launch)]
        self.rows_changed()

    def _warnings(self, launch: LaunchRecord, width: int) -> list[Row]:
        rows = [row for text in launch.warnings for row in wrapped(text, max(width - 6, 20))]
        return [[(f"     {row}", self.palette.changed)] for row in rows]

    def _details(self, launch: LaunchRecord) -> list[Row]:
        palette = self.palette
        space = "" if launch.space in launch.policy else f"in {launch.space}"
        head = " ".join(text for text in (launch.pattern, launch.policy, space, f"{launch.build} build") if text)
        names = longest([a.name for a in launch.arguments], 24)
        types = longest([a.type for a in launch.arguments], 28)
        rows: list[Row] = [[(f"     {head}", palette.dim)]]
        for given in launch.arguments:
            name, kind = (
                (f"     {fitted(given.name, names)}  ", palette.name),
                (f"{fitted(given.type, types)}  ", palette.dim),
            )
            rows.append([name, kind, (_value(given), palette.text)])
        if not launch.arguments:
            rows.append([("     no arguments", palette.dim)])
        return rows

    def row_count(self) -> int:
        return len(self._rows) or 1

    def item(self, index: int) -> object:
        if not self._rows:
            return 0
        return index if self._rows[index].alone else ("launch", self._rows[index].launch)

    def row(self, index: int, width: int) -> Row:
        palette = self.palette
        if not self._rows:
            return [(" no kernel has been launched yet", palette.dim)]
        line = self._rows[index]
        if line.below is not None:
            return line.below
        launch = self._launches[line.launch]
        count, last, total = self._times(launch)
        running = launch.running_since is not None
        mark = "▾" if _identity(launch) in self._open else "▸"
        return [
            (mark, palette.dim),
            *((f"{fitted(text, size)}  ", style) for text, size, style in self._columns(launch, width)),
            (f"{count:>8}  ", palette.text),
            (f"{last:<18}  ", palette.here if running else palette.text),
            (total, palette.dim),
        ]

    def _columns(self, launch: LaunchRecord, width: int) -> list[tuple[str, int, Style]]:
        """(text, columns, style) of what names a launch; where room is short the policy gives way, then the build."""
        palette = self.palette
        names = longest([row.title for row in self._launches], 28)
        places = longest([_place(row) for row in self._launches], 28)
        policies = longest([row.policy for row in self._launches], 48)
        room = width - names - places - TIMES - 6
        columns = [(launch.title, names, palette.kernel), (_place(launch), places, palette.text)]
        if room >= 10:
            columns.append((launch.build, 7, palette.dim))
        if room - 9 >= 14:
            columns.insert(2, (launch.policy, min(policies, room - 11), palette.text))
        return columns

    def chosen(self, index: int) -> None:
        if self._rows:
            launch = self._launches[self._rows[index].launch]
            self.post_message(Jump(launch.file, launch.line))

    def action_arguments(self) -> None:
        if not self._rows:
            return
        number = self._rows[self.cursor_row].launch
        self._open ^= {_identity(self._launches[number])}
        self.cursor_row = next(row for row, line in enumerate(self._rows) if line.launch == number)
        self._build()
        self.show_row(max(row for row, line in enumerate(self._rows) if line.launch == number))
        self.show_row(self.cursor_row)  # the launch itself, where there isn't room for all of it
