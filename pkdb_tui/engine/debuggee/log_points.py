"""What a log point says: its text as an f-string over the frame that reached it."""

from __future__ import annotations

import ast
from functools import lru_cache
from types import FrameType

from pkdb_tui.engine.debuggee.snippets import Snippet
from pkdb_tui.engine.debuggee.values import error_message

TEXT_LIMIT = 4000  # characters of one line
QUOTES = ('"""', "'''", '"', "'")


def template_literal(template: str) -> str:
    """The f-string literal a log point's text stands for; a backslash is itself. Raises SyntaxError."""
    for quote in QUOTES:
        if quote not in template and not template.endswith(quote[0]) and "\n" not in template:
            return f"f{quote}{template.replace(chr(92), chr(92) * 2)}{quote}"
    raise SyntaxError("the text holds both kinds of quotes at its end, or several lines")


def template_parts(template: str) -> list[ast.expr]:
    """The texts and fields of a log point, each an expression of its own. Raises SyntaxError."""
    tree = ast.parse(template_literal(template), mode="eval").body
    return list(tree.values) if isinstance(tree, ast.JoinedStr) else [tree]


@lru_cache(maxsize=256)
def _compiled(template: str) -> tuple[Snippet, ...]:
    parts = [part if isinstance(part, ast.Constant) else ast.JoinedStr([part]) for part in template_parts(template)]
    return tuple(Snippet(ast.unparse(part), "eval", "<log point>") for part in parts)


def log_text(template: str, frame: FrameType) -> str:
    """A log point's text with its `{expressions}` formatted as an f-string does; an error stands in its place."""
    try:
        snippets = _compiled(template)
    except SyntaxError as error:
        return f"{template} <{error.msg}>"
    parts = []
    for snippet in snippets:
        try:
            parts.append(str(snippet.value(frame)))
        except Exception as error:  # noqa: BLE001 - the person's expression may raise anything; shown in the line
            parts.append(f"<{type(error).__name__}: {error_message(error)}>")
    text = "".join(parts)
    return text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + "…"
