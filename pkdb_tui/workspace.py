"""The panes together: which are shown where, which has the focus, and their titles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from textual.app import ComposeResult
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from pkdb_tui.bridge import Bridge
from pkdb_tui.keys import PANES
from pkdb_tui.panes.arrangement import PRESETS, RIGHT, WorkspaceLayout, is_narrow, is_tiny, tabs
from pkdb_tui.panes.breakpoints import BreakpointsPane
from pkdb_tui.panes.console import ConsolePane
from pkdb_tui.panes.frames_around import Divider, Title
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
TINY = "The terminal is small: the console alone fits. 60×15 shows more."


class Workspace(Guarded, Widget):
    """Everything between the top and the bottom line."""

    DEFAULT_CSS = """
    Workspace { height: 1fr; width: 1fr; margin: 0 0 1 0; background: transparent; overflow: hidden hidden; }
    #title-tiny { height: 1; }
    """

    def __init__(self, palette: Palette, bridge: Bridge, history: Path | None) -> None:
        super().__init__(id="workspace")
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
        self._divider = Divider(palette, self._junctions)
        self._before_tiny = ""  # the pane that had the focus while there was room for more than the console
        self._peeked: tuple[str, str] | None = None  # the tab that came without being asked for, and the one before
        self._preset = "balanced"
        self.moving_focus = 0  # panes that are about to get the focus

    def compose(self) -> ComposeResult:
        yield Static(TINY, id="title-tiny", markup=False)
        yield from self._titles
        yield self._divider
        yield from self.panes.values()

    # --- titles ---

    def _own_title(self, name: str) -> Sequence[tuple[str, str, bool, bool]]:
        return [self._title(name, True)]

    def _title(self, name: str, active: bool) -> tuple[str, str, bool, bool]:
        pane = self.panes[name]
        shown = name
        if name == "source" and self.source.path:
            shown = self.source.path.rsplit("/", 1)[-1]
        return shown, str(getattr(pane, "badge", "")), active, active and self._has_focus(pane)

    def _tab_titles(self) -> Sequence[tuple[str, str, bool, bool]]:
        active = self._active_tab()
        rows = []
        for name in tabs(self.size):
            _, badge, on, focused = self._title(name, name == active)
            label = SHORT.get(name, name) if is_narrow(self.size) else name
            rows.append((label, badge if name not in RIGHT else "", on, focused))
        if sum(len(name) + len(badge) + 4 for name, badge, _, _ in rows) > self.size.width:
            # No room for counts, but for the mark that there is something new.
            return [
                (name, badge[:1] if badge.startswith("+") else "", on, focused) for name, badge, on, focused in rows
            ]
        return rows

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
        names = list(PRESETS)
        self._preset = names[(names.index(self._preset) + 1) % len(names)]
        columns, rows = PRESETS[self._preset]
        self._change(columns=columns, rows=rows)
        return self._preset

    def resize_shares(self, columns: int = 0, rows: int = 0) -> None:
        wanted = self._layout_used.wanted
        self._change(
            columns=max(25, min(65, wanted.columns + columns)),
            rows=max(15, min(70, wanted.rows + rows)),
        )

    def saved_layout(self) -> dict[str, int]:
        wanted = self._layout_used.wanted
        return {"columns": wanted.columns, "rows": wanted.rows}

    def restore_layout(self, layout: dict[str, int]) -> None:
        self._change(columns=int(layout.get("columns", 41)), rows=int(layout.get("rows", 30)))

    def focused_help(self) -> tuple[str, str]:
        name = self.focused_name()
        return name, str(getattr(self.panes[name], "help_text", ""))

    def terminal_size(self) -> Size:
        """The size the program's terminal is given: that of the output pane."""
        return Size(max(self.size.width - 2, 20), max(self.size.height // 3, 5))
