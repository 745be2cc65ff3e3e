"""Titles in thin rules, the tab line, and the line between the columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from pkdb_tui.panes.guard import Guarded
from pkdb_tui.panes.palette import Palette

NEWS = "+"  # begins a badge of what came since the pane was last on screen
LOOSE = 2  # lengths that are tried with room between the tabs


class TabChosen(Message):
    """A pane's title was clicked."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Tab(NamedTuple):
    """A pane's title: the key that leads there, its name, and what stands behind that; `+` begins what is news."""

    pane: str
    key: str
    name: str
    badge: str = ""
    active: bool = False
    focused: bool = False

    @property
    def label(self) -> str:
        return f"{self.key}:{self.name}" if self.key else self.name


class Title(Guarded, Widget):
    """`─ 3:stack ─────`, `─[3:stack]─────` with the focus; with several names it is a line of tabs.

    `read` gives them in several lengths, the fullest first: two with room between, then all closer together.
    """

    DEFAULT_CSS = "Title { height: 1; background: transparent; }"

    def __init__(self, palette: Palette, read: Callable[[], Sequence[Sequence[Tab]]], identity: str) -> None:
        super().__init__(id=identity)
        self.palette = palette
        self._read = read
        self._shown: Sequence[Sequence[Tab]] = ()
        self._places: list[tuple[int, int, str]] = []  # columns of each pane's title

    def renew(self) -> None:
        """Draw again what is another text now."""
        if self._shown != self._read():
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        self._shown = self._read()
        loose = [(self._loose, tabs) for tabs in self._shown[:LOOSE]]
        segments: list[Segment] = []
        for draw, tabs in [*loose, *((self._close, tabs) for tabs in self._shown)]:
            segments = draw(tabs)
            length = sum(segment.cell_length for segment in segments)
            if length <= width:
                rest = Segment("─" * (width - length), self.palette.rule)
                return Strip([*segments, rest]).apply_style(self.rich_style)
        strip = Strip(segments).crop(0, width - 1)
        return Strip([*strip, Segment("…", self.palette.dim)]).apply_style(self.rich_style)

    def _loose(self, tabs: Sequence[Tab]) -> list[Segment]:
        """`─ 6:console ─[7:output 3]─`."""
        segments = [Segment("─", self.palette.rule)]
        at, self._places = 1, []
        for tab in tabs:
            before, after = "[]" if tab.focused else "  "  # the focus is seen without colours, too
            said = self._said(tab)
            segments += [Segment(before, self._style(tab)), *said, Segment(after, self._style(tab))]
            segments.append(Segment("─", self.palette.rule))
            length = sum(segment.cell_length for segment in said) + 2
            self._places.append((at, at + length, tab.pane))
            at += length + 1
        return segments

    def _close(self, tabs: Sequence[Tab]) -> list[Segment]:
        """`─6:console[7:output+]8:launches─`."""
        segments: list[Segment] = []
        at, self._places = 1, []
        focused = False
        for tab in tabs:
            between = "[" if tab.focused else "]" if focused else "─"
            style = self.palette.here if tab.focused or focused else self.palette.rule
            said = self._said(tab)
            segments += [Segment(between, style), *said]
            length = sum(segment.cell_length for segment in said)
            self._places.append((at, at + length, tab.pane))
            at += length + 1
            focused = tab.focused
        segments.append(Segment("]", self.palette.here) if focused else Segment("─", self.palette.rule))
        return segments

    def _said(self, tab: Tab) -> list[Segment]:
        style = self._style(tab)
        key = [Segment(f"{tab.key}:", style if tab.focused else self.palette.dim)] if tab.key else []
        segments = [*key, Segment(tab.name, style)]
        if tab.badge:
            blank = "" if tab.badge == NEWS else " "
            segments.append(Segment(blank + tab.badge, self.palette.changed if tab.badge.startswith(NEWS) else style))
        return segments

    def _style(self, tab: Tab) -> Style:
        return self.palette.here if tab.focused else self.palette.text if tab.active else self.palette.dim

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    def on_click(self, event: object) -> None:
        x = getattr(event, "x", 0)
        for start, stop, pane in self._places:
            if start <= x < stop:
                self.post_message(TabChosen(pane))


class Divider(Guarded, Widget):
    """The line between the columns, with a junction wherever a title begins; `junctions` gives their rows."""

    DEFAULT_CSS = "Divider { width: 1; background: transparent; }"

    def __init__(self, palette: Palette, junctions: Callable[[], set[int]]) -> None:
        super().__init__(id="divider")
        self.palette = palette
        self._junctions = junctions

    def render_line(self, y: int) -> Strip:
        mark = "┬" if y == 0 else "├" if y in self._junctions() else "│"
        return Strip([Segment(mark, self.palette.rule)]).apply_style(self.rich_style)
