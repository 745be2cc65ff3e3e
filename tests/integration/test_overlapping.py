"""Verbs given while another is under way: one of them moves the program, the others are refused in one sentence."""

from __future__ import annotations

import asyncio
import random
import shutil

import pytest
from kernel_session import SomeRows

from pkdb_tui.engine.api import Event, Exited, Phase, Stopped
from pkdb_tui.engine.errors import NativeError, PkdbError, WrongPhase
from pkdb_tui.engine.moves import Verb

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)
PATIENCE = 60.0


@pytest.mark.parametrize("phase", [Phase.STOPPED_PYTHON, Phase.STOPPED_KERNEL])
@pytest.mark.parametrize("verb", [Verb.CONTINUE, Verb.NEXT, Verb.STEP, Verb.FINISH, Verb.UNTIL])
async def test_of_two_verbs_at_once_the_second_is_refused(phase: Phase, verb: Verb) -> None:
    run = SomeRows(patience=PATIENCE)
    async with run as session:
        if phase is Phase.STOPPED_KERNEL:
            await run.to_the_kernel()
        assert session.phase is phase
        before = session.generation
        first, second = await asyncio.gather(session.resume(verb), session.resume(verb), return_exceptions=True)
        assert first is None
        assert isinstance(second, WrongPhase)
        assert str(second) == "The program is running. Pause it first."
        await run.settled()
        assert session.generation == before + 1


async def test_a_pause_given_with_a_verb_is_not_refused() -> None:
    run = SomeRows(patience=PATIENCE)
    async with run as session:
        answers = await asyncio.gather(session.resume(Verb.CONTINUE), session.pause(), return_exceptions=True)
        assert answers == [None, None]
        await run.settled()
        assert session.phase.stopped


async def test_of_two_restarts_at_once_the_second_is_refused() -> None:
    run = SomeRows(patience=PATIENCE)
    async with run as session:
        answers = await asyncio.gather(
            session.restart(), session.restart(), session.resume(Verb.NEXT), return_exceptions=True
        )
        assert answers[0] is None
        assert [str(answer) for answer in answers[1:]] == [
            "The program is being restarted. Wait until it stops before its first line."
        ] * 2
        await run.settled()
        assert session.phase is Phase.STOPPED_PYTHON


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_overlaps_the_session_stops_or_ends_and_says_no_more_than_it_means(seed: int) -> None:
    choice = random.Random(seed)
    events: list[Event] = []
    run = SomeRows(choice.choice((1, 2, 8)), listener=events.append, patience=PATIENCE)
    async with run as session:
        await run.to_the_kernel()
        for _ in range(12):
            if not session.phase.stopped:
                break
            verbs = choice.choices(list(Verb), weights=(1, 3, 3, 1, 1), k=choice.randint(2, 4))
            calls = [session.resume(verb, all_threads=choice.random() < 0.3) for verb in verbs]
            if choice.random() < 0.4:
                calls.insert(choice.randint(0, len(calls)), session.pause())
            answers = await asyncio.gather(*calls, return_exceptions=True)
            wrong = [answer for answer in answers if answer is not None and not isinstance(answer, PkdbError)]
            assert wrong == []
            assert [answer for answer in answers if isinstance(answer, NativeError)] == []
            await run.settled()
        assert any(isinstance(event, Stopped | Exited) for event in events)
        assert session.phase.stopped or session.phase is Phase.EXITED
