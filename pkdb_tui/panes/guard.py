"""The one place where errors of the screen's own code are caught: they are shown, and the session goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from textual.message import Message
from textual.message_pump import MessagePump


@contextmanager
def errors_shown(app: Any) -> Iterator[None]:
    """What fails inside is shown by the app."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever it is, the person's session must survive it
        app.show_internal_error(error)


class Guarded(MessagePump):
    """A widget, screen or app whose handlers may fail without ending the program."""

    async def _dispatch_message(self, message: Message) -> None:
        with errors_shown(self.app):
            await super()._dispatch_message(message)
