"""Lets tracing be off in the main thread while nothing needs it (3.11), and knows when that is safe."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType

from pkdb_tui.engine.debuggee.breakpoints import BreakpointTable, CodeInfo
from pkdb_tui.engine.debuggee.code_hooks import compiles_bytecode, functions_of, hooked_copy, may_hook, replace_code
from pkdb_tui.engine.debuggee.sources import is_function, nested, real_path


class Resting:
    """Which code with breakpoints calls the debugger by itself; all other code needs tracing to be on."""

    def __init__(self, table: BreakpointTable, entered: Callable[[], None]) -> None:
        self._table = table
        self._entered = entered
        self._kept: dict[int, tuple[CodeType, CodeType]] = {}  # by the original's and the copy's id
        self.settled = False

    def unsettle(self) -> None:
        """The breakpoints changed, or code of a file with breakpoints ran anew."""
        self.settled = False

    def executed(self, code: CodeType) -> None:
        """A module's code is about to run: its functions will be made again, without hooks."""
        for inner in nested(code):
            self._kept.pop(id(inner), None)
        self.settled = False

    def settle(self) -> bool:
        """Try to give each code object with breakpoints its hook; True when tracing can rest."""
        if not self.settled:
            self.settled = all(self._hooked(info) for info in self._table.infos_with_breakpoints())
        return self.settled

    def needed_by(self, frame: FrameType | None) -> bool:
        """Whether a frame of this stack has breakpoints."""
        infos = self._table.infos
        while frame is not None:
            info = infos.get(id(frame.f_code))
            if info is not None and info.breakpoints:
                return True
            frame = frame.f_back
        return False

    def _hooked(self, info: CodeInfo) -> bool:
        code = info.reference()
        if code is None or info.key in self._kept:
            return True
        if not is_function(code) and "<locals>" not in code.co_qualname and not code.co_name.startswith("<l"):
            return not _module_runs(info.file)  # a module or class body runs again only by another exec
        if not may_hook(code) or self._table.in_loop(info.file, code.co_firstlineno) or compiles_bytecode():
            return False
        functions = functions_of(code)
        copy = hooked_copy(code, self._entered) if functions else None
        if copy is None:
            return False
        self._kept[id(code)] = self._kept[id(copy)] = (code, copy)
        self._table.see(copy)
        for function in functions:
            replace_code(function, copy)
        return True


def _module_runs(file: str) -> bool:
    for frame in list(sys._current_frames().values()):
        walked: FrameType | None = frame
        while walked is not None:
            code = walked.f_code
            if code.co_name == "<module>" and real_path(code.co_filename) == file:
                return True
            walked = walked.f_back
    return False
