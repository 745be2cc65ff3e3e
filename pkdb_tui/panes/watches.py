"""Watches: expressions with their values at this stop; slices as rows with their statistics below."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from textual.binding import BindingType
from textual.message import Message

from pkdb_tui import keys
from pkdb_tui.engine import formatting
from pkdb_tui.engine.api import ArrayStatistics, Slice, Watch
from pkdb_tui.panes.base import Pane, Row, RunCommand
from pkdb_tui.panes.palette import Palette

ROWS = 8  # rows of a two-dimensional slice


class EditWatch(Message):
    """A watch is to become another one."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch


class WatchesPane(Pane):
    name_of_pane = "watches"
    BINDINGS: ClassVar[list[BindingType]] = keys.pane_bindings("watches")
    help_text = "w adds a watch. Below a slice stand its NaNs, least, greatest and mean; a changed element is marked."

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self._watches: tuple[Watch, ...] = ()
        self._rows: list[tuple[int, Row]] = []
        self._width = 0

    @property
    def badge(self) -> str:
        return str(len(self._watches)) if self._watches else ""

    def show(self, watches: tuple[Watch, ...]) -> None:
        if list(map(id, watches)) != list(map(id, self._watches)):  # values of arrays aren't compared
            self._watches = watches
            self._build()

    def on_resize(self) -> None:
        if self.scrollable_content_region.width != self._width:
            self._build()

    def _build(self) -> None:
        self._width = self.scrollable_content_region.width
        names = min(18, max((len(w.expression) for w in self._watches), default=0))
        self._rows = []
        for watch in self._watches:
            self._rows += [(watch.id, row) for row in self._watch_rows(watch, names)]
        if not self._rows:
            self._rows = [(0, [(" w adds a watch, such as a[j, 0:4]", self.palette.dim)])]
        self.rows_changed()

    def _watch_rows(self, watch: Watch, names: int) -> list[Row]:
        palette = self.palette
        head = (f" {watch.expression:<{names}}  ", palette.name)
        if watch.error:
            return [[head, *self._without_value(watch)]]
        if watch.evaluation is None:
            return [[head, ("not evaluated yet", palette.dim)]]
        part = watch.evaluation.slice
        if part is not None:
            return self._slice_rows(head, part, names)
        row: Row = [head, (watch.evaluation.text, palette.changed if watch.changed else palette.text)]
        if watch.changed:
            row.append((f"  « {watch.previous}", palette.changed))
        return [row]

    def _without_value(self, watch: Watch) -> Row:
        """Why there is none here, and the last one there was: dim, because nothing is wrong."""
        row: Row = [(watch.error, self.palette.dim)]
        last = watch.evaluation
        if last is not None:
            text = last.text if last.slice is None else _brief(last.slice)
            row.append((f" · {text} at {watch.seen}", self.palette.dim))
        return row

    def _slice_rows(self, head: tuple[str, Style], part: Slice, names: int) -> list[Row]:
        palette = self.palette
        values = part.values.reshape(-1, part.values.shape[-1]) if part.values.ndim else part.values.reshape(1, 1)
        room = max(self._width - names - 4, 10)
        shown = values[:ROWS]
        texts = formatting.columns(list(shown.ravel().tolist()))
        cell = (max(len(t) for t in texts) if texts else 1) + 1
        fit = max(1, room // cell)
        rows: list[Row] = []
        changed = set(part.changed)
        for index in range(len(shown)):
            row: Row = [head if index == 0 else (" " * (names + 3), palette.name)]
            base = index * values.shape[1]
            for column in range(min(fit, values.shape[1])):
                style = palette.changed if base + column in changed else palette.text
                row.append((texts[base + column].rjust(cell - 1) + " ", style))
            if values.shape[1] > fit:
                row.append(("…", palette.dim))
            rows.append(row)
        rows.append([(" " * (names + 3), palette.dim), (statistics_text(part.statistics, part, room), palette.dim)])
        return rows

    def row_count(self) -> int:
        return len(self._rows)

    def row(self, index: int, width: int) -> Row:
        return self._rows[index][1]

    def chosen(self, index: int) -> None:
        if (watch := self._current()) is not None:
            self.post_message(RunCommand(f"print {watch.expression}"))

    def _current(self) -> Watch | None:
        number = self._rows[self.cursor_row][0] if self._rows else 0
        return next((watch for watch in self._watches if watch.id == number), None)

    def action_delete(self) -> None:
        if (watch := self._current()) is not None:
            self.post_message(RunCommand(f"undisplay {watch.id}"))

    def action_edit(self) -> None:
        if (watch := self._current()) is not None:
            self.post_message(EditWatch(watch))


def _brief(part: Slice, most: int = 4) -> str:
    values = part.values.ravel()
    texts = [formatting.number(value) for value in values[:most].tolist()]
    return " ".join(texts) + (" …" if values.size > most else "")


def statistics_text(found: ArrayStatistics, part: Slice, room: int) -> str:
    """`min 0.1 max 0.9 · mean 0.5 · no NaN · 4 float64`, as much of it as fits."""
    shape = "×".join(map(str, part.shape)) or "1"
    parts: list[str] = []
    if found.nan or found.inf:
        parts.append(f"{found.nan} NaN {found.inf} Inf")
    if found.minimum is not None:
        parts.append(f"min {formatting.number(found.minimum)} max {formatting.number(found.maximum)}")
    if not (found.nan or found.inf) and part.values.dtype.kind in "fc":
        parts.append("no NaN")
    if part.truncated:
        parts.append(f"first {formatting.thousands(found.count)} of {formatting.thousands(part.total)}")
    if found.mean is not None:
        parts.append(f"mean {formatting.number(found.mean)}")
    parts.append(f"{shape} {part.dtype}")
    while len(parts) > 1 and len(" · ".join(parts)) > room:
        parts.pop()
    return " · ".join(parts)
