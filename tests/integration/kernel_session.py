"""A session of the engine on `some_rows.py`, run in the test's own process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from cli import FIXTURES

from pkdb_tui.engine.api import BreakpointSpec, Event, LaunchOptions, Phase
from pkdb_tui.engine.moves import Verb
from pkdb_tui.engine.session import Session

SCRIPT = str(FIXTURES / "some_rows.py")
PATIENCE = 30.0


class SomeRows:
    """Stopped before its first line, with a breakpoint in its kernel; quit at the end of the block."""

    def __init__(
        self,
        threads: int = 2,
        *,
        listener: Callable[[Event], None] = lambda event: None,
        patience: float = PATIENCE,
    ) -> None:
        variables = {"OMP_NUM_THREADS": str(threads)}
        options = LaunchOptions(script=SCRIPT, runtime="embedded", environment=variables)
        self.session = Session(options, listener)
        self._patience = patience

    async def __aenter__(self) -> Session:
        await self.session.start()
        await self.settled()
        await self.session.add_breakpoint(BreakpointSpec(file=SCRIPT, line=13))
        return self.session

    async def settled(self) -> None:
        await asyncio.wait_for(self.session.settled(), self._patience)

    async def to_the_kernel(self) -> None:
        """On to the breakpoint."""
        await self.session.resume(Verb.CONTINUE)
        await self.settled()
        assert self.session.phase is Phase.STOPPED_KERNEL

    async def __aexit__(self, *_: object) -> None:
        await self.session.quit()
