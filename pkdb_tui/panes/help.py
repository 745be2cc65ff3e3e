"""Help over the screen: the focused pane's keys, then every key, then the commands."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Callable
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from pkdb_tui.panes import completion
from pkdb_tui.panes.guard import Guarded

CHOICES = 40
COLUMNS = re.compile(r"\s*\S(?:.*?\S)?\s{2,}(?=\S)")  # the first of two


class Page(Guarded, Static):
    """A text whose rows of two columns, `name   what it is`, keep the second one where they are wrapped."""

    def __init__(self, text: str) -> None:
        super().__init__(text, markup=False)
        self.text = text

    def on_resize(self) -> None:
        self.update("\n".join(_hung(line, self.size.width) for line in self.text.split("\n")))


def _hung(line: str, width: int) -> str:
    """A row of two columns over as many rows as it needs; any other line as it is."""
    found = COLUMNS.match(line)
    if found is None or cell_len(line) <= width or found.end() > width // 2:
        return line
    rows = textwrap.wrap(line[found.end() :], max(width - found.end(), 10), break_long_words=False)
    return f"\n{' ' * found.end()}".join([found[0] + rows[0], *rows[1:]])


class TextScreen(Guarded, ModalScreen[None]):
    """A page of text over the screen, or all of a small one; any of Esc, q, Enter and ? closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter", "dismiss", "close")]
    DEFAULT_CSS = """
    TextScreen { align: center middle; }
    #page {
        scrollbar-size: 1 1; scrollbar-color: $panel; scrollbar-background: $surface;
        width: 100%; max-width: 110; height: 85%; background: $surface; border: solid $panel; padding: 0 1;
        border-title-color: $foreground; border-subtitle-color: $foreground;
    }
    TextScreen.-small #page { max-width: 100%; height: 100%; }
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-small"), (130, "-large")]
        self._title = title
        self.text = text

    def compose(self) -> ComposeResult:
        page = VerticalScroll(Page(self.text), id="page")
        page.border_title = self._title
        page.border_subtitle = "Esc closes"
        yield page

    def on_mount(self) -> None:
        self.query_one("#page").focus()


class AskScreen(Guarded, ModalScreen[str]):
    """One line asked for; empty when given up."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "give_up", "give up"),
        Binding("tab", "complete", "complete", priority=True),
        Binding("down,ctrl+n", "step(1)", "next"),
        Binding("up,ctrl+p", "step(-1)", "previous"),
    ]
    DEFAULT_CSS = """
    AskScreen { align: left bottom; background: transparent; }
    AskScreen Horizontal { height: 1; background: $surface; }
    AskScreen Input, AskScreen Input:focus {
        height: 1; border: none; padding: 0; width: 1fr; background: $surface; background-tint: transparent;
    }
    AskScreen Static { height: auto; width: auto; padding: 0 1; background: $surface; color: $primary; }
    AskScreen #choices { width: 100%; color: $foreground; display: none; }
    """

    def __init__(
        self,
        question: str,
        value: str = "",
        *,
        placeholder: str = "",
        complete: Callable[[str], list[str]] | None = None,
        step: Callable[[str, int], None] | None = None,
    ) -> None:
        """`complete` gives what a text can be completed to by Tab; `step` is called on the arrows with the text and
        1 or -1. The placeholder is what nothing typed stands for."""
        super().__init__()
        self._complete = complete
        self._step = step
        self._stepped: str | None = None  # the text that the arrows last went by
        self._placeholder = placeholder
        self._choices = Static("", id="choices", markup=False)
        self._question = Static(question, markup=False)
        self.input = Input(value, placeholder, select_on_focus=False)

    def compose(self) -> ComposeResult:
        yield self._choices
        with Horizontal():
            yield self._question
            yield self.input

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        # Where the arrows have led already, Enter stays.
        self.dismiss("" if self._stepped == event.value else event.value or self._placeholder)

    def action_complete(self) -> None:
        """As far as all agree; what there is to choose from is shown above."""
        found = self._complete(self.input.value) if self._complete is not None else []
        if not found:
            return
        self.input.value = completion.common(found)
        self.input.cursor_position = len(self.input.value)
        names = [os.path.basename(name.rstrip("/")) + "/" * name.endswith("/") for name in found[:CHOICES]]
        self._choices.update("  ".join(names) + ("  …" if len(found) > CHOICES else ""))
        self._choices.display = len(found) > 1

    def action_step(self, step: int) -> None:
        if self._step is not None:
            self._stepped = self.input.value
            self._step(self.input.value, step)

    def action_give_up(self) -> None:
        self.dismiss("")
