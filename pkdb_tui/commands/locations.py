"""What a person writes to name a place: LINE, FILE:LINE, FUNCTION, with `if`, `thread` and `ignore` behind it."""

from __future__ import annotations

import os
import re

from pkdb_tui.engine.api import BreakpointSpec
from pkdb_tui.engine.errors import BreakpointError, UsageError
from pkdb_tui.engine.session import Session

_PLACE = re.compile(r"\s*(?P<place>[^\s,]+)\s*(?:,(?P<comma>.*))?(?P<rest>.*)$", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w.]*$")


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
    folders = ["", session.options.directory, os.path.dirname(session.file)]
    for folder in folders:
        for candidate in (name, name + ".py"):
            path = os.path.join(folder, os.path.expanduser(candidate))
            if os.path.isfile(path):
                return os.path.realpath(path)
    for known in (current_file(session),):
        if os.path.basename(known) == name:
            return known
    raise BreakpointError(f"There is no file {name}.", "Give its path from here or from the script's folder.")


def parse_break(session: Session, text: str, *, temporary: bool = False) -> BreakpointSpec:
    """`[FILE:]LINE | [FILE:]FUNCTION` then `thread T`, `ignore N`, `if CONDITION` (or pdb's `, CONDITION`)."""
    match = _PLACE.match(text)
    if match is None:
        frame = session.require_stop().location
        return BreakpointSpec(file=frame.file, line=frame.line, temporary=temporary)
    file, line, function = parse_place(session, match["place"])
    condition = (match["comma"] or "").strip()
    threads, ignore, rest = "", 0, match["rest"].strip()
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
    if condition == "" and (text.rstrip().endswith(" if") or match["comma"] is not None):
        raise UsageError("The condition is missing.", "For example `break 12 if j == 10`.")
    return BreakpointSpec(
        file=file,
        line=line,
        function=function,
        condition=condition,
        ignore=ignore,
        temporary=temporary,
        threads=threads,
    )


def parse_place(session: Session, place: str) -> tuple[str, int, str]:
    """(file, line, function) of a written place; one of line and function is given."""
    name, colon, tail = place.rpartition(":")
    if colon and not name:
        raise UsageError(f"`{place}` is not a place.", "Write LINE, FILE:LINE or FUNCTION.")
    file = find_file(session, name) if name else ""
    if tail.isdigit():
        return file or current_file(session), int(tail), ""
    if _NAME.match(tail):
        return file, 0, tail
    raise UsageError(f"`{place}` is not a place.", "Write LINE, FILE:LINE or FUNCTION.")


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
