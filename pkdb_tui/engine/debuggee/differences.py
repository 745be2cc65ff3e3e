"""How two arrays of numbers differ, element by element."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

CHUNK = 1 << 20  # elements compared at once, so that large arrays need little memory beside their own


@dataclass
class Difference:
    """In the terms of DifferenceBody. Two NaNs are equal; a NaN and a number differ, and are counted in `nans`.

    Relative differences are relative to the second array. `ulp` is how many floats of their type lie between two
    elements at most, None where the arrays aren't real floats of one type; `at` are the indices of the largest
    difference. `error` says why they can't be compared.
    """

    size: int
    differ: int = 0
    nans: int = 0
    abs: float = 0.0
    rel: float = 0.0
    ulp: int | None = None
    at: list[int] = field(default_factory=list)
    error: str = ""


def between(numpy: Any, mine: Any, other: Any) -> Difference:
    """Of two numpy arrays, `numpy` being the module."""
    found = Difference(int(mine.size))
    if mine.shape != other.shape:
        found.error = f"shape {_shape(mine)} against {_shape(other)}"
        return found
    if mine.dtype.kind not in "biufc" or other.dtype.kind not in "biufc":
        found.error = "it is no array of numbers"
        return found
    exact = mine.dtype == other.dtype and mine.dtype.kind == "f" and mine.dtype.itemsize in (2, 4, 8)
    found.ulp = 0 if exact else None
    worst, place = -1.0, -1
    one, two = mine.reshape(-1), other.reshape(-1)
    for begin in range(0, one.size, CHUNK):
        a, b = one[begin : begin + CHUNK], two[begin : begin + CHUNK]
        unequal = numpy.flatnonzero((a != b) & ~((a != a) & (b != b)))
        if not unequal.size:
            continue
        a, b = a[unequal], b[unequal]
        numbers = (a == a) & (b == b)
        found.differ += int(unequal.size)
        found.nans += int(unequal.size - numpy.count_nonzero(numbers))
        place = int(unequal[0]) + begin if place < 0 else place
        if numbers.any():
            largest, where = _measure(numpy, found, a[numbers], b[numbers])
            if largest > worst:
                worst, place = largest, begin + int(unequal[numbers][where])
    if place >= 0:
        found.at = _indices(place, mine.shape)
    return found


def _measure(numpy: Any, found: Difference, a: Any, b: Any) -> tuple[float, int]:
    """Take in elements that differ; (largest distance, where)."""
    with numpy.errstate(all="ignore"):
        distance = _distance(numpy, a, b)
        size = numpy.abs(b.astype(numpy.complex128 if b.dtype.kind == "c" else numpy.float64))
        relative = numpy.where(size > 0, distance / size, numpy.inf)
        relative = numpy.where(relative == relative, relative, numpy.inf)
    where = int(distance.argmax())
    found.abs = max(found.abs, float(distance[where]))
    found.rel = max(found.rel, float(relative.max()))
    if found.ulp is not None:
        found.ulp = max(found.ulp, _ulps(numpy, a, b))
    return float(distance[where]), where


def _indices(flat: int, shape: tuple[int, ...]) -> list[int]:
    """Of an element by its number in row order."""
    indices: list[int] = []
    for extent in reversed(shape):
        flat, index = divmod(flat, int(extent))
        indices.insert(0, index)
    return indices


def _distance(numpy: Any, a: Any, b: Any) -> Any:
    """abs(a - b) as floats; integers are subtracted as such, so that none wraps around."""
    if a.dtype.kind in "biu" and b.dtype.kind in "biu":
        low, high = numpy.minimum(a, b), numpy.maximum(a, b)
        return (high.astype(numpy.uint64) - low.astype(numpy.uint64)).astype(numpy.float64)
    kind = numpy.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else numpy.float64
    distance = numpy.abs(a.astype(kind) - b.astype(kind))
    return numpy.where(distance == distance, distance, numpy.inf)  # of complex infinities


def _ulps(numpy: Any, a: Any, b: Any) -> int:
    unsigned = numpy.dtype(f"u{a.dtype.itemsize}")
    sign = unsigned.type(1 << (8 * a.dtype.itemsize - 1))

    def order(values: Any) -> Any:
        bits = numpy.ascontiguousarray(values).view(unsigned)
        return numpy.where(bits & sign, ~bits + unsigned.type(1), bits | sign)  # both zeros become one

    one, two = order(a), order(b)
    return int((numpy.maximum(one, two) - numpy.minimum(one, two)).max())


def _shape(array: Any) -> str:
    return f"[{', '.join(str(int(extent)) for extent in array.shape)}]"
