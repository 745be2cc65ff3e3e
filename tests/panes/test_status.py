"""The top line: why the program stopped is read whole, whatever else there would be to say."""

from __future__ import annotations

import pytest
from host import PALETTE, lines, shown
from values import kernel_stop

from pkdb_tui.engine.api import Focus, Phase, Reason
from pkdb_tui.panes.status import KeyLine, StatusLine

LONG = "bounds: counter index 504 in dimension 0, extent 504"


async def line_at(width: int, **changes: object) -> str:
    status = StatusLine(PALETTE, lambda: 0.0)
    status.program = "yax.py"
    async with shown(status, width, 1):
        status.show_phase(Phase.STOPPED_KERNEL)
        status.show_stop(kernel_stop(**changes))
        return lines(status)[0]


async def test_all_of_it_where_there_is_room() -> None:
    line = await line_at(120)
    assert line.startswith(" yax.py ▪ kernel yax · OpenMP · launch 1 · breakpoint 2 ")
    assert line.endswith(" thread 3 of 8 · j = 96   ran 00:00.00")


@pytest.mark.parametrize("focus", ["thread 3 of 8 · j = 96", "thread 127 of 128 · i = 1048576, j = 1048576"])
@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
async def test_index_and_extent_are_read_at_every_width(width: int, focus: str) -> None:
    changes = {"reason": Reason.BOUNDS, "reason_text": LONG, "focus": Focus(thread=3, threads=8, text=focus)}
    line = await line_at(width, **changes)
    assert LONG in line
    assert focus in line or width < 120


async def test_the_focus_stays_before_the_program_and_the_kernel() -> None:
    line = await line_at(80, reason=Reason.BOUNDS, reason_text=LONG)
    assert line.split("  ") == [f" {LONG}", "thread 3 of 8 · j = 96"]


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (58, f" {LONG} t3 "),
        (55, f" {LONG}"),  # the reason is worth more
        (20, " bounds: counte… t3 "),
    ],
)
async def test_the_thread_is_named_where_there_is_hardly_any_room(width: int, line: str) -> None:
    shown = await line_at(width, reason=Reason.BOUNDS, reason_text=LONG)
    assert shown.split() == line.split()
    assert len(shown) <= width


async def test_a_breakpoint_and_its_thread_on_twenty_columns() -> None:
    assert (await line_at(20)).split() == ["breakpoint", "2", "t3"]


async def test_the_focus_keeps_its_place_from_thread_to_thread() -> None:
    status = StatusLine(PALETTE, lambda: 0.0)
    stops = [(9, "j = 96"), (10, "j = 104"), (3, "j = 7"), (11, "j = 1")]
    async with shown(status, 120, 1):
        status.show_phase(Phase.STOPPED_KERNEL)
        at = []
        for thread, index in stops:
            focus = Focus(thread=thread, threads=16, text=f"thread {thread} of 16 · {index}")
            status.show_stop(kernel_stop(focus=focus))
            line = lines(status)[0]
            assert f"thread {thread:>2} of 16 · {index}" in line
            at.append((line.index("thread"), line.index("j = ")))
        assert len(set(at[1:])) == 1  # the longest has been seen


LONG_MESSAGE = "A breakpoint that is far away can't be set: " + "its line has no code and neither has the next; " * 4


async def key_line(width: int, text: str) -> tuple[int, list[str]]:
    line = KeyLine(PALETTE, lambda: [("n", "next"), ("?", "help")])
    async with shown(line, width, 10) as pilot:
        line.say(text)
        await pilot.pause()
        return line.region.y, lines(line)


async def test_a_long_message_is_read_whole_over_several_rows() -> None:
    top, said = await key_line(60, LONG_MESSAGE)
    assert top == 10 - len(said)
    assert " ".join(" ".join(said).split()) == LONG_MESSAGE.strip()


async def test_a_message_of_very_many_rows_says_where_all_of_it_is() -> None:
    _, said = await key_line(40, LONG_MESSAGE * 3)
    assert len(said) == 5
    assert said[-1] == " … all of it is in the console"


async def test_a_message_gives_its_rows_back() -> None:
    line = KeyLine(PALETTE, lambda: [("n", "next"), ("?", "help")])
    async with shown(line, 60, 10) as pilot:
        line.say(LONG_MESSAGE)
        await pilot.pause()
        line.clear()
        await pilot.pause()
        assert lines(line) == [" n next  ? help"]


async def test_a_notice_stays_above_what_is_answered_until_it_can_have_been_read() -> None:
    line = KeyLine(PALETTE, lambda: [("n", "next"), ("?", "help")])
    async with shown(line, 60, 10) as pilot:
        line.say("argument v has a stride of 16 bytes", notice=True)
        line.clear()
        line.say("The program ended: status 0.")
        await pilot.pause()
        assert lines(line) == [" argument v has a stride of 16 bytes", " The program ended: status 0."]
        line.read()
        await pilot.pause()
        assert lines(line) == [" n next  ? help"]


async def test_what_cannot_be_compiled_is_read_without_its_folder() -> None:
    text = "exception CompileError: /home/ada/a/long/way/to/solver.py:12: a list is not supported in a kernel"
    line = await line_at(80, reason=Reason.EXCEPTION, reason_text=text, focus=None)
    assert "exception CompileError: solver.py:12: a list is not supported in a kernel" in line
