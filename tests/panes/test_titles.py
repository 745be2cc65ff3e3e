"""Titles and tabs: the keys that lead to the panes, as much of the names as there is room for, clicks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from host import PALETTE, lines, sent, shown
from whole import debugging, rows, until_phase, until_seen

from pkdb_tui.engine.api import Phase
from pkdb_tui.panes.frames_around import Tab, TabChosen, Title

pytestmark = pytest.mark.usefixtures("no_settings")

FULL = (
    Tab("variables", "4", "vars"),
    Tab("console", "6", "console", "+12", active=True, focused=True),
    Tab("output", "7", "output", "+3"),
    Tab("launches", "8", "launches", "1"),
)
MARKED = tuple(tab._replace(badge="+" if tab.badge.startswith("+") else "") for tab in FULL)
SHORT = tuple(tab._replace(name=tab.name[:3]) for tab in MARKED)


async def title_at(width: int, titles: Sequence[Sequence[Tab]]) -> str:
    async with shown(title := Title(PALETTE, lambda: titles, "tabs"), width, 1):
        return lines(title)[0]


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (60, "─ 4:vars ─[6:console +12]─ 7:output +3 ─ 8:launches 1 ──────"),
        (48, "─ 4:vars ─[6:console+]─ 7:output+ ─ 8:launches ─"),
        (47, "─4:vars[6:console +12]7:output +3─8:launches 1─"),
        (40, "─4:vars[6:console+]7:output+─8:launches──"),
        (29, "─4:var[6:con+]7:out+─8:lau───"),
        (20, "─4:var[6:con+]7:out…"),
    ],
)
async def test_tabs_take_the_room_there_is(width: int, line: str) -> None:
    assert await title_at(width, (FULL, MARKED, SHORT)) == line[:width]


async def test_a_single_title_is_never_cut_unseen() -> None:
    threads = Tab("threads", "2", "threads", "· 12 in kernel, 11 at line 127")
    assert await title_at(50, [[threads]]) == "─ 2:threads · 12 in kernel, 11 at line 127 ───────"
    assert await title_at(30, [[threads]]) == "─2:threads · 12 in kernel, 11…"


@pytest.mark.parametrize("width", [60, 48, 40, 29])
@pytest.mark.parametrize("pane", ["variables", "console", "output", "launches"])
async def test_a_click_on_a_name_however_short_goes_to_its_pane(width: int, pane: str) -> None:
    key = next(tab.key for tab in FULL if tab.pane == pane)
    async with shown(title := Title(PALETTE, lambda: (FULL, MARKED, SHORT), "tabs"), width, 1) as pilot:
        at = lines(title)[0].index(f"{key}:")
        for x in (at, at + 4):
            await pilot.click(title, offset=(x, 0))
        await pilot.pause()
        assert [message.name for message in sent(pilot, TabChosen)] == [pane, pane]


@pytest.mark.parametrize("width", [60, 80, 120])
async def test_every_pane_has_its_key_in_its_title(tmp_path: Path, width: int) -> None:
    app = debugging(tmp_path, "a = 1\nb = 2\n")
    async with app.run_test(size=(width, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await until_seen(app, pilot, "start")
        await pilot.press("2", "escape")  # so that the threads are on screen, too
        await pilot.pause()
        titles = "\n".join(row for row in rows(app) if "─" in row)
        assert all(f"{number}:" in titles for number in range(1, 10))
        assert "…" not in titles
        await app.bridge.session.quit()


async def test_clicks_on_short_tabs_bring_their_panes(tmp_path: Path) -> None:
    app = debugging(tmp_path, "a = 1\nb = 2\n")
    async with app.run_test(size=(60, 20)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.pause()
        for short, pane in (("4:vars", "variables"), ("9:brk", "breakpoints"), ("3:stack", "stack")):
            y = next(y for y, row in enumerate(rows(app)) if short in row)
            await pilot.click(offset=(rows(app)[y].index(short), y))
            await pilot.pause()
            assert app.workspace.focused_name() == pane
        await app.bridge.session.quit()


@pytest.mark.parametrize("width", [80, 120])
async def test_every_layout_is_another_one_and_says_what_it_gives(tmp_path: Path, width: int) -> None:
    app = debugging(tmp_path, "a = 1\nb = 2\n")
    async with app.run_test(size=(width, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        heights = []
        for name in ("source", "values", "console", "balanced"):
            await pilot.press("L")
            await pilot.pause()
            placed = app.workspace._layout_used.placed
            heights.append((placed["console"].height, placed["source"].width))
            said = f"Layout {name}: {heights[-1][0]} of 22 rows to the panes at the bottom"
            assert app.key_line.message.startswith(said)
        assert len(set(heights)) == 4
        before = heights[-1][0]
        await pilot.press("ctrl+shift+down")
        await pilot.pause()
        assert app.workspace._layout_used.placed["console"].height < before
        await app.bridge.session.quit()


async def test_the_generated_code_has_a_tab_where_it_takes_the_place_of_others(tmp_path: Path) -> None:
    app = debugging(tmp_path, "a = 1\nb = 2\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("G")
        await pilot.pause()
        assert any("9:brk─G:C++─" in row for row in rows(app))
        await pilot.press("G")
        await pilot.pause()
        assert not any("G:C++" in row for row in rows(app))
        await app.bridge.session.quit()


async def test_frames_asked_for_are_told_also_where_there_are_none(tmp_path: Path) -> None:
    app = debugging(tmp_path, "a = 1\nb = 2\n")
    async with app.run_test(size=(120, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("a")
        await until_seen(app, pilot, "Frames of libraries and generated code are shown; this stack has none of them.")
        await pilot.press("a")
        await until_seen(app, pilot, "Frames of libraries and generated code are hidden; this stack has none of them.")
        await app.bridge.session.quit()
