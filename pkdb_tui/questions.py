"""Actions that ask for a line first: a search, a line or thread to go to, a file, an expression to colour by."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from textual import work
from textual.app import App

from pkdb_tui.panes import completion
from pkdb_tui.panes.help import AskScreen

if TYPE_CHECKING:
    from pkdb_tui.engine.api import Watch
    from pkdb_tui.panes.status import KeyLine
    from pkdb_tui.workspace import Workspace

OPEN = re.compile(r"open\s+(?![=(])(?P<file>.+)")


class Questions(App[int]):
    """What the app can ask; the answers go to panes, or become commands."""

    workspace: Workspace
    key_line: KeyLine
    _search = ""

    def run_command(self, text: str, *, quiet: bool = True) -> None:
        raise NotImplementedError

    async def carry_out(self, text: str, *, quiet: bool = False) -> bool:
        raise NotImplementedError

    @work(group="ask")
    async def action_search(self) -> None:
        self._search = await self.push_screen_wait(AskScreen("search in the source:", self._search)) or self._search
        self.action_search_again()

    def action_search_again(self, step: int = 1) -> None:
        if self._search and not self.workspace.source.search(self._search, step):
            self.key_line.say(f"`{self._search}` is not in this file.")

    @work(group="ask")
    async def action_go_to(self) -> None:
        if self.workspace.threads.has_focus:
            text = await self.push_screen_wait(AskScreen("go to thread:"))
            if text:
                self.run_command(f"thread {text}")
            return
        text = await self.push_screen_wait(AskScreen("go to line:"))
        lines = self.workspace.source.row_count()
        if text.isdigit() and 1 <= int(text) <= lines:
            self.workspace.source.move_cursor(int(text) - 1)
        elif text:
            self.key_line.say(f"There is no line {text} here; the file has {lines}.")

    @work(group="ask")
    async def action_open_file(self) -> None:
        self.open_file(await self.push_screen_wait(AskScreen("open file:", complete=completion.files)))

    def open_file(self, name: str, *, focus: bool = True) -> None:
        """Show a file the person names, whether or not the program has imported it."""
        if not name:
            return
        if self.workspace.source.open_named(name):
            if focus:
                self.workspace.show_pane("source")
        else:
            self.key_line.say(self.workspace.source.message, fault=True)

    @work(group="ask")
    async def edit_watch(self, watch: Watch) -> None:
        text = await self.push_screen_wait(AskScreen("watch:", watch.expression))
        if text and text != watch.expression and await self.carry_out(f"display {text}", quiet=True):
            await self.carry_out(f"undisplay {watch.id}", quiet=True)

    @work(group="ask")
    async def action_heat(self) -> None:
        text = await self.push_screen_wait(AskScreen("colour threads by the value of:"))
        if text:
            self.run_command(f"parallel_print {text}")
