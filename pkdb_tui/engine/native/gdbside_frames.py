"""Runs inside gdb: the frames of a stopped thread, down to the workunit call."""

from __future__ import annotations

import os
import re
from typing import Any

import gdb

from pkdb_tui.engine.native import gdbside_names as names
from pkdb_tui.engine.native.gdbside_symbols import Body, kernel

DEEPEST = 512  # frames looked at
THREADING = re.compile(r"^lib(g|i|)omp")
WAITING = re.compile(r"barrier|^gomp_|^GOMP_|^__kmp|futex|sched_yield")


def select(number: int) -> Any:
    for thread in gdb.selected_inferior().threads():
        if thread.num == number:
            thread.switch()
            return thread
    raise gdb.GdbError(f"there is no thread {number}")


def is_entry(frame: Any) -> bool:
    """Whether a frame is a workunit call: the entry's function, or a lambda that isn't called by one."""
    entry = kernel.get("entry", "")
    if not entry:
        return False
    if names.is_lambda(full_name(frame)):
        return entry.endswith("::operator()") and is_python(frame) and not is_nested(frame)
    name = names.qualified(frame.name())
    # An optimised build's line tables know functions without their namespaces.
    return name == entry or name.endswith("::" + entry) or name == entry.rsplit("::", 1)[-1]


def is_python(frame: Any) -> bool:
    sal = frame.find_sal()
    return sal.symtab is not None and bool(names.python_name(sal.symtab.filename))


def full_name(frame: Any) -> str:
    function = frame.function()
    return str(function.name if function is not None else frame.name() or "")


def is_nested(frame: Any, limit: int = 64) -> bool:
    """Whether a workunit call lies around a lambda."""
    for _ in range(limit):
        try:
            frame = frame.older()
        except gdb.error:
            return False
        if frame is None:
            return False
        if not names.is_lambda(full_name(frame)) and names.qualified(frame.name()) == kernel["entry"]:
            return True
    return False


def kernel_frames(limit: int = DEEPEST) -> list[Any]:
    """Frames from the newest to the entry, those that stand in Python lines."""
    frame = gdb.newest_frame()
    found = []
    for _ in range(limit):
        if frame is None:
            break
        sal = frame.find_sal()
        if sal.symtab is not None and names.python_name(sal.symtab.filename):
            found.append(frame)
        if is_entry(frame):
            break
        try:
            frame = frame.older()
        except gdb.error:
            break
    return found


def all_frames(watched: bool = False, limit: int = DEEPEST) -> list[tuple[Any, bool]]:
    """(frame, whether it is glue) from the newest down to the entry; empty when no Python line is among them."""
    frame, found, useful = gdb.newest_frame(), [], False
    for _ in range(limit):
        if frame is None:
            break
        # A watchpoint stops behind the instruction that wrote.
        sal = gdb.find_pc_line(frame.pc() - 1) if watched and frame.level() == 0 else frame.find_sal()
        python = bool(sal.symtab is not None and names.python_name(sal.symtab.filename))
        useful = useful or python
        found.append((frame, not python))
        if is_entry(frame):
            break
        try:
            frame = frame.older()
        except gdb.error:
            break
    return found if useful else []


def entry_level(limit: int = DEEPEST) -> int:
    """How many frames lie between the newest and the workunit call; -1 outside of one."""
    frame = gdb.newest_frame()
    for level in range(limit):
        if frame is None:
            return -1
        if is_entry(frame):
            return level
        try:
            frame = frame.older()
        except gdb.error:
            return -1
    return -1


def in_barrier(limit: int = 12) -> bool:
    """Whether a thread is in code that waits for other threads, below the innermost Python line."""
    frame = gdb.newest_frame()
    if THREADING.search(os.path.basename(gdb.solib_name(frame.pc()) or "")):
        return True
    for _ in range(limit):
        if frame is None:
            return False
        sal = frame.find_sal()
        if sal.symtab is not None and names.python_name(sal.symtab.filename):
            return False
        if WAITING.search(frame.name() or ""):
            return True
        try:
            frame = frame.older()
        except gdb.error:
            return False
    return False


def frame_body(frame: Any, glue: bool, watched: bool = False) -> Body:
    sal = frame.find_sal()
    if watched and frame.level() == 0:
        sal = gdb.find_pc_line(frame.pc() - 1)
    name = names.plain_name(frame.name())
    if is_entry(frame):
        name = names.workunit(full_name(frame), kernel.get("name", ""), kernel.get("entry", ""))
    elif names.is_lambda(full_name(frame)):
        name = "lambda"
    file = sal.symtab.filename if sal.symtab is not None else ""
    return {
        "level": frame.level(),
        "function": name or "?",
        "file": names.python_name(file) or file,
        "line": sal.line,
        "glue": glue,
    }
