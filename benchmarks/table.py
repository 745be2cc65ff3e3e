"""The table: one row per thing measured, one column per program, and the target."""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

OURS = "pkdb-tui"
PKDB = "PKDB (published/observed)"
COLUMNS = (OURS, "no debugger", "pdb", "pudb", "textual-debugger", "debugpy", PKDB)


@dataclass
class Row:
    """`cells` by column; `met` is None where a row has no target or could not be measured."""

    name: str
    target: str = ""
    cells: dict[str, str] = field(default_factory=dict)
    met: bool | None = None
    notes: list[str] = field(default_factory=list)
    reason: str = ""  # why the target is missed when it is, as far as known

    @contextmanager
    def measuring(self, column: str) -> Iterator[None]:
        """What goes wrong with one program becomes a note and "failed", and doesn't stop the run."""
        try:
            yield
        except (OSError, RuntimeError, ValueError, LookupError, AssertionError, subprocess.SubprocessError) as error:
            self.cells[column] = "failed"
            self.notes.append(f"{column}: {' '.join(str(error).split())[:400]}")
            if column == OURS:
                self.met = False


def milliseconds(seconds: float) -> str:
    value = seconds * 1e3
    return f"{value:.0f} ms" if value >= 100 else f"{value:.1f} ms" if value >= 1 else f"{value:.3f} ms"


def seconds(value: float) -> str:
    return f"{value:.2f} s"


def percentile(values: Sequence[float], percent: float) -> float:
    """By nearest rank: a value that was really seen."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, round(percent / 100 * len(ordered) + 0.5) - 1))]


def spread(values: Sequence[float]) -> str:
    """`12.3 ms / 20.1 ms`: median and 95th percentile."""
    return f"{milliseconds(statistics.median(values))} / {milliseconds(percentile(values, 95))}"


def markdown(rows: Sequence[Row]) -> str:
    """All rows as one aligned Markdown table, notes below it."""
    shown = [column for column in COLUMNS if any(column in row.cells for row in rows)]
    head = ["", "target", "met", *shown]
    body = [[row.name, row.target, _verdict(row), *(row.cells.get(column, "–") for column in shown)] for row in rows]
    widths = [max(len(line[i]) for line in (head, *body)) for i in range(len(head))]
    lines = [_line(head, widths), "|" + "|".join("-" * (width + 2) for width in widths) + "|"]
    lines += [_line(line, widths) for line in body]
    notes = [f"- {row.name}: {note}" for row in rows for note in row.notes]
    notes += [f"- {row.name}, missed: {row.reason}" for row in rows if row.met is False and row.reason]
    return "\n".join([*lines, "", *notes] if notes else lines) + "\n"


def _verdict(row: Row) -> str:
    return "" if row.met is None else "yes" if row.met else "**no**"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"
