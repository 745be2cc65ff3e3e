"""The program's terminal: its output, and a line to type into it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from pkdb_tui import keys
from pkdb_tui.engine import formatting
from pkdb_tui.panes.base import Pane, Row, TitleChanged
from pkdb_tui.panes.guard import Guarded
from pkdb_tui.panes.palette import Palette
from pkdb_tui.panes.terminal_text import LineStore, styled

READING = "Enter begins a line to the program"
CALM, FLOOD = 1 / 30, 1 / 8  # seconds between two looks of what is shown; nobody reads a flood, and drawing slows it
MUCH = 1 << 17  # bytes between two looks that are one
TYPING = "a line to the program: Enter sends it"
WANTED = "the program waits for a line: type it, Enter sends it"


class Typed(Message):
    """Bytes for the program's terminal."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.data = data


class TypeWanted(Message):
    """The person wants to type to the program."""


class OutputLines(Pane):
    """The scrollback; it follows the end unless scrolled away from it."""

    cursor_shown = False
    BINDINGS: ClassVar[list[BindingType]] = keys.pane_bindings("output")

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self.id = "output-lines"
        self.store = LineStore()
        self._stale = False
        self._following = True
        self._came = 0  # bytes since the last look
        self._pause = CALM  # until the next one

    def append(self, data: bytes) -> None:
        self.store.append(data)
        self._came += len(data)
        if not self._stale:
            self._stale = True
            self.set_timer(self._pause, self._show)

    def _show(self) -> None:
        self._stale = False
        self._pause = FLOOD if self._came > MUCH else CALM
        self._came = 0
        following = self._following or self.scroll_offset.y >= self.max_scroll_y - 1
        self.set_height(self.row_count())
        if following:
            self.scroll_end(animate=False, force=True, immediate=True)
        self.refresh()
        self.post_message(TitleChanged())

    def row_count(self) -> int:
        return len(self.store) + (1 if self.store.dropped else 0)

    def row(self, index: int, width: int) -> Row:
        if self.store.dropped:
            if index == 0:
                return [(f" {formatting.thousands(self.store.dropped)} older lines are gone", self.palette.dim)]
            index -= 1
        return styled(self.store.line(index), self.palette.text)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._following = new_value >= self.max_scroll_y - 1

    def action_cursor(self, step: int) -> None:
        self.scroll_relative(y=step, animate=False)

    def action_page(self, step: int) -> None:
        self.scroll_relative(y=step * max(self.size.height - 1, 1), animate=False)

    def action_choose(self) -> None:
        self.post_message(TypeWanted())

    def action_edge(self, end: int) -> None:
        self.scroll_home(animate=False) if end < 0 else self.scroll_end(animate=False)


class InputLine(Guarded, Input):
    """What is typed here goes to the program."""

    DEFAULT_CSS = """
    InputLine { height: 1; border: none; padding: 0; background: transparent; }
    InputLine:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "escape", "leave", show=False),
        Binding("ctrl+d", "end_of_file", "end of file", show=False, priority=True),
    ]

    _wanted = False

    def show_what_it_is(self, wanted: bool) -> None:
        self._wanted = wanted
        self.placeholder = WANTED if wanted else TYPING if self.has_focus else READING

    def on_focus(self) -> None:
        self.placeholder = WANTED if self._wanted else TYPING
        self.post_message(TitleChanged())

    def on_blur(self) -> None:
        self.placeholder = WANTED if self._wanted else READING

    async def action_escape(self) -> None:
        self.value = ""
        await self.app.run_action("leave")

    def action_end_of_file(self) -> None:
        self.post_message(Typed(b"\x04"))


class OutputPane(Guarded, Vertical):
    """Scrollback above, input line below."""

    name_of_pane = "output"
    help_text = (
        "What the program prints. The keys are commands here, too, until Enter or i begins a line to the program. "
        "On that line Enter sends it, Ctrl-D sends end of file, Esc leaves. While the program waits for input, the "
        "key of this pane goes to that line at once."
    )
    DEFAULT_CSS = "OutputPane { background: transparent; }"

    def __init__(self, palette: Palette) -> None:
        super().__init__(id="output")
        self.lines = OutputLines(palette)
        self.palette = palette
        self.reads = True
        self.wanted = False  # the program waits for what is typed
        self._seen = 0  # lines there were when the pane was last on screen

    def compose(self) -> ComposeResult:
        yield self.lines
        yield InputLine(placeholder=READING, id="output-input", select_on_focus=False)

    @property
    def badge(self) -> str:
        if news := self.news:
            return f"+{formatting.thousands(news)}"
        return formatting.thousands(self._seen) if self._seen else ""

    @property
    def news(self) -> int:
        """Lines that came since the pane was last on screen."""
        count = len(self.lines.store) + self.lines.store.dropped
        if self.is_on_screen:
            self._seen = count
        return count - self._seen

    def append(self, data: bytes, dropped: int) -> None:
        if dropped:
            self.lines.append(f"\n[{formatting.byte_size(dropped)} of output were dropped]\n".encode())
        self.lines.append(data)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(Typed(event.value.encode() + b"\n"))
        event.input.value = ""

    @property
    def inside(self) -> Widget:
        """What gets the focus: the lines, or the line to the program while that waits for it."""
        return self.input if self.reads and self.wanted else self.lines

    @property
    def input(self) -> InputLine:
        return self.query_one(InputLine)

    def show_reads(self, reads: bool) -> None:
        """Whether the program is there to read what is typed."""
        if reads == self.reads:
            return
        typing = self.input.has_focus
        self.reads = reads
        self.input.display = reads
        if typing:
            self.screen.set_focus(self.lines)

    def show_wanted(self, wanted: bool) -> None:
        """Whether the program waits for what is typed."""
        self.wanted = wanted
        self.input.show_what_it_is(wanted)

    def on_type_wanted(self, event: TypeWanted) -> None:
        event.stop()
        if self.reads:
            self.screen.set_focus(self.input)
