"""Values as bars, each as high as it lies between a least and a greatest one."""

from __future__ import annotations

import math
from fractions import Fraction

BARS = "▂▃▄▅▆▇█"  # the least value is seen too, which ▁ hardly is
NOT_FINITE = "?"


def bar(value: float, low: float, high: float) -> str:
    """One of `BARS`, the middle one where all are equal; `NOT_FINITE` for what has no height."""
    found = level(value, low, high, len(BARS) - 1)
    return NOT_FINITE if found is None else BARS[found]


def level(value: float, low: float, high: float, top: int) -> int | None:
    """How high a value lies, from 0 to `top`; None for what isn't finite.

    Large integers, which are no floats, and floats too small to be halved are compared exactly, which takes longer.
    """
    if all(isinstance(number, int) for number in (value, low, high)):
        return round(Fraction(int(value) - int(low), int(high) - int(low)) * top) if low < high else (top + 1) // 2
    if not math.isfinite(value):
        return None
    if not low < high:
        return (top + 1) // 2
    if span := high / 2 - low / 2:  # halves, because the difference of two finite numbers may be none
        return round((value / 2 - low / 2) / span * top)
    return round((Fraction(value) - Fraction(low)) / (Fraction(high) - Fraction(low)) * top)
