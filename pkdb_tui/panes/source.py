"""The source pane: a file with its gutter of breakpoints, kernel lines, the focus, and where Python waits."""

from __future__ import annotations

import os
import re
from typing import ClassVar

from rich.style import Style
from textual.binding import BindingType
from textual.message import Message

from pkdb_tui import keys
from pkdb_tui.engine.api import Breakpoint, BreakpointSpec, BreakpointState, FrameKind, SourceInfo, StopSnapshot
from pkdb_tui.panes.base import LineNoted, Pane, Row, RunCommand
from pkdb_tui.panes.highlighting import SourceText
from pkdb_tui.panes.palette import Palette

MARKS = {
    BreakpointState.PENDING: "○",
    BreakpointState.BOUND: "●",
    BreakpointState.UNBOUND: "×",
    BreakpointState.DISABLED: "◌",
}


class FileWanted(Message):
    """The pane shows another file: its lines' facts are wanted."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path


class BreakAt(Message):
    """A breakpoint is wanted."""

    def __init__(self, spec: BreakpointSpec) -> None:
        super().__init__()
        self.spec = spec


class RunTo(Message):
    """The program is to go on to a line."""

    def __init__(self, file: str, line: int) -> None:
        super().__init__()
        self.file = file
        self.line = line


class SourcePane(Pane):
    name_of_pane = "source"
    help_text = (
        "○ breakpoint pending   ● bound   × cannot bind\n"
        "◌ disabled   · line has kernel code\n"
        "▶ the focus   ▷ where Python waits"
    )
    BINDINGS: ClassVar[list[BindingType]] = keys.pane_bindings("source")

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self.source: SourceText | None = None
        self.message = "no source"
        self._cache: dict[str, SourceText] = {}
        self._focus: tuple[str, int] = ("", 0)
        self._waits: dict[str, int] = {}
        self._marks: dict[str, dict[int, list[Breakpoint]]] = {}
        self._kernel_lines: dict[str, frozenset[int]] = {}
        self._found = ""

    # --- content ---

    @property
    def path(self) -> str:
        return self.source.path if self.source is not None else ""

    def open(self, path: str, line: int = 1) -> bool:
        """Show a file; False when it can't be read."""
        if self.path != path:
            source = self._cache.get(path)
            if source is None:
                try:
                    source = SourceText.read(path)
                except OSError as error:
                    self.source, self.message = None, f"{path} can't be read: {error.strerror}"
                    self.rows_changed()
                    return False
                self._cache[path] = source
            self.source = source
            self.offset_x = 0
            self.cursor_row = 0
            self.rows_changed()
            self.post_message(FileWanted(path))
            if not source.coloured:
                self.run_worker(lambda: self._lex(source), thread=True, group="lex")
        self.cursor_row = max(0, min(line - 1, self.row_count() - 1))
        self.show_row(self.cursor_row)
        self.refresh_rows()
        return True

    def open_named(self, name: str) -> bool:
        """Show the file a person names; when it can't be read, `message` says why and the one shown stays."""
        path = os.path.realpath(os.path.expanduser(name))
        try:
            self._cache[path] = SourceText.read(path)
        except OSError as error:
            self.message = f"{path} can't be read: {error.strerror}"
            return False
        return self.open(path)

    def _lex(self, source: SourceText) -> None:
        source.prepare(self.palette)
        self.app.call_from_thread(self.refresh)

    def forget_files(self) -> None:
        """Files may have changed on disk."""
        self._cache.clear()
        path, line = self.path, self.cursor_row + 1
        self.source = None
        if path:
            self.open(path, line)

    def show_stop(self, snapshot: StopSnapshot | None) -> None:
        """Mark the focus and where Python waits, and bring the focus on screen."""
        self._focus, self._waits = ("", 0), {}
        if snapshot is not None:
            frame = snapshot.location
            self._focus = (frame.file, frame.line)
            if frame.kind is FrameKind.KERNEL:
                waiting = next((f for f in snapshot.frames if f.kind is FrameKind.PYTHON), None)
                if waiting is not None:
                    self._waits = {waiting.file: waiting.line}
            if frame.file:
                self.open(frame.file, frame.line)
        self.refresh_rows()

    def show_running(self) -> None:
        """Where the program is isn't known."""
        self._focus, self._waits = ("", 0), {}
        self.refresh_rows()

    def show_breakpoints(self, breakpoints: tuple[Breakpoint, ...]) -> None:
        marks: dict[str, dict[int, list[Breakpoint]]] = {}
        for breakpoint in breakpoints:
            if breakpoint.line:
                marks.setdefault(breakpoint.file, {}).setdefault(breakpoint.line, []).append(breakpoint)
        self._marks = marks
        self.refresh_rows()

    def show_info(self, info: SourceInfo) -> None:
        self._kernel_lines[info.file] = frozenset(line for span in info.kernels for line in span.lines)
        self.refresh_rows()

    # --- drawing ---

    def row_count(self) -> int:
        return len(self.source.lines) or 1 if self.source is not None else 1

    def row(self, index: int, width: int) -> Row:
        palette = self.palette
        if self.source is None:
            return [(f" {self.message}", palette.dim)]
        line = index + 1
        here = self._focus == (self.source.path, line)
        waits = self._waits.get(self.source.path) == line
        found = self._marks.get(self.source.path, {}).get(line, [])
        row: Row = [(f"{line:>{self.digits}} ", palette.here if here else palette.dim)]
        row.append(self._mark(found))
        row.append(("▶", palette.here) if here else ("▷", palette.here) if waits else self._dot(line))
        row.append((" ", palette.text))
        row.extend(self.source.row(index, palette) if self.source.lines else [("this file is empty", palette.dim)])
        return row

    @property
    def digits(self) -> int:
        return max(4, len(str(self.row_count())))

    @property
    def frozen(self) -> int:  # type: ignore[override]
        return self.digits + 4

    def row_style(self, index: int) -> Style:
        here = self.source is not None and self._focus == (self.source.path, index + 1)
        return self.palette.here_line if here else super().row_style(index)

    def tail(self, index: int) -> Row:
        note = self._note(self._marks.get(self.path, {}).get(index + 1, []))
        return [(f"  {note} ", self.palette.dim)] if note else []

    def _dot(self, line: int) -> tuple[str, Style]:
        lines = self._kernel_lines.get(self.path, frozenset())
        return ("·", self.palette.kernel) if line in lines else (" ", self.palette.text)

    def _mark(self, found: list[Breakpoint]) -> tuple[str, Style]:
        if not found:
            return " ", self.palette.text
        state = next((b.state for b in found if b.state is not BreakpointState.DISABLED), BreakpointState.DISABLED)
        style = {
            BreakpointState.UNBOUND: self.palette.fault,
            BreakpointState.DISABLED: self.palette.dim,
        }.get(state, self.palette.changed)
        return MARKS[state], style

    @staticmethod
    def _note(found: list[Breakpoint]) -> str:
        parts = []
        for breakpoint in found:
            if breakpoint.spec.condition:
                parts.append(f"if {breakpoint.spec.condition}")
            if breakpoint.spec.log:
                parts.append("log")
            if breakpoint.hits:
                parts.append(f"hit {breakpoint.hits}")
        return "  ".join(parts)

    # --- keys ---

    def cursor_moved(self) -> None:
        found = self._marks.get(self.path, {}).get(self.cursor_row + 1, [])
        reasons = [f"breakpoint {b.id} {b.state.value}: {b.reason}" for b in found if b.reason]
        self.post_message(LineNoted("; ".join(reasons)))

    @property
    def kernel_line(self) -> int:
        """The cursor's line where it has kernel code, else 0."""
        line = self.cursor_row + 1
        return line if line in self._kernel_lines.get(self.path, ()) else 0

    def action_toggle_breakpoint(self) -> None:
        if self.source is None:
            return
        line = self.cursor_row + 1
        found = self._marks.get(self.path, {}).get(line, [])
        if found:
            self.post_message(RunCommand("delete " + " ".join(str(b.id) for b in found)))
        else:
            self.post_message(BreakAt(BreakpointSpec(file=self.path, line=line)))

    def action_temporary(self) -> None:
        if self.source is not None:
            self.post_message(BreakAt(BreakpointSpec(file=self.path, line=self.cursor_row + 1, temporary=True)))

    def action_run_to_cursor(self) -> None:
        if self.source is not None:
            self.post_message(RunTo(self.path, self.cursor_row + 1))

    def action_home_to_focus(self) -> None:
        if self._focus[0]:
            self.open(*self._focus)

    def search(self, pattern: str, step: int = 1) -> bool:
        """Move to the next line that matches; a text that is no regular expression is taken as it is."""
        if self.source is None:
            return False
        self._found = pattern or self._found
        try:
            expression = re.compile(self._found, re.IGNORECASE if self._found.islower() else 0)
        except re.error:
            expression = re.compile(re.escape(self._found))
        count = len(self.source.lines)
        for distance in range(1, count + 1):
            index = (self.cursor_row + step * distance) % count
            if expression.search(self.source.lines[index]):
                self.move_cursor(index)
                return True
        return False
