"""Views: numpy arrays with PyKokkos' names, and the types that annotations name."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
float32, float64 = np.float32, np.float64
complex64, complex128 = np.complex64, np.complex128
bool = np.bool_
double = real = np.float64
# As in PyKokkos, `pk.float` is single precision; Python's own `float` in an annotation is double.
float = np.float32


class Layout(Enum):
    """The order of dimensions in memory."""

    LayoutRight = "LayoutRight"
    LayoutLeft = "LayoutLeft"
    LayoutDefault = "LayoutDefault"


class MemorySpace(Enum):
    """Where memory is; only the host's is here."""

    HostSpace = "HostSpace"
    MemorySpaceDefault = "MemorySpaceDefault"


class Trait(Enum):
    """Memory traits; accepted, and without effect but for Atomic, which is refused."""

    Atomic = "Atomic"
    Unmanaged = "Unmanaged"
    RandomAccess = "RandomAccess"
    Restrict = "Restrict"
    TraitDefault = "TraitDefault"


class View(np.ndarray[Any, Any]):
    """An array made by `View(extents, dtype)`, zeros at first; everything that numpy has works on it."""

    def __new__(
        cls,
        dimensions: Sequence[int] | int,
        dtype: Any = np.float64,
        space: MemorySpace = MemorySpace.MemorySpaceDefault,
        layout: Layout = Layout.LayoutDefault,
        trait: Trait = Trait.TraitDefault,
        array: Any = None,
    ) -> View:
        order = "F" if layout is Layout.LayoutLeft else "C"
        if trait is Trait.Atomic:
            raise NotImplementedError(
                "Views with the trait Atomic are not supported here: use pk.atomic_add and its kin."
            )
        if array is not None:
            return np.asarray(array).view(cls)
        if dtype is int:
            dtype = np.int32
        return np.zeros(dimensions, dtype=np.dtype(dtype), order=order).view(cls)

    def extent(self, dimension: int) -> int:
        """The number of elements along one dimension."""
        return int(self.shape[dimension])

    def rank(self) -> int:
        return self.ndim


def array(array: Any, space: Any = None, layout: Any = None) -> View:
    """An array seen as a view, without a copy."""
    return np.asarray(array).view(View)


asarray = from_array = from_numpy = array


class _Alias:
    """`View1D[pk.double]`: a view type with its element."""

    def __init__(self, origin: type, element: Any) -> None:
        self.origin = origin
        self.element = element

    def __repr__(self) -> str:
        return f"{self.origin.__name__}[{getattr(self.element, '__name__', self.element)}]"

    def __call__(self, scratch: Any, *extents: int) -> Any:
        return scratch.take(extents, _numpy_type(self.element))

    def shmem_size(self, *extents: int) -> int:
        """Bytes of scratch that such a view needs."""
        size = int(np.prod(extents, dtype=np.int64)) * _numpy_type(self.element).itemsize
        return (size + 15) // 16 * 16


def _numpy_type(element: Any) -> np.dtype[Any]:
    return np.dtype({int: np.int32, builtins.float: np.float64, builtins.bool: np.bool_}.get(element, element))


class _Typed:
    def __class_getitem__(cls, element: Any) -> _Alias:
        return _Alias(cls, element)


class ScratchView(_Typed):
    """A view of a team's scratch memory, made inside a kernel."""

    def __new__(cls, scratch: Any, *extents: int, dtype: Any = None) -> Any:
        element = dtype.element if isinstance(dtype, _Alias) else dtype or np.float64
        return scratch.take(extents, _numpy_type(element))

    @staticmethod
    def shmem_size(*extents: int) -> int:
        """Bytes that a scratch view of doubles needs."""
        return _Alias(ScratchView, np.float64).shmem_size(*extents)


class Acc(_Typed):
    """Annotates the accumulator of a reduction or scan."""


class Sum(_Typed):
    """As Acc: a sum."""


class Min(_Typed):
    """Annotates the accumulator of a reduction that takes the minimum."""


class Max(_Typed):
    """Annotates the accumulator of a reduction that takes the maximum."""


for _rank in range(1, 9):
    globals()[f"View{_rank}D"] = type(f"View{_rank}D", (_Typed,), {"__module__": __name__})
    globals()[f"ScratchView{_rank}D"] = type(f"ScratchView{_rank}D", (ScratchView,), {"__module__": __name__})

__all__ = [
    name for name in globals() if not name.startswith("_") and name not in ("Any", "Enum", "Sequence", "builtins", "np")
]  # noqa: PLE0605
