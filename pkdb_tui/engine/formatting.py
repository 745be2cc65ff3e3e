"""How values look, everywhere: numbers, columns, arrays, durations, sizes, ranges; no number is ever cut.

numpy is not imported here, because it takes longer to load than the rest of the start: a value can only be one of
numpy's when numpy is loaded already.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from pkdb_tui.engine.api import Slice

DIGITS = 6  # significant digits of a float in panes
ALL_DIGITS = 17  # what distinguishes any two floats
WIDE_DIGITS = 36  # the same of a longdouble, however long it is


def number(value: Any, digits: int = DIGITS) -> str:
    """A scalar for a pane: a float in full where `digits` significant ones are all it has, else with just so many.

    So `0.25` is all of it, and `0.250000` is a rounded value. Integers are always whole.
    """
    if isinstance(value, bool) or _is_numpy(value, "bool_"):
        return "True" if value else "False"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real):
        real, imaginary = _real(value.real, digits), _real(value.imag, digits)
        sign = "" if imaginary[0] in "+-" else "+"
        return f"{real}{sign}{imaginary}j"
    if isinstance(value, numbers.Real):
        return _real(value, digits)
    return str(value)


def _real(value: Any, digits: int) -> str:
    """numpy's own text of its shorter floats has only the digits that type distinguishes."""
    if _is_wide(value):
        return _wide(value, digits)
    whole = str(value) if _is_numpy(value, "floating") else repr(float(value))
    mantissa = whole.lstrip("-").partition("e")[0].replace(".", "").strip("0")
    if len(mantissa) > digits or not math.isfinite(value):
        return _float(float(value), digits)
    return whole if len(whole) <= digits + 6 else f"{float(value):.{digits}g}"


def _is_wide(value: Any) -> bool:
    """Whether it is a float of more digits than Python's."""
    return _is_numpy(value, "longdouble") and value.itemsize > 8


def _wide(value: Any, digits: int) -> str:
    import numpy

    whole = str(value)
    if len(whole.lstrip("-").partition("e")[0].replace(".", "").strip("0")) <= digits and len(whole) <= digits + 6:
        return whole
    if not numpy.isfinite(value):
        return whole
    exponent = int(numpy.format_float_scientific(value, digits - 1, unique=False).partition("e")[2])
    if -5 < exponent < digits:
        return numpy.format_float_positional(value, digits, unique=False, fractional=False)
    return numpy.format_float_scientific(value, digits - 1, unique=False, exp_digits=2)


def distinct(now: Any, before: Any, digits: int = DIGITS) -> tuple[str, str]:
    """Two numbers as `number` has them, with as many digits as it takes to see that they differ."""
    wide = _is_wide(now)
    read = type(now) if wide else complex
    for more in range(digits, (WIDE_DIGITS if wide else ALL_DIGITS) + 1):
        texts = number(now, more), number(before, more)
        if read(texts[0]) != read(texts[1]):  # 1.0 and 1.00000 read the same
            break
    return texts


def _is_numpy(value: Any, name: str) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, getattr(numpy, name))


def _float(value: float, digits: int) -> str:
    if not math.isfinite(value):
        return str(value)
    text = f"{value:#.{digits}g}"
    mantissa, mark, exponent = text.partition("e")
    return f"{mantissa.rstrip('.') if mark and digits == 1 else mantissa}{mark}{exponent}"


def full(value: Any) -> str:
    """A value as `print` shows it: every digit that distinguishes it, numpy's scalars without their wrapper."""
    if _is_numpy(value, "ndarray"):
        return array(value)
    if _is_numpy(value, "generic"):
        return str(value)
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        return _container(value)
    return repr(value)


def _container(value: Any, limit: int = 1000) -> str:
    if isinstance(value, dict):
        parts = [f"{full(key)}: {full(item)}" for key, item in list(value.items())[:limit]]
    else:
        parts = [full(item) for item in list(value)[:limit]]
    if len(value) > limit:
        parts.append("...")
    if isinstance(value, list):
        return f"[{', '.join(parts)}]"
    if isinstance(value, tuple):
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    if not value and not isinstance(value, dict):
        return "set()"
    return f"{{{', '.join(parts)}}}"


def array(values: np.ndarray[Any, Any], *, threshold: int = 1000, width: int = 100, digits: int = 8) -> str:
    """Array text like numpy's `array([...])`, summarised beyond `threshold` elements."""
    import numpy

    with numpy.printoptions(threshold=threshold, linewidth=width, precision=digits, suppress=False):
        return repr(values)


def layout(text: str, strides: Sequence[int]) -> str:
    """An array's place and layout, with the strides in bytes that `rows` and `columns` stand for."""
    return f"{text}, strides {', '.join(map(str, strides))}" if len(strides) > 1 and "strides" not in text else text


def statistics(part: Slice) -> list[str]:
    """`min 0.1 max 0.9`, `no NaN`, `mean 0.5`, `4 float64`: what is worth least stands last."""
    found = part.statistics
    parts: list[str] = []
    if found.nan or found.inf:
        parts.append(f"{found.nan} NaN {found.inf} Inf")
    if found.minimum is not None:
        parts.append(f"min {number(found.minimum)} max {number(found.maximum)}")
    if not (found.nan or found.inf) and part.values.dtype.kind in "fc":
        parts.append("no NaN")
    if part.truncated:
        parts.append(f"first {thousands(found.count)} of {thousands(part.total)}")
    if found.mean is not None:
        parts.append(f"mean {number(found.mean)}")
    return [*parts, f"{'×'.join(map(str, part.shape)) or '1'} {part.dtype}"]


def columns(values: Sequence[Any], width: int = 0, digits: int = DIGITS) -> list[str]:
    """One text per value, all equally wide and aligned on the decimal point.

    When that is wider than `width` (0: no matter) exponents are used; what still doesn't fit is wider, never cut.
    """
    texts = [number(value, digits) for value in values]
    aligned = _aligned(texts)
    if not width or not aligned or len(aligned[0]) <= width:
        return _padded(aligned, width)
    texts = [_exponent(value, digits) if len(text) > width else text for value, text in zip(values, texts, strict=True)]
    aligned = _aligned(texts)
    if len(aligned[0]) > width:
        aligned = texts
    return _padded(aligned, width)


def _padded(texts: Sequence[str], width: int) -> list[str]:
    longest = max((len(text) for text in texts), default=0)
    return [text.rjust(max(longest, width)) for text in texts]


def _exponent(value: Any, digits: int) -> str:
    if _is_wide(value):
        import numpy

        return numpy.format_float_scientific(value, digits - 1, unique=False, exp_digits=2)
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational) and math.isfinite(value):
        return f"{float(value):.{digits - 1}e}"
    return number(value, digits)


def _aligned(texts: Sequence[str]) -> list[str]:
    """Texts padded so that decimal points (or where they would be) stand in one column."""
    if not any(_is_decimal(text) for text in texts):
        return list(texts)
    tails = [len(text) - _point(text) for text in texts]
    tail = max(tails)
    tails = [tail if text.lstrip("-") in ("nan", "inf") else mine for text, mine in zip(texts, tails, strict=True)]
    return [text + " " * (tail - mine) for text, mine in zip(texts, tails, strict=True)]


def _is_decimal(text: str) -> bool:
    return "." in text and not text.endswith("j")


def _point(text: str) -> int:
    return text.index(".") if _is_decimal(text) else len(text)


def duration(seconds: float) -> str:
    """`0.41 ms`, `1.2 s`, `3 min 05 s`."""
    if not math.isfinite(seconds):
        return str(seconds)
    magnitude = abs(seconds)
    if magnitude >= 59.95:
        whole = round(magnitude)
        minutes, rest = divmod(whole, 60)
        hours, minutes = divmod(minutes, 60)
        text = f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"
        return f"-{text}" if seconds < 0 else text
    if magnitude >= 0.9995:
        return f"{seconds:.1f} s"
    if magnitude >= 0.1e-3:
        return f"{_short(seconds * 1e3)} ms"
    if magnitude == 0:
        return "0 s"
    return f"{_short(seconds * 1e6)} µs"


def _short(value: float) -> str:
    magnitude = abs(value)
    if magnitude >= 99.5:
        return f"{value:.0f}"
    return f"{value:.1f}" if magnitude >= 9.95 else f"{value:.2f}"


def byte_size(count: int) -> str:
    """`512 B`, `1.5 KiB`, `20 GiB`."""
    if abs(count) < 1024:
        return f"{count} B"
    units = ["KiB", "MiB", "GiB", "TiB", "PiB"]
    value = count / 1024
    while abs(value) >= 999.5 and len(units) > 1:
        value /= 1024
        units.pop(0)
    unit = units[0]
    return f"{value:.0f} {unit}" if abs(value) >= 9.95 else f"{value:.1f} {unit}"


def thousands(count: int) -> str:
    """`1,048,576`."""
    return f"{count:,}"


def ranges(members: Iterable[int]) -> str:
    """Thread numbers as a person writes them: `0-3,5`."""
    parts: list[list[int]] = []
    for value in sorted(set(members)):
        if parts and value == parts[-1][1] + 1:
            parts[-1][1] = value
        else:
            parts.append([value, value])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def array_type(dtype: Any, shape: Sequence[int]) -> str:
    """`float64[256, 1024]`."""
    import numpy

    return f"{dtype_name(numpy.dtype(dtype))}[{', '.join(map(str, shape))}]"


def dtype_name(dtype: np.dtype[Any]) -> str:
    """`float64`; `>f8` in the other byte order; `record` where there are fields."""
    return "record" if dtype.names else dtype.name if dtype.isnative else str(dtype)


def type_name(value: Any) -> str:
    """The type a person of Python gives a value: `int`, `float64`, `float64[4]`, `list`."""
    if _is_numpy(value, "ndarray"):
        return array_type(value.dtype, value.shape)
    if _is_numpy(value, "generic"):
        return dtype_name(value.dtype)
    return type(value).__name__
