"""Runs inside gdb: what a failed bounds check of Kokkos says, in the program's names."""

from __future__ import annotations

import re

import gdb

from pkdb_tui.engine.native import gdbside_frames as frames
from pkdb_tui.engine.native import gdbside_values as values

NEW = re.compile(r'out of bounds access label=\("(.*)"\) with indices \[(.*)\] but extents \[(.*)\]')
OLD = re.compile(r"View bounds error of view (.*?) ?\( (.*) \)")
DEEPEST = 24  # frames between the check and the kernel's line


def told(message: str) -> str:
    """`counter index 504 in dimension 0, extent 504`; messages of any other kind as they are."""
    if found := NEW.search(message):
        label, pairs = found.group(1), list(zip(*(part.split(",") for part in found.groups()[1:]), strict=False))
    elif found := OLD.search(message):
        label, pairs = found.group(1), [tuple(part.split("<")) for part in found.group(2).split(",")]
    else:
        return message
    name = name_in_kernel() or label
    for dimension, (index, extent) in enumerate(pairs):
        if not 0 <= int(index) < int(extent):
            return f"{name} index {int(index)} in dimension {dimension}, extent {int(extent)}"
    return message


def name_in_kernel() -> str:
    """What the kernel calls the view that is being accessed: arrays of numpy have no label of their own."""
    frame, address = gdb.newest_frame(), 0
    for _ in range(DEEPEST):
        if frame is None:
            return ""
        if frames.is_python(frame):
            return next((v["name"] for v in values.variables(frame) if address and v.get("address") == address), "")
        address = accessed(frame) or address
        frame = frame.older()
    return ""


def accessed(frame: gdb.Frame) -> int:
    """The address of the view, of either implementation, whose method a frame is in, or 0."""
    try:
        this = frame.read_var("this").dereference()
        if values.has_field(this, "m_ptr"):
            return values.handle_address(this["m_ptr"], "m_handle")
        if values.has_field(this, "m_map") and values.has_field(this["m_map"], "m_impl_handle"):
            return values.handle_address(this["m_map"]["m_impl_handle"], "ptr")
    except (gdb.error, ValueError, RuntimeError):
        pass  # not a method, or of something else
    return 0
