"""Arguments of launches: what is told of them, and what is kept of them so that none outlives its launch for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pkdb_tui.engine.debuggee.values import (
    array_layout,
    array_type,
    byte_strides,
    describe,
    is_array,
    is_numpy_scalar,
    item_size,
)

Json = dict[str, Any]
_NUMBERS = (int, float, complex, bool, type(None))
_SIZED = (str, bytes, list, tuple, dict, set, frozenset)


class ArrayFacts:
    """An array without its elements; strides and item size in bytes."""

    __slots__ = ("device", "dtype", "itemsize", "shape", "strides")

    def __init__(self, array: Any) -> None:
        self.dtype = array.dtype
        self.shape = tuple(array.shape)
        self.strides = byte_strides(array)
        self.itemsize = item_size(array)
        self.device = getattr(array, "device", None)


def told(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is kept of a launch's arguments, quickly and without running code of the program's."""
    return {name: _kept(value) for name, value in arguments.items()}


def _kept(value: Any) -> Any:
    kind = type(value)
    if kind in _NUMBERS:
        return value
    if is_array(value):
        return ArrayFacts(value)
    if is_numpy_scalar(value):
        return value
    return Other(kind.__qualname__, len(value) if kind in _SIZED else None)


class Other:
    """Any other object, by its type and, of Python's own collections, its length."""

    __slots__ = ("length", "name")

    def __init__(self, name: str, length: int | None) -> None:
        self.name = name
        self.length = length

    def body(self, name: str) -> Json:
        text = f"<{self.name}>" if self.length is None else f"<{self.name} of {self.length}>"
        return {"name": name, "type": self.name, "text": text, "kind": "object", "value": None, "scope": "argument"}


def given(policy: str, arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The reader of a `latest` that needs none."""
    return policy, arguments


def bodies_of(arguments: Mapping[str, Any]) -> list[Json]:
    """ArgumentBody of each argument, or of what was kept of it."""
    return [_body(name, value) for name, value in arguments.items()]


def _body(name: str, value: Any) -> Json:
    if isinstance(value, Other):
        return value.body(name)
    if not _is_array_or_facts(value):
        return describe(name, value, "argument")
    return {
        "name": name,
        "type": array_type(value),
        "text": array_layout(value),
        "kind": "array",
        "value": None,
        "scope": "argument",
        "shape": [int(extent) for extent in value.shape],
        "strides": list(byte_strides(value)),
    }


def _is_array_or_facts(value: Any) -> bool:
    """Facts come from the embedded runtime as well, which doesn't know this module."""
    if is_array(value) or is_numpy_scalar(value):
        return is_array(value)
    return all(hasattr(value, part) for part in ArrayFacts.__slots__ if part != "device")
