"""All breakpoints as a table: state, place, condition, hits, and why one can't bind."""

from __future__ import annotations

import os
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from textual.binding import BindingType
from textual.message import Message

from pkdb_tui import keys
from pkdb_tui.engine.api import Breakpoint, BreakpointState
from pkdb_tui.panes.base import Pane, Row, RunCommand
from pkdb_tui.panes.fitting import fitted, longest, wrapped
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
        self._rows: list[tuple[int, Row]] = []

    @property
    def badge(self) -> str:
        return str(len(self._breakpoints)) if self._breakpoints else ""

    def show(self, breakpoints: tuple[Breakpoint, ...]) -> None:
        self._breakpoints = breakpoints
        self._rows = self._built(self.scrollable_content_region.width)
        self.rows_changed()

    def on_resize(self) -> None:
        self.show(self._breakpoints)

    def row_count(self) -> int:
        return len(self._rows) or 1

    def row(self, index: int, width: int) -> Row:
        if not self._rows:
            return [(" no breakpoints; b sets one at the cursor line of the source", self.palette.dim)]
        return self._rows[index][1]

    def item(self, index: int) -> object:
        return self._rows[index][0] if self._rows else 0

    def _built(self, width: int) -> list[tuple[int, Row]]:
        """(index of the breakpoint, row): what doesn't fit beside a breakpoint stands whole in rows below it."""
        states = longest([b.state.value for b in self._breakpoints], 12)
        places = longest([_place(b) for b in self._breakpoints], 28)
        kernels = longest([b.kernel for b in self._breakpoints], max(12, width // 4))
        hits = longest([_hits(b) for b in self._breakpoints], 12)
        rows: list[tuple[int, Row]] = []
        for index, b in enumerate(self._breakpoints):
            row: Row = [
                (f" {b.id:>3} ", self.palette.text),
                (f"{MARKS[b.state]} ", self._style(b)),
                (f"{fitted(b.state.value, states)}  ", self.palette.dim),
                (f"{fitted(_place(b), places)}  ", self.palette.text),
            ]
            if kernels:
                row.append((f"{fitted(b.kernel, kernels)}  ", self.palette.kernel))
            if hits:
                row.append((f"{fitted(_hits(b), hits)}  ", self.palette.text))
            details = _details(b)
            room = width - sum(cell_len(text) for text, _ in row)
            if sum(cell_len(text) for text in details) + 2 * len(details) <= room:
                rows.append((index, [*row, ("  ".join(details), self.palette.text)]))
                continue
            rows.append((index, row))
            below = [part for detail in details for part in wrapped(detail, max(width - 9, 20))]
            rows += [(index, [(" " * 8 + part, self.palette.text)]) for part in below]
        return rows

    def _style(self, b: Breakpoint) -> Style:
        return {BreakpointState.UNBOUND: self.palette.fault, BreakpointState.DISABLED: self.palette.dim}.get(
            b.state, self.palette.changed
        )

    def _current(self) -> Breakpoint | None:
        return self._breakpoints[self._rows[self.cursor_row][0]] if self.cursor_row < len(self._rows) else None

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


def _place(b: Breakpoint) -> str:
    if b.spec.watch:
        return f"watch {b.spec.watch}"
    return f"{os.path.basename(b.file)}:{b.line}" if b.line else b.spec.function


def _hits(b: Breakpoint) -> str:
    return f"hit {b.hits}" if b.hits else ""


def _details(b: Breakpoint) -> list[str]:
    ignore = f"next {b.ignoring}" if b.ignoring else ""
    asked = [("if", b.spec.condition), ("thread", b.spec.threads), ("ignore", ignore), ("log", b.spec.log)]
    found = [*asked, ("", b.reason)]
    return [f"{word} {text}".strip() for word, text in found if text]
