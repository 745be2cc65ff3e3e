"""Titles in thin rules, the tab line, and the line between the columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.segment import Segment
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from pkdb_tui.panes.guard import Guarded
from pkdb_tui.panes.palette import Palette


class TabChosen(Message):
    """A tab's name was clicked."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Title(Guarded, Widget):
    """`─ stack ─────`, `─[stack]─────` with the focus; with several names it is a line of tabs.

    `read` gives (name, badge, active, focused) each; a badge that begins with `+` is news.
    """

    DEFAULT_CSS = "Title { height: 1; background: transparent; }"

    def __init__(
        self, palette: Palette, read: Callable[[], Sequence[tuple[str, str, bool, bool]]], identity: str
    ) -> None:
        super().__init__(id=identity)
        self.palette = palette
        self._read = read
        self._shown: Sequence[tuple[str, str, bool, bool]] = ()

    def renew(self) -> None:
        """Draw again what is another text now."""
        if self._shown != self._read():
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        segments: list[Segment] = [Segment("─", self.palette.rule)]
        self._shown = self._read()
        for name, badge, active, focused in self._shown:
            style = self.palette.here if focused else self.palette.text if active else self.palette.dim
            before, after = "[]" if focused else "  "  # the focus is seen without colours, too
            segments.append(Segment(f"{before}{name}", style))
            if badge:
                segments.append(Segment(f" {badge}", self.palette.changed if badge.startswith("+") else style))
            segments.append(Segment(after, style))
            segments.append(Segment("─", self.palette.rule))
        strip = Strip(segments)
        if strip.cell_length < width:
            strip = Strip([*segments, Segment("─" * (width - strip.cell_length), self.palette.rule)])
        return strip.crop(0, width).apply_style(self.rich_style)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    def on_click(self, event: object) -> None:
        at, x = 1, getattr(event, "x", 0)
        for name, badge, _, _ in self._read():
            length = len(name) + (len(badge) + 1 if badge else 0) + 2
            if at <= x < at + length:
                self.post_message(TabChosen(name))
                return
            at += length + 1


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
