"""The launch log: each kernel at each line that launches it, with counts, times and warnings."""

from __future__ import annotations

import os

from pkdb_tui.engine import formatting
from pkdb_tui.engine.api import LaunchRecord
from pkdb_tui.panes.base import Pane, Row
from pkdb_tui.panes.breakpoints import Jump
from pkdb_tui.panes.palette import Palette


class LaunchesPane(Pane):
    name_of_pane = "launches"
    help_text = "Each kernel at each line that launches it. Enter shows that line."

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self._launches: tuple[LaunchRecord, ...] = ()
        self._rows: list[tuple[LaunchRecord, str]] = []

    @property
    def badge(self) -> str:
        return str(len(self._launches)) if self._launches else ""

    def show(self, launches: tuple[LaunchRecord, ...]) -> None:
        self._launches = launches
        self._rows = [(launch, text) for launch in launches for text in ("", *launch.warnings)]
        self.rows_changed()

    def row_count(self) -> int:
        return len(self._rows) or 1

    def row(self, index: int, width: int) -> Row:
        palette = self.palette
        if not self._rows:
            return [(" no kernel launch has finished yet", palette.dim)]
        launch, warning = self._rows[index]
        if warning:
            return [(f"     {warning}", palette.changed)]
        return [
            (f" {launch.kernel:<16} ", palette.kernel),
            (f"{os.path.basename(launch.file)}:{launch.line:<6} ", palette.text),
            (f"{launch.policy:<32} ", palette.text),
            (f"{launch.build:<8} ", palette.dim),
            (f"{formatting.thousands(launch.count):>9}× ", palette.text),
            (f"last {formatting.duration(launch.last_seconds):>9}  ", palette.text),
            (f"total {formatting.duration(launch.total_seconds):>9}", palette.dim),
        ]

    def chosen(self, index: int) -> None:
        if self._rows:
            launch = self._rows[index][0]
            self.post_message(Jump(launch.file, launch.line))
