"""The registry of commands: names, aliases, help, legal phases and handlers, validated at definition."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from pkdb_tui.engine.api import Phase
from pkdb_tui.engine.errors import UsageError, WrongPhase
from pkdb_tui.engine.session import Session

ANY = frozenset(Phase)
STOPPED = frozenset({Phase.STOPPED_PYTHON, Phase.STOPPED_KERNEL})
KERNEL = frozenset({Phase.STOPPED_KERNEL})
PYTHON = frozenset({Phase.STOPPED_PYTHON})


@dataclass(frozen=True)
class Reply:
    """What a command answers: text for the console, and the plain value behind it for panes and `--json`."""

    text: str = ""
    value: Any = None
    shows: Any = None  # what a screen opens over itself instead of the text


Handler = Callable[[Session, str], Awaitable[Reply]]


@dataclass(frozen=True)
class Command:
    """One command. `key` is its default key in the screen, empty for none; `usage` shows its arguments."""

    name: str
    handler: Handler
    summary: str
    usage: str = ""
    details: str = ""
    aliases: tuple[str, ...] = ()
    phases: frozenset[Phase] = ANY
    key: str = ""
    group: str = ""


@dataclass
class Registry:
    """Commands by name and alias; a name defined twice is refused at definition."""

    commands: dict[str, Command] = field(default_factory=dict)
    names: dict[str, Command] = field(default_factory=dict)

    def add(self, command: Command) -> None:
        for name in (command.name, *command.aliases):
            if name in self.names:
                raise ValueError(f"command name {name!r} is defined twice")
            self.names[name] = command
        self.commands[command.name] = command

    def command(
        self, name: str, summary: str, *, aliases: Iterable[str] = (), **fields: Any
    ) -> Callable[[Handler], Handler]:
        """Decorator form of `add`."""

        def define(handler: Handler) -> Handler:
            self.add(Command(name=name, handler=handler, summary=summary, aliases=tuple(aliases), **fields))
            return handler

        return define

    def find(self, name: str) -> Command | None:
        """A command by name, alias or unambiguous prefix. Raises UsageError for an ambiguous prefix."""
        if name in self.names:
            return self.names[name]
        found = {c.name: c for n, c in self.names.items() if n.startswith(name)} if name else {}
        if len(found) > 1:
            raise UsageError(f"`{name}` may mean {', '.join(sorted(found))}.", "Type more of it.")
        return next(iter(found.values()), None)

    def of_key(self, letter: str) -> Command | None:
        """The command whose key in the screen is a letter that isn't a command's name."""
        if len(letter) != 1 or letter in self.names:
            return None
        return next((command for command in self.commands.values() if command.key == letter), None)

    def check_phase(self, command: Command, phase: Phase) -> None:
        """Raises WrongPhase when the command has no meaning in this phase."""
        if phase in command.phases:
            return
        if phase.running:
            raise WrongPhase(
                f"`{command.name}` can't be used while the program runs.", "Pause it first (Ctrl-C, or `pause`)."
            )
        if phase is Phase.IDLE:
            raise WrongPhase(f"The program has not started: no `{command.name}`.", "`restart` (R) starts it.")
        if phase is Phase.EXITED:
            raise WrongPhase(f"The program has ended: no `{command.name}`.", "`restart` (R) runs it again.")
        if phase is Phase.STOPPED_PYTHON:
            hint = "Set a breakpoint on a kernel line and continue."
        else:
            hint = "Go on to a stop in Python first."
        raise WrongPhase(f"`{command.name}` can't be used while the program is {phase.value}.", hint)


registry = Registry()
