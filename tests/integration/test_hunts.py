"""The commands of docs/hunts.md write what the page shows."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from runtimes import ROOT

LEFT_OUT = "…"
Hunt = tuple[str, list[str]]


def hunts() -> list[Hunt]:
    """Each command of the page with the lines below it."""
    found: list[Hunt] = []
    for line in (ROOT / "docs" / "hunts.md").read_text().splitlines():
        if line.startswith("    $ "):
            found.append((line.removeprefix("    $ "), []))
        elif line.startswith("    "):
            found[-1][1].append(line[4:])
    assert found
    return found


@pytest.mark.parametrize(("command", "shown"), hunts())
def test_the_page_shows_what_the_command_writes(tmp_path: Path, command: str, shown: list[str]) -> None:
    name, *words = shlex.split(command)
    assert name == "pkdb-tui"
    variables = {"OMP_NUM_THREADS": "2", "PYTHONPATH": str(ROOT), "PKDB_STATE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "pkdb_tui", *words],
        cwd=ROOT / "examples",
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=60,
    )
    assert as_shown(done.stdout.splitlines(), shown) == shown
    assert done.stderr == ""


def as_shown(written: list[str], shown: list[str]) -> list[str]:
    """What was written, without the lines for which the page has one with `…`: up to the line that follows there."""
    if LEFT_OUT not in shown:
        return written
    place = shown.index(LEFT_OUT)
    after = shown[place + 1]
    rest = written.index(after, place + 1)  # at least one line is left out
    return [*written[:place], LEFT_OUT, after, *as_shown(written[rest + 1 :], shown[place + 2 :])]
