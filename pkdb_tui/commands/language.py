"""One line as typed: a command of the registry, or Python for the program, by pdb's rules."""

from __future__ import annotations

import ast
import codeop
import re
from collections.abc import Sequence

from pkdb_tui.commands import (  # noqa: F401 - they define the commands
    breaking,
    control,
    editing,
    inspecting,
    launching,
    listing,
    looking,
    mistyped,
    running,
    swapping,
)
from pkdb_tui.commands.registry import Command, Reply, registry
from pkdb_tui.engine.errors import ExpressionError, WrongPhase
from pkdb_tui.engine.session import Session

_WORD = re.compile(r"([A-Za-z_?][\w-]*)(?:\s+|$|(?=[/]))")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\s*(?:[-+*/%&|^@]|//|\*\*|<<|>>)?=(?!=)")

_QUOTED_OR_JOINED = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|;;|.""", re.DOTALL)
OF_ANY_TEXT = frozenset({"log", "send", "send-input"})
REPEATED = frozenset({"next", "step", "continue", "finish", "until", "up", "down", "list"})
_BREAKPOINTS = re.compile(r"del(?:\s+(?:\d+|\S+:\d+))*\s*")  # what `del` deletes when it isn't Python's


def split(line: str) -> tuple[Command | None, str]:
    """(the command, its arguments); no command when the line is Python.

    A name that is both a command and a variable is the command, as in pdb; an assignment to it is Python, and `!`
    before anything makes it Python. Letters of keys that are no names of commands (`f`, `x`, `v` …) are variables
    first, and commands where there is no such variable.
    """
    text = line.strip()
    if text.startswith("!"):
        return None, text[1:].lstrip()
    match = _WORD.match(text)
    if match is None or _ASSIGNMENT.match(text):
        return None, text
    command = registry.names.get(match[1])
    if command is None or (match[1] == "del" and not _BREAKPOINTS.fullmatch(text)):
        return None, text
    return command, text[match.end() :].strip()


def parts(line: str) -> list[str]:
    """The commands of a line: several with `;;` between them, as in pdb; one inside quotes is a text's."""
    command, _ = split(line)
    if command is not None and command.name in OF_ANY_TEXT:
        return [line]
    pieces = [""]
    for piece in _QUOTED_OR_JOINED.findall(line):
        if piece == ";;":
            pieces.append("")
        else:
            pieces[-1] += piece
    return [line] if len(pieces) == 1 else [piece.strip() for piece in pieces if piece.strip()] or [""]


def again(line: str) -> str:
    """What an empty line after this one does once more, as in pdb and gdb: what steps or looks on; else nothing."""
    last = parts(line)[-1]
    command, _ = split(last)
    if command is None or command.name not in REPEATED:
        return ""
    return command.name if command.name == "list" else last


def incomplete(line: str) -> bool:
    """Whether a line is Python that needs more lines, as at Python's own prompt: a block ends with an empty line."""
    command, text = split(line)
    if command is not None or not text:
        return False
    try:
        return codeop.compile_command(text + "\n" * line.endswith("\n"), symbol="single") is None
    except (SyntaxError, ValueError, OverflowError):
        return False


def of_file(lines: Sequence[str]) -> list[str]:
    """The commands of a file: a line each, or a statement of several lines, without blank lines and comments before.

    A block goes on to the next line that is neither indented nor an `else` or the like of its own.
    """
    found: list[str] = []
    block = ""
    for line in lines:
        if block and line.startswith("#") and _ends(block):
            continue
        if block and line.strip() and not line[0].isspace() and _ends(block) and not incomplete(f"{block}\n{line}"):
            found.append(block)
            block = ""
        if block:
            block += f"\n{line}"
            if line.strip() and not incomplete(block):
                found.append(block)  # its brackets are closed, or it can't become Python any more
                block = ""
        elif incomplete(line):
            block = line
        elif line.strip() and not line.lstrip().startswith("#"):
            found.append(line)
    return [text.rstrip() for text in (*found, block) if text.strip()]


def _ends(block: str) -> bool:
    """Whether a block may end here."""
    try:
        return codeop.compile_command(f"{block}\n", symbol="single") is not None
    except (SyntaxError, ValueError, OverflowError):
        return False


def named(line: str) -> str:
    """A command as messages name it: its first line."""
    first, more, _ = line.partition("\n")
    return f"{first} …" if more else first


async def run(line: str, session: Session) -> Reply:
    """Carry out one line. Raises PkdbError saying what was wrong and what to do."""
    command, text = split(line)
    if command is not None:
        registry.check_phase(command, session.phase)
        return await command.handler(session, text)
    if not text:
        return Reply()
    first, _, rest = text.partition(" ")
    keyed = registry.of_key(first)
    if not session.phase.stopped:
        if keyed is not None:
            registry.check_phase(keyed, session.phase)
            return await keyed.handler(session, rest.strip())
        if _looks_like_word(text):
            hint = mistyped.near(text, registry.names) or "`help` lists the commands."
            raise WrongPhase(f"`{text}` is not a command.", hint)
        raise WrongPhase(
            "Python can't be evaluated while the program runs."
            if session.phase.running
            else "The program has ended: no Python is evaluated.",
            "Pause it first." if session.phase.running else "`restart` (R) runs it again.",
        )
    try:
        evaluation = await session.evaluate(text)
    except ExpressionError as error:
        if keyed is not None and mistyped.is_key(text, error):
            registry.check_phase(keyed, session.phase)
            return await keyed.handler(session, rest.strip())
        raise mistyped.advised(text, error, registry.names) from error
    return Reply(text=evaluation.text, value=evaluation)


def _looks_like_word(text: str) -> bool:
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return True
    return isinstance(tree.body, ast.Name)
