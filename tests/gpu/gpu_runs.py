"""Programs for a device, and sessions that run them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from pkdb_tui.engine.api import Event, LaunchOptions
from pkdb_tui.engine.moves import Verb
from pkdb_tui.engine.session import Session

PROGRAMS = Path(__file__).with_name("programs")
ROOT = Path(__file__).parents[2]
PATIENCE = 40.0

Plain = Callable[..., str]


def environment(**more: str) -> dict[str, str]:
    """The program finds this checkout."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]), **more}


class Running:
    """A session of the engine, stopped before the program's first line; quit at the end of the block."""

    def __init__(self, program: str, *arguments: str) -> None:
        self.script = str(PROGRAMS / program)
        options = LaunchOptions(script=self.script, arguments=arguments, runtime="embedded", environment=environment())
        self.events: list[Event] = []
        self.session = Session(options, self.events.append)

    async def __aenter__(self) -> Running:
        await self.session.start()
        await self.settled()
        return self

    async def settled(self) -> None:
        await asyncio.wait_for(self.session.settled(), PATIENCE)

    async def go(self, verb: Verb = Verb.CONTINUE) -> None:
        await self.session.resume(verb)
        await self.settled()

    async def __aexit__(self, *_: object) -> None:
        await self.session.quit()
