"""The editor alone: typing, completing, finding, undoing, marking."""

from __future__ import annotations

from typing import Any

import pytest
from host import PALETTE, lines, sent, shown

from pkdb_tui.panes.editor import KernelEditor, Said

TEXT = """@pk.workunit
def damp(i: int, v: pk.View1D[pk.double]):
    for n in range(3):
        v[i] = v[i] * 0.5"""


def editor(text: str = TEXT) -> KernelEditor:
    return KernelEditor(PALETTE, text, 6)


async def test_lines_have_the_numbers_of_the_file_and_colours() -> None:
    widget = editor()
    async with shown(widget):
        assert lines(widget)[:4] == [f"{number}  {row}" for number, row in enumerate(TEXT.split("\n"), 6)]
        styles = {text: style for text, style, _ in widget.render_line(2) if style is not None}
        word = next(style for text, style in styles.items() if text.strip() == "for")
        assert word.color == PALETTE.keyword.color


async def test_a_new_line_is_indented_as_the_one_before_and_deeper_behind_a_colon() -> None:
    widget = editor()
    async with shown(widget) as pilot:
        widget.go(2)
        await pilot.press("end", "enter", *"x = 1", "enter", *"y")
        assert widget.text.split("\n")[3:5] == ["        x = 1", "        y"]


async def test_tab_completes_names_as_far_as_they_agree_and_indents_elsewhere() -> None:
    widget = editor()
    async with shown(widget) as pilot:
        widget.go(3)
        await pilot.press("end", "enter", *"wo", "tab")
        assert widget.text.split("\n")[4] == "        workunit"
        await pilot.press("enter", *"d", "tab")
        assert [message.text for message in sent(pilot, Said)] == ["damp  def  del  double"]
        await pilot.press("o", "tab", "ctrl+u", "tab")
        assert widget.text.split("\n")[5] == "    "
        await pilot.press("shift+tab")
        assert widget.text.split("\n")[5] == ""


async def test_undo_and_redo_go_over_other_texts_too() -> None:
    widget = editor()
    async with shown(widget) as pilot:
        await pilot.press("X")
        widget.exchange("def other(): pass")
        await pilot.press("ctrl+z")
        assert widget.text == f"X{TEXT}"
        await pilot.press("ctrl+z")
        assert widget.text == TEXT
        await pilot.press("ctrl+y", "ctrl+y")
        assert widget.text == "def other(): pass"
        assert lines(widget)[0] == "6  def other(): pass"


async def test_finding_goes_round_and_asks_for_capitals_only_where_there_are_some() -> None:
    widget = editor()
    async with shown(widget):
        places = []
        for _ in range(3):
            assert widget.find("view")
            places.append(widget.selection.start)
        assert places == [(1, 23), (1, 23), (1, 23)]
        assert [widget.find("v[i]") and widget.selection.start for _ in range(3)] == [(3, 8), (3, 15), (3, 8)]
        assert widget.find("View")
        assert not widget.find("VIEW")


async def test_the_problem_is_underlined_from_its_column_on() -> None:
    widget = editor()
    async with shown(widget):
        widget.mark(9, 15)
        marked = [text for text, style, _ in widget.render_line(3) if style is not None and style.underline]
        assert "".join(marked).rstrip() == "v[i] * 0.5"
        widget.mark(None)
        assert not any(style.underline for _, style, _ in widget.render_line(3) if style is not None)


@pytest.mark.parametrize("odd", ["", "\n\n", "x = (", "x = \\", "\tx = 1\t# tab", "量 = '🙂'"])
async def test_odd_texts_are_shown_and_kept(odd: str) -> None:
    widget = editor(odd)
    async with shown(widget) as pilot:
        await pilot.press("a")
        await pilot.press("backspace")
        assert widget.text == odd
        assert lines(widget)[0].startswith("6")


@pytest.mark.parametrize("key", ["enter", "tab", "shift+tab", "backspace", "delete", "ctrl+k", "down", "pagedown"])
async def test_keys_at_the_ends_of_a_text_do_no_harm(key: str) -> None:
    widget = editor("")
    async with shown(widget) as pilot:
        before: Any = widget.text
        await pilot.press(key, "ctrl+z")
        assert widget.text == before
