"""Runs inside cuda-gdb: the commands `-pkdb-NAME "JSON"` for kernels on a device, which answer `^done,json="JSON"`.

A device's thread is named by its block and its place in it, three numbers each. Addresses are the device's: what its
views hold is read as global memory, since gdb's own reads of memory are the host's and give zeros there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import gdb

sys.path.append(os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3)))

from pkdb_tui.engine.native import gdbside_breakpoints as breakpoints
from pkdb_tui.engine.native import gdbside_commands as commands
from pkdb_tui.engine.native import gdbside_cuda_lines as lines
from pkdb_tui.engine.native import gdbside_frames as frames
from pkdb_tui.engine.native import gdbside_names as names
from pkdb_tui.engine.native import gdbside_values as values
from pkdb_tui.engine.native.gdbside_places import holds
from pkdb_tui.engine.native.gdbside_symbols import Body, function_at, kernel

PIECE = 1 << 20  # bytes of a device's memory read at once
GLUE = "pk_glue.cpp"  # what generated code that is nobody's line is called
GIVEN = "pk_a_"  # before the names of the arguments in the function that calls the workunit


# --- the thread in focus ---


def dimensions(name: str) -> list[int]:
    value = gdb.parse_and_eval(name)
    return [int(value[axis]) for axis in "xyz"]


def focus(argument: Body) -> None:
    """Look at the thread that `block` and `thread` name, where they do."""
    if argument.get("block") is None:
        return
    block, thread = (",".join(map(str, argument[name])) for name in ("block", "thread"))
    gdb.execute(f"cuda block ({block}) thread ({thread})", to_string=True)


def place(argument: Body) -> Body:
    """Where the thread in focus stands, and how the launch is shaped."""
    frame = gdb.newest_frame()
    sal = frame.find_sal()
    found = next(iter(frames.kernel_frames()), None)
    body: Body = {
        "pc": frame.pc(),
        "grid": dimensions("gridDim"),
        "size": dimensions("blockDim"),
        "block": dimensions("blockIdx"),
        "thread": dimensions("threadIdx"),
        "source": sal.symtab.filename if sal.symtab is not None else "",
        "file": "",
        "line": 0,
        "at_top": found is not None and found.level() == 0,
        "depth": frames.entry_level(),
        "glue": False,
    }
    body["glue"] = body["depth"] >= 0 and os.path.basename(body["source"]) == GLUE
    if found is not None:
        shown = frames.frame_body(found, False)
        body.update(file=shown["file"], line=shown["line"], level=found.level())
        body["begins"] = any(frame.pc() == pc for rows in lines.tables(body["source"], [sal.line]) for _, pc in rows)
    return body


def lines_of_threads(argument: Body) -> list[Any]:
    """The kernel line that each of these threads is in, [file, line]; an empty file outside of the workunit."""
    answer = []
    for block, thread in argument["threads"]:
        focus({"block": block, "thread": thread})
        found = next(iter(frames.kernel_frames()), None)
        shown = frames.frame_body(found, False) if found is not None else {"file": "", "line": 0}
        answer.append([shown["file"], shown["line"]])
    return answer


def view(argument: Body) -> Body:
    """Frames of a thread and the variables of its innermost kernel frame."""
    focus(argument)
    found = frames.all_frames()
    bodies = [frames.frame_body(frame, glue) for frame, glue in found]
    innermost = next((frame for frame, glue in found if not glue), None)
    listed = described(values.variables(innermost)) if innermost is not None else []
    level = innermost.level() if innermost is not None else -1
    if argument.get("fault"):
        bodies, level, listed = at_fault(bodies, level, listed)
    return {"frames": bodies, "level": level, "variables": listed}


def at_fault(bodies: list[Body], level: int, listed: list[Body]) -> tuple[list[Body], int, list[Body]]:
    """The same for a thread whose fault is told late, when it has gone on: the line is that of the fault.

    A thread that has left the workunit has no more of it than its arguments.
    """
    try:
        address = int(gdb.parse_and_eval("(unsigned long) $errorpc"))
    except gdb.error:
        return bodies, level, listed
    sal = gdb.find_pc_line(address)
    file = names.python_name(sal.symtab.filename) if sal.symtab is not None else ""
    if not address or not file:
        return bodies, level, listed
    function = function_at(address)
    name = function.name if function is not None else ""
    own = names.qualified(name).endswith("::" + kernel["entry"])
    shown = kernel.get("name", "") if own else names.plain_name(name)
    first = next((body for body in bodies if not body["glue"]), None)
    if first is not None and first["function"] == shown:
        first["line"] = sal.line
        return bodies, level, listed
    body = {"level": 0, "function": shown, "file": file, "line": sal.line, "glue": False}
    return [body], 0, given()


def given() -> list[Body]:
    """The launch's arguments, from the function that calls the workunit."""
    frame = gdb.newest_frame()
    while frame.older() is not None:
        frame = frame.older()
    found = []
    try:
        block = frame.block()
    except RuntimeError:
        return []
    while block is not None:
        for symbol in block:
            if symbol.name.startswith(GIVEN):
                found.append(values.describe(symbol.name.removeprefix(GIVEN), symbol.value(frame), "argument"))
        if block.function is not None:
            break
        block = block.superblock
    return described(found)


def described(found: list[Body]) -> list[Body]:
    """Arrays are the device's, and what is in registers or in a thread's own memory has no address to watch."""
    for body in found:
        body.pop("lvalue_address", None)
        if body.get("dtype"):
            body["space"] = "cuda"
    return found


def variables(argument: Body) -> list[Body]:
    focus(argument)
    for frame, _ in frames.all_frames():
        if frame.level() == argument["level"]:
            return described(values.variables(frame))
    raise gdb.GdbError(f"there is no frame {argument['level']}")


def variables_of_threads(argument: Body) -> list[Any]:
    wanted = set(argument["names"])
    answer = []
    for block, thread in argument["threads"]:
        focus({"block": block, "thread": thread})
        frame = next(iter(frames.kernel_frames()), None)
        answer.append(described(values.variables(frame, wanted)) if frame is not None else [])
    return answer


def fault(argument: Body) -> str:
    """What a failed bounds check says, in the frame of the function that tells it."""
    frame = gdb.newest_frame()
    try:
        found = {name: frame.read_var(f"pk_{name}") for name in ("label", "dim", "index", "extent")}
        numbers = {name: int(found[name]) for name in ("dim", "index", "extent")}
        label = label_at(int(found["label"]))
    except (ValueError, gdb.error):
        return "an index is out of bounds"
    start = f"{label} index" if label else "index"
    return f"{start} {numbers['index']} in dimension {numbers['dim']}, extent {numbers['extent']}"


def label_at(address: int) -> str:
    """A view's name in the device's memory; empty where it can't be read."""
    try:
        return global_memory(address, 64).partition(b"\0")[0].decode("utf-8", "replace")
    except gdb.error:
        return ""


def failures(argument: Body) -> list[str]:
    """Why conditions that are built in at a line could not be evaluated, by bit, where the focus stands behind them."""
    found = []
    for bit in argument["bits"]:
        try:
            each = gdb.newest_frame().read_var(f"pk_at_{argument['line']}")["pk_each"][bit]
            kind, index, dim, extent = (int(each[f"pk_{name}"]) for name in ("fault", "index", "dim", "extent"))
        except (ValueError, gdb.error):
            kind = index = dim = extent = 0
        beyond = f"index {index} in dimension {dim}, extent {extent}"
        found.append({1: beyond, 2: "division by zero"}.get(kind, ""))
    return found


def holding(argument: Body) -> list[tuple[bool, str]]:
    """For which threads C text is true, and why that can't be told."""
    found = []
    for block, thread in argument["threads"]:
        focus({"block": block, "thread": thread})
        found.append(holds(argument["condition"]))
    return found


# --- memory ---


def global_memory(address: int, length: int, kind: str = "global") -> bytes:
    text = gdb.parse_and_eval(f"*(@{kind} char*){address:#x}@{length}").string("iso-8859-1", length=length)
    return str(text).encode("iso-8859-1")


def read(argument: Body) -> list[str]:
    """Bytes at (address, length) pairs, as hex; what isn't global memory is that of the thread named."""
    answer = []
    for address, length in argument["regions"]:
        places = [(address + at, min(PIECE, length - at)) for at in range(0, length, PIECE)]
        try:
            try:
                pieces = [global_memory(*place) for place in places]
            except gdb.error:
                focus(argument)
                pieces = [global_memory(*place, kind="generic") for place in places]
        except gdb.error:
            raise gdb.GdbError(f"the device's memory at {address:#x} can't be read") from None
        answer.append(b"".join(pieces).hex())
    return answer


def write(argument: Body) -> Body:
    data = bytes.fromhex(argument["data"])
    try:
        for at, byte in enumerate(data):
            gdb.execute(f"set variable *(@global unsigned char*){argument['address'] + at:#x} = {byte}", to_string=True)
    except gdb.error:
        raise gdb.GdbError(f"the device's memory at {argument['address']:#x} can't be written") from None
    return {}


COMMANDS: dict[str, Callable[[Any], Any]] = {
    "load": lines.load,
    "where": lines.where,
    "entry": lines.entry,
    "symbol": lines.symbol,
    "insert": breakpoints.insert,
    "remove": breakpoints.remove,
    "enable": breakpoints.enable,
    "place": place,
    "lines-of-threads": lines_of_threads,
    "view": view,
    "variables": variables,
    "variables-of-threads": variables_of_threads,
    "fault": fault,
    "failures": failures,
    "holding": holding,
    "read": read,
    "write": write,
}

commands.go_with_parent()
gdb.execute("set max-value-size unlimited", to_string=True)
for name, function in COMMANDS.items():
    commands.Command(name, function)
