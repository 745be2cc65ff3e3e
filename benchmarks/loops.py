"""Rows about programs that run: a Python loop, many small launches, and a flood of output."""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.adapter import run_under_debugpy
from benchmarks.rivals import PROGRAMS, Workplace, script
from benchmarks.table import OURS, PKDB, Row, milliseconds
from benchmarks.terminal import Terminal

RETURN_LINE = "    return total"
ELSEWHERE_LINE = "    return 1"

LAUNCH_REASON = (
    "with a breakpoint in the function that launches, 3.11 calls the trace function for each Python call of the "
    "launch; 3.12 and later don't."
)
FLOOD_REASON = (
    "a terminal hands out at most 4 KiB a read, and the process that reads also keeps the text and draws the screen; "
    "the reader compared with does nothing else."
)


def line_of(program: str, text: str) -> int:
    """The number of the line that reads so."""
    return (PROGRAMS / program).read_text().splitlines().index(text) + 1


def repeat(place: Workplace, action: Callable[[Path], None], times: int = 5) -> float:
    """The median of the figures that `times` runs of a program wrote to a file."""
    result = place.folder / "result"
    result.unlink(missing_ok=True)
    for _ in range(min(times, 2) if place.quick else times):
        action(result)
    return statistics.median(map(float, result.read_text().split()))


def take_turns(place: Workplace, actions: dict[str, Callable[[Path], None]], times: int = 5) -> dict[str, float]:
    """Medians for several ways to run the same program, run in turn so that the machine's moods meet them all."""
    found: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(2 if place.quick else times):
        for name, action in actions.items():
            found[name].append(repeat(place, action, 1))
    return {name: statistics.median(values) for name, values in found.items()}


def alone(place: Workplace, python: str, program: str) -> Callable[[Path], None]:
    def run(result: Path) -> None:
        command = [python, *script(program, result)]
        subprocess.run(command, env=place.embedded, cwd=place.folder, check=True, capture_output=True, timeout=120)

    return run


def in_terminal(place: Workplace, command: Sequence[str], environment: dict[str, str]) -> None:
    with Terminal(command, environment=environment, directory=place.folder) as screen:
        screen.drain(180)


def under_pdb(place: Workplace, python: str, program: str, line: int, *, hit: bool) -> Callable[[Path], None]:
    def run(result: Path) -> None:
        goes = ["-c", "c"] * (2 if hit else 1)
        command = [python, "-m", "pdb", "-c", f"b {line}", *goes, "-c", "q", *script(program, result)]
        in_terminal(place, command, place.embedded)

    return run


def under_ours(place: Workplace, python: str, program: str, line: int, *, hit: bool) -> Callable[[Path], None]:
    def run(result: Path) -> None:
        stops = ["-c", f"break {line}"] if line else []
        goes = ["-c", "continue"] * (2 if hit else 1)
        command = [python, "-m", "pkdb_tui", "--plain", *stops, *goes, "-c", "quit", *script(program, result)]
        in_terminal(place, command, place.environment)

    return run


def loop(place: Workplace) -> list[Row]:
    """200,000 turns with a breakpoint in another function, and in the loop's own function after the loop."""
    rows: list[Row] = []
    for python in (place.python, *place.others):
        version = subprocess.check_output(
            [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], text=True
        )
        version = version.strip()
        base = repeat(place, alone(place, python, "loop.py"))
        old = version == "3.11"
        for where, text, target in (
            ("another function", ELSEWHERE_LINE, "≤ 1.3× none" if old else "≤ 1.1× none"),
            ("the loop's function", RETURN_LINE, "≤ pdb" if old else "≤ 1.1× none"),
        ):
            row = Row(f"loop of 200,000, {version}, breakpoint in {where}", target, {"no debugger": milliseconds(base)})
            row.cells[PKDB] = "0.5–0.6 s"
            rows.append(row)
            _loop_row(place, python, row, line_of("loop.py", text), base, hit=text == RETURN_LINE)
    return rows


def _loop_row(place: Workplace, python: str, row: Row, line: int, base: float, *, hit: bool) -> None:
    pdb = float("inf")
    with row.measuring("pdb"):
        pdb = repeat(place, under_pdb(place, python, "loop.py", line, hit=hit), 3)
        row.cells["pdb"] = _against(pdb, base)
    with row.measuring(OURS):
        ours = repeat(place, under_ours(place, python, "loop.py", line, hit=hit))
        row.cells[OURS] = _against(ours, base)
        allowed = pdb if row.target == "≤ pdb" else base * float(row.target.split()[1].rstrip("×"))
        row.met = ours <= allowed
    if place.rivals and python == place.python:
        with row.measuring("debugpy"):
            found = repeat(place, lambda result: run_under_debugpy(place, "loop.py", line, result), 3)
            row.cells["debugpy"] = _against(found, base)


def _against(value: float, base: float) -> str:
    return f"{milliseconds(value)} ({value / base:.2f}×)"


def launches(place: Workplace) -> list[Row]:
    """One launch of a tiny kernel, no kernel breakpoint set: with no breakpoint, and with one in Python."""
    last = line_of("launches.py", "    assert v[0] == LAUNCHES + 20")
    names = {"no breakpoint": 0, "a Python breakpoint after it": last}
    rows = [
        Row(
            f"launch of a tiny kernel, {name}",
            "≤ 1.15× none",
            {PKDB: "2.5–2.8 ms"},
            reason=LAUNCH_REASON if line else "",
        )
        for name, line in names.items()
    ]
    ways: dict[str, Callable[[Path], None]] = {"alone": alone(place, place.python, "launches.py")}
    ways["pdb"] = under_pdb(place, place.python, "launches.py", last, hit=True)
    for name, line in names.items():
        ways[name] = under_ours(place, place.python, "launches.py", line, hit=line > 0)
    with rows[0].measuring(OURS), rows[1].measuring(OURS):
        found = take_turns(place, ways)
        for row, name in zip(rows, names, strict=True):
            row.cells["no debugger"] = milliseconds(found["alone"])
            row.cells["pdb"] = _against(found["pdb"], found["alone"])
            row.cells[OURS] = _against(found[name], found["alone"])
            row.met = found[name] <= 1.15 * found["alone"]
    return rows


def flood(place: Workplace) -> list[Row]:
    """A program that prints a million lines flat out, against a terminal that only reads."""
    row = Row("printing flat out", "≤ 1.2× plain pty", reason=FLOOD_REASON)
    last = line_of("flood.py", "    seconds = time.perf_counter() - begin")
    bare = [place.python, *script("flood.py")]
    with row.measuring(OURS):
        found = take_turns(
            place,
            {
                "bare": lambda result: in_terminal(place, [*bare, str(result)], place.environment),
                "pdb": under_pdb(place, place.python, "flood.py", last, hit=True),
                "ours": lambda result: flood_on_screen(place, result),
            },
            7,
        )
        row.cells["no debugger"] = milliseconds(found["bare"])
        row.cells["pdb"] = _against(found["pdb"], found["bare"])
        row.cells[OURS] = _against(found["ours"], found["bare"])
        row.met = found["ours"] <= 1.2 * found["bare"]
    return [row]


def flood_on_screen(place: Workplace, result: Path) -> None:
    """The flood in the full-screen program: continue, and wait for the figure the program writes."""
    command = [place.python, "-m", "pkdb_tui", *script("flood.py", result)]
    before = len(result.read_text().split()) if result.exists() else 0
    with Terminal(command, environment=place.environment, directory=place.folder) as screen:
        screen.wait_for(r"LINES")
        screen.settle(0.5)
        screen.send("c")
        while not result.exists() or len(result.read_text().split()) == before:
            screen.pump(0.1)
            del screen.raw[:-4096]
            if screen.ended:
                raise RuntimeError(f"the program ended: {screen.text[-300:]}")
