"""Keys that come in one burst: each goes where the ones before it have led."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from whole import debugging, until_phase

from pkdb_tui.app import PkdbApp
from pkdb_tui.engine.api import Phase
from pkdb_tui.panes.help import AskScreen, TextScreen
from pkdb_tui.typeahead import KeyParser

pytestmark = pytest.mark.usefixtures("no_settings")
TEXT = "".join(f"value_{number} = {number}\n" for number in range(1, 61))


def keys(text: str) -> list[str]:
    return [message.key for message in KeyParser().feed(text) if isinstance(message, events.Key)]


async def burst(pilot: Pilot[int], text: str) -> None:
    """What a terminal sends in one write, and until it has had its effect."""
    app = pilot.app
    assert isinstance(app, PkdbApp)
    parser = KeyParser()
    for message in [*parser.feed(text), *parser._end_escape()]:
        message.set_sender(app)
        app._driver.send_message(message)  # type: ignore[union-attr]
    await pilot.pause()
    async with asyncio.timeout(10):
        while app.typeahead.busy:
            await asyncio.sleep(0.01)
    await app.workers.wait_for_complete([worker for worker in app.workers if worker.group == "commands"])
    await pilot.pause()


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
async def test_a_burst_behind_a_key_that_asks_goes_to_what_it_opens(tmp_path: Path, columns: int, rows: int) -> None:
    app = debugging(tmp_path, TEXT)
    async with app.run_test(size=(columns, rows)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        source, console = app.workspace.source, app.workspace.console
        await burst(pilot, "/cqn")
        assert isinstance(app.screen, AskScreen)
        assert app.screen.input.value == "cqn"
        await burst(pilot, "\x1b")
        assert not isinstance(app.screen, AskScreen)
        await burst(pilot, "/value_30\rb")
        assert source.cursor_row == 29
        assert [b.line for b in app.bridge.session.breakpoints] == [30]
        await burst(pilot, "g12\rb")
        assert [b.line for b in app.bridge.session.breakpoints] == [30, 12]
        await burst(pilot, "wcontinue_ + 1\r")
        assert [watch.expression for watch in app.bridge.session.watches] == ["continue_ + 1"]
        assert app.workspace.focused_name() == "source"
        await burst(pilot, "e2 + 3\rn")
        assert "5" in [text for text, _ in console.lines._texts]
        await burst(pilot, ":print 40 + 2\r")
        assert "42" in [text for text, _ in console.lines._texts]
        assert app.workspace.focused_name() == "console"
        await burst(pilot, "cqn\x1b:print 6 * 7.5\r")
        assert "45.0" in [text for text, _ in console.lines._texts]
        await burst(pilot, "\x1b?")
        assert isinstance(app.screen, TextScreen)
        await burst(pilot, "q")
        assert app.workspace.focused_name() == "source"
        assert app.bridge.phase is Phase.STOPPED_PYTHON
        assert app.bridge.session.require_stop().location.line == 2
        assert app.internal_errors == []
        await app.bridge.session.quit()


async def test_the_palette_gets_what_is_typed_behind_its_key(tmp_path: Path) -> None:
    app = debugging(tmp_path, TEXT)
    async with app.run_test(size=(120, 40)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await burst(pilot, "\x10cnq")
        assert app.screen.query_one("CommandInput").value == "cnq"  # type: ignore[attr-defined]
        assert app.bridge.session.require_stop().location.line == 1
        await app.bridge.session.quit()


def test_escape_and_a_key_right_behind_it_are_two_keys() -> None:
    assert keys("\x1bc") == ["escape", "c"]
    assert keys("\x1b:a") == ["escape", "colon", "a"]
    assert keys("\x1b\r") == ["escape", "enter"]
    assert keys("\x1b" + "n" * 40) == ["escape", *"n" * 40]
    assert keys("\x1b[A\x1b\x1bR\x1bOP") == ["up", "escape", "escape", "R", "f1"]


def test_escape_and_a_key_of_the_next_read() -> None:
    parser = KeyParser()
    found = [message.key for part in ("\x1b", ":", "x") for message in parser.feed(part)]  # type: ignore[attr-defined]
    assert found == ["escape", "colon", "x"]


def test_what_is_pasted_stays_in_one_piece() -> None:
    found = list(KeyParser().feed("a\x1b[200~print 1\nnext\x1b[201~b"))
    assert [type(message) for message in found] == [events.Key, events.Paste, events.Key]
    assert isinstance(found[1], events.Paste)
    assert found[1].text == "print 1\nnext"
