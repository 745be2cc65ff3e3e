"""Breakpoints in a kernel's lines, carried to the edited texts that run in its place."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from pkdb_tui.engine import kernel_text
from pkdb_tui.engine.api import BreakpointSpec
from pkdb_tui.engine.breakpoints import BreakpointBook, Entry


@dataclass(frozen=True)
class Text:
    """A kernel's text in a file; `first_line` is where it begins there."""

    path: str
    first_line: int
    text: str

    def has(self, entry: Entry) -> bool:
        """Whether a breakpoint lies in it; a watchpoint lies nowhere."""
        last = self.first_line + self.text.count("\n")
        return not entry.spec.watch and entry.file == self.path and self.first_line <= entry.line <= last

    def line_of(self, other: Text, line: int) -> int:
        """Where a line of another text is in this one."""
        return self.first_line + kernel_text.line_in(other.text, self.text, line - other.first_line)


@dataclass(frozen=True)
class Copy:
    """What a breakpoint was when it was carried: the copy changes only when that does."""

    number: int
    spec: BreakpointSpec
    enabled: bool


class Carried:
    """Each breakpoint of an edited kernel has a copy in each text that runs in its place, with a number of its own.

    A copy that was deleted by itself isn't made again; one whose original is deleted goes, too.
    """

    def __init__(self, book: BreakpointBook) -> None:
        self._book = book
        self._copies: dict[tuple[int, str], Copy] = {}

    def follow(self, original: Text, running: Sequence[Text], earlier: Sequence[Text]) -> None:
        """Bring the copies up to date; `earlier` are texts that don't run any more."""
        for text in running:
            for entry in list(self._book.entries.values()):
                if not entry.copy_of and original.has(entry):
                    self._carry(entry, text, text.line_of(original, entry.line), {each.path for each in earlier})
        for old in earlier:
            if running:
                self._move(old, running[-1])
            gone = [key for key in self._copies if key[1] == old.path]
            self._book.remove([n for n in (self._copies.pop(key).number for key in gone) if n in self._book.entries])

    def _carry(self, entry: Entry, text: Text, line: int, stale: set[str]) -> None:
        known = self._copies.get((entry.id, text.path))
        spec = msgspec.structs.replace(entry.spec, file=text.path, line=line, function="")
        if known is None:
            number = next(self._left_over(entry.id, stale), 0)
            if number:
                self._book.change(number, spec)
            else:
                copy = self._book.add(spec, enabled=entry.enabled)
                copy.copy_of, number = entry.id, copy.id
        else:
            number = known.number
            copied = self._book.entries.get(number)
            if copied is None:
                return
            if known.spec != entry.spec:
                self._book.change(number, spec)
            if known.enabled != entry.enabled:
                copied.enabled = entry.enabled
        self._copies[entry.id, text.path] = Copy(number, entry.spec, entry.enabled)

    def _left_over(self, original: int, stale: set[str]) -> Iterator[int]:
        """The copy in a text that doesn't run any more, which is then one for another text."""
        for key in [key for key in self._copies if key[0] == original and key[1] in stale]:
            number = self._copies.pop(key).number
            if number in self._book.entries:
                yield number

    def _move(self, old: Text, new: Text) -> None:
        """Breakpoints that the person set in an edited text go on in the one that took its place."""
        for entry in list(self._book.entries.values()):
            if not entry.copy_of and old.has(entry):
                line = new.line_of(old, entry.line)
                self._book.change(entry.id, msgspec.structs.replace(entry.spec, file=new.path, line=line, function=""))


def real(path: str) -> str:
    """The path as breakpoints have it."""
    return os.path.realpath(path)
