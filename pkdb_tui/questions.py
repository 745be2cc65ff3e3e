"""Actions that ask for a line first: a search, a line or thread to go to, a file, an expression to colour by."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import App

from pkdb_tui import keys
from pkdb_tui.panes import completion
from pkdb_tui.panes.base import Pane
from pkdb_tui.panes.help import AskScreen

if TYPE_CHECKING:
    from pkdb_tui.bridge import Bridge
    from pkdb_tui.config import Config
    from pkdb_tui.edit_screen import EditScreen
    from pkdb_tui.engine.api import Watch
    from pkdb_tui.engine.edits import Edits
    from pkdb_tui.engine.lens import Lens
    from pkdb_tui.panes.status import KeyLine
    from pkdb_tui.workspace import Workspace

OPEN = re.compile(r"open\s+(?![=(])(?P<file>.+)")


class Questions(App[int]):
    """What the app can ask; the answers go to panes, or become commands."""

    workspace: Workspace
    key_line: KeyLine
    bridge: Bridge
    settings: Config
    edit_screen: EditScreen | None = None  # the latest one
    _search = ""

    def run_command(self, text: str, *, quiet: bool = True) -> None:
        raise NotImplementedError

    async def carry_out(self, text: str, *, quiet: bool = False) -> bool:
        raise NotImplementedError

    def ask(self, line: AskScreen, then: Callable[[str], None]) -> None:
        """`then` gets what was entered; nothing when it was given up."""
        self.push_screen(line, lambda text: then(text) if text else None)

    def action_search(self) -> None:
        self.ask(AskScreen("search in the source:", placeholder=self._search, step=self._search_step), self._searched)

    def _search_step(self, text: str, step: int) -> None:
        self._searched(text or self._search, step)

    def _searched(self, text: str, step: int = 1) -> None:
        self._search = text
        self.action_search_again(step)

    def action_search_again(self, step: int = 1) -> None:
        if self._search and not self.workspace.source.search(self._search, step):
            self.key_line.say(f"`{self._search}` is not in this file.")

    def action_go_to(self) -> None:
        if self.workspace.threads.has_focus:
            self.ask(AskScreen("go to thread:"), lambda text: self.run_command(f"thread {text}"))
        else:
            self.ask(AskScreen("go to line:"), self._go_to_line)

    def _go_to_line(self, text: str) -> None:
        lines = self.workspace.source.row_count()
        if text.isdigit() and 1 <= int(text) <= lines:
            self.workspace.source.move_cursor(int(text) - 1)
        else:
            self.key_line.say(f"There is no line {text} here; the file has {lines}.")

    def action_open_file(self) -> None:
        self.ask(AskScreen("open file:", complete=completion.files), self.open_file)

    def open_file(self, name: str, *, focus: bool = True) -> None:
        """Show a file the person names, whether or not the program has imported it."""
        if self.workspace.source.open_named(name):
            if focus:
                self.workspace.show_pane("source")
        else:
            self.key_line.say(self.workspace.source.message, fault=True)

    def edit_watch(self, watch: Watch) -> None:
        self.ask(AskScreen("watch:", watch.expression), lambda text: self._rewatch(watch, text))

    def _rewatch(self, watch: Watch, text: str) -> None:
        if text != watch.expression:
            self.run_worker(self._exchange(watch, text), group="commands")

    async def _exchange(self, watch: Watch, text: str) -> None:
        if await self.carry_out(f"display {text}", quiet=True):
            await self.carry_out(f"undisplay {watch.id}", quiet=True)

    def action_heat(self) -> None:
        self.ask(AskScreen("colour threads by the value of:"), lambda text: self.run_command(f"parallel_print {text}"))

    def action_lens(self) -> None:
        """At the array under the cursor, or at one that is asked for."""
        expression = self.focused.expression if isinstance(self.focused, Pane) else ""
        if expression:
            self.run_command(f"lens {expression}")
        else:
            self.ask(AskScreen("look at array:"), lambda text: self.run_command(f"lens {text}"))

    def action_edit_kernel(self) -> None:
        source = self.workspace.source
        line = source.kernel_line if source.has_focus else 0
        self.run_command(f"edit {source.path}:{line}" if line else "edit")

    def show_over(self, shown: Lens | Edits) -> None:
        """What a command opens over the screen."""
        from pkdb_tui.engine.edits import Edits

        if isinstance(shown, Edits):
            from pkdb_tui.edit_screen import EditScreen

            usable = [key for key in keys.remapped(self.settings.keys, keys.PANE_KEYS) if key.pane == "editor"]
            self.edit_screen = EditScreen(shown, self.bridge.run, self.workspace.palette, usable)
            self.push_screen(self.edit_screen)
            return
        # Not at the top: numpy takes longer to load than the rest of the start.
        from pkdb_tui.lens_screen import LensScreen

        self.push_screen(LensScreen(shown, self.workspace.palette))
