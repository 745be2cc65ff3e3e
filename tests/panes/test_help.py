"""Pages of text over the screen."""

from __future__ import annotations

from host import shown
from whole import rows

from pkdb_tui.panes.help import Page

TABLE = """Enter shows a line, which may be of some length, and is no row of two columns.
x                let a kernel run in place of another (the command `hotswap`)
N                search again"""


async def test_the_second_column_keeps_its_place_where_it_is_wrapped() -> None:
    async with shown(Page(TABLE), 50, 8) as pilot:
        assert [row.rstrip() for row in rows(pilot.app)[:5]] == [
            "Enter shows a line, which may be of some length,",
            "and is no row of two columns.",
            "x                let a kernel run in place of",
            "                 another (the command `hotswap`)",
            "N                search again",
        ]
