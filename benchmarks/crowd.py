"""Rows about size: 100,000 threads in the grid and a million lines received."""

from __future__ import annotations

import re
import statistics
import time

from benchmarks.loops import line_of
from benchmarks.rivals import PROGRAMS, Workplace, script
from benchmarks.table import OURS, Row, percentile, spread
from benchmarks.terminal import Terminal

MIB = 1 << 20


def crowd(place: Workplace) -> list[Row]:
    """Step keys in the full screen with a crowd of threads and a long output, and the memory it takes then."""
    repaint = Row("key to repaint, 100,000 threads and a million lines, p50 / p95", "p95 ≤ 50 ms")
    memory = Row("UI memory then", "≤ 150 MB")
    with repaint.measuring(OURS):
        command = [place.python, str(PROGRAMS / "crowd.py"), *script("million.py")]
        with Terminal(command, environment=place.environment, directory=place.folder, columns=200, rows=60) as screen:
            screen.wait_for(r"<module>[\s\S]*million\.py:1\D")
            screen.settle(0.5)
            times = through_the_flood(screen, 20 if place.quick else 60)
            used = screen.memory()
        repaint.cells[OURS] = spread(times)
        repaint.met = percentile(times, 95) <= 0.050
        memory.cells[OURS] = f"{used / MIB:.0f} MiB"
        memory.met = used <= 150e6
        repaint.notes.append(f"slowest {max(times) * 1e3:.0f} ms, mean {statistics.mean(times) * 1e3:.0f} ms")
    return [repaint, memory]


def through_the_flood(screen: Terminal, count: int) -> list[float]:
    """Continues through the million lines to the program's own stop, then steps."""
    line = line_of("million.py", "    value_000 = 0")
    screen.send("c")
    screen.wait_for(rf"work[\s\S]*million\.py:(?:{line - 1}|{line})\D", 120)
    screen.settle(1.0)
    if re.search(rf"million\.py:{line}\D", screen.text) is None:
        screen.send("n")
        screen.wait_for(rf"million\.py:{line}\D", 10)
        screen.settle(0.5)
    times = []
    for number in range(1, count + 1):
        time.sleep(0.02)
        sent = screen.send("n")
        screen.wait_for(rf"million\.py:{line + number}\D", 10)
        times.append(screen.settle() - sent)
    return times
