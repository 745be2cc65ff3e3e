"""Rows about the screen: start to first paint, and a key to its repaint."""

from __future__ import annotations

import re
import statistics
import time

from benchmarks.loops import line_of
from benchmarks.rivals import Debugger, Workplace, script
from benchmarks.table import OURS, PKDB, Row, percentile, seconds, spread
from benchmarks.terminal import Terminal


def terminal(place: Workplace, debugger: Debugger, program: str, *arguments: object) -> Terminal:
    command = [*debugger.command, *script(program, *arguments)]
    return Terminal(command, environment=place.environment, directory=place.folder)


def start(place: Workplace) -> list[Row]:
    """From the command to the source on the screen, and to the first stop at which keys work."""
    paint = Row("start to first paint", "≤ 0.6 s", {PKDB: "0.5–0.8 s to its prompt"})
    usable = Row("start to stopped at the first line")
    for debugger in place.debuggers():
        with paint.measuring(debugger.name):
            runs = [started(place, debugger) for _ in range(3 if place.quick else 9)]
            first = statistics.median(paint_time for paint_time, _ in runs)
            paint.cells[debugger.name] = seconds(first)
            usable.cells[debugger.name] = seconds(statistics.median(stop_time for _, stop_time in runs))
            if debugger.name == OURS:
                paint.met = first <= 0.6
    return [paint, usable]


def started(place: Workplace, debugger: Debugger) -> tuple[float, float]:
    """Seconds to the first source line on the screen, and to the debugger's own word that it is stopped."""
    with terminal(place, debugger, "steps.py") as screen:
        painted = screen.wait_for("value_003" if debugger.screen else debugger.ready)
        stopped = screen.wait_for(debugger.ready)
        return painted - screen.started, stopped - screen.started


def steps(place: Workplace) -> list[Row]:
    """The key `next` to the repainted screen, over statements that take no time themselves."""
    row = Row("Python step key to repaint, p50 / p95", "≤ 25 ms / ≤ 50 ms")
    for debugger in place.debuggers():
        with row.measuring(debugger.name):
            times = step_times(place, debugger, 20 if place.quick else 100)
            row.cells[debugger.name] = spread(times)
            if debugger.name == OURS:
                row.met = statistics.median(times) <= 0.025 and percentile(times, 95) <= 0.050
    return [row]


def step_times(place: Workplace, debugger: Debugger, count: int) -> list[float]:
    """Seconds from each key to the last drawing it caused."""
    with terminal(place, debugger, "steps.py") as screen:
        screen.wait_for(debugger.ready)
        screen.settle(0.5)
        line = into_work(screen, debugger)
        return [one_step(screen, debugger, line + number) for number in range(1, count + 1)]


def one_step(screen: Terminal, debugger: Debugger, line: int) -> float:
    time.sleep(0.02)  # a person's pause: keys don't queue
    sent = screen.send(debugger.next_key)
    screen.wait_for(debugger.done.format(line=line), 10)
    return screen.settle() - sent


def into_work(screen: Terminal, debugger: Debugger) -> int:
    """From the first line of steps.py to the first statements of its function; returns the line."""
    head = line_of("steps.py", "def work():")
    call = line_of("steps.py", "work()")
    for key, lines in (
        (debugger.next_key, (head,)),
        (debugger.next_key, (call,)),
        (debugger.into_key, (head, head + 1)),
    ):
        step_onto(screen, debugger, key, lines)
    return step_onto(screen, debugger, debugger.next_key, (head + 1, head + 2))


def step_onto(screen: Terminal, debugger: Debugger, key: str, lines: tuple[int, ...]) -> int:
    """Steps and returns which of the lines it came to."""
    screen.send(key)
    screen.wait_for(debugger.done.format(line=f"(?:{'|'.join(map(str, lines))})"), 10)
    screen.settle(0.3)
    return next(line for line in reversed(lines) if re.search(debugger.done.format(line=line), screen.text))
