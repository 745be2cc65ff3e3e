"""Slices for watches and tables: part of an array with its statistics and what changed since the last stop."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pkdb_tui.engine import arrays, expressions, formatting
from pkdb_tui.engine.api import ArrayStatistics, Slice
from pkdb_tui.engine.arrays import ArrayView, ReadMemory
from pkdb_tui.engine.errors import ExpressionError
from pkdb_tui.engine.native.base import NativeVariable
from pkdb_tui.engine.protocol import SliceBody

LIMIT = 4096  # elements of one slice


async def read(
    expression: str,
    variables: Mapping[str, NativeVariable],
    read_memory: ReadMemory,
    limit: int = LIMIT,
    *,
    constants: Mapping[str, Any] | None = None,
) -> Slice:
    """The elements an expression names, at most `limit` of them.

    `shape` and `total` are the expression's; `values` has its leading rows and columns when that is more than the
    limit, and its leading dimensions merged when it has more than two. Raises ExpressionError for what isn't numeric.
    """
    value = await expressions.view(expression, variables, read_memory, limit=max(limit, 1), constants=constants)
    if isinstance(value, ArrayView):
        _check_numbers(expression, value.dtype)
        part = leading(value, limit)
        values = await arrays.fetch(part, part.dtype, read_memory)
        return build(expression, values, value.shape, layout(value))
    values = _numeric(expression, value)
    return build(expression, values, values.shape, "computed" if values.ndim else "")


def build(
    expression: str, values: np.ndarray[Any, Any], shape: tuple[int, ...], layout: str = "", total: int | None = None
) -> Slice:
    """A Slice over fetched values; `shape` is that of the whole expression."""
    total = math.prod(shape) if total is None else total
    shown = np.array(values if values.ndim <= 2 else values.reshape(-1, values.shape[-1]), order="C")
    shown = shown.astype(shown.dtype.newbyteorder("="), copy=False)
    return Slice(
        expression=expression,
        dtype=shown.dtype.name,
        shape=shape,
        values=shown,
        statistics=statistics(shown),
        truncated=shown.size < total,
        total=total,
        layout=layout,
    )


def leading(view: ArrayView, limit: int) -> ArrayView:
    """The part of a view that is fetched: never more than `limit` elements."""
    return replace(view, shape=leading_shape(view.shape, limit))


def leading_shape(shape: tuple[int, ...], limit: int) -> tuple[int, ...]:
    """Extents of the leading part of at most `limit` elements: whole rows first, then fewer columns."""
    part: list[int] = []
    room = max(limit, 1)
    for size in reversed(shape):
        part.insert(0, min(size, room))
        room = max(room // max(part[0], 1), 1)
    return tuple(part)


def layout(view: ArrayView) -> str:
    """Where a view lies and how: `host, rows`; `host, columns`; `host, strides 8192 16`; of records the fields, too."""
    return ", ".join([_order(view), *([f"fields {' '.join(view.dtype.names)}"] if view.dtype.names else [])])


def _order(view: ArrayView) -> str:
    if view.ndim == 0:
        return view.space
    if view.size == 0 or view.strides == _packed(view, range(view.ndim - 1, -1, -1)):
        return view.space if view.ndim == 1 else f"{view.space}, rows"
    if view.strides == _packed(view, range(view.ndim)):
        return f"{view.space}, columns"
    return f"{view.space}, strides {' '.join(map(str, view.strides))}"


def _packed(view: ArrayView, fastest_first: range) -> tuple[int, ...]:
    strides, step = [0] * view.ndim, view.dtype.itemsize
    for axis in fastest_first:
        strides[axis] = step if view.shape[axis] > 1 else view.strides[axis]
        step *= view.shape[axis]
    return tuple(strides)


def _check_numbers(expression: str, dtype: np.dtype[Any]) -> None:
    """Raises ExpressionError for records."""
    if dtype.names:
        raise ExpressionError(
            f"`{expression}` has records, not numbers.", f"Name a field: `{expression}[{dtype.names[0]!r}]`."
        )


def _numeric(expression: str, value: Any) -> np.ndarray[Any, Any]:
    try:
        values = np.asarray(value)
    except ValueError:
        values = np.asarray(None)
    _check_numbers(expression, values.dtype)
    if values.dtype.kind not in "biufc":
        raise ExpressionError(f"`{expression}` is a {formatting.type_name(value)}, not numbers.")
    return values


def statistics(values: np.ndarray[Any, Any]) -> ArrayStatistics:
    """Count, NaN, Inf, zeros, minimum, maximum and mean, NaN left out of the last three.

    Integers stay exact; infinite elements take part as numpy's do; for complex numbers the last three are None.
    """
    flat = np.asarray(values).ravel()
    if flat.dtype.kind == "b":
        flat = flat.astype(np.uint8)
    inexact = flat.dtype.kind in "fc"
    missing = np.isnan(flat) if inexact else np.zeros(flat.shape, dtype=bool)
    present = flat[~missing]
    minimum, maximum, mean = _extremes(present)
    return ArrayStatistics(
        count=int(flat.size),
        nan=int(np.count_nonzero(missing)),
        inf=int(np.count_nonzero(np.isinf(flat))) if inexact else 0,
        zero=int(np.count_nonzero(flat == 0)),
        minimum=minimum,
        maximum=maximum,
        mean=mean,
    )


def _extremes(present: np.ndarray[Any, Any]) -> tuple[float | int | None, float | int | None, float | None]:
    if present.size == 0 or present.dtype.kind == "c":
        return None, None, None
    if present.dtype.kind in "iu":
        return int(present.min()), int(present.max()), sum(map(int, present.tolist())) / present.size
    if present.dtype.char == "g":
        return _exact(present.min()), _exact(present.max()), _exact(present.mean())
    return float(present.min()), float(present.max()), _mean(present.astype(np.float64))


def _exact(value: Any) -> Any:
    """Python's number where that is the same."""
    plain = float(value)
    return plain if plain == value or value != value else value


def _mean(values: np.ndarray[Any, Any]) -> float:
    if not np.isfinite(values).all():
        with np.errstate(invalid="ignore"):
            return float(values.sum())
    try:
        return math.fsum(values.tolist()) / values.size
    except OverflowError:
        return math.fsum((values / values.size).tolist())


def changed(previous: Slice | None, current: Slice) -> tuple[int, ...]:
    """Flat indices into `current.values` whose bits differ from the previous stop's; none when shapes differ."""
    if previous is None or previous.dtype != current.dtype or previous.values.shape != current.values.shape:
        return ()
    before, after = previous.values.ravel(), current.values.ravel()
    same = (
        (before == after) & (np.signbit(before) == np.signbit(after)) if before.dtype.kind == "f" else before == after
    )
    if before.dtype.kind in "fc":
        same |= np.isnan(before) & np.isnan(after)
    return tuple(int(position) for position in np.flatnonzero(~same))


def from_bytes(expression: str, body: SliceBody) -> Slice:
    """The Slice of a reply from the program's own side. Raises ExpressionError for a body that doesn't fit itself."""
    dtype = np.dtype(body.dtype)
    data = base64.b64decode(body.data)
    count = len(data) // dtype.itemsize
    shape = tuple(body.shape)
    if len(data) % dtype.itemsize or count > math.prod(shape) or (count < math.prod(shape) and not body.truncated):
        raise ExpressionError(f"`{expression}` came back incomplete: {len(data)} bytes for {body.dtype}{list(shape)}.")
    values = np.frombuffer(data, dtype=dtype)
    part = leading_shape(shape, count) if count else shape
    if count == math.prod(part):
        values = values.reshape(part)
    return build(expression, values, shape, body.layout, body.total)
