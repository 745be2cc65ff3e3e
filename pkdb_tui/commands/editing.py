"""The commands that change a kernel's text while the program is debugged; the editor's keys are made of them."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable

from pkdb_tui.commands.locations import parse_place, shown_path
from pkdb_tui.commands.registry import ANY, Reply, registry
from pkdb_tui.engine.api import EditCheck
from pkdb_tui.engine.edit import Edit
from pkdb_tui.engine.errors import UsageError
from pkdb_tui.engine.session import Session

GROUP = "Changing the program"
USAGE = "Write `edit KERNEL`, `edit [FILE:]LINE`, or one of its switches: `help edit` lists them."


@registry.command(
    "edit",
    "change the text of a kernel: checked as one types, installed for its next launch, saved when told",
    usage="edit [KERNEL|[FILE:]LINE] | edit --install [here|[FILE:]LINE] | edit --check",
    details="Without a kernel, the one that the stop is in. The screen opens an editor; elsewhere the draft is a file "
    "that you change, and `edit --check` reads it. `--install` lets the draft run for the kernel from its next launch "
    "on, everywhere, or only where the line given (`here`: the stop's) launches it; the text that the program began "
    "with takes the rule away. The file itself stays as it is.",
    phases=ANY,
    group=GROUP,
)
async def edit(session: Session, text: str) -> Reply:
    if text.startswith("-"):
        switch, _, rest = text.partition(" ")
        action = SWITCHES.get(switch)
        if action is None:
            raise UsageError(f"`edit {text}` can't be understood.", USAGE)
        return await action(session, rest.strip())
    file, line, function = parse_place(session, text) if text else ("", 0, "")
    opened = await session.edits.open(name=function, file=_real(file), line=line)
    return Reply(text=await _opened(session, opened), value=opened.state(session.edits.places(opened)))


def _real(file: str) -> str:
    return os.path.realpath(file) if file else ""


async def _opened(session: Session, opened: Edit) -> str:
    place = f"{opened.kernel} at {shown_path(opened.file)}:{opened.first_line}"
    if session.edits.in_editor:
        return f"editing {place}"
    return f"{place} is in {await session.edits.hand_out()}: change it there, then `edit --check` and `edit --install`."


async def _install(session: Session, place: str) -> Reply:
    session.edits.take_in()
    file, line = "", 0
    if place == "here":
        file, line = session.edits.launching_line()
    elif place:
        file, line, function = parse_place(session, place)
        if function:
            raise UsageError(f"`{place}` is not a line.", USAGE)
    return Reply(text=await session.edits.install(file=_real(file), line=line))


async def _check(session: Session, rest: str) -> Reply:
    session.edits.take_in()
    await session.edits.check()
    return Reply(text=describe(session.edits.require()))


def describe(edit: Edit) -> str:
    """What the check of a draft found: `yax: compiled in 0.4 s`, or each problem with its line."""
    if edit.check is EditCheck.WRONG:
        name = os.path.basename(edit.file)
        places = [f"{name}:{problem.line}: " if problem.line else "" for problem in edit.problems]
        return "\n".join(place + problem.message for place, problem in zip(places, edit.problems, strict=True))
    return "\n".join(filter(None, [f"{edit.kernel}: {edit.said}", edit.warning]))


SWITCHES: dict[str, Callable[[Session, str], Awaitable[Reply]]] = {
    "-i": _install,
    "--install": _install,
    "--check": _check,
}
