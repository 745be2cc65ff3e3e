"""The threads grid: a few threads in words, many in characters, the focus always in it."""

from __future__ import annotations

import time

from host import PALETTE, lines, sent, shown
from values import FILE, kernel_stop

from pkdb_tui.engine.api import Focus, ThreadRange, ThreadState, ThreadValue, ThreadValues
from pkdb_tui.panes.base import RunCommand
from pkdb_tui.panes.threads import ThreadsPane


async def test_each_thread_has_number_state_and_line() -> None:
    pane = ThreadsPane(PALETTE)
    async with shown(pane, 40, 4):
        pane.show(kernel_stop())
        assert lines(pane)[:2] == [
            "  0 ● 13   1 ● 13   2 ● 13  [3]● 13",
            "  4 ● 13   5 ≡ bar  6 ● 13   7 ▸ run",
        ]
        assert pane.badge == "· 8 in kernel, 6 at line 13"


async def test_arrows_and_enter_move_the_focus() -> None:
    pane = ThreadsPane(PALETTE)
    async with shown(pane, 40, 4) as pilot:
        pane.show(kernel_stop())
        await pilot.press("right", "down", "left", "enter")
        await pilot.pause()
        assert [m.text for m in sent(pilot, RunCommand)] == ["thread 6"]  # type: ignore[attr-defined]


def many() -> tuple[ThreadRange, ...]:
    return (
        ThreadRange(first=0, last=66_911, state=ThreadState.BREAKPOINT, file=FILE, line=13),
        ThreadRange(first=66_912, last=66_912, state=ThreadState.FAULT, file=FILE, line=12),
        ThreadRange(first=66_913, last=99_999, state=ThreadState.RUNNING),
    )


async def test_a_hundred_thousand_threads_are_characters_with_the_focus_on_screen() -> None:
    pane = ThreadsPane(PALETTE)
    async with shown(pane, 80, 6):
        pane.show(kernel_stop(threads=many(), focus=Focus(thread=66_912, threads=100_000, text="thread 66912")))
        assert pane.badge == "· 100,000 in kernel, 1 at line 12, 1 faulty"
        row = next(line for line in lines(pane) if "!" in line)
        assert row.split()[0] == str(66_912 // pane.per_row() * pane.per_row())
        assert row.count("!") == 1
        assert set(row.split()[1]) == {"▓", "!", "▒"}


async def test_drawing_many_threads_looks_only_at_what_is_visible() -> None:
    pane = ThreadsPane(PALETTE)
    async with shown(pane, 120, 40):
        alternating = tuple(
            ThreadRange(first=i, last=i, state=(ThreadState.BREAKPOINT, ThreadState.RUNNING)[i % 2], file=FILE, line=13)
            for i in range(100_000)
        )
        pane.show(kernel_stop(threads=alternating))
        asked: list[int] = []
        original = pane.state_of
        pane.state_of = lambda thread: asked.append(thread) or original(thread)  # type: ignore[method-assign, func-returns-value]
        begun = time.perf_counter()
        lines(pane)
        assert time.perf_counter() - begun < 5
        assert len(asked) <= 120 * 40 * 2


async def test_values_colour_the_threads_by_height() -> None:
    pane = ThreadsPane(PALETTE)
    async with shown(pane, 40, 4):
        pane.show(kernel_stop())
        rows = tuple(ThreadValue(thread=t, text=str(t), value=float(t)) for t in range(5))
        pane.show_values(ThreadValues(expression="j", values=rows))
        text = "".join(lines(pane)[:2])
        assert "0 ▁ 13" in text
        assert "4 █ 13" in text
