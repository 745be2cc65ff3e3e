"""What kernels call, as Python functions: used by the space Debug, and by a decorated function called from Python."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

_lock = threading.Lock()


def _place(indices: Any) -> Any:
    return tuple(indices) if isinstance(indices, list | tuple) else indices


def _atomic(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def operation(view: Any, indices: Any, value: Any) -> Any:
        """Change one element and give its value before; no other thread comes between."""
        place = _place(indices)
        with _lock:
            before = view[place]
            view[place] = change(before, value)
        return before

    return operation


atomic_fetch_add = atomic_add = _atomic(lambda old, value: old + value)
atomic_fetch_sub = atomic_sub = _atomic(lambda old, value: old - value)
atomic_fetch_mul = atomic_mul = _atomic(lambda old, value: old * value)
atomic_fetch_div = atomic_div = _atomic(lambda old, value: old / value)
atomic_fetch_mod = atomic_mod = _atomic(lambda old, value: math.fmod(old, value))
atomic_fetch_max = atomic_max = _atomic(max)
atomic_fetch_min = atomic_min = _atomic(min)
atomic_fetch_and = atomic_and = _atomic(lambda old, value: old & value)
atomic_fetch_or = atomic_or = _atomic(lambda old, value: old | value)
atomic_fetch_xor = atomic_xor = _atomic(lambda old, value: old ^ value)
atomic_fetch_lshift = _atomic(lambda old, value: old << value)
atomic_fetch_rshift = _atomic(lambda old, value: old >> value)
atomic_exchange = _atomic(lambda old, value: value)


def atomic_increment(view: Any, indices: Any) -> Any:
    """Add one to an element."""
    return atomic_add(view, indices, 1)


def atomic_decrement(view: Any, indices: Any) -> Any:
    """Take one from an element."""
    return atomic_sub(view, indices, 1)


def atomic_load(view: Any, indices: Any) -> Any:
    """An element's value."""
    with _lock:
        return view[_place(indices)]


def atomic_compare_exchange(view: Any, indices: Any, comparison_value: Any, new_value: Any) -> Any:
    """Set an element where it equals the comparison value; gives its value before."""
    place = _place(indices)
    with _lock:
        before = view[place]
        if before == comparison_value:
            view[place] = new_value
    return before


def printf(format: str, *values: Any) -> None:
    """Print as C does."""
    print(format % values if values else format.replace("%%", "%"), end="")


def fence(*names: Any) -> None:
    """Wait for kernels: they are done when a launch returns."""


def rsqrt(value: float) -> float:
    """One over the square root."""
    return 1.0 / math.sqrt(value)


acos, acosh, asin, asinh = np.arccos, np.arccosh, np.arcsin, np.arcsinh
atan, atan2, atanh = np.arctan, np.arctan2, np.arctanh
ceil, floor, trunc, round = np.ceil, np.floor, np.trunc, np.round
cos, cosh, sin, sinh, tan, tanh = np.cos, np.cosh, np.sin, np.sinh, np.tan, np.tanh
exp, exp2, expm1, log, log10, log1p, log2 = np.exp, np.exp2, np.expm1, np.log, np.log10, np.log1p, np.log2
sqrt, cbrt, fabs, hypot, pow, power = np.sqrt, np.cbrt, np.fabs, np.hypot, np.power, np.power
fmax, fmin, fmod, copysign, remainder = np.fmax, np.fmin, np.fmod, np.copysign, math.remainder
degrees, radians = np.degrees, np.radians
erf, erfc, lgamma, tgamma = math.erf, math.erfc, math.lgamma, math.gamma
isfinite, isinf, isnan = np.isfinite, np.isinf, np.isnan
abs, min, max = abs, min, max
e, pi, tau, inf, nan = math.e, math.pi, math.tau, math.inf, math.nan
