"""Variables of the selected frame: name, type, value; what changed since the last stop is marked."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.cells import cell_len
from textual.binding import BindingType

from pkdb_tui import keys
from pkdb_tui.engine import formatting
from pkdb_tui.engine.api import FrameKind, StopSnapshot, Variable, VariableKind
from pkdb_tui.panes.base import Inspect, Pane, Row, RunCommand
from pkdb_tui.panes.fitting import fitted, longest, wrapped
from pkdb_tui.panes.palette import Palette

FLOAT = 9  # columns of most floats of six digits: -0.123457
USUAL = 13  # columns of numbers that others are aligned with
OPTIMISED = (
    "The optimised build of {kernel} keeps no variables; {what}. "
    "Set a breakpoint in it, and its next launch runs a debug build, which keeps all."
)


UNKNOWN = "Which launch this is isn't known, because the pause came as it began. Continue and pause again to see more."


def _is_number(variable: Variable) -> bool:
    return variable.kind is VariableKind.SCALAR and not isinstance(variable.value, str)


def _parsed(text: str) -> Any:
    """The number a full text stands for, None where it is no number."""
    for kind in (int, float, complex):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def texts_of(variable: Variable) -> tuple[str, str]:
    """(value, value before) as they are shown: with as many digits as it takes to see what changed."""
    if not _is_number(variable):
        return variable.text, variable.previous
    now, before = _parsed(variable.text), _parsed(variable.previous)
    if now is None:
        return variable.text, variable.previous
    if not variable.changed or before is None:
        return formatting.number(now), variable.previous
    return formatting.distinct(now, before)


def notes_of(snapshot: StopSnapshot | None) -> list[str]:
    """Why there is less to see than one might expect."""
    if snapshot is None:
        return []
    kernel = snapshot.kernel
    if kernel is not None and kernel.build == "release" and snapshot.location.kind is FrameKind.KERNEL:
        what = "below are the arguments it was launched with" if snapshot.variables else "its launch had no arguments"
        return [OPTIMISED.format(kernel=kernel.name, what=what)]
    if snapshot.variables:
        return []
    if kernel is None and snapshot.location.kind is FrameKind.KERNEL:
        return [UNKNOWN]
    if kernel is not None and snapshot.location.kind is not FrameKind.KERNEL:
        return ["This frame can't be asked while its kernel runs, or it has no variables."]
    return ["This frame has no variables."]


class VariablesPane(Pane):
    name_of_pane = "variables"
    BINDINGS: ClassVar[list[BindingType]] = keys.pane_bindings("variables")
    help_text = (
        "« the value at the last stop here. Floats have up to six digits, more where a change would not be seen.\n"
        "Enter shows all of a value, its type and its layout."
    )

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self._variables: tuple[Variable, ...] = ()
        self._texts: list[tuple[str, str]] = []
        self._notes: list[str] = []

    def show(self, snapshot: StopSnapshot | None) -> None:
        self._variables = snapshot.variables if snapshot is not None else ()
        self._notes = notes_of(snapshot)
        kernel = snapshot is not None and snapshot.location.kind is FrameKind.KERNEL
        if kernel:
            order = {"argument": 1, "local": 0}
            self._variables = tuple(
                sorted(self._variables, key=lambda v: (v.kind is VariableKind.ARRAY, order.get(v.scope, 2)))
            )
        self._texts = [texts_of(variable) for variable in self._variables]
        self.rows_changed()

    def on_resize(self) -> None:
        if self._notes:
            self.rows_changed()

    # --- rows ---

    def _note_rows(self) -> list[str]:
        width = max(self.scrollable_content_region.width - 2, 10)
        return [row for note in self._notes for row in wrapped(note, width)]

    def row_count(self) -> int:
        return len(self._note_rows()) + len(self._variables)

    def _at(self, row: int) -> int:
        """The variable on a row; negative on a note."""
        return row - len(self._note_rows())

    def _edges(self, width: int) -> tuple[int, int, int]:
        """(width of the names, of the types, the column where numbers end).

        Numbers end where the types of arrays do, unless the values of before need that room.
        """
        rows = list(zip(self._variables, self._texts, strict=True))
        numbers = [(v.type, now, before) for v, (now, before) in rows if _is_number(v)]
        names = longest([v.name for v in self._variables], max(16, width // 3))
        types = longest([v.type for v in self._variables], 20)
        plain = longest([kind for kind, _, _ in numbers], 20)
        # Room for usual floats whatever these are now, so that nothing moves at the next stop.
        # A huge integer alone goes beyond that.
        texts = [text for _, now, before in numbers for text in (now, before)]
        value = max(FLOAT, longest([text for text in texts if len(text) <= USUAL], USUAL))
        least = names + 5 + plain + value
        return names, types, max(least, min(names + 5 + types + value, width - value - 5))

    def row(self, index: int, width: int) -> Row:
        notes = self._note_rows()
        if index < len(notes):
            return [(f" {notes[index]}", self.palette.dim)]
        return self._variable(index - len(notes), width)

    def _variable(self, index: int, width: int) -> Row:
        palette = self.palette
        variable, (value, before) = self._variables[index], self._texts[index]
        names, types, edge = self._edges(width)
        style = palette.changed if variable.changed else palette.text
        row: Row = [(f" {fitted(variable.name, names)}  ", palette.name)]
        mark = f"  « {before}" if variable.changed else ""
        if _is_number(variable):
            kind = fitted(variable.type, min(cell_len(variable.type), 20))
            row.append((kind, palette.dim))
            row.append((value.rjust(max(edge - names - 3 - cell_len(kind), len(value) + 1)), style))
        else:
            row.append((f"{fitted(variable.type, types)}  ", palette.dim))
            room = width - sum(cell_len(text) for text, _ in row)
            if mark and cell_len(value) + cell_len(mark) > room:
                # The mark is seen, whatever the length of the values.
                mark = "  « …"
                value = fitted(value, min(cell_len(value), max(room - len(mark), 2)))
            row.append((value, palette.dim if variable.kind is VariableKind.ARRAY else style))
        if mark and sum(cell_len(text) for text, _ in row) + cell_len(mark) > width:
            mark = "  « …"
        return [*row, (mark, palette.changed)] if mark else row

    # --- keys ---

    def _chosen(self, row: int) -> Variable | None:
        at = self._at(row)
        return self._variables[at] if 0 <= at < len(self._variables) else None

    @property
    def expression(self) -> str:
        variable = self._chosen(self.cursor_row)
        return variable.name if variable is not None else ""

    def chosen(self, index: int) -> None:
        if (variable := self._chosen(index)) is not None:
            self.post_message(Inspect(variable.name))

    def action_watch_variable(self) -> None:
        if (variable := self._chosen(self.cursor_row)) is not None:
            self.post_message(RunCommand(f"display {variable.name}"))
