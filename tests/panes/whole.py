"""The whole screen over a real session, and its rows as the terminal gets them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.app import App
from textual.pilot import Pilot

from pkdb_tui.app import PkdbApp
from pkdb_tui.engine.api import LaunchOptions, Phase


def debugging(folder: Path, text: str, *, theme: str = "") -> PkdbApp:
    script = folder / "p.py"
    script.write_text(text)
    return PkdbApp(LaunchOptions(script=str(script)), remember=False, theme=theme)


async def until_phase(app: PkdbApp, phase: Phase) -> None:
    """Until the session is in a phase, and the screen has been told of the stop, if that is one."""
    async with asyncio.timeout(20):
        while app.bridge.phase is not phase:
            await asyncio.sleep(0.01)
        if not phase.running:
            await app.bridge.session.settled()
            await app.bridge.delivered()


async def carried_out(app: PkdbApp, pilot: Pilot[Any]) -> None:
    """Until the keys pressed so far have had their effect, and what they began has ended and been shown."""
    async with asyncio.timeout(20):
        while app.typeahead.busy:
            await asyncio.sleep(0.01)
        await app.workers.wait_for_complete()
        await app.bridge.session.settled()
        await app.bridge.delivered()
    await pilot.pause()


async def until(pilot: Pilot[Any], holds: Callable[[], bool]) -> None:
    """Until something holds of what is shown."""
    async with asyncio.timeout(10):
        while not holds():
            await pilot.pause(0.01)


async def until_seen(app: App[Any], pilot: Pilot[Any], text: str) -> None:
    """Until a text is on the screen."""
    await until(pilot, lambda: text in seen(app))


def rows(app: App[Any]) -> list[str]:
    """All layers together, as they are drawn."""
    return ["".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()]


def seen(app: App[Any]) -> str:
    return "\n".join(rows(app))
