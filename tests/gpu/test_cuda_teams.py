"""Teams, scratch and scans on a device: what they compute, and stops in them."""

from __future__ import annotations

import re
import subprocess
import sys

from gpu_runs import PROGRAMS, Plain, environment


def test_teams_and_scans_compute_what_numpy_does() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pkdb_tui.minikokkos", str(PROGRAMS / "teams.py")],
        capture_output=True, text=True, check=False, timeout=110, env=environment(),
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        *["dots"] * 7, "large scratch", *["running"] * 3, *["scan"] * 6, *["refused"] * 2,
    ], done.stderr  # fmt: skip
    assert all("True" in line and "False" not in line for line in lines[:-2])
    assert "dots: scratch of 80 bytes per team is too small: 2400 are asked for. Set it with" in lines[-2]
    assert re.search(
        r"a team's scratch of 10000000 bytes, .* is more than the \d+ that this device has for it", lines[-1]
    )


def test_members_of_teams_stop_with_their_rank_and_scratch(plain: Plain) -> None:
    text = plain(
        "teams.py", "break 20 if m.league_rank() == 3", "continue", "print m.league_rank(), m.team_size()",
        "print s[0:2] == 2 * x[0:2]", "next", "print total > 1", "delete", "continue", "quit",
    )  # fmt: skip
    assert re.search(r"stopped: breakpoint 1 teams.py:20 in dots block 3 thread 0 of 5 · m = league rank 3 of 5", text)
    assert "\n(3, 1)\narray([ True,  True])\n" in text
    assert re.search(r"stopped: step teams.py:21 in dots block 3 thread 0", text)
    assert "\nTrue\ndeleted 1" in text
    assert "dots: 1 True" in text
