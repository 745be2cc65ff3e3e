"""Whole screens as SVG, from real sessions, at the three sizes the screen is made for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from pictures import PROGRAM, at_rest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual.pilot import Pilot

from pkdb_tui.app import PkdbApp
from pkdb_tui.engine.api import LaunchOptions, Phase


class Svg(SingleFileSnapshotExtension):
    """One .svg file a picture."""

    _write_mode = WriteMode.TEXT
    file_extension = "svg"


@pytest.fixture
def picture(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(Svg)


Show = Callable[..., AbstractAsyncContextManager[Pilot[int]]]


async def reach(app: PkdbApp, phase: Phase, patience: float = 60.0) -> None:
    """Until the session is in a phase and has shown it."""
    async with asyncio.timeout(patience):
        while app.bridge.session.phase is not phase:
            await asyncio.sleep(0.01)
        await app.bridge.session.settled()


@pytest.fixture
def show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Show:
    """The screen over the program, its clock standing still, two kernel threads."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setenv("PKDB_CONFIG", str(tmp_path / "none.toml"))
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "yax.py"

    @asynccontextmanager
    async def screen(
        width: int, height: int, commands: tuple[str, ...], phase: Phase, theme: str = "dark", program: str = PROGRAM
    ) -> AsyncIterator[Pilot[int]]:
        script.write_text(program)
        app = PkdbApp(LaunchOptions(script=str(script)), commands=commands, theme=theme, remember=False)
        app.status._now = lambda: 0.0  # type: ignore[method-assign]
        async with app.run_test(size=(width, height)) as pilot:
            await app.commands_done.wait()
            await reach(app, phase)
            await app.workers.wait_for_complete([w for w in app.workers if w.group == "lex"])
            await at_rest(pilot)
            try:
                yield pilot
            finally:
                await app.bridge.session.quit()

    return screen
