"""Rows about kernels: the first stop, later stops and steps, and conditions that are false."""

from __future__ import annotations

import statistics
import subprocess
import time
from pathlib import Path

from benchmarks.loops import line_of, take_turns
from benchmarks.rivals import PROGRAMS, Workplace, script
from benchmarks.table import OURS, PKDB, Row, milliseconds, seconds, spread
from benchmarks.terminal import Terminal

LAUNCH = "    pk.parallel_for(pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, 64), climb, v=v, turns=1000)"
LATER_LINE = "        total += v[i]"
PROMPT = r"pkdb> $"
STOP = r"stopped: (?:breakpoint|step)[^\n]*\n"


class Plain:
    """The plain mode on a terminal: a command, and the time until its stop and prompt are there."""

    def __init__(self, place: Workplace, program: str, *arguments: object) -> None:
        command = [place.python, "-m", "pkdb_tui", "--plain", *script(program, *arguments)]
        self.terminal = Terminal(command, environment=place.environment, directory=place.folder)

    def __enter__(self) -> Plain:
        self.terminal.wait_for(PROMPT)
        return self

    def __exit__(self, *_: object) -> None:
        self.terminal.close()

    def command(self, text: str, answer: str = "", timeout: float = 60.0) -> float:
        """Seconds until the prompt is back; `answer` must have come before it."""
        sent = self.terminal.send(text + "\n")
        done = self.terminal.wait_for(rf"{answer}[\s\S]*{PROMPT}" if answer else PROMPT, timeout)
        return done - sent


def stops(place: Workplace) -> list[Row]:
    """From a Python stop at the launch to the first kernel stop, then further stops and steps."""
    first = Row("continue to the first kernel stop, warm cache", "≤ 1.0 s", {PKDB: "1.8–2.4 s"})
    later = Row("later kernel stops (continue), p50 / p95", "p50 ≤ 30 ms", {PKDB: "10–250 ms"})
    steps = Row("kernel steps (next), p50 / p95", "p50 ≤ 30 ms", {PKDB: "never works on OpenMP"})
    with first.measuring(OURS):
        first_stop(place)  # fills the cache
        found = [first_stop(place) for _ in range(3 if place.quick else 7)]
        first.cells[OURS] = seconds(statistics.median(found))
        first.met = statistics.median(found) <= 1.0
    with later.measuring(OURS), Plain(place, "kernel.py") as plain:
        to_first_stop(plain)
        count = 10 if place.quick else 60
        continues = [plain.command("continue", STOP) for _ in range(count)]
        later.cells[OURS] = spread(continues)
        later.met = statistics.median(continues) <= 0.030
        nexts = [plain.command("next", STOP) for _ in range(count)]
        steps.cells[OURS] = spread(nexts)
        steps.met = statistics.median(nexts) <= 0.030
    return [first, later, steps]


def to_first_stop(plain: Plain) -> float:
    plain.command(f"tbreak {line_of('kernel.py', LAUNCH)}")
    plain.command("continue", STOP)
    plain.command(f"break {line_of('kernel.py', LATER_LINE)}")
    return plain.command("continue", STOP)


def first_stop(place: Workplace) -> float:
    with Plain(place, "kernel.py") as plain:
        return to_first_stop(plain)


def conditions(place: Workplace) -> list[Row]:
    """Twenty million evaluations of a condition that is never true, less the same debug build without them."""
    row = Row("false kernel condition, one evaluation", "≤ 20 µs", {PKDB: "conditions ignored"})
    rows, turns = 1000, 2000 if place.quick else 20_000
    busy = line_of("condition.py", "        v[i] += 1.0")
    dead = line_of("condition.py", "        v[i] = -1.0")

    def run(stop: str, result: Path) -> None:
        with Plain(place, "condition.py", result, turns) as plain:
            plain.command(stop)
            plain.command("continue", "exited: status 0", 300)

    with row.measuring(OURS):
        ways = {
            "without": lambda result: run(f"break {dead}", result),
            "with": lambda result: run(f"break {busy} if v[i] < 0.0", result),
        }
        take_turns(place, ways, 1)  # fills the cache
        found = take_turns(place, ways, 5)
        cost = (found["with"] - found["without"]) / (rows * turns)
        row.cells[OURS] = f"{cost * 1e6:.4f} µs"
        row.met = cost <= 20e-6
    by_gdb = Row("the same evaluated by gdb itself")
    with by_gdb.measuring("no debugger"):
        by_gdb.cells["no debugger"] = f"{milliseconds(gdb_condition(place))} (gdb alone, C program)"
    return [row, by_gdb]


def on_screen(place: Workplace) -> list[Row]:
    """The key `n` at a kernel stop to the repainted screen."""
    row = Row("kernel step key to repaint, p50 / p95", "p50 ≤ 30 ms")
    line = line_of("kernel.py", LATER_LINE)
    with row.measuring(OURS):
        command = [place.python, "-m", "pkdb_tui", *script("kernel.py")]
        with Terminal(command, environment=place.environment, directory=place.folder) as screen:
            screen.wait_for(r"<module>[\s\S]*kernel\.py:1\D")
            screen.settle(0.5)
            screen.send(":")
            screen.settle(0.3)
            screen.send(f"break {line}\r")
            screen.wait_for("pending", 10)
            screen.send("\x1b")
            screen.settle(0.5)
            screen.send("c")
            screen.wait_for(rf"kernel\.py:{line}\D", 60)
            screen.settle(0.5)
            times = [screen_step(screen, line) for _ in range(20 if place.quick else 100)]
        row.cells[OURS] = spread(times)
        row.met = statistics.median(times) <= 0.030
    return [row]


def screen_step(screen: Terminal, line: int) -> float:
    """Seconds from `n` to the last drawing; the loop goes round its four lines."""
    time.sleep(0.02)
    sent = screen.send("n")
    screen.wait_for(rf"kernel\.py:(?:{'|'.join(str(line - back) for back in range(4))})\D", 10)
    return screen.settle() - sent


def gdb_condition(place: Workplace) -> float:
    """Seconds gdb takes for one false condition on a small C program."""
    binary = place.folder / "gdb_condition"
    subprocess.run(["g++", "-g", "-O0", str(PROGRAMS / "gdb_condition.cpp"), "-o", str(binary)], check=True)
    base = ["gdb", "-nx", "-q", "-batch"]
    timed = []
    for stops in ([], ["-ex", "break count if i == -1"]):
        begin = time.perf_counter()
        subprocess.run([*base, *stops, "-ex", "run", str(binary)], check=True, capture_output=True, cwd=place.folder)
        timed.append(time.perf_counter() - begin)
    return (timed[1] - timed[0]) / 3000
