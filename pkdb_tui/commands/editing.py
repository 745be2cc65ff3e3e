"""The commands that change a kernel's text while the program is debugged; the editor's keys are made of them."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable

from pkdb_tui.commands.locations import parse_place, shown_path
from pkdb_tui.commands.registry import ANY, Reply, registry
from pkdb_tui.engine import kernel_text
from pkdb_tui.engine.api import EditCheck, EditState, EditVariant
from pkdb_tui.engine.edit import Edit
from pkdb_tui.engine.edit_finding import launching_line
from pkdb_tui.engine.errors import UsageError
from pkdb_tui.engine.session import Session

GROUP = "Changing the program"
USAGE = "Write `edit KERNEL`, `edit [FILE:]LINE`, or one of its switches: `help edit` lists them."


@registry.command(
    "edit",
    "change the text of a kernel: checked as one types, installed for its next launch, saved when told",
    usage="edit [KERNEL|[FILE:]LINE] | edit --install [here|[FILE:]LINE] | edit --check | --diff | --history | --use N "
    "| --save | --save! | --reload",
    details="Without a kernel, the one that the stop is in. The screen opens an editor; elsewhere the draft is a file "
    "that you change, and `edit --check` reads it. `--install` lets the draft run for the kernel from its next launch "
    "on, everywhere, or only where the line given (`here`: the stop's) launches it; the text that the program began "
    "with takes the rule away. `--history` lists the texts that were installed, `--use` takes one of them for the "
    "draft, 0 the program's own. The file itself stays as it is until `--save`, which refuses to when another program "
    "changed it meanwhile: `--save!` does it all the same, `--reload` takes the kernel from there.",
    phases=ANY,
    key="E",
    group=GROUP,
)
async def edit(session: Session, text: str) -> Reply:
    if text.startswith("-"):
        switch, _, rest = text.partition(" ")
        action = SWITCHES.get(switch)
        if action is None:
            raise UsageError(f"`edit {text}` can't be understood.", USAGE)
        session.edits.take_in()
        return await action(session, rest.strip())
    file, line, function = parse_place(session, text) if text else ("", 0, "")
    opened = await session.edits.open(name=function, file=_real(file), line=line)
    if session.edits.in_editor:
        return Reply(value=session.edits.state(), shows=session.edits)
    place = f"{opened.kernel} at {shown_path(opened.file)}:{opened.first_line}"
    path = await session.edits.hand_out()
    return Reply(
        text=f"{place} is in {path}: change it there, then `edit --check` and `edit --install`.",
        value=session.edits.state(),
    )


def _real(file: str) -> str:
    return os.path.realpath(file) if file else ""


async def _install(session: Session, place: str) -> Reply:
    file, line = "", 0
    if place == "here":
        file, line = launching_line(session)
    elif place:
        file, line, function = parse_place(session, place)
        if function:
            raise UsageError(f"`{place}` is not a line.", USAGE)
    return Reply(text=await session.edits.install(file=_real(file), line=line))


async def _check(session: Session, rest: str) -> Reply:
    await session.edits.check()
    return Reply(text=describe(session.edits.require()))


async def _use(session: Session, number: str) -> Reply:
    if not number.isdecimal():
        raise UsageError(f"`{number}` is not the number of an edit.", "`edit --history` lists them.")
    return Reply(text=await session.edits.use(int(number)))


async def _save(session: Session, rest: str) -> Reply:
    return Reply(text=await session.edits.save())


async def _save_anyway(session: Session, rest: str) -> Reply:
    return Reply(text=await session.edits.save(anyway=True))


async def _reload(session: Session, rest: str) -> Reply:
    return Reply(text=await session.edits.reload())


async def _history(session: Session, rest: str) -> Reply:
    state = session.edits.state()
    return Reply(text="\n".join(variant_row(each, state) for each in state.variants), value=state.variants)


async def _diff(session: Session, rest: str) -> Reply:
    state = session.edits.state()
    rows = kernel_text.difference(state.original, state.text, state.first_line)
    return Reply(text="\n".join(rows) or f"{state.kernel} is as the program has it", value=rows)


def variant_row(variant: EditVariant, state: EditState) -> str:
    """`edit 2  03 Dec 14:03:11  +2 -1 lines  runs everywhere`; 0 is the program's own."""
    rows = kernel_text.difference(state.original, variant.text, state.first_line)
    counts = [sum(row.startswith(sign) for row in rows) for sign in "+-"]
    when = time.strftime("%d %b %H:%M:%S", time.localtime(variant.time)) if variant.number else ""
    lines = f"+{counts[0]} -{counts[1]} lines" if variant.number else "the program's own"
    return f"edit {variant.number:<3} {when:<16} {lines:<17} {where_it_runs(variant)}".rstrip()


def where_it_runs(variant: EditVariant) -> str:
    """`runs everywhere`, `runs at p05.py:25`; empty for one that doesn't."""
    places = ", ".join(f"at {place}" if place else "everywhere" for place in variant.places)
    return f"runs {places}" if places else ""


def describe(edit: Edit) -> str:
    """What the check of a draft found: `yax: compiled in 0.4 s`, or each problem with its line."""
    if edit.check is EditCheck.WRONG:
        name = os.path.basename(edit.file)
        places = [f"{name}:{problem.line}: " if problem.line else "" for problem in edit.problems]
        return "\n".join(place + problem.message for place, problem in zip(places, edit.problems, strict=True))
    return "\n".join(filter(None, [f"{edit.kernel}: {edit.said}", edit.notice]))


SWITCHES: dict[str, Callable[[Session, str], Awaitable[Reply]]] = {
    "-i": _install,
    "--install": _install,
    "--check": _check,
    "--diff": _diff,
    "--history": _history,
    "--use": _use,
    "--save": _save,
    "--save!": _save_anyway,
    "--reload": _reload,
}
