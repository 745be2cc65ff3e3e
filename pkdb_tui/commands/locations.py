"""What a person writes to name a place: LINE, FILE:LINE, FUNCTION, with `if`, `thread` and `ignore` behind it."""

from __future__ import annotations

import ast
import os
import re

from pkdb_tui.engine.api import BreakpointSpec
from pkdb_tui.engine.errors import BreakpointError, UsageError
from pkdb_tui.engine.session import Session

_SPOT = r"(?P<spot>\d+|[^\W\d][\w.]*)(?=[\s,]|$)"
_LINE_OR_NAME = re.compile(_SPOT)
_UNREADABLE = re.compile(rf"(?P<file>.+?):{_SPOT}")
_QUOTED = re.compile(rf"(?P<quote>['\"])(?P<file>.+?)(?P=quote):{_SPOT}")
_BEHIND = re.compile(r"\s*(,|(if|threads?|ignore)\b|$)")  # what can follow a place
_LATE = re.compile(r"(?P<condition>.+?)\s+(?P<all>(?P<word>thread|threads|ignore)\s+\S.*)", re.DOTALL)


def current_file(session: Session) -> str:
    """The file a bare line number means: that of the selected frame, else the script."""
    if session.snapshot is not None and session.snapshot.location.file:
        return session.snapshot.location.file
    if session.file:
        return session.file
    if session.options.script and session.options.script != "-":
        return os.path.abspath(session.options.script)
    raise UsageError("No file is selected.", "Write FILE:LINE.")


def find_file(session: Session, name: str) -> str:
    """The file a person means by a name: as it is, with `.py`, or beside the script. Raises BreakpointError."""
    found = _existing(session, name)
    if not found:
        raise BreakpointError(f"There is no file {name}.", "Give its path from here or from the script's folder.")
    return found


def _existing(session: Session, name: str) -> str:
    """The path of a file that a person names; empty where there is none."""
    for folder in ("", session.options.directory, os.path.dirname(session.file)):
        for candidate in (name, name + ".py"):
            path = os.path.join(folder, os.path.expanduser(candidate))
            if os.path.isfile(path):
                return os.path.realpath(path)
    selected = session.snapshot.location.file if session.snapshot is not None else ""
    return next((known for known in (selected, session.file) if known and os.path.basename(known) == name), "")


def read_place(session: Session, text: str) -> tuple[tuple[str, int, str], str]:
    """The (file, line, function) that a text begins with, one of line and function given, and what follows it.

    A file's name may have blanks, commas and colons: it is the longest beginning that names a file. It may stand in
    quotes, too. Raises UsageError for what is no place, BreakpointError for a file that isn't there.
    """
    for colon in reversed([match.start() for match in re.finditer(":", text)]):
        spot = _LINE_OR_NAME.match(text, colon + 1)
        if spot is not None and colon and (file := _existing(session, text[:colon])):
            return _place(session, file, spot["spot"]), text[spot.end() :]
    if quoted := _QUOTED.match(text):
        return _place(session, find_file(session, quoted["file"]), quoted["spot"]), text[quoted.end() :]
    spot = _LINE_OR_NAME.match(text)
    wanted = _UNREADABLE.match(text)
    if spot is not None and (wanted is None or _BEHIND.match(text, spot.end())):
        return _place(session, "", spot["spot"]), text[spot.end() :]
    if wanted is not None:
        find_file(session, wanted["file"])
    raise UsageError(f"`{text}` is not a place.", "Write LINE, FILE:LINE or FUNCTION.")


def _place(session: Session, file: str, spot: str) -> tuple[str, int, str]:
    return (file or current_file(session), int(spot), "") if spot.isdigit() else (file, 0, spot)


def parse_break(session: Session, text: str, *, temporary: bool = False) -> BreakpointSpec:
    """`[FILE:]LINE | [FILE:]FUNCTION` then `thread T`, `ignore N`, `if CONDITION` (or pdb's `, CONDITION`)."""
    text = text.strip()
    (file, line, function), rest = read_place(session, text)
    rest, comma, behind = rest.strip().partition(",") if rest.lstrip().startswith(",") else (rest.strip(), "", "")
    condition = behind.strip()
    threads, ignore = "", 0
    while rest:
        word, _, after = rest.partition(" ")
        after = after.strip()
        if word == "if":
            condition, rest = after, ""
        elif word in ("thread", "threads"):
            threads, rest = _word(after)
        elif word == "ignore":
            count, rest = _word(after)
            ignore = _number(count, "ignore count")
        else:
            raise UsageError(
                f"`{rest}` can't follow a place.", "Write `if CONDITION`, `thread 0:4` or `ignore N` behind it."
            )
    if condition == "" and (text.endswith(" if") or comma):
        raise UsageError("The condition is missing.", "For example `break 12 if j == 10`.")
    if (found := _LATE.fullmatch(condition)) and not _is_python(condition):
        raise UsageError(
            f"`{found['word']}` stands behind the condition.",
            f"Write it before `if`: `break PLACE {found['all']} if {found['condition']}`.",
        )
    return BreakpointSpec(
        file=file,
        line=line,
        function=function,
        condition=condition,
        ignore=ignore,
        temporary=temporary,
        threads=threads,
    )


def _is_python(condition: str) -> bool:
    try:
        ast.parse(condition.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True


def parse_place(session: Session, text: str) -> tuple[str, int, str]:
    """(file, line, function) of a written place, with nothing behind it; one of line and function is given."""
    place, rest = read_place(session, text.strip())
    if rest.strip():
        raise UsageError(f"`{rest.strip()}` can't follow a place.", "Write LINE, FILE:LINE or FUNCTION alone.")
    return place


def _word(text: str) -> tuple[str, str]:
    """The first word, brackets kept whole, and what follows."""
    if text.startswith("["):
        inside, bracket, rest = text.partition("]")
        return inside + bracket, rest.strip()
    word, _, rest = text.partition(" ")
    return word, rest.strip()


def _number(text: str, what: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"`{text}` is not a number.", f"Give the {what} as a whole number.") from None


def numbers(text: str, what: str) -> list[int]:
    """Whole numbers separated by blanks or commas, with ranges such as `2-4`. Raises UsageError."""
    found: list[int] = []
    for part in text.replace(",", " ").split():
        first, dash, last = part.partition("-")
        if dash and first:
            if not last:
                raise UsageError(f"`{part}` is not a range of numbers.", "Write for example `2-4`.")
            found.extend(range(_number(first, what), _number(last, what) + 1))
        else:
            found.append(_number(part, what))
    return found


def shown_path(path: str) -> str:
    """A path as messages show it: from here when it is below here."""
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return path if relative.startswith("..") else relative


def written(file: str, line: int) -> str:
    """A line as commands take it."""
    shown = shown_path(file)
    quote = "'" if '"' in shown else '"'
    return f"{quote}{shown}{quote}:{line}" if shown != shown.strip() else f"{shown}:{line}"
