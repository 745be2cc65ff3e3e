"""The kernel editor over the screen: checked as one types, compared with the original, installed, saved when told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static, TextArea
from textual.widgets.option_list import Option

from pkdb_tui import keys
from pkdb_tui.commands.editing import variant_row, where_it_runs
from pkdb_tui.commands.registry import Reply
from pkdb_tui.engine import kernel_text
from pkdb_tui.engine.api import EditCheck, EditState
from pkdb_tui.engine.edits import Edits
from pkdb_tui.engine.errors import FileChanged, PkdbError
from pkdb_tui.panes.editor import KernelEditor, Said
from pkdb_tui.panes.guard import Guarded
from pkdb_tui.panes.help import AskScreen, TextScreen
from pkdb_tui.panes.palette import Palette

HELP = (
    "What is typed is kept at once, also over sessions; the program's file changes only when it is saved. A text that "
    "is installed runs from the kernel's next launch on."
)
WIDE = 110  # columns from which the comparison stands beside the text
KEYS_TOO = [("Esc", "back"), ("f1", "keys")]
SAME = "As the program has it."


class EditScreen(Guarded, ModalScreen[None]):
    """One kernel; `run` carries out a command line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", priority=True),
        Binding("f1", "help", "help"),
        *keys.pane_bindings("editor"),
    ]
    DEFAULT_CSS = """
    EditScreen #edit {
        background: $surface; border: solid $panel; padding: 0;
        border-title-color: $foreground; border-subtitle-color: $foreground;
    }
    EditScreen #both { layout: vertical; height: 1fr; }
    EditScreen.-wide #both { layout: horizontal; }
    EditScreen #beside {
        display: none; height: 40%; width: 1fr; border-top: solid $panel; padding: 0 1;
        scrollbar-size: 1 1; scrollbar-color: $panel; scrollbar-background: $surface;
    }
    EditScreen.-wide #beside { height: 1fr; width: 45%; border-top: none; border-left: solid $panel; }
    EditScreen #said { height: auto; max-height: 3; width: 1fr; padding: 0 1; }
    EditScreen #keys { height: 1; width: 1fr; padding: 0 1; }
    """

    def __init__(
        self, edits: Edits, run: Callable[[str], Awaitable[Reply]], palette: Palette, own: Sequence[keys.Key]
    ) -> None:
        """`own` are the keys for the last line."""
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]
        self._edits = edits
        self._run = run
        self._palette = palette
        self._state = state = edits.state()
        self._answer = ""  # what came of the latest key; typing ends it
        self._failed = False
        self._sought = ""
        self._compared: bool | None = None  # None: where there is room
        self.editor = KernelEditor(palette, state.text, state.first_line)
        self._said = Static(id="said", markup=False)
        self._difference = Static(markup=False)
        self._beside = VerticalScroll(self._difference, id="beside", can_focus=False)
        last = Static(_key_line(own, palette), id="keys", markup=False)
        self._box = Vertical(Container(self.editor, self._beside, id="both"), self._said, last, id="edit")

    def compose(self) -> ComposeResult:
        yield self._box

    def on_mount(self) -> None:
        self.editor.focus()
        self._edits.type(self.editor.text)  # another one where the draft had line ends that no editor keeps
        self.show(self._edits.state())

    def on_resize(self) -> None:
        self._compare()

    # --- what is shown ---

    def show(self, state: EditState) -> None:
        """What is known of the draft now; what is said of an older one doesn't count any more."""
        if state.text != self.editor.text:
            return
        self._state = state
        problem = next((each for each in state.problems if each.line), None)
        if problem is None:
            self.editor.mark(None)
        else:
            self.editor.mark(problem.line, problem.column)
        self._box.border_title = Text(f"{state.kernel} ▪ {state.name}:{state.first_line}")
        self._box.border_subtitle = Text(_running(state))
        self._tell()
        self._compare()

    def _tell(self) -> None:
        text = Text(self._answer or _found(self._state), self._palette.text)
        if self._failed or (not self._answer and self._state.check is EditCheck.WRONG):
            text.stylize(self._palette.fault)
        if self._state.warning and not self._answer:
            text.append(f"\n{self._state.warning}", self._palette.changed)
        self._said.update(text)

    def _say(self, text: str, *, failed: bool = False) -> None:
        self._answer, self._failed = text, failed
        self._tell()

    def _compare(self) -> None:
        self._beside.display = self.size.width >= WIDE if self._compared is None else self._compared
        if self._beside.display:
            self._difference.update(self._difference_now())

    def _difference_now(self) -> Text:
        state, palette = self._state, self._palette
        rows = kernel_text.difference(state.original, self.editor.text, state.first_line)
        styles = {"-": palette.fault, "+": palette.kernel, " ": palette.dim}
        text = Text(no_wrap=True, overflow="ellipsis")
        for row in rows or [SAME]:
            text.append(f"{row}\n", styles.get(row[0], palette.dim))
        return text

    # --- typing ---

    @on(TextArea.Changed)
    def _changed(self) -> None:
        if self.editor.text != self._state.text:
            self._edits.type(self.editor.text)
            self._answer, self._failed = "", False
            self.show(self._edits.state())

    @on(Said)
    def _complained(self, message: Said) -> None:
        self._say(message.text)

    # --- keys ---

    def _attempt(self, command: str) -> None:
        self._edits.type(self.editor.text)  # what was typed a moment ago may not have been told yet
        self.run_worker(self._carry_out(command), group="edit", exclusive=False)

    async def _carry_out(self, command: str) -> None:
        self._say("…")
        try:
            reply = await self._run(command)
        except FileChanged as error:
            self._say(str(error), failed=True)
            self._ask_about_file(error.title)
        except PkdbError as error:
            self._say(str(error), failed=True)
        else:
            self.editor.exchange(self._edits.require().text)
            self.show(self._edits.state())
            self._say(reply.text)

    def action_install(self) -> None:
        self._attempt("edit --install")

    def action_install_here(self) -> None:
        self._attempt("edit --install here")

    def action_save(self) -> None:
        self._attempt("edit --save")

    def _ask_about_file(self, title: str) -> None:
        def entered(text: str | None) -> None:
            if text in ("save", "reload"):
                self._attempt("edit --save!" if text == "save" else "edit --reload")

        self.app.push_screen(AskScreen("save over it, or reload it?", placeholder="neither"), entered)

    def action_compare(self) -> None:
        self._compared = not self._beside.display
        self._compare()

    def action_variants(self) -> None:
        def chosen(number: int | None) -> None:
            if number is not None:
                self._attempt(f"edit --use {number}")

        self.app.push_screen(VariantScreen(self._state, self._palette), chosen)

    def action_find(self) -> None:
        def entered(text: str | None) -> None:
            if text:
                self._sought = text
                self.action_find_next()

        self.app.push_screen(AskScreen("find:", self._sought), entered)

    def action_find_next(self) -> None:
        if not self._sought:
            self.action_find()
        elif not self.editor.find(self._sought):
            self._say(f"`{self._sought}` is not in this kernel.")

    def action_go_to_line(self) -> None:
        def entered(text: str | None) -> None:
            if text and text.strip().isdigit():
                self.editor.go(int(text) - self._state.first_line)
            elif text:
                self._say(f"`{text}` is not a line number.")

        self.app.push_screen(AskScreen("go to line:"), entered)

    def action_help(self) -> None:
        rows = keys.table(keys.PANE_KEYS, "editor")
        self.app.push_screen(TextScreen("help: editor", f"{HELP}\n\n{rows}\n{EDITING}"))

    def action_back(self) -> None:
        """Nothing is lost: the draft is kept."""
        self._edits.type(self.editor.text)
        self.dismiss()


EDITING = """
Tab              complete the name before the cursor, or indent
Enter            a new line, indented as this one
^z ^y            undo, redo
^x ^v            cut, paste
⇧left ⇧right ⇧up ⇧down  select
^k ^u ^w         delete to the end of the line, to its beginning, the word before
Esc              back to the screen; the draft is kept
""".strip()


class VariantScreen(Guarded, ModalScreen[int]):
    """The texts that were installed, the latest first, to go back to one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "close")]
    DEFAULT_CSS = """
    VariantScreen { align: center middle; }
    VariantScreen OptionList, VariantScreen OptionList:focus {
        width: 100%; max-width: 90; height: auto; max-height: 80%; background: $surface; border: solid $panel;
        border-title-color: $foreground; border-subtitle-color: $foreground; padding: 0 1;
    }
    """

    def __init__(self, state: EditState, palette: Palette) -> None:
        super().__init__()
        rows = [Option(variant_row(each, state), id=str(each.number)) for each in reversed(state.variants)]
        self.list = OptionList(*rows, markup=False)
        self.list.border_title = f"texts of {state.kernel}"
        self.list.border_subtitle = "Enter takes one  Esc closes"

    def compose(self) -> ComposeResult:
        yield self.list

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(int(event.option_id or 0))


def _running(state: EditState) -> str:
    """Which texts run now: `edit 2 runs everywhere`."""
    edits = [f"edit {each.number} {where_it_runs(each)}" for each in state.variants if each.number and each.places]
    return ", ".join(edits) or "not installed"


def _key_line(own: Sequence[keys.Key], palette: Palette) -> Text:
    text = Text(no_wrap=True, overflow="ellipsis")
    for key, label in [(keys.shown(each.keys), each.label) for each in own if each.label] + KEYS_TOO:
        text.append(key, palette.here).append(f" {label}  ", palette.dim)
    return text


def _found(state: EditState) -> str:
    """What the check found."""
    if state.check is EditCheck.CHECKING:
        return "checking …"
    if state.check is EditCheck.WRONG:
        problem = state.problems[0]
        more = f"  (and {len(state.problems) - 1} more)" if len(state.problems) > 1 else ""
        return (f"{state.name}:{problem.line}: " if problem.line else "") + problem.message + more
    return state.said or SAME
