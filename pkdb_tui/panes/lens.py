"""The elements of a plane as a table that is fetched as one moves over it, or as a picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from pkdb_tui import keys
from pkdb_tui.engine import formatting
from pkdb_tui.panes.bars import NOT_FINITE, bar, level
from pkdb_tui.panes.guard import Guarded, errors_shown
from pkdb_tui.panes.palette import Palette

LEAST = 8  # columns of most floats of six digits
NARROWEST = 2  # columns that an element takes at least, to know how many there may be on screen
EIGHTHS = "▁▂▃▄▅▆▇█"
WAITING = "·"


class Moved(Message):
    """The cursor stands on another element, or other ones are on screen."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Moved)


class LensTable(Guarded, Widget, can_focus=True):
    """Rows and columns of elements with a cursor; what it needs of them it is given by `fill`."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.pane_bindings("any"), *keys.pane_bindings("table")]
    DEFAULT_CSS = "LensTable { width: 1fr; height: 1fr; }"

    def __init__(self, palette: Palette, rows: int, columns: int, name_row: Callable[[int], str]) -> None:
        super().__init__()
        self._palette = palette
        self.rows, self.columns = rows, columns
        self._name_row = name_row
        self.row = self.column = self.top = self.left = 0
        self._texts: Mapping[tuple[int, int], str] = {}
        self._marked: frozenset[tuple[int, int]] = frozenset()
        self._cell = LEAST
        self._picture: Sequence[str] = ()

    # --- what is shown ---

    @property
    def wanted(self) -> tuple[int, int, int, int]:
        """(top, left, height, width) of what may be on screen."""
        return self.top, self.left, max(self.size.height - 1, 1), max(self._room() // NARROWEST, 1)

    def fill(self, top: int, left: int, values: Sequence[Sequence[Any]], marked: frozenset[tuple[int, int]]) -> None:
        """Elements from a row and column on, a shorter last row where there are no more; `marked` stand out."""
        flat = [value for row in values for value in row]
        texts = iter(formatting.columns(flat))
        self._texts = {(top + r, left + c): next(texts) for r, row in enumerate(values) for c in range(len(row))}
        # Only ever wider, so that columns stay where they are while one moves.
        self._cell = max(self._cell, *(len(text) for text in self._texts.values()), len(str(self.columns)))
        self._marked = marked
        self.keep_in_view()
        self.refresh()

    def reset(self, rows: int, columns: int) -> None:
        """Another plane of as many rows and columns."""
        self.rows, self.columns, self._texts = rows, columns, {}
        self.refresh()

    def draw(self, picture: Sequence[str]) -> None:
        """Show this instead, or with nothing the table again."""
        self._picture = picture
        self.refresh()

    # --- moving ---

    def go(self, row: int, column: int) -> None:
        self.row = max(0, min(row, self.rows - 1))
        self.column = max(0, min(column, self.columns - 1))
        self.keep_in_view()
        self.refresh()
        self.post_message(Moved())

    def keep_in_view(self) -> None:
        height, fitting = max(self.size.height - 1, 1), self.fitting
        self.top = max(0, min(self.row, max(self.top, self.row - height + 1)))
        self.left = max(0, min(self.column, max(self.left, self.column - fitting + 1)))

    @property
    def fitting(self) -> int:
        """How many columns of elements stand side by side."""
        return max(1, self._room() // (self._cell + 1))

    def _room(self) -> int:
        return self.size.width - self._head - 1

    @property
    def _head(self) -> int:
        return len(self._name_row(self.rows - 1)) + 1

    def action_cursor(self, step: int) -> None:
        self.go(self.row + step, self.column)

    def action_side(self, step: int) -> None:
        self.go(self.row, self.column + step)

    def action_page(self, step: int) -> None:
        self.go(self.row + step * max(self.size.height - 1, 1), self.column)

    def action_edge(self, end: int) -> None:
        self.go(0 if end < 0 else self.rows - 1, self.column)

    def action_side_edge(self, end: int) -> None:
        self.go(self.row, 0 if end < 0 else self.columns - 1)

    def on_resize(self) -> None:
        self.keep_in_view()
        self.post_message(Moved())

    # --- drawing ---

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        with errors_shown(self.app):
            segments = self._picture_line(y) if self._picture else self._line(y)
            return Strip(segments).adjust_cell_length(width).apply_style(self.rich_style)
        return Strip.blank(width)

    def _picture_line(self, y: int) -> list[Segment]:
        return [Segment(f" {self._picture[y]}" if y < len(self._picture) else "", self._palette.text)]

    def _line(self, y: int) -> list[Segment]:
        palette, cell = self._palette, self._cell + 1
        shown = range(self.left, min(self.left + self.fitting, self.columns))
        if y == 0:
            names = "".join(str(column).rjust(cell) for column in shown)
            more = " …" if shown.stop < self.columns else ""
            return [Segment(" " * self._head + names + more, palette.dim)]
        row = self.top + y - 1
        if row >= self.rows:
            return []
        segments = [Segment(self._name_row(row).rjust(self._head), palette.here if row == self.row else palette.dim)]
        for column in shown:
            text = self._texts.get((row, column), WAITING if self._there(row, column) else "")
            segments += [Segment(" " * (cell - len(text))), Segment(text, self._style(row, column, text))]
        return segments

    def _there(self, row: int, column: int) -> bool:
        """Not behind the end of a last row that is shorter; known once that row has come."""
        return not any((row, each) in self._texts for each in range(column))

    def _style(self, row: int, column: int, text: str) -> Style:
        palette = self._palette
        style = palette.fault if text.strip().lstrip("-") in ("nan", "inf") else palette.text
        if (row, column) in self._marked:
            style = palette.changed
        return style + palette.cursor if (row, column) == (self.row, self.column) else style


def heat_map(values: Sequence[Sequence[float]]) -> list[str]:
    """A row of bars for each row of values, by how high they lie, what isn't finite ?."""
    finite = [value for row in values for value in row if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    return ["".join(bar(value, low, high) for value in row) for row in values]


def curve(values: Sequence[float], height: int) -> list[str]:
    """Values side by side as columns of bars, from the least at the bottom to the greatest."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    levels = [level(value, low, high, height * len(EIGHTHS) - 1) for value in values]
    rows = []
    for above in range(height - 1, -1, -1):
        base = above * len(EIGHTHS)
        rows.append("".join(NOT_FINITE if n is None else _piece(n - base) for n in levels))
    return rows


def _piece(level: int) -> str:
    return " " if level < 0 else EIGHTHS[min(level, len(EIGHTHS) - 1)]
