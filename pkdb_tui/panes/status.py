"""The top line (what, where, why, focus, how long) and the bottom line (keys that work now, or a message)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from pkdb_tui.engine.api import ExitCause, FrameKind, Phase, Progress, Reason, StopSnapshot
from pkdb_tui.panes.base import Row
from pkdb_tui.panes.fitting import drawable, wrapped
from pkdb_tui.panes.guard import Guarded
from pkdb_tui.panes.palette import Palette

RUNNING = {Phase.RUNNING_PYTHON: "running"}  # an optimised kernel may be what runs: nobody is told of each
FOLDER = re.compile(r"(?<= )/\S*/(?=[^/\s]+:\d+: )")  # of a file and line that a message begins with
MESSAGE_ROWS = 5  # of a message over the lowest rows of the panes
FAULTS = (Reason.EXCEPTION, Reason.SIGNAL, Reason.BOUNDS, Reason.ERROR)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(seconds, 0.0), 60)
    return f"{int(minutes):02d}:{rest:05.2f}"


class StatusLine(Guarded, Widget):
    """`yax.py ▪ kernel yax · OpenMP · launch 1 · breakpoint 2      thread 3 of 8 · j = 96     ran 00:00.41`."""

    DEFAULT_CSS = "StatusLine { height: 1; dock: top; background: $surface; }"

    def __init__(self, palette: Palette, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(id="status")
        self.palette = palette
        self._now = now
        self.program = ""
        self.input_key = "7"  # that of the output
        self.runtime = ""
        self._phase = Phase.IDLE
        self._snapshot: StopSnapshot | None = None
        self._cause: ExitCause | None = None
        self._wanted = False  # the program waits for input
        self._widest_focus = 0, 0  # of this launch, the columns that the focus took at most
        self._activity = ""
        self._activity_since = 0.0
        self._running_since = now()
        self._ran = 0.0

    def on_mount(self) -> None:
        self.set_interval(0.1, self._tick)

    def _tick(self) -> None:
        if self._phase.running or self._activity:
            self.refresh()

    def show_phase(self, phase: Phase) -> None:
        if phase.running and not self._phase.running:
            self._running_since = self._now()
            self._cause = None
        elif self._phase.running and not phase.running:
            self._ran = self._now() - self._running_since
        self._phase = phase
        self.refresh()

    def show_stop(self, snapshot: StopSnapshot | None) -> None:
        self._snapshot = snapshot
        self.refresh()

    def show_wanted(self, wanted: bool) -> None:
        """Whether the program waits for something to be typed."""
        self._wanted = wanted
        self.refresh()

    def show_exit(self, cause: ExitCause) -> None:
        self._snapshot, self._cause = None, cause
        self.refresh()

    def show_progress(self, progress: Progress) -> None:
        self._activity = "" if progress.done else progress.task
        self._activity_since = self._now()
        self.refresh()

    # --- text ---

    def _unstopped(self) -> Iterator[tuple[Row, Row]]:
        """(left, right) while there is no stop to tell of, ever shorter: what goes on is worth more than its name."""
        program: Row = [(f" {self.program} ", self.palette.here), ("▪ ", self.palette.dim)]
        now, clock = self._now_going_on(), self._elapsed()
        yield [*program, *now], [clock]
        yield [(" ", self.palette.text), *now], [clock]
        yield [(" ", self.palette.text), *now], []

    def _now_going_on(self) -> Row:
        palette = self.palette
        if self._activity:
            return [(f"{self._activity}, {self._now() - self._activity_since:.1f} s", palette.changed)]
        if self._phase is Phase.EXITED and self._cause is not None:
            bad = bool(self._cause.signal or self._cause.exception)
            return [(f"exited: {self._cause.text}", palette.fault if bad else palette.text)]
        if self._wanted:
            return [("waiting for input", palette.here), (f" · {self.input_key} and type it", palette.text)]
        return [(RUNNING.get(self._phase, self._phase.value), palette.text)]

    def _stopped(self, stop: StopSnapshot) -> Iterator[tuple[Row, Row]]:
        """(left, right), ever shorter: why it stopped is worth more than all else, which stands in panes, too."""
        palette = self.palette
        style = palette.fault if stop.reason in FAULTS else palette.text
        why: Row = [(FOLDER.sub("", stop.reason_text.splitlines()[0]), style)]
        if stop.return_text:
            why.append((f" · returns {stop.return_text}", palette.changed))
        program: Row = [(f" {self.program} ", palette.here), ("▪ ", palette.dim)]
        focus: Row = []
        if stop.focus is not None and stop.location.kind is FrameKind.KERNEL:
            focus = [(f"{self._focus_text(stop)}   ", palette.here)]
        elif self.runtime and self.size.width >= 140:
            focus = [(f"{self.runtime}   ", palette.dim)]
        clock = self._elapsed()
        where = self._where(stop)
        for count in range(len(where), 0, -1):
            yield [*program, *self._joined(where[:count]), *why], [*focus, clock]
        bare = clock[0].partition(" ")[2], clock[1]  # without the word for the time
        yield [*program, *self._joined(where[:1]), *why], [*focus, bare]
        for place in (self._joined(where[:1]), []):
            for spent in (clock, bare):
                yield [(" ", palette.text), *place, *why], [*focus, spent]
        yield [(" ", palette.text), *why], focus
        shorter: list[Row] = []
        if focus and stop.focus is not None:
            shorter = [[(f"thread {stop.focus.thread} ", palette.here)], [(f"t{stop.focus.thread} ", palette.here)]]
        for row in (*shorter, [], *shorter[-1:]):  # where nothing fits, the thread at least does
            yield [(" ", palette.text), *why], row

    def _focus_text(self, stop: StopSnapshot) -> str:
        """The thread and its indices, at one place from stop to stop of a launch and from thread to thread."""
        assert stop.focus is not None
        thread, threads = stop.focus.thread, stop.focus.threads
        rest = stop.focus.text.removeprefix(f"thread {thread} of {threads}")
        text = stop.focus.text
        if rest != text:
            text = f"thread {thread:>{len(str(threads - 1))}} of {threads}{rest}"
        launch = stop.kernel.launch if stop.kernel is not None else 0
        widest = self._widest_focus[1] if self._widest_focus[0] == launch else 0
        self._widest_focus = launch, max(widest, cell_len(text))
        return text.ljust(self._widest_focus[1])

    def _where(self, stop: StopSnapshot) -> Row:
        """The kernel, its space and launch, or the Python function; what is worth least stands last."""
        if stop.kernel is None:
            return [(f"python · {stop.location.function}", self.palette.text)]
        words = [f"kernel {stop.kernel.name}", stop.kernel.space, f"launch {stop.kernel.launch}"]
        if stop.kernel.build == "release":
            words.insert(1, "optimised")
        return [(word, self.palette.kernel) for word in words]

    def _joined(self, parts: Row) -> Row:
        return [(f"{text} · ", style) for text, style in parts]

    def _elapsed(self) -> tuple[str, Style]:
        seconds = self._now() - self._running_since if self._phase.running else self._ran
        return f"{'runs' if self._phase.running else 'ran'} {_clock(seconds)} ", self.palette.dim

    def _row(self, width: int) -> tuple[Row, Row]:
        stop = self._snapshot
        unstopped = bool(self._activity) or not self._phase.stopped
        left: Row = []
        right: Row = []
        for left, right in self._unstopped() if unstopped or stop is None else self._stopped(stop):
            if sum(cell_len(text) for text, _ in (*left, *right)) < width:
                break
        return left, right

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        left, right = (Strip([Segment(drawable(text), style) for text, style in row]) for row in self._row(width))
        if left.cell_length + right.cell_length + 1 > width:
            left = left.crop(0, max(width - right.cell_length - 2, 0))
            left = Strip([*left, Segment("… ", self.palette.dim)])
        gap = max(width - left.cell_length - right.cell_length, 0)
        return Strip([*left, Segment(" " * gap), *right]).adjust_cell_length(width).apply_style(self.rich_style)


def fitting(keys: Sequence[tuple[str, str]], width: int) -> list[tuple[str, str]]:
    """As many keys as fit, from the left; the one that explains all others has its place first."""
    room = width - sum(len(key) + len(label) + 3 for key, label in keys if label == "help")
    fit: list[tuple[str, str]] = []
    for key, label in keys:
        length = 0 if label == "help" else len(key) + len(label) + 3
        if length > room:
            if length:
                room = 0
            continue
        room -= length
        fit.append((key, label))
    return fit


class KeyLine(Guarded, Widget):
    """`n next  s step  c continue …`; a message takes its place until the next key, over as many rows as it needs."""

    DEFAULT_CSS = "KeyLine { height: auto; dock: bottom; layer: over; background: $surface; }"

    def __init__(self, palette: Palette, keys: Callable[[], Sequence[tuple[str, str]]]) -> None:
        super().__init__(id="keys")
        self.palette = palette
        self._keys = keys
        self._message: list[tuple[str, Style]] = []
        self._notices: list[tuple[str, Style]] = []  # what nobody asked for stays until somebody can have read it

    def say(self, text: str, *, fault: bool = False, notice: bool = False) -> None:
        style = self.palette.fault if fault else self.palette.changed
        said = [("\n".join(" ".join(line.split()) for line in text.strip().splitlines()), style)]
        self._show(said if not notice else self._message, self._notices + said if notice else self._notices)

    def clear(self) -> None:
        """Another answer is to come."""
        self._show([], self._notices)

    def read(self) -> None:
        """The person has gone on: nothing of it stays."""
        self._show([], [])

    def _show(self, message: list[tuple[str, Style]], notices: list[tuple[str, Style]]) -> None:
        rows = len(self._rows(self.size.width))
        self._message, self._notices = message, notices
        # What lies below keeps its place: the rows beyond the first lie over it.
        self.refresh(layout=max(len(self._rows(self.size.width)), 1) != max(rows, 1))

    @property
    def message(self) -> str:
        return "\n".join(text for text, _ in (*self._notices, *self._message))

    def _rows(self, width: int) -> list[tuple[str, Style]]:
        """The rows of notices and message; where there are too many, one says where all of it is."""
        room = max(width - 2, 10)
        said = (*self._notices, *self._message)
        rows = [(row, style) for text, style in said for line in text.split("\n") for row in wrapped(line, room)]
        if len(rows) > MESSAGE_ROWS:
            rows[MESSAGE_ROWS - 1 :] = [("… all of it is in the console", self.palette.dim)]
        return rows

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(len(self._rows(width)), 1)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if rows := self._rows(width):
            text, style = rows[y] if y < len(rows) else ("", self.palette.text)
            return Strip([Segment(f" {drawable(text)}", style)]).adjust_cell_length(width).apply_style(self.rich_style)
        segments: list[Segment] = []
        for key, label in fitting(self._keys(), width):
            segments += [Segment(f" {key}", self.palette.here), Segment(f" {label} ", self.palette.dim)]
        return Strip(segments).adjust_cell_length(width).apply_style(self.rich_style)
