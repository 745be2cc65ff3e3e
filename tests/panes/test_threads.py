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
        assert [m.text for m in sent(pilot, RunCommand)] == ["thread 6"]


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


def values_of(*numbers: float) -> ThreadValues:
    rows = tuple(ThreadValue(thread=t, text=str(n), value=n) for t, n in enumerate(numbers))
    return ThreadValues(expression="j", values=rows, missing=(7,))


async def test_values_are_bars_and_numbers_below_their_range() -> None:
    pane = ThreadsPane(PALETTE)
    async with shown(pane, 60, 4) as pilot:
        pane.show(kernel_stop())
        pane.show_values(values_of(0.0, 1.0, 2.5, 3.0, 4.0))
        assert lines(pane)[:3] == [
            " j  ▂ 0.0 … █ 4.0 · 1 without a number",
            "  0 ▂ 0.0   1 ▄ 1.0   2 ▆ 2.5  [3]▆ 3.0   4 █ 4.0",
            "  5 ≡ bar   6 ● 13    7 ▸ run",
        ]
        await pilot.click(pane, offset=(3, 2))
        await pilot.pause()
        assert [m.text for m in sent(pilot, RunCommand)] == ["thread 5"]
        pane.show(kernel_stop(focus=Focus(thread=5, threads=8, text="thread 5")))
        assert "▂ 0.0" in lines(pane)[0]  # the focus is another one, the stop is the same
        pane.show(kernel_stop(generation=5))
        assert lines(pane)[0].startswith("  0 ● 13")


async def test_values_that_are_no_finite_numbers_and_huge_ones_are_shown() -> None:
    pane = ThreadsPane(PALETTE)
    async with shown(pane, 70, 5):
        pane.show(kernel_stop())
        pane.show_values(values_of(float("nan"), float("inf"), -1.5e308, 1.5e308))
        first, second = lines(pane)[:2]
        assert first == " j  ▂ -1.5e+308 … █ 1.5e+308 · ? 2 NaN or Inf · 1 without a number"
        assert "0 ?" in second
        assert "1 ?" in second
        pane.show_values(values_of(10**400, 10**400 + 6, 10**400 + 3))
        assert [pane._heat.bars[thread] for thread in range(3)] == ["▂", "█", "▅"]
        pane.show_values(values_of(float("nan")))
        assert lines(pane)[0] == " j is no finite number in any thread · 1 without a number"


async def test_every_value_of_many_threads_is_seen_without_colour() -> None:
    pane = ThreadsPane(PALETTE)
    async with shown(pane, 80, 6):
        pane.show(kernel_stop(threads=many(), focus=Focus(thread=0, threads=100_000, text="thread 0")))
        pane.show_values(values_of(*(float(t % 7) for t in range(66_912))))
        legend, first = lines(pane)[:2]
        assert legend.startswith(" j  ▂ 0.0 … █ 6.0")
        assert first.split()[1][:8] == "▂▃▄▅▆▇█▂"
