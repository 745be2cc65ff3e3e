"""Kernels in the editor: opened, checked while one types, installed for later launches."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pkdb_tui import state_files
from pkdb_tui.engine import kernel_text
from pkdb_tui.engine.api import EditChanged, EditCheck, FrameKind, KernelSpan, Notice, Severity, Substitution
from pkdb_tui.engine.carried import Carried, Text, real
from pkdb_tui.engine.edit import Edit
from pkdb_tui.engine.edit_checks import checked
from pkdb_tui.engine.errors import PkdbError

if TYPE_CHECKING:
    from pkdb_tui.engine.session import Session

PATIENCE = 0.3  # seconds without a key after which the draft is kept and checked
NONE_OPEN = PkdbError("No kernel is in the editor.", "`edit KERNEL` opens one.")
BLOCKED = PkdbError("Python waits for the kernel that runs, so nothing can be installed.", "Finish the kernel first.")


class Edits:
    """All kernels opened so far; `current` is the one in the editor."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._edits: dict[tuple[str, str, int], Edit] = {}
        self.current: Edit | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._turn = asyncio.Lock()
        self._carried = Carried(session.book)
        self.in_editor = False  # whether the screen's editor has the draft; else a file that the person changes

    def require(self) -> Edit:
        """Raises PkdbError when no kernel is open."""
        if self.current is None:
            raise NONE_OPEN
        return self.current

    # --- opening ---

    async def open(self, *, name: str = "", file: str = "", line: int = 0) -> Edit:
        """The kernel of a name or around a line, else the one that the stop is in. Raises PkdbError."""
        path, span = await self._find(name, file, line)
        alone = kernel_text.is_alone(path, span.name)
        key = (path, span.name, 0 if alone else span.first_line)
        edit = self._edits.get(key)
        if edit is None:
            edit = Edit(kernel_text.read(path, span.first_line, span.last_line), span.name, alone=alone)
            self._edits[key] = edit
            if said := edit.restore():
                self._session.emit(Notice(text=said, severity=Severity.INFO))
        self.current = edit
        edit.look_at_file()
        if edit.text != edit.loaded:
            edit.check = EditCheck.CHECKING
        self._begin_check()
        self.tell(opened=True)
        return edit

    async def _find(self, name: str, file: str, line: int) -> tuple[str, KernelSpan]:
        if name:
            return await self._named(name, file)
        if line:
            return await self._around(file, line)
        return await self._focused()

    async def _named(self, name: str, file: str) -> tuple[str, KernelSpan]:
        known = [edit for (path, kernel, _), edit in self._edits.items() if kernel == name and file in ("", path)]
        if len(known) == 1:
            return known[0].file, _span(known[0])
        session = self._session
        frames = session.snapshot.frames if session.snapshot is not None else ()
        for path in dict.fromkeys([file] if file else [*(frame.file for frame in frames if frame.file), session.file]):
            found = [span for span in await self._spans(path) if span.name == name]
            if len(found) > 1:
                places = " or ".join(f"{os.path.basename(path)}:{span.first_line}" for span in found)
                raise PkdbError(f"`{name}` may be the kernel at {places}.", "Write one of these places.")
            if found:
                return path, found[0]
        if file:
            raise PkdbError(f"{os.path.basename(file)} has no kernel {name}.", "Write FILE:LINE of a kernel's line.")
        body = await session.connection.request("findKernel", name=name)
        return body["file"], KernelSpan(name=name, first_line=body["firstLine"], last_line=body["lastLine"], lines=())

    async def _around(self, path: str, line: int) -> tuple[str, KernelSpan]:
        for edit in self._edits.values():
            if any(variant.path == path for variant in edit.variants):
                return edit.file, _span(edit)
        found = [span for span in await self._spans(path) if span.first_line <= line <= span.last_line]
        if not found:
            raise PkdbError(f"Line {line} of {os.path.basename(path)} is in no kernel.", "Write `edit KERNEL`.")
        return path, max(found, key=lambda span: span.first_line)

    async def _focused(self) -> tuple[str, KernelSpan]:
        """The kernel of the stop, or the one that its line launches, or else the one opened last."""
        snapshot = self._session.snapshot
        if snapshot is not None and self._session.phase.stopped:
            entry = next((f for f in reversed(snapshot.frames) if f.kind is FrameKind.KERNEL), None)
            if entry is not None:  # the outermost kernel frame: functions that it calls are not launched
                return await self._around(entry.file, entry.line)
            place = snapshot.location
            for launch in self._session.launches:
                if (launch.file, launch.line) == (place.file, place.line):
                    return await self._named(launch.stands_for or launch.kernel, "")
            try:
                return await self._around(place.file, place.line)
            except PkdbError:
                pass
        if self.current is not None:
            return self.current.file, _span(self.current)
        raise PkdbError("The program is at no kernel, nor at a line that has launched one.", "Write `edit KERNEL`.")

    async def _spans(self, path: str) -> Sequence[KernelSpan]:
        if self._session.placing.python_blocked:  # nobody answers: the kernel of the stop is known all the same
            kernel = self._session.kernels.kernel
            if kernel is None or kernel.file != path:
                return ()
            first, last = kernel.first_line, kernel.last_line
            return (KernelSpan(name=kernel.kernel, first_line=first, last_line=last, lines=()),)
        return (await self._session.describe_file(path)).kernels

    # --- a draft that the person changes with an editor of theirs ---

    async def hand_out(self) -> str:
        """The path of a file with the draft, as the person left it. Raises PkdbError where it can't be written."""
        edit = self.require()
        self.take_in()
        try:
            await asyncio.to_thread(edit.hand_out)
        except OSError as error:
            text = f"The draft can't be written to {edit.draft_file}: {error.strerror}."
            raise PkdbError(text, state_files.REMEDY) from error
        return str(edit.draft_file)

    def take_in(self) -> None:
        """Read that file, if there is one. Raises PkdbError where it can't be read."""
        edit = self.require()
        if not self.in_editor and (text := edit.handed_out()):
            self.type(text)

    # --- typing and checking ---

    def type(self, text: str) -> None:
        """The draft is another one; it is kept and checked once nothing more is typed for a moment."""
        edit = self.require()
        if text == edit.text:
            return
        edit.text, edit.check, edit.said, edit.problems = text, EditCheck.CHECKING, "", ()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(PATIENCE, self._begin_check)

    def _begin_check(self) -> None:
        self._session.spawn(self.check())

    async def check(self) -> None:
        """Keep the draft on disk and check it; at once, and one check at a time."""
        edit = self.require()
        if self._timer is not None:
            self._timer.cancel()
        async with self._turn:
            await self._keep(edit)
            edit.look_at_file()
            if edit.check is EditCheck.CHECKING or not edit.said:
                self.tell()
                await checked(edit, self._session.connection, blocked=self._session.placing.python_blocked)
        self.tell()

    async def _keep(self, edit: Edit) -> None:
        if edit.text == edit.source.text and not edit.variants and not edit.folder.exists():
            return
        try:
            await asyncio.to_thread(edit.save_draft)
        except OSError as error:
            edit.warning = f"The draft can't be kept in {edit.folder}: {error.strerror}."

    def keep_now(self) -> None:
        """Write the draft at once: the session ends."""
        edit = self.current
        if edit is not None and edit.text != edit.source.text:
            edit.save_draft()

    def tell(self, *, opened: bool = False) -> None:
        edit = self.current
        if edit is not None:
            state = edit.state(self.places(edit))
            self._session.emit(EditChanged(edit=state, opened=opened))

    # --- breakpoints ---

    def carry(self) -> None:
        """Have the breakpoints of edited kernels in the texts that run in their place, too."""
        sources = {rule.source for rule in self._session.substitutions.public()}
        for edit in self._edits.values():
            texts = {v.path: Text(real(v.path), v.first_line, v.text) for v in edit.variants}
            edit.ran |= {path: text for path, text in texts.items() if path in sources}
            earlier = [text for path, text in edit.ran.items() if path not in sources]
            running = [text for path, text in edit.ran.items() if path in sources]
            self._carried.follow(edit.original, running, earlier)
            edit.ran = {path: text for path, text in edit.ran.items() if path in sources}

    async def rules_changed(self) -> None:
        """Other texts run than before."""
        before = self._session.breakpoints
        self.carry()
        if self._session.breakpoints != before:
            await self._session.placing.changed()
        self.tell()

    # --- installing ---

    def rules_of(self, edit: Edit) -> list[Substitution]:
        """The enabled rules by which texts of a kernel run."""
        known = (edit.file, edit.kernel)
        rules = self._session.substitutions.public()
        return [rule for rule in rules if rule.enabled and rule.source and (rule.origin, rule.kernel) == known]

    def places(self, edit: Edit) -> dict[str, tuple[str, ...]]:
        """Where each variant's file runs; "" among the places is everywhere."""
        found: dict[str, tuple[str, ...]] = {}
        for rule in self.rules_of(edit):
            place = f"{os.path.basename(rule.file)}:{rule.line}" if rule.line else ""
            found[rule.source] = (*found.get(rule.source, ()), place)
        if not any("" in places for places in found.values()):
            found[""] = ("",)
        return found

    async def install(self, *, file: str = "", line: int = 0) -> str:
        """Let the draft run from the kernel's next launch on, everywhere or at one line; what is to be said of it.

        Raises PkdbError when it is wrong.
        """
        edit = self.require()
        if self._session.placing.python_blocked:
            raise BLOCKED
        await self.check()
        if edit.check is EditCheck.WRONG:
            problem = edit.problems[0]
            at = f"line {problem.line}: " if problem.line else ""
            raise PkdbError(f"{edit.kernel} is not installed: {at}{problem.message}.", "The one before stays.")
        where = f" at {os.path.basename(file)}:{line}" if line else ""
        if edit.text == edit.loaded:
            return await self._uninstall(edit, file, line, where)
        variant = edit.keep()
        rule = Substitution(
            id=0,
            kernel=edit.kernel,
            replacement=f"edit {variant.number}",
            file=file,
            line=line,
            source=variant.path,
            origin=edit.file,
            first_line=0 if edit.alone else edit.first_line,
        )
        await self._session.substitutions.install(rule)
        await self.rules_changed()
        await self._keep(edit)
        return f"Edit {variant.number} runs for {edit.kernel}{where} from the next launch on."

    async def _uninstall(self, edit: Edit, file: str, line: int, where: str) -> str:
        rules = [rule.id for rule in self.rules_of(edit) if (rule.file, rule.line) == (file, line)]
        await self._session.substitutions.remove(rules)
        await self.rules_changed()
        if rules:
            return f"{edit.kernel} runs as the program has it again{where}, from the next launch on."
        return f"{edit.kernel} is as the program has it{where}: nothing was to be done."

    def launching_line(self) -> tuple[str, int]:
        """The Python line of the stop that launches: the selected frame's, in a kernel the one that launched it."""
        snapshot = self._session.require_stop()
        frame = snapshot.location
        if frame.kind is not FrameKind.PYTHON:
            frame = next((f for f in snapshot.frames if f.kind is FrameKind.PYTHON), frame)
        return os.path.realpath(frame.file), frame.line


def _span(edit: Edit) -> KernelSpan:
    return KernelSpan(name=edit.kernel, first_line=edit.first_line, last_line=edit.source.last_line, lines=())
