"""The merged stack: kernel frames, then the Python frames that launched them; an exception stands around them."""

from __future__ import annotations

import os

from rich.cells import cell_len
from rich.style import Style

from pkdb_tui.engine.api import ExceptionInfo, ExitCause, Frame, FrameKind, StopSnapshot
from pkdb_tui.panes.base import Pane, Row, RunCommand
from pkdb_tui.panes.fitting import fitted, wrapped
from pkdb_tui.panes.palette import Palette

MESSAGE_ROWS = 6  # of an exception above the frames; a longer message is whole in the traceback


class StackPane(Pane):
    name_of_pane = "stack"
    help_text = "▶ the selected frame. Enter selects a frame; a shows or hides frames of libraries and generated code."

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self._frames: tuple[Frame, ...] = ()
        self._selected = 0
        self._thread = -1  # of the kernel frames
        self._exception: ExceptionInfo | None = None
        self._around: tuple[int, list[str], list[str]] = (-1, [], [])

    def show(self, snapshot: StopSnapshot | None) -> None:
        self._frames = snapshot.frames if snapshot is not None else ()
        self._selected = snapshot.frame if snapshot is not None else 0
        self._thread = snapshot.focus.thread if snapshot is not None and snapshot.focus is not None else -1
        self._show_exception(snapshot.exception if snapshot is not None else None)
        if snapshot is not None:
            self.cursor_row = self._first() + snapshot.frame
        self.rows_changed()
        self.show_row(self.row_in_view())

    def row_in_view(self) -> int:
        """The selected frame; with an exception above it, that is what is to be read first."""
        return 0 if self._selected == 0 else self.cursor_row

    def show_end(self, cause: ExitCause) -> None:
        self._frames = ()
        self._show_exception(cause.exception)
        self.rows_changed()

    def _show_exception(self, exception: ExceptionInfo | None) -> None:
        self._exception = exception
        self._around = (-1, [], [])

    def on_resize(self) -> None:
        if self._exception is not None:
            at = self.cursor_row - self._first()
            self.rows_changed()  # it is wrapped to the width
            self.cursor_row = self._first() + at

    # --- rows ---

    def _rows_around(self, width: int) -> tuple[list[str], list[str]]:
        """(rows of the exception above the frames, rows of its traceback below them)."""
        if self._exception is None:
            return [], []
        if self._around[0] != width:
            room = max(width - 1, 10)
            lines = self._exception.message.rstrip("\n").split("\n")
            name = f"{self._exception.type}: " if lines[0] else self._exception.type
            said = [row for line in (name + lines[0], *lines[1:]) for row in wrapped(line, room)]
            trace = self._exception.traceback.rstrip("\n").split("\n")
            if len(said) > MESSAGE_ROWS:
                said[MESSAGE_ROWS - 1 :] = ["… all of it stands below the frames"]
            self._around = (width, said, [row for line in trace for row in wrapped(line, room)])
        return self._around[1], self._around[2]

    def _first(self) -> int:
        """The row of the innermost frame."""
        return len(self._rows_around(self.scrollable_content_region.width)[0])

    def row_count(self) -> int:
        return self.rows_at(self.scrollable_content_region.width)

    def rows_at(self, width: int) -> int:
        above, below = self._rows_around(width)
        return len(above) + len(self._frames) + len(below)

    def row(self, index: int, width: int) -> Row:
        above, below = self._rows_around(self.scrollable_content_region.width)
        if index < len(above):
            return [(" " + above[index], self.palette.fault)]
        index -= len(above)
        if index >= len(self._frames):
            return [(" " + below[index - len(self._frames)], self.palette.dim)]
        return self._frame(self._frames[index], index == self._selected, width)

    def _frame(self, frame: Frame, selected: bool, width: int) -> Row:
        palette = self.palette
        kinds = {FrameKind.KERNEL: palette.kernel, FrameKind.PYTHON: palette.text, FrameKind.GLUE: palette.dim}
        place_width = max(cell_len(_place(f)) for f in self._frames)
        # A long function name gives way before the place does: the line number is what is looked for.
        longest = max(cell_len(f.function) for f in self._frames)
        name_width = max(8, min(longest, width - place_width - 6))
        room = width - name_width - place_width - 6
        kind = frame.kind.value
        if frame.kind is FrameKind.KERNEL and self._thread >= 0 and room >= len(f"{kind}, thread {self._thread}"):
            kind += f", thread {self._thread}"
        style: Style = palette.here if selected else kinds[frame.kind]
        return [
            (" ▶ " if selected else "   ", palette.here),
            (f"{fitted(frame.function, name_width)} ", style),
            (f"{fitted(_place(frame), place_width)}  ", palette.text if selected else palette.dim),
            (kind if len(kind) <= room else "", palette.dim),
        ]

    def chosen(self, index: int) -> None:
        frame = index - self._first()
        if 0 <= frame < len(self._frames):
            self.post_message(RunCommand(f"frame {frame}"))


def _place(frame: Frame) -> str:
    return f"{os.path.basename(frame.file)}:{frame.line}"
