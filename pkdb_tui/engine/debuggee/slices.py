"""Bytes of array elements for the engine, in C order, never more than asked for."""

from __future__ import annotations

import array as arrays
import base64
import sys
from types import FrameType
from typing import Any

from pkdb_tui.engine.debuggee.evaluate import error_line, run
from pkdb_tui.engine.debuggee.scopes import Kernel
from pkdb_tui.engine.debuggee.values import array_layout, is_array, is_numpy_scalar, type_name
from pkdb_tui.engine.debuggee.wire import RequestError

Json = dict[str, Any]
KINDS = "biufc"


def read_slice(expression: str, frame: FrameType, limit: int, kernel: Kernel | None = None) -> Json:
    """A SliceBody: the shape is the expression's, the data its leading elements.

    Raises RequestError when the expression fails or names nothing numeric.
    """
    try:
        value = run(expression, frame, "eval", kernel)
    except BaseException as error:
        raise RequestError(f"{expression} can't be evaluated: {error_line(error)}") from error
    if is_array(value) or is_numpy_scalar(value):
        return _array(expression, value, limit)
    return _list(expression, value, limit)


def _rows_within(shape: tuple[int, ...], limit: int) -> tuple[slice, ...]:
    """A leading box of at most `limit` elements: whole inner axes where they fit."""
    box: list[slice] = []
    left = max(1, limit)
    for extent in reversed(shape):
        take = min(extent, left)
        box.insert(0, slice(0, take))
        left = max(1, left // max(1, take))
    return tuple(box)


def _to_host(value: Any) -> Any:
    """A numpy array of the (already small) selection, by the owner library's own means."""
    if type(value).__module__.split(".")[0] == "cupy":
        return value.get()
    if hasattr(value, "detach"):
        return value.detach().resolve_conj().resolve_neg().cpu().numpy()
    return value


def _array(expression: str, value: Any, limit: int) -> Json:
    shape = tuple(int(extent) for extent in value.shape)
    total = 1
    for extent in shape:
        total *= extent
    layout = array_layout(value) if is_array(value) else "host"
    part = value if total <= limit or not shape else value[_rows_within(shape, limit)]
    host = _to_host(part)
    kind = host.dtype.kind
    if getattr(host.dtype, "names", None):
        raise RequestError(
            f"{expression} has records, not numbers: name a field, such as {expression}[{host.dtype.names[0]!r}]."
        )
    if kind not in KINDS:
        raise RequestError(f"{expression} is {type_name(value)}: its elements are not numbers.")
    order = host.dtype.newbyteorder("<") if host.dtype.byteorder == ">" else host.dtype
    data = host.astype(order, copy=False).tobytes("C")
    return {
        "dtype": order.str.replace("=", "<"),
        "shape": list(shape),
        "data": base64.b64encode(data).decode("ascii"),
        "total": total,
        "layout": layout,
        "truncated": total > limit,
    }


def _shape_of(value: Any) -> tuple[int, ...]:
    """Extents of a rectangular nesting of sequences."""
    shape: list[int] = []
    while isinstance(value, list | tuple | range | arrays.array):
        shape.append(len(value))
        if not len(value) or len(shape) > 8:
            break
        value = value[0]
    return tuple(shape)


def _gather(value: Any, shape: tuple[int, ...], box: tuple[int, ...], found: list[Any]) -> None:
    """Elements of the box in C order; raises TypeError where the nesting isn't rectangular."""
    if not shape:
        found.append(value)
        return
    if not isinstance(value, list | tuple | range | arrays.array) or len(value) != shape[0]:
        raise TypeError
    for item in value[: box[0]]:
        _gather(item, shape[1:], box[1:], found)


def _list(expression: str, value: Any, limit: int) -> Json:
    if isinstance(value, int | float | complex):
        value_shape: tuple[int, ...] = ()
    elif isinstance(value, list | tuple | range | arrays.array):
        value_shape = _shape_of(value)
    else:
        raise RequestError(f"{expression} is {type_name(value)}, not an array or a list of numbers.")
    box = tuple(part.stop for part in _rows_within(value_shape, limit))
    try:
        items: list[Any] = []
        _gather(value, value_shape, box, items)
    except TypeError as error:
        raise RequestError(f"{expression} is not a rectangular list of numbers.") from error
    total = 1
    for extent in value_shape:
        total *= extent
    code, dtype = _packing(expression, items)
    return {
        "dtype": dtype,
        "shape": list(value_shape),
        "data": base64.b64encode(_pack(code, items)).decode("ascii"),
        "total": total,
        "layout": type(value).__name__,
        "truncated": total > limit,
    }


def _packing(expression: str, items: list[Any]) -> tuple[str, str]:
    if all(isinstance(item, bool) for item in items) and items:
        return "?", "|b1"
    if all(isinstance(item, int) and -(2**63) <= item < 2**63 for item in items):
        return "q", "<i8"
    if any(isinstance(item, int) and abs(item) > sys.float_info.max for item in items):
        raise RequestError(f"{expression} holds integers that are too large for an array.")
    if all(isinstance(item, int | float) for item in items):
        return "d", "<f8"
    if all(isinstance(item, int | float | complex) for item in items):
        return "D", "<c16"
    raise RequestError(f"{expression} holds other things than numbers.")


def _pack(code: str, items: list[Any]) -> bytes:
    import struct

    if code == "D":
        flat = [part for item in items for part in (complex(item).real, complex(item).imag)]
        return struct.pack(f"<{len(flat)}d", *flat)
    return struct.pack(f"<{len(items)}{code}", *items)
