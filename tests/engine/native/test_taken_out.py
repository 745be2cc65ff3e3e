"""Breakpoints that are taken out while their hits are being looked at stop nobody, and hurt nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import pytest
from debugged import Debugged
from kernel_programs import KernelProgram

from pkdb_tui.engine.native.base import Hit, NativeBreakpoint

Change = Callable[[], Coroutine[Any, Any, Any]]


class Interfering:
    """An owner during whose answers the breakpoints change."""

    def __init__(self, judging: Change, speaking: Change) -> None:
        self._judging, self._speaking = judging, speaking
        self.asked = 0

    def evaluates(self, thread: int) -> bool:
        return False

    async def judge(self, hits: Sequence[Hit]) -> Mapping[Hit, str | None]:
        self.asked += 1
        await self._judging()
        return {}

    async def speak(self, hits: Sequence[Hit], failures: Mapping[Hit, str]) -> None:
        self.asked += 1
        await self._speaking()


async def nothing() -> None: ...


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("when", ["judged", "speaks"])
async def test_one_taken_out_while_its_owner_is_asked(branch: KernelProgram, when: str, moved: bool) -> None:
    """Taken out, or put elsewhere under the same number."""
    async with Debugged(branch, threads=2) as run:
        kept = run.at("a[i] = value", 2)
        wanted = [run.at("acc += value", 1), kept] if moved else [kept]

        async def change() -> None:
            await run.controller.place(wanted)

        owner = Interfering(change, nothing) if when == "judged" else Interfering(nothing, change)
        run.controller.owner = owner
        await run.begin(run.at("value: float", 1, **{when: True}), kept)
        _, answer = await run.run_out()
        assert owner.asked >= 1
        assert answer["total"] == sum(i * 10.0 + 0.5 if i % 8 == 3 else float(i) for i in range(64))
        assert run.hits[2] == 64


async def test_breakpoints_change_at_any_moment(branch: KernelProgram) -> None:
    """While threads run, stop, and are told: the kernel ends with the right result, and nothing fails."""
    failed: list[BaseException] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: failed.append(context["exception"]))
    async with Debugged(branch, threads=4, count=64) as run:
        run.controller.owner = Interfering(nothing, nothing)
        both: list[NativeBreakpoint] = [
            run.at("value: float", 1, judged=True),
            run.at("a[i] = value", 2, threads=(1, 3)),
        ]
        choices = ([], both[:1], both[1:], both)
        await run.begin(*both)

        async def changing() -> None:
            turn = 0
            while True:
                turn += 1
                await run.controller.place(choices[turn % 4])

        change = asyncio.ensure_future(changing())
        try:
            _, answer = await run.run_out()
        finally:
            change.cancel()
            await asyncio.wait({change})
        assert change.cancelled() or change.exception() is None
        assert answer["total"] == sum(i * 10.0 + 0.5 if i % 8 == 3 else float(i) for i in range(64))
    assert failed == []
