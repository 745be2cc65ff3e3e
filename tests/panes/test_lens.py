"""The lens on the screen, over a real program: moving, looking for elements, pictures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from whole import carried_out, debugging, rows, seen, until_phase, until_seen

from pkdb_tui.app import PkdbApp
from pkdb_tui.engine.api import Phase
from pkdb_tui.lens_screen import LensScreen

pytestmark = pytest.mark.usefixtures("no_settings")
TEXT = """import numpy as np
a = np.arange(40 * 60.0).reshape(40, 60)
a[31, 47] = np.nan
a[5, 2] = -7.25
cube = np.arange(24).reshape(2, 3, 4)
line = np.linspace(0, 1, 1000)
print("ready")
"""


@asynccontextmanager
async def looking(
    folder: Path, expression: str, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[PkdbApp, Pilot[Any]]]:
    app = debugging(folder, TEXT)
    async with app.run_test(size=size) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await app.carry_out("tbreak 7")
        await app.carry_out("continue")
        await app.bridge.session.settled()
        app.run_command(f"lens {expression}")
        await until_seen(app, pilot, "Esc closes")
        try:
            yield app, pilot
        finally:
            await app.bridge.session.quit()
        assert app.internal_errors == []


async def test_the_element_under_the_cursor_is_said_in_full(tmp_path: Path) -> None:
    async with looking(tmp_path, "a / 3") as (app, pilot):
        await until_seen(app, pilot, "0.333333")
        await pilot.press("right", "down", "l", "j")
        await carried_out(app, pilot)
        await until_seen(app, pilot, "[2, 2]   40.666666666666664")


async def test_extremes_nan_and_conditions_are_found_wherever_they_are(tmp_path: Path) -> None:
    async with looking(tmp_path, "a") as (app, pilot):
        for keys, found in (
            (["less_than_sign"], "[5, 2]   -7.25"),
            (["greater_than_sign"], "[39, 59]   2399.0"),
            (["exclamation_mark"], "[31, 47]   nan"),
            (["slash", *"v==61", "enter"], "[1, 1]   61.0   v==61"),
            (["slash", "ctrl+u", *"v+1", "enter"], "not true or false"),
            (["g", *"3 4", "enter"], "[3, 4]   184.0"),
            (["g", *"-1,0", "enter"], "[39, 0]   2340.0"),
            (["g", *"40 0", "enter"], "`40, 0` is no index of 40 × 60 elements"),
        ):
            await pilot.press(*keys)
            await until_seen(app, pilot, found)


async def test_statistics_say_of_what_they_are(tmp_path: Path) -> None:
    async with looking(tmp_path, "a", (120, 40)) as (app, pilot):
        await until_seen(app, pilot, "min -7.25 max 2399.0")
        assert "1 NaN 0 Inf · 1 zero" in seen(app)


async def test_planes_are_turned_and_named(tmp_path: Path) -> None:
    async with looking(tmp_path, "cube") as (app, pilot):
        await until_seen(app, pilot, "[0, :, :]")
        await pilot.press("right_square_bracket")
        await until_seen(app, pilot, "[1, 0, 0]   12")
        assert "[1, :, :]" in rows(app)[0]
        await pilot.press("right_square_bracket", "end", "dollar_sign")
        await until_seen(app, pilot, "[0, 2, 3]   11")


async def test_a_line_has_a_curve_and_goes_back_to_its_table(tmp_path: Path) -> None:
    async with looking(tmp_path, "line[$x]") as (app, pilot):
        await until_seen(app, pilot, "x = 0   0.0")
        await pilot.press("p")
        await until_seen(app, pilot, "one of 14 elements")
        picture = rows(app)[1:20]
        heights = [sum(row[column] in "▁▂▃▄▅▆▇█" for row in picture) for column in range(2, 73)]
        assert heights == sorted(heights)
        assert (heights[0], heights[-1]) == (0, 19)
        await pilot.press("p", "down")
        await until_seen(app, pilot, "x = 10   0.01001001001001001")


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (200, 60)])
async def test_any_size_shows_the_element(tmp_path: Path, size: tuple[int, int]) -> None:
    async with looking(tmp_path, "a", (80, 24)) as (app, pilot):
        await pilot.resize_terminal(*size)
        await pilot.press("down", "right")
        await carried_out(app, pilot)
        await until_seen(app, pilot, "[1, 1]   61.0")


async def test_the_array_under_the_cursor_of_the_variables_is_looked_at(tmp_path: Path) -> None:
    async with looking(tmp_path, "cube") as (app, pilot):
        await pilot.press("escape", "4", "down")  # past the module
        await carried_out(app, pilot)
        await pilot.press("A")
        await until_seen(app, pilot, "Esc closes")
        assert "a  float64 40×60" in rows(app)[0]


async def test_it_asks_for_an_array_where_there_is_none_and_refuses_what_is_none(tmp_path: Path) -> None:
    async with looking(tmp_path, "cube") as (app, pilot):
        await pilot.press("escape", "A")
        await until_seen(app, pilot, "look at array:")
        await pilot.press(*"7", "enter")
        await until_seen(app, pilot, "`7` is one value, no array.")


async def test_what_is_marked_is_what_the_condition_holds_for_where_columns_are_out_of_sight(tmp_path: Path) -> None:
    async with looking(tmp_path, "line % 0.004", (60, 12)) as (app, pilot):
        await pilot.press("dollar_sign", "slash", *"v<0.002", "enter")
        await until_seen(app, pilot, "v<0.002")
        await carried_out(app, pilot)
        await pilot.press("dollar_sign")
        await carried_out(app, pilot)
        screen = app.screen
        assert isinstance(screen, LensScreen)
        assert screen.table.left > 0
        color = app.palette.changed.color
        cells = [
            (float(segment.text), segment.style is not None and segment.style.color == color)
            for y in range(1, screen.table.size.height)
            for segment in list(screen.table.render_line(y))[2:]
            if "." in segment.text
        ]
        assert {marked for _, marked in cells} == {True, False}
        assert all(marked == (value < 0.002) for value, marked in cells)
