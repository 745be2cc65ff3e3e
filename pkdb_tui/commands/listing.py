"""Commands that show source text."""

from __future__ import annotations

import ast
import linecache
from weakref import WeakKeyDictionary

from pkdb_tui.commands.locations import current_file
from pkdb_tui.commands.registry import ANY, Reply, registry
from pkdb_tui.engine.api import Frame
from pkdb_tui.engine.errors import UsageError
from pkdb_tui.engine.session import Session

GROUP = "Looking"
LINES = 11  # in one listing
_listed: WeakKeyDictionary[Session, tuple[tuple[int, int, str], int]] = WeakKeyDictionary()  # where, last line shown


@registry.command(
    "list",
    "show source around a line",
    aliases=("l",),
    usage="list [LINE|FIRST,LAST|.]",
    details="Without arguments: around the current line, then, typed again, what follows. `list .` is the current line "
    "again. A LAST below FIRST is a number of lines. `longlist` shows the whole function.",
    phases=ANY,
    group=GROUP,
)
async def list_(session: Session, text: str) -> Reply:
    file = current_file(session)
    first, last = _range(session, file, text.strip())
    lines = _source(file)
    if first > len(lines):
        raise UsageError(f"The file ends at line {len(lines)}.", "`list .` shows the current line.")
    _listed[session] = (_stop_and_frame(session, file), min(last, len(lines)))
    return _listing(session, file, lines, first, last)


@registry.command(
    "longlist",
    "show the whole source of this function, or of the file outside of functions",
    aliases=("ll",),
    phases=ANY,
    group=GROUP,
)
async def longlist(session: Session, text: str) -> Reply:
    if text:
        raise UsageError("`longlist` takes nothing behind it.", "`list 10,30` shows some lines.")
    file = current_file(session)
    lines = _source(file)
    first, last = (1, len(lines)) if session.snapshot is None else function_around(lines, session.snapshot.location)
    return _listing(session, file, lines, first, last)


def function_around(lines: list[str], frame: Frame) -> tuple[int, int]:
    """First line, with decorators, and last of the function or class whose frame this is; of the file, if of none."""
    whole = 1, len(lines)
    if frame.function == "<module>":
        return whole
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError):  # no Python, or not as it was when the program read it
        return whole
    spans = [
        (min([node.lineno, *(part.lineno for part in node.decorator_list)]), node.end_lineno or node.lineno, node.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    around = [span for span in spans if span[0] <= frame.line <= span[1]]
    own = [span for span in around if span[2] == frame.function.rpartition(".")[2]]
    first, last, _ = max(own or around, default=(*whole, ""))
    return first, last


def _range(session: Session, file: str, text: str) -> tuple[int, int]:
    """First and last line of a listing."""
    here = session.snapshot.location.line if session.snapshot is not None else 1
    around = max(1, here - LINES // 2)
    if text == ".":
        return around, around + LINES - 1
    if not text:
        place, end = _listed.get(session, (None, 0))
        first = end + 1 if place == _stop_and_frame(session, file) else around
        return first, first + LINES - 1
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() for part in parts) or len(parts) > 2:
        raise UsageError(f"`{text}` is not a range of lines.", "Write `list 20` or `list 10,30`.")
    if len(parts) == 2:
        first, last = max(1, int(parts[0])), int(parts[1])
        return first, last if last >= first else first + last
    first = max(1, int(parts[0]) - LINES // 2)
    return first, first + LINES - 1


def _stop_and_frame(session: Session, file: str) -> tuple[int, int, str]:
    """A listing goes on only at the same stop, in the same frame."""
    return session.generation, session.snapshot.frame if session.snapshot is not None else -1, file


def _source(file: str) -> list[str]:
    linecache.checkcache(file)
    lines = linecache.getlines(file)
    if not lines:
        raise UsageError(f"{file} has no source to show.")
    return lines


def _listing(session: Session, file: str, lines: list[str], first: int, last: int) -> Reply:
    here = session.snapshot.location.line if session.snapshot is not None else 0
    marks = {b.line: "b" for b in session.breakpoints if b.file == file}
    rows = [
        f"{number:5} {marks.get(number, ' ')}{'>' if number == here else ' '} {line.rstrip()}"
        for number, line in enumerate(lines[first - 1 : last], first)
    ]
    return Reply(text="\n".join(rows))
