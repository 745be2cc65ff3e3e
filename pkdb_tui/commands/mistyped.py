"""What was meant by a line that is neither a command nor Python of this frame: a key, a command of pdb, another one."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable

from pkdb_tui.engine.errors import ExpressionError, NotHere, PkdbError

OWN_COMMANDS = "A function defined here is called by its name; `source FILE` carries out the commands of a file."
OF_PDB = {
    "commands": "`log LINE TEXT` tells values at a line and goes on, `display EXPRESSION` shows one at every stop.",
    "alias": OWN_COMMANDS,
    "unalias": OWN_COMMANDS,
    "interact": "Python is typed right here, statements of several lines too.",
    "retval": "`finish` stops where the function returns, and tells the value.",
    "rv": "`finish` stops where the function returns, and tells the value.",
    "exceptions": "The traceback told at the stop has the exceptions before the last one.",
    "EOF": "`quit` ends the program and leaves.",
}  # what pdb has a command for, and what does it here
NEAR = 0.7  # how alike a command is that one may have meant
_FIRST = re.compile(r"[A-Za-z_]\w*")
_UNKNOWN = re.compile(r"NameError: name '(\w+)' is not defined")


def is_key(text: str, error: PkdbError) -> bool:
    """Whether a line beginning with the letter of a key means it: as Python it is nothing, or the letter no name."""
    unknown = _UNKNOWN.match(error.title)
    return not _is_python(text) or (unknown is not None and unknown[1] == text.strip())


def advised(text: str, error: ExpressionError, names: Iterable[str]) -> ExpressionError:
    """The same error with what to do, where the line may have been meant as a command."""
    if error.hint or isinstance(error, NotHere):
        return error
    unknown = _UNKNOWN.match(error.title)
    if _is_python(text) and unknown is None:
        return error  # Python that failed: the program's own affair
    if (word := _of_pdb(text)) and (unknown is None or unknown[1] == word):
        return ExpressionError(f"`{word}` is a command of pdb that isn't here.", OF_PDB[word])
    if text.startswith("$"):
        return ExpressionError(f"{error.title}.", "Names need no `$` here: what is assigned stays with the frame.")
    hint = near(text, names)
    if not hint:
        what = "`locals` lists the names here" if unknown else "What is no command is taken as Python"
        hint = f"{what}, `help` lists the commands."
    title = error.title if error.title.endswith((".", "!", "?")) else f"{error.title}."
    return ExpressionError(title, hint)


def near(text: str, names: Iterable[str]) -> str:
    """A sentence that names the command a line's first word is like; empty where there is none."""
    if advice := OF_PDB.get(_of_pdb(text)):
        return advice
    word = _FIRST.match(text.strip())
    long = [name for name in names if len(name) > 1]
    found = difflib.get_close_matches(word[0], long, 1, NEAR) if word is not None and len(word[0]) > 1 else []
    return f"Did you mean the command `{found[0]}`? `help` lists all." if found else ""


def _of_pdb(text: str) -> str:
    """The command of pdb alone that a line begins with; empty where there is none."""
    word = _FIRST.match(text.strip())
    return word[0] if word is not None and word[0] in OF_PDB else ""


def _is_python(text: str) -> bool:
    try:
        ast.parse(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
