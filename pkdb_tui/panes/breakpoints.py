"""All breakpoints as a table: state, place, condition, hits, and why one can't bind."""

from __future__ import annotations

import os
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from pkdb_tui import keys
from pkdb_tui.engine.api import Breakpoint, BreakpointState
from pkdb_tui.panes.base import Pane, Row, RunCommand
from pkdb_tui.panes.palette import Palette
from pkdb_tui.panes.source import MARKS


class Jump(Message):
    """Show a place in the source pane."""

    def __init__(self, file: str, line: int) -> None:
        super().__init__()
        self.file = file
        self.line = line


class Prompt(Message):
    """Put a command's beginning on the console's input line."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class BreakpointsPane(Pane):
    name_of_pane = "breakpoints"
    BINDINGS: ClassVar[list[BindingType]] = keys.pane_bindings("breakpoints")
    help_text = "○ pending   ● bound   × cannot bind   ◌ disabled. Enter shows the line."

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self._breakpoints: tuple[Breakpoint, ...] = ()

    @property
    def badge(self) -> str:
        return str(len(self._breakpoints)) if self._breakpoints else ""

    def show(self, breakpoints: tuple[Breakpoint, ...]) -> None:
        self._breakpoints = breakpoints
        self.rows_changed()

    def row_count(self) -> int:
        return len(self._breakpoints) or 1

    def row(self, index: int, width: int) -> Row:
        palette = self.palette
        if not self._breakpoints:
            return [(" no breakpoints; b sets one at the cursor line of the source", palette.dim)]
        b = self._breakpoints[index]
        style = {BreakpointState.UNBOUND: palette.fault, BreakpointState.DISABLED: palette.dim}.get(
            b.state, palette.changed
        )
        place = (
            f"watch {b.spec.watch}"
            if b.spec.watch
            else f"{os.path.basename(b.file)}:{b.line}"
            if b.line
            else b.spec.function
        )
        row: Row = [
            (f" {b.id:>3} ", palette.text),
            (f"{MARKS[b.state]} ", style),
            (f"{b.state.value:<12} ", palette.dim),
            (f"{place:<24} ", palette.text),
            (f"{b.kernel:<12} " if b.kernel else " " * 13, palette.kernel),
            (f"{'hit ' + str(b.hits) if b.hits else '':<9} ", palette.text),
        ]
        details = [("if", b.spec.condition), ("thread", b.spec.threads), ("log", b.spec.log), ("", b.reason)]
        row += [
            (f"{word} {text}  " if word else text, palette.dim if not word else palette.text)
            for word, text in details
            if text
        ]
        return row

    def _current(self) -> Breakpoint | None:
        return self._breakpoints[self.cursor_row] if self.cursor_row < len(self._breakpoints) else None

    def chosen(self, index: int) -> None:
        b = self._current()
        if b is not None and b.line:
            self.post_message(Jump(b.file, b.line))

    def action_enable(self) -> None:
        b = self._current()
        if b is not None:
            self.post_message(RunCommand(f"{'disable' if b.enabled else 'enable'} {b.id}"))

    def action_delete(self) -> None:
        b = self._current()
        if b is not None:
            self.post_message(RunCommand(f"delete {b.id}"))

    def action_edit(self) -> None:
        b = self._current()
        if b is not None:
            self.post_message(Prompt(f"condition {b.id} {b.spec.condition}"))
