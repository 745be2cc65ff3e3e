"""Runs inside gdb: breakpoints at addresses, hardware watchpoints, and where a step may end."""

from __future__ import annotations

from typing import Any

import gdb

from pkdb_tui.engine.native import gdbside_frames as frames
from pkdb_tui.engine.native.gdbside_places import Place
from pkdb_tui.engine.native.gdbside_symbols import Body, function_at, lines_of, same_function

WATCH_WORDS = 4  # debug registers of a processor, eight bytes each


def insert(argument: Body) -> Body:
    """A breakpoint at an address, `owner`'s or one of the debugger's own; its gdb number."""
    if argument.get("owner"):
        return {"number": Place(argument["address"], argument["owner"]).number}
    text = f"*{argument['address']}"
    breakpoint = gdb.Breakpoint(text, internal=False, temporary=False)
    try:
        if argument.get("condition"):
            breakpoint.condition = argument["condition"]
        if argument.get("thread"):
            breakpoint.thread = argument["thread"]
    except gdb.error as error:
        breakpoint.delete()
        raise gdb.GdbError(str(error)) from None
    return {"number": breakpoint.number}


def watch(argument: Body) -> Body:
    """A hardware watchpoint on an expression in a thread's selected kernel frame."""
    frames.select(argument["thread"])
    frame = next(iter(frames.kernel_frames()), None)
    if frame is not None:
        frame.select()
    if watched_words() + words(gdb.parse_and_eval(argument["expression"])) > WATCH_WORDS:
        raise gdb.GdbError(f"no hardware watchpoint is free: the processor has {WATCH_WORDS}")
    breakpoint = gdb.Breakpoint(argument["expression"], gdb.BP_WATCHPOINT, gdb.WP_WRITE)
    try:
        if breakpoint.type != gdb.BP_HARDWARE_WATCHPOINT:
            raise gdb.GdbError("this can't be watched by the processor")
        if argument.get("condition"):
            breakpoint.condition = argument["condition"]
    except gdb.error as error:
        breakpoint.delete()
        raise gdb.GdbError(str(error)) from None
    return {"number": breakpoint.number}


def words(value: Any) -> int:
    """Debug registers that watching a value takes."""
    return (int(value.type.strip_typedefs().sizeof) + 7) // 8


def watched_words() -> int:
    """Debug registers taken already; one that can't be evaluated any more has left its scope."""
    taken = 0
    for breakpoint in gdb.breakpoints():
        if breakpoint.type == gdb.BP_HARDWARE_WATCHPOINT:
            try:
                taken += words(gdb.parse_and_eval(breakpoint.expression))
            except gdb.error:
                taken += 1
    return taken


def remove(argument: Body) -> Body:
    wanted = set(argument["numbers"])
    for breakpoint in gdb.breakpoints():
        if breakpoint.number in wanted:
            breakpoint.delete()
    return {}


def enable(argument: Body) -> Body:
    wanted = set(argument["numbers"])
    for breakpoint in gdb.breakpoints():
        if breakpoint.number in wanted:
            breakpoint.enabled = argument["enabled"]
    return {}


def beyond(argument: Body) -> Body:
    """Where a thread leaves the lines up to its own: later lines of its function, and its caller.

    Returns the stack pointer too: a deeper call of the same function is not meant.
    """
    frames.select(argument["thread"])
    frame = gdb.newest_frame()
    sal, function = frame.find_sal(), function_at(frame.pc())
    table = lines_of(sal.symtab.filename if sal.symtab is not None else "")
    found = [
        address
        for line, addresses in table.items()
        if line > sal.line
        for address in addresses
        if same_function(function_at(address), function)
    ]
    if not frames.is_entry(frame) and frame.older() is not None:
        found.append(frame.older().pc())
    return {"addresses": sorted(found), "stack": int(gdb.parse_and_eval("(unsigned long) $sp"))}


def outward(argument: Body) -> Body:
    """Let a thread run until it is back in the frame that is so many levels out."""
    frames.select(argument["thread"])
    frame = gdb.newest_frame()
    for _ in range(argument["levels"] - 1):
        frame = frame.older()
    frame.select()
    gdb.execute("finish&", to_string=True)
    return {}
