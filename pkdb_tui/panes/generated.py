"""The C++ made from a kernel, beside its Python lines: the lines of the statement in focus are marked."""

from __future__ import annotations

import re
from pathlib import Path

from rich.style import Style

from pkdb_tui.engine.api import FrameKind, StopSnapshot
from pkdb_tui.panes.base import PLAIN, Pane, Row
from pkdb_tui.panes.highlighting import SourceText
from pkdb_tui.panes.palette import Palette

_DIRECTIVE = re.compile(r'#line (\d+) "(.*)"')


class GeneratedPane(Pane):
    name_of_pane = "generated"
    help_text = "▶ C++ of the Python line in focus. The number is that of the Python line; G closes this pane."
    frozen = 7

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self._path = ""
        self._source: SourceText | None = None
        self._places: list[tuple[str, int]] = []  # the Python file and line each shown line was made from
        self._focus = ("", 0)

    @property
    def badge(self) -> str:
        return "C++" if self._source is not None else ""

    def show(self, snapshot: StopSnapshot | None) -> None:
        """The code of the kernel that a stop is in; it stays while the program runs."""
        self._focus = ("", 0)
        if snapshot is not None and snapshot.kernel is not None:
            self._open(snapshot.kernel.generated)
            if snapshot.location.kind is FrameKind.KERNEL:
                self._focus = (snapshot.location.file, snapshot.location.line)
        if self._focus in self._places:
            self.cursor_row = self._places.index(self._focus)
            self.show_row(self.cursor_row)
        self.refresh()

    def _open(self, path: str) -> None:
        if path == self._path:
            return
        self._path, self._source, self._places = path, None, []
        text = _read(path)
        if text is not None:
            lines, self._places = without_directives(text)
            self._source = SourceText(path, "\n".join(lines))
            self._source.prepare(self.palette)
        self.rows_changed()

    def row_count(self) -> int:
        return len(self._places) or 1

    def row(self, index: int, width: int) -> Row:
        palette = self.palette
        if self._source is None:
            return [(" no C++ to show: stop in a kernel that was compiled for debugging", palette.dim)]
        here = self._places[index] == self._focus
        number = str(self._places[index][1] or "")
        mark = ("▶ ", palette.here) if here else ("  ", palette.text)
        return [(f"{number:>4} ", palette.here if here else palette.dim), mark, *self._source.row(index, palette)]

    def row_style(self, index: int) -> Style:
        here = index < len(self._places) and self._focus[1] and self._places[index] == self._focus
        return self.palette.here_line if here else super().row_style(index) if self._places else PLAIN


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace") if path else None
    except OSError:
        return None  # the cache was cleared meanwhile: the pane says that there is nothing to show


def without_directives(text: str) -> tuple[list[str], list[tuple[str, int]]]:
    """(the lines other than `#line`, the Python file and line of each); line 0 where a line has none."""
    lines: list[str] = []
    places: list[tuple[str, int]] = []
    place = ("", 0)
    for line in text.splitlines():
        found = _DIRECTIVE.match(line.strip())
        if found:
            file = found[2].partition("#")[0]  # conditions and tests of loops have names of their own behind it
            place = (file, int(found[1])) if file.endswith(".py") else ("", 0)
            continue
        lines.append(line)
        places.append(place)
        if place[1]:
            place = (place[0], place[1] + 1)
    return lines, places
