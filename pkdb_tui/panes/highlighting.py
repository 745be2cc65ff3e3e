"""Source files as coloured lines: read once, lexed when there is time, cached."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.style import Style

from pkdb_tui.panes.palette import Palette

if TYPE_CHECKING:
    from pygments.token import _TokenType

Row = list[tuple[str, Style]]
TAB = 8
LONGEST = 30_000  # lines; longer files stay plain


class SourceText:
    """One file's lines; `rows` are coloured ones once `lex` has run."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text.expandtabs(TAB)
        self.lines = self.text.split("\n")
        if self.lines and self.lines[-1] == "":
            self.lines.pop()
        self.rows: list[Row] | None = None

    @classmethod
    def read(cls, path: str) -> SourceText:
        """Raises OSError."""
        return cls(path, Path(path).read_text(encoding="utf-8", errors="replace"))

    def row(self, index: int, palette: Palette) -> Row:
        if self.rows is not None and index < len(self.rows):
            return self.rows[index]
        return [(self.lines[index], palette.text)]

    def lex(self, palette: Palette) -> list[Row]:
        """Coloured rows; slow, to be run in a thread."""
        from pygments.lexers import CppLexer, PythonLexer
        from pygments.token import Comment, Keyword, Name, Number, String, Token

        lexer = PythonLexer() if self.path.endswith(".py") else CppLexer()
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
        for kind, value in lexer.get_tokens(self.text):
            style = style_of(kind)
            first, *rest = value.split("\n")
            if first:
                rows[-1].append((first, style))
            for part in rest:
                rows.append([(part, style)] if part else [])
        return rows
