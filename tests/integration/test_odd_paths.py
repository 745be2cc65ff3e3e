"""Programs whose path has blanks, quotes, commas, colons, `#` and letters beyond ASCII, and commands that name them."""

from __future__ import annotations

from pathlib import Path

import pytest
from runtimes import EMBEDDED, debug

PROGRAM = """import numpy as np
import pykokkos as pk


@pk.workunit
def fill(i: int, a: pk.View1D[pk.double]):
    a[i] = i + 1


@pk.workunit
def fill_twice(i: int, a: pk.View1D[pk.double]):
    a[i] = 2 * (i + 1)


a = np.zeros(4)
pk.parallel_for(pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, 4), fill, a=a)
print(a.sum())
"""


@pytest.mark.parametrize("folder", ["a, b", 'say "x" #pkdb3', "größe: 3", "it's 100%"])
def test_both_kinds_of_lines_stop(tmp_path: Path, folder: str) -> None:
    script = tmp_path / folder / "k n.py"
    script.parent.mkdir()
    script.write_text(PROGRAM)
    run = debug(
        EMBEDDED, script, f"break {script}:7 if i == 2", "break 'k n.py':16", "log k n.py:17 at the end",
        "continue", "continue", "print a[1]", "delete k n.py:16", "info breakpoints", "continue",
    )  # fmt: skip
    assert run.stops == ["n.py:16", "n.py:7"]
    assert run.starting("deleted") == ["deleted 2; `break k n.py:16` sets it again"]
    assert "breakpoint 1 at k n.py:7 in kernel fill if i == 2: bound, hit 1 time" in run.lines
    assert run.starting("k n.py:17") == ["k n.py:17 at the end"]


def test_a_kernel_is_exchanged_at_one_line_of_such_a_file(tmp_path: Path) -> None:
    script = tmp_path / "k n.py"
    script.write_text(PROGRAM)
    run = debug(EMBEDDED, script, "hotswap k n.py:16 fill fill_twice", "break 17", "continue", "print a.sum()")
    assert run.starting("1: fill_twice for fill at k n.py:16") != []
    assert run.after("stopped: breakpoint 1").endswith("print(a.sum())")
    assert "20.0" in run.lines
