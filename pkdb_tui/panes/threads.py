"""The threads grid: a cell a thread (or many), coloured by state or by value, with the focus always in it."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from rich.style import Style
from textual.binding import BindingType

from pkdb_tui import keys
from pkdb_tui.engine import formatting
from pkdb_tui.engine.api import PythonThread, StopSnapshot, ThreadRange, ThreadState, ThreadValues
from pkdb_tui.panes.bars import BARS, NOT_FINITE, bar
from pkdb_tui.panes.base import Pane, Row, RunCommand
from pkdb_tui.panes.palette import Palette

SYMBOLS: Mapping[ThreadState, tuple[str, str]] = {
    ThreadState.BREAKPOINT: ("●", "▓"),
    ThreadState.STOPPED: ("■", "■"),
    ThreadState.RUNNING: ("▸", "▒"),
    ThreadState.BARRIER: ("≡", "≡"),
    ThreadState.DIVERGED: ("░", "░"),
    ThreadState.FAULT: ("!", "!"),
    ThreadState.ABSENT: ("·", "·"),
}
WIDE_CELLS = 512  # up to so many threads a cell shows number, state and line; beyond, one character


class Heat(NamedTuple):
    """The threads' values: a bar and a text for each, and the row that says what they mean."""

    bars: dict[int, str]
    texts: dict[int, str]
    legend: str


NO_HEAT = Heat({}, {}, "")


def heat_of(found: ThreadValues) -> Heat:
    """Bars as high as the values lie between the least and the greatest; what is no finite number has none."""
    numbers = {v.thread: v.value for v in found.values if isinstance(v.value, (int, float))}
    finite = {t: n for t, n in numbers.items() if isinstance(n, int) or math.isfinite(n)}
    low, high = min(finite.values(), default=0), max(finite.values(), default=0)
    middle = BARS[len(BARS) // 2]
    bars = {t: bar(n, low, high) for t, n in finite.items()}
    bars |= {t: NOT_FINITE for t in numbers if t not in finite}
    texts = formatting.columns(list(numbers.values())) if len(numbers) <= WIDE_CELLS else []
    least, most = formatting.number(low), formatting.number(high)
    scale = f"{BARS[0]} {least} … {BARS[-1]} {most}" if low != high else f"{middle} {least}"
    parts = [f"{found.expression}  {scale}" if finite else f"{found.expression} is no finite number in any thread"]
    if finite and len(finite) < len(numbers):
        parts.append(f"{NOT_FINITE} {formatting.thousands(len(numbers) - len(finite))} NaN or Inf")
    if without := len(found.values) - len(numbers) + len(found.missing):
        parts.append(f"{formatting.thousands(without)} without a number")
    return Heat(bars, dict(zip(numbers, texts, strict=False)), " · ".join(parts))


class ThreadsPane(Pane):
    name_of_pane = "threads"
    cursor_shown = False
    help_text = (
        "● ▓ at breakpoint   ■ stopped   ▸ ▒ runs\n"
        "≡ at barrier   ░ diverged   ! fault   · not on the device\n"
        "[3] the focus   ‹5› the selected thread\n"
        "Enter moves the focus to the selected thread; g goes to one by number; v shows a value of each."
    )
    BINDINGS: ClassVar[list[BindingType]] = keys.pane_bindings("threads")

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self._ranges: tuple[ThreadRange, ...] = ()
        self._firsts: list[int] = []
        self._count = 0
        self._focus = 0
        self.selected = 0
        self._python: tuple[PythonThread, ...] = ()
        self._heat = NO_HEAT
        self._generation = -1

    # --- content ---

    def show(self, snapshot: StopSnapshot | None) -> None:
        if snapshot is None or snapshot.generation != self._generation:
            self._heat = NO_HEAT  # values of a stop that is over
        self._generation = snapshot.generation if snapshot is not None else -1
        if snapshot is None:
            self._ranges, self._python = (), ()
        else:
            self._ranges, self._python = snapshot.threads, snapshot.python_threads
            if snapshot.focus is not None:
                self._focus = self.selected = snapshot.focus.thread
        self._firsts = [part.first for part in self._ranges]
        self._count = self._ranges[-1].last + 1 if self._ranges else 0
        self.rows_changed()
        if self._count:
            self.show_row(self._row_of(self.selected))

    def show_values(self, values: ThreadValues) -> None:
        """Show each thread's value as a bar between the least and the greatest, and as a number where there is room."""
        self._heat = heat_of(values)
        self.rows_changed()

    @property
    def badge(self) -> str:
        if not self._count:
            return str(len(self._python)) if len(self._python) > 1 else ""
        here = self.state_of(self._focus)
        line = here.line if here is not None else 0
        same = sum(part.last - part.first + 1 for part in self._ranges if part.line == line)
        faults = sum(part.last - part.first + 1 for part in self._ranges if part.state is ThreadState.FAULT)
        text = f"· {formatting.thousands(self._count)} in kernel, {formatting.thousands(same)} at line {line}"
        return f"{text}, {formatting.thousands(faults)} faulty" if faults else text

    def state_of(self, thread: int) -> ThreadRange | None:
        index = bisect_right(self._firsts, thread) - 1
        if index < 0 or thread > self._ranges[index].last:
            return None
        return self._ranges[index]

    def on_resize(self) -> None:
        self.rows_changed()  # how many fit in a row is another number
        if self._count:
            self.show_row(self._row_of(self.selected))

    # --- geometry ---

    def wide(self) -> bool:
        return self._count <= WIDE_CELLS

    def cell_width(self) -> int:
        if not self.wide():
            return 1
        line = max((len(str(part.line)) for part in self._ranges if part.line), default=1)
        value = max(map(len, self._heat.texts.values()), default=0)
        return len(str(max(self._count - 1, 0))) + max(line, value) + 6

    def per_row(self, width: int = 0) -> int:
        width = max((width or self.scrollable_content_region.width) - 1, 1)
        if self.wide():
            return max(1, width // self.cell_width())
        label = len(str(self._count)) + 2
        return max(8, (width - label) // 8 * 8)

    def row_count(self) -> int:
        if not self._count:
            return len(self._python) or 1
        return self._above + -(-self._count // self.per_row())

    def rows_at(self, width: int) -> int:
        return self._above + -(-self._count // self.per_row(width)) if self._count else len(self._python)

    @property
    def _above(self) -> int:
        """Rows above the first thread's."""
        return 1 if self._heat.legend else 0

    def _row_of(self, thread: int) -> int:
        return self._above + thread // self.per_row()

    def row(self, index: int, width: int) -> Row:
        if not self._count:
            return self._python_row(index)
        if index < self._above:
            return [(f" {self._heat.legend}", self.palette.dim)]
        index -= self._above
        per_row = self.per_row()
        threads = range(index * per_row, min((index + 1) * per_row, self._count))
        if self.wide():
            return [(" ", self.palette.text), *(cell for thread in threads for cell in self._cell(thread))]
        label = f"{index * per_row:>{len(str(self._count))}}  "
        return [(label, self.palette.dim), *self._small_cells(threads)]

    def _style(self, state: ThreadState) -> Style:
        styles = {
            ThreadState.BREAKPOINT: self.palette.text,
            ThreadState.STOPPED: self.palette.text,
            ThreadState.FAULT: self.palette.fault,
            ThreadState.DIVERGED: self.palette.changed,
        }
        return styles.get(state, self.palette.dim)

    def _cell(self, thread: int) -> Row:
        part = self.state_of(thread)
        digits = len(str(max(self._count - 1, 0)))
        width = self.cell_width()
        if part is None:
            return [(" " * width, self.palette.dim)]
        symbol = self._heat.bars.get(thread) or SYMBOLS[part.state][0]
        place = self._heat.texts.get(thread) or (
            str(part.line)
            if part.line
            else {ThreadState.BARRIER: "bar", ThreadState.RUNNING: "run"}.get(part.state, "")
        )
        body = f"{symbol} {place}"
        focused, selected = thread == self._focus, thread == self.selected
        left, right = ("[", "]") if focused else ("‹", "›") if selected and self.has_focus else (" ", " ")
        style = self.palette.here if focused or (selected and self.has_focus) else self._style(part.state)
        return [(f"{left}{thread:>{digits}}{right}{body}".ljust(width), style)]

    def _small_cells(self, threads: range) -> Row:
        row: Row = []
        thread = threads.start
        while thread < threads.stop:
            part = self.state_of(thread)
            last = threads.stop - 1 if part is None else min(part.last, threads.stop - 1)
            if part is None:
                row.append((" " * (last - thread + 1), self.palette.dim))
            else:
                row += self._run(part, thread, last)
            thread = last + 1
        return row

    def _run(self, part: ThreadRange, first: int, last: int) -> Row:
        """Equal neighbours in one piece, the focus and heat cut out of it."""
        symbol, style = SYMBOLS[part.state][1], self._style(part.state)
        if not self._heat.bars and not (first <= self._focus <= last or first <= self.selected <= last):
            return [(symbol * (last - first + 1), style)]
        return [
            (
                self._heat.bars.get(t, symbol),
                self.palette.here + self.palette.cursor if t in (self._focus, self.selected) else style,
            )
            for t in range(first, last + 1)
        ]

    def _python_row(self, index: int) -> Row:
        if not self._python:
            return [(" no kernel is stopped", self.palette.dim)]
        thread = self._python[index]
        style = self.palette.here if thread.current else self.palette.text
        return [
            (" ▶ " if thread.current else "   ", self.palette.here),
            (f"{thread.name:<16} ", style),
            (f"{thread.file.rsplit('/', 1)[-1]}:{thread.line} {thread.function}", self.palette.dim),
        ]

    # --- keys ---

    def select(self, thread: int) -> None:
        self.selected = max(0, min(thread, self._count - 1))
        self.show_row(self._row_of(self.selected))
        self.refresh()

    def action_cursor(self, step: int) -> None:
        self.select(self.selected + step * self.per_row())

    def action_side(self, step: int) -> None:
        self.select(self.selected + step)

    def action_page(self, step: int) -> None:
        self.select(self.selected + step * self.per_row() * max(self.size.height - 1, 1))

    def action_edge(self, end: int) -> None:
        self.select(0 if end < 0 else self._count - 1)

    def action_choose(self) -> None:
        if self._count:
            self.post_message(RunCommand(f"thread {self.selected}"))

    def on_click(self, event: object) -> None:
        if not self._count:
            return
        x, y = getattr(event, "x", 0), getattr(event, "y", 0)
        label = 1 if self.wide() else len(str(self._count)) + 2
        column = min(max(x - label, 0) // self.cell_width(), self.per_row() - 1)
        row = self.scroll_offset.y + y - self._above
        if row < 0:
            return
        self.select(row * self.per_row() + column)
        self.action_choose()
