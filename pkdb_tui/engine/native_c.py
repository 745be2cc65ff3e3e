"""Python conditions as C text that the native debugger evaluates itself, with Python's meaning.

Integers are 64 bits wide here, and `/` by zero gives inf or nan as in the kernel. An index out of
bounds, or an integer division by zero, makes the condition fail, which stops the thread and says so.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pkdb_tui.engine import arrays, expressions, formatting
from pkdb_tui.engine.c_terms import BUILTINS, FUNCTIONS, Term, literal, typed
from pkdb_tui.engine.errors import ExpressionError
from pkdb_tui.engine.interpreter import missing, variable_value
from pkdb_tui.engine.native.base import NativeVariable

LOOSE = re.compile(r"\bLoose<")
LENGTH = 20_000  # characters of C text
EXPONENT = 16  # largest constant power written out as multiplications

_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_INTEGER: dict[type[ast.operator], str] = {
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip


def to_c(
    text: str,
    variables: Mapping[str, NativeVariable],
    *,
    constants: Mapping[str, Any] | None = None,
    views: str = "minikokkos",
) -> str:
    """A Python condition over a native frame as C text. Raises ExpressionError naming what C can't express."""
    if views != "minikokkos":
        raise ExpressionError(f"Conditions can't be written natively for {views} views.")
    condition = _Translator(variables, constants or {}).term(expressions.parse(text)).truth
    if len(condition) > LENGTH:
        raise ExpressionError("The condition is too long to be evaluated natively.", "Make it simpler.")
    return condition


def lvalue_c(text: str, variables: Mapping[str, NativeVariable]) -> str:
    """What a hardware watchpoint watches: a scalar by its name, an array element by its address and type.

    Indices are worth what they are in this frame now. Raises ExpressionError for anything but one such place.
    """
    node = expressions.parse(text)
    if isinstance(node, ast.Name):
        if node.id not in variables:
            raise missing(node.id, variables)
        if not variables[node.id].dtype:
            symbol = variables[node.id].symbol or node.id
            return f"{symbol}.bits" if _is_half(variables[node.id]) else symbol
        raise ExpressionError(f"`{node.id}` is an array; a watchpoint needs one element of it.")
    found = _element(node, variables)
    if found is None:
        raise ExpressionError(f"`{text.strip()}` can't be watched.", "Name a variable or an array element.")
    if found.dtype.names:
        hint = f"Name a field: `{text.strip()}[{found.dtype.names[0]!r}]`."
        raise ExpressionError(f"`{text.strip()}` has records; a watchpoint needs one number.", hint)
    if found.ndim:
        needed = found.ndim + sum(not _is_name(item) for item in _subscripts(node)[1])
        raise ExpressionError(f"`{text.strip()}` is not one element; a watchpoint needs {needed} indices.")
    return f"*({watched_type(found.dtype)} *) {found.address:#x}"


def watched_dtype(text: str, variables: Mapping[str, NativeVariable]) -> str:
    """numpy's type of a place that `lvalue_c` names as an integer, because gdb has no such type; else empty."""
    node = expressions.parse(text)
    if isinstance(node, ast.Name) and _is_half(variables[node.id]):
        return "<f2"
    found = _element(node, variables)
    return found.dtype.str if found is not None and _as_bytes(found.dtype) else ""


def _element(node: ast.expr, variables: Mapping[str, NativeVariable]) -> arrays.ArrayView | None:
    """The part of an array that subscripts name, its indices worth what they are now; None for anything else."""
    if isinstance(node, ast.Name):
        return _array(node.id, variables)
    if isinstance(node, ast.Attribute):
        view = _element(node.value, variables)
        return None if view is None or view.dtype.type is not np.record else arrays.field(view, node.attr)
    if not isinstance(node, ast.Subscript):
        return None
    view = _element(node.value, variables)
    if view is None:
        return None
    if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return arrays.field(view, node.slice.value)
    nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    found = arrays.index(view, tuple(_constant_index(item, variables) for item in nodes), 1)
    assert isinstance(found, arrays.ArrayView)  # integers pick no elements
    return found


def _is_name(node: ast.expr) -> bool:
    """Whether it is a field's name."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_half(variable: NativeVariable) -> bool:
    return expressions.scalar_dtype(variable.native_type) == np.float16


def _as_bytes(dtype: np.dtype[Any]) -> bool:
    return dtype.itemsize in (2, 4, 8) and (not dtype.isnative or (dtype.kind == "f" and dtype.itemsize == 2))


def watched_type(dtype: np.dtype[Any]) -> str:
    """As `c_type`, but what gdb has no type for is watched as an integer of as many bytes."""
    if dtype.kind in "iuf" and _as_bytes(dtype):
        return c_type(np.dtype(f"u{dtype.itemsize}"))
    return c_type(dtype)


def c_type(dtype: np.dtype[Any]) -> str:
    """The C type of array elements as gdb knows it. Raises ExpressionError for those that it has no type for."""
    names = {"b": "bool", "i": "long", "u": "unsigned long"}
    sizes = {1: "char", 2: "short", 4: "int", 8: "long"}
    if not dtype.isnative:
        raise ExpressionError(f"Elements of type {dtype} can't be watched.", "Watch a number in native byte order.")
    if dtype.char == "g":
        return "long double"
    if dtype.kind == "f" and dtype.itemsize in (4, 8):
        return "float" if dtype.itemsize == 4 else "double"
    if dtype.kind == "b":
        return names["b"]
    if dtype.kind in "iu":
        sign = "unsigned " if dtype.kind == "u" else "signed " if dtype.itemsize == 1 else ""
        return f"{sign}{sizes[dtype.itemsize]}"
    raise ExpressionError(f"Elements of type {dtype.name} can't be watched.", "Watch a real number.")


def _array(name: str, variables: Mapping[str, NativeVariable]) -> arrays.ArrayView | None:
    if name not in variables:
        raise missing(name, variables)
    value = variable_value(variables[name])
    return value if isinstance(value, arrays.ArrayView) else None


def _subscripts(node: ast.expr) -> tuple[str, list[ast.expr]]:
    """`A[i][j, k]` as the name and its indices in order; an empty name when it is anything else."""
    nodes: list[ast.expr] = []
    while isinstance(node, ast.Subscript):
        nodes[:0] = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        node = node.value
    return (node.id, nodes) if isinstance(node, ast.Name) and nodes else ("", [])


def _constant_index(node: ast.expr, variables: Mapping[str, NativeVariable]) -> int:
    """An index made of integers and integer variables, as it is now."""
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() as constant):
            return constant
        case ast.Name(id=name):
            value = variable_value(variables[name]) if name in variables else None
            if name not in variables:
                raise missing(name, variables)
            if isinstance(value, int):
                return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_constant_index(operand, variables)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _constant_index(left, variables), _constant_index(right, variables)
            simple: dict[type[ast.operator], Callable[[int, int], int]] = {
                ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__,
            }  # fmt: skip
            if type(op) in simple:
                return simple[type(op)](a, b)
            if isinstance(op, (ast.FloorDiv, ast.Mod)) and b:
                return a // b if isinstance(op, ast.FloorDiv) else a % b
    raise ExpressionError(f"`{ast.unparse(node)}` can't be an index here.", "Use integers and integer variables.")


@dataclass
class _Translator:
    variables: Mapping[str, NativeVariable]
    constants: Mapping[str, Any]

    def term(self, node: ast.expr) -> Term:
        term = self._term(node)
        if len(term.text) > LENGTH:
            raise ExpressionError("The condition is too long to be evaluated natively.", "Make it simpler.")
        return term

    def value(self, node: ast.expr) -> Term:
        """A term whose value counts, not only its truth: `and` and `or` are worth one of their operands."""
        if isinstance(node, ast.BoolOp) and any(self.term(operand).kind != "bool" for operand in node.values):
            raise self._refused(node, " inside a larger expression")
        return self.term(node)

    def _term(self, node: ast.expr) -> Term:
        match node:
            case ast.Constant(value=bool() | int() | float() as value):
                return literal(value)
            case ast.Name(id=name):
                return self._name(name)
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BoolOp():
                return self._boolean(node)
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._choice(self.term(test).truth, self.value(body), self.value(orelse))
            case ast.Subscript():
                return self._subscript(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call(func=func, args=args, keywords=[]):
                return self._call(ast.unparse(func), args, node)
        raise self._refused(node)

    def _refused(self, node: ast.AST, why: str = "") -> ExpressionError:
        return ExpressionError(f"`{ast.unparse(node)}` can't be written as a native condition{why}.")

    def _name(self, name: str) -> Term:
        if name not in self.variables and name in self.constants:
            value = self.constants[name]
            if isinstance(value, (bool, int, float, np.generic)):
                return literal(value.item() if isinstance(value, np.generic) else value)
            raise ExpressionError(f"`{name}` is a {formatting.type_name(value)}; a condition needs numbers.")
        if name not in self.variables:
            raise missing(name, self.variables)
        variable = self.variables[name]
        if variable.dtype:
            raise ExpressionError(
                f"`{name}` is an array of {len(variable.shape)} dimensions; a condition needs numbers."
            )
        dtype = expressions.scalar_dtype(variable.native_type)
        if dtype is None:
            kinds = {"int": np.dtype("i8"), "float": np.dtype("f8"), "bool": np.dtype("?")}
            dtype = kinds.get(variable.type, np.dtype("O"))
        return typed(name, self._symbol(name), dtype)

    def _symbol(self, name: str) -> str:
        """What gdb knows a variable by."""
        return self.variables[name].symbol or name

    # --- operators

    def _choice(self, test: str, body: Term, orelse: Term) -> Term:
        if body.kind != orelse.kind:
            body, orelse = body.number, orelse.number
        kind = body.kind if body.kind == orelse.kind else "float"
        return Term(f"({test} ? {body.text} : {orelse.text})", kind)

    def _binary(self, node: ast.BinOp) -> Term:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.BitXor)) and left.kind == right.kind == "bool":
            symbol = {ast.BitAnd: "&&", ast.BitOr: "||", ast.BitXor: "!="}[type(node.op)]
            return Term(f"({left.text} {symbol} {right.text})", "bool")
        left, right = left.number, right.number
        integers = left.kind == right.kind == "int"
        if type(node.op) in _ARITHMETIC:
            kind = "int" if integers else "float"
            return Term(f"({left.text} {_ARITHMETIC[type(node.op)]} {right.text})", kind)
        if isinstance(node.op, ast.Div):
            return Term(f"((double){left.text} / (double){right.text})", "float")
        if isinstance(node.op, ast.Pow):
            return self._power(node, left)
        if not integers:
            raise self._refused(node, ", because it has no C operator for floats")
        a, b = left.text, right.text
        remainder = f"(({a} % {b} + {b}) % {b})"
        if isinstance(node.op, ast.Mod):
            return Term(remainder, "int")
        if isinstance(node.op, ast.FloorDiv):
            return Term(f"(({a} - {remainder}) / {b})", "int")
        if type(node.op) in _INTEGER:
            return Term(f"({a} {_INTEGER[type(node.op)]} {b})", "int")
        raise self._refused(node)

    def _power(self, node: ast.BinOp, base: Term) -> Term:
        match node.right:
            case ast.Constant(value=int() as exponent) if 1 <= exponent <= EXPONENT:
                return Term("(" + " * ".join([base.text] * exponent) + ")", base.kind)
        raise self._refused(node, f": only constant powers from 1 to {EXPONENT} can")

    def _unary(self, node: ast.UnaryOp) -> Term:
        if isinstance(node.op, ast.Not):
            return Term(f"(!{self.term(node.operand).truth})", "bool")
        operand = self._operand(node.operand)
        if isinstance(node.op, ast.Invert):
            if operand.kind != "int":
                raise self._refused(node)
            return Term(f"(~{operand.text})", "int")
        return Term(f"(-{operand.text})", operand.kind) if isinstance(node.op, ast.USub) else operand

    def _boolean(self, node: ast.BoolOp) -> Term:
        symbol = " && " if isinstance(node.op, ast.And) else " || "
        return Term("(" + symbol.join(self.term(value).truth for value in node.values) + ")", "bool")

    def _compare(self, node: ast.Compare) -> Term:
        parts: list[str] = []
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, (ast.In, ast.NotIn)):
                inside = self._membership(left, right)
                parts.append(inside if isinstance(op, ast.In) else f"(!{inside})")
            elif type(op) in _COMPARE:
                parts.append(f"({self._operand(left).text} {_COMPARE[type(op)]} {self._operand(right).text})")
            else:
                raise self._refused(node)
            left = right
        return Term(parts[0] if len(parts) == 1 else f"({' && '.join(parts)})", "bool")

    def _operand(self, node: ast.expr) -> Term:
        return self.value(node).number

    def _membership(self, item: ast.expr, container: ast.expr) -> str:
        value = self._operand(item).text
        match container:
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                tests = [f"({value} == {self._operand(element).text})" for element in elements]
                return f"({' || '.join(tests)})" if tests else "false"
            case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]) if 1 <= len(args) <= 3:
                return self._in_range(container, value, args)
        raise self._refused(container, " after `in`: a tuple, list or range can")

    def _in_range(self, node: ast.Call, value: str, args: Sequence[ast.expr]) -> str:
        start = self._integer(args[0]) if len(args) > 1 else "0L"
        stop = self._integer(args[1 if len(args) > 1 else 0])
        if len(args) < 3:
            return f"(({value} >= {start}) && ({value} < {stop}) && ((long){value} == {value}))"
        step = args[2]
        if not (isinstance(step, ast.Constant) and isinstance(step.value, int) and step.value > 0):
            raise self._refused(node, " unless its step is a positive constant")
        return (
            f"(({value} >= {start}) && ({value} < {stop}) && ((long){value} == {value}) && "
            f"(((long){value} - {start}) % {step.value} == 0))"
        )

    def _integer(self, node: ast.expr) -> str:
        term = self._operand(node)
        if term.kind != "int":
            raise self._refused(node, " where an integer is needed")
        return term.text

    # --- arrays

    def _subscript(self, node: ast.Subscript) -> Term:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return self._extent(node.value, node.slice)
        name, nodes = _subscripts(node)
        view = _array(name, self.variables) if name else None
        if view is None:
            raise self._refused(node)
        if len(nodes) != view.ndim or any(isinstance(item, (ast.Slice, ast.List)) for item in nodes):
            raise ExpressionError(
                f"`{ast.unparse(node)}` is not one element of `{name}`; a condition needs {view.ndim} integer indices."
            )
        symbol = self._symbol(name)
        parts = [f"{self._index(view, item, axis)}*{symbol}.stride[{axis}]" for axis, item in enumerate(nodes)]
        if LOOSE.search(self.variables[name].native_type):  # its strides are in bytes
            typed(ast.unparse(node), "", view.dtype)  # what has no arithmetic is refused as that
            place = f"(*({c_type(view.dtype)} *)({symbol}.data + {' + '.join(parts)}))"
            return typed(ast.unparse(node), place, view.dtype)
        return typed(ast.unparse(node), f"{symbol}.data[{' + '.join(parts)}]", view.dtype)

    def _index(self, view: arrays.ArrayView, node: ast.expr, axis: int) -> str:
        """Python's meaning of an index: a negative one counts from the end, one out of bounds fails."""
        extent = f"{self._symbol(view.name)}.extent[{axis}]"
        constant = _literal_int(node)
        if constant is not None:
            arrays.index(view, (*[slice(None)] * axis, constant), 1)
            return f"({constant})" if constant >= 0 else f"({extent} - {-constant})"
        text = self._integer(node)
        wrapped = f"({text} < 0 ? {text} + {extent} : {text})"
        return f"(({text} >= -{extent}) && ({text} < {extent}) ? {wrapped} : 1/0)"

    def _extent(self, shape: ast.Attribute, index: ast.expr) -> Term:
        axis = _literal_int(index)
        view = _array(shape.value.id, self.variables) if isinstance(shape.value, ast.Name) else None
        if view is None or axis is None or not -view.ndim <= axis < view.ndim:
            raise self._refused(shape, " with this index")
        return Term(f"{self._symbol(view.name)}.extent[{axis % view.ndim}]", "int")

    def _attribute(self, node: ast.Attribute) -> Term:
        dotted = ast.unparse(node)
        constants = {"pi": math.pi, "e": math.e, "tau": math.tau, "inf": math.inf, "nan": math.nan}
        if dotted.partition(".")[0] in ("math", "np", "numpy") and node.attr in constants:
            return literal(constants[node.attr])
        view = _array(node.value.id, self.variables) if isinstance(node.value, ast.Name) else None
        if view is not None and node.attr == "ndim":
            return literal(view.ndim)
        if view is not None and node.attr == "size":
            extents = [f"{self._symbol(view.name)}.extent[{axis}]" for axis in range(view.ndim)]
            return Term("(" + " * ".join(extents) + ")", "int")
        raise self._refused(node)

    # --- calls

    def _call(self, name: str, nodes: Sequence[ast.expr], node: ast.Call) -> Term:
        if name == "len" and len(nodes) == 1 and isinstance(nodes[0], ast.Name):
            view = _array(nodes[0].id, self.variables)
            if view is not None and view.ndim:
                return Term(f"{self._symbol(view.name)}.extent[0]", "int")
        if name in ("min", "max") and len(nodes) > 1:
            symbol = "<" if name == "min" else ">"
            best = self._operand(nodes[0])
            for other in nodes[1:]:
                term = self._operand(other)
                best = self._choice(f"({term.text} {symbol} {best.text})", term, best)
            return best
        short = name.removeprefix("math.").removeprefix("np.").removeprefix("numpy.")
        function = FUNCTIONS.get(short) if len(nodes) == 1 else None
        if function is None or (short == name) is not (name in BUILTINS):
            raise self._refused(node, ", because it would have to call a function in the program")
        return function(self.value(nodes[0]) if short != "bool" else self.term(nodes[0]))


def _literal_int(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return None
