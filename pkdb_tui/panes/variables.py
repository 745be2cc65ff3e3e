"""Variables of the selected frame: name, type, value; what changed since the last stop is marked."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from pkdb_tui import keys
from pkdb_tui.engine import formatting
from pkdb_tui.engine.api import FrameKind, StopSnapshot, Variable, VariableKind
from pkdb_tui.panes.base import Pane, Row, RunCommand
from pkdb_tui.panes.palette import Palette

DIGITS = 8  # significant ones of a float


def _is_number(variable: Variable) -> bool:
    return variable.kind is VariableKind.SCALAR and not isinstance(variable.value, str)


class VariablesPane(Pane):
    name_of_pane = "variables"
    BINDINGS: ClassVar[list[BindingType]] = keys.pane_bindings("variables")
    help_text = "« the value at the last stop here. Enter prints the value in full."

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self._variables: tuple[Variable, ...] = ()
        self._texts: list[str] = []
        self._widths = (0, 0, 0, 0)

    def show(self, snapshot: StopSnapshot | None) -> None:
        self._variables = snapshot.variables if snapshot is not None else ()
        kernel = snapshot is not None and snapshot.location.kind is FrameKind.KERNEL
        if kernel:
            order = {"argument": 1, "local": 0}
            self._variables = tuple(
                sorted(self._variables, key=lambda v: (v.kind is VariableKind.ARRAY, order.get(v.scope, 2)))
            )
        self._texts = [self._text(variable) for variable in self._variables]
        self._widths = self._measured()
        self.rows_changed()

    @staticmethod
    def _text(variable: Variable) -> str:
        if variable.kind is VariableKind.SCALAR and isinstance(variable.value, float):
            return formatting.number(variable.value, DIGITS)
        return variable.text

    @staticmethod
    def _previous(variable: Variable) -> str:
        """The value before, with as many digits as the one of now."""
        if isinstance(variable.value, float):
            try:
                return formatting.number(float(variable.previous), DIGITS)
            except ValueError:
                return variable.previous  # it was no number
        return variable.previous

    def row_count(self) -> int:
        return len(self._variables)

    def _edges(self, width: int) -> tuple[int, int, int]:
        """(width of the names, of the types, the column where numbers end).

        Numbers end where the types of arrays do, unless the values of before need that room.
        """
        names, types, plain, numbers = self._widths
        least = names + 5 + plain + numbers
        return names, types, max(least, min(names + 5 + types + numbers, width - numbers - 5))

    def _measured(self) -> tuple[int, int, int, int]:
        """Widths of the names, of all types, of the types of numbers, and of numbers."""
        numbers = [(v.type, t) for v, t in zip(self._variables, self._texts, strict=True) if _is_number(v)]
        return (
            min(16, max((len(v.name) for v in self._variables), default=0)),
            min(20, max((len(v.type) for v in self._variables), default=0)),
            max((len(kind) for kind, _ in numbers), default=0),
            min(18, max((len(text) for _, text in numbers), default=0)),
        )

    def row(self, index: int, width: int) -> Row:
        palette = self.palette
        variable, value = self._variables[index], self._texts[index]
        names, types, edge = self._edges(width)
        row: Row = [(f" {variable.name:<{names}}  ", palette.name)]
        style = palette.changed if variable.changed else palette.text
        if _is_number(variable):
            row.append((variable.type, palette.dim))
            row.append((value.rjust(max(edge - names - 3 - len(variable.type), len(value) + 1)), style))
        else:
            row.append((f"{variable.type:<{types}}  ", palette.dim))
            row.append((value, palette.dim if variable.kind is VariableKind.ARRAY else style))
        if variable.changed:
            row.append((f"  « {self._previous(variable)}", palette.changed))
        return row

    def chosen(self, index: int) -> None:
        self.post_message(RunCommand(f"print {self._variables[index].name}"))

    def action_watch_variable(self) -> None:
        if self._variables:
            self.post_message(RunCommand(f"display {self._variables[self.cursor_row].name}"))
