"""How plain mode writes: program output untouched, the debugger's words on lines of their own; or JSON lines."""

from __future__ import annotations

import codecs
import json
import math
import re
from abc import ABC, abstractmethod
from enum import Enum
from typing import Any, TextIO

import msgspec

from pkdb_tui.commands.breaking import watch_line
from pkdb_tui.commands.language import named
from pkdb_tui.commands.looking import source_line, stop_line
from pkdb_tui.commands.registry import Reply
from pkdb_tui.engine.api import (
    Event,
    Exited,
    InputWanted,
    LogPoint,
    Notice,
    Printed,
    ProgramOutput,
    Severity,
    Stopped,
    WatchesChanged,
)
from pkdb_tui.engine.errors import PkdbError

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")  # all but line ends and tabs
INPUT_WANTED = "The program waits for input. Give it with `send-input TEXT` before the command that lets it go on."


def _written_out(text: str) -> str:
    """Words of the program's within the debugger's own lines: without characters that move the cursor or end a line."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class Printer(ABC):
    """Writes what happens."""

    @abstractmethod
    def event(self, event: Event) -> None: ...

    @abstractmethod
    def reply(self, line: str, reply: Reply) -> None: ...

    @abstractmethod
    def error(self, error: PkdbError, line: str) -> None: ...

    @abstractmethod
    def failed(self, line: str) -> None:
        """A command given beforehand was refused; the run ends with status 1."""


class TextPrinter(Printer):
    """For people: program output as it is, everything else begins on a fresh line."""

    def __init__(self, out: TextIO, errors: TextIO) -> None:
        self._out = out
        self._errors = errors
        self.fresh = True  # the cursor is at the start of a line
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def event(self, event: Event) -> None:
        match event:
            case ProgramOutput(data=data, dropped=dropped):
                self._program(data, dropped)
            case Stopped(snapshot=snapshot):
                self._say(_written_out(stop_line(snapshot)))
                if source := source_line(snapshot.location):
                    self._say(source)
                if snapshot.exception is not None:
                    self._say(_written_out(snapshot.exception.traceback.rstrip("\n")))
            case WatchesChanged(watches=watches, stop=True):  # commands answer for themselves
                for watch in watches:
                    self._say(watch_line(watch))
            case LogPoint(text=text) | Printed(text=text):
                self._say(text)
            case InputWanted(wanted=True):
                self._say(f"note: {INPUT_WANTED}")
            case Exited(cause=cause):
                self._say(_written_out(f"exited: {cause.text}"))
            case Notice(text=text, severity=severity):
                if severity is Severity.ERROR:
                    self._complain(text)
                else:
                    self._say(f"{'warning' if severity is Severity.WARNING else 'note'}: {text}")

    def _program(self, data: bytes, dropped: int) -> None:
        if dropped:
            self._say(f"note: {dropped:,} bytes of output were dropped")
        text = self._decoder.decode(data).replace("\r\n", "\n")
        if text:
            self._out.write(text)
            self._out.flush()
            self.fresh = text.endswith("\n")

    def _say(self, text: str) -> None:
        if not self.fresh:
            self._out.write("\n")
            self.fresh = True
        self._out.write(text + "\n")
        self._out.flush()

    def _complain(self, text: str) -> None:
        if not self.fresh:
            self._out.write("\n")
            self._out.flush()
            self.fresh = True
        self._errors.write(f"error: {_written_out(text)}\n")
        self._errors.flush()

    def reply(self, line: str, reply: Reply) -> None:
        if reply.text:
            self._say(reply.text)

    def error(self, error: PkdbError, line: str) -> None:
        self._complain(str(error))

    def failed(self, line: str) -> None:
        self._complain(f"the command `{named(line)}` was refused")


class JsonPrinter(Printer):
    """For tools: one JSON object a line on standard output; `docs/plain.md` lists the members."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def _write(self, name: str, **members: Any) -> None:
        self._out.write(json.dumps({"event": name, **_plain(members)}, allow_nan=False) + "\n")
        self._out.flush()

    def event(self, event: Event) -> None:
        match event:
            case ProgramOutput(data=data, dropped=dropped):
                self._write("output", text=self._decoder.decode(data), dropped=dropped)
            case Stopped(snapshot=snapshot):
                frame = snapshot.location
                self._write(
                    "stopped",
                    reason=snapshot.reason.value,
                    text=snapshot.reason_text,
                    breakpoints=snapshot.breakpoints,
                    file=frame.file,
                    line=frame.line,
                    function=frame.function,
                    source=source_line(frame)[5:],
                    thread=snapshot.focus.thread if snapshot.focus is not None else None,
                    kernel=snapshot.kernel,
                    frames=snapshot.frames,
                    variables=snapshot.variables,
                    threads=snapshot.threads,
                    exception=snapshot.exception,
                    returning=snapshot.return_text,
                )
            case WatchesChanged(watches=watches, stop=True):
                self._write("displays", displays=watches)
            case InputWanted(wanted=wanted):
                self._write("input", wanted=wanted)
            case Printed(text=text):
                self._write("printed", text=text)
            case LogPoint(breakpoint=number, text=text):
                self._write("log", breakpoint=number, text=text)
            case Exited(cause=cause):
                self._write(
                    "exited", text=cause.text, status=cause.status, signal=cause.signal, exception=cause.exception
                )
            case Notice(text=text, severity=severity):
                self._write("notice", text=text, severity=severity.value)

    def reply(self, line: str, reply: Reply) -> None:
        self._write("reply", command=line, text=reply.text, value=reply.value)

    def error(self, error: PkdbError, line: str) -> None:
        self._write("error", command=line, title=error.title, hint=error.hint)

    def failed(self, line: str) -> None:
        self._write("refused", command=line)


def _plain(value: Any) -> Any:
    """In JSON's terms: plain types as objects, arrays as lists, not-finite numbers and all else as text."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case dict():
            return {str(key): _plain(each) for key, each in value.items()}
        case list() | tuple():
            return [_plain(each) for each in value]
        case msgspec.Struct():
            return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
        case Enum():
            return value.value
    listed = value.tolist() if hasattr(value, "tolist") else value
    return str(value) if type(listed) is type(value) else _plain(listed)  # longdouble has no number of Python's
