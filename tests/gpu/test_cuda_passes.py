"""Several breakpoints on a kernel line of a device, conditions built in among them: one stop for each pass."""

from __future__ import annotations

import re

from gpu_runs import Plain


def stops(text: str) -> list[tuple[str, str, str]]:
    """(why, line, value of the index) of each stop after the start; no index outside of the kernel."""
    found = re.findall(r"^stopped: (.*?) (?:rows|faults)\.py:(\d+) in \w+(?:.* · \w = (\d+).*)?$", text, re.MULTILINE)
    return [stop for stop in found if stop[0] != "start"]


def hits(text: str) -> dict[int, int]:
    """By breakpoint, as the last `info breakpoints` has them."""
    found = re.findall(r"^breakpoint (\d+) at .* hit (\d+) times?", text, re.MULTILINE)
    return {int(number): int(count) for number, count in found}


def test_all_breakpoints_of_a_line_that_hold_make_one_stop(plain: Plain) -> None:
    text = plain(
        "rows.py", "break 16 if j == 37", "break 16 if alpha == 0.5 and (j == 36 or j == 37)", "break 16 thread 37",
        *["continue"] * 5, "info breakpoints",
    )  # fmt: skip
    once = [("breakpoint 1, 2, 3", "16", "37"), ("breakpoint 2", "16", "36")]
    assert sorted(stops(text)[:2]) == once
    assert stops(text)[2] == ("breakpoint 1, 3", "16", "37")  # alpha is another one in the second launch
    assert len(stops(text)) == 3
    assert "exited: status 0" in text
    assert hits(text) == {1: 2, 2: 2, 3: 2}


def test_each_thread_stops_once_and_each_hit_counts_once(plain: Plain) -> None:
    text = plain(
        "rows.py", "break 16 if j % 2 == 0", "break 16 if temp2 >= 0", "break 16", *["continue"] * 90,
        "info breakpoints",
    )  # fmt: skip
    assert {why for why, *_ in stops(text)} == {"breakpoint 1, 2, 3", "breakpoint 2, 3"}
    assert "exited: status 0" in text
    assert hits(text) == {1: 400, 2: 800, 3: 800}


def test_conditions_of_a_loop_are_met_with_the_other_breakpoints_of_its_line(plain: Plain) -> None:
    text = plain(
        "faults.py", "break 22 thread 5", "break 22 if j == 5", "continue", "break 22 if j == 5 and acc < 9",
        "break 22 if j == 6", *["continue"] * 8, "info breakpoints", arguments=("spin", "3"),
    )  # fmt: skip
    assert stops(text) == [("breakpoint 1, 2", "22", "5"), *[("breakpoint 1, 2, 3, 4", "22", "5")] * 3]
    assert "spun 1.5" in text
    assert hits(text) == {1: 4, 2: 4, 3: 3, 4: 3}


def test_steps_pass_conditions_that_do_not_hold(plain: Plain) -> None:
    text = plain(
        "rows.py", "break 17 if j == 1000", "tbreak 16 thread 0", "continue", "next", "next", "print 'after'", "delete",
        "continue",
    )  # fmt: skip
    assert stops(text) == [("breakpoint 2", "16", "0"), ("step", "17", "0"), ("step", "28", "")]


def test_steps_go_on_from_conditions_that_hold(plain: Plain) -> None:
    text = plain(
        "rows.py", "break 16 if j == 0", "break 16 if j == 500", "continue", "step", "finish", "next", "next", "delete",
        "continue",
    )  # fmt: skip
    assert [(why, line) for why, line, _ in stops(text)] == [
        ("breakpoint 1", "16"), ("step", "7"), ("step", "16"), ("step", "17"), ("step", "28"),
    ]  # fmt: skip


def test_failed_conditions_are_told_by_breakpoint(plain: Plain) -> None:
    text = plain(
        "rows.py", "break 16 if A_view[j + 400, 0] > 0", "break 16 if j < 10 and j // (j - j) == 1",
        "break 16 thread 3", "tbreak 16 thread 300", *["continue"] * 30, "delete", "continue",
    )  # fmt: skip
    found = {why for why, *_ in stops(text)}
    both = r"condition of 1 failed: index \d+ in dimension 0, extent 400; condition of 2 failed: division by zero"
    assert any(re.fullmatch(rf"breakpoint 1, 2, 3: {both}", why) for why in found)
    one = r"condition of 1 failed: index \d+ in dimension 0, extent 400"
    assert any(re.fullmatch(rf"breakpoint 1, 4: {one}", why) for why in found)
