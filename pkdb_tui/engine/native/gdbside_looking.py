"""Runs inside gdb: stacks, variables and memory."""

from __future__ import annotations

from typing import Any

import gdb

from pkdb_tui.engine.native import gdbside_frames as frames
from pkdb_tui.engine.native import gdbside_values as values
from pkdb_tui.engine.native.gdbside_symbols import Body


def view(argument: Body) -> Body:
    """Frames of a thread and the variables of its innermost kernel frame, in one answer."""
    frames.select(argument["thread"])
    found = frames.all_frames(argument.get("watched", False))
    bodies = [frames.frame_body(frame, glue, argument.get("watched", False)) for frame, glue in found]
    innermost = next((frame for frame, glue in found if not glue), None)
    listed = values.variables(innermost) if innermost is not None else []
    return {"frames": bodies, "level": innermost.level() if innermost is not None else -1, "variables": listed}


def variables(argument: Body) -> list[Body]:
    frames.select(argument["thread"])
    for frame, _ in frames.all_frames(argument.get("watched", False)):
        if frame.level() == argument["level"]:
            return values.variables(frame)
    raise gdb.GdbError(f"there is no frame {argument['level']}")


def variables_of_threads(argument: Body) -> list[Any]:
    names = set(argument["names"])
    answer = []
    for number in argument["threads"]:
        frames.select(number)
        found = frames.all_frames(number in argument["watched"])
        frame = next((frame for frame, glue in found if not glue), None)
        answer.append([number, values.variables(frame, names) if frame is not None else []])
    return answer


def read(argument: Body) -> list[str]:
    """Bytes at (address, length) pairs, as hex."""
    inferior = gdb.selected_inferior()
    answer = []
    for address, length in argument["regions"]:
        try:
            answer.append(bytes(inferior.read_memory(address, length)).hex())
        except gdb.MemoryError:
            raise gdb.GdbError(f"the memory at {address:#x} can't be read") from None
    return answer


def write(argument: Body) -> Body:
    try:
        gdb.selected_inferior().write_memory(argument["address"], bytes.fromhex(argument["data"]))
    except gdb.MemoryError:
        raise gdb.GdbError(f"the memory at {argument['address']:#x} can't be written") from None
    return {}
