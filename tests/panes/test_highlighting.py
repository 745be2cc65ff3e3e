"""Colours of source lines: of short files at once, of long ones where they are looked at."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from host import PALETTE, lines, shown
from rich.style import Style

from pkdb_tui.panes.highlighting import CHUNK, LONGEST, REACH, Row, SourceText
from pkdb_tui.panes.source import SourcePane

BLOCK = '''\
def solve(a, b):  # it's "quoted" here
    """A docstring of several lines, with 'quotes' and # no comment.

    def not_code(): return 1
    """
    text = 'one \\' line' + "two \\" # no comment" + r'\\d'
    table = """1 2 3
4 5 6""" + f"{a['k']}"  # end
    return text, table, 0x1F, 1.5e-3


@decorated
class Solver: pass
'''
HEADER = 'int f() { /* a comment\n of "two lines */ return 1; } // /* none\nconst char* s = "/* no \\" comment */";\n'


def coloured(row: Row) -> list[tuple[str, Style]]:
    return [(letter, style) for text, style in row for letter in text if not letter.isspace()]


def chunked(path: str, text: str) -> SourceText:
    """The text as if it were a long file's."""
    source = SourceText(path, text)
    source.lines += ["pass"] * (LONGEST + 1)
    source.text = "\n".join(source.lines)
    source.prepare(PALETTE)
    assert source.rows is None
    return source


@pytest.mark.parametrize(("path", "block"), [("a.py", BLOCK), ("a.hpp", HEADER)])
def test_a_long_file_has_the_colours_it_would_have_had_at_once(path: str, block: str) -> None:
    text = block * 60
    source = chunked(path, text)
    whole = SourceText(path, source.text).lex(PALETTE)
    count = text.count("\n")
    assert count > CHUNK
    for index in reversed(range(count)):  # from its end, so that no chunk knows what came before
        assert coloured(source.row(index, PALETTE)) == coloured(whole[index]), source.lines[index]


def test_far_inside_a_string_every_line_is_one() -> None:
    source = chunked("a.py", "x = '''\n" + "if True: return 1\n" * (REACH + 3 * CHUNK) + "'''\ny = 2\n")
    middle = REACH + 2 * CHUNK
    assert source.row(middle, PALETTE) == [("if True: return 1", PALETTE.string)]
    end = source.lines.index("y = 2")
    assert ("2", PALETTE.number) in source.row(end, PALETTE)


def test_blank_lines_at_the_beginning_count() -> None:
    source = SourceText("a.py", "\n\nimport os\n")
    source.prepare(PALETTE)
    assert source.row(0, PALETTE) == []
    assert source.row(2, PALETTE)[0] == ("import", PALETTE.keyword)


@pytest.mark.parametrize("text", ['x = """never closed\n' + "y = 1\n" * 300, "x = 'never closed\n" * 300, "\\'" * 500])
def test_what_is_never_closed_has_colours_too(text: str) -> None:
    source = chunked("a.py", text)
    for index in range(0, len(source.lines), 50):
        assert "".join(part for part, _ in source.row(index, PALETTE)) == source.lines[index]


async def test_a_file_of_a_hundred_thousand_lines_is_coloured_where_it_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    path.write_text(BLOCK * 8_000)
    pane = SourcePane(PALETTE)
    async with shown(pane, 80, 20) as pilot:
        pane.open(str(path), 60_000)
        await pilot.press("down")  # keys are answered while the file is looked through
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        source = pane.source
        assert source is not None
        slowest = 0.0
        for _ in range(20):
            begun = time.perf_counter()
            await pilot.press("pagedown")
            lines(pane)
            slowest = max(slowest, time.perf_counter() - begun)
        assert slowest < 1
        assert len(source._chunks) <= 20 * 19 // CHUNK + 3
        shown_row = coloured(source.row(pane.cursor_row // 13 * 13, PALETTE))
        assert shown_row[:3] == [(letter, PALETTE.keyword) for letter in "def"]
