"""Evaluates a Python expression node by node over a native frame; nothing outside the allow-list can happen."""

from __future__ import annotations

import ast
import asyncio
import operator
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pkdb_tui.engine import arrays, pure, team
from pkdb_tui.engine.arrays import ArrayView, ReadMemory
from pkdb_tui.engine.errors import ExpressionError, NotHere
from pkdb_tui.engine.native.base import NativeVariable

STEPS = 300_000  # evaluation steps before an expression is interrupted
PAUSE = 2_000  # steps after which the loop gets its turn

BINARY: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
    ast.MatMult: ("@", operator.matmul),
    ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
    ast.BitAnd: ("&", operator.and_),
    ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor),
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda item, container: item in container,
    ast.NotIn: lambda item, container: item not in container,
}


@dataclass(frozen=True)
class Generator:
    """A generator expression, turned over item by item so that any(), all() and next() can stop early."""

    items: AsyncIterator[Any]


@dataclass
class Interpreter:
    """One evaluation: its names, its budget, and the way to the program's memory."""

    variables: Mapping[str, NativeVariable]
    read_memory: ReadMemory
    constants: Mapping[str, Any]
    limit: int
    steps: int = 0
    pauses: int = 0
    fetched: int = 0

    def __post_init__(self) -> None:
        self.scopes: list[dict[str, Any]] = []

    async def evaluate(self, node: ast.expr) -> Any:
        """The value of a node; arrays stay views until their elements are needed."""
        self.charge(1)
        if self.steps // PAUSE > self.pauses:
            self.pauses = self.steps // PAUSE
            await asyncio.sleep(0)
        visit: Callable[[Any], Awaitable[Any]] | None = getattr(self, f"visit_{type(node).__name__}", None)
        if visit is None:
            raise ExpressionError(f"`{ast.unparse(node)}` can't be used in an expression at a kernel stop.")
        return await visit(node)

    async def concrete(self, value: Any) -> Any:
        """A value whose elements are here: views are fetched, generators run to their end."""
        if isinstance(value, ArrayView):
            fetched = await self.fetch(value.name, value, value.dtype)
            return fetched if fetched.ndim else fetched[()]
        if isinstance(value, Generator):
            return [item async for item in value.items]
        return value

    async def fetch(self, name: str, what: ArrayView | arrays.Addresses, dtype: np.dtype[Any]) -> arrays.Array:
        arrays.check_size(name, what.size, self.limit)
        self.fetched += what.size
        if self.fetched > self.limit:
            raise ExpressionError(f"The expression fetches more than {self.limit:,} elements in all.")
        return await arrays.fetch(what, dtype, self.read_memory)

    async def value(self, node: ast.expr) -> Any:
        return await self.concrete(await self.evaluate(node))

    async def truth(self, node: ast.expr) -> bool:
        return bool(await self.value(node))

    def charge(self, steps: int) -> None:
        self.steps += steps
        if self.steps > STEPS:
            raise ExpressionError(f"The expression was interrupted after {STEPS:,} steps.")

    async def iterate(self, value: Any) -> AsyncIterator[Any]:
        """Items one by one; rows of a view with several dimensions stay views."""
        if isinstance(value, Generator):
            async for item in value.items:
                yield item
            return
        if isinstance(value, ArrayView) and value.ndim > 1:
            for row in range(value.shape[0]):
                yield arrays.index(value, row, self.limit)
            return
        items: Any = await self.concrete(value)
        if hasattr(items, "__len__") and len(items) > STEPS:
            raise ExpressionError(f"A loop of {len(items):,} turns is too long; at most {STEPS:,} steps are made.")
        for item in items:
            self.charge(1)
            yield item

    # --- names and literals

    async def visit_Constant(self, node: ast.Constant) -> Any:
        return node.value

    async def visit_Name(self, node: ast.Name) -> Any:
        for scope in reversed(self.scopes):
            if node.id in scope:
                return scope[node.id]
        if node.id in self.variables:
            return variable_value(self.variables[node.id])
        if node.id in self.constants:
            return self.constants[node.id]
        if node.id in pure.BUILTINS:
            return pure.BUILTINS[node.id]
        raise missing(node.id, self.variables)

    async def _items(self, nodes: list[ast.expr]) -> list[Any]:
        items: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                items.extend(
                    [await self.concrete(item) async for item in self.iterate(await self.evaluate(node.value))]
                )
            else:
                items.append(await self.value(node))
        return items

    async def visit_List(self, node: ast.List) -> Any:
        return await self._items(node.elts)

    async def visit_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(await self._items(node.elts))

    async def visit_Set(self, node: ast.Set) -> Any:
        return set(await self._items(node.elts))

    async def visit_Dict(self, node: ast.Dict) -> Any:
        if None in node.keys:
            raise ExpressionError("`**` in a dictionary can't be used at a kernel stop.")
        return {await self.value(k): await self.value(v) for k, v in zip(node.keys, node.values, strict=True) if k}

    async def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        return "".join([str(await self.value(part)) for part in node.values])

    async def visit_FormattedValue(self, node: ast.FormattedValue) -> Any:
        value = await self.value(node.value)
        spec = str(await self.value(node.format_spec)) if node.format_spec else ""
        if any(int(number) > 1000 for number in "".join(c if c.isdigit() else " " for c in spec).split()):
            raise ExpressionError(f"The format `{spec}` is wider than 1,000 characters.")
        if node.conversion != -1:
            value = repr(value) if chr(node.conversion) in "ra" else str(value)
        return format(value, spec)

    # --- operators

    async def visit_BinOp(self, node: ast.BinOp) -> Any:
        left, right = await self.value(node.left), await self.value(node.right)
        symbol, function = BINARY[type(node.op)]
        pure.check_operands(symbol, left, right, self.limit)
        return self.charged(pure.quietly(function, left, right))

    async def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return not await self.truth(node.operand)
        return self.charged(pure.quietly(UNARY[type(node.op)], await self.value(node.operand)))

    def charged(self, value: Any) -> Any:
        """Results cost steps by their size, so that many large ones come to an end too."""
        if isinstance(value, np.ndarray):
            self.charge(value.size // 64)
        elif isinstance(value, (str, list, tuple)):
            self.charge(len(value) // 16)
        return value

    async def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        value: Any = None
        for operand in node.values:
            value = await self.value(operand)
            if bool(value) is isinstance(node.op, ast.Or):
                break
        return value

    async def visit_Compare(self, node: ast.Compare) -> Any:
        left = await self.value(node.left)
        result: Any = True
        for op, operand in zip(node.ops, node.comparators, strict=True):
            right = await self.value(operand)
            pure.check_operands("compare", left, right, self.limit)
            result = pure.quietly(COMPARE[type(op)], left, right)
            if len(node.ops) > 1 and not bool(result):
                break
            left = right
        return result

    async def visit_IfExp(self, node: ast.IfExp) -> Any:
        return await self.evaluate(node.body if await self.truth(node.test) else node.orelse)

    # --- comprehensions

    async def _turns(self, generators: list[ast.comprehension]) -> AsyncIterator[None]:
        first, rest = generators[0], generators[1:]
        if first.is_async:
            raise ExpressionError("`async for` can't be used at a kernel stop.")
        async for item in self.iterate(await self.evaluate(first.iter)):
            await self._bind(first.target, item)
            if not all([await self.truth(test) for test in first.ifs]):
                continue
            if rest:
                async for _ in self._turns(rest):
                    yield
            else:
                yield

    async def _bind(self, target: ast.expr, item: Any) -> None:
        if isinstance(target, ast.Name):
            self.scopes[-1][target.id] = item
            return
        if not isinstance(target, (ast.Tuple, ast.List)):
            raise ExpressionError(f"`{ast.unparse(target)}` can't be a loop variable here.")
        parts = [part async for part in self.iterate(item)]
        for part_target, part in zip(target.elts, parts, strict=True):
            await self._bind(part_target, part)

    async def _comprehend(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> AsyncIterator[Any]:
        scope: dict[str, Any] = {}
        self.scopes.append(scope)
        try:
            async for _ in self._turns(node.generators):
                if isinstance(node, ast.DictComp):
                    yield await self.value(node.key), await self.value(node.value)
                else:
                    yield await self.value(node.elt)
        finally:
            self.scopes.remove(scope)

    async def visit_ListComp(self, node: ast.ListComp) -> Any:
        return [item async for item in self._comprehend(node)]

    async def visit_SetComp(self, node: ast.SetComp) -> Any:
        return {item async for item in self._comprehend(node)}

    async def visit_DictComp(self, node: ast.DictComp) -> Any:
        return {key: value async for key, value in self._comprehend(node)}

    async def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return Generator(self._comprehend(node))

    # --- subscripts, attributes, calls

    async def key(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Tuple):
            return tuple([await self.key(item) for item in node.elts])
        if isinstance(node, ast.Slice):
            parts = [None if part is None else await self.value(part) for part in (node.lower, node.upper, node.step)]
            return slice(*parts)
        return await self.value(node)

    async def visit_Subscript(self, node: ast.Subscript) -> Any:
        value = await self.evaluate(node.value)
        key = await self.key(node.slice)
        if not isinstance(value, ArrayView):
            value = await self.concrete(value)
            return self.charged(pure.quietly(operator.getitem, value, key))
        found = arrays.item(value, key, self.limit)
        if isinstance(found, ArrayView):
            return found if found.ndim else await self.concrete(found)
        return await self.fetch(f"{value.name}[…]", found, value.dtype)

    async def place(self, node: ast.expr) -> Any:
        """As `evaluate`, but of subscripted arrays nothing is read: a view, or the addresses that were picked."""
        if isinstance(node, ast.Attribute):
            view = await self.place(node.value)
            return arrays.field(view, node.attr) if _has_attribute(view, node.attr) else await self.evaluate(node)
        if not isinstance(node, ast.Subscript):
            return await self.evaluate(node)
        value = await self.place(node.value)
        if not isinstance(value, ArrayView):
            return await self.evaluate(node)
        return arrays.item(value, await self.key(node.slice), self.limit)

    async def visit_Attribute(self, node: ast.Attribute) -> Any:
        dotted = self.module_path(node)
        if dotted:
            return pure.module_attribute(dotted)
        value = await self.evaluate(node.value)
        if _has_attribute(value, node.attr):
            found = arrays.field(value, node.attr) if isinstance(value, ArrayView) else value[node.attr]
            return found if getattr(found, "ndim", 0) else await self.concrete(found)
        if node.attr in pure.ARRAY_ATTRIBUTES:
            if isinstance(value, ArrayView):
                return await self._view_attribute(value, node.attr)
            if isinstance(value, (np.ndarray, np.generic, np.dtype, int, float, complex)):
                return getattr(value, node.attr)
        raise ExpressionError(f"`.{node.attr}` of `{ast.unparse(node.value)}` can't be used at a kernel stop.")

    async def _view_attribute(self, view: ArrayView, name: str) -> Any:
        if name == "T":
            return view.transposed
        if name in ("real", "imag"):
            return getattr(await self.concrete(view), name)
        if name == "itemsize":
            return view.dtype.itemsize
        if name == "nbytes":
            return view.dtype.itemsize * view.size
        return getattr(view, name)

    def module_path(self, node: ast.expr) -> str:
        """`np.linalg.norm` when that names something of a known module that no variable hides, else empty."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in pure.MODULES:
            return ""
        if node.id in self.variables or any(node.id in scope for scope in self.scopes):
            return ""
        return ".".join([node.id, *reversed(parts)])

    async def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute) and not self.module_path(node.func):
            return await self._call_method(node, node.func)
        function = await self.evaluate(node.func)
        name = ast.unparse(node.func)
        if not callable(function):
            raise ExpressionError(f"`{name}` is not a function.")
        arguments, keywords = await self._arguments(node)
        if function is len and isinstance(arguments[0], ArrayView) and arguments[0].ndim:
            return arguments[0].shape[0]
        if function in (any, all, next) and arguments and isinstance(arguments[0], Generator):
            return await self._short(function, arguments)
        return await self._call(name, function, arguments, keywords)

    async def _arguments(self, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            raise ExpressionError("`*` in a call can't be used at a kernel stop.")
        keywords: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg in ("key", "out"):
                raise ExpressionError(f"`{ast.unparse(keyword)}` in a call can't be used at a kernel stop.")
            keywords[keyword.arg] = await self.value(keyword.value)
        return [await self.evaluate(argument) for argument in node.args], keywords

    async def _call(self, name: str, function: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        arguments = [await self.concrete(argument) for argument in arguments]
        if function is not range and function is not len:
            for argument in arguments:
                if isinstance(argument, range):
                    self.charge(len(argument))
        pure.quietly(pure.check_call, name, arguments, keywords, self.limit)
        result = self.charged(pure.quietly(function, *arguments, **keywords))
        if isinstance(result, Iterator):
            return self.charged(list(result))
        return result

    async def _call_method(self, node: ast.Call, function: ast.Attribute) -> Any:
        value = await self.evaluate(function.value)
        if isinstance(value, ArrayView) and function.attr == "transpose" and not node.args:
            return value.transposed
        value = await self.concrete(value)
        bound = pure.method(value, function.attr)
        arguments, keywords = await self._arguments(node)
        return await self._call(f".{function.attr}", bound, arguments, keywords)

    async def _short(self, function: Any, arguments: list[Any]) -> Any:
        async for item in arguments[0].items:
            if function is next:
                return item
            if bool(item) is (function is any):
                return function is any
        if function is next and len(arguments) < 2:
            raise ExpressionError("next(): the generator has no items.")
        return await self.concrete(arguments[1]) if function is next else function is all


def _has_attribute(value: Any, name: str) -> bool:
    """Whether it is of records whose fields are attributes, this one too; what arrays have goes before."""
    if not isinstance(value, (ArrayView, np.ndarray, np.record)) or value.dtype.type is not np.record:
        return False
    return name in (value.dtype.names or ()) and (not value.ndim or name not in pure.ARRAY_ATTRIBUTES)


def variable_value(variable: NativeVariable) -> Any:
    """A scalar's value, an array's view. Raises ExpressionError when the variable can't be read."""
    if variable.error:
        raise ExpressionError(f"`{variable.name}` can't be read here: {variable.error}.")
    if variable.dtype:
        return arrays.from_variable(variable)
    if variable.type == team.TYPE and isinstance(variable.value, str):
        return team.TeamMember.read(variable.value) or variable.value
    return variable.value


def missing(name: str, variables: Mapping[str, NativeVariable]) -> NotHere:
    """The error for a name the frame doesn't have."""
    known = f"; this frame has {', '.join(variables)}" if variables else ""
    return NotHere(f"There is no `{name}` here{known}.")
