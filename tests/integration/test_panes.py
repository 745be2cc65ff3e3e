"""What panes get from the engine: watches and their scope, what counts as a change, launches, whole values."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from cli import FIXTURES

from pkdb_tui.commands import language
from pkdb_tui.engine.api import Event, LaunchOptions, Phase, Watch, WatchesChanged
from pkdb_tui.engine.session import Session

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)

THOUGHT = 1.0  # seconds a person looks at a stop


class Watched:
    """A session on a fixture, its commands carried out one after the other."""

    def __init__(self, script: str, *arguments: str) -> None:
        options = LaunchOptions(
            script=str(FIXTURES / script),
            arguments=arguments,
            runtime="embedded",
            environment={"OMP_NUM_THREADS": "2"},
        )
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

    async def paused(self) -> None:
        """Ask for a pause and wait for the stop."""
        while self.session.phase.running:
            await language.run("pause", self.session)
            try:
                await asyncio.wait_for(self.session.settled(), 2)
            except TimeoutError:
                continue  # asked while a launch begins: once more

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
        await run.do("display counter[i:i + 2]", "break 18 thread 0")
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


async def test_a_running_launch_is_listed_and_counted_when_it_has_ended() -> None:
    async with Watched("some_rows.py") as run:
        await run.do("break 13", "continue")
        (row,) = run.session.launches
        assert (row.kernel, row.line, row.count, row.build) == ("mark", 19, 0, "debug")
        assert row.running_since is not None
        assert row.stopped
        assert " 1× stopped" in (await language.run("info launches", run.session)).text
        await asyncio.sleep(THOUGHT)
        await run.do("delete 1", "finish")
        (row,) = run.session.launches
        assert (row.line, row.count, row.running_since, row.stopped) == (19, 1, None, False)
        assert 0 < row.last_seconds < THOUGHT  # the kernel's time, not the person's
        assert row.total_seconds == row.last_seconds


async def test_a_value_is_inspected_whole_in_the_kernel_and_in_python() -> None:
    async with Watched("dot.py") as run:
        await run.do("break 21", "continue")
        scalar = (await language.run("inspect row", run.session)).text
        assert scalar.splitlines()[0] == "row = 162.75"
        assert "C++   double" in scalar
        array = (await language.run("inspect a[i, 0:4]", run.session)).text.splitlines()
        facts = {line.split("  ")[0]: line.split("  ")[-1].strip() for line in array if "  " in line}
        assert facts["shape"] == "4"
        assert facts["strides"] == "8 bytes"
        whole = (await language.run("inspect a", run.session)).text
        assert "shape     64 × 32" in whole
        assert "strides   256, 8 bytes" in whole
        assert "layout    host, rows" in whole
        await run.do("up")
        python = (await language.run("inspect a", run.session)).text
        for line in (
            "shape     64 × 32",
            "strides   256, 8 bytes",
            "layout    host, rows",
            "type      float64[64, 32]",
        ):
            assert line in python


async def test_what_only_the_launching_frame_has_is_shown_in_the_kernel_too() -> None:
    """A function of the kernel has neither array: they are Python's, alone or with a variable of the kernel."""
    async with Watched("bins.py") as run:
        await run.do("break 13", "continue")
        text = (await language.run("inspect values[:42]", run.session)).text
        facts = {line.split("  ")[0]: line.split("  ")[-1].strip() for line in text.splitlines() if "  " in line}
        assert (facts["dtype"], facts["shape"], facts["layout"]) == ("float64", "42", "host")
        assert (facts["strides"], facts["min"], facts["max"][:4]) == ("8 bytes", "0.0", "0.41")
        whole = (await language.run("inspect values", run.session)).text
        assert "There is no" not in whole
        assert "100, 800 B" in whole
        mixed = (await language.run("inspect values[found:found + 3]", run.session)).text
        assert "min       0.0" in mixed
        assert "strides   8 bytes" in mixed
        for number, expression in enumerate(("counter", "values[found]", "len(values) + found", "nowhere"), start=1):
            await language.run(f"display {expression}", run.session)
            assert list(run.session.watches)[-1].id == number
        array, element, number_, missing = run.session.watches
        assert array.evaluation is not None
        assert array.evaluation.slice is not None
        assert (array.evaluation.slice.shape, array.error) == ((40,), "")
        assert element.evaluation is not None
        assert element.evaluation.value == 0.0
        assert number_.evaluation is not None
        assert number_.evaluation.value == 100
        assert (missing.evaluation, missing.error) == (None, "not in scope here")


async def test_a_pause_in_an_optimised_kernel_shows_what_it_was_launched_with() -> None:
    async with Watched("long_kernel.py", "2000000000") as run:
        await language.run("display rounds", run.session)
        async with asyncio.timeout(60):
            # Until the pause comes while the kernel runs, not before it or as it begins.
            while run.session.phase is not Phase.STOPPED_KERNEL or run.session.require_stop().kernel is None:
                assert run.session.phase is not Phase.EXITED
                if run.session.phase.stopped:
                    await language.run("continue", run.session)
                await run.paused()
        snapshot = run.session.require_stop()
        assert snapshot.kernel is not None
        assert (snapshot.kernel.name, snapshot.kernel.build) == ("spin", "release")
        known = {variable.name: variable.text for variable in snapshot.variables}
        assert known == {"out": "host", "rounds": "2000000000"}
        assert run.only.error == "the optimised build keeps no variables"
        (row,) = [row for row in run.session.launches if row.running_since is not None]
        assert (row.kernel, row.line, row.build, row.count) == ("spin", 19, "release", 0)
        text = (await language.run("inspect rounds", run.session)).text
        assert text.startswith("rounds = 2000000000\n")
