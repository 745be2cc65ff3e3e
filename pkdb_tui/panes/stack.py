"""The merged stack: kernel frames, then the Python frames that launched them; the traceback at an exception."""

from __future__ import annotations

import os

from pkdb_tui.engine.api import ExitCause, Frame, FrameKind, StopSnapshot
from pkdb_tui.panes.base import Pane, Row, RunCommand
from pkdb_tui.panes.palette import Palette


class StackPane(Pane):
    name_of_pane = "stack"
    help_text = "▶ the selected frame. Enter selects a frame; a shows or hides frames of libraries and generated code."

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self._snapshot: StopSnapshot | None = None
        self._ending: list[str] = []

    def show(self, snapshot: StopSnapshot | None) -> None:
        self._snapshot = snapshot
        self._ending = []
        if snapshot is not None and snapshot.exception is not None:
            self._ending = snapshot.exception.traceback.rstrip("\n").split("\n")
        if snapshot is not None:
            self.cursor_row = snapshot.frame
        self.rows_changed()
        if snapshot is not None:
            self.show_row(snapshot.frame)

    def show_end(self, cause: ExitCause) -> None:
        self._snapshot = None
        self._ending = cause.exception.traceback.rstrip("\n").split("\n") if cause.exception is not None else []
        self.rows_changed()

    def row_count(self) -> int:
        frames = len(self._snapshot.frames) if self._snapshot is not None else 0
        return frames + len(self._ending)

    def row(self, index: int, width: int) -> Row:
        palette = self.palette
        frames = self._snapshot.frames if self._snapshot is not None else ()
        if index >= len(frames):
            return [
                (
                    " " + self._ending[index - len(frames)],
                    palette.fault if index == self.row_count() - 1 else palette.dim,
                )
            ]
        assert self._snapshot is not None
        frame = frames[index]
        selected = index == self._snapshot.frame
        kinds = {FrameKind.KERNEL: palette.kernel, FrameKind.PYTHON: palette.text, FrameKind.GLUE: palette.dim}
        name_width = max(8, min(24, max(len(f.function) for f in frames)))
        place_width = min(28, max(len(_place(f)) for f in frames))
        kind = frame.kind.value
        if frame.kind is FrameKind.KERNEL and self._snapshot.focus is not None:
            kind += f", thread {self._snapshot.focus.thread}"
        return [
            (" ▶ " if selected else "   ", palette.here),
            (f"{frame.function:<{name_width}} ", palette.here if selected else kinds[frame.kind]),
            (f"{_place(frame):<{place_width}}  ", palette.text if selected else palette.dim),
            (kind, palette.dim),
        ]

    def chosen(self, index: int) -> None:
        if self._snapshot is not None and index < len(self._snapshot.frames):
            self.post_message(RunCommand(f"frame {index}"))


def _place(frame: Frame) -> str:
    return f"{os.path.basename(frame.file)}:{frame.line}"
