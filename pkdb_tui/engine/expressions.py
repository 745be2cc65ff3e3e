"""Python expressions at a kernel stop: what they need, what they are worth, and assignments into the program."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pkdb_tui.engine import arrays, formatting, pure
from pkdb_tui.engine.arrays import ArrayView, ReadMemory, WriteMemory
from pkdb_tui.engine.debuggee.log_points import TEXT_LIMIT, template_parts
from pkdb_tui.engine.errors import ExpressionError
from pkdb_tui.engine.interpreter import BINARY, Interpreter, missing
from pkdb_tui.engine.native.base import NativeVariable

LIMIT = 1 << 20  # elements one evaluation may fetch
LENGTH = 10_000  # characters of an expression

# Python's own errors that an expression can run into; anything else is a defect of this program.
FAILURES = (ArithmeticError, TypeError, ValueError, LookupError, AttributeError, MemoryError, RecursionError)


@dataclass(frozen=True)
class Value:
    """What an expression is worth: the Python or numpy value, its type for a person, and its text in full."""

    value: Any
    type: str
    text: str


class _Members(ast.NodeTransformer):
    """`self.x` is `x`: in a functor's methods members are variables of the kernel."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return ast.copy_location(ast.Name(node.attr, node.ctx), node)
        return node


def parse(text: str) -> ast.expr:
    """The expression's tree. Raises ExpressionError with the place of a syntax error."""
    return _parsed(text.strip(), "eval").body  # type: ignore[no-any-return]


def _parsed(text: str, mode: str) -> Any:
    if len(text) > LENGTH:
        raise ExpressionError(f"The expression has {len(text):,} characters; at most {LENGTH:,} are read.")
    try:
        return _Members().visit(ast.parse(text, mode=mode))
    except SyntaxError as error:
        column = f" at column {error.offset}" if error.offset else ""
        raise ExpressionError(f"`{text}` is not an expression: {error.msg}{column}.") from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise ExpressionError(f"The expression can't be read: {error or 'nested too deeply'}.") from None


def is_assignment(text: str) -> bool:
    """True for `name = …`, `array[…] = …` and the augmented forms."""
    try:
        body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return len(body) == 1 and isinstance(body[0], (ast.Assign, ast.AugAssign, ast.AnnAssign))


def names(text: str) -> set[str]:
    """The frame's names an expression or assignment needs: not loop variables, called built-ins, `np` or `math`."""
    tree = _parsed(text.strip(), "exec")
    found: set[str] = set()
    for statement in tree.body:
        found |= _names(statement, frozenset())
    return found


def targets(text: str) -> set[str]:
    """The names that an assignment is to: `v` of `v[0] = 1`, `k` of `self.k = 1`."""
    statement = _parsed(text.strip(), "exec").body[0]
    found = set()
    for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
        while isinstance(target, ast.Subscript | ast.Attribute):
            target = target.value
        found.add(target.id if isinstance(target, ast.Name) else "")
    return found


def _names(node: ast.AST, bound: frozenset[str]) -> set[str]:
    if isinstance(node, ast.Name):
        return set() if node.id in bound else {node.id}
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in pure.MODULES:
        return set()
    skipped: ast.AST | None = None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in pure.BUILTINS:
        skipped = node.func
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        targets = [generator.target for generator in node.generators]
        bound |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
        outer = _names(node.generators[0].iter, bound - _targets(node))
        return outer.union(*(_names(child, bound) for child in ast.iter_child_nodes(node)))
    return set().union(*(_names(child, bound) for child in ast.iter_child_nodes(node) if child is not skipped))


def _targets(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> frozenset[str]:
    walked = (name for generator in node.generators for name in ast.walk(generator.target))
    return frozenset(name.id for name in walked if isinstance(name, ast.Name))


async def evaluate(
    text: str,
    variables: Mapping[str, NativeVariable],
    read_memory: ReadMemory,
    *,
    limit: int = LIMIT,
    constants: Mapping[str, Any] | None = None,
) -> Value:
    """The value of an expression over a native frame, reading only the array elements it needs.

    `limit` bounds the elements fetched; `constants` are further names, such as the module's constants.
    Raises ExpressionError, which names what is missing, out of bounds, too large or not allowed.
    """
    tree = parse(text)
    interpreter = Interpreter(variables, read_memory, constants or {}, limit)
    try:
        return result(await interpreter.value(tree))
    except FAILURES as error:
        raise _failure(text, error) from error


async def truth(
    text: str,
    variables: Mapping[str, NativeVariable],
    read_memory: ReadMemory,
    *,
    constants: Mapping[str, Any] | None = None,
) -> bool:
    """Whether a condition holds in a native frame. Raises ExpressionError as `evaluate` does."""
    value = (await evaluate(text, variables, read_memory, constants=constants)).value
    try:
        return bool(value)
    except FAILURES as error:
        raise _failure(text, error) from error


async def log_text(
    template: str,
    variables: Mapping[str, NativeVariable],
    read_memory: ReadMemory,
    *,
    constants: Mapping[str, Any] | None = None,
) -> str:
    """A log point's text with its `{expressions}` filled in, as an f-string would be; an error stands in its place."""
    parts: list[str] = []
    for part in template_parts(template):
        interpreter = Interpreter(variables, read_memory, constants or {}, LIMIT)
        try:
            parts.append(str(await interpreter.value(part)))
        except ExpressionError as error:
            parts.append(f"<{error.title}>")
        except FAILURES as error:
            parts.append(f"<{type(error).__name__}: {error}>")
    text = "".join(parts)
    return text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + "…"


def result(value: Any) -> Value:
    """A computed value with its type and text."""
    if callable(value) and not isinstance(value, np.generic):
        raise ExpressionError(f"`{getattr(value, '__name__', value)}` is a function; call it.")
    return Value(value, formatting.type_name(value), formatting.full(value))


def _failure(text: str, error: BaseException) -> ExpressionError:
    return ExpressionError(f"`{text.strip()}`: {type(error).__name__}: {str(error).strip()}.")


async def view(
    text: str,
    variables: Mapping[str, NativeVariable],
    read_memory: ReadMemory,
    *,
    limit: int = LIMIT,
    constants: Mapping[str, Any] | None = None,
) -> Any:
    """As `evaluate`, but an array that needs no computing comes as an `ArrayView` that has not been read."""
    tree = parse(text)
    interpreter = Interpreter(variables, read_memory, constants or {}, limit)
    try:
        value = await interpreter.evaluate(tree)
        return value if isinstance(value, ArrayView) else await interpreter.concrete(value)
    except FAILURES as error:
        raise _failure(text, error) from error


async def assign(
    text: str,
    variables: Mapping[str, NativeVariable],
    read_memory: ReadMemory,
    write_memory: WriteMemory,
    *,
    limit: int = LIMIT,
    constants: Mapping[str, Any] | None = None,
) -> None:
    """Carries out `name = …`, `array[…] = …` or an augmented assignment in the program's memory.

    Raises ExpressionError when the target can't hold the value, and then nothing has been written.
    """
    body = _parsed(text.strip(), "exec").body
    if len(body) != 1 or not isinstance(body[0], (ast.Assign, ast.AugAssign)):
        raise ExpressionError(f"`{text.strip()}` is not an assignment that can be made at a kernel stop.")
    statement = body[0]
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    interpreter = Interpreter(variables, read_memory, constants or {}, limit)
    try:
        value = await interpreter.value(statement.value)
        writes: list[tuple[int, bytes]] = []
        for target in targets:
            if isinstance(statement, ast.AugAssign):
                symbol, function = BINARY[type(statement.op)]
                current = await interpreter.value(target)
                pure.check_operands(symbol, current, value, limit)
                writes += await _writes(interpreter, target, pure.quietly(function, current, value))
            else:
                writes += await _writes(interpreter, target, value)
    except FAILURES as error:
        raise _failure(text, error) from error
    for address, data in writes:
        await write_memory(address, data)


async def _writes(interpreter: Interpreter, target: ast.expr, value: Any) -> list[tuple[int, bytes]]:
    if isinstance(target, ast.Name):
        return [scalar_write(interpreter.variables, target.id, value)]
    if isinstance(target, ast.Attribute):
        found = array = await interpreter.place(target)
        if not isinstance(found, ArrayView):
            raise ExpressionError(f"`{ast.unparse(target)}` can't be assigned to at a kernel stop.")
    elif isinstance(target, ast.Subscript):
        array = await interpreter.place(target.value)
        if not isinstance(array, ArrayView):
            raise ExpressionError(f"`{ast.unparse(target.value)}` is not an array of the program.")
        found = arrays.item(array, await interpreter.key(target.slice), interpreter.limit)
    else:
        raise ExpressionError(f"`{ast.unparse(target)}` can't be assigned to at a kernel stop.")
    arrays.check_size(ast.unparse(target), found.size, interpreter.limit)
    addresses = found.addresses() if isinstance(found, ArrayView) else found
    dtype = found.dtype if isinstance(found, ArrayView) else array.dtype
    data = np.empty(addresses.shape, dtype)
    if dtype.names:  # what lies between fields stays
        data = await interpreter.fetch(ast.unparse(target), addresses, dtype)
    pure.quietly(data.__setitem__, ..., value)
    return list(arrays.stores(addresses, data))


SCALARS = {
    "bool": "?", "char": "i1", "signed char": "i1", "unsigned char": "u1", "short": "i2", "unsigned short": "u2",
    "int": "i4", "unsigned int": "u4", "unsigned": "u4", "long": "i8", "unsigned long": "u8", "long long": "i8",
    "unsigned long long": "u8", "float": "f4", "double": "f8", "std::complex<float>": "c8",
    "std::complex<double>": "c16", "int8_t": "i1", "uint8_t": "u1", "int16_t": "i2", "uint16_t": "u2", "int32_t": "i4",
    "uint32_t": "u4", "int64_t": "i8", "uint64_t": "u8", "size_t": "u8", "ptrdiff_t": "i8", "pk::half": "f2",
    "long double": "g", "pk::longdouble": "g", "std::complex<long double>": "G", "std::complex<pk::longdouble>": "G",
}  # fmt: skip


def scalar_dtype(native_type: str) -> np.dtype[Any] | None:
    """numpy's type for a C++ scalar type, qualifiers and references aside; None for any other type."""
    plain = re.sub(r"\b(?:const|volatile)\b|\bstd::(?!complex)|&", "", native_type)
    name = SCALARS.get(" ".join(plain.split()))
    return None if name is None else np.dtype(name)


def scalar_write(variables: Mapping[str, NativeVariable], name: str, value: Any) -> tuple[int, bytes]:
    """(address, bytes) that give a scalar a new value. Raises ExpressionError when it can't hold it."""
    if name not in variables:
        raise missing(name, variables)
    variable = variables[name]
    if variable.dtype:
        raise ExpressionError(f"`{name}` is an array.", f"Assign to its elements: `{name}[...] = …`.")
    dtype = scalar_dtype(variable.native_type)
    if dtype is None or not variable.lvalue_address or variable.error:
        why = variable.error or ("it has no place in memory" if dtype else f"its type is {variable.native_type}")
        raise ExpressionError(f"`{name}` can't be assigned to here: {why}.")
    if not isinstance(value, (bool, int, float, complex, np.generic)):
        raise ExpressionError(f"`{name}` is a {variable.type} here and can't hold a {formatting.type_name(value)}.")
    converted = pure.quietly(_converted, value, dtype)
    if dtype.kind in "iub" and converted != value:
        raise ExpressionError(f"`{name}` is a {variable.native_type} here and can't hold {formatting.full(value)}.")
    return variable.lvalue_address, converted.tobytes()


def _converted(value: Any, dtype: np.dtype[Any]) -> np.generic:
    if dtype.kind in "iuf" and isinstance(value, (complex, np.complexfloating)):
        raise TypeError(f"a complex number can't become a {dtype.name}")
    plain = value.item() if isinstance(value, np.generic) else value
    number: np.generic = dtype.type(bool(plain) if dtype.kind == "b" else int(plain) if dtype.kind in "iu" else plain)
    return number
