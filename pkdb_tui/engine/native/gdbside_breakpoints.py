"""Runs inside gdb: breakpoints at addresses, hardware watchpoints, and where a step may end."""

from __future__ import annotations

from typing import Any

import gdb

from pkdb_tui.engine.native import gdbside_frames as frames
from pkdb_tui.engine.native.gdbside_places import Place
from pkdb_tui.engine.native.gdbside_symbols import Body, function_at, lines_of, same_function

REGISTERS = 4  # debug registers of a processor, eight bytes each


def insert(argument: Body) -> Body:
    """A breakpoint at an address, `owner`'s or one of the debugger's own; its gdb number."""
    if argument.get("owner"):
        made = Place(argument["address"], argument["owner"], argument["when"], argument["why"])
        return {"number": made.number}
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
    """A hardware watchpoint on an expression in a thread's selected kernel frame: its number.

    Where too few registers are free, how many there are and are needed.
    """
    frames.select(argument["thread"])
    frame = next(iter(frames.kernel_frames()), None)
    if frame is not None:
        frame.select()
    needed = registers(gdb.parse_and_eval(argument["expression"]))
    if taken_registers() + needed > REGISTERS:
        return {"registers": REGISTERS, "needed": needed}
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


def renew(argument: Body) -> list[int]:
    """Put watchpoints in anew, a stopped thread being selected; those that could not be."""
    if argument["thread"]:
        frames.select(argument["thread"])
    wanted = set(argument["numbers"])
    for breakpoint in gdb.breakpoints():
        if breakpoint.number in wanted:
            breakpoint.enabled = False
            breakpoint.enabled = True
    known = {breakpoint.number: breakpoint for breakpoint in gdb.breakpoints()}
    return [number for number in wanted if number not in known or not known[number].enabled]


def registers(value: Any) -> int:
    """Debug registers that watching a value takes: each watches 1, 2, 4 or 8 bytes at a multiple of as many."""
    size = int(value.type.strip_typedefs().sizeof)
    address = int(value.address) if value.address is not None else 0
    count = 0
    while size > 0:
        width = next(width for width in (8, 4, 2, 1) if width <= size and address % width == 0)
        address, size, count = address + width, size - width, count + 1
    return count


def taken_registers() -> int:
    """Those taken already; a watchpoint that can't be evaluated any more has left its scope."""
    taken = 0
    for breakpoint in gdb.breakpoints():
        if breakpoint.type == gdb.BP_HARDWARE_WATCHPOINT:
            try:
                taken += registers(gdb.parse_and_eval(breakpoint.expression))
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
