"""The text of a kernel as one changes it: coloured, the line of a problem marked, names completed."""

from __future__ import annotations

import keyword
import re
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

from pkdb_tui.panes import completion
from pkdb_tui.panes.base import Row
from pkdb_tui.panes.guard import Guarded
from pkdb_tui.panes.highlighting import coloured
from pkdb_tui.panes.palette import Palette

INDENT = 4
NAME = re.compile(r"[^\W\d]\w*")
KNOWN = ("range", "len", "int", "float", "bool", "abs", "min", "max", *keyword.kwlist)
CHOICES = 12


class Said(Message):
    """What the editor has to say to a key."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class KernelEditor(Guarded, TextArea):
    """`first_line` is the number of its first line in the file."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "new_line", show=False, priority=True),
        Binding("tab", "complete", show=False, priority=True),
        Binding("shift+tab", "dedent", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    KernelEditor, KernelEditor:focus {
        border: none; padding: 0; background: $surface; background-tint: transparent;
        scrollbar-size: 1 1; scrollbar-color: $panel; scrollbar-background: $surface;
    }
    """

    def __init__(self, palette: Palette, text: str, first_line: int) -> None:
        self._palette = palette
        self._rows: list[Row] | None = None
        self._problem: tuple[int, int] | None = None
        super().__init__(
            text, soft_wrap=False, show_line_numbers=True, line_number_start=first_line, max_checkpoints=1000
        )
        self.indent_width = INDENT
        self.cursor_blink = False

    # --- what is shown ---

    def mark(self, line: int | None, column: int = -1) -> None:
        """The line of a problem, by its number in the file, and its column; None for none."""
        problem = None if line is None else (line - self.line_number_start, column)
        if problem != self._problem:
            self._problem = problem
            self.notify_style_update()

    def get_line(self, line_index: int) -> Text:
        if self._rows is None:
            self._rows = coloured(self.text, self._palette)
        line = self.document.get_line(line_index)
        row = self._rows[line_index] if line_index < len(self._rows) else []
        text = Text.assemble(*row, end="", no_wrap=True) if row else Text(end="", no_wrap=True)
        if text.plain != line:  # the lexer takes some rare characters for line ends
            text = Text(line, self._palette.text, end="", no_wrap=True)
        if self._problem is not None and self._problem[0] == line_index:
            column = self._problem[1]
            begin = column if 0 <= column < len(line) else len(line) - len(line.lstrip())
            text.stylize(self._palette.fault + Style(underline=True), begin)
        return text

    # --- changes, all of which change the colours ---

    def edit(self, edit: Edit) -> EditResult:
        self._rows = None
        return super().edit(edit)

    def undo(self) -> None:
        self._rows = None
        super().undo()

    def redo(self) -> None:
        self._rows = None
        super().redo()

    def exchange(self, text: str) -> None:
        """Another text in the place of all; undo brings the one before back."""
        if text != self.text:
            row, column = self.cursor_location
            self.replace(text, (0, 0), self.document.end)
            self.go(row, column)

    def go(self, row: int, column: int = 0) -> None:
        """To a line, counted from 0, or to the last one before it."""
        row = max(0, min(row, self.document.line_count - 1))
        self.move_cursor((row, min(column, len(self.document.get_line(row)))), center=True)

    def find(self, text: str) -> bool:
        """Select the next place of a text behind the cursor, around the end; False where there is none.

        Without a capital letter in it, capitals make no difference.
        """
        whole = self.text if text != text.lower() else self.text.lower()
        if len(whole) != len(self.text):  # a letter with a longer small one
            whole = self.text
        row, column = self.cursor_location
        lines = self.text.split("\n")
        at = sum(len(line) + 1 for line in lines[:row]) + column
        found = whole.find(text, at)
        if found < 0:
            found = whole.find(text)
        if not text or found < 0:
            return False
        self.move_cursor(self._location(found))
        self.move_cursor(self._location(found + len(text)), select=True, center=True)
        return True

    def _location(self, at: int) -> tuple[int, int]:
        before = self.text[:at]
        return before.count("\n"), at - (before.rfind("\n") + 1)

    # --- keys ---

    def action_new_line(self) -> None:
        """With the indentation of this one, deeper behind a colon."""
        row, column = min(self.selection)
        before = self.document.get_line(row)[:column]
        indent = before[: len(before) - len(before.lstrip())]
        if before.rstrip().endswith(":"):
            indent += " " * INDENT
        self._put(f"\n{indent}")

    def action_complete(self) -> None:
        """The name before the cursor, as far as all names of the text agree; else to the next indentation."""
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        found = re.search(r"[^\W\d]\w*$", before)
        if found is None or not self.selection.is_empty:
            self._put(" " * (INDENT - column % INDENT))
            return
        word = found[0]
        names = sorted({name for name in (*NAME.findall(self.text), *KNOWN) if name.startswith(word) and name != word})
        if not names:
            self.post_message(Said(f"No name of this kernel begins with {word}."))
            return
        self._put(completion.common(names)[len(word) :])
        if len(names) > 1:
            self.post_message(Said("  ".join(names[:CHOICES]) + ("  …" if len(names) > CHOICES else "")))

    def action_dedent(self) -> None:
        row, _ = self.cursor_location
        line = self.document.get_line(row)
        blanks = len(line) - len(line.lstrip(" "))
        if blanks:
            self.delete((row, 0), (row, (blanks - 1) % INDENT + 1))

    def _put(self, text: str) -> None:
        if text:
            start, end = self.selection
            self.replace(text, start, end, maintain_selection_offset=False)
            self.scroll_cursor_visible()
