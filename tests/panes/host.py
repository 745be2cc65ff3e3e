"""A pane alone on a screen, and its lines as a person reads them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.widget import Widget

from pkdb_tui import config
from pkdb_tui.panes.palette import Palette

PALETTE = Palette.of(config.theme("dark").colors)


class Host(App[None]):
    """Shows one widget and keeps the messages it sends."""

    def __init__(self, widget: Widget) -> None:
        super().__init__()
        self._widget = widget
        self.sent: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self._widget

    def show_internal_error(self, error: Exception) -> None:
        raise error

    def keep(self, message: Message) -> None:
        if type(message).__module__.startswith("pkdb_tui.") and message not in self.sent:
            self.sent.append(message)


@asynccontextmanager
async def shown(widget: Widget, width: int = 60, height: int = 12) -> AsyncIterator[Pilot[None]]:
    """The widget on a screen of that size, with the focus."""
    host = Host(widget)
    async with host.run_test(size=(width, height), message_hook=host.keep) as pilot:
        widget.focus()
        await pilot.pause()
        yield pilot


def lines(widget: Widget) -> list[str]:
    """What the widget shows, line by line, without trailing blanks."""
    return [widget.render_line(y).text.rstrip() for y in range(widget.size.height)]


Sent = TypeVar("Sent", bound=Message)


def sent(pilot: Pilot[None], kind: type[Sent]) -> list[Sent]:
    app = pilot.app
    assert isinstance(app, Host)
    return [message for message in app.sent if isinstance(message, kind)]
