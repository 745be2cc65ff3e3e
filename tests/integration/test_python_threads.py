"""Kernels launched from several Python threads: one of them is looked at at a time, and nothing is lost by that."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest
from cli import FIXTURES

from pkdb_tui.engine.api import (
    BreakpointSpec,
    Event,
    Notice,
    Phase,
    PhaseChanged,
    ProgramOutput,
    Reason,
    Severity,
    StopSnapshot,
)
from pkdb_tui.engine.api import LaunchOptions as Options
from pkdb_tui.engine.moves import Verb
from pkdb_tui.engine.session import Session

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)
PATIENCE = 60.0


class Watched:
    """A session on a program of several Python threads, stopped before its first line."""

    def __init__(self, script: str, *arguments: str) -> None:
        self.script = str(FIXTURES / script)
        self.events: list[Event] = []
        variables = {"OMP_NUM_THREADS": "2"}
        options = Options(script=self.script, arguments=arguments, runtime="embedded", environment=variables)
        self.session = Session(options, self.events.append)

    async def __aenter__(self) -> Watched:
        await self.session.start()
        await self.settled()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.session.quit()

    async def settled(self) -> None:
        await asyncio.wait_for(self.session.settled(), PATIENCE)

    async def stop_at(self, line: int, condition: str = "") -> None:
        await self.session.add_breakpoint(BreakpointSpec(file=self.script, line=line, condition=condition))

    async def go(self, verb: Verb = Verb.CONTINUE) -> StopSnapshot | None:
        """The next stop, or None at the end."""
        await self.session.resume(verb)
        await self.settled()
        return self.session.snapshot

    async def paused(self) -> StopSnapshot:
        await self.session.pause()
        await self.settled()
        assert self.session.snapshot is not None
        return self.session.snapshot

    async def paused_in_kernel(self) -> StopSnapshot:
        """Paused until that is in a kernel: it may not have begun."""
        while (stop := await self.paused()).phase is Phase.STOPPED_PYTHON:
            await self.session.resume(Verb.CONTINUE)
        return stop

    async def printed(self, text: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while text not in self.output:
                await asyncio.sleep(0.01)

    @property
    def output(self) -> str:
        return b"".join(event.data for event in self.events if isinstance(event, ProgramOutput)).decode()

    def ended_well(self) -> bool:
        faults = [event.text for event in self.events if isinstance(event, Notice) and event.severity is Severity.ERROR]
        assert faults == []
        cause = self.session.exit_cause
        return cause is not None and cause.status == 0


def place(stop: StopSnapshot) -> tuple[str, int]:
    return stop.frames[stop.frame].function, stop.frames[stop.frame].line


async def test_breakpoints_in_the_kernels_of_two_threads_are_hit_as_often_as_their_lines_run() -> None:
    async with Watched("two_threads.py") as run:
        await run.stop_at(15)
        await run.stop_at(21)
        launches: dict[int, str] = {}
        while (stop := await run.go()) is not None:
            assert place(stop) in (("double", 15), ("raised", 21))
            assert stop.kernel is not None
            assert launches.setdefault(stop.kernel.launch, stop.kernel.name) == place(stop)[0]
        assert [breakpoint.hits for breakpoint in run.session.breakpoints] == [16, 16]
        assert sorted(launches) == list(range(1, 9))
        assert Counter(launches.values()) == {"double": 4, "raised": 4}
        assert "sums 64.0 16.0" in run.output
        assert run.ended_well()


async def test_a_stop_in_python_and_one_in_a_kernel_are_shown_one_after_the_other() -> None:
    async with Watched("two_threads.py") as run:
        await run.stop_at(15)
        await run.stop_at(39)
        places: Counter[tuple[str, int]] = Counter()
        while (stop := await run.go()) is not None:
            places[place(stop)] += 1
            assert run.session.phase is (Phase.STOPPED_PYTHON if stop.kernel is None else Phase.STOPPED_KERNEL)
        assert set(places) == {("double", 15), ("main", 39)}
        assert [breakpoint.hits for breakpoint in run.session.breakpoints] == [16, places["main", 39]]
        assert "sums 64.0 16.0" in run.output
        assert run.ended_well()


async def test_launches_of_both_are_counted() -> None:
    async with Watched("two_threads.py", "50") as run:
        await run.stop_at(40)
        await run.go()
        assert {row.kernel: row.count for row in run.session.launches} == {"double": 50, "raised": 50}
        assert await run.go() is None
        assert run.ended_well()


@pytest.mark.parametrize("verb", [Verb.NEXT, Verb.FINISH])
async def test_a_pause_finds_the_kernel_of_another_thread_and_its_end_is_a_place_to_stop(
    verb: Verb, tmp_path: Path
) -> None:
    """The first thread waits in Python while the one that launches computes, until it is told to end."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    # For both: a stop by gdb takes the program out of opening it, where one that only writes would wait for it.
    with gate.open("r+b", buffering=0) as pipe:
        async with Watched("long_in_thread.py", str(gate)) as run:
            await run.session.resume(Verb.CONTINUE)
            await run.printed("here kernel")
            stop = await run.paused_in_kernel()
            assert place(stop)[0] == "spin"
            assert stop.kernel is not None
            assert (stop.kernel.launch, stop.kernel.build) == (1, "release")
            assert [frame.function for frame in stop.frames] == ["spin", "launch"]
            await run.session.select_frame(1)
            assert (await run.session.evaluate("1 + rounds")).value == 400_001
            pipe.write(b"end\n")
            stop = await run.go(verb)
            while stop is not None and stop.phase is Phase.STOPPED_KERNEL:
                stop = await run.go(Verb.FINISH)
            assert stop is not None
            assert place(stop) == ("launch", 25)
            assert await run.go() is None
            assert "over" in run.output
            assert run.ended_well()


@pytest.mark.parametrize("verb", [Verb.NEXT, Verb.STEP])
async def test_an_optimised_kernel_is_stepped_at_its_lines(verb: Verb) -> None:
    async with Watched("long_kernel.py", "2000000000") as run:
        await run.session.resume(Verb.CONTINUE)
        await run.printed("here kernel")
        await run.paused_in_kernel()
        for _ in range(6):
            run.events.clear()
            stop = await run.go(verb)
            assert stop is not None
            assert stop.reason is Reason.STEP
            assert place(stop)[1] in range(11, 15)
            phases = [event.phase for event in run.events if isinstance(event, PhaseChanged)]
            assert phases == [Phase.RUNNING_KERNEL, Phase.STOPPED_KERNEL]
