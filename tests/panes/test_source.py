"""The source pane: gutter, focus, keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from host import PALETTE, lines, sent, shown
from values import breakpoint_at, kernel_stop

from pkdb_tui.engine.api import BreakpointSpec, BreakpointState, Frame, FrameKind, KernelSpan, SourceInfo
from pkdb_tui.panes.base import RunCommand
from pkdb_tui.panes.source import BreakAt, SourcePane

TEXT = "\n".join(f"line_{number} = {number}" for number in range(1, 31)) + "\n"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "yax.py"
    path.write_text(TEXT)
    return str(path)


async def test_an_empty_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "__init__.py"
    path.write_text("")
    pane = SourcePane(PALETTE)
    async with shown(pane, 60, 4):
        pane.open(str(path))
        assert lines(pane)[0] == "   1    this file is empty"


async def test_the_gutter_shows_states_kernel_lines_and_hits(file: str) -> None:
    pane = SourcePane(PALETTE)
    async with shown(pane, 60, 8):
        pane.open(file)
        pane.show_info(
            SourceInfo(
                file=file, python_lines=(), kernels=(KernelSpan(name="k", first_line=3, last_line=5, lines=(4, 5)),)
            )
        )
        pane.show_breakpoints(
            (
                breakpoint_at(1, 1, BreakpointState.PENDING, file=file),
                breakpoint_at(2, 2, BreakpointState.BOUND, file=file, hits=3),
                breakpoint_at(3, 3, BreakpointState.UNBOUND, file=file),
                breakpoint_at(4, 4, BreakpointState.DISABLED, file=file),
            )
        )
        assert lines(pane)[:5] == [
            "   1 ○  line_1 = 1",
            "   2 ●  line_2 = 2                                    hit 3",
            "   3 ×  line_3 = 3",
            "   4 ◌· line_4 = 4",
            "   5  · line_5 = 5",
        ]


async def test_the_focus_comes_on_screen_and_python_waits_further_down(file: str) -> None:
    pane = SourcePane(PALETTE)
    frames = (
        Frame(index=0, function="k", file=file, line=20, kind=FrameKind.KERNEL),
        Frame(index=1, function="main", file=file, line=22, kind=FrameKind.PYTHON),
    )
    async with shown(pane, 60, 8):
        pane.show_stop(kernel_stop(frames=frames))
        text = lines(pane)
        assert "  20  ▶ line_20 = 20" in text
        assert "  22  ▷ line_22 = 22" in text


async def test_stepping_within_the_page_doesnt_move_it(file: str) -> None:
    pane = SourcePane(PALETTE)
    async with shown(pane, 60, 12):
        for line in (5, 6, 7, 6):
            frame = Frame(index=0, function="f", file=file, line=line, kind=FrameKind.PYTHON)
            pane.show_stop(kernel_stop(frames=(frame,)))
            assert pane.scroll_offset.y == 0
            assert lines(pane)[line - 1].startswith(f"   {line}  ▶")


async def test_b_sets_a_breakpoint_at_the_cursor_and_deletes_it_again(file: str) -> None:
    pane = SourcePane(PALETTE)
    async with shown(pane, 60, 8) as pilot:
        pane.open(file)
        await pilot.press("down", "down")
        pane.action_toggle_breakpoint()
        await pilot.pause()
        assert [message.spec for message in sent(pilot, BreakAt)] == [BreakpointSpec(file=file, line=3)]
        pane.show_breakpoints((breakpoint_at(7, 3, BreakpointState.BOUND, file=file),))
        pane.action_toggle_breakpoint()
        await pilot.pause()
        assert sent(pilot, RunCommand)[-1].text == "delete 7"


async def test_search_wraps_around_and_takes_odd_patterns_literally(file: str) -> None:
    pane = SourcePane(PALETTE)
    async with shown(pane, 60, 8):
        pane.open(file, 28)
        assert pane.search("line_1 ")
        assert pane.cursor_row == 0
        assert not pane.search("[")


async def test_a_long_line_scrolls_sideways_and_tabs_are_expanded(tmp_path: Path) -> None:
    path = tmp_path / "wide.py"
    path.write_text("\tx = '" + "0123456789" * 20 + "'\n")
    pane = SourcePane(PALETTE)
    async with shown(pane, 40, 4) as pilot:
        pane.open(str(path))
        assert lines(pane)[0].startswith("   1            x = '0123")
        await pilot.press("right", "right", "right", "right")
        await pilot.pause()
        assert lines(pane)[0] == "   1    9012345678901234567890123456789…"
        await pilot.press(*["right"] * 40)
        await pilot.pause()
        assert lines(pane)[0].endswith("6789'")


async def test_hits_stay_visible_beside_a_long_line(tmp_path: Path) -> None:
    path = tmp_path / "wide.py"
    path.write_text("x = '" + "数" * 100 + "'\n")
    pane = SourcePane(PALETTE)
    async with shown(pane, 40, 4):
        pane.open(str(path))
        pane.show_breakpoints((breakpoint_at(1, 1, BreakpointState.BOUND, file=str(path), hits=3),))
        assert lines(pane)[0] == "   1 ●  x = '" + "数" * 9 + "…  hit 3"


async def test_a_smaller_screen_keeps_the_focus_line(file: str) -> None:
    pane = SourcePane(PALETTE)
    frame = Frame(index=0, function="f", file=file, line=18, kind=FrameKind.PYTHON)
    async with shown(pane, 60, 24) as pilot:
        pane.show_stop(kernel_stop(frames=(frame,)))
        await pilot.resize_terminal(60, 8)
        await pilot.pause()
        assert "  18  ▶ line_18 = 18" in lines(pane)


async def test_a_file_that_cant_be_read_is_named(tmp_path: Path) -> None:
    pane = SourcePane(PALETTE)
    async with shown(pane, 160, 4):
        assert not pane.open(str(tmp_path / "gone.py"))
        assert lines(pane)[0].endswith("gone.py can't be read: No such file or directory")


async def test_a_hundred_thousand_lines_open_at_their_end(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    path.write_text("pass\n" * 100_000)
    pane = SourcePane(PALETTE)
    async with shown(pane, 40, 6):
        pane.open(str(path), 99_999)
        assert any(line.startswith(" 99999") for line in lines(pane))
