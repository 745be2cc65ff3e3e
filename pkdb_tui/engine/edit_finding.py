"""Which kernel a person means to edit, and which line of the stop launches it."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pkdb_tui.engine.api import FrameKind, KernelSpan
from pkdb_tui.engine.carried import real
from pkdb_tui.engine.edit import Edit
from pkdb_tui.engine.errors import PkdbError

if TYPE_CHECKING:
    from pkdb_tui.engine.edits import Edits
    from pkdb_tui.engine.session import Session


class KernelFinder:
    """Looks at the stop, the launch log, and the files of the program."""

    def __init__(self, session: Session, edits: Edits) -> None:
        self._session = session
        self._edits = edits

    async def find(self, name: str, file: str, line: int) -> tuple[str, KernelSpan]:
        """(its file, where it stands there) by its name, by a line in it, or of the stop. Raises PkdbError."""
        if name:
            return await self._named(name, file)
        if line:
            return await self._around(file, line)
        return await self._focused()

    async def _named(self, name: str, file: str) -> tuple[str, KernelSpan]:
        known = [edit for edit in self._edits.known() if edit.kernel == name and file in ("", edit.file)]
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
        for edit in self._edits.known():
            if any(real(variant.path) == real(path) for variant in edit.variants):
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
            spans = await self._spans(place.file)
            words = set(re.findall(r"\w+", linecache.getline(place.file, place.line)))
            found = [span for span in spans if span.first_line <= place.line <= span.last_line]
            found = found or [span for span in spans if span.name in words]  # it has not launched yet
            if len(found) == 1:
                return place.file, found[0]
        if self._edits.current is not None:
            return self._edits.current.file, _span(self._edits.current)
        raise PkdbError("The program is at no kernel, nor at a line that has launched one.", "Write `edit KERNEL`.")

    async def _spans(self, path: str) -> Sequence[KernelSpan]:
        if self._session.placing.python_blocked:  # nobody answers: the kernel of the stop is known all the same
            kernel = self._session.kernels.kernel
            if kernel is None or kernel.file != path:
                return ()
            first, last = kernel.first_line, kernel.last_line
            return (KernelSpan(name=kernel.kernel, first_line=first, last_line=last, lines=()),)
        return (await self._session.describe_file(path)).kernels


def launching_line(session: Session) -> tuple[str, int]:
    """The Python line of the stop that launches: the selected frame's, in a kernel the one that launched it."""
    snapshot = session.require_stop()
    frame = snapshot.location
    if frame.kind is not FrameKind.PYTHON:
        frame = next((f for f in snapshot.frames if f.kind is FrameKind.PYTHON), frame)
    return os.path.realpath(frame.file), frame.line


def _span(edit: Edit) -> KernelSpan:
    return KernelSpan(name=edit.kernel, first_line=edit.first_line, last_line=edit.source.last_line, lines=())
