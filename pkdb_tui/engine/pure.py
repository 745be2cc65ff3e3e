"""What an expression at a kernel stop may call: functions without side effects and with bounded results."""

from __future__ import annotations

import cmath
import math
import warnings
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from pkdb_tui.engine import team
from pkdb_tui.engine.errors import ExpressionError
from pkdb_tui.engine.team import TeamMember

Function = Callable[..., Any]

MODULES: dict[str, ModuleType] = {"math": math, "cmath": cmath, "np": np, "numpy": np}

BUILTINS: dict[str, Function] = {
    function.__name__: function
    for function in (
        abs, all, any, bin, bool, chr, complex, divmod, enumerate, float, hex, int, len, list, max, min, next, oct, ord,
        pow, range, reversed, round, set, sorted, str, sum, tuple, zip,
    )
}  # fmt: skip


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ELEMENTWISE = _words("""
    abs absolute add angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_or bitwise_xor cbrt
    ceil clip conj conjugate copysign cos cosh deg2rad degrees divide divmod equal exp exp2 expm1 fabs float_power floor
    floor_divide fmax fmin fmod gcd greater greater_equal heaviside hypot imag invert isclose isfinite isinf isnan lcm
    left_shift less less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor maximum
    minimum mod multiply nan_to_num negative nextafter not_equal power rad2deg radians real reciprocal remainder
    right_shift rint round sign signbit sin sinc sinh spacing sqrt square subtract tan tanh true_divide trunc where
""")

_BOUNDED = _words("""
    all allclose any argmax argmin argsort argwhere array_equal average bincount concatenate count_nonzero cross cumprod
    cumsum diag diagonal diff dot dtype expand_dims finfo flatnonzero flip histogram hstack iinfo inner interp isin
    isscalar iscomplexobj linalg.norm matmul max mean median min moveaxis nanargmax nanargmin nanmax nanmean nanmedian
    nanmin nanstd nansum nanvar ndim nonzero percentile prod ptp quantile ravel reshape roll searchsorted shape size
    sort squeeze stack std sum swapaxes take trace transpose unique var vdot vstack
    bool_ complex64 complex128 clongdouble float16 float32 float64 longdouble int8 int16 int32 int64 uint8 uint16 uint32
    uint64 intp
    array asarray arange zeros ones full eye linspace outer
""")

_CONSTANTS = _words("pi e inf nan newaxis euler_gamma tau nanj infj")

_METHODS = _words(
    """
    all any argmax argmin argsort astype clip conj conjugate copy cumprod cumsum diagonal dot flatten item max mean min
    nonzero prod ravel reshape round searchsorted sort squeeze std sum swapaxes take tolist trace transpose var
    bit_count is_integer bit_length hex
    """
)

ARRAY_ATTRIBUTES = _words("shape ndim size dtype strides itemsize nbytes T real imag name kind")

_MATH_REFUSED = frozenset({"factorial", "comb", "perm", "prod", "sumprod", "fsum", "dist"})

# Largest integer, in bits, that an expression may compute.
INTEGER_BITS = 1 << 14


def module_attribute(dotted: str) -> Any:
    """The allowed function or constant `np.sqrt`, `math.pi`, `np.linalg.norm`. Raises ExpressionError for others."""
    module, _, name = dotted.partition(".")
    numpy = MODULES[module] is np
    allowed = name in _ELEMENTWISE or name in _BOUNDED or name in _CONSTANTS
    if not numpy:
        allowed = not name.startswith("_") and name not in _MATH_REFUSED
    value: Any = MODULES[module]
    try:
        for part in name.split("."):
            value = getattr(value, part)
    except AttributeError:
        raise ExpressionError(f"`{dotted}` does not exist.") from None
    if not allowed:
        raise ExpressionError(
            f"`{dotted}` can't be used at a kernel stop; only functions without side effects and of bounded size can."
        )
    return value


def check_call(name: str, arguments: Sequence[Any], keywords: dict[str, Any], limit: int) -> None:
    """Refuses calls whose result would be larger than `limit` elements, before they are made."""
    module, _, short = name.rpartition(".")
    if module in ("np", "numpy"):
        _check_size(name, short, [*arguments, *keywords.values()], arguments, limit)
    if short in ("pow", "power", "float_power") and len(arguments) >= 2:
        check_power(arguments[0], arguments[1])
    for value in (*arguments, *keywords.values()):
        if short in _TYPED and isinstance(value, (str, list, tuple, dict)):
            _check_dtype(name, value)


_TYPED = _words("astype array asarray zeros ones full dtype arange eye linspace")


def _check_dtype(name: str, value: Any) -> None:
    try:
        dtype = np.dtype(value)
    except (TypeError, ValueError):
        return
    if dtype.kind not in "biufc":
        raise ExpressionError(f"`{name}` with the type {value!r} can't be used at a kernel stop.")


def _check_size(name: str, short: str, values: Sequence[Any], arguments: Sequence[Any], limit: int) -> None:
    count = 0
    if short in _ELEMENTWISE:
        count = broadcast_size(values)
    elif short in ("zeros", "ones", "full", "eye") and arguments:
        shape = arguments[:2] if short == "eye" and len(arguments) > 1 else arguments[0]
        count = math.prod(int(n) for n in np.atleast_1d(np.asarray(shape)))
        count = count * count if short == "eye" and len(arguments) == 1 else count
    elif short == "linspace":
        count = int(values[2]) if len(values) > 2 else 50
    elif short == "arange" and arguments:
        numbers = [float(value) for value in arguments[:3] if not isinstance(value, str)]
        start, stop, step = [0.0, numbers[0], 1.0] if len(numbers) == 1 else [*numbers, 1.0][:3]
        count = math.ceil((stop - start) / step) if step else 0
    elif short == "outer" and len(arguments) > 1:
        count = np.size(arguments[0]) * np.size(arguments[1])
    elif short in ("bincount", "histogram"):
        count = max((int(np.max(value)) for value in values if np.size(value)), default=0)
    elif short in ("dot", "matmul", "inner") and len(arguments) > 1:
        left, right = np.shape(arguments[0]), np.shape(arguments[1])
        count = math.prod(left[:-1]) * math.prod(right[1:]) if left and right else 0
    _refuse_large(name, count, limit)


def broadcast_size(values: Sequence[Any]) -> int:
    """Elements of the result of combining these element by element; 0 when their shapes don't fit."""
    try:
        return math.prod(np.broadcast_shapes(*(np.shape(value) for value in values)))
    except ValueError:
        return 0


def _refuse_large(name: str, count: int, limit: int) -> None:
    if count > limit:
        raise ExpressionError(f"`{name}` would make {count:,} elements, more than the limit of {limit:,}.")


def check_operands(symbol: str, left: Any, right: Any, limit: int) -> None:
    """Refuses an operation whose result would be unreasonably large: repetition, shifts, powers, broadcasting."""
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        if symbol == "@" and np.ndim(left) and np.ndim(right):
            _refuse_large("@", math.prod(np.shape(left)[:-1]) * math.prod(np.shape(right)[1:]), limit)
        elif symbol != "@":
            _refuse_large(symbol, broadcast_size((left, right)), limit)
        return
    if symbol == "**":
        check_power(left, right)
    if symbol == "<<" and isinstance(left, int) and isinstance(right, int):
        _refuse_bits(left.bit_length() + max(right, 0))
    if symbol == "*":
        for text, times in ((left, right), (right, left)):
            if isinstance(text, (str, list, tuple)) and isinstance(times, (int, np.integer)):
                _refuse_large("*", len(text) * int(times), 10_000)
        if isinstance(left, int) and isinstance(right, int):
            _refuse_bits(left.bit_length() + right.bit_length())
    if symbol == "%" and isinstance(left, str):
        raise ExpressionError("Text formatting with `%` can't be used here.", "Use an f-string.")


def check_power(base: Any, exponent: Any) -> None:
    """Refuses integer powers of more than `INTEGER_BITS` bits."""
    if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1 and exponent > 0:
        _refuse_bits(base.bit_length() * exponent)


def _refuse_bits(bits: int) -> None:
    if bits > INTEGER_BITS:
        raise ExpressionError(f"The result would be an integer of {bits:,} bits, more than {INTEGER_BITS:,}.")


def method(value: Any, name: str) -> Function:
    """The allowed method of an array, a number or a team member. Raises ExpressionError for others."""
    if isinstance(value, TeamMember) and team.has_method(name):
        asked: Function = getattr(value, name)
        return asked
    if name not in _METHODS or not isinstance(value, (np.ndarray, np.generic, int, float, complex)):
        raise ExpressionError(f"`.{name}()` of a {type(value).__name__} can't be used at a kernel stop.")
    function: Function = getattr(value, name)
    return function


def quietly(function: Function, *arguments: Any, **keywords: Any) -> Any:
    """Calls without numpy's warnings: an overflow or 0/0 in an expression is its value, not a message."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*arguments, **keywords)
