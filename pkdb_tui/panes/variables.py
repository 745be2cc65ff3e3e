"""Variables of the selected frame: name, type, value; what changed since the last stop is marked."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from pkdb_tui import keys
from pkdb_tui.engine import formatting
from pkdb_tui.engine.api import FrameKind, StopSnapshot, Variable, VariableKind
from pkdb_tui.panes.base import Pane, Row, RunCommand
from pkdb_tui.panes.palette import Palette


class VariablesPane(Pane):
    name_of_pane = "variables"
    BINDINGS: ClassVar[list[BindingType]] = keys.pane_bindings("variables")
    help_text = "« the value at the last stop here. Enter prints the value in full."

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self._variables: tuple[Variable, ...] = ()
        self._texts: list[str] = []

    def show(self, snapshot: StopSnapshot | None) -> None:
        self._variables = snapshot.variables if snapshot is not None else ()
        kernel = snapshot is not None and snapshot.location.kind is FrameKind.KERNEL
        if kernel:
            order = {"argument": 1, "local": 0}
            self._variables = tuple(
                sorted(self._variables, key=lambda v: (v.kind is VariableKind.ARRAY, order.get(v.scope, 2)))
            )
        self._texts = [self._text(variable) for variable in self._variables]
        self.rows_changed()

    @staticmethod
    def _text(variable: Variable) -> str:
        if variable.kind is VariableKind.SCALAR and isinstance(variable.value, float):
            return formatting.number(variable.value, 8)
        return variable.text

    @property
    def badge(self) -> str:
        return ""

    def row_count(self) -> int:
        return len(self._variables)

    def row(self, index: int, width: int) -> Row:
        palette = self.palette
        variable = self._variables[index]
        names = min(16, max(len(v.name) for v in self._variables))
        types = min(20, max(len(v.type) for v in self._variables))
        value = self._texts[index]
        row: Row = [
            (f" {variable.name:<{names}}  ", palette.name),
            (f"{variable.type:<{types}}  ", palette.dim),
        ]
        style = palette.changed if variable.changed else palette.text
        if variable.kind is VariableKind.ARRAY:
            style = palette.dim
        if variable.kind is VariableKind.SCALAR and not isinstance(variable.value, str):
            scalars = [t for t, v in zip(self._texts, self._variables, strict=True) if v.kind is VariableKind.SCALAR]
            value = value.rjust(min(18, max((len(t) for t in scalars if len(t) <= 18), default=0)))
        room = width - sum(len(text) for text, _ in row)
        if len(value) > room and variable.kind is VariableKind.OBJECT:
            value = value[: max(room - 1, 1)] + "…"
        row.append((value, style))
        if variable.changed:
            row.append((f"  « {variable.previous}", palette.changed))
        return row

    def chosen(self, index: int) -> None:
        self.post_message(RunCommand(f"print {self._variables[index].name}"))

    def action_watch_variable(self) -> None:
        if self._variables:
            self.post_message(RunCommand(f"display {self._variables[self.cursor_row].name}"))
