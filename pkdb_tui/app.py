"""The screen: panes, their arrangement, keys, and what each engine event changes."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import platformdirs
from textual import on, work
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import BindingType
from textual.screen import Screen
from textual.theme import Theme as TextualTheme

from pkdb_tui import config, keys
from pkdb_tui.bridge import Bridge, EngineEvent
from pkdb_tui.engine.api import LaunchOptions, Phase, ThreadValues
from pkdb_tui.engine.errors import PkdbError
from pkdb_tui.events import EventShower
from pkdb_tui.panes.base import RunCommand, TitleChanged
from pkdb_tui.panes.breakpoints import Jump, Prompt
from pkdb_tui.panes.console import Entered
from pkdb_tui.panes.frames_around import TabChosen
from pkdb_tui.panes.help import AskScreen, TextScreen
from pkdb_tui.panes.output import Typed
from pkdb_tui.panes.palette import Palette
from pkdb_tui.panes.source import FileWanted, LineNoted
from pkdb_tui.panes.status import KeyLine, StatusLine
from pkdb_tui.workspace import Workspace

# What Textual's own style sheets ask of a theme in the terminal's colours.
ANSI_VARIABLES = {
    "ansi-background": "ansi_default",
    "ansi-foreground": "ansi_default",
    "border-blurred": "ansi_bright_black",
    "block-cursor-foreground": "ansi_black",
    "block-cursor-background": "ansi_white",
    "input-cursor-background": "ansi_white",
    "input-cursor-foreground": "ansi_black",
    "input-cursor-text-style": "none",
    "input-selection-background": "ansi_blue",
    "input-selection-foreground": "ansi_white",
    "screen-selection-background": "ansi_blue",
    "screen-selection-foreground": "ansi_white",
}


QUIT_RUNNING = "The program is running. Press the key again to end it and leave; ^C stops it where it is."


class PkdbApp(App[int]):
    """One session on the screen; its return value is the exit status."""

    TITLE = "pkdb-tui"
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "f12"
    BINDINGS: ClassVar[list[BindingType]] = list(keys.bindings())
    CSS = """
    Screen { background: $background; color: $foreground; }
    Input { color: $foreground; }
    """

    def __init__(
        self, options: LaunchOptions, *, commands: Sequence[str] = (), theme: str = "", remember: bool = True
    ) -> None:
        settings, self._config_problem = config.load()
        chosen = config.theme(theme or settings.theme)
        super().__init__(ansi_color=chosen.ansi)
        self.palette = Palette.of(chosen.colors)
        colors = chosen.colors
        self.register_theme(
            TextualTheme(
                name=f"pkdb-{chosen.name}", primary=colors["here"], background=colors["background"],
                surface=colors["surface"], panel=colors["rule"], foreground=colors["foreground"],
                warning=colors["changed"], error=colors["fault"], accent=colors["here"], dark=chosen.dark,
                ansi=chosen.ansi,
                variables=ANSI_VARIABLES if chosen.ansi else {},
            )
        )  # fmt: skip
        self.theme = f"pkdb-{chosen.name}"
        self.set_keymap(settings.keys)
        self.bridge = Bridge(self, options)
        history = Path(platformdirs.user_state_dir("pkdb-tui")) / "history" if remember else None
        self.workspace = Workspace(self.palette, self.bridge, history)
        self.status = StatusLine(self.palette)
        self.key_line = KeyLine(self.palette, self._keys_now)
        self.shower = EventShower(self)
        self._commands = list(commands)
        self._remember = remember
        self._search = ""
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
            self.key_line.say(self._config_problem, fault=True)
            self.workspace.console.complain(self._config_problem)
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
        """The terminal is gone, or this process is told to go: keep what is to be kept, end everything, leave."""
        self._keep()
        self.bridge.session.kill()
        if number == signal.SIGTERM and self._driver is not None:
            self._driver.stop_application_mode()
        os._exit(128 + number)

    # --- commands ---

    async def carry_out(self, text: str, *, quiet: bool = False) -> None:
        """Run one command; its answer goes to the console, what went wrong to console and key line."""
        self.key_line.clear()
        try:
            reply = await self.bridge.run(text)
        except PkdbError as error:
            if quiet:
                self.workspace.console.echo(text)
            self.report(error)
            return
        if reply.value == "quit":
            await self._leave()
            return
        if isinstance(reply.value, ThreadValues):
            self.workspace.threads.show_values(reply.value)
        if reply.text:
            if quiet:
                self.workspace.console.echo(text)
            self.workspace.console.say(reply.text)
            if quiet:
                self.key_line.say(reply.text.splitlines()[0])

    def report(self, error: PkdbError) -> None:
        self.workspace.console.complain(str(error))
        self.key_line.say(str(error), fault=True)

    def run_command(self, text: str, *, quiet: bool = True) -> None:
        self.run_worker(self.carry_out(text, quiet=quiet), group="commands")

    def _keep(self) -> None:
        """What the next session finds again."""
        if self._remember:
            from pkdb_tui.engine import saved

            saved.save(self.bridge.session, self.workspace.saved_layout())
            self.workspace.console.history.save()

    async def _leave(self, status: int | None = None) -> None:
        from pkdb_tui.plain import exit_status

        self._keep()
        await self.bridge.session.quit()
        cause = self.bridge.session.exit_cause
        self.exit(status if status is not None else 0 if cause is None else exit_status(cause))

    # --- messages ---

    @on(EngineEvent)
    def _engine_event(self, message: EngineEvent) -> None:
        self.shower.show(message.event)

    @on(RunCommand)
    def _run_command(self, message: RunCommand) -> None:
        self.run_command(message.text)

    @on(Entered)
    def _entered(self, message: Entered) -> None:
        if message.text.strip():
            self.workspace.console.echo(message.text)
            self.run_command(message.text, quiet=False)

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

    @on(TitleChanged)
    def _title_changed(self) -> None:
        self.workspace.fit()
        self.workspace.refresh_titles()

    @on(TabChosen)
    def _tab_chosen(self, message: TabChosen) -> None:
        self.action_focus_pane(message.name)

    # --- keys ---

    def _keys_now(self) -> Sequence[tuple[str, str]]:
        usable = {name for _, name in self.bridge.usable_keys()}
        if self.bridge.phase is not Phase.EXITED:
            usable.discard("restart")  # possible, but not what one is looking for
        commands = {"next", "step", "continue", "finish", "until", "pause", "restart", "print"}
        return [
            (keys.shown(key.keys), key.label)
            for key in keys.KEYS
            if key.label and (key.name not in commands or key.name in usable)
        ]

    def action_command(self, text: str) -> None:
        self.run_command(text)

    def action_toggle_breakpoint(self) -> None:
        self.workspace.source.action_toggle_breakpoint()

    def action_fill(self, text: str) -> None:
        self.action_focus_pane("console")
        self.workspace.console.fill(text)

    def action_focus_pane(self, name: str) -> None:
        self.workspace.show_pane(name)

    def action_cycle(self, step: int) -> None:
        self.workspace.cycle(step)

    def action_leave(self) -> None:
        self.key_line.clear()
        self.workspace.unzoom()
        self.workspace.source.focus()

    def action_zoom(self) -> None:
        self.workspace.zoom()

    def action_next_preset(self) -> None:
        self.key_line.say(f"layout: {self.workspace.next_preset()}")

    def action_resize_columns(self, step: int) -> None:
        self.workspace.resize_shares(columns=step)

    def action_resize_rows(self, step: int) -> None:
        self.workspace.resize_shares(rows=step)

    @work(group="pause")
    async def action_pause(self) -> None:
        """Ctrl-C: pause what runs, interrupt an evaluation, or drop what is being typed."""
        session = self.bridge.session
        if session.phase.running:
            await self.carry_out("pause", quiet=True)
        elif session.looking.evaluating:
            await session.interrupt_evaluation()
        else:
            self.workspace.console.abandon()

    @work(group="quit")
    async def action_quit_session(self) -> None:
        """At a stop at once, as pdb; what runs might have run for long, and is only ended when asked twice."""
        if self.bridge.phase.running and self.key_line.message != QUIT_RUNNING:
            self.key_line.say(QUIT_RUNNING)
            return
        await self._leave()

    async def action_quit(self) -> None:
        await self._leave()

    @work(group="glue")
    async def action_toggle_glue(self) -> None:
        try:
            await self.bridge.session.show_glue(not self.bridge.session.glue)
        except PkdbError as error:
            self.report(error)

    @work(group="ask")
    async def action_search(self) -> None:
        self._search = await self.push_screen_wait(AskScreen("search in the source:", self._search)) or self._search
        self.action_search_again()

    def action_search_again(self) -> None:
        if self._search and not self.workspace.source.search(self._search):
            self.key_line.say(f"`{self._search}` is not in this file")

    @work(group="ask")
    async def action_go_to(self) -> None:
        if self.workspace.threads.has_focus:
            text = await self.push_screen_wait(AskScreen("go to thread:"))
            if text:
                self.run_command(f"thread {text}")
            return
        text = await self.push_screen_wait(AskScreen("go to line:"))
        if text.isdigit():
            self.workspace.source.move_cursor(int(text) - 1)

    @work(group="ask")
    async def action_open_file(self) -> None:
        text = await self.push_screen_wait(AskScreen("open file:"))
        if text and not self.workspace.source.open_named(text):
            self.key_line.say(self.workspace.source.message, fault=True)

    @work(group="ask")
    async def action_heat(self) -> None:
        text = await self.push_screen_wait(AskScreen("colour threads by the value of:"))
        if text:
            await self.carry_out(f"parallel_print {text}", quiet=True)

    def action_help(self) -> None:
        pane, text = self.workspace.focused_help()
        page = f"{text}\n\nKeys\n{keys.table()}\n\nCommands\n{self.bridge.help_text()}"
        self.push_screen(TextScreen(f"help: {pane}", page))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        for name, summary, arguments in self.bridge.palette():
            if arguments:
                yield SystemCommand(name, summary, lambda name=name: self.action_fill(f"{name} "))
            else:
                yield SystemCommand(name, summary, lambda name=name: self.run_command(name))


def run(options: LaunchOptions, *, commands: Sequence[str] = (), theme: str = "") -> int:
    """Debug on the screen; returns the exit status. Raises UsageError for a theme that isn't there."""
    # A run with commands given is a tour of its own: it neither finds nor leaves breakpoints.
    status = PkdbApp(options, commands=commands, theme=theme, remember=not commands).run()
    return status if status is not None else 0
