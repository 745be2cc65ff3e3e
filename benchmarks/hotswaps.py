"""Rows about one kernel in the place of another: what a rule costs each launch, and what the command takes."""

from __future__ import annotations

import statistics
from pathlib import Path

from benchmarks.kernels import STOP, Plain
from benchmarks.loops import alone, line_of, take_turns
from benchmarks.rivals import Workplace
from benchmarks.table import OURS, PKDB, Row, milliseconds, spread

PROGRAM = "launches.py"
FIRST = "    launch(policy, v, 20)"
LAUNCH_LIMIT, COMMAND_LIMIT = 20e-6, 5e-3


def hotswaps(place: Workplace) -> list[Row]:
    """A rule that is used at each of many launches, and the command that sets one and takes it away."""
    launch = Row("launch with a hotswap rule, more than without debugger", "≤ 20 µs", {PKDB: "26.8 ms"})
    command = Row("hotswap command to prompt, p50 / p95", "p50 ≤ 5 ms", {PKDB: "5.44 ms"})
    with launch.measuring(OURS):
        ways = {"alone": alone(place, place.python, PROGRAM), "armed": lambda result: _armed(place, result)}
        take_turns(place, ways, 1)  # fills the cache
        found = take_turns(place, ways)
        cost = found["armed"] - found["alone"]
        launch.cells["no debugger"] = milliseconds(found["alone"])
        launch.cells[OURS] = f"{cost * 1e6:.1f} µs ({milliseconds(found['armed'])})"
        launch.met = cost <= LAUNCH_LIMIT
    with command.measuring(OURS), Plain(place, PROGRAM, place.folder / "unused") as plain:
        _to_first_launch(plain)
        taken = []
        for _ in range(10 if place.quick else 50):
            taken.append(plain.command("hotswap tiny tiny_too", "tiny_too for tiny: bound"))
            plain.command("hotswap -d tiny")
        command.cells[OURS] = spread(taken)
        command.met = statistics.median(taken) <= COMMAND_LIMIT
    return [launch, command]


def _armed(place: Workplace, result: Path) -> None:
    with Plain(place, PROGRAM, result) as plain:
        _to_first_launch(plain)
        plain.command("hotswap tiny tiny_too", "tiny_too for tiny: bound")
        plain.command("continue", "exited: status 0", 300)


def _to_first_launch(plain: Plain) -> None:
    plain.command(f"tbreak {line_of(PROGRAM, FIRST)}")
    plain.command("continue", STOP)
