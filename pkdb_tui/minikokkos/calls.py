"""Calls inside kernels: mathematics, atomics, printf, methods of views and team members."""

from __future__ import annotations

import ast
import math

from pkdb_tui.minikokkos import cpp_types as types
from pkdb_tui.minikokkos.cpp_types import BOOL, DOUBLE, INT, LONG, VOID, CType
from pkdb_tui.minikokkos.expressions import MISSING, Expressions, Typed, c_string, cast

ONE = frozenset(
    """
    acos acosh asin asinh atan atanh ceil cos cosh erf erfc exp exp2 expm1 fabs floor lgamma log log10 log1p
    log2 sin sinh sqrt tan tanh tgamma trunc cbrt round
    """.split()  # noqa: SIM905
)
TWO = frozenset(["atan2", "copysign", "fmax", "fmin", "fmod", "hypot", "pow", "remainder"])
TESTS = frozenset(["isfinite", "isinf", "isnan"])
ALIASES = {"gamma": "tgamma", "arccos": "acos", "arcsin": "asin", "arctan": "atan", "arctan2": "atan2", "power": "pow"}
ATOMICS = frozenset(["add", "sub", "mul", "div", "mod", "max", "min", "and", "or", "xor", "lshift", "rshift"])
CASTS = {**types.VIEW_ELEMENTS, "float": "double"}


class Calls(Expressions):
    """Expressions with calls."""

    def _Call(self, node: ast.Call) -> Typed:
        if node.keywords:
            self.error(node, "keyword arguments are not supported in a kernel")
        if isinstance(node.func, ast.Attribute) and self.object_of(node.func.value) is MISSING:
            return self._method(node, node.func)
        target = self.object_of(node.func)
        if target is not MISSING and getattr(target, "__pk_function__", False):
            arguments = [self.of(argument) for argument in node.args]
            return self.program.call(self, node, target, arguments)
        name = types.last_name(node.func)
        nested = self._nested_call(node, name)
        if nested is not None:
            return nested
        method = getattr(self, f"_call_{name}", None)
        if method is not None:
            typed: Typed = method(node)
            return typed
        return self._library(node, ALIASES.get(name, name))

    def _nested_call(self, node: ast.Call, name: str) -> Typed | None:
        """Calls that only statements can make; the statement translator answers them."""
        return None

    def _library(self, node: ast.Call, name: str) -> Typed:
        if name.startswith("atomic_"):
            return self._atomic(node, name)
        arguments = [self.number(argument) for argument in node.args]
        kinds = [kind for _, kind in arguments]
        texts = [text for text, _ in arguments]
        if name in ONE and len(arguments) == 1:
            kind = kinds[0] if kinds[0].is_float or kinds[0].is_complex else DOUBLE
            return f"std::{name}({cast(texts[0], kinds[0], kind)})", kind
        if name in TWO and len(arguments) == 2:
            kind = types.promote(*kinds)
            kind = kind if kind.is_float or kind.is_complex else DOUBLE
            return f"std::{name}({', '.join(cast(t, k, kind) for t, k in arguments)})", kind
        if name in TESTS and len(arguments) == 1:
            wide = kinds[0].name == "pk::longdouble"
            return f"std::{name}({texts[0] if wide else f'double({texts[0]})'})", BOOL
        if name in CASTS and len(arguments) == 1:
            return cast(texts[0], kinds[0], CType(CASTS[name])), CType(CASTS[name])
        if name in ("complex64", "complex128", "complex") and 1 <= len(arguments) <= 2:
            part = "float" if name == "complex64" else "double"
            return f"std::complex<{part}>({', '.join(texts)})", CType(f"std::complex<{part}>")
        if name == "print":
            self.error(node, "print is not supported in a kernel: use pk.printf")
        return self.error(node, f"the function {ast.unparse(node.func)} is not supported in a kernel")

    def _call_rsqrt(self, node: ast.Call) -> Typed:
        return f"(1.0 / std::sqrt(double({self.number(node.args[0])[0]})))", DOUBLE

    def _call_degrees(self, node: ast.Call) -> Typed:
        return f"(double({self.number(node.args[0])[0]}) * {180 / math.pi!r})", DOUBLE

    def _call_radians(self, node: ast.Call) -> Typed:
        return f"(double({self.number(node.args[0])[0]}) * {math.pi / 180!r})", DOUBLE

    def _call_abs(self, node: ast.Call) -> Typed:
        text, kind = self.number(node.args[0])
        if kind.is_complex:
            return f"std::abs({text})", CType("pk::longdouble") if "longdouble" in kind.name else DOUBLE
        return f"pk::abs({text})", kind

    def _extreme(self, node: ast.Call, name: str) -> Typed:
        if len(node.args) < 2:
            self.error(node, f"{name} needs two values or more in a kernel")
        text, kind = self.number(node.args[0])
        for argument in node.args[1:]:
            other, b = self.number(argument)
            text, kind = f"pk::{name}({text}, {other})", types.promote(kind, b)
        return text, kind

    def _call_min(self, node: ast.Call) -> Typed:
        return self._extreme(node, "min")

    def _call_max(self, node: ast.Call) -> Typed:
        return self._extreme(node, "max")

    def _call_len(self, node: ast.Call) -> Typed:
        text, kind = self.of(node.args[0])
        if not kind.is_view:
            self.error(node, f"len needs a view, {ast.unparse(node.args[0])} is none")
        return f"int32_t({text}.extent[0])", INT

    def _call_fence(self, node: ast.Call) -> Typed:
        return "pk::fence()" if self.program.device else "__atomic_thread_fence(__ATOMIC_SEQ_CST)", VOID

    def _call_printf(self, node: ast.Call) -> Typed:
        first = node.args[0] if node.args else node
        if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
            self.error(first, "pk.printf needs its format as a text constant")
        values = []
        for argument in node.args[1:]:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                values.append(c_string(argument.value))
                continue
            text, kind = self.number(argument)
            values.append(f"(long long)({text})" if kind in (LONG, CType("uint64_t")) else text)
        formats = _widen(first.value, node.args[1:], self)
        return f"std::printf({', '.join([c_string(formats), *values])})", VOID

    def _atomic(self, node: ast.Call, name: str) -> Typed:
        short = name.removeprefix("atomic_").removeprefix("fetch_")
        counts = {"increment": 2, "decrement": 2, "compare_exchange": 4, "load": 2}
        known = short in ATOMICS or short in counts or short == "exchange"
        if not known or len(node.args) != counts.get(short, 3):
            self.error(node, f"{name} is called with (view, [indices], value)" if known else f"{name} is not supported")
        view, kind = self.of(node.args[0])
        given = node.args[1].elts if isinstance(node.args[1], ast.List | ast.Tuple) else [node.args[1]]
        if kind.rank != len(given):
            self.error(node.args[1], f"{ast.unparse(node.args[0])} needs {kind.rank} indices in brackets")
        element = CType(kind.name)
        if kind.record is not None:
            self.error(
                node.args[0],
                f"{ast.unparse(node.args[0])} has records: name a field, such as "
                f'{ast.unparse(node.args[0])}["{kind.record.dtype.names[0]}"]',
            )
        place = f"{'' if kind.is_loose else '&'}{view}({', '.join(self.index(index) for index in given)})"
        rest = [f"{element.name}({self.number(value)[0]})" for value in node.args[2:]]
        if short in ("increment", "decrement"):
            rest = [f"{element.name}(1)"]
            short = "add" if short == "increment" else "sub"
        call = f"fetch_{short}" if short in ATOMICS else short
        return f"pk::atomic_{call}<{element.name}>({', '.join([place, *rest])})", element

    def _method(self, node: ast.Call, func: ast.Attribute) -> Typed:
        text, kind = self.of(func.value)
        if kind.name == "team" and func.attr in ("league_rank", "league_size", "team_rank", "team_size"):
            return f"{text}.{func.attr}()", INT
        if kind.name == "team" and func.attr == "team_barrier":
            return f"{text}.team_barrier()", VOID
        if kind.is_view and func.attr == "extent" and len(node.args) == 1:
            return f"int32_t({text}.extent[{self.index(node.args[0])}])", INT
        if kind.is_view and func.attr in ("rank", "size"):
            return (str(kind.rank), INT) if func.attr == "rank" else (f"int32_t({text}.size())", INT)
        return self.error(node, f"the method {func.attr} is not supported in a kernel")


def _widen(text: str, arguments: list[ast.expr], of: Calls) -> str:
    """The format with `ll` where a 64-bit integer is printed by %d, which PyKokkos leaves to the person."""
    pieces = text.split("%")
    place, number = 1, 0
    while place < len(pieces):
        piece = pieces[place]
        if piece == "" and place + 1 < len(pieces):
            place += 2
            continue
        letter = next((i for i, char in enumerate(piece) if char.isalpha()), None)
        if letter is not None and number < len(arguments):
            argument = arguments[number]
            is_text = isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            name = "" if is_text else of.number(argument)[1].name
            bare = piece[letter:].lstrip("hlqjztL")
            if name in ("int64_t", "uint64_t") and bare[:1] in tuple("diuxXo"):
                pieces[place] = piece[:letter] + "ll" + bare
            elif name == "pk::longdouble" and bare[:1] in tuple("aAeEfFgG"):
                pieces[place] = piece[:letter] + "L" + bare
            number += 1
        place += 1
    return "%".join(pieces)
