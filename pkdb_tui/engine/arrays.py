"""Arrays of the program as descriptors: indexing is arithmetic, and only the elements asked for are read."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkdb_tui.engine.errors import ExpressionError
from pkdb_tui.engine.native.base import NativeVariable

ReadMemory = Callable[[Sequence[tuple[int, int]]], Awaitable[list[bytes]]]
WriteMemory = Callable[[int, bytes], Awaitable[None]]
Addresses = NDArray[np.int64]
Array = NDArray[Any]

# Bytes between two wanted elements that are read along with them: below this a region of its own costs more.
GAP = 128


class ArrayIndexError(ExpressionError):
    """An index that doesn't fit the array, in numpy's words."""


@dataclass(frozen=True)
class ArrayView:
    """Part of an array in the program: `strides` in bytes, `address` of its first element, nothing read yet."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int
    space: str = "host"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def transposed(self) -> ArrayView:
        return replace(self, name=f"{self.name}.T", shape=self.shape[::-1], strides=self.strides[::-1])

    def addresses(self) -> Addresses:
        """The address of every element, in the view's shape."""
        return _grid(np.asarray(self.address, dtype=np.int64), self.shape, self.strides)

    def regions(self) -> tuple[Addresses, int]:
        """Start addresses of the runs that hold all elements, and the bytes of one run."""
        axes = [(size, stride) for size, stride in zip(self.shape, self.strides, strict=True) if size > 1]
        low = self.address + sum((size - 1) * stride for size, stride in axes if stride < 0)
        length = self.dtype.itemsize
        outer = sorted(((size, abs(stride)) for size, stride in axes), key=operator.itemgetter(1))
        while outer and outer[0][1] - length <= GAP:
            size, stride = outer.pop(0)
            length = max(length, stride * (size - 1) + length)
        starts = _grid(np.asarray(low, dtype=np.int64), [s for s, _ in outer], [s for _, s in outer])
        return starts.ravel(), length


def from_variable(variable: NativeVariable) -> ArrayView:
    """The whole array a native variable describes."""
    name = "?" if variable.dtype.startswith("?") else variable.dtype
    try:
        dtype = _dtype(name)
    except TypeError:
        raise ExpressionError(
            f"`{variable.name}` has elements of type {variable.dtype}, which can't be read."
        ) from None
    return ArrayView(variable.name, dtype, variable.shape, variable.strides, variable.address, variable.space)


def _dtype(text: str) -> np.dtype[Any]:
    """Of numpy's own text, or of the one that a debugger's side has of records."""
    fields = text.removeprefix("record ")
    if not fields.startswith("{"):
        return np.dtype(text)
    found = np.dtype(ast.literal_eval(fields))
    return found if fields == text else np.dtype((np.record, found))


def check_size(name: str, count: int, limit: int) -> None:
    """Raises ExpressionError when `count` elements are more than an evaluation may fetch."""
    if count > limit:
        raise ExpressionError(
            f"`{name}` has {count:,} elements, more than the {limit:,} that are fetched at once.",
            "Take a slice of it, or give a larger limit.",
        )


def item(view: ArrayView, key: object, limit: int) -> ArrayView | Addresses:
    """As `index`; a text names the field of a structured array."""
    return field(view, key) if isinstance(key, str) else index(view, key, limit)


def field(view: ArrayView, name: str) -> ArrayView:
    """One field of all records; that of an array in them has its axes last."""
    if name not in (view.dtype.names or ()):
        raise ArrayIndexError(f"`{view.name}`: no field of name {name}.")
    dtype, offset = view.dtype.fields[name][:2]  # type: ignore[index]
    if view.dtype.type is np.record and dtype.names:
        dtype = np.dtype((np.record, dtype))
    steps = [dtype.base.itemsize * math.prod(dtype.shape[axis + 1 :]) for axis in range(len(dtype.shape))]
    return replace(
        view,
        name=f"{view.name}[{name!r}]",
        dtype=dtype.base,
        shape=(*view.shape, *dtype.shape),
        strides=(*view.strides, *steps),
        address=view.address + offset,
    )


def index(view: ArrayView, key: object, limit: int) -> ArrayView | Addresses:
    """`view[key]` by numpy's rules: a view for basic keys, addresses of the elements for index arrays and masks.

    `limit` bounds the elements that index arrays may pick.
    """
    items = _expanded(view, key if isinstance(key, tuple) else (key,))
    if any(isinstance(item, np.ndarray) for item in items):
        return _advanced(view, items, limit)
    return _basic(view, items, key)


def coalesce(starts: Addresses, length: int) -> list[tuple[int, int]]:
    """Runs of `length` bytes as few (address, length) regions, in rising order."""
    if starts.size == 0:
        return []
    ordered = np.unique(starts)
    breaks = np.flatnonzero(np.diff(ordered) > length + GAP) + 1
    firsts = ordered[np.concatenate(([0], breaks))]
    lasts = ordered[np.concatenate((breaks - 1, [ordered.size - 1]))]
    return [(int(a), int(b) - int(a) + length) for a, b in zip(firsts, lasts, strict=True)]


async def fetch(what: ArrayView | Addresses, dtype: np.dtype[Any], read_memory: ReadMemory) -> Array:
    """The elements as a private numpy array in the view's shape, in one request."""
    if what.size == 0:
        return np.empty(what.shape, dtype=dtype)
    starts, length = what.regions() if isinstance(what, ArrayView) else (what.ravel(), dtype.itemsize)
    regions = coalesce(starts, length)
    blocks = await read_memory(regions)
    for (address, size), block in zip(regions, blocks, strict=True):
        if len(block) != size:
            raise ExpressionError(f"Memory at {address:#x} can't be read: {len(block)} of {size} bytes came back.")
    if isinstance(what, ArrayView) and len(blocks) == 1:
        offset = what.address - regions[0][0]
        return np.ndarray(what.shape, dtype, blocks[0], offset, what.strides).copy()
    addresses = what.addresses() if isinstance(what, ArrayView) else what
    return _gather(addresses, regions, b"".join(blocks), dtype)


def stores(addresses: Addresses, values: Array) -> Iterator[tuple[int, bytes]]:
    """(address, bytes) pairs that write `values` to their addresses; of equal addresses the last one wins."""
    flat, data = addresses.ravel()[::-1], np.ascontiguousarray(values).ravel()[::-1]
    unique, first = np.unique(flat, return_index=True)
    data = data[first]
    breaks = np.flatnonzero(np.diff(unique) != values.dtype.itemsize) + 1
    for starts, part in zip(np.split(unique, breaks), np.split(data, breaks), strict=True):
        if starts.size:
            yield int(starts[0]), part.tobytes()


def _gather(addresses: Addresses, regions: Sequence[tuple[int, int]], data: bytes, dtype: np.dtype[Any]) -> Array:
    starts = np.array([address for address, _ in regions], dtype=np.int64)
    offsets = np.cumsum([0] + [length for _, length in regions[:-1]], dtype=np.int64)
    region = np.searchsorted(starts, addresses, side="right") - 1
    positions = addresses - starts[region] + offsets[region]
    anywhere: Array = np.ndarray((len(data) - dtype.itemsize + 1,), dtype, data, strides=(1,))
    return np.asarray(anywhere[positions])


def _grid(base: Addresses, shape: Sequence[int], strides: Sequence[int]) -> Addresses:
    """Addresses of all index combinations, appended as axes to those of `base`."""
    result = base
    for size, stride in zip(shape, strides, strict=True):
        result = result[..., None] + np.arange(size, dtype=np.int64) * stride
    return result


def _expanded(view: ArrayView, key: tuple[object, ...]) -> list[Any]:
    """One entry for each axis (int, slice or index array), None for new axes; masks become index arrays."""
    items: list[Any] = []
    for item in key:
        items.extend(_normal(view, item))
    axes = sum(1 for item in items if item is not None and item is not Ellipsis)
    gaps = sum(1 for item in items if item is Ellipsis)
    if gaps > 1:
        raise ArrayIndexError(f"`{view.name}`: an index can only have a single ellipsis ('...').")
    if axes > view.ndim:
        raise ArrayIndexError(
            f"`{view.name}`: too many indices for array: array is {view.ndim}-dimensional, but {axes} were indexed."
        )
    fill: list[Any] = [slice(None)] * (view.ndim - axes)
    at = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
    items[at : at + gaps] = fill
    _check_masks(view, items)
    return [item.indices[item.axis] if isinstance(item, _MaskAxis) else item for item in items]


@dataclass(frozen=True)
class _MaskAxis:
    """One axis of a boolean mask: where it is true, and the mask's own shape to compare with the array's."""

    indices: tuple[Array, ...]
    axis: int
    shape: tuple[int, ...]


def _normal(view: ArrayView, item: object) -> list[Any]:
    if item is None or item is Ellipsis or isinstance(item, slice):
        return [item]
    if isinstance(item, (bool, np.bool_)):
        raise ArrayIndexError(f"`{view.name}` can't be indexed by True or False.")
    if isinstance(item, (list, np.ndarray)):
        array = np.asarray(item) if np.size(item) else np.asarray(item, dtype=np.intp)
        if array.dtype == np.bool_ and array.ndim:
            where = np.nonzero(array)
            return [_MaskAxis(where, axis, array.shape) for axis in range(array.ndim)]
        if np.issubdtype(array.dtype, np.integer):
            return [array.astype(np.int64)] if array.ndim else [int(array)]
    try:
        return [operator.index(item)]  # type: ignore[arg-type]
    except TypeError:
        raise ArrayIndexError(
            f"`{view.name}`: only integers, slices (`:`), ellipsis (`...`), None and integer or boolean arrays "
            f"are valid indices, not {type(item).__name__}."
        ) from None


def _check_masks(view: ArrayView, items: Sequence[Any]) -> None:
    axis = 0
    for item in items:
        if isinstance(item, _MaskAxis) and item.shape[item.axis] != view.shape[axis]:
            raise ArrayIndexError(
                f"`{view.name}`: boolean index did not match indexed array along axis {axis}; "
                f"size of axis is {view.shape[axis]} but size of corresponding boolean axis is {item.shape[item.axis]}."
            )
        axis += item is not None


def _checked(view: ArrayView, item: int, axis: int) -> int:
    size = view.shape[axis]
    if not -size <= item < size:
        raise ArrayIndexError(f"`{view.name}`: index {item} is out of bounds for axis {axis} with size {size}.")
    return item + size if item < 0 else item


def _sliced(view: ArrayView, item: slice, axis: int) -> tuple[int, int, int]:
    """(length, stride in bytes, offset in bytes) of a slice along one axis."""
    try:
        start, stop, step = item.indices(view.shape[axis])
    except (TypeError, ValueError) as error:
        raise ArrayIndexError(f"`{view.name}`: {error}.") from None
    return len(range(start, stop, step)), step * view.strides[axis], start * view.strides[axis]


def _basic(view: ArrayView, items: Sequence[Any], key: object) -> ArrayView:
    shape, strides, address, axis = [], [], view.address, 0
    for item in items:
        if item is None:
            shape.append(1)
            strides.append(0)
            continue
        if isinstance(item, slice):
            length, stride, offset = _sliced(view, item, axis)
            shape.append(length)
            strides.append(stride)
            address += offset if length else 0
        else:
            address += _checked(view, item, axis) * view.strides[axis]
        axis += 1
    return replace(
        view, name=f"{view.name}{_key_text(key)}", shape=tuple(shape), strides=tuple(strides), address=address
    )


def _advanced(view: ArrayView, items: Sequence[Any], limit: int) -> Addresses:
    """numpy's rule: adjacent index arrays (an int counts as one) keep their place, separated ones go to the front."""
    picked: list[Addresses] = []
    kept: list[tuple[int, int]] = []
    places: list[int] = []
    before, axis, base = 0, 0, view.address
    for place, item in enumerate(items):
        if item is None:
            kept.append((1, 0))
        elif isinstance(item, slice):
            length, stride, offset = _sliced(view, item, axis)
            kept.append((length, stride))
            base += offset if length else 0
        else:
            before = before if places else len(kept)
            places.append(place)
            picked.append(_wrapped(view, np.asarray(item, dtype=np.int64), axis) * view.strides[axis])
        axis += item is not None
    try:
        chosen = np.asarray(sum(np.broadcast_arrays(*picked)), dtype=np.int64)
    except ValueError:
        shapes = " ".join(str(item.shape) for item in items if isinstance(item, np.ndarray))
        raise ArrayIndexError(
            f"`{view.name}`: shape mismatch: indexing arrays could not be broadcast together with shapes {shapes}."
        ) from None
    check_size(view.name, chosen.size * math.prod(size for size, _ in kept), limit)
    result = _grid(chosen + base, [size for size, _ in kept], [stride for _, stride in kept])
    if places[-1] - places[0] + 1 == len(places) and before:
        result = np.moveaxis(result, range(chosen.ndim), range(before, before + chosen.ndim))
    return result


def _wrapped(view: ArrayView, indices: Addresses, axis: int) -> Addresses:
    size = view.shape[axis]
    wrong = indices[(indices < -size) | (indices >= size)]
    if wrong.size:
        _checked(view, int(wrong.ravel()[0]), axis)
    return np.where(indices < 0, indices + size, indices)


def _key_text(key: object) -> str:
    return "[" + ", ".join(_item_text(item) for item in (key if isinstance(key, tuple) else (key,))) + "]"


def _item_text(item: object) -> str:
    if isinstance(item, slice):
        step = "" if item.step is None else f":{item.step}"
        return f"{'' if item.start is None else item.start}:{'' if item.stop is None else item.stop}{step}"
    return "..." if item is Ellipsis else str(item)
