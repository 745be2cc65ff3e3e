"""Python expressions to C++ text and its type."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any, NoReturn

from pkdb_tui.minikokkos import cpp_types as types
from pkdb_tui.minikokkos.cpp_types import BOOL, DOUBLE, INT, LONG, VOID, CType
from pkdb_tui.minikokkos.errors import CompileError
from pkdb_tui.minikokkos.scope import Scope, cpp_name

if TYPE_CHECKING:
    from pkdb_tui.minikokkos.program import Program

MISSING = object()
ONE = frozenset(
    [
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "ceil",
        "cos",
        "cosh",
        "erf",
        "erfc",
        "exp",
        "exp2",
        "expm1",
        "fabs",
        "floor",
        "lgamma",
        "log",
        "log10",
        "log1p",
        "log2",
        "sin",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
        "tgamma",
        "trunc",
        "cbrt",
        "round",
    ]
)
TWO = frozenset(["atan2", "copysign", "fmax", "fmin", "fmod", "hypot", "pow", "remainder"])
TESTS = frozenset(["isfinite", "isinf", "isnan"])
ALIASES = {"gamma": "tgamma", "arccos": "acos", "arcsin": "asin", "arctan": "atan", "arctan2": "atan2", "power": "pow"}
ATOMICS = frozenset(["add", "sub", "mul", "div", "mod", "max", "min", "and", "or", "xor", "lshift", "rshift"])
CASTS = {**types.VIEW_ELEMENTS, "float": "double"}
_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.LShift: "<<", ast.RShift: ">>",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
_COMPARE = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
Typed = tuple[str, CType]


class Expressions:
    """Translates the expressions of one function; names are looked up in its scope, then among the captured ones."""

    def __init__(self, program: Program, file: str, names: Any) -> None:
        self.program = program
        self.file = file
        self.names = names  # name -> value of the globals and closure of the Python function, or MISSING
        self.scope = Scope()

    def error(self, node: ast.AST, message: str) -> NoReturn:
        """Raise CompileError at a node."""
        raise CompileError(message, self.file, getattr(node, "lineno", 0), getattr(node, "col_offset", -1))

    def of(self, node: ast.expr) -> Typed:
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            self.error(node, f"{_construct(node)} is not supported in a kernel")
        typed: Typed = method(node)
        return typed

    def text(self, node: ast.expr) -> str:
        return self.of(node)[0]

    def number(self, node: ast.expr) -> Typed:
        text, kind = self.of(node)
        if kind.is_view or kind.name in ("void", "team"):
            self.error(node, f"{ast.unparse(node)} is not a number here")
        return text, kind

    def convert(self, node: ast.expr, wanted: CType) -> str:
        text, kind = self.number(node)
        return text if kind.name == wanted.name else cast(text, kind, wanted)

    # --- names and constants ---

    def _Constant(self, node: ast.Constant) -> Typed:
        typed = literal(node.value)
        if typed is None:
            self.error(node, f"the constant {node.value!r} is not supported in a kernel")
        return typed

    def _Name(self, node: ast.Name) -> Typed:
        kind = self.scope.find(node.id)
        if kind is not None:
            return cpp_name(node.id), kind
        return self._captured(node, self.names(node.id), node.id)

    def _captured(self, node: ast.expr, value: Any, name: str) -> Typed:
        if value is MISSING:
            self.error(node, f"{name} is not defined in this kernel")
        typed = literal(
            value.item() if hasattr(value, "item") and hasattr(value, "dtype") and not value.ndim else value
        )
        if typed is None:
            what = f"{name} is a {type(value).__name__}: only numbers can be used from outside a kernel"
            self.error(node, f"{what}, other values must be arguments")
        if isinstance(node, ast.Name):
            self.program.constants[(id(self.names), name)] = (self.names, value)
        return typed

    def object_of(self, node: ast.expr) -> Any:
        """What a dotted name outside the kernel means; MISSING for locals and what is not such a name."""
        if isinstance(node, ast.Name):
            return MISSING if self.scope.find(node.id) else self.names(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.object_of(node.value)
            return MISSING if owner is MISSING else getattr(owner, node.attr, MISSING)
        return MISSING

    def _Attribute(self, node: ast.Attribute) -> Typed:
        value = self.object_of(node)
        if value is not MISSING:
            return self._captured(node, value, ast.unparse(node))
        text, kind = self.of(node.value)
        if kind.is_complex and node.attr in ("real", "imag"):
            return f"{text}.{node.attr}()", DOUBLE if "double" in kind.name else CType("float")
        if kind.is_view and node.attr in ("ndim", "size"):
            return (str(kind.rank), INT) if node.attr == "ndim" else (f"int32_t({text}.size())", INT)
        return self.error(node, f"the attribute {node.attr} is not supported in a kernel")

    # --- operators ---

    def _BinOp(self, node: ast.BinOp) -> Typed:
        left, a = self.number(node.left)
        right, b = self.number(node.right)
        return self.binary(node, node.op, (left, a), (right, b))

    def binary(self, node: ast.AST, op: ast.operator, one: Typed, two: Typed) -> Typed:
        (left, a), (right, b) = one, two
        kind = types.promote(a, b)
        if kind.is_complex:
            left, right = cast(left, a, kind), cast(right, b, kind)
        if isinstance(op, ast.Pow):
            result = kind if kind.is_complex else DOUBLE
            return f"std::pow({cast(left, a, result)}, {cast(right, b, result)})", result
        if isinstance(op, ast.Div):
            return (f"({left} / {right})", kind) if kind.is_complex else (f"(double({left}) / {right})", DOUBLE)
        if isinstance(op, ast.FloorDiv):
            return (f"int32_t({left} / {right})", INT) if kind.is_float else (f"({left} / {right})", kind)
        if isinstance(op, ast.Mod):
            return (f"std::fmod({left}, {right})", kind) if kind.is_float else (f"({left} % {right})", kind)
        sign = _BINARY.get(type(op))
        if sign is None:
            self.error(node, "the operator @ is not supported in a kernel")
        if not isinstance(op, ast.Add | ast.Sub | ast.Mult) and not kind.is_integer:
            self.error(node, f"the operator {sign} needs integers")
        return f"({left} {sign} {right})", kind

    def _UnaryOp(self, node: ast.UnaryOp) -> Typed:
        text, kind = self.number(node.operand)
        if isinstance(node.op, ast.Not):
            return f"(!{text})", BOOL
        sign = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(node.op)]
        return f"({sign}{text})", kind if kind.name not in ("bool", "int8_t", "int16_t") else INT

    def _BoolOp(self, node: ast.BoolOp) -> Typed:
        sign = " && " if isinstance(node.op, ast.And) else " || "
        return f"({sign.join(f'bool({self.number(v)[0]})' for v in node.values)})", BOOL

    def _Compare(self, node: ast.Compare) -> Typed:
        parts = [self.number(value) for value in (node.left, *node.comparators)]
        simple = all(isinstance(n, ast.Name | ast.Constant | ast.Subscript) for n in node.comparators[:-1])
        if not simple:
            self.error(node.comparators[0], "the middle of a chained comparison must be a name, a number or an element")
        tests = []
        for (left, a), op, (right, b) in zip(parts, node.ops, parts[1:], strict=False):
            sign = _COMPARE.get(type(op))
            if sign is None:
                self.error(node, f"the comparison {ast.unparse(node)} is not supported in a kernel")
            kind = types.promote(a, b)
            if kind.is_complex:
                left, right = cast(left, a, kind), cast(right, b, kind)
            tests.append(f"({left} {sign} {right})")
        return (tests[0] if len(tests) == 1 else f"({' && '.join(tests)})"), BOOL

    def _IfExp(self, node: ast.IfExp) -> Typed:
        (yes, a), (no, b) = self.number(node.body), self.number(node.orelse)
        kind = a if a.name == b.name else types.promote(a, b)
        return f"({self.number(node.test)[0]} ? {cast(yes, a, kind)} : {cast(no, b, kind)})", kind

    # --- views ---

    def _Subscript(self, node: ast.Subscript) -> Typed:
        shape = self._extent_of_shape(node)
        if shape is not None:
            return shape
        base: ast.expr = node
        indices: list[ast.expr] = []
        while isinstance(base, ast.Subscript):
            part = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
            if any(isinstance(index, ast.Slice) for index in part) and indices:
                self.error(base, "an index after a slice is not supported: write both in one pair of brackets")
            indices = [*part, *indices]
            base = base.value
        text, kind = self.of(base)
        if not kind.is_view:
            self.error(base, f"{ast.unparse(base)} is not a view")
        if len(indices) > kind.rank:
            self.error(node, f"{ast.unparse(base)} has {kind.rank} dimensions, {len(indices)} indices are given")
        if len(indices) == kind.rank and not any(isinstance(index, ast.Slice) for index in indices):
            return f"{text}({', '.join(self.index(index) for index in indices)})", CType(kind.name)
        return self._subview(text, kind, indices)

    def index(self, node: ast.expr) -> str:
        text, kind = self.number(node)
        if not kind.is_integer:
            self.error(node, f"the index {ast.unparse(node)} is a {kind.name}, not an integer: use int(…)")
        return text

    def _subview(self, text: str, kind: CType, indices: list[ast.expr]) -> Typed:
        dim = 0
        for index in indices:
            if isinstance(index, ast.Slice):
                step = self.index(index.step) if index.step else "1"
                low = self.index(index.lower) if index.lower else "0"
                high = self.index(index.upper) if index.upper else f"{text}.extent[{dim}]"
                if index.lower or index.upper or index.step:
                    text = f"{text}.template slice<{dim}>({low}, {high}, {step})"
                dim += 1
            else:
                text = f"{text}.template drop<{dim}>({self.index(index)})"
        return text, CType(kind.name, kind.rank - sum(not isinstance(index, ast.Slice) for index in indices))

    def _extent_of_shape(self, node: ast.Subscript) -> Typed | None:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            text, kind = self.of(node.value.value)
            if kind.is_view:
                return f"int32_t({text}.extent[{self.index(node.slice)}])", INT
        return None

    # --- calls ---

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
            return f"std::{name}(double({texts[0]}))", BOOL
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
            return f"std::abs({text})", DOUBLE
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
        return "__atomic_thread_fence(__ATOMIC_SEQ_CST)", VOID

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
        place = f"&{view}({', '.join(self.index(index) for index in given)})"
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


def cast(text: str, kind: CType, wanted: CType) -> str:
    """`text` as the wanted type; complex numbers need it said."""
    return text if kind.name == wanted.name else f"{wanted.name}({text})"


def literal(value: Any) -> Typed | None:
    """A Python number as C++ text."""
    if isinstance(value, bool):
        return ("true" if value else "false"), BOOL
    if isinstance(value, int):
        if -(2**31) < value < 2**31:
            return str(value), INT
        if -(2**63) < value < 2**63:
            return f"INT64_C({value})", LONG
        return (f"UINT64_C({value})", CType("uint64_t")) if 0 < value < 2**64 else None
    if isinstance(value, float):
        if math.isfinite(value):
            return repr(value), DOUBLE
        return ("double(NAN)" if math.isnan(value) else f"double({'-' if value < 0 else ''}INFINITY)"), DOUBLE
    if isinstance(value, complex):
        return f"std::complex<double>({value.real!r}, {value.imag!r})", CType("std::complex<double>")
    return None


def c_string(text: str) -> str:
    """A C++ string literal."""
    parts = []
    for byte in text.encode():
        char = chr(byte)
        parts.append(char if 32 <= byte < 127 and char not in '"\\?' else f"\\{byte:03o}")
    return f'"{"".join(parts)}"'


def _widen(text: str, arguments: list[ast.expr], of: Expressions) -> str:
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
            wide = not is_text and of.number(argument)[1].name in ("int64_t", "uint64_t")
            bare = piece[letter:].lstrip("hlqjzt")
            if wide and bare[:1] in tuple("diuxXo"):
                pieces[place] = piece[:letter] + "ll" + bare
            number += 1
        place += 1
    return "%".join(pieces)


def _construct(node: ast.AST) -> str:
    names = {
        "ListComp": "a list comprehension", "List": "a list", "Dict": "a dictionary", "Tuple": "a tuple",
        "Set": "a set", "Await": "await", "Yield": "yield", "JoinedStr": "an f-string", "NamedExpr": ":=",
        "Lambda": "a lambda", "Starred": "*", "GeneratorExp": "a generator", "Try": "try", "With": "with",
        "Raise": "raise", "Import": "import", "ImportFrom": "import", "ClassDef": "a class", "Delete": "del",
        "Match": "match", "Assert": "assert", "Global": "global", "AsyncFor": "async for", "Slice": "a slice",
    }  # fmt: skip
    return names.get(type(node).__name__, type(node).__name__)
