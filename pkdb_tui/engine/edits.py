"""Kernels in the editor: opened, checked while one types, installed for later launches."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from pkdb_tui import state_files
from pkdb_tui.engine import kernel_text
from pkdb_tui.engine.api import (
    EditChanged,
    EditCheck,
    EditState,
    Notice,
    Severity,
    Substitution,
)
from pkdb_tui.engine.carried import Carried, Text, real
from pkdb_tui.engine.edit import Edit
from pkdb_tui.engine.edit_checks import compiled, readable
from pkdb_tui.engine.edit_finding import KernelFinder
from pkdb_tui.engine.errors import PkdbError, UsageError

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
        self._turn = asyncio.Lock()  # of those who have the program compile
        self._keeping = asyncio.Lock()
        self._carried = Carried(session.book)
        self._finder = KernelFinder(session, self)
        self.in_editor = False  # whether the screen's editor has the draft; else a file that the person changes

    def require(self) -> Edit:
        """Raises PkdbError when no kernel is open."""
        if self.current is None:
            raise NONE_OPEN
        return self.current

    def known(self) -> list[Edit]:
        return list(self._edits.values())

    # --- opening ---

    async def open(self, *, name: str = "", file: str = "", line: int = 0) -> Edit:
        """The kernel of a name or around a line, else the one that the stop is in. Raises PkdbError."""
        path, span = await self._finder.find(name, file, line)
        alone = kernel_text.is_alone(path, span.name)
        key = (path, span.name, 0 if alone else span.first_line)
        edit = self._edits.get(key)
        if edit is None:
            edit = Edit(kernel_text.read(path, span.first_line, span.last_line), span.name, alone=alone)
            if not any(each.file == edit.file for each in self._edits.values()):  # the others may have saved it
                edit.compare_with_start(self._session.life.started)
            self._edits[key] = edit
            edit.restored = edit.restore()
            if edit.restored and not self.in_editor:  # which says it itself
                self._session.emit(Notice(text=edit.restored, severity=Severity.INFO))
        self.current = edit
        edit.look_at_file()
        if edit.text != edit.loaded:
            edit.check = EditCheck.CHECKING
        self._begin_check()
        self.tell()
        return edit

    # --- a draft that the person changes with an editor of theirs ---

    async def hand_out(self, *, taking: bool = True) -> str:
        """The path of a file with the draft, `taking` what the person left there. Raises PkdbError."""
        edit = self.require()
        if taking:
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
        edit.restored = ""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(PATIENCE, self._begin_check)

    def _begin_check(self) -> None:
        self._session.spawn(self.check())

    async def check(self) -> None:
        """Keep the draft on disk and check it at once; compiling waits for an earlier draft's end."""
        edit = self.require()
        if self._timer is not None:
            self._timer.cancel()
        async with self._keeping:
            await asyncio.to_thread(edit.keep_draft)
        edit.look_at_file()
        if edit.check is EditCheck.CHECKING or not edit.said:
            self.tell()
            text = edit.text
            if readable(edit):
                async with self._turn:
                    if edit.text == text:
                        blocked = self._session.placing.python_blocked
                        await compiled(edit, self._session.connection, blocked=blocked)
        self.tell()

    def keep_now(self) -> None:
        """Write all drafts at once: the session ends."""
        for edit in self._edits.values():
            edit.keep_draft()
            if edit.unkept:
                self._session.emit(Notice(text=edit.unkept, severity=Severity.WARNING))

    def state(self) -> EditState:
        """Raises PkdbError when no kernel is open."""
        edit = self.require()
        return edit.state(self.places(edit))

    def tell(self) -> None:
        if self.current is not None:
            self._session.emit(EditChanged(edit=self.state()))

    def begin_anew(self) -> None:
        """The program is started again: its kernels are those of the files as they are now."""
        for edit in self._edits.values():
            with suppress(PkdbError):  # a kernel that is gone; opening it will say so
                edit.begin_anew()

    # --- other texts, and the file ---

    async def use(self, number: int) -> str:
        """Take a text of before for the draft, 0 for the program's own; what is to be said of it."""
        edit = self.require()
        found = next((each for each in edit.state({}).variants if each.number == number), None)
        if found is None:
            raise UsageError(f"There is no edit {number} of {edit.kernel}.", "`edit --history` lists them.")
        await self._exchange(edit, found.text)
        return f"{f'Edit {number}' if number else 'The text of the program'} is in the editor; it is not installed yet."

    async def reload(self) -> str:
        """Take the text that the file has now for the draft; what is to be said of it."""
        edit = self.require()
        edit.take(edit.located())
        await self._exchange(edit, edit.source.text)
        return f"{edit.kernel} is as {os.path.basename(edit.file)} has it now."

    async def _exchange(self, edit: Edit, text: str) -> None:
        """Another draft; the one before can be gone back to."""
        if edit.text not in (edit.loaded, edit.source.text, text):
            edit.keep()
        self.type(text)
        if not self.in_editor:
            await self.hand_out(taking=False)
        await self.check()

    async def save(self, *, anyway: bool = False) -> str:
        """Put the draft into the program's file; what is to be said of it. Raises FileChanged, PkdbError."""
        edit = self.require()
        same = edit.text == edit.source.text
        edit.save(anyway=anyway)
        await self.check()
        where = f"{edit.kernel} is saved in {os.path.basename(edit.file)}"
        if same:
            return f"{where} already."
        if edit.check is EditCheck.WRONG:
            return f"{where}, though it is wrong: {edit.problems[0].message}."
        return f"{where}; this run of the program has it only where it is installed."

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
            first_line=0 if edit.alone else edit.original.first_line,
        )
        await self._session.substitutions.install(rule)
        await self.rules_changed()
        await asyncio.to_thread(edit.keep_draft)
        return f"Edit {variant.number} runs for {edit.kernel}{where} from the next launch on."

    async def _uninstall(self, edit: Edit, file: str, line: int, where: str) -> str:
        rules = [rule.id for rule in self.rules_of(edit) if (rule.file, rule.line) == (file, line)]
        await self._session.substitutions.remove(rules)
        await self.rules_changed()
        if rules:
            return f"{edit.kernel} runs as the program has it again{where}, from the next launch on."
        return f"{edit.kernel} is as the program has it{where}: nothing was to be done."
