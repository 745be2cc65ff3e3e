"""Plain mode: the same commands as a line REPL, for dumb terminals, pipes, scripts and tests."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
from collections.abc import Sequence

from pkdb_tui.commands import language
from pkdb_tui.commands.registry import Reply
from pkdb_tui.engine import saved
from pkdb_tui.engine.api import Event, ExitCause, Exited, InputWanted, LaunchOptions, Notice, Phase, Severity, Stopped
from pkdb_tui.engine.errors import PkdbError
from pkdb_tui.engine.session import Session
from pkdb_tui.plain_input import LineInput, nothing_flushed
from pkdb_tui.plain_output import JsonPrinter, Printer, TextPrinter

PROMPT = "pkdb> "
MORE = "....> "
HUNG_UP, UNREAD = 129, 141  # exit statuses: as after SIGHUP and SIGPIPE
RUNS_ON = "The program runs on. `quit` ends it, `restart` runs it anew, an empty line waits for it."


class Plain:
    """One plain-mode run; `commands` are carried out first, then those typed."""

    def __init__(self, options: LaunchOptions, commands: Sequence[str], *, json: bool = False) -> None:
        self.printer: Printer = JsonPrinter(sys.stdout) if json else TextPrinter(sys.stdout, sys.stderr)
        self.session = Session(options, self._on_event)
        self._commands = list(commands)
        self._given = bool(commands)
        self._refused = ""
        self._quit = False
        self._released = asyncio.Event()  # the prompt was asked for while the program runs
        self._interrupted = False
        self._owed = False  # a Ctrl-C came behind lines that are still to be carried out
        self._input = LineInput()
        self._dropped = False  # Ctrl-C came while lines were typed: those before the next one don't count
        self._again_does = ""  # the line that an empty one repeats
        self._again: asyncio.Task[None] | None = None
        self._task: asyncio.Task[int] | None = None
        self._ending = HUNG_UP

    def _on_event(self, event: Event) -> None:
        if isinstance(event, InputWanted) and self._input.terminal and isinstance(self.printer, TextPrinter):
            return  # the cursor stands behind the program's prompt
        try:
            if self._input.asking and isinstance(event, Stopped | Exited):
                self._ask_again()
            self.printer.event(event)
        except BrokenPipeError:
            _write_nowhere()
            self._ending = UNREAD
            self._leave()

    async def run(self) -> int:
        """The whole run; returns the exit status."""
        loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        loop.add_signal_handler(signal.SIGCONT, self._back)
        for number in (signal.SIGHUP, signal.SIGTERM):
            loop.add_signal_handler(number, self._leave)
        remembered = not self._given and self._input.terminal
        try:
            if remembered:
                await saved.restore(self.session)
            await self.session.start()
            await self.session.settled()
            await self._carry_out()
        except PkdbError as error:
            self.printer.error(error, "")
            return 2
        except BrokenPipeError:
            _write_nowhere()
            return UNREAD
        except asyncio.CancelledError:
            return self._ending
        finally:
            await self.session.quit()
            if remembered and (problem := saved.save(self.session)):
                self.printer.event(Notice(text=problem, severity=Severity.WARNING))
        return self._status()

    def _leave(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _interrupt(self) -> None:
        """Ctrl-C pauses; when that brings no stop, the next one brings the prompt."""
        self._input.drop()
        if self.session.evaluator.under_way:
            self.session.interrupt_evaluation()
        if not self.session.pausable:
            if self._input.waiting:
                self._owed = True
            elif self._input.asking:
                self._dropped, self._input.asking = True, PROMPT
                sys.stdout.write("\n")
                self._input.show_prompt()
            return
        if self._interrupted or not self.session.connection.connected:
            self._released.set()
        else:
            self.session.spawn(self.session.pause())
        self._interrupted = True

    def _back(self) -> None:
        """The shell had the terminal meanwhile: what stands there is its own."""
        self._input.back()
        if self._input.asking:
            self._input.show_prompt()

    async def _carry_out(self) -> None:
        for line in self._commands:
            await self._typed(line)
            if self._quit:
                return
        if self._given and not self._input.terminal:
            return
        while not self._quit:
            typed = await self._read()
            if typed is None:
                return
            await self._typed(typed)

    async def _read(self) -> str | None:
        """One command as typed, over several lines when it is incomplete; None at the end of input."""
        if not self._input.waiting:
            self._owed = False
        line = await self._ask(PROMPT)
        while line is not None and language.incomplete(line):
            self._dropped = False
            more = await self._ask(MORE)
            if more is None:
                return line
            line = more if self._dropped else f"{line}\n{more}"
        return line

    async def _ask(self, prompt: str) -> str | None:
        line = await self._input.line(prompt)
        if self._input.terminal and isinstance(self.printer, TextPrinter):
            self.printer.fresh = True  # behind the line that was typed
        return line

    def _ask_again(self) -> None:
        """Show the prompt once more, behind all that is said of a stop or an end that came while it stood there."""
        if not isinstance(self.printer, TextPrinter):
            return
        printer = self.printer
        printer.fresh = False

        async def when_all_is_said() -> None:
            await self.session.settled()
            if self._input.asking:
                self._input.show_prompt()
                printer.fresh = False

        self._again = asyncio.ensure_future(when_all_is_said())

    async def _typed(self, text: str) -> None:
        """The commands of a line; an empty one at a stop does the last one that stepped or looked further again."""
        if not text.strip() and self._input.terminal and self.session.phase.stopped:
            text = self._again_does
        for line in language.parts(text):
            if not await self._line(line) or self._quit:
                return
        self._again_does = language.again(text)

    async def _line(self, line: str) -> bool:
        """One command; False when it was refused."""
        try:
            reply = await language.run(line, self.session)
        except PkdbError as error:
            self._refused = self._refused or line
            self.printer.error(error, line)
            return False
        self.printer.reply(line, reply)
        if reply.value == "quit":
            self._quit = True
            return True
        if self.session.phase.running and self._input.terminal:
            # While the program runs, what is typed is the program's.
            with self._input.given_to(self.session.write_input):
                await self._rest()
        else:
            await self._rest()
        return True

    async def _rest(self) -> None:
        """Until the program is stopped or has ended, or the prompt is asked for."""
        self._released.clear()
        self._interrupted = False
        if self._owed and not self._input.waiting:
            self._owed = False
            self._interrupt()
        waits = [asyncio.ensure_future(self.session.settled()), asyncio.ensure_future(self._released.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        if self.session.phase.running and self._released.is_set():
            self.printer.event(Notice(text=RUNS_ON))

    def _status(self) -> int:
        if self._refused and self._given:
            self.printer.failed(self._refused)
            return 1
        cause = self.session.exit_cause
        return 0 if cause is None else exit_status(cause)


def exit_status(cause: ExitCause) -> int:
    """The program's own status as a shell would see it."""
    if cause.signal:
        try:
            return 128 + signal.Signals[cause.signal].value
        except KeyError:
            return 1
    return cause.status or 0


def _write_nowhere() -> None:
    """Nobody reads what is written any more; what is still to be flushed must not fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def run(options: LaunchOptions, commands: Sequence[str], *, json: bool = False) -> int:
    """Debug in plain mode; returns the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    with nothing_flushed():
        return asyncio.run(Plain(options, commands, json=json).run())


__all__ = ["Exited", "Phase", "Plain", "Reply", "exit_status", "run"]
