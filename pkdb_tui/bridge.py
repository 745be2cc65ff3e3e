"""Between the screen and the engine: the only file that knows both."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress

from textual.app import App
from textual.message import Message

from pkdb_tui import keys
from pkdb_tui.commands import breaking, language
from pkdb_tui.commands.control import overview
from pkdb_tui.commands.locations import written
from pkdb_tui.commands.looking import stop_line
from pkdb_tui.commands.registry import Reply, registry
from pkdb_tui.engine.api import (
    Breakpoint,
    BreakpointSpec,
    BreakpointState,
    Event,
    LaunchOptions,
    Phase,
    Printed,
    SourceInfo,
    StopSnapshot,
)
from pkdb_tui.engine.errors import BreakpointError, PkdbError
from pkdb_tui.engine.session import Session
from pkdb_tui.panes import completion
from pkdb_tui.panes.completion import Completions

SCREEN_COMMANDS = tuple(
    key.name for key in (*keys.KEYS, *keys.PANE_CHOICES, *keys.of_pane("source"))
)  # what only the screen can do
AT_ONCE = ("pause", "quit", "restart")  # wait for nothing
PATIENCE = 0.3  # seconds a command waits for a step under way to end
TAKE_FILES = ("open", "source", "break", "b", "tbreak", "list", "l")


class EngineEvent(Message):
    """Something happened in the engine."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event


class Delivered(Message):
    """All that was posted before has been shown."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = asyncio.Event()


class Bridge:
    """The session as the screen uses it."""

    def __init__(self, app: App[int], options: LaunchOptions) -> None:
        self._app = app
        self._turn = asyncio.Lock()
        self._printed = 0  # how often something was printed by expressions
        self._ahead = 0, 0  # the breakpoint that the program is to run to, and the stop where that was asked for
        self.session = Session(options, self._on_event)

    def _on_event(self, event: Event) -> None:
        self._printed += isinstance(event, Printed)
        self._app.post_message(EngineEvent(event))

    @property
    def phase(self) -> Phase:
        return self.session.phase

    @property
    def breakpoints(self) -> tuple[Breakpoint, ...]:
        return self.session.breakpoints

    async def run(self, text: str) -> Reply:
        """One command line, in its turn: what is typed during a step is meant for its end. Raises PkdbError."""
        command, _ = language.split(text)
        if command is not None and command.name in AT_ONCE:
            return await language.run(text, self.session)
        async with self._turn:
            if command is None or self.phase not in command.phases:
                await self.step_over()
            printed = self._printed
            try:
                return await language.run(text, self.session)
            finally:
                if printed != self._printed:
                    await self.delivered()

    async def delivered(self) -> None:
        """Until the screen shows the events so far: an answer stands behind what was printed before it."""
        message = Delivered()
        if self._app.post_message(message):
            await message.shown.wait()

    async def step_over(self) -> None:
        """Until a step under way has ended; not longer than a step takes."""
        if self.phase.running:
            with suppress(TimeoutError):  # then it is no step
                await asyncio.wait_for(self.session.settled(), PATIENCE)

    async def add_breakpoint(self, spec: BreakpointSpec) -> Reply:
        """Set a breakpoint; the answer says where it lies. Raises PkdbError."""
        async with self._turn:
            return await breaking.add(self.session, spec)

    async def run_to(self, file: str, line: int) -> None:
        """Go on to a line, or to the stop that comes before. Raises PkdbError when there is no such line."""
        made = (await self.add_breakpoint(BreakpointSpec(file=file, line=line, temporary=True))).value
        if made.state is BreakpointState.UNBOUND:
            await self.session.remove_breakpoints([made.id])
            place = written(file, line)
            raise BreakpointError(f"The program can't stop at {place}: {made.reason}.", "Choose another line.")
        self._ahead = made.id, self.session.require_stop().generation
        await self.run("continue")

    async def arrived(self, generation: int) -> None:
        """At a stop: the line that was run to from one before is no aim any more."""
        ahead, since = self._ahead
        if ahead and generation > since:
            self._ahead = 0, 0
            if any(breakpoint.id == ahead for breakpoint in self.session.breakpoints):
                await self.session.remove_breakpoints([ahead])

    async def toggle_glue(self) -> str:
        """Show or hide frames of libraries and generated code; the answer says what came of it. Raises PkdbError."""
        async with self._turn:
            before = len(self.session.require_stop().frames)
            await self.session.show_glue(not self.session.glue)
            count = abs(len(self.session.require_stop().frames) - before)
        what = "Frames of libraries and generated code are " + ("shown" if self.session.glue else "hidden")
        frames = f"{count} frame{'s' if count != 1 else ''}"
        return f"{what}: {frames} in this stack." if count else f"{what}; this stack has none of them."

    async def describe(self, path: str) -> SourceInfo | None:
        """What is known of a file's lines; None while the program can't say."""
        try:
            return await self.session.describe_file(path)
        except PkdbError:
            return None  # before the program started or after it ended: the gutter just shows less

    async def completions(self, text: str) -> Completions:
        """Ways to complete what is typed last: commands at the start, files where they are meant, names in Python."""
        command, _, rest = text.lstrip().partition(" ")
        word = completion.last_word(text)
        found: list[str] = []
        if not rest and command == word:
            names = {*registry.names, *SCREEN_COMMANDS}
            found = sorted(name for name in names if name.startswith(word) and len(name) > 1)
        elif command in TAKE_FILES:
            word, found = completion.file_named(rest.lstrip())
        if self.session.phase.stopped and word == completion.last_word(text) != "":
            with suppress(PkdbError):  # the stop is over: what is known without the program still helps
                found += [name for name in await self.session.complete(word) if name not in found]
        return Completions(word, found)

    def usable_keys(self) -> Sequence[tuple[str, str]]:
        """(key, command) pairs that mean something in this phase."""
        phase = self.session.phase
        return [(c.key, c.name) for c in registry.commands.values() if c.key and phase in c.phases]

    def check_end(self, text: str) -> None:
        """Raises PkdbError for a command that means nothing any more, as the program has ended."""
        command, _ = language.split(text)
        if command is not None and self.phase is Phase.EXITED:
            registry.check_phase(command, self.phase)

    @staticmethod
    def key_of(name: str) -> str:
        """The key of a command as bindings have it by default; empty where it has none."""
        return registry.commands[name].key

    def palette(self) -> list[tuple[str, str, bool]]:
        """(command, summary, whether it needs arguments) for the command palette."""
        return [
            (c.name, c.summary, bool(c.usage) and "[" not in c.usage.partition(" ")[2][:1])
            for c in registry.commands.values()
        ]

    @staticmethod
    def command_names() -> Collection[str]:
        """All names of commands."""
        return registry.names

    async def is_variable(self, name: str) -> bool:
        """Whether the program has a variable of this name where it is stopped."""
        if not self.phase.stopped:
            return False
        try:
            await self.session.evaluate(name)
        except PkdbError:
            return False
        return True

    @staticmethod
    def break_text(spec: BreakpointSpec) -> str:
        """The command that sets such a breakpoint."""
        return breaking.asking(spec)

    @staticmethod
    def help_text() -> str:
        return overview()

    @staticmethod
    def stop_text(snapshot: StopSnapshot) -> str:
        """A stop's line, and below it what else an exception says, such as the line that can't be compiled."""
        message = snapshot.exception.message.rstrip("\n") if snapshot.exception is not None else ""
        return "\n".join([stop_line(snapshot), *message.split("\n")[1:]])

    @staticmethod
    def incomplete(text: str) -> bool:
        return language.incomplete(text)

    @staticmethod
    def parts(text: str) -> list[str]:
        """The commands of a line."""
        return language.parts(text)

    @staticmethod
    def again(text: str) -> str:
        """What an empty line behind this one does."""
        return language.again(text)
