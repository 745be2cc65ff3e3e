"""The names that code typed at a stop sees, and where what it binds is kept."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable, Mapping, Sequence
from types import CellType, FrameType, FunctionType
from typing import Any

INLINE = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
CO_OPTIMIZED = 0x01
_locals_to_fast = ctypes.pythonapi.PyFrame_LocalsToFast  # ctypes' look-up runs with the program's builtins


class Kept(Exception):
    """A name that the expression may not bind or delete."""


class Kernel:
    """Variables of a paused kernel by name: arrays as they are in memory, scalars whose new values are noted."""

    def __init__(self, values: Mapping[str, Any], arrays: Iterable[str]) -> None:
        self.values = values
        self.arrays = frozenset(arrays)
        self.changed: dict[str, Any] = {}

    def check(self, bound: Iterable[str], deleted: Iterable[str]) -> None:
        """Raises Kept for what can't be done to a kernel's variable."""
        for name in deleted:
            if name in self.values:
                raise Kept(f"`{name}` is a variable of the kernel and can't be deleted.")
        for name in bound:
            if name in self.arrays:
                raise Kept(f"`{name}` is an array of the kernel. Assign to its elements: `{name}[...] = …`.")


class Scope:
    """One frame's names, innermost first: the kernel's, the frame's own, those around a comprehension's frame.

    Comprehensions have a frame of their own before 3.12; what their function has is seen from there, too.
    """

    def __init__(self, frame: FrameType, kernel: Kernel | None = None) -> None:
        self.frame = frame
        self.globals = globals_of(frame)
        self.kernel = kernel
        self._frames = [part for part in _around(frame) if part.f_locals is not part.f_globals]
        self._own = [(part, dict(part.f_locals)) for part in self._frames]

    @property
    def module(self) -> bool:
        """Whether nothing lies in front of the globals."""
        return not self._frames and self.kernel is None

    def known(self) -> dict[str, Any]:
        """Every name in front of the globals with its value."""
        found: dict[str, Any] = {}
        for _, names in reversed(self._own):
            found.update(names)
        if self.kernel is not None:
            found.update(self.kernel.values)
        return found

    def variables(self) -> set[str]:
        """Every name that is a variable in front of the globals, also those that have no value yet."""
        found = set(self.known())
        for frame in self._frames:
            found.update(_variables(frame))
        return found

    def cells(self) -> dict[str, CellType]:
        """The cells of variables that functions of the frames share with them, where such a function is at hand."""
        found: dict[str, CellType] = {}
        for frame, names in reversed(self._own):
            for value in names.values():
                if isinstance(value, FunctionType) and value.__closure__ and value.__code__ in frame.f_code.co_consts:
                    found.update(zip(value.__code__.co_freevars, value.__closure__, strict=True))
        return found if self.kernel is None else {k: v for k, v in found.items() if k not in self.kernel.values}

    def keep(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Put what was bound or deleted between two states where it belongs."""
        missing = object()
        bound = {name: value for name, value in after.items() if before.get(name, missing) is not value}
        deleted = [name for name in before if name not in after]
        if self.kernel is not None:
            for name in [name for name in bound if name in self.kernel.values]:
                self.kernel.changed[name] = bound.pop(name)
        by_frame: dict[int, tuple[dict[str, Any], list[str]]] = {}
        for name, value in bound.items():
            by_frame.setdefault(self._owner(name), ({}, []))[0][name] = value
        for name in deleted:
            by_frame.setdefault(self._owner(name), ({}, []))[1].append(name)
        for place, (values, names) in by_frame.items():
            if place < 0:
                self.globals.update(values)
                for name in names:
                    del self.globals[name]
            else:
                store(self._frames[place], values, names)

    def _owner(self, name: str) -> int:
        """Which of the frames a name belongs to: the one that has it, else the innermost; -1 for the globals."""
        for place, (frame, names) in enumerate(self._own):
            if name in names or name in _variables(frame):
                return place
        return 0 if self._frames else -1


def globals_of(frame: FrameType) -> dict[str, Any]:
    """The globals of a frame. Where they lack its builtins, they get them: running code there puts in those of ours."""
    names = frame.f_globals
    if "__builtins__" not in names:
        names["__builtins__"] = frame.f_builtins
    return names


def _around(frame: FrameType) -> list[FrameType]:
    """The frame, and for a comprehension's those of the code that it stands in."""
    found = [frame]
    while frame.f_code.co_name in INLINE and frame.f_back is not None:
        if frame.f_code not in frame.f_back.f_code.co_consts:
            break
        frame = frame.f_back
        found.append(frame)
    return found


def _variables(frame: FrameType) -> tuple[str, ...]:
    code = frame.f_code
    if not code.co_flags & CO_OPTIMIZED:
        return ()
    names = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
    return tuple(name for name in names if not name.startswith("."))


def store(frame: FrameType, values: Mapping[str, Any], deleted: Sequence[str] = ()) -> None:
    """Bind and delete variables of a frame. Raises Kept, with all else done, where Python can't delete one."""
    names = frame.f_locals
    names.update(values)
    fast = bool(frame.f_code.co_flags & CO_OPTIMIZED)
    kept = _variables(frame) if fast and sys.version_info >= (3, 12) else ()  # 3.12 would make a deleted one None
    refused = [name for name in deleted if name in kept]
    for name in [name for name in deleted if name not in kept]:
        try:
            del names[name]
        except (TypeError, ValueError):  # 3.13.0 keeps the names of its debuggers, too
            refused.append(name)
    if fast and sys.version_info < (3, 13):
        # Its variables get what the dictionary holds; told to, they lose what it doesn't.
        clear = bool(deleted) and sys.version_info < (3, 12)
        _locals_to_fast(ctypes.py_object(frame), ctypes.c_int(clear))
    if refused:
        raise Kept(f"`{refused[0]}` can't be deleted: from 3.12 on, Python keeps the variables of a running function.")
