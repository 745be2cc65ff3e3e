"""The lens over the screen: moving over an array, looking for elements, its picture, saving it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from pkdb_tui import keys
from pkdb_tui.engine import formatting
from pkdb_tui.engine.errors import ExpressionError, PkdbError
from pkdb_tui.engine.lens import ACROSS, Lens, Survey, Values, matches, save
from pkdb_tui.panes.bars import BARS, NOT_FINITE, bar
from pkdb_tui.panes.guard import Guarded
from pkdb_tui.panes.help import AskScreen, TextScreen
from pkdb_tui.panes.lens import LensTable, Moved, curve, heat_map
from pkdb_tui.panes.palette import Palette

HELP = "One element stands under the cursor, all its digits below. The statistics are of all elements, or say of which."
NOT_A_NUMBER = "np.isnan(v) | np.isinf(v)"


class LensScreen(Guarded, ModalScreen[None]):
    """One array, over the whole screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "close"),
        Binding("question_mark,f1", "help", "help"),
        *keys.pane_bindings("lens"),
    ]
    DEFAULT_CSS = """
    LensScreen #lens {
        background: $surface; border: solid $panel; padding: 0;
        border-title-color: $foreground; border-subtitle-color: $foreground;
    }
    LensScreen Static { height: 1; width: 1fr; padding: 0 1; }
    """

    def __init__(self, lens: Lens, palette: Palette) -> None:
        super().__init__()
        self._lens = lens
        plane = lens.plane
        self.table = LensTable(palette, plane.rows, plane.columns, plane.row_name)
        self._element = Static(markup=False)
        self._numbers = Static(markup=False)
        self._values: tuple[int, int, Values] | None = None  # (top, left, elements) that are on screen
        self._survey: Survey | None = None
        self._condition = ""
        self._said = ""
        self._pictured = False

    def compose(self) -> ComposeResult:
        box = Vertical(self.table, self._element, self._numbers, id="lens")
        box.border_subtitle = "Esc closes  ? keys"
        yield box

    def on_mount(self) -> None:
        self.table.focus()
        self.query_one("#lens").border_title = self._lens.title
        self._fetch()
        self._measure()

    # --- fetching ---

    def _attempt(self, group: str, work: Coroutine[Any, Any, None]) -> None:
        """Carry out what takes time; a newer one of the same kind takes its place."""

        async def attempt() -> None:
            try:
                await work
            except PkdbError as error:
                self._say(str(error))
            except OSError as error:
                self._say(f"{error.filename or ''}: {error.strerror}")

        self.run_worker(attempt(), group=group, exclusive=True)

    @on(Moved)
    def _moved(self) -> None:
        self._said = ""
        self._show_element()
        self._show_statistics()
        self._fetch()

    def _fetch(self) -> None:
        self._attempt("window", self._picture_now() if self._pictured else self._window())

    async def _window(self) -> None:
        top, left, height, width = self.table.wanted
        plane = self._lens.plane
        if plane.flat:
            left = 0  # whole rows come
        values = await self._lens.window(top, left, height, width)
        self._values = top, left, values
        marked: frozenset[tuple[int, int]] = frozenset()
        if self._condition and values.size:
            held = np.flatnonzero(await matches(self._condition, values))
            marked = frozenset(plane.at(top, left, values, int(at)) for at in held)
        self.table.fill(top, left, plane.in_rows(values), marked)
        self._show_element()

    def _measure(self) -> None:
        async def measure() -> None:
            self._survey = await self._lens.survey()
            self._show_statistics()

        self._survey = None
        self._show_statistics()
        self._attempt("survey", measure())

    # --- what is said ---

    def _say(self, text: str) -> None:
        self._said = text
        self._element.update(text)

    def _show_element(self) -> None:
        if self._said:
            return
        row, column = self.table.row, self.table.column
        index = self._lens.plane.index(row, column)
        labels = self._lens.labels
        if len(labels) == len(index):
            place = ", ".join(f"{name} = {at}" for name, at in zip(labels, index, strict=True))
        else:
            place = f"[{', '.join(map(str, index))}]"
        value = self._value(row, column)
        found = f"   {self._condition}" if self._condition else ""
        self._element.update(f"{place}   {formatting.full(value) if value is not None else '…'}{found}")

    def _value(self, row: int, column: int) -> Any:
        if self._values is None:
            return None
        top, left, values = self._values
        with contextlib.suppress(IndexError):
            if self._lens.plane.flat:
                at = (row - top) * ACROSS + column
                return values[at] if at >= 0 else None
            if row >= top and column >= left:
                return values[row - top, column - left]
        return None

    def _show_statistics(self) -> None:
        """With a histogram where there is room; empty bins are blank."""
        if self._survey is None:
            self._numbers.update("")
            return
        text, bins = self._survey.text, self._survey.bins
        bars = "".join(bar(count, 0, max(bins)) if count else " " for count in bins)
        whole = f"{text} · {bars}" if bars else text
        self._numbers.update(whole if len(whole) <= self.size.width - 4 else text)

    # --- keys ---

    def action_help(self) -> None:
        rows = "\n".join((keys.table(keys.PANE_KEYS, "lens"), keys.table(keys.PANE_KEYS, "table")))
        self.app.push_screen(TextScreen("help: lens", f"{HELP}\n\n{rows}"))

    def action_turn(self, step: int) -> None:
        if self._lens.planes < 2:
            self._say("This array has one plane only.")
            return
        self.workers.cancel_group(self, "search")
        self._lens = self._lens.turned(step)
        self._values, self._said = None, ""
        self.table.reset(self._lens.plane.rows, self._lens.plane.columns)
        self.query_one("#lens").border_title = self._lens.title
        self._measure()
        self._fetch()

    def action_extreme(self, least: bool) -> None:
        async def find() -> None:
            self._arrive(await self._lens.extreme(least), "There is none: all elements are NaN.")

        self._say("looking …")
        self._attempt("search", find())

    def action_not_finite(self) -> None:
        if np.dtype(self._lens.dtype).kind not in "fc":
            self._say(f"Elements of {self._lens.dtype} are never NaN or infinite.")
            return
        self._search(NOT_A_NUMBER, "No element is NaN or infinite.")

    def action_condition(self) -> None:
        def entered(text: str | None) -> None:
            if text:
                self._search(text, keep=True)

        self.app.push_screen(AskScreen("elements v with:", self._condition, placeholder="abs(v) > 1e3"), entered)

    def action_again(self) -> None:
        if self._condition:
            self._search(self._condition, keep=True)
        else:
            self._say("Ask for elements first: / and for example `abs(v) > 1e3`.")

    def _search(self, condition: str, nothing: str = "", *, keep: bool = False) -> None:
        """To the next element for which it holds; to be kept, it must be a condition."""

        async def find() -> None:
            found = await self._lens.next(condition, (self.table.row, self.table.column))
            if keep:
                self._condition = condition
            self._arrive(found, nothing or f"No element has {condition}.")

        self._say("looking …")
        self._attempt("search", find())

    def _arrive(self, place: tuple[int, int] | None, nothing: str) -> None:
        if place is None:
            self._say(nothing)
            return
        self._said = ""
        self.table.go(*place)

    def action_go_to(self) -> None:
        def entered(text: str | None) -> None:
            if not text:
                return
            try:
                index = tuple(int(part) for part in text.replace(",", " ").split())
                if len(index) == 2 and len(self._lens.plane.shape) > 2:
                    index = (*self._lens.plane.lead, *index)
                place = self._lens.plane.place(index)
            except ValueError:
                self._say(f"`{text}` is no index; write numbers, as `3, 17`.")
            except ExpressionError as error:
                self._say(str(error))
            else:
                if index[:-2] != self._lens.plane.lead and not self._lens.plane.flat:
                    self._say("That lies in another plane: [ and ] lead there.")
                    return
                self._arrive(place, "")

        self.app.push_screen(AskScreen("go to element:"), entered)

    def action_picture(self) -> None:
        self._pictured = not self._pictured
        if not self._pictured:
            self.table.draw(())
        self._said = ""
        self._fetch()

    async def _picture_now(self) -> None:
        width, height = self.table.size.width - 2, self.table.size.height
        if np.dtype(self._lens.dtype).kind == "c":
            raise ExpressionError("Complex numbers have no picture.", "Look at `.real`, `.imag` or `abs(…)`.")
        if self._lens.plane.flat:
            values, steps = await self._lens.sample(1, width)
            picture = curve([float(value) for value in values.ravel()], height)
        else:
            values, steps = await self._lens.sample(height, width)
            picture = heat_map([[float(value) for value in row] for row in values])
        self.table.draw(picture)
        scale = "least at the bottom" if self._lens.plane.flat else f"{BARS[0]} least {BARS[-1]} greatest"
        every = " × ".join(f"{step}" for step in steps[: 1 if self._lens.plane.flat else 2])
        sampled = f" · one of {every} elements" if max(steps) > 1 else ""
        self._say(f"{scale} · {NOT_FINITE} NaN or Inf{sampled}")

    def action_save(self) -> None:
        def entered(text: str | None) -> None:
            if text:
                self._say("saving …")
                self._attempt("save", self._save(Path(os.path.expanduser(text))))

        self.app.push_screen(AskScreen("save this plane to (.npy or .csv):"), entered)

    async def _save(self, path: Path) -> None:
        count = await save(self._lens, path)
        self._say(f"saved {formatting.thousands(count)} elements to {path}")
