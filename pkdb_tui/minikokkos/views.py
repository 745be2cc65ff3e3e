"""Views: numpy arrays with PyKokkos' names, and the types that annotations name."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from enum import Enum
from typing import Any, Literal

import numpy as np

int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
float16, float32, float64, longdouble = np.float16, np.float32, np.float64, np.longdouble
complex64, complex128, clongdouble = np.complex64, np.complex128, np.clongdouble
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
        order: Literal["C", "F"] = "F" if layout is Layout.LayoutLeft else "C"
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
    known: dict[Any, Any] = {int: np.int32, builtins.float: np.float64, builtins.bool: np.bool_}
    found: np.dtype[Any] = np.dtype(known.get(element, element))
    return found


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


class View1D(_Typed):
    """A view of 1 dimension."""


class View2D(_Typed):
    """A view of 2 dimensions."""


class View3D(_Typed):
    """A view of 3 dimensions."""


class View4D(_Typed):
    """A view of 4 dimensions."""


class View5D(_Typed):
    """A view of 5 dimensions."""


class View6D(_Typed):
    """A view of 6 dimensions."""


class View7D(_Typed):
    """A view of 7 dimensions."""


class View8D(_Typed):
    """A view of 8 dimensions."""


class ScratchView1D(ScratchView):
    """A scratch view of 1 dimension."""


class ScratchView2D(ScratchView):
    """A scratch view of 2 dimensions."""


class ScratchView3D(ScratchView):
    """A scratch view of 3 dimensions."""


class ScratchView4D(ScratchView):
    """A scratch view of 4 dimensions."""


class ScratchView5D(ScratchView):
    """A scratch view of 5 dimensions."""


class ScratchView6D(ScratchView):
    """A scratch view of 6 dimensions."""


class ScratchView7D(ScratchView):
    """A scratch view of 7 dimensions."""


class ScratchView8D(ScratchView):
    """A scratch view of 8 dimensions."""
