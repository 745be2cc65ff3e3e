"""Whether an edited kernel can stand for the one in the file: as Python here, compiled by the program."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from pkdb_tui.engine import kernel_text
from pkdb_tui.engine.api import EditCheck, EditProblem
from pkdb_tui.engine.errors import DebuggeeLost, PkdbError

if TYPE_CHECKING:
    from pkdb_tui.engine.edit import Edit
    from pkdb_tui.engine.hotswap import Asks


def python_problem(kernel: str, original: str, text: str, first_line: int) -> EditProblem | None:
    """What Python and the rule for substitutions have against a text; None when nothing. Lines are the file's."""
    for number, row in enumerate(text.split("\n"), first_line):
        if any(char in row for char in kernel_text.ODD_BREAKS):
            return EditProblem(line=number, message="a form feed or another odd line end")
    try:
        node = kernel_text.parsed(text)
    except SyntaxError as error:
        line, column = first_line + (error.lineno or 1) - 1, (error.offset or 0) - 1
        return EditProblem(line=line, message=error.msg, column=column)
    except PkdbError as error:
        return EditProblem(line=0, message=str(error))
    except ValueError as error:
        return EditProblem(line=0, message=f"{error}.")
    line = first_line + node.lineno - 1
    if node.name != kernel:
        return EditProblem(line=line, message=f"the kernel must stay called {kernel}")
    before = kernel_text.parsed(original)
    if len(node.decorator_list) < len(before.decorator_list):
        return EditProblem(line=line, message="its decorator is gone")
    old, new = kernel_text.parameters(before), kernel_text.parameters(node)
    if old != new:
        return EditProblem(line=line, message=_difference(old, new))
    return None


def _difference(old: list[kernel_text.Parameter], new: list[kernel_text.Parameter]) -> str:
    known, given = dict(old), dict(new)
    rule = "its launches pass what the original takes, by name and annotation"
    for name, annotation in old:
        if name not in given:
            return f"the parameter {name} is gone: {rule}"
        if annotation != given[name]:
            return f"{name} is {given[name] or 'not annotated'}, {annotation or 'not annotated'} in the file: {rule}"
    for name, _ in new:
        if name not in known:
            return f"the parameter {name} is new: {rule}"
    return f"the parameters come in another order: {rule}"


def readable(edit: Edit) -> bool:
    """Whether the draft is to be compiled; else what is known without is noted in the edit."""
    text = edit.text
    if text == edit.loaded:
        _note(edit, text, EditCheck.SAME, "as the program has it")
        return False
    problem = python_problem(edit.kernel, edit.loaded, text, edit.first_line)
    if problem is not None:
        _note(edit, text, EditCheck.WRONG, "", problem)
    return problem is None


async def compiled(edit: Edit, connection: Asks, *, blocked: bool) -> None:
    """Have the program compile the draft; what came of it is noted, unless the draft is another one by then.

    `blocked` says that the program can't compile it now.
    """
    text = edit.text
    if blocked:
        _note(edit, text, EditCheck.UNTRIED, "right as Python; compiled when the kernel that runs is over")
        return
    try:
        path = str(edit.written())
    except PkdbError as error:
        _note(edit, text, EditCheck.WRONG, "", EditProblem(line=0, message=str(error)))
        return
    begun = time.monotonic()
    try:
        body = await connection.request("checkKernel", path=path, **identity(edit))
    except DebuggeeLost:
        _note(edit, text, EditCheck.UNTRIED, "right as Python; compiled when the program runs again")
        return
    except PkdbError as error:
        _note(edit, text, EditCheck.UNTRIED, f"right as Python; it can't be compiled now: {error}")
        return
    if found := body.get("problem"):
        wrong = EditProblem(line=found["line"], message=found["message"], column=found["column"])
        _note(edit, text, EditCheck.WRONG, "", wrong)
    elif body["compiled"]:
        _note(edit, text, EditCheck.FINE, f"compiled in {time.monotonic() - begun:.1f} s")
    else:
        _note(edit, text, EditCheck.UNTRIED, "right as Python; compiled at its next launch, which tells the types")


def identity(edit: Edit) -> dict[str, Any]:
    """Which kernel of the program it is, in a request."""
    return {"file": edit.file, "kernel": edit.kernel, "firstLine": 0 if edit.alone else edit.original.first_line}


def _note(edit: Edit, text: str, check: EditCheck, said: str, *problems: EditProblem) -> None:
    if edit.text == text:
        edit.check, edit.said, edit.problems = check, said, problems
