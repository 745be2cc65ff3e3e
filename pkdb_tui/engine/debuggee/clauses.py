"""The text of `parallel_launch`: clauses, and the words of each, every argument being a Python expression."""

from __future__ import annotations

import io
import token
import tokenize
from dataclasses import dataclass, field

from pkdb_tui.engine.debuggee.wire import RequestError

PATTERNS = ("for", "reduce", "scan")
SHARED = "mut:"
USAGE = "Write `[reduce|scan] KERNEL [SPACE] POLICY ARGUMENT…` for each kernel, with `;` between them."
_VALUES = (token.NAME, token.NUMBER, token.STRING)
_F_BEGIN, _F_END = getattr(token, "FSTRING_START", -1), getattr(token, "FSTRING_END", -1)  # from 3.12 on
_OPENING, _CLOSING = "([{", ")]}"
_JOINING = frozenset(("and", "or", "if", "else", "in", "is", "not", "for", "lambda", "await"))  # a name on either side
_PREFIX = frozenset("+-~")


@dataclass(frozen=True)
class Argument:
    """One argument as written; `name` is empty where it goes by its place, `shared` when it isn't copied."""

    text: str
    name: str = ""
    shared: bool = False


@dataclass(frozen=True)
class Clause:
    """One launch as written: `words` are space, if any, and policy, which only their values tell apart."""

    text: str
    pattern: str
    kernel: str
    words: list[Argument] = field(default_factory=list)


def split(text: str) -> list[str]:
    """The clauses: what stands between semicolons that are in no string and no bracket. Raises RequestError."""
    cuts = [start for start, kind, string, depth in _tokens(text) if kind == token.OP and string == ";" and depth == 0]
    parts = [text[a:b].strip() for a, b in zip([0, *(cut + 1 for cut in cuts)], [*cuts, len(text)], strict=True)]
    found = [part for part in parts if part]
    if not found:
        raise RequestError("There is nothing to launch.", USAGE)
    return found


def parse(text: str) -> Clause:
    """One clause. Raises RequestError."""
    words = [_argument(word) for word in expressions(text)]
    pattern = words[0].text.removeprefix("pk.").removeprefix("parallel_") if words else ""
    if pattern in PATTERNS and len(words) > 1 and not words[0].shared:
        words.pop(0)
    else:
        pattern = "for"
    if not words or not words[0].text.replace(".", "").isidentifier() or words[0].name or words[0].shared:
        raise RequestError(f"`{text}` names no kernel.", USAGE)
    if len(words) < 2:
        raise RequestError(f"`{text}` has no policy.", USAGE)
    return Clause(text, f"parallel_{pattern}", words[0].text, words[1:])


def _argument(word: str) -> Argument:
    shared = word.startswith(SHARED)
    word = word.removeprefix(SHARED).strip() if shared else word
    name, sign, rest = word.partition("=")
    if sign and name.strip().isidentifier() and not rest.startswith("="):
        return Argument(rest.strip(), name.strip(), shared)
    return Argument(word, "", shared)


def expressions(text: str) -> list[str]:
    """Words of a clause: a comma begins a new one, and a blank between what ends a value and what begins one.

    So `a + b` and `f(x, 2)` are one word, `a -b` and `v [0]` are two. Raises RequestError.
    """
    found: list[str] = []
    before: tuple[int, str] | None = None
    begin, end = 0, 0  # where the word begins, and where the token before ended
    for start, kind, string, depth in _tokens(text):
        if kind in (token.NEWLINE, token.NL, token.ENDMARKER):
            continue
        if depth == 0 and string == ",":
            found.append(text[begin:start])
            begin, before = start + 1, None
            continue
        outermost = depth == (1 if string in _OPENING else 0)
        if before and start > end and outermost and _ends(*before) and _begins(kind, string, text, start):
            found.append(text[begin:start])
            begin = start
        before, end = (kind, string), start + len(string)
    found.append(text[begin:])
    words = [word.strip() for word in found]
    if any(not word for word in words[:-1]) or (len(words) > 1 and not words[-1]):
        raise RequestError(f"`{text}` has a comma with nothing beside it.", USAGE)
    return [word for word in words if word]


def _ends(kind: int, string: str) -> bool:
    """Whether a token ends a value."""
    return (kind in (*_VALUES, _F_END) and string not in _JOINING) or string in _CLOSING


def _begins(kind: int, string: str, text: str, start: int) -> bool:
    """Whether a token begins a value: a sign does where no blank follows it."""
    if kind in (*_VALUES, _F_BEGIN):
        return string not in _JOINING or string in ("lambda", "not")
    following = text[start + len(string) : start + len(string) + 1]
    return string in _OPENING or (string in _PREFIX and following not in ("", " "))


def _tokens(text: str) -> list[tuple[int, int, str, int]]:
    """(start, kind, text, bracket depth from this token on) of each token of one line. Raises RequestError."""
    found, depth = [], 0
    flat = text.replace("\n", " ").replace("\r", " ")
    try:
        for part in tokenize.generate_tokens(io.StringIO(flat).readline):
            if part.type == token.ERRORTOKEN and part.string.strip():  # before 3.12; later ones raise
                raise SyntaxError(f"{part.string} does not belong there")
            if part.type == token.OP and part.string in _OPENING:
                depth += 1
            found.append((part.start[1], part.type, part.string, depth))
            if part.type == token.OP and part.string in _CLOSING:
                depth -= 1
    except (tokenize.TokenError, SyntaxError) as error:
        raise RequestError(f"`{text}` can't be understood: {error.args[0]}.", USAGE) from error
    return found
