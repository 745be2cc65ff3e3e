"""Python expressions to C++ text and its type."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from pkdb_tui.minikokkos import cpp_types as types
from pkdb_tui.minikokkos.cpp_types import BOOL, DOUBLE, INT, LONG, CType
from pkdb_tui.minikokkos.elements import element_of
from pkdb_tui.minikokkos.errors import CompileError
from pkdb_tui.minikokkos.records import record_of
from pkdb_tui.minikokkos.scope import Scope, cpp_name
from pkdb_tui.minikokkos.spans import operands

if TYPE_CHECKING:
    from pkdb_tui.minikokkos.program import Program

MISSING = object()
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
        self.in_condition = False  # a condition has Python's meaning where a kernel has that of C++

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
        """A number's text and type; one of 16 bits as what it is computed with, but where it is assigned to."""
        text, kind = self.of(node)
        if kind.is_view or kind.name in ("void", "team", "record"):
            fields = f": name one of its fields, {kind.record.names}" if kind.record is not None else ""
            self.error(node, f"{ast.unparse(node)} is not a number here{fields}")
        if kind.name == "pk::half" and not isinstance(getattr(node, "ctx", None), ast.Store):
            return f"float({text})", CType("float")
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
        typed = typed or wide_literal(value)
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
        if kind.record is not None and (kind.rank == 0 or node.attr not in ("ndim", "size")):
            if not kind.record.attributes or kind.rank:
                self.error(node, f'a field is named in brackets: {ast.unparse(node.value)}["{node.attr}"]')
            return self._field(node, text, kind, node.attr)
        if kind.is_complex and node.attr in ("real", "imag"):
            return f"{text}.{node.attr}()", CType(kind.name.removeprefix("std::complex<").removesuffix(">"))
        if kind.is_view and node.attr in ("ndim", "size"):
            return (str(kind.rank), INT) if node.attr == "ndim" else (f"int32_t({text}.size())", INT)
        return self.error(node, f"the attribute {node.attr} is not supported in a kernel")

    # --- operators ---

    def _BinOp(self, node: ast.BinOp) -> Typed:
        first, operations = operands(node)
        typed = self.number(first)
        for part in operations:
            typed = self.binary(part, part.op, typed, self.number(part.right))
        return typed

    def binary(self, node: ast.AST, op: ast.operator, one: Typed, two: Typed) -> Typed:
        (left, a), (right, b) = one, two
        kind = types.promote(a, b)
        if kind.is_complex:
            left, right = cast(left, a, kind), cast(right, b, kind)
        if isinstance(op, ast.Pow):
            result = kind if kind.is_complex or kind.name == "pk::longdouble" else DOUBLE
            return f"std::pow({cast(left, a, result)}, {cast(right, b, result)})", result
        if isinstance(op, ast.Div):
            if kind.name == "pk::longdouble":
                return f"({cast(left, a, kind)} / {right})", kind
            return (f"({left} / {right})", kind) if kind.is_complex else (f"(double({left}) / {right})", DOUBLE)
        if self.in_condition and kind.is_integer and isinstance(op, ast.FloorDiv | ast.Mod):
            name = "floor_div" if isinstance(op, ast.FloorDiv) else "floor_mod"
            return f"pk::{name}({'pk_condition, ' if self.program.device else ''}{left}, {right})", kind
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
        name = _field_name(node)
        if name is not None:
            text, kind = self.of(node.value)
            if kind.record is None:
                self.error(node, f"{ast.unparse(node.value)} has no fields")
            return self._field(node, text, kind, name)
        while isinstance(base, ast.Subscript) and _field_name(base) is None:
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
            listed = ", ".join(self.index(index) for index in indices)
            if kind.is_loose:
                return self._loose(node, text, kind, listed)
            if self.in_condition and self.program.device:
                return f"pk::met(pk_condition, {text}, {listed})", CType(kind.name)
            return f"{text}({listed})", CType(kind.name)
        return self._subview(text, kind, indices)

    @staticmethod
    def _loose(node: ast.expr, text: str, kind: CType, listed: str = "") -> Typed:
        """One element of what is read byte by byte: its value, its place where it is assigned to, or a record."""
        stored = isinstance(getattr(node, "ctx", None), ast.Store)
        call = "" if stored or kind.record is not None else ".get"
        return f"{text}{call}({listed})", kind.value

    def _field(self, node: ast.expr, text: str, kind: CType, name: str) -> Typed:
        """A field of one record, or of all records of an array: again an array."""
        assert kind.record is not None
        found = kind.record.field(name)
        if found is None:
            self.error(node, f"there is no field {name}: the fields are {kind.record.names}")
        record, element = record_of(found.dtype, None if found.shape else kind.record), element_of(found.dtype)
        if record is None and element is None:
            self.error(node, f"the field {name} is {found.dtype}, which kernels can't use")
        rank = kind.rank + len(found.shape)
        if rank > 8:
            self.error(node, f"{ast.unparse(node)} has {rank} dimensions: views have 1 to 8")
        if record is not None:
            part = CType("record", rank, record=record)
        else:
            part = CType(element or "", rank, access="Unaligned" if found.dtype.isnative else "Swapped")
        shown = c_string(part.record.description) if part.record is not None else "nullptr"
        extents = "".join(f", {extent}" for extent in found.shape)
        text = f"{text}.template field<{part.element}>({found.offset}, {shown}{extents})"
        return self._loose(node, text, part) if rank == 0 and record is None else (text, part)

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
        return text, kind.of_rank(kind.rank - sum(not isinstance(index, ast.Slice) for index in indices))

    def _extent_of_shape(self, node: ast.Subscript) -> Typed | None:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            text, kind = self.of(node.value.value)
            if kind.is_view:
                return f"int32_t({text}.extent[{self.index(node.slice)}])", INT
        return None


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


def wide_literal(value: Any) -> Typed | None:
    """numpy's longdouble, which Python has no number for."""
    if not isinstance(value, np.longdouble):
        return None
    if not np.isfinite(value):
        return literal(float(value))
    return f"pk::longdouble({np.format_float_scientific(value)}L)", CType("pk::longdouble")


def _field_name(node: ast.Subscript) -> str | None:
    """`x` of `a["x"]`."""
    return node.slice.value if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str) else None


def c_string(text: str) -> str:
    """A C++ string literal."""
    parts = []
    for byte in text.encode():
        char = chr(byte)
        parts.append(char if 32 <= byte < 127 and char not in '"\\?' else f"\\{byte:03o}")
    return f'"{"".join(parts)}"'


def _construct(node: ast.AST) -> str:
    names = {
        "ListComp": "a list comprehension", "List": "a list", "Dict": "a dictionary", "Tuple": "a tuple",
        "Set": "a set", "Await": "await", "Yield": "yield", "JoinedStr": "an f-string", "NamedExpr": ":=",
        "Lambda": "a lambda", "Starred": "*", "GeneratorExp": "a generator", "Try": "try", "With": "with",
        "Raise": "raise", "Import": "import", "ImportFrom": "import", "ClassDef": "a class", "Delete": "del",
        "Match": "match", "Assert": "assert", "Global": "global", "AsyncFor": "async for", "Slice": "a slice",
    }  # fmt: skip
    return names.get(type(node).__name__, type(node).__name__)
