"""The program's terminal over its whole life: closed by the program, opened again, and after the end."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from pkdb_tui.engine.api import Event, Exited, LaunchOptions, Phase, ProgramOutput
from pkdb_tui.engine.moves import Verb
from pkdb_tui.engine.session import Session

CLOSES = """import os, sys
print("here", flush=True)
for number in (0, 1, 2):
    os.close(number)
open(sys.argv[1] + ".closed", "w").close()
while not os.path.exists(sys.argv[1]):
    pass
terminal = os.open("/dev/tty", os.O_RDWR)
os.write(terminal, b"back %d\\n" % os.get_terminal_size(terminal).columns)
os._exit(7)
"""


async def test_a_program_that_closes_its_descriptors_lives_on_and_may_open_its_terminal_again(tmp_path: Path) -> None:
    script, go = tmp_path / "closes.py", tmp_path / "go"
    script.write_text(CLOSES)
    events: list[Event] = []
    session = Session(LaunchOptions(script=str(script), arguments=(str(go),)), events.append)
    try:
        await session.start()
        await session.settled()
        await session.resume(Verb.CONTINUE)
        async with asyncio.timeout(20):
            while not go.with_suffix(".closed").exists():
                await asyncio.sleep(0.01)
        await session.describe_file(str(script))
        session.resize_terminal(97, 30)
        assert session.phase is Phase.RUNNING_PYTHON
        go.touch()
        await asyncio.wait_for(session.settled(), 20)
        [exited] = [event for event in events if isinstance(event, Exited)]
        assert (exited.cause.status, exited.cause.signal) == (7, "")
        assert b"back 97" in b"".join(e.data for e in events if isinstance(e, ProgramOutput))
    finally:
        await session.quit()


async def test_a_new_size_after_the_end_touches_nothing(tmp_path: Path) -> None:
    script = tmp_path / "ends.py"
    script.write_text("pass\n")
    session = Session(LaunchOptions(script=str(script)), lambda event: None)
    await session.start()
    await session.settled()
    program = session.program
    assert program is not None
    program.kill()
    number = os.open(os.devnull, os.O_RDONLY)  # may be that of the terminal that is closed
    try:
        program.resize(90, 20)
        program.write(b"x")
    finally:
        os.close(number)
    await session.quit()
