"""The program's terminal: colours, carriage returns, floods."""

from __future__ import annotations

import tracemalloc

import pytest
from host import PALETTE, lines, sent, shown
from rich.style import Style
from whole import until

from pkdb_tui.panes.output import OutputPane, Typed
from pkdb_tui.panes.terminal_text import LineStore, styled


def text_of(line: bytes) -> str:
    return "".join(text for text, _ in styled(line, Style()))


def test_colours_are_kept_and_control_sequences_are_not_text() -> None:
    row = styled(b"\x1b[32mhello\x1b[0m world\x1b]0;title\x07", Style())
    assert [text for text, _ in row if text] == ["hello", " world"]
    assert row[0][1].color is not None
    assert row[0][1].color.number == 2


def test_carriage_returns_overwrite_as_on_a_terminal() -> None:
    assert text_of(b"10%\r20%\r100%") == "100%"
    assert text_of(b"abcdef\rXY") == "XYcdef"
    assert text_of(b"abc\b\bX") == "aXc"
    assert text_of(b"progress 1\r\x1b[Kdone") == "done"
    assert text_of(b"windows line\r") == "windows line"


def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    assert text_of(b"caf\xc3\xa9 \xff") == "café �"


def test_old_lines_go_and_are_counted() -> None:
    store = LineStore(limit=10_000)
    store.append(b"".join(b"%d\n" % number for number in range(25_000)))
    assert store.dropped + len(store) == 25_000
    assert len(store) <= 12_000
    assert store.line(0) == b"%d" % store.dropped
    assert store.line(len(store) - 1) == b"24999"


def test_lines_cut_anywhere_are_put_together() -> None:
    store = LineStore()
    for part in (b"one\ntw", b"o\nthr", b"ee"):
        store.append(part)
    assert [store.line(index) for index in range(len(store))] == [b"one", b"two", b"three"]


@pytest.mark.parametrize("piece", [1, 7, 1000, 65_536, 65_537, 200_000, 3_000_000])
def test_pieces_of_any_size_make_the_same_lines(piece: int) -> None:
    lines = [b"x" * (number * number % 997) for number in range(5_000)]
    data = b"\n".join(lines) + b"\nrest"
    if piece < 1000:
        data, lines = data[-20_000:], data[-20_000:].split(b"\n")[:-1]
    store = LineStore()
    for start in range(0, len(data), piece):
        store.append(data[start : start + piece])
    assert [store.line(index) for index in range(len(store))] == [*lines, b"rest"]


def test_large_pieces_go_when_old_and_are_counted() -> None:
    store = LineStore(limit=10_000)
    store.append(b"first\nsecond")
    store.append(b"".join(b" %d\n" % number for number in range(100_000)))
    assert store.dropped + len(store) == 100_001
    assert 10_000 - 8_000 < len(store) <= 10_000
    assert store.line(0) == b" %d" % (store.dropped - 1)
    assert store.line(len(store) - 1) == b" 99999"


def test_a_million_lines_take_little_memory() -> None:
    tracemalloc.start()
    store = LineStore()
    for start in range(0, 1_000_000, 10_000):
        store.append(b"".join(b"%d\n" % number for number in range(start, start + 10_000)))
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(store) == 1_000_000
    assert used < 40 * 1024 * 1024


async def test_what_is_typed_goes_to_the_program() -> None:
    pane = OutputPane(PALETTE)
    async with shown(pane, 60, 8) as pilot:
        pane.append(b"name? ", 0)
        pane.input.focus()
        await pilot.press(*"Ada", "enter", "ctrl+d")
        await pilot.pause()
        assert [m.data for m in sent(pilot, Typed)] == [b"Ada\n", b"\x04"]


async def test_the_end_is_followed_unless_scrolled_away() -> None:
    pane = OutputPane(PALETTE)
    async with shown(pane, 40, 8) as pilot:
        pane.append(b"".join(b"line %d\n" % n for n in range(100)), 0)
        await until(pilot, lambda: "line 99" in lines(pane.lines))
        pane.lines.focus()
        await pilot.press("pageup", "pageup")
        await pilot.pause()
        pane.append(b"line 100\n", 0)
        await until(pilot, lambda: pane.badge == "101")
        await pilot.pause()
        assert "line 100" not in lines(pane.lines)
