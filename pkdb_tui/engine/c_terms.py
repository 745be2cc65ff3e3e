"""The parts native conditions are made of: C text with its kind, literals, and functions that need no call."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pkdb_tui.engine.errors import ExpressionError

INFINITY, NAN = "(1.0/0.0)", "(0.0/0.0)"


@dataclass(frozen=True)
class Term:
    """C text that needs no further parentheses, and its kind: int, float or bool."""

    text: str
    kind: str

    @property
    def number(self) -> Term:
        """The same as a number: gdb refuses arithmetic on its booleans."""
        return Term(f"({self.text} ? 1L : 0L)", "int") if self.kind == "bool" else self

    @property
    def truth(self) -> str:
        return self.text if self.kind == "bool" else f"({self.text} != 0)"


def literal(value: bool | int | float) -> Term:
    """A Python number as C text. Raises ExpressionError for integers of more than 64 bits."""
    if isinstance(value, bool):
        return Term("true" if value else "false", "bool")
    if isinstance(value, int):
        if not -(1 << 63) < value < 1 << 63:
            raise ExpressionError(f"{value} doesn't fit in 64 bits.")
        return Term(f"{value}L" if value >= 0 else f"({value}L)", "int")
    if math.isnan(value):
        return Term(NAN, "float")
    if math.isinf(value):
        return Term(INFINITY if value > 0 else f"(-{INFINITY})", "float")
    return Term(repr(value) if value >= 0 else f"({value!r})", "float")


def typed(shown: str, text: str, dtype: np.dtype[Any]) -> Term:
    """C text that reads a `dtype`, widened to 64 bits. Raises ExpressionError for what has no exact arithmetic."""
    if dtype.kind == "b":
        return Term(text, "bool")
    if not dtype.isnative or (dtype.kind == "f" and dtype.itemsize not in (4, 8)):
        raise ExpressionError(f"`{shown}` is a {dtype}, which has no exact native arithmetic here.")
    if dtype.kind == "f":
        return Term(f"(double){text}", "float")
    if dtype.kind == "u" and dtype.itemsize == 8:
        raise ExpressionError(f"`{shown}` is a 64-bit unsigned integer, which has no exact native arithmetic here.")
    if dtype.kind in "iu":
        return Term(f"(long){text}", "int")
    raise ExpressionError(f"`{shown}` is not a real number; a condition needs numbers.")


def _absolute(term: Term) -> Term:
    text = term.number.text
    return Term(f"({text} < 0 ? -{text} : {text})", term.number.kind)


def _rounded(correction: str, kind: str) -> Callable[[Term], Term]:
    """floor and ceil by a cast, which rounds towards zero, and a correction; exact below 2**63."""

    def convert(term: Term) -> Term:
        text = term.number.text
        cast = f"(long){text}"
        found = f"({cast} + {correction.format(x=text, cast=cast)})"
        return Term(found if kind == "int" else f"(double){found}", kind)

    return convert


def _cast(c_name: str, kind: str) -> Callable[[Term], Term]:
    return lambda term: Term(f"({c_name}){term.number.text}", kind)


def _test(pattern: str) -> Callable[[Term], Term]:
    return lambda term: Term(pattern.format(x=term.number.text), "bool")


BUILTINS = frozenset({"abs", "int", "float", "bool"})
FUNCTIONS: dict[str, Callable[[Term], Term]] = {
    "abs": _absolute,
    "absolute": _absolute,
    "fabs": lambda term: _cast("double", "float")(_absolute(term)),
    "int": _cast("long", "int"),
    "trunc": _cast("long", "int"),
    "float": _cast("double", "float"),
    "bool": lambda term: Term(term.truth, "bool"),
    "floor": _rounded("({x} < {cast} ? -1L : 0L)", "int"),
    "ceil": _rounded("({x} > {cast} ? 1L : 0L)", "int"),
    "isnan": _test("({x} != {x})"),
    "isinf": _test("(({x} == (1.0/0.0)) || ({x} == -(1.0/0.0)))"),
    "isfinite": _test("(({x} - {x}) == 0)"),
}
