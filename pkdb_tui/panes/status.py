"""The top line (what, where, why, focus, how long) and the bottom line (keys that work now, or a message)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from pkdb_tui.engine.api import ExitCause, FrameKind, Phase, Progress, StopSnapshot
from pkdb_tui.panes.guard import Guarded
from pkdb_tui.panes.palette import Palette


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(seconds, 0.0), 60)
    return f"{int(minutes):02d}:{rest:05.2f}"


class StatusLine(Guarded, Widget):
    """`yax.py ▪ kernel yax · OpenMP · launch 1 · breakpoint 2      thread 3 of 8 · j = 96     00:00.41`."""

    DEFAULT_CSS = "StatusLine { height: 1; dock: top; background: $surface; }"

    def __init__(self, palette: Palette, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(id="status")
        self.palette = palette
        self._now = now
        self.program = ""
        self.runtime = ""
        self._phase = Phase.IDLE
        self._snapshot: StopSnapshot | None = None
        self._cause: ExitCause | None = None
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

    def show_exit(self, cause: ExitCause) -> None:
        self._snapshot, self._cause = None, cause
        self.refresh()

    def show_progress(self, progress: Progress) -> None:
        self._activity = "" if progress.done else progress.task
        self._activity_since = self._now()
        self.refresh()

    # --- text ---

    def _left(self, room: int) -> list[tuple[str, Style]]:
        palette = self.palette
        parts: list[tuple[str, Style]] = [(f" {self.program} ", palette.here), ("▪ ", palette.dim)]
        stop = self._snapshot
        if self._activity:
            return [*parts, (f"{self._activity}, {self._now() - self._activity_since:.1f} s", palette.changed)]
        if self._phase is Phase.EXITED and self._cause is not None:
            bad = bool(self._cause.signal or self._cause.exception)
            return [*parts, (f"exited: {self._cause.text}", palette.fault if bad else palette.text)]
        if stop is None or not self._phase.stopped:
            return [*parts, (self._phase.value, palette.text)]
        if stop.kernel is not None:
            parts.append((self._kernel_text(room), palette.kernel))
        else:
            parts.append((f"python · {stop.location.function}", palette.text))
        faulty = stop.reason.value in ("exception", "signal", "bounds", "error")
        parts.append((f" · {stop.reason_text.splitlines()[0]}", palette.fault if faulty else palette.text))
        if stop.return_text:
            parts.append((f" · returns {stop.return_text}", palette.changed))
        return parts

    def _kernel_text(self, room: int) -> str:
        """The kernel, its space and launch; where room is short, why it stopped is worth more than those."""
        stop = self._snapshot
        assert stop is not None
        assert stop.kernel is not None
        parts = [f"kernel {stop.kernel.name}", stop.kernel.space, f"launch {stop.kernel.launch}"]
        if stop.kernel.build == "release":
            parts.insert(1, "optimised")
        fixed = len(self.program) + len(stop.reason_text.splitlines()[0]) + 10
        while len(parts) > 1 and fixed + len(" · ".join(parts)) > room:
            parts.pop()
        return " · ".join(parts)

    def _right(self) -> list[tuple[str, Style]]:
        stop = self._snapshot
        parts: list[tuple[str, Style]] = []
        if stop is not None and stop.focus is not None and stop.location.kind is FrameKind.KERNEL:
            parts.append((f"{stop.focus.text}   ", self.palette.here))
        elif self.runtime and self.size.width >= 140:
            parts.append((f"{self.runtime}   ", self.palette.dim))
        seconds = self._now() - self._running_since if self._phase.running else self._ran
        return [*parts, (_clock(seconds) + " ", self.palette.dim)]

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        right = Strip([Segment(text, style) for text, style in self._right()])
        left = Strip([Segment(text, style) for text, style in self._left(width - right.cell_length)])
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
    """`n next  s step  c continue …`; a message takes its place until the next key."""

    DEFAULT_CSS = "KeyLine { height: 1; dock: bottom; background: $surface; }"

    def __init__(self, palette: Palette, keys: Callable[[], Sequence[tuple[str, str]]]) -> None:
        super().__init__(id="keys")
        self.palette = palette
        self._keys = keys
        self._message = ""
        self._style = palette.changed

    def say(self, text: str, *, fault: bool = False) -> None:
        self._message = " ".join(text.split())
        self._style = self.palette.fault if fault else self.palette.changed
        self.refresh()

    def clear(self) -> None:
        if self._message:
            self._message = ""
        self.refresh()

    @property
    def message(self) -> str:
        return self._message

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if self._message:
            text = self._message if len(self._message) < width - 1 else self._message[: width - 2] + "…"
            return Strip([Segment(f" {text}", self._style)]).adjust_cell_length(width).apply_style(self.rich_style)
        segments: list[Segment] = []
        for key, label in fitting(self._keys(), width):
            segments += [Segment(f" {key}", self.palette.here), Segment(f" {label} ", self.palette.dim)]
        return Strip(segments).adjust_cell_length(width).apply_style(self.rich_style)
