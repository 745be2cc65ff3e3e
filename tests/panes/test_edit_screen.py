"""The kernel editor on the screen, over a real program that compiles what is typed."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from whole import carried_out, debugging, rows, seen, until_phase, until_seen

from pkdb_tui.app import PkdbApp
from pkdb_tui.edit_screen import EditScreen
from pkdb_tui.engine.api import Phase

pytestmark = [
    pytest.mark.usefixtures("no_settings"),
    pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++: apt-get install g++"),
]
TEXT = """import numpy as np
import pykokkos as pk


@pk.workunit
def damp(i: int, v: pk.View1D[pk.double]):
    v[i] = v[i] * 0.5


def main():
    v = np.full(120, 1.0)
    for step in range(5):
        pk.parallel_for(120, damp, v=v)
        print("step", step, "total", float(v.sum()))


main()
"""


@asynccontextmanager
async def editing(folder: Path, size: tuple[int, int] = (80, 24)) -> AsyncIterator[tuple[PkdbApp, Pilot[Any]]]:
    """At the launch of step 2, the kernel that the line launches in the editor."""
    app = debugging(folder, TEXT)
    async with app.run_test(size=size) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await app.carry_out("tbreak 13 if step == 2")
        await app.carry_out("continue")
        await app.bridge.session.settled()
        await pilot.press("E")
        await until_seen(app, pilot, "as the program has it")
        try:
            yield app, pilot
        finally:
            await app.bridge.session.quit()
        assert app.internal_errors == []


async def changed(app: PkdbApp, pilot: Pilot[Any], factor: str, said: str) -> None:
    """The factor of the kernel exchanged by typing, and what is said of it."""
    assert isinstance(app.screen, EditScreen)
    app.screen.editor.go(2, len("    v[i] = v[i] * "))
    await pilot.press("ctrl+k", *factor)
    await until_seen(app, pilot, said)


async def ended(app: PkdbApp, pilot: Pilot[Any]) -> list[str]:
    """What the program printed, going on to its end."""
    await pilot.press("escape")
    await app.carry_out("continue")
    await until_phase(app, Phase.EXITED)
    await until_seen(app, pilot, "step 4")
    return [row.strip() for row in rows(app) if row.strip().startswith("step")]


async def test_what_is_typed_is_checked_installed_and_computed(tmp_path: Path) -> None:
    async with editing(tmp_path) as (app, pilot):
        await changed(app, pilot, "by", "p.py:7: by is not defined in this kernel")
        await pilot.press("ctrl+s")
        await until_seen(app, pilot, "damp is not installed: line 7: by is not defined")
        await changed(app, pilot, "1.0", "compiled in")
        await pilot.press("ctrl+l")
        await until_seen(app, pilot, "Edit 1 runs for damp at p.py:13 from the next launch on.")
        assert "edit 1 runs at p.py:13" in rows(app)[-1]
        printed = await ended(app, pilot)
    assert printed == [f"step {step} total {total}" for step, total in enumerate((60.0, 30.0, 30.0, 30.0, 30.0))]
    assert (tmp_path / "p.py").read_text() == TEXT


async def test_the_line_that_is_wrong_is_marked_and_what_is_newer_wins(tmp_path: Path) -> None:
    async with editing(tmp_path) as (app, pilot):
        await changed(app, pilot, "(0.5", "p.py:7: '(' was never closed")
        screen = app.screen
        assert isinstance(screen, EditScreen)
        assert any(style.underline for _, style, _ in screen.editor.render_line(2) if style is not None)
        await pilot.press(")")
        await until_seen(app, pilot, "checking …")
        await pilot.press(*" * nope")
        await until_seen(app, pilot, "nope is not defined")


async def test_escape_keeps_what_was_typed(tmp_path: Path) -> None:
    async with editing(tmp_path) as (app, pilot):
        await changed(app, pilot, "0.75", "v[i] * 0.75")
        await pilot.press("escape")
        await carried_out(app, pilot)
        assert not isinstance(app.screen, EditScreen)
        await pilot.press("E")
        await until_seen(app, pilot, "v[i] * 0.75")
    app = debugging(tmp_path, TEXT)
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await app.carry_out("edit damp")
        await until_seen(app, pilot, "The draft of damp from before is back.")
        assert "v[i] * 0.75" in seen(app)
        await app.bridge.session.quit()


async def test_the_difference_stands_beside_the_text_where_there_is_room(tmp_path: Path) -> None:
    async with editing(tmp_path, (120, 40)) as (app, pilot):
        await changed(app, pilot, "0.75", "compiled in")
        assert "-    7     v[i] = v[i] * 0.5" in seen(app)
        assert "+    7     v[i] = v[i] * 0.75" in seen(app)
        await pilot.press("f4")
        await carried_out(app, pilot)
        assert "-    7" not in seen(app)
        await pilot.resize_terminal(80, 24)
        await pilot.press("f4")
        await until_seen(app, pilot, "+    7     v[i] = v[i] * 0.75")


async def test_one_goes_back_to_a_text_of_before_and_undoes_that(tmp_path: Path) -> None:
    async with editing(tmp_path) as (app, pilot):
        await changed(app, pilot, "0.75", "compiled in")
        await pilot.press("ctrl+s")
        await until_seen(app, pilot, "Edit 1 runs for damp from the next launch on.")
        await changed(app, pilot, "0.25", "compiled in")
        await pilot.press("f8")
        await until_seen(app, pilot, "+1 -1 lines")
        await pilot.press("down", "enter")
        await until_seen(app, pilot, "The text of the program is in the editor")
        assert "v[i] * 0.5" in rows(app)[3]
        await pilot.press("ctrl+z")
        await until_seen(app, pilot, "v[i] * 0.25")
        await pilot.press("f8", "enter")
        await until_seen(app, pilot, "Edit 2 is in the editor")


async def test_finding_and_going_to_lines(tmp_path: Path) -> None:
    async with editing(tmp_path) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, EditScreen)
        await pilot.press("ctrl+f", *"view", "enter")
        await carried_out(app, pilot)
        assert screen.editor.selected_text == "View"
        await pilot.press("ctrl+f", "ctrl+u", *"v[", "enter", "f3")
        await carried_out(app, pilot)
        assert screen.editor.selection.start == (2, 11)
        await pilot.press("ctrl+g", *"6", "enter")
        await carried_out(app, pilot)
        assert screen.editor.cursor_location == (1, 0)
        await pilot.press("ctrl+f", "ctrl+u", *"gone", "enter")
        await until_seen(app, pilot, "`gone` is not in this kernel.")


async def test_saving_asks_when_another_program_changed_the_file(tmp_path: Path) -> None:
    script = tmp_path / "p.py"
    async with editing(tmp_path) as (app, pilot):
        await changed(app, pilot, "0.75", "compiled in")
        await pilot.press("f2")
        await until_seen(app, pilot, "damp is saved in p.py")
        assert script.read_text() == TEXT.replace("0.5", "0.75")
        script.write_text("# another line\n" + script.read_text())
        await changed(app, pilot, "0.25", "p.py was changed by another program")
        await pilot.press("f2")
        await until_seen(app, pilot, "save over it, or reload it?")
        await pilot.press("escape")
        await carried_out(app, pilot)
        assert "0.25" not in script.read_text()
        await pilot.press("f2", *"save", "enter")
        await until_seen(app, pilot, "damp is saved in p.py")
        assert script.read_text() == "# another line\n" + TEXT.replace("0.5", "0.25")
        script.write_text(script.read_text().replace("0.25", "0.125"))
        await pilot.press("f2", *"reload", "enter")
        await until_seen(app, pilot, "v[i] * 0.125")


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (200, 60)])
async def test_any_size_shows_the_line_that_is_typed(tmp_path: Path, size: tuple[int, int]) -> None:
    async with editing(tmp_path) as (app, pilot):
        await pilot.resize_terminal(*size)
        screen = app.screen
        assert isinstance(screen, EditScreen)
        screen.editor.go(2)
        await pilot.press("home", *"xyz")
        await until_seen(app, pilot, "xyz")
        await pilot.press("f8", "escape", "f1", "escape", "f4", "f4", "ctrl+f", "escape")
        await carried_out(app, pilot)
        assert "xyz" in seen(app)


@pytest.mark.skipif(shutil.which("gdb") is None, reason="needs gdb: apt-get install gdb")
async def test_a_stop_in_the_edited_kernel_shows_its_text_and_opens_it_again(tmp_path: Path) -> None:
    async with editing(tmp_path) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, EditScreen)
        await app.carry_out("break 7 if i == 3")
        screen.editor.go(1, 99)
        await pilot.press("enter", *"k: float = 0.75")
        screen.editor.go(3, len("    v[i] = v[i] * "))
        await pilot.press("ctrl+k", "k")
        await until_seen(app, pilot, "compiled in")
        await pilot.press("ctrl+s")
        await until_seen(app, pilot, "Edit 1 runs for damp from the next launch on.")
        await pilot.press("escape")
        await app.carry_out("continue")
        await app.bridge.session.settled()
        await until_seen(app, pilot, "●▶     v[i] = v[i] * k")
        await pilot.press("E")
        await until_seen(app, pilot, "damp ▪ p.py:5")
        assert "v[i] * k" in seen(app)


async def test_the_kernel_at_the_cursor_of_the_source_is_opened(tmp_path: Path) -> None:
    async with editing(tmp_path) as (app, pilot):
        await pilot.press("escape")
        await app.carry_out("tbreak 14")
        await app.carry_out("continue")
        await app.bridge.session.settled()
        await pilot.press("1", "home", *["down"] * 6, "E")
        await until_seen(app, pilot, "damp ▪ p.py:5")
