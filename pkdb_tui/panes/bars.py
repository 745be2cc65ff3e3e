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

    Exact, because the difference of two floats may be more than the greatest one, and large integers are no floats.
    """
    if not isinstance(value, int) and not math.isfinite(value):
        return None
    if not low < high:
        return (top + 1) // 2
    return round((Fraction(value) - Fraction(low)) / (Fraction(high) - Fraction(low)) * top)
