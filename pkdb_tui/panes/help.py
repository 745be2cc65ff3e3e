"""Help over the screen: the focused pane's keys, then every key, then the commands."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from pkdb_tui.panes.guard import Guarded


class TextScreen(Guarded, ModalScreen[None]):
    """A page of text over the screen; any of Esc, q, Enter and ? closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter", "dismiss", "close")]
    DEFAULT_CSS = """
    TextScreen { align: center middle; }
    #page {
        scrollbar-size: 1 1; scrollbar-color: $panel; scrollbar-background: $surface;
        width: 90%; max-width: 110; height: 85%; background: $surface; border: solid $panel; padding: 0 1;
    }
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        page = VerticalScroll(Static(self._text, markup=False), id="page")
        page.border_title = self._title
        page.border_subtitle = "Esc closes"
        yield page

    def on_mount(self) -> None:
        self.query_one("#page").focus()


class AskScreen(Guarded, ModalScreen[str]):
    """One line asked for; empty when given up."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "give_up", "give up")]
    DEFAULT_CSS = """
    AskScreen { align: left bottom; background: transparent; }
    AskScreen Input { height: 1; border: none; width: 100%; background: $surface; }
    AskScreen Static { height: 1; background: $surface; color: $foreground; }
    """

    def __init__(self, question: str, value: str = "") -> None:
        super().__init__()
        self._question = question
        self._value = value

    def compose(self) -> ComposeResult:
        from textual.widgets import Input

        yield Static(self._question, markup=False)
        yield Input(self._value, select_on_focus=False)

    def on_input_submitted(self, event: object) -> None:
        self.dismiss(getattr(event, "value", ""))

    def action_give_up(self) -> None:
        self.dismiss("")
