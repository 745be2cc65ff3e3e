"""A program that waits for its terminal is told to, however it reads; one that does anything else is not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pkdb_tui.engine.api import Event, InputWanted, LaunchOptions, Phase
from pkdb_tui.engine.moves import Verb
from pkdb_tui.engine.session import Session
from pkdb_tui.engine.terminal_input import PERIOD

READS = {
    "input": "input('name? ')",
    "readline": "import readline; input('name? ')",
    "a thread": "import threading; t = threading.Thread(target=input); t.start(); t.join()",
    "a child": "import subprocess; subprocess.run(['head', '-n1'])",
    "the terminal itself": "open('/dev/tty').readline()",
    "select": "import select, sys; select.select([sys.stdin], [], []); input()",
    "poll": "import select; p = select.poll(); p.register(0, select.POLLIN); p.poll(); input()",
    "epoll": "import select; p = select.epoll(); p.register(0, select.EPOLLIN); p.poll(); input()",
}
OTHERS = {
    "runs": "while True: pass",
    "sleeps": "import time; time.sleep(60)",
    "reads a pipe": "import os; os.read(os.pipe()[0], 1)",
    "reads in turns": "import select, sys\nwhile True: select.select([sys.stdin], [], [], 0.01)",
}


async def started(tmp_path: Path, text: str) -> tuple[Session, list[Event]]:
    (tmp_path / "p.py").write_text(text + "\n")
    events: list[Event] = []
    session = Session(LaunchOptions(script=str(tmp_path / "p.py")), events.append)
    await session.start()
    await session.settled()
    await session.resume(Verb.CONTINUE)
    return session, events


def told(events: list[Event]) -> list[bool]:
    return [event.wanted for event in events if isinstance(event, InputWanted)]


@pytest.mark.parametrize("how", READS)
async def test_what_waits_for_its_terminal_is_told(tmp_path: Path, how: str) -> None:
    session, events = await started(tmp_path, READS[how])
    async with asyncio.timeout(10):
        while not told(events):
            await asyncio.sleep(0.01)
        session.write_input(b"Ada\n")
        while session.phase is not Phase.EXITED:
            await asyncio.sleep(0.01)
    assert session.exit_cause is not None
    assert session.exit_cause.status == 0
    assert told(events) == [True, False]
    await session.quit()


@pytest.mark.parametrize("how", OTHERS)
async def test_what_waits_for_nothing_is_not(tmp_path: Path, how: str) -> None:
    session, events = await started(tmp_path, OTHERS[how])
    await asyncio.sleep(5 * PERIOD)
    assert session.phase.running
    assert told(events) == []
    await session.quit()
