"""Files in folders whose names have blanks, quotes and letters beyond ASCII."""

from __future__ import annotations

from pathlib import Path

import pytest
from debugged import Debugged
from kernel_programs import BODY, compile_kernel

from pkdb_tui.engine.native.base import NativeBreakpoint

ROWS = f"""
def work(i, acc, a):               ## {BODY}
    value: float = i               ## double value = i;
    acc += value                   ## acc += value;
                                   ## }}
"""


@pytest.mark.parametrize("folder", ["with blanks", "it's", "größe µ", "a:b", "100%", "two  blanks", "(1)"])
async def test_stops_and_frames_name_the_file(tmp_path: Path, folder: str) -> None:
    place = tmp_path / folder
    place.mkdir()
    program = compile_kernel(place, ROWS)
    async with Debugged(program, threads=1, count=2) as run:
        [placement] = await run.begin(run.at("acc += value"))
        assert placement.locations == 1, placement.reason
        await run.stop()
        frame = (await run.controller.frames(0))[0]
        assert (frame.file, frame.line) == (program.script, program.line("acc += value"))
        [late] = await run.controller.place([NativeBreakpoint(id=2, source=program.script, line=9)])
        assert (late.pending, late.reason) == (True, "the kernel has not run yet")
