"""A local is shown from the line on that follows its declaration, however the thread came to stand there."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli import plain

PROGRAM = """import numpy as np
import pykokkos as pk


@pk.workunit
def k(i: int, x: pk.View1D[pk.double]):
    t: float = i
    for j in range(3):
        u: float = j * 2.0
        t += u
    w: float = t
    while w > 2:
        w = w - 1
    x[i] = w


pk.parallel_for(pk.RangePolicy(pk.ExecutionSpace.Serial, 0, 4), k, x=np.zeros(4))
"""


@pytest.mark.parametrize("condition", ["", " if i == 1"])
@pytest.mark.parametrize(
    ("line", "declared"),
    [(7, {}), (8, {"t", "j"}), (9, {"t", "j"}), (10, {"t", "j", "u"}), (11, {"t"}), (12, {"t", "w"}), (14, {"t", "w"})],
)
def test_locals_that_are_declared(tmp_path: Path, line: int, declared: set[str], condition: str) -> None:
    (tmp_path / "declared.py").write_text(PROGRAM)
    commands = (f"break {line}{condition}", "continue", "locals")
    done = plain("--runtime", "embedded", "declared.py", commands=commands, folder=tmp_path)
    assert (done.err, done.status) == ("", 0)
    shown = {text.split()[0] for text in done.lines if text.split()[1] in ("int", "float")}
    assert shown == {"i", *declared}
