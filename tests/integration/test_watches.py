"""Watches in kernels: what they say where a name means nothing, and what counts as a change."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cli import FIXTURES

from pkdb_tui.commands import language
from pkdb_tui.engine.api import Event, LaunchOptions, Watch, WatchesChanged
from pkdb_tui.engine.session import Session

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)


class Watched:
    """A session on a fixture, its commands carried out one after the other."""

    def __init__(self, script: str) -> None:
        options = LaunchOptions(script=str(FIXTURES / script), runtime="embedded", environment={"OMP_NUM_THREADS": "2"})
        self.events: list[Event] = []
        self.session = Session(options, self.events.append)

    async def __aenter__(self) -> Watched:
        await self.session.start()
        await self.session.settled()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.session.quit()

    async def do(self, *commands: str) -> None:
        for command in commands:
            await language.run(command, self.session)
            await self.session.settled()

    @property
    def told(self) -> list[tuple[Watch, ...]]:
        """Watches as the listener heard of them."""
        return [event.watches for event in self.events if isinstance(event, WatchesChanged)]

    @property
    def only(self) -> Watch:
        (watch,) = self.told[-1]
        assert self.session.watches == (watch,)
        return watch


async def test_a_watch_is_told_when_it_is_added_and_only_once_kept() -> None:
    async with Watched("bins.py") as run:
        await run.do("display i * 2")
        assert run.only.error == "not in scope here"
        await run.do("display i * 2")
        assert [watch.id for watch in run.session.watches] == [1]
        await run.do("undisplay 1")
        assert run.told[-1] == ()


async def test_a_watch_says_calmly_that_it_is_out_of_scope_and_keeps_its_value() -> None:
    async with Watched("bins.py") as run:
        await run.do("display counter[0:2]", "break 18 thread 0")
        assert run.only.evaluation is None
        await run.do("continue")
        assert run.only.error == ""
        await run.do("step")
        kept = run.only
        assert (kept.error, kept.seen) == ("not in scope here", "bins.py:18, thread 0")
        assert kept.evaluation is not None
        assert kept.evaluation.slice is not None
        assert kept.evaluation.slice.values.tolist() == [0, 0]
        await run.do("up")
        assert run.only.error == ""  # the frame above has it


async def test_another_thread_is_another_value_and_no_change() -> None:
    async with Watched("some_rows.py") as run:
        await run.do("break 13", "continue", "display i")
        assert run.only.evaluation is not None
        assert run.only.evaluation.text == "0"
        await run.do("thread 1")
        assert run.only.evaluation.text == "32"
        assert not run.only.changed
        assert not any(variable.changed for variable in run.session.require_stop().variables)
        await run.do("thread 0")
        assert (run.only.evaluation.text, run.only.changed) == ("0", False)
        await run.do("continue")
        assert run.session.require_stop().focus.thread == 0  # type: ignore[union-attr]
        assert (run.only.evaluation.text, run.only.changed, run.only.previous) == ("1", True, "0")
        marked = {variable.name for variable in run.session.require_stop().variables if variable.changed}
        await run.do("thread 1", "thread 0")
        assert (run.only.changed, run.only.previous) == (True, "0")
        assert {v.name for v in run.session.require_stop().variables if v.changed} == marked


async def test_what_a_statement_changes_is_seen_at_once(tmp_path: Path) -> None:
    async with Watched("orders.py") as run:
        await run.do("tbreak 13", "continue", "display amount", "amount = 12.5")
        assert run.only.evaluation is not None
        assert run.only.evaluation.text == "12.5"
        assert {v.name: v.text for v in run.session.require_stop().variables}["amount"] == "12.5"


async def test_a_restart_forgets_values() -> None:
    async with Watched("orders.py") as run:
        await run.do("tbreak 13", "continue", "display amount")
        assert run.only.evaluation is not None
        await run.do("restart")
        assert (run.only.evaluation, run.only.error) == (None, "not in scope here")
