"""The panes together: which are shown where, which has the focus, and their titles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from textual.app import ComposeResult
from textual.events import Resize
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from pkdb_tui.bridge import Bridge
from pkdb_tui.keys import PANES
from pkdb_tui.panes.arrangement import (
    PRESETS,
    RIGHT,
    SHARES,
    WorkspaceLayout,
    is_narrow,
    is_tiny,
    regions,
    tabs,
)
from pkdb_tui.panes.base import Pane
from pkdb_tui.panes.breakpoints import BreakpointsPane
from pkdb_tui.panes.console import ConsolePane
from pkdb_tui.panes.frames_around import NEWS, Divider, Tab, Title
from pkdb_tui.panes.generated import GeneratedPane
from pkdb_tui.panes.guard import Guarded
from pkdb_tui.panes.launches import LaunchesPane
from pkdb_tui.panes.output import OutputPane
from pkdb_tui.panes.palette import Palette
from pkdb_tui.panes.source import SourcePane
from pkdb_tui.panes.stack import StackPane
from pkdb_tui.panes.threads import ThreadsPane
from pkdb_tui.panes.variables import VariablesPane
from pkdb_tui.panes.watches import WatchesPane

SHORT = {"variables": "vars", "breakpoints": "breaks"}
SHORTEST = {
    "threads": "thr", "variables": "vars", "watches": "watch", "console": "cons", "output": "out", "launches": "launch",
    "breakpoints": "brk",
}  # fmt: skip
TINY = (
    "The terminal is small: the console alone fits. 60×15 shows more.",
    "The terminal is small: 60×15 shows more.",
    "60×15 shows more",
)  # the longest that fits


class Workspace(Guarded, Widget):
    """Everything between the top and the bottom line."""

    DEFAULT_CSS = """
    Workspace { height: 1fr; width: 1fr; margin: 0 0 1 0; background: transparent; overflow: hidden hidden; }
    #title-tiny { height: 1; }
    """

    def __init__(self, palette: Palette, bridge: Bridge, history: Path | None, leading: Mapping[str, str]) -> None:
        """`leading` are the keys that lead to the panes."""
        super().__init__(id="workspace")
        self.leading = leading
        self._layout_used = WorkspaceLayout()
        self._default_layout = self._layout_used  # type: ignore[assignment]
        self.palette = palette
        self.source = SourcePane(palette)
        self.threads = ThreadsPane(palette)
        self.stack = StackPane(palette)
        self.variables = VariablesPane(palette)
        self.watches = WatchesPane(palette)
        self.console = ConsolePane(palette, bridge.completions, bridge.incomplete, history)
        self.output = OutputPane(palette)
        self.launches = LaunchesPane(palette)
        self.breakpoints = BreakpointsPane(palette)
        self.generated = GeneratedPane(palette)
        self.panes: dict[str, Widget] = {name: getattr(self, name) for name in (*PANES, "generated")}
        self._titles = [Title(palette, partial(self._own_title, name), f"title-{name}") for name in self.panes]
        self._titles.append(Title(palette, self._tab_titles, "tabs"))
        self._tiny = Static(id="title-tiny", markup=False)
        self._divider = Divider(palette, self._junctions)
        self._before_tiny = ""  # the pane that had the focus while there was room for more than the console
        self._peeked: tuple[str, str] | None = None  # the tab that came without being asked for, and the one before
        self._preset = "balanced"
        self._sizes: dict[Pane, Size] = {}  # as the panes were told last
        self.moving_focus = 0  # panes that are about to get the focus

    def compose(self) -> ComposeResult:
        yield self._tiny
        yield from self._titles
        yield self._divider
        yield from self.panes.values()

    def on_mount(self) -> None:
        self.screen.screen_layout_refresh_signal.subscribe(self, self._laid_out)

    def _laid_out(self, _: object) -> None:
        """Tell panes of their size where Textual doesn't.

        Whatever asks for the region of a widget that isn't shown has Textual lay out at once, and for what changed
        by that, no Resize is sent when the screen is laid out next.
        """
        for pane in self.query(Pane):
            size = pane.size
            if size != self._sizes.get(pane, Size(0, 0)):
                self._sizes[pane] = size
                pane.post_message(Resize(size, pane.virtual_size, pane.container_size))

    # --- titles ---

    def _own_title(self, name: str) -> Sequence[Sequence[Tab]]:
        return [[self._title(name, True)]]

    def _title(self, name: str, active: bool) -> Tab:
        pane = self.panes[name]
        shown = name
        if name == "source" and self.source.path:
            shown = self.source.path.rsplit("/", 1)[-1]
        focused = active and self._has_focus(pane)
        return Tab(name, self.leading.get(name, ""), shown, str(getattr(pane, "badge", "")), active, focused)

    def _tab_titles(self) -> Sequence[Sequence[Tab]]:
        """The tabs, ever shorter: without counts but for the mark of news, then with short names."""
        active = self._active_tab()
        beside = is_narrow(self.size) and self._layout_used.wanted.beside
        full = [self._title(name, name == active and not beside) for name in tabs(self.size)]
        if is_narrow(self.size):
            full = [tab._replace(name=SHORT.get(tab.name, tab.name)) for tab in full]
            full = [tab._replace(badge="") if tab.pane in RIGHT else tab for tab in full]
        if beside:
            full.append(self._title("generated", True)._replace(name="C++", badge=""))
        marked = [tab._replace(badge=NEWS if tab.badge.startswith(NEWS) else "") for tab in full]
        shortest = [tab._replace(name=SHORTEST.get(tab.pane, tab.name)) for tab in marked]
        return full, marked, shortest

    def _active_tab(self) -> str:
        names = tabs(self.size)
        tab = self._layout_used.wanted.tab
        return tab if tab in names else "console"

    @staticmethod
    def _has_focus(pane: Widget) -> bool:
        return pane.has_focus or pane.has_focus_within

    def _junctions(self) -> set[int]:
        placed = self._layout_used.placed
        return {placed[f"title-{name}"].y for name in RIGHT if f"title-{name}" in placed}

    def refresh_titles(self) -> None:
        for title in self._titles:
            title.renew()

    # --- arrangement ---

    def _change(self, **fields: object) -> None:
        wanted = replace(self._layout_used.wanted, **fields)  # type: ignore[arg-type]
        if wanted != self._layout_used.wanted:
            self._layout_used.wanted = wanted
            # The arrangement is cached by size, and the size is the same.
            self._clear_arrangement_cache()
            self.refresh(layout=True)
            self.call_after_refresh(self._divider.refresh)  # its junctions are known then
            self.call_after_refresh(self.refresh_titles)

    def on_resize(self) -> None:
        self.forget_needs()
        self.refresh_titles()
        if is_tiny(self.size):
            self._tiny.update(next((text for text in TINY if len(text) <= self.size.width), TINY[-1]))
            self._before_tiny = self._before_tiny or self.focused_name()
            self.console.input.focus()
        elif self._before_tiny:
            name, self._before_tiny = self._before_tiny, ""
            self.show_pane(name)

    def fit(self) -> None:
        """Give the panes of the right column the rows they need; called when their rows are others."""
        known = dict(self._layout_used.wanted.needs)
        placed = self._layout_used.placed
        width = placed["stack"].width if "stack" in placed else self.size.width
        panes = {"threads": self.threads, "stack": self.stack, "watches": self.watches}
        needs = {name: max(known.get(name, 0), pane.rows_at(width)) for name, pane in panes.items()}
        self._change(needs=tuple(needs.items()))

    def forget_needs(self) -> None:
        """Begin anew with what the right column needs, at another size or another run."""
        self._change(needs=())
        self.fit()

    def show_stale(self, stale: bool) -> None:
        """Draw what belongs to a stop that is over as such."""
        for pane in (self.threads, self.stack, self.variables, self.watches):
            pane.show_stale(stale)

    def show_threads(self, shown: bool) -> None:
        self._change(threads=shown)

    def show_pane(self, name: str) -> None:
        """Bring a pane on screen and give it the focus."""
        if name not in self.panes:
            return
        if self._layout_used.wanted.zoomed:
            self._change(zoomed=name)
        if name in tabs(self.size):
            self._change(tab=name, beside=self._layout_used.wanted.beside and not is_narrow(self.size))
        if name in RIGHT and self._layout_used.wanted.beside:
            self._change(beside=False)
        if name == "threads" and name not in tabs(self.size):
            self._change(threads=True)
        self.moving_focus += 1
        self.call_after_refresh(self._focus, self.panes[name])

    def peek(self, name: str) -> None:
        """Bring a tab on screen, and the focus stays: not in the place of a tab that has it, nor of a zoomed pane."""
        wanted, active = self._layout_used.wanted, self._active_tab()
        if name == active or name not in tabs(self.size) or self.focused_name() in tabs(self.size):
            return
        if not wanted.zoomed and not (wanted.beside and is_narrow(self.size)):
            self._peeked = self._peeked or (name, active)
            self._change(tab=name)

    def end_peek(self) -> None:
        """Back to the tab that was there, unless the person has gone to another one."""
        (name, before), self._peeked = self._peeked or ("", ""), None
        if name and name == self._active_tab() and self.focused_name() not in tabs(self.size):
            self._change(tab=before)

    def _focus(self, pane: Widget) -> None:
        self.moving_focus -= 1
        self.screen.set_focus(self._inside(pane))

    @staticmethod
    def _inside(pane: Widget) -> Widget:
        """What has the focus when a pane has it."""
        if isinstance(pane, ConsolePane):
            return pane.input
        return pane.inside if isinstance(pane, OutputPane) else pane

    def focused_name(self) -> str:
        return next((name for name, pane in self.panes.items() if self._has_focus(pane)), "source")

    def is_tab(self, name: str) -> bool:
        """Whether a pane takes the console's place when it is shown."""
        return name != "console" and name in tabs(self.size)

    def typing(self) -> str:
        """The pane in whose line one types; empty where letters are commands."""
        if self.console.has_focus_within and self.console.input.has_focus:
            return "console"
        return "output" if self.output.has_focus_within and self.output.input.has_focus else ""

    def cycle(self, step: int) -> None:
        shown = [name for name in self.panes if name in self._layout_used.placed or name in tabs(self.size)]
        at = shown.index(self.focused_name()) if self.focused_name() in shown else 0
        self.show_pane(shown[(at + step) % len(shown)])

    def zoom(self) -> None:
        self._change(zoomed="" if self._layout_used.wanted.zoomed else self.focused_name())

    def toggle_generated(self) -> None:
        shown = not self._layout_used.wanted.beside
        if not shown and self.focused_name() == "generated":
            self.show_pane("source")
        self._change(beside=shown)

    def unzoom(self) -> None:
        self._change(zoomed="")

    def next_preset(self) -> str:
        """The next layout; the answer says what it gives to which panes."""
        names = list(PRESETS)
        self._preset = names[(names.index(self._preset) + 1) % len(names)]
        columns, rows, narrow_rows = PRESETS[self._preset]
        self._change(columns=columns, rows=rows, narrow_rows=narrow_rows)
        placed = regions(self.size, replace(self._layout_used.wanted, zoomed=""))
        below = f"{self.size.height - placed['tabs'].y - 1} of {self.size.height} rows to the panes at the bottom"
        beside = "" if is_narrow(self.size) else f", {self.size.width - placed['divider'].x - 1} columns to the right"
        return f"Layout {self._preset}: {below}{beside}."

    def resize_shares(self, columns: int = 0, rows: int = 0) -> None:
        wanted = self._layout_used.wanted
        name = "narrow_rows" if is_narrow(self.size) else "rows"
        share = max(15, min(70, getattr(wanted, name) + rows))
        self._change(columns=max(25, min(65, wanted.columns + columns)), **{name: share})

    def saved_layout(self) -> dict[str, int]:
        wanted = self._layout_used.wanted
        return {name: getattr(wanted, name) for name in SHARES}

    def restore_layout(self, layout: dict[str, int]) -> None:
        self._change(**{name: int(layout[name]) for name in SHARES if name in layout})

    def focused_help(self) -> tuple[str, str]:
        name = self.focused_name()
        return name, str(getattr(self.panes[name], "help_text", ""))

    def terminal_size(self) -> Size:
        """The size the program's terminal is given: that of the output pane."""
        return Size(max(self.size.width - 2, 20), max(self.size.height // 3, 5))
