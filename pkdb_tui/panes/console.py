"""The console: the command language with history, completion, and several lines where they are needed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Paste
from textual.message import Message
from textual.widgets import Input, Static

from pkdb_tui import state_files
from pkdb_tui.panes import completion, terminal_text
from pkdb_tui.panes.base import Pane, Row, TitleChanged
from pkdb_tui.panes.completion import Completions
from pkdb_tui.panes.fitting import drawable
from pkdb_tui.panes.guard import Guarded
from pkdb_tui.panes.palette import Palette

KEPT = 5000  # lines of scrollback
HISTORY = 1000
PROMPT = "pkdb> "
MORE = "....> "
FIND = "find> "
ASKED = {"print": "eval> ", "display": "watch> ", "hotswap": "hotswap> "}  # the prompt for a command's arguments


class Entered(Message):
    """A whole command was entered; `once` when a key asked for this one and the focus belongs elsewhere."""

    def __init__(self, text: str, *, once: bool = False) -> None:
        super().__init__()
        self.text = text
        self.once = once


class GivenUp(Message):
    """Esc on the input line; `once` as for `Entered`."""

    def __init__(self, *, once: bool) -> None:
        super().__init__()
        self.once = once


class ConsoleLines(Pane):
    """Answers and messages, wrapped to the width there is."""

    cursor_shown = False

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self.id = "console-lines"
        self._texts: list[tuple[str, Style]] = []
        self._rows: list[Row] = []
        self._width = 0

    def write(self, text: str, style: Style) -> None:
        lines = [(drawable(line), style) for line in text.expandtabs(8).split("\n")[-KEPT:]]
        self._texts += lines
        del self._texts[:-KEPT]
        self._rows += [row for line in lines for row in self._wrapped(*line)]
        del self._rows[:-KEPT]
        self._show_end()

    def clear(self) -> None:
        self._texts, self._rows = [], []
        self.rows_changed()

    def _wrapped(self, text: str, style: Style) -> list[Row]:
        """Whole text, over as many rows as it needs: at a blank where there is one."""
        width = max(self._width - 1, 20)
        if len(text) <= width and text.isascii():
            return [[(" " + text, style)]]
        rows: list[Row] = []
        while cell_len(text) > width:
            part = set_cell_size(text, width)
            cut = part.rfind(" ")
            cut = cut if cut > width // 2 else len(part)
            rows.append([(" " + text[:cut].rstrip(), style)])
            text = text[cut:].lstrip() if cut < len(part) else text[cut:]
        rows.append([(" " + text, style)])
        return rows

    def on_resize(self) -> None:
        width = self.size.width - 1  # the scrollbar's column stays free, as it comes without a resize
        if width > 0 and width != self._width:
            self._width = width
            self._rows = [row for line in self._texts for row in self._wrapped(*line)][-KEPT:]
            self._show_end()

    def _show_end(self) -> None:
        self.set_height(len(self._rows))
        self.scroll_end(animate=False, force=True, immediate=True)
        self.refresh()

    def row_count(self) -> int:
        return len(self._rows)

    def row(self, index: int, width: int) -> Row:
        return self._rows[index]

    def action_cursor(self, step: int) -> None:
        self.scroll_relative(y=step, animate=False)

    def action_page(self, step: int) -> None:
        self.scroll_relative(y=step * max(self.size.height - 1, 1), animate=False)


class History:
    """What was entered, kept over sessions; `path` None keeps it in memory."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.entries: list[str] = []
        self._at = 0
        self._draft = ""
        if path is not None:
            try:
                kept = path.read_bytes().split(b"\n")
            except OSError:
                kept = []  # no history yet, or not ours: begin anew
            for line in kept[-HISTORY - 1 :]:
                with suppress(UnicodeDecodeError):  # a damaged line is no reason to lose the others
                    self.entries += filter(None, [line.decode().replace("\x1f", "\n")])
        self._at = len(self.entries)

    def add(self, text: str) -> None:
        if text.strip() and (not self.entries or self.entries[-1] != text):
            self.entries.append(text)
        self._at = len(self.entries)

    def save(self) -> str:
        """Keep it for the next session; what went wrong, empty when nothing did."""
        if self._path is None:
            return ""
        try:
            text = "".join(e.replace("\n", "\x1f") + "\n" for e in self.entries[-HISTORY:])
            state_files.write(self._path, text.encode())
        except OSError as error:
            return f"The console's history could not be saved in {self._path}: {error.strerror}. {state_files.REMEDY}"
        return ""

    def move(self, step: int, draft: str) -> str | None:
        """The entry that many steps away; None at either end."""
        if self._at == len(self.entries):
            self._draft = draft
        target = self._at + step
        if not 0 <= target <= len(self.entries):
            return None
        self._at = target
        return self._draft if target == len(self.entries) else self.entries[target]

    def rewind(self) -> None:
        """Search and move from the latest entry again."""
        self._at = len(self.entries)

    def search(self, text: str) -> str | None:
        """The latest entry before the current one that contains the text."""
        for index in range(min(self._at, len(self.entries)) - 1, -1, -1):
            if text in self.entries[index]:
                self._at = index
                return self.entries[index]
        return None


class ConsoleInput(Guarded, Input):
    """One line of a command; keys for history and completion."""

    DEFAULT_CSS = """
    ConsoleInput { height: 1; border: none; padding: 0; background: transparent; width: 1fr; }
    ConsoleInput:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "history(-1)", "earlier", show=False),
        Binding("down", "history(1)", "later", show=False),
        Binding("tab", "complete", "complete", show=False, priority=True),
        Binding("ctrl+r", "search_back", "search back", show=False),
        Binding("escape", "escape", "leave", show=False),
        Binding("ctrl+l", "clear_console", "clear", show=False),
        Binding("pageup", "scroll_back(-1)", "scroll back", show=False),
        Binding("pagedown", "scroll_back(1)", "scroll forward", show=False),
    ]

    def _owner(self) -> ConsolePane:
        return next(node for node in self.ancestors if isinstance(node, ConsolePane))

    def replace_text(self, text: str) -> None:
        self.value = text
        self.cursor_position = len(text)

    def action_history(self, step: int) -> None:
        found = self._owner().history.move(step, self.value)
        if found is not None:
            self.replace_text(found)

    def action_search_back(self) -> None:
        self._owner().search_back()

    def action_escape(self) -> None:
        if not self._owner().end_search(taken=False):
            self._owner().give_up()

    def on_paste(self, event: Paste) -> None:
        """All lines but the last are entered, as if each had been typed."""
        *lines, last = event.text.split("\n")
        if lines:
            event.prevent_default()
            event.stop()
            self._owner().enter_lines(self.value, [*lines, last])

    async def action_complete(self) -> None:
        await self._owner().complete()

    def action_clear_console(self) -> None:
        self._owner().clear()

    def action_scroll_back(self, step: int) -> None:
        self._owner().lines.action_page(step)


class ConsolePane(Guarded, Vertical):
    """Scrollback above, the input line below. `completions` and `incomplete` come from the command language."""

    name_of_pane = "console"
    help_text = (
        "Commands as in pdb and gdb, and any Python. Tab completes, up and down recall, Ctrl-R searches the history, "
        "Ctrl-C interrupts an evaluation, Esc leaves the input line. `help` lists the commands."
    )
    DEFAULT_CSS = """
    ConsolePane { background: transparent; }
    #console-row { height: 1; }
    #console-prompt { width: auto; padding: 0 0 0 1; }
    #console-found { width: 2fr; height: 1; color: $accent; display: none; }
    """

    def __init__(
        self,
        palette: Palette,
        completions: Callable[[str], Awaitable[Completions]],
        incomplete: Callable[[str], bool],
        history: Path | None,
    ) -> None:
        super().__init__(id="console")
        self.palette = palette
        self.lines = ConsoleLines(palette)
        self.history = History(history)
        self._completions = completions
        self._incomplete = incomplete
        self._news = 0
        self._pending: list[str] = []
        self._once = False  # a key asked for one command
        self._asked = ""  # the command whose arguments are asked for, such as `print`
        self._prompt = Static(PROMPT, id="console-prompt")
        self._found = Static("", id="console-found", markup=False)
        self._searched = ""  # what was typed before the search; a search goes on while `_found` is shown
        self._match = ""

    def compose(self) -> ComposeResult:
        yield self.lines
        with Horizontal(id="console-row"):
            yield self._prompt
            yield ConsoleInput(id="console-input", select_on_focus=False)
            yield self._found

    @property
    def input(self) -> ConsoleInput:
        return self.query_one(ConsoleInput)

    # --- writing ---

    def echo(self, text: str) -> None:
        self.lines.write(PROMPT + text.replace("\n", "\n" + MORE), self.palette.dim)

    def say(self, text: str) -> None:
        if text:
            self.lines.write(text, self.palette.text)

    def print(self, text: str) -> None:
        """What an expression printed; of a line written over and over, such as a progress bar, what it ended as."""
        self.lines.write("\n".join(map(terminal_text.uncoloured, text.split("\n")[-KEPT:])), self.palette.text)

    def tell_stop(self, text: str, *, fault: bool) -> None:
        self.lines.write(text, self.palette.fault if fault else self.palette.dim)

    def warn(self, text: str) -> None:
        self._tell(text, self.palette.changed)

    def complain(self, text: str) -> None:
        self._tell(text, self.palette.fault)

    def _tell(self, text: str, style: Style) -> None:
        self._news += 1
        self.lines.write(text, style)
        self.post_message(TitleChanged())

    @property
    def badge(self) -> str:
        """Warnings and errors that came since the person last did something with the pane on screen."""
        return f"+{self._news}" if self._news else ""

    def seen(self) -> None:
        """The person, who goes on, has seen what is on screen."""
        if self._news and self.is_on_screen:
            self._news = 0
            self.post_message(TitleChanged())

    def on_descendant_focus(self) -> None:
        self.seen()

    def clear(self) -> None:
        self.lines.clear()

    # --- input ---

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.end_search(taken=True):
            return
        event.input.value = ""
        self._enter(event.value)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._found.display:
            self.history.rewind()
            self._show_found()

    def enter_lines(self, before: str, lines: list[str]) -> None:
        """Several lines at once, the first behind what is typed already; the last stays to be entered."""
        first, *rest = lines
        for line in (before + first, *rest)[:-1]:
            self._enter(line.rstrip("\r"))
        self.input.replace_text(rest[-1] if rest else before + first)

    def search_back(self) -> None:
        """Begin to search the history, or go on to an earlier entry."""
        if not self._found.display:
            self._searched = self.input.value
            self._found.display = True
            self.history.rewind()
            self._prompt.update(FIND)
        self._show_found()

    def _show_found(self) -> None:
        found = self.history.search(self.input.value)
        if found is not None:
            self._found.update(found.replace("\n", "⏎"))
            self._match = found
        elif not self.input.value or self.input.value not in self._match:
            self._match = ""
            self._found.update("nothing like it")

    def end_search(self, *, taken: bool) -> bool:
        """Back to typing, with what was found or with what was typed before; False when nothing was searched."""
        if not self._found.display:
            return False
        self._found.display = False
        self._show_prompt()
        self.input.replace_text(self._match if taken and self._match else self._searched)
        self.history.rewind()
        return True

    def _enter(self, line: str) -> None:
        self._pending.append(line)
        text = "\n".join(self._pending)
        finished = not line.strip() if len(self._pending) > 1 else not self._incomplete(text)
        if not finished:
            self._show_prompt()
            return
        text = self._whole(text.rstrip("\n"))
        once = self._once
        self.abandon()
        self.history.add(text)
        self.post_message(Entered(text, once=once))

    def _whole(self, text: str) -> str:
        """With the command that a key asked the arguments of; a person may have typed it, too."""
        if not self._asked or not text.strip():
            return text
        known = (f"{self._asked} ", f"{ASKED[self._asked][:-2]} ")
        return f"{self._asked} {next((text[len(word) :] for word in known if text.startswith(word)), text)}"

    def _show_prompt(self) -> None:
        self._prompt.update(MORE if self._pending else ASKED.get(self._asked, PROMPT))

    def abandon(self) -> None:
        """Drop what has been typed."""
        self._pending = []
        self._once, self._asked = False, ""
        self.input.value = ""
        self._show_prompt()

    def give_up(self) -> None:
        once = self._once
        self.abandon()
        self.post_message(GivenUp(once=once))

    def fill(self, text: str) -> None:
        """A command to complete: once it is entered, the focus goes back."""
        command = text.strip()
        self.abandon()
        self._once = True
        if command in ASKED:
            self._asked = command
        else:
            self.input.replace_text(text)
        self._show_prompt()

    async def complete(self) -> None:
        """Complete what is typed: at once when only one thing is meant, else as far as all agree, and list them."""
        text = self.input.value
        typed, matches = await self._completions(f"{self._asked} {text}" if self._asked else text)
        if not matches or self.input.value != text:
            return
        common = completion.common(matches)
        if common.startswith(typed):
            self.input.replace_text(text.removesuffix(typed) + common)
        if len(matches) > 1:
            self.say("  ".join(matches[:40]) + (" …" if len(matches) > 40 else ""))
