"""What is kept of a program between sessions: its breakpoints, watches and the screen's layout.

One JSON file a program, in the folder PKDB_STATE names, else in the user's state folder. A file that can't be used is
left aside with a notice, and is kept under another name when the next session is saved.
"""

from __future__ import annotations

import hashlib
import linecache
import os
from pathlib import Path
from typing import Any

import msgspec

from pkdb_tui import state_files
from pkdb_tui.engine import kernel_text
from pkdb_tui.engine.api import BreakpointsChanged, BreakpointSpec, LaunchOptions, Notice, Severity
from pkdb_tui.engine.errors import PkdbError
from pkdb_tui.engine.session import Session

VERSION = 1


class SavedBreakpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A breakpoint and the text of its line then, by which a changed file is noticed."""

    spec: BreakpointSpec
    enabled: bool = True
    text: str = ""


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """The file's content. `layout` is the screen's own."""

    version: int
    program: str
    breakpoints: list[SavedBreakpoint] = []
    displays: list[str] = []
    layout: dict[str, Any] = {}


class Header(msgspec.Struct, frozen=True):
    """What every version of the file has."""

    version: int


class Unusable(Exception):
    """Why a saved file is left aside."""


class Damaged(Unusable):
    """The same for one that can be read, and is kept under another name."""

    def __init__(self, why: str, path: Path) -> None:
        super().__init__(f"{why}. It is kept as {path.name}.old when this session is saved")


def program_name(options: LaunchOptions) -> str:
    """What tells one program from another; empty for one that has no name."""
    if options.module:
        return f"-m {options.module} in {os.path.realpath(options.directory or os.curdir)}"
    if options.script in ("", "-"):
        return ""
    return os.path.realpath(os.path.join(options.directory, options.script))


def path_of(program: str) -> Path:
    """The file that keeps a program's state."""
    stem = Path(program.split(" in ")[0].removeprefix("-m ")).stem
    return state_files.folder() / "programs" / f"{stem}-{hashlib.sha256(program.encode()).hexdigest()[:16]}.json"


def read(program: str) -> Saved | None:
    """What was saved; None where nothing was. Raises Unusable saying why it is left aside."""
    path = path_of(program)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unusable(f"{error.strerror}. Make it readable, or set PKDB_STATE to another folder") from error
    try:
        version = msgspec.json.decode(data, type=Header).version
        if version != VERSION:
            raise Damaged(f"it is of version {version}, and this is version {VERSION}", path)
        saved = msgspec.json.decode(data, type=Saved)
    except msgspec.DecodeError as error:
        raise Damaged(f"it is damaged: {error}", path) from error
    if saved.program != program:
        raise Damaged(f"it belongs to {saved.program}", path)
    return saved


async def restore(session: Session) -> dict[str, Any]:
    """Bring breakpoints and watches back, to be called before the start; returns the saved layout."""
    program = program_name(session.options)
    if not program:
        return {}
    try:
        saved = read(program)
    except Unusable as error:
        _tell(session, f"What was saved for this program in {path_of(program)} is left aside: {error}.")
        return {}
    if saved is None:
        return {}
    for each in saved.breakpoints:
        await _restore_breakpoint(session, each)
    for expression in saved.displays:
        await session.add_watch(expression)
    session.emit(BreakpointsChanged(breakpoints=session.breakpoints))
    if back := _counted(len(session.breakpoints), "breakpoint") + _counted(len(session.watches), "display"):
        session.emit(Notice(text=f"Back from the last session: {', '.join(back)}."))
    return saved.layout


async def _restore_breakpoint(session: Session, saved: SavedBreakpoint) -> None:
    spec = saved.spec
    try:
        made = await session.add_breakpoint(spec, enabled=saved.enabled)
    except PkdbError as error:
        _tell(session, f"A saved breakpoint is left aside: {error}")
        return
    if spec.line and line_text(spec) != saved.text:
        note = f"line {spec.line} of {os.path.basename(spec.file)} changed since this breakpoint was saved"
        session.book[made.id].note = note
        _tell(session, f"Breakpoint {made.id}: {note}.")


def save(session: Session, layout: dict[str, Any] | None = None) -> str:
    """Keep breakpoints, watches and the layout for the next session; what went wrong, empty when nothing did."""
    program = program_name(session.options)
    if not program:
        return ""
    saved = Saved(
        version=VERSION,
        program=program,
        breakpoints=[
            SavedBreakpoint(spec=each.spec, enabled=each.enabled, text=line_text(each.spec))
            for each in session.breakpoints
            if not each.spec.temporary and not each.spec.watch and not kernel_text.is_edited(each.file)
        ],
        displays=[watch.expression for watch in session.watches],
        layout=layout or {},
    )
    path = path_of(program)
    if not (saved.breakpoints or saved.displays or saved.layout or path.exists()):
        return ""
    try:
        _keep_unusable(program, path)
        state_files.write(path, msgspec.json.format(msgspec.json.encode(saved)))
    except OSError as error:
        return f"Breakpoints and watches could not be saved in {path}: {error.strerror}. {state_files.REMEDY}"
    return ""


def line_text(spec: BreakpointSpec) -> str:
    """The text of a breakpoint's line as the file is now, blanks at its ends left out."""
    if not spec.line:
        return ""
    linecache.checkcache(spec.file)
    return linecache.getline(spec.file, spec.line).strip()


def _keep_unusable(program: str, path: Path) -> None:
    try:
        read(program)
    except Damaged:
        os.replace(path, f"{path}.old")
    except Unusable:
        return  # writing it will say why it can't be


def _counted(count: int, word: str) -> list[str]:
    return [f"{count} {word}{'' if count == 1 else 's'}"] if count else []


def _tell(session: Session, text: str) -> None:
    session.emit(Notice(text=text, severity=Severity.WARNING))
