"""Kernels of the embedded runtime, as its translator makes them, under a real gdb."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from debugged import Debugged, Ended
from kernel_programs import KernelProgram

from pkdb_tui.engine.api import ThreadState
from pkdb_tui.engine.native.base import NativeBreakpoint, StepKind, StopCause
from pkdb_tui.engine.protocol import KernelReady

Write = Callable[[str], Path]
HOST = Path(__file__).with_name("minikokkos_host.py")

SUMS = """
import numpy as np
import pkdb_tui.minikokkos as pk

@pk.function
def half(x: float) -> float:
    y: float = x / 2.0
    return y

@pk.workunit
def sums(i: int, acc: pk.Acc[float], a: pk.View2D[pk.double], flags: pk.View1D[pk.int32]):
    row: float = 0.0
    for k in range(a.extent(1)):
        row += a[i, k]
    if flags[i] == 1:
        row = half(row)
    acc += row

a = np.arange(32.0).reshape(8, 4)
flags = np.zeros(8, np.int32)
flags[[2, 5]] = 1
print(pk.parallel_reduce(pk.RangePolicy(pk.OpenMP, 0, 8), sums, a=a.T.copy().T, flags=flags))
"""

TEAMS = """
import numpy as np
import pkdb_tui.minikokkos as pk

@pk.workunit
def teams(team: pk.TeamMember, out: pk.View1D[pk.double]):
    rank: int = team.team_rank()
    out[rank] = rank + 1.0
    team.team_barrier()
    out[rank + 2] = out[1 - rank]

out = np.zeros(4)
pk.parallel_for(pk.TeamPolicy(pk.OpenMP, 1, 2), teams, out=out)
"""

BEYOND = """
import numpy as np
import pkdb_tui.minikokkos as pk

@pk.workunit
def beyond(i: int, a: pk.View1D[pk.double]):
    value: float = i
    a[i + 1] = value

pk.parallel_for(pk.RangePolicy(pk.OpenMP, 0, 4), beyond, a=np.zeros(4))
"""


class DebuggedScript(Debugged):
    """A script whose first launch is debugged; `conditions` are built into it."""

    def __init__(self, script: Path, *, threads: int = 2, conditions: Sequence[dict[str, Any]] = ()) -> None:
        nothing = KernelReady(
            launch=0, kernel="", file="", first_line=0, last_line=0, pattern="", space="", policy="", framework="",
            binary="", lines={}, entry="", views="",
        )  # fmt: skip
        super().__init__(KernelProgram(nothing, str(script), tuple(script.read_text().split("\n"))), threads=threads)
        self.conditions = list(conditions)

    async def __aenter__(self) -> DebuggedScript:
        environment = {**os.environ, "OMP_NUM_THREADS": str(self.threads)}
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, str(HOST), self.program.script, json.dumps(self.conditions),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=environment,
        )  # fmt: skip
        ready = msgspec.convert(await self._answer(), KernelReady)
        self.program = KernelProgram(ready, self.program.script, self.program.text)
        return self

    async def _launch(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")
        self._reader = asyncio.create_task(self._wait_for_end())


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PKDB_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def script(text: str) -> Path:
        path = tmp_path / "script.py"
        path.write_text(text)
        return path

    return script


async def test_values_and_exact_hits(write: Write) -> None:
    async with DebuggedScript(write(SUMS)) as run:
        await run.begin(run.at("acc += row"))
        stop = await run.stop()
        assert stop.hits == {1: 2}
        values = await run.values(1)
        assert (values["i"].value, values["row"].value) == (4, 16.0 + 17 + 18 + 19)
        assert (values["a"].dtype, values["a"].shape, values["a"].strides) == ("<f8", (8, 4), (8, 64))
        assert (values["flags"].dtype, values["flags"].shape) == ("<i4", (8,))
        assert list(values) == ["i", "acc", "a", "flags", "row"]
        await run.controller.resume()
        _, answer = await run.run_out()
        assert run.hits == {1: 8}
        assert answer["total"] == sum(range(32)) - (8 + 9 + 10 + 11) / 2 - (20 + 21 + 22 + 23) / 2


async def test_every_kernel_line_can_be_bound(write: Write) -> None:
    async with DebuggedScript(write(SUMS)) as run:
        await run.attach()
        lines = run.program.ready.lines[run.program.script]
        wanted = [NativeBreakpoint(id=line, source=run.program.script, line=line) for line in lines]
        assert {p.id: p.reason for p in await run.controller.place(wanted) if not p.locations} == {}


async def test_a_condition_built_in_stops_only_where_it_holds(write: Write) -> None:
    script = write(SUMS)
    line = SUMS.split("\n").index("    acc += row") + 1
    condition = {"id": 3, "file": str(script), "line": line, "expression": "row > 80.0 and i % 2 == 1"}
    async with DebuggedScript(script, conditions=[condition]) as run:
        place = run.program.ready.conditions[0]
        await run.begin(NativeBreakpoint(id=3, source=place.file, line=place.line))
        stop = await run.stop()
        assert (stop.breakpoints, stop.hits) == ((3,), {3: 1})
        assert await run.place_of(stop.thread) == ("sums", line)
        values = await run.values(stop.thread)
        assert (values["i"].value, values["row"].value) == (7, 28.0 + 29 + 30 + 31)
        assert stop.threads[-1].file == str(script)
        await run.controller.resume()
        assert (await run.end())["total"] > 0


async def test_step_into_a_kernel_function_and_back(write: Write) -> None:
    async with DebuggedScript(write(SUMS), threads=1) as run:
        await run.begin(run.at("row = half(row)"))
        await run.stop()
        await run.step(StepKind.STEP, 0)
        assert await run.place_of(0) == ("half", run.program.line("y: float"))
        await run.step(StepKind.NEXT, 0)
        await run.step(StepKind.NEXT, 0)
        function, line = await run.place_of(0)
        assert function == "sums"
        assert line in (run.program.line("row = half(row)"), run.program.line("acc += row"))


async def test_step_never_shows_generated_code(write: Write) -> None:
    """Element access, loops and reductions are made of generated code; no step may end in it."""
    async with DebuggedScript(write(SUMS), threads=1) as run:
        await run.begin(run.at("row: float = 0.0"))
        await run.stop()
        await run.controller.place([])
        seen: list[tuple[str, int]] = []
        with contextlib.suppress(Ended):
            while len(seen) < 200:
                await run.step(StepKind.STEP, 0)
                frames = await run.controller.frames(0)
                assert not frames[0].glue, frames[0]
                seen.append((frames[0].function, frames[0].line))
        assert ("half", run.program.line("return y")) in seen
        assert seen.count(("sums", run.program.line("row: float = 0.0"))) == 7


async def test_threads_of_a_team_meet_at_their_barrier(write: Write) -> None:
    async with DebuggedScript(write(TEAMS)) as run:
        await run.begin(run.at("team.team_barrier()"))
        stop = await run.stop()
        assert stop.hits == {1: 2}
        stop = await run.step(StepKind.NEXT, 0)
        assert stop.text == "thread 0 waits for the others"
        assert {t.first: t.state for t in stop.threads}[1] is ThreadState.BREAKPOINT
        await run.controller.resume()
        await run.end()
        assert run.hits == {1: 2}


async def test_a_team_member_is_told_by_its_ranks(write: Write) -> None:
    async with DebuggedScript(write(TEAMS)) as run:
        await run.begin(run.at("team.team_barrier()"))
        await run.stop()
        for thread in range(2):
            member = (await run.values(thread))["team"]
            assert (member.type, member.value) == (
                "TeamMember",
                f"league rank 0 of 1, team rank {thread} of 2",
            )


async def test_all_threads_step_over_a_barrier(write: Write) -> None:
    async with DebuggedScript(write(TEAMS)) as run:
        await run.begin(run.at("team.team_barrier()"))
        await run.stop()
        stop = await run.step(StepKind.NEXT, 0, all_threads=True)
        assert [(t.first, t.last, t.line) for t in stop.threads] == [(0, 1, run.program.line("out[rank + 2]"))]


async def test_an_index_beyond_its_extent(write: Write) -> None:
    async with DebuggedScript(write(BEYOND)) as run:
        await run.begin()
        stop = await run.stop()
        assert (stop.cause, stop.text) == (StopCause.BOUNDS, "a index 4 in dimension 0, extent 4")
        assert await run.place_of(stop.thread) == ("beyond", run.program.line("a[i + 1]"))
        assert (await run.values(stop.thread))["i"].value == 3
