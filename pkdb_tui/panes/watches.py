"""Watches: expressions with their values at this stop; slices as rows with their statistics below."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from textual.binding import BindingType
from textual.message import Message

from pkdb_tui import keys
from pkdb_tui.engine import formatting
from pkdb_tui.engine.api import Slice, Variable, VariableKind, Watch
from pkdb_tui.panes.base import Inspect, Pane, Row, RunCommand
from pkdb_tui.panes.fitting import fitted, longest, wrapped
from pkdb_tui.panes.palette import Palette
from pkdb_tui.panes.variables import texts_of

ROWS = 8  # rows of a two-dimensional slice
FLOW = 4  # rows a slice of one dimension takes at most
MOST = 256  # its elements that are looked at for that
BESIDE = 12  # columns of an expression that its elements stand beside
COLUMN = 8  # columns of most floats of six digits: 0.123457


class EditWatch(Message):
    """A watch is to become another one."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch


class WatchesPane(Pane):
    name_of_pane = "watches"
    BINDINGS: ClassVar[list[BindingType]] = keys.pane_bindings("watches")
    help_text = (
        "w adds a watch. Below a slice stand its NaNs, least, greatest and mean; a changed element is marked. "
        "Enter shows all of a watch."
    )

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
        beside = [w.expression for w in self._watches if not _below(w)]
        names = longest(beside, max(18, self._width // 3))
        self._rows = []
        for watch in self._watches:
            self._rows += [(watch.id, row) for row in self._watch_rows(watch, names)]
        if not self._rows:
            self._rows = [(0, [(" w adds a watch, such as a[j, 0:4]", self.palette.dim)])]
        self.rows_changed()

    def _watch_rows(self, watch: Watch, names: int) -> list[Row]:
        palette = self.palette
        head = (f" {fitted(watch.expression, names)}  ", palette.name)
        part = watch.evaluation.slice if watch.evaluation is not None else None
        if part is not None:
            # The elements seen last keep their rows, so that nothing moves while they are out of scope.
            note = f"{watch.error} · the values at {watch.seen}" if watch.error else ""
            if not _below(watch):
                return self._slice_rows(head, part, names, note)
            rows = self._slice_rows((" " * 5, palette.name), part, 2, note)
            return [[(f" {watch.expression}", palette.name)], *rows]
        if watch.error:
            return [[head, *self._without_value(watch, names)]]
        if watch.evaluation is None:
            return [[head, ("not evaluated yet", palette.dim)]]
        text, before = _texts(watch)
        row: Row = [head, (text, palette.changed if watch.changed else palette.text)]
        if watch.changed:
            row.append((f"  « {before}", palette.changed))
        return [row]

    def _without_value(self, watch: Watch, names: int) -> Row:
        """Why there is none here, and the last one there was: dim, because nothing is wrong."""
        row: Row = [(watch.error, self.palette.dim)]
        if watch.evaluation is None:
            return row
        room = self._width - names - 3 - cell_len(watch.error)
        value = f" · {_texts(watch)[0]}"
        fitting = (text for text in (f"{value} at {watch.seen}", value) if cell_len(text) <= room)
        return [*row, (next(fitting, ""), self.palette.dim)]

    def _slice_rows(self, head: tuple[str, Style], part: Slice, names: int, note: str = "") -> list[Row]:
        """Rows of elements over their statistics; with a `note` in the place of those, they are values of before."""
        palette = self.palette
        room = max(self._width - names - 4, 10)
        blank = (" " * (names + 3), palette.name)
        columns = max(1, part.values.shape[-1]) if part.values.ndim else 1
        shown = part.values.reshape(-1)[: ROWS * columns if part.values.ndim > 1 else MOST]
        texts = formatting.columns(list(shown))
        # Columns stay where they are while values change.
        least = COLUMN if part.values.dtype.kind == "f" else 1
        cell = max([least, *map(len, texts)]) + 1
        fit = max(1, room // cell)
        styles = [palette.dim if note else palette.text] * len(texts)
        for index in part.changed:
            if index < len(styles) and not note:
                styles[index] = palette.changed
        # A row of its own for each row of an array; one of one dimension flows over a few.
        flows = part.values.ndim < 2
        step = fit if flows else columns
        starts = range(0, len(texts), step)[: FLOW if flows else ROWS]
        rows: list[Row] = [] if texts else [[head, ("empty", palette.dim)]]
        for start in starts:
            row: Row = [head if start == 0 else blank]
            stop = min(start + min(fit, step), len(texts))
            row += [(texts[at].rjust(cell - 1) + " ", styles[at]) for at in range(start, stop)]
            if (start == starts[-1] and stop < part.values.size) if flows else columns > fit:
                row.append(("…", palette.dim))
            rows.append(row)
        if not flows and len(part.values) > ROWS:
            rows.append([blank, ("…", palette.dim)])
        below = [statistics_text(part, room)] if not note else wrapped(note, room)
        return rows + [[blank, (text, palette.dim)] for text in below]

    def row_count(self) -> int:
        return len(self._rows)

    def row(self, index: int, width: int) -> Row:
        return self._rows[index][1]

    def item(self, index: int) -> object:
        return self._rows[index][0]

    def chosen(self, index: int) -> None:
        if (watch := self._current()) is not None:
            self.post_message(Inspect(watch.expression))

    @property
    def expression(self) -> str:
        watch = self._current()
        return watch.expression if watch is not None else ""

    def _current(self) -> Watch | None:
        number = self._rows[self.cursor_row][0] if self._rows else 0
        return next((watch for watch in self._watches if watch.id == number), None)

    def action_delete(self) -> None:
        if (watch := self._current()) is not None:
            self.post_message(RunCommand(f"undisplay {watch.id}"))

    def action_edit(self) -> None:
        if (watch := self._current()) is not None:
            self.post_message(EditWatch(watch))


def _below(watch: Watch) -> bool:
    """Whether the elements stand below a long expression, not beside it."""
    has_slice = watch.evaluation is not None and watch.evaluation.slice is not None
    return has_slice and cell_len(watch.expression) > BESIDE


def _texts(watch: Watch) -> tuple[str, str]:
    """(value, value before) of a watch, as the variables pane has them."""
    assert watch.evaluation is not None
    value = Variable(
        name=watch.expression,
        type=watch.evaluation.type,
        text=watch.evaluation.text,
        kind=VariableKind.SCALAR,  # a text that is no number stays as it is
        changed=watch.changed,
        previous=watch.previous,
    )
    return texts_of(value)


def statistics_text(part: Slice, room: int) -> str:
    """`min 0.1 max 0.9 · mean 0.5 · no NaN · 4 float64`, as much of it as fits, and `…` for the rest."""
    parts = formatting.statistics(part)
    texts = [" · ".join(parts), *(" · ".join(parts[:count]) + " …" for count in range(len(parts) - 1, 0, -1))]
    return next((text for text in texts if cell_len(text) <= room), texts[-1])
