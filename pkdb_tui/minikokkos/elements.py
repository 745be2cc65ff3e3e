"""numpy's types of elements and the C++ types of kernels: how they are read, passed, and named."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from pkdb_tui.minikokkos.cpp_types import NUMPY, CType

_COUNTS = "mM"  # times, which are 64-bit counts of their unit
# As 64-bit words, where the module struct has no letter.
WORDS: dict[str, Any] = {"pk::longdouble": np.longdouble, "std::complex<pk::longdouble>": np.clongdouble}


def between(value: Any) -> bool:
    """Whether elements lie where no whole number of elements leads."""
    size = value.itemsize
    return any(stride % size for stride in value.strides)


def on_its_size(value: Any) -> bool:
    """Whether a device's array begins at a multiple of its elements' size, as the device reads them."""
    return bool(value.data.ptr % value.itemsize == 0)


def access_of(value: Any) -> str:
    """How a kernel gets at an array's elements: the `access` of a CType."""
    if not value.dtype.isnative:
        return "Swapped"
    contiguous = value.flags.c_contiguous
    return "" if value.flags.aligned and (contiguous or not between(value)) else "Unaligned"


def element_of(dtype: np.dtype[Any]) -> str | None:
    """The C++ type of an array's elements; None where kernels have none."""
    return "int64_t" if dtype.char in _COUNTS else NUMPY.get(dtype.char)


def refusal(dtype: np.dtype[Any]) -> str:
    """Why an array of it can't be used, and what to do."""
    if dtype.char == "O":
        return "which are Python objects: pass their numbers in an array of a numeric type, such as x.astype(float)."
    if dtype.char in "SU":
        return "which is text: pass numbers for it, such as the indices of numpy.unique(x, return_inverse=True)."
    if dtype.char == "V":
        return f"which are bytes without a meaning: say what they are, such as x.view('u{dtype.itemsize}')."
    return "which kernels can't use: pass it as a numeric type, x.astype(…)."


def as_words(name: str, value: Any) -> tuple[int, ...]:
    """A number that takes several 64-bit words."""
    data = WORDS[name](value).tobytes()
    return struct.unpack(f"={len(data) // 8}Q", data)


def from_words(name: str, data: Any) -> Any:
    """The number that such words hold; None for a type of other words."""
    kind = WORDS.get(name)
    return None if kind is None else np.frombuffer(data, kind, 1)[0]


def half(value: Any) -> float:
    with np.errstate(over="ignore"):  # it becomes infinite, as in C
        return float(np.float16(value))


_SPOKEN = {
    "double": "float64", "float": "float32", "pk::half": "float16", "pk::longdouble": "longdouble",
    "std::complex<float>": "complex64", "std::complex<double>": "complex128",
    "std::complex<pk::longdouble>": "clongdouble",
}  # fmt: skip


def spoken(kind: CType) -> str:
    """A type as numpy names it."""
    if kind.record is not None:
        return f"records {kind.record.dtype}"
    return _SPOKEN.get(kind.name, kind.name.removesuffix("_t"))
