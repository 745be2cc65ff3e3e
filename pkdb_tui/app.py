"""The screen: panes, their arrangement, keys, and what each engine event changes."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import traceback
from collections.abc import Coroutine, Sequence
from typing import Any, ClassVar

from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.worker import WorkerFailed

from pkdb_tui import config, keys, state_files
from pkdb_tui.actions import Actions
from pkdb_tui.bridge import Bridge, Delivered, EngineEvent
from pkdb_tui.commands.registry import Reply
from pkdb_tui.engine.api import LaunchOptions, ThreadValues
from pkdb_tui.engine.errors import PkdbError
from pkdb_tui.events import EventShower
from pkdb_tui.look import look
from pkdb_tui.panes.base import Inspect, LineNoted, RunCommand, TitleChanged
from pkdb_tui.panes.breakpoints import Jump, Prompt
from pkdb_tui.panes.console import Entered, GivenUp
from pkdb_tui.panes.frames_around import TabChosen
from pkdb_tui.panes.guard import Guarded
from pkdb_tui.panes.help import TextScreen
from pkdb_tui.panes.output import Typed
from pkdb_tui.panes.source import BreakAt, FileWanted, RunTo
from pkdb_tui.panes.status import KeyLine, StatusLine
from pkdb_tui.panes.watches import EditWatch
from pkdb_tui.questions import OPEN
from pkdb_tui.typeahead import Typeahead, read_keys_as_typed
from pkdb_tui.workspace import Workspace

LOG = logging.getLogger(__name__)
LOG.addHandler(logging.NullHandler())
INTERNAL = "The session goes on, but what was being done may not be shown. This is a defect; please report it."


class PkdbApp(Guarded, Actions):
    """One session on the screen; its return value is the exit status."""

    TITLE = "pkdb-tui"
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "f12"
    BINDINGS: ClassVar[list[BindingType]] = list(keys.bindings())
    CSS = """
    Screen { background: $background; color: $foreground; layers: base over; }
    ModalScreen { background: transparent; }
    Input { color: $foreground; }
    """

    def __init__(
        self, options: LaunchOptions, *, commands: Sequence[str] = (), theme: str = "", remember: bool = True
    ) -> None:
        settings, self._config_problem = config.load()
        self.settings = settings
        self.keys = keys.remapped(settings.keys)
        chosen = look(theme or settings.theme, os.environ)
        colorless = os.environ.get("NO_COLOR")
        super().__init__(ansi_color=chosen.theme.ansi)
        if colorless is not None:
            os.environ["NO_COLOR"] = colorless  # Textual takes it out, and the program is to find it
        self.palette = chosen.palette
        self.register_theme(chosen.theme)
        self.theme = chosen.theme.name
        self.set_keymap(settings.keys)
        self.bridge = Bridge(self, options)
        self.bridge.session.edits.in_editor = True
        history = state_files.folder() / "history" if remember else None
        choices = keys.remapped(settings.keys, keys.PANE_CHOICES)
        leading = {key.name.removeprefix("pane_"): keys.shown(key.keys) for key in choices}
        leading["generated"] = next(keys.shown(key.keys) for key in self.keys if key.name == "generated")
        self.workspace = Workspace(self.palette, self.bridge, history, leading)
        self.status = StatusLine(self.palette)
        self.status.input_key = leading["output"]
        self.key_line = KeyLine(self.palette, self.keys_now)
        self.shower = EventShower(self)
        self.typeahead = Typeahead(self, self._key, self._focus_settled)
        self._commands = list(commands)
        self._remember = remember
        self.internal_errors: list[Exception] = []
        self._again = ""  # what an empty line in the console does once more
        self.commands_done = asyncio.Event()  # what was given beforehand has been carried out

    def compose(self) -> ComposeResult:
        yield self.status
        yield self.workspace
        yield self.key_line

    def on_mount(self) -> None:
        options = self.bridge.session.options
        name = options.module or os.path.basename(options.script) or "-"
        self.status.program = name
        if options.script and options.script != "-" and os.path.isfile(options.script):
            self.workspace.source.open(os.path.realpath(options.script))
        self.workspace.source.focus()
        if self._config_problem:
            self.key_line.say(self._config_problem, fault=True, notice=True)
            self.workspace.console.complain(self._config_problem)
        asyncio.get_running_loop().set_exception_handler(self._task_failed)
        self.app_resume_signal.subscribe(self, lambda app: app.refresh(layout=True))  # the shell drew over it meanwhile
        # Not through the loop, which may be blocked by writing to the terminal that is gone.
        for number in (signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, self._hang_up)
        self._begin()

    @work(group="session")
    async def _begin(self) -> None:
        if self._remember:
            from pkdb_tui.engine import saved

            layout = await saved.restore(self.bridge.session)
            if layout:
                self.workspace.restore_layout(layout)
        try:
            await self.bridge.session.start()
        except PkdbError as error:
            self.report(error)
            return
        for line in self._commands:
            await self.bridge.session.settled()
            self.workspace.console.echo(line)
            await self.carry_out(line)
        await self.bridge.session.settled()
        self.commands_done.set()

    def _hang_up(self, number: int, frame: object) -> None:
        """The terminal is gone, or this process is told to go: end everything, keep what is to be kept, leave."""
        self.bridge.session.kill()
        try:
            self._keep()
            if number == signal.SIGTERM and self._driver is not None:
                self._driver.stop_application_mode()
        finally:
            os._exit(128 + number)

    # --- keys ---

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self.typeahead.add(event)
        else:
            if isinstance(event, events.MouseDown):
                self._message_read()
            await super().on_event(event)

    async def _key(self, event: events.Event) -> None:
        self._message_read()
        await super().on_event(event)

    def _message_read(self) -> None:
        """A message stays until the next thing the person does; `message_before` is what stood there then."""
        self.message_before = self.key_line.message
        self.key_line.read()
        self.workspace.console.seen()

    def _focus_settled(self) -> bool:
        if self.screen.is_modal:
            return self.focused is not None
        return not self.workspace.moving_focus

    # --- commands ---

    async def carry_out(self, text: str, *, quiet: bool = False) -> bool:
        """Run one command; its answer goes to the console, what went wrong to console and key line.

        False when it was refused.
        """
        action = self.screen_actions().get(text.strip())
        if action is not None and not await self.bridge.is_variable(text.strip()):
            await self.do(action)
            return True
        return await self._answer(text, self.bridge.run(text), quiet=quiet)

    async def _answer(self, text: str, work: Coroutine[Any, Any, Reply], *, quiet: bool) -> bool:
        self.key_line.clear()
        try:
            reply = await work
        except PkdbError as error:
            if quiet:
                self.workspace.console.echo(text)
            self.report(error)
            return False
        if reply.value == "quit":
            await self.leave_session()
            return True
        if isinstance(reply.value, ThreadValues):
            self.workspace.threads.show_values(reply.value)
        if reply.shows is not None:
            self.show_over(reply.shows)
            return True
        if reply.text:
            if quiet:
                self.workspace.console.echo(text)
            self.workspace.console.say(reply.text)
            if quiet:
                self._say_too(reply)
        return True

    def _say_too(self, reply: Reply) -> None:
        """In the key line, too, unless a pane on screen shows it."""
        if not (isinstance(reply.value, ThreadValues) and self.workspace.threads.is_on_screen):
            self.key_line.say(reply.text)

    # --- errors of the screen's own ---

    def show_internal_error(self, error: Exception) -> None:
        """A defect of the screen: it is shown, and the session goes on."""
        cause = error.error if isinstance(error, WorkerFailed) and isinstance(error.error, Exception) else error
        LOG.error("internal error", exc_info=cause)
        self.internal_errors.append(cause)
        if not isinstance(self.screen, TextScreen):
            trace = "".join(traceback.format_exception(cause))
            self.push_screen(TextScreen("an error inside pkdb-tui", f"{INTERNAL}\n\n{trace}"))

    def _handle_exception(self, error: Exception) -> None:
        if self._running and self.screen_stack:
            self.show_internal_error(error)
        else:
            super()._handle_exception(error)

    def _task_failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, Exception):
            self.show_internal_error(error)

    # --- what went wrong for the person ---

    def report(self, error: PkdbError) -> None:
        self.workspace.console.complain(str(error))
        self.note(str(error), fault=True)

    def note(self, text: str, *, fault: bool = False, notice: bool = False) -> None:
        """What the console says, in the key line, too, unless the console is what one looks at."""
        if self.workspace.typing() != "console":
            self.key_line.say(text, fault=fault, notice=notice)

    def run_command(self, text: str, *, quiet: bool = True) -> None:
        self.run_worker(self._carry_out_parts(text, quiet=quiet), group="commands")

    async def _carry_out_parts(self, text: str, *, quiet: bool) -> None:
        """The commands of a line, up to one that is refused."""
        for part in self.bridge.parts(text):
            if not await self.carry_out(part, quiet=quiet):
                return

    def _keep(self) -> str:
        """What the next session finds again; why it could not be kept, empty when it was."""
        if not self._remember:
            return ""
        from pkdb_tui.engine import saved

        problems = (
            saved.save(self.bridge.session, self.workspace.saved_layout()),
            self.workspace.console.history.save(),
        )
        return next(filter(None, problems), "")  # where one can't be written, the other can't either

    async def leave_session(self, status: int | None = None) -> None:
        from pkdb_tui.plain import exit_status

        await self.bridge.session.quit()
        cause = self.bridge.session.exit_cause
        problem = ""
        try:
            problem = self._keep()
        finally:
            status = status if status is not None else 0 if cause is None else exit_status(cause)
            self.exit(status, message=Text(f"warning: {problem}") if problem else None)

    # --- messages ---

    @on(EngineEvent)
    def _engine_event(self, message: EngineEvent) -> None:
        self.shower.show(message.event)

    @on(Delivered)
    def _delivered(self, message: Delivered) -> None:
        message.shown.set()

    @on(RunCommand)
    def _run_command(self, message: RunCommand) -> None:
        self.run_command(message.text)

    @on(Inspect)
    async def _inspect(self, message: Inspect) -> None:
        self.run_worker(self.show_value(message.expression), group="commands")

    async def show_value(self, expression: str) -> None:
        """All of a value on a page of its own."""
        self.key_line.clear()
        try:
            reply = await self.bridge.run(f"inspect {expression}")
        except PkdbError as error:
            self.report(error)
            return
        self.push_screen(TextScreen(expression, reply.text))

    @on(Entered)
    def _entered(self, message: Entered) -> None:
        text = message.text.removeprefix(":")  # the key that leads here, typed once more
        if message.once:
            self.go_back()
        elif not text.strip() and self.bridge.phase.stopped:
            text = self._again
        if not text.strip():
            return
        self._again = self.bridge.again(text)
        if message.once and self.workspace.is_tab(self._came_from):
            self.run_command(text)  # the console goes out of sight: the answer is in the key line, too
            return
        self.workspace.console.echo(text)
        if found := OPEN.fullmatch(text.strip()):
            self.open_file(found["file"], focus=False)
        else:
            self.run_command(text, quiet=False)

    @on(GivenUp)
    def _given_up(self, message: GivenUp) -> None:
        if message.once:
            self.go_back()
        else:
            self.action_leave()

    @on(Typed)
    def _typed(self, message: Typed) -> None:
        self.bridge.session.write_input(message.data)

    @on(FileWanted)
    def _file_wanted(self, message: FileWanted) -> None:
        self.describe(message.path)

    @work(group="describe")
    async def describe(self, path: str) -> None:
        """Ask for the facts of a file's lines and show them in the gutter."""
        info = await self.bridge.describe(path)
        if info is not None:
            self.workspace.source.show_info(info)

    @on(LineNoted)
    def _line_noted(self, message: LineNoted) -> None:
        if message.text:
            self.key_line.say(message.text)
        else:
            self.key_line.clear()

    @on(Jump)
    def _jump(self, message: Jump) -> None:
        self.workspace.source.open(message.file, message.line)
        self.action_focus_pane("source")

    @on(Prompt)
    def _prompt(self, message: Prompt) -> None:
        self.action_fill(message.text)

    @on(EditWatch)
    def _edit_watch(self, message: EditWatch) -> None:
        self.edit_watch(message.watch)

    @on(BreakAt)
    def _break_at(self, message: BreakAt) -> None:
        text, work = self.bridge.break_text(message.spec), self.bridge.add_breakpoint(message.spec)
        self.run_worker(self._answer(text, work, quiet=True), group="commands")

    @on(RunTo)
    def _run_to(self, message: RunTo) -> None:
        self.run_worker(self.run_to(message.file, message.line), group="commands")

    async def run_to(self, file: str, line: int) -> None:
        try:
            await self.bridge.run_to(file, line)
        except PkdbError as error:
            self.report(error)

    @on(TitleChanged)
    def _title_changed(self) -> None:
        self.workspace.fit()
        self.workspace.refresh_titles()
        self.key_line.refresh()

    @on(TabChosen)
    def _tab_chosen(self, message: TabChosen) -> None:
        self.action_focus_pane(message.name)


def run(options: LaunchOptions, *, commands: Sequence[str] = (), theme: str = "") -> int:
    """Debug on the screen; returns the exit status. Raises UsageError for a theme that isn't there."""
    read_keys_as_typed()
    # A run with commands given is a tour of its own: it neither finds nor leaves breakpoints.
    status = PkdbApp(options, commands=commands, theme=theme, remember=not commands).run()
    return status if status is not None else 0
