"""Kernels in place of others: at every kind of launch, with the same debugging as the originals."""

from __future__ import annotations

from pathlib import Path

import pytest
from runtimes import BOTH, EMBEDDED, debug

SCRIPT = Path(__file__).resolve().parents[1] / "fixtures" / "swaps.py"
PLAIN = ["loop 20.0", "with 4.0", "left with", "return 4.0", "last statement None", "alias 4.0", "module 4.0", "done"]
TWICE = [
    "loop 40.0",
    "with 8.0",
    "left with",
    "return 8.0",
    "more than four",
    "last statement None",
    "alias 8.0",
    "module 8.0",
    "done",
]
BEFORE = ("tbreak main", "continue")


def printed(lines: list[str]) -> list[str]:
    words = {line.partition(" ")[0] for line in [*PLAIN, *TWICE]}
    return [line for line in lines if line.partition(" ")[0] in words]


@pytest.mark.parametrize("runtime", BOTH)
def test_every_launch_of_a_kernel_runs_the_other_one(runtime: str) -> None:
    run = debug(runtime, SCRIPT, *BEFORE, "hotswap add twice", "tbreak 68", "continue", "hotswap", "continue")
    assert printed(run.lines) == TWICE
    assert "1: twice for add: bound, used 9 times" in run.lines
    assert run.status == 0


@pytest.mark.parametrize("runtime", BOTH)
def test_a_rule_of_one_line_goes_before_one_for_all(runtime: str) -> None:
    commands = ("hotswap add twice", "hotswap 63 add thrice", "hotswap swaps_other.py:8 add thrice", "continue")
    run = debug(runtime, SCRIPT, *BEFORE, *commands)
    assert "with 12.0" in run.lines
    assert "return 8.0" in run.lines
    assert "module 12.0" in run.lines


def test_rules_are_disabled_enabled_and_deleted() -> None:
    stops = ("tbreak 63", "tbreak 64", "tbreak 68")
    changes = (["hotswap --disable add", "hotswap"], ["hotswap --enable 1"], ["hotswap -d add", "hotswap"])
    commands = ["hotswap add twice", "continue", *(word for change in changes for word in (*change, "continue"))]
    run = debug(EMBEDDED, SCRIPT, *BEFORE, *stops, *commands)
    told = [line for line in printed(run.lines) if not line.startswith(("left", "last", "more"))]
    assert told == ["loop 40.0", "with 4.0", "return 8.0", "alias 4.0", "module 4.0", "done"]
    assert "1: twice for add: disabled, used 5 times" in run.lines
    assert "no kernel stands for another" in run.lines


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("add renamed", "its parameter w: pk.View1D[pk.double] is none of add's"),
        ("add retyped", "v is pk.View1D[pk.double] in add and pk.View1D[pk.int32] in retyped"),
        ("add add", "add would stand for itself"),
        ("add np", "`np` is not a workunit, it is a module"),
        ("add nobody", "There is no kernel nobody here"),
        ("nobody add", "There is no kernel nobody here"),
        ("12 add twice", "Line 12 of swaps.py is inside a kernel"),
        ("-d add", "Nothing stands for add"),
        ("add", "can't be understood"),
    ],
)
def test_what_can_not_stand_is_refused_and_the_original_runs(words: str, said: str) -> None:
    run = debug(EMBEDDED, SCRIPT, *BEFORE, f"hotswap {words}", "continue")
    assert said in run.err
    assert printed(run.lines) == PLAIN


@pytest.mark.parametrize("runtime", BOTH)
def test_the_other_kernel_stops_and_steps_and_the_original_does_not(runtime: str) -> None:
    commands = (
        "hotswap 63 add twice",
        "break 13",
        "break 18 if i == 2",
        "continue",
        "print v[i]",
        "delete",
        "continue",
    )
    run = debug(runtime, SCRIPT, "tbreak 63", "continue", *commands)
    assert run.stops == ["swaps.py:63", "swaps.py:18"]
    assert "1.0" in run.lines
    assert "with 8.0" in run.lines


def test_a_rule_set_before_its_kernels_exist_binds_at_the_first_launch_also_after_a_restart() -> None:
    run = debug(EMBEDDED, SCRIPT, "hotswap add twice", "continue", "restart", "continue", "hotswap")
    assert "1: twice for add: pending" in run.lines
    assert printed(run.lines) == TWICE * 2


def test_a_kernel_that_does_not_compile_is_told_at_the_launch_and_the_original_runs() -> None:
    run = debug(EMBEDDED, SCRIPT, *BEFORE, "hotswap 63 add broken", "continue", "hotswap", "continue")
    assert run.starting("stopped: error")
    assert "nowhere" in run.starting("stopped: error")[0]
    assert "broken can't run here, so add does" in run.out + run.err
    assert printed(run.lines) == PLAIN


def test_launches_name_the_kernel_that_ran_and_the_one_it_stands_for() -> None:
    run = debug(EMBEDDED, SCRIPT, *BEFORE, "hotswap add twice", "continue", "info launches")
    assert any(line.startswith("twice for add ") and " 5× " in line for line in run.lines)
