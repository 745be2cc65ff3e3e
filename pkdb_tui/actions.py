"""What keys and the palette do: commands, moving between panes, the arrangement, help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from textual import work
from textual.app import SystemCommand
from textual.screen import Screen

from pkdb_tui import keys
from pkdb_tui.engine.api import Phase
from pkdb_tui.engine.errors import PkdbError
from pkdb_tui.keys import Key
from pkdb_tui.panes.help import TextScreen
from pkdb_tui.questions import Questions

if TYPE_CHECKING:
    pass

RUNNING = "The program is running: {key} again {does}, {pause} stops it where it is."
EVALUATING = "An expression is being evaluated: {key} again {does}, {pause} breaks it off."

COMMANDS = {"next", "step", "continue", "finish", "until", "pause", "restart", "print"}
TYPING = {
    "console": (("Enter", "run"), ("Tab", "complete"), ("Up", "earlier"), ("^R", "search")),
    "output": (("Enter", "send"), ("^D", "end of file")),
}  # what the keys do on the line of these panes

BESIDE = ("f1", "f5", "f9", "ctrl+", "shift+f", "alt+")  # how keys begin that are no letters and move no cursor


class Actions(Questions):
    """The app's actions; their names are those in `keys.KEYS`."""

    keys: Sequence[keys.Key]
    _came_from = "source"
    _asking = ""  # the question that is about to be put
    message_before = ""  # what the key line said when the latest key came

    def report(self, error: PkdbError) -> None:
        raise NotImplementedError

    async def leave_session(self) -> None:
        raise NotImplementedError

    def keys_now(self) -> Sequence[tuple[str, str]]:
        """What the key line shows: letters where they are commands, else what works while one types."""
        usable = {name for _, name in self.bridge.usable_keys()}
        if self.bridge.phase is not Phase.EXITED:
            usable.discard("restart")  # possible, but not what one is looking for
        if self.bridge.phase.stopped:
            usable.discard("pause")  # at a kernel stop for the threads that still run: seldom what is wanted
        labelled = [key for key in self.keys if key.label and (key.name not in COMMANDS or key.name in usable)]
        pane = self.workspace.typing()
        if not pane:
            if self.workspace.output.lines.has_focus and self.bridge.phase is not Phase.EXITED:
                return [("Enter", "type to the program"), *((keys.shown(key.keys), key.label) for key in labelled)]
            return [(keys.shown(key.keys), key.label) for key in labelled]
        leave = next(keys.shown(key.keys) for key in self.keys if key.name == "leave")
        beside = [(keys.shown(part), key.label) for key in labelled for part in key.keys.split(",") if len(part) > 1]
        return [*TYPING[pane], (leave, "back"), *[shown for shown in beside if len(shown[0]) > 1]]

    def action_command(self, text: str) -> None:
        self.run_command(text)

    def action_toggle_breakpoint(self) -> None:
        self.workspace.source.action_toggle_breakpoint()

    def action_fill(self, text: str) -> None:
        """Ask for the rest of a command in the console, and go back to where the focus is."""
        try:
            self.bridge.check_end(text)
        except PkdbError as error:
            self.report(error)
            return
        self._came_from = self.workspace.focused_name()
        self.workspace.show_pane("console")
        self.workspace.console.fill(text)

    def go_back(self) -> None:
        """To where the focus was when a key asked for a command."""
        self.workspace.show_pane(self._came_from)

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

    def action_toggle_generated(self) -> None:
        self.workspace.toggle_generated()

    def action_next_preset(self) -> None:
        self.key_line.say(self.workspace.next_preset())

    def action_resize_columns(self, step: int) -> None:
        self.workspace.resize_shares(columns=step)

    def action_resize_rows(self, step: int) -> None:
        self.workspace.resize_shares(rows=step)

    @work(group="pause")
    async def action_pause(self) -> None:
        """Ctrl-C: pause what runs, interrupt an evaluation, or drop what is being typed."""
        session = self.bridge.session
        if session.pausable or session.kernel_stops.some_run:
            await self.carry_out("pause", quiet=True)
        elif session.evaluator.under_way:
            session.interrupt_evaluation()
        else:
            self.workspace.console.abandon()

    @work(group="quit")
    async def action_quit_session(self) -> None:
        """At a stop at once, as pdb."""
        if await self._meant("quit", "ends it and leaves"):
            await self.leave_session()

    @work(group="quit")
    async def action_restart(self) -> None:
        if await self._meant("restart", "runs it anew"):
            await self.carry_out("restart", quiet=True)

    async def _meant(self, name: str, does: str) -> bool:
        """Whether the program is to be ended: one that runs might have run for long, and only is when asked twice."""
        evaluator = self.bridge.session.evaluator
        asked = EVALUATING if evaluator.under_way and not self.bridge.phase.running else RUNNING
        question = asked.format(key=self._key_shown(name), does=does, pause=self._key_shown("pause"))
        if question == self._asking or question in self.message_before.splitlines():
            return True
        self._asking = question
        try:
            await self.bridge.step_over()
        finally:
            self._asking = ""
        if self.bridge.phase.running or evaluator.under_way:
            self.key_line.say(question)
            return False
        return True

    def _key_shown(self, name: str) -> str:
        """A key of an action as it is to be pressed where the focus is: letters are typed on a line."""
        parts = next(key.keys for key in self.keys if key.name == name).split(",")
        if self.workspace.typing():
            parts = [part for part in parts if len(part) > 1] or parts
        return keys.shown(parts[0])

    async def action_quit(self) -> None:
        await self.leave_session()

    @work(group="glue")
    async def action_toggle_glue(self) -> None:
        try:
            hidden = await self.bridge.toggle_glue()
        except PkdbError as error:
            self.report(error)
        else:
            self.key_line.say(hidden)

    def action_help(self) -> None:
        pane, text = self.workspace.focused_help()
        own = keys.table(keys.remapped(self.settings.keys, keys.PANE_KEYS), pane)
        everywhere, title = keys.table(self.keys), "Everywhere"
        if typing := self.workspace.typing():
            # Letters are typed there: only the other keys are what they are elsewhere.
            leave = f"{'Esc':<16} leave the line"
            own = "\n".join([*(f"{key:<16} {does}" for key, does in TYPING[typing]), leave])
            everywhere, title = keys.table(typed_beside(self.keys)), "On this line, too"
        page = f"{text}\n\n{own}\n\n{title}\n{everywhere}\n\nCommands\n{self.bridge.help_text()}"
        self.push_screen(TextScreen(f"help: {pane}", page))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        for name, summary, arguments in self.bridge.palette():
            key = self._key_of(name)
            about = f"{summary} (key {key})" if key else summary
            if arguments:
                yield SystemCommand(name, about, lambda name=name: self.action_fill(f"{name} "))
            else:
                yield SystemCommand(name, about, lambda name=name: self.run_command(name))
        for does in self.screen_actions().values():
            about = f"{does.about} (key {keys.shown(does.keys)})"
            yield SystemCommand(does.name.replace("_", " "), about, lambda does=does: self.call_later(self.do, does))

    def screen_actions(self) -> dict[str, Key]:
        """What keys do to the screen and no command does to the program, by the names of the settings."""
        own = keys.remapped(self.settings.keys, (*keys.PANE_CHOICES, *keys.of_pane("source")))
        commands = self.bridge.command_names()
        return {key.name: key for key in (*self.keys, *own) if key.name not in commands}

    async def do(self, key: Key) -> None:
        """What a key does, in whatever pane one is; what keys of the source do, is done there."""
        await self.run_action(key.action, self.workspace.source if key.pane else self)

    def _key_of(self, command: str) -> str:
        """How the key of a command is written; empty where it has none."""
        found = self.bridge.key_of(command)
        known = (*keys.KEYS, *keys.PANE_KEYS)
        name = next((key.name for key in known if found and found in key.keys.split(",")), "")
        return next((keys.shown(key.keys) for key in keys.remapped(self.settings.keys, known) if key.name == name), "")


def typed_beside(found: Sequence[keys.Key]) -> list[keys.Key]:
    """The keys that are no letters, such as F10, and that nothing on a line takes."""
    kept = [(key, [part for part in key.keys.split(",") if part.startswith(BESIDE)]) for key in found]
    return [key._replace(keys=",".join(parts)) for key, parts in kept if parts]
