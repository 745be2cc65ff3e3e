"""Bounded previews of values: what a person reads in a variable list, never more than a screen line's worth."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

TEXT_LIMIT = 400
ITEM_LIMIT = 20
DEPTH_LIMIT = 3
SAFE_INTEGER = 2**63 - 1


def clip(text: str, limit: int = TEXT_LIMIT) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def error_message(error: BaseException) -> str:
    """The text of an exception, which may itself raise anything; then what Python's own tracebacks write for it."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - the person's `__str__` may raise anything
        return "<exception str() failed>"


def is_array(value: Any) -> bool:
    """Whether it is a numpy, cupy or torch array, known by type without importing any of them."""
    for kind in type(value).__mro__:
        if (kind.__module__, kind.__name__) in (("numpy", "ndarray"), ("torch", "Tensor"), ("torch._tensor", "Tensor")):
            return True
        if kind.__name__ == "ndarray" and kind.__module__.split(".")[0] == "cupy":
            return True
    return False


def is_numpy_scalar(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    generic = getattr(numpy, "generic", None)
    return generic is not None and isinstance(value, generic)


def byte_strides(array: Any) -> tuple[int, ...]:
    strides = getattr(array, "strides", None)
    if isinstance(strides, tuple):
        return strides
    item = int(array.element_size())
    return tuple(int(step) * item for step in array.stride())


def item_size(array: Any) -> int:
    size = getattr(array, "itemsize", None)
    return int(size) if isinstance(size, int) else int(array.element_size())


def element_type(array: Any) -> str:
    return "record" if getattr(array.dtype, "names", None) else str(array.dtype).removeprefix("torch.")


def array_place(array: Any) -> str:
    """`host` or the device that holds the elements."""
    device = getattr(array, "device", None)
    text = "" if device is None else str(device)
    if text in ("", "cpu") or type(array).__module__.split(".")[0] == "numpy":
        return "host"
    return text if text.startswith("cuda") else f"cuda:{getattr(device, 'id', 0)}"


def _contiguous(shape: tuple[int, ...], size: int, *, columns: bool) -> tuple[int, ...]:
    order = range(len(shape)) if columns else reversed(range(len(shape)))
    strides = [0] * len(shape)
    step = size
    for axis in order:
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...], size: int, *, columns: bool) -> bool:
    """Axes of extent one or zero have no stride that matters."""
    if 0 in shape:
        return True
    wanted = _contiguous(shape, size, columns=columns)
    return all(extent == 1 or have == want for extent, have, want in zip(shape, strides, wanted, strict=True))


def array_layout(array: Any) -> str:
    """`host, rows`, `host, columns` or `host, strides 16, 8`; one contiguous dimension is just `host`.

    Records have the names of their fields, too.
    """
    fields = getattr(array.dtype, "names", None)
    return ", ".join([_order(array), *([f"fields {' '.join(fields)}"] if fields else [])])


def _order(array: Any) -> str:
    shape, strides, size = tuple(array.shape), byte_strides(array), item_size(array)
    place = array_place(array)
    if is_contiguous(shape, strides, size, columns=False):
        return place if len(shape) < 2 else f"{place}, rows"
    if is_contiguous(shape, strides, size, columns=True):
        return f"{place}, columns"
    return f"{place}, strides {', '.join(map(str, strides))}"


def array_type(array: Any) -> str:
    return f"{element_type(array)}[{', '.join(str(extent) for extent in array.shape)}]"


def type_name(value: Any) -> str:
    kind = type(value)
    if is_array(value):
        return array_type(value)
    if kind.__module__ in ("builtins", "__main__"):
        return kind.__name__
    return f"{kind.__module__.split('.')[0]}.{kind.__name__}" if is_numpy_scalar(value) else kind.__qualname__


def _sequence(value: Any, opening: str, closing: str, depth: int) -> str:
    parts = []
    size = 0
    items = iter(value)
    for count in range(min(len(value), ITEM_LIMIT)):
        part = preview(next(items), depth + 1)
        parts.append(part)
        size += len(part) + 2
        if size > TEXT_LIMIT and count + 1 < len(value):
            parts.append(f"… {len(value) - count - 1} more")
            return opening + ", ".join(parts) + closing
    if len(value) > ITEM_LIMIT:
        parts.append(f"… {len(value) - ITEM_LIMIT} more")
    if opening == "(" and len(value) == 1:
        return f"({parts[0]},)"
    return opening + ", ".join(parts) + closing


def _mapping(value: dict[Any, Any], depth: int) -> str:
    parts = []
    items = iter(value.items())
    size = 0
    for count in range(min(len(value), ITEM_LIMIT)):
        key, item = next(items)
        part = f"{preview(key, depth + 1)}: {preview(item, depth + 1)}"
        parts.append(part)
        size += len(part) + 2
        if size > TEXT_LIMIT and count + 1 < len(value):
            parts.append(f"… {len(value) - count - 1} more")
            return "{" + ", ".join(parts) + "}"
    if len(value) > ITEM_LIMIT:
        parts.append(f"… {len(value) - ITEM_LIMIT} more")
    return "{" + ", ".join(parts) + "}"


def _integer(value: int) -> str:
    if value.bit_length() > 4 * TEXT_LIMIT:
        return f"an integer of {value.bit_length():,} bits"
    return int.__repr__(value)


def _exact(value: Any, depth: int) -> str | None:
    """Text of the built-in kinds, made without running any code of the program."""
    kind = type(value)
    if kind is int:
        return _integer(value)
    if kind in (float, complex, bool) or value is None or value is Ellipsis:
        return repr(value)
    if kind in (str, bytes, bytearray):
        cut = value if len(value) <= TEXT_LIMIT else value[: TEXT_LIMIT - 40]
        rest = "" if len(cut) == len(value) else f"… {len(value):,} long"
        return repr(cut) + rest
    if kind in (list, tuple, set, frozenset, dict) and depth >= DEPTH_LIMIT:
        return f"<{kind.__name__} of {len(value)}>" if value else repr(value)
    if kind is dict:
        return _mapping(value, depth)
    if kind is list:
        return _sequence(value, "[", "]", depth)
    if kind is tuple:
        return _sequence(value, "(", ")", depth)
    if kind in (set, frozenset):
        if not value:
            return repr(value)
        return _sequence(value, "{" if kind is set else "frozenset({", "}" if kind is set else "})", depth)
    return None


def _named(value: Any) -> str | None:
    if isinstance(value, ModuleType):
        return f"<module {value.__name__}>"
    if isinstance(value, FunctionType):
        return f"<function {value.__qualname__}>"
    if isinstance(value, MethodType):
        return f"<method {getattr(value, '__qualname__', '?')}>"
    if isinstance(value, BuiltinFunctionType):
        return f"<built-in {value.__name__}>"
    if isinstance(value, type):
        return f"<class {value.__qualname__}>"
    if isinstance(value, CodeType | FrameType):
        return f"<{type(value).__name__}>"
    return None


def plain_text(value: Any) -> str:
    """The object's own repr, or the name of what that raised."""
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - any error of the program's own __repr__ is the answer
        return f"<{type(value).__name__}: its __repr__ raised {type(error).__name__}>"


own_text: Callable[[Any], str] = plain_text  # bounded in time once a debugger is there


def preview(value: Any, depth: int = 0) -> str:
    """One bounded line for a value; an object's own `__repr__` may be run, and its failure is told."""
    exact = _exact(value, depth)
    if exact is not None:
        return clip(exact)
    if is_array(value):
        return f"{array_type(value)} {array_layout(value)}" if depth else array_layout(value)
    named = _named(value)
    if named is not None:
        return clip(named)
    length = getattr(type(value), "__len__", None)
    if isinstance(value, list | tuple | dict | set) and length is not None and len(value) > ITEM_LIMIT:
        return f"<{type(value).__name__} of {len(value)}>"
    return clip(" ".join(own_text(value).split("\n")))


def wire_value(value: Any) -> int | float | bool | str | None:
    """The number or text itself where JSON can carry it exactly, else None."""
    if is_numpy_scalar(value):
        value = value.item() if not isinstance(value, complex) else None
    if isinstance(value, bool):
        return value
    if type(value) is int:
        return value if -SAFE_INTEGER <= value <= SAFE_INTEGER else None
    if type(value) is float:
        return value if math.isfinite(value) else None
    if type(value) is str:
        return value if len(value) <= TEXT_LIMIT else None
    return None


def kind_of(value: Any) -> str:
    if is_array(value):
        return "array"
    if isinstance(value, int | float | complex | bool) or is_numpy_scalar(value):
        return "scalar"
    return "object"


def describe(name: str, value: Any, scope: str = "local") -> dict[str, Any]:
    """A VariableBody of the protocol."""
    text = clip(str(value)) if is_numpy_scalar(value) else preview(value)
    return {
        "name": name,
        "type": type_name(value),
        "text": text,
        "kind": kind_of(value),
        "value": wire_value(value),
        "scope": scope,
    }
