"""Source files as coloured lines: read once; a long file is coloured where it is looked at."""

from __future__ import annotations

import re
from bisect import bisect_left
from pathlib import Path
from typing import TYPE_CHECKING

from rich.style import Style

from pkdb_tui.panes.palette import Palette

if TYPE_CHECKING:
    from pygments.token import _TokenType

Row = list[tuple[str, Style]]
Span = tuple[int, int]  # the lines in which a string or comment of several lines begins and ends, from 0
TAB = 8
LONGEST = 5_000  # lines that are coloured at once; of a longer file only what is looked at
CHUNK = 128  # lines coloured together: about 10 ms
KEPT = 64  # chunks
REACH = 512  # lines a chunk is begun earlier for a string that it begins in

_PYTHON = re.compile(r"#|\"\"\"|\'\'\'|\"|\'")
_CPP = re.compile(r"//|/\*|\"|\'")


class SourceText:
    """One file's lines; `rows` are coloured ones once `lex` has run, of a long file once `scan` has."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text.expandtabs(TAB)
        self.lines = self.text.split("\n")
        if self.lines and self.lines[-1] == "":
            self.lines.pop()
        self.rows: list[Row] | None = None
        self.spans: list[Span] | None = None
        self._ends: list[int] = []
        self._chunks: dict[int, list[Row]] = {}

    @classmethod
    def read(cls, path: str) -> SourceText:
        """Raises OSError."""
        return cls(path, Path(path).read_text(encoding="utf-8", errors="replace"))

    @property
    def coloured(self) -> bool:
        return self.rows is not None or self.spans is not None

    def row(self, index: int, palette: Palette) -> Row:
        if self.rows is not None and index < len(self.rows):
            return self.rows[index]
        if self.spans is not None and index < len(self.lines):
            return self._chunk(index // CHUNK, palette)[index % CHUNK]
        return [(self.lines[index], palette.text)]

    def prepare(self, palette: Palette) -> None:
        """Everything that takes its time before rows are coloured, to be run in a thread."""
        if len(self.lines) <= LONGEST:
            self.rows = self.lex(palette)
        else:
            spans = self.scan()
            self._ends = [last for _, last in spans]
            self.spans = spans

    def lex(self, palette: Palette) -> list[Row]:
        """Coloured rows of the whole text; slow."""
        return _coloured(self.text, self._is_python, palette)

    @property
    def _is_python(self) -> bool:
        return self.path.endswith(".py")

    # --- long files ---

    def scan(self) -> list[Span]:
        """Where strings and comments of several lines are: what a line's colours depend on beyond itself."""
        text, spans = self.text, []
        opening = _PYTHON if self._is_python else _CPP
        at, line, counted = 0, 0, 0
        while (found := opening.search(text, at)) is not None:
            token, begin = found[0], found.start()
            if token in ("#", "//"):
                end = text.find("\n", begin)
                at = len(text) if end < 0 else end
                continue
            at = _end_of(text, token, found.end())
            if token in ('"""', "'''", "/*"):
                line += text.count("\n", counted, begin)
                last = line + text.count("\n", begin, at)
                if last > line:
                    spans.append((line, last))
                line, counted = last, at
        return spans

    def _chunk(self, number: int, palette: Palette) -> list[Row]:
        rows = self._chunks.get(number)
        if rows is None:
            if len(self._chunks) >= KEPT:
                self._chunks.pop(next(iter(self._chunks)))
            rows = self._chunks[number] = self._colour(number * CHUNK, palette)
        return rows

    def _colour(self, first: int, palette: Palette) -> list[Row]:
        stop = min(first + CHUNK, len(self.lines))
        begin, inside = self._span_at(first)
        rows: list[Row] = []
        if begin < first - REACH:
            # Far inside a string: nothing in it needs to be looked at.
            style = palette.string if self._is_python else palette.comment
            begin = min(inside + 1, stop)
            rows = [[(line, style)] if line else [] for line in self.lines[first:begin]]
            first = begin
        if begin < stop:
            rows += _coloured("\n".join(self.lines[begin:stop]), self._is_python, palette)[first - begin :]
        return rows[:CHUNK] + [[] for _ in range(stop - first - len(rows))]

    def _span_at(self, line: int) -> Span:
        """Where to begin for a line, and where the string it begins in ends; the line itself where there is none."""
        assert self.spans is not None
        at = bisect_left(self._ends, line)
        if at < len(self.spans) and self.spans[at][0] < line:
            return self.spans[at]
        return line, line


def _end_of(text: str, quote: str, at: int) -> int:
    """The end of a string or comment begun by `quote`; one that is never closed ends with its line or the text."""
    if quote == "/*":
        found = text.find("*/", at)
        return len(text) if found < 0 else found + 2
    long = len(quote) == 3
    newline = len(text) if long else text.find("\n", at)
    newline = len(text) if newline < 0 else newline
    while True:
        found = text.find(quote, at, newline)
        if found < 0:
            return newline
        escapes = found
        while escapes > at and text[escapes - 1] == "\\":
            escapes -= 1
        if (found - escapes) % 2 == 0:
            return found + len(quote)
        at = found + 1


def coloured(text: str, palette: Palette) -> list[Row]:
    """Rows of Python, coloured; a row more where the text ends with a line end."""
    return _coloured(text, True, palette)


def _coloured(text: str, is_python: bool, palette: Palette) -> list[Row]:
    from pygments.lexers import CppLexer, PythonLexer
    from pygments.token import Comment, Keyword, Name, Number, String, Token

    # Blank lines at the beginning count too.
    lexer = PythonLexer(stripnl=False) if is_python else CppLexer(stripnl=False)
    styles = {
        Comment: palette.comment, Keyword: palette.keyword, String: palette.string, Number: palette.number,
        Name.Decorator: palette.name, Name.Function: palette.name, Name.Class: palette.name, Token: palette.text,
    }  # fmt: skip
    known: dict[_TokenType, Style] = {}

    def style_of(kind: _TokenType) -> Style:
        found = known.get(kind)
        if found is None:
            node = kind
            while node not in styles and node.parent is not None:
                node = node.parent
            found = known[kind] = styles.get(node, palette.text)
        return found

    rows: list[Row] = [[]]
    for kind, value in lexer.get_tokens(text):
        style = style_of(kind)
        first, *rest = value.split("\n")
        if first:
            rows[-1].append((first, style))
        for part in rest:
            rows.append([(part, style)] if part else [])
    return rows
