"""Breakpoint conditions as C++ for debug builds of PyKokkos kernels, with Python's meaning.

Integers are 64 bits wide, `/` is true division, `//` and `%` round as Python does, negative indices count from the end.
An index out of bounds or an integer division by zero makes the condition hold, as an error does in pdb.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

MARK = "#pkdb"
MISSING: Any = object()

_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_CALLED: dict[type[ast.operator], str] = {ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "power"}
_MATH = {
    "sqrt", "cbrt", "exp", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "floor", "ceil", "fabs", "isnan", "isinf", "isfinite",
}  # fmt: skip
_CONSTANTS = {"pi": math.pi, "e": math.e, "tau": math.tau, "inf": math.inf, "nan": math.nan}
_MODULES = ("math", "np", "numpy", "pk")
_CASTS = {"int": "static_cast<long long>", "float": "double", "bool": "pkdb::truth"}
_TEAM = {"league_rank", "league_size", "team_rank", "team_size"}


@dataclass(frozen=True)
class Condition:
    id: int
    file: str
    line: int
    expression: str


@dataclass(frozen=True)
class Compiled:
    """C++ to be put before the first statement of `line`; `source` is the name that place has in the line table."""

    file: str
    line: int
    text: str

    @property
    def digest(self) -> str:
        """Of decimal digits, and of what the condition says alone: builds serve later sessions too."""
        said = f"{self.file}\0{self.line}\0{self.text}".encode()
        return str(int(hashlib.sha256(said).hexdigest()[:12], 16))

    @property
    def source(self) -> str:
        return f"{self.file}{MARK}{self.line}"

    @property
    def state(self) -> str:
        """The C++ variable with the outcomes of all conditions of the line; a kernel may be fused of several files."""
        return f"pk_at_{self.line}_{zlib.crc32(self.file.encode())}"

    @property
    def origin(self) -> str:
        """The file name a compiler's message about the expression itself carries."""
        return f"pkdb_condition_{self.digest}.hpp"


class Placed(NamedTuple):
    """Where a thread comes by for which a condition holds: `line` of the source name `file`.

    `state` is the C++ variable that has the outcomes of all the line's conditions, this one's with `number`.
    """

    file: str
    line: int
    state: str
    number: int


class Refused(Exception):
    """The condition can't be compiled in; its text says why."""


def compile_condition(condition: Condition, source: str, outside: Callable[[str], Any]) -> Compiled:
    """`outside(name)` gives the value of a name the kernel doesn't have, or MISSING. Raises Refused."""
    try:
        node = ast.parse(condition.expression.strip(), mode="eval").body
        tree = ast.parse(source)
    except SyntaxError as error:
        raise Refused(f"`{condition.expression}` is not an expression: {error.msg}") from None
    path = _path_to(tree, condition.line)
    if path is None:
        raise Refused(f"line {condition.line} has no code in this kernel")
    inside = set(_declared(path))
    members = {name for node_ in path if isinstance(node_, ast.ClassDef) for name in _members(node_)}
    text = _Writer(inside, members, outside).truth(node)
    return Compiled(condition.file, condition.line, text)


def _path_to(tree: ast.AST, line: int) -> list[ast.AST] | None:
    """From the module down to the outermost statement of a function that begins in this line."""
    around: dict[ast.AST, ast.AST] = {}
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.ClassDef) and node.lineno == line:
            path: list[ast.AST] = [node]
            while path[-1] in around:
                path.append(around[path[-1]])
            return path[::-1]
        children = list(ast.iter_child_nodes(node))
        around.update(dict.fromkeys(children, node))
        waiting += children[::-1]
    return None


def _declared(path: Sequence[ast.AST]) -> Iterator[str]:
    """Names that have been declared where the last statement of the path begins."""
    if isinstance(path[-1], ast.For) and isinstance(path[-1].target, ast.Name):
        yield path[-1].target.id  # the loop's line is met at its test
    for outer, inner in itertools.pairwise(path):
        if isinstance(outer, ast.FunctionDef):
            yield from (argument.arg for argument in outer.args.args if argument.arg != "self")
        if isinstance(outer, ast.For) and isinstance(outer.target, ast.Name) and inner in outer.body:
            yield outer.target.id
        for block in (getattr(outer, name, None) for name in ("body", "orelse")):
            if isinstance(block, list) and inner in block and not isinstance(outer, ast.Module | ast.ClassDef):
                for statement in block[: block.index(inner)]:
                    yield from _names_of(statement)


def _names_of(statement: ast.stmt) -> Iterator[str]:
    """What a statement declares in its own block."""
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id
    elif isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def _members(node: ast.ClassDef) -> Iterator[str]:
    for each in ast.walk(node):
        targets = (
            each.targets if isinstance(each, ast.Assign) else [each.target] if isinstance(each, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                yield target.attr


class _Writer:
    """Writes one expression as C++ that converts every operand to Python's kind of number."""

    def __init__(self, inside: set[str], members: set[str], outside: Callable[[str], Any]) -> None:
        self._inside = inside
        self._members = members
        self._outside = outside

    def truth(self, node: ast.expr) -> str:
        match node:
            case ast.BoolOp(op=op, values=values):
                return "(" + (" && " if isinstance(op, ast.And) else " || ").join(map(self.truth, values)) + ")"
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return f"(!{self.truth(operand)})"
            case ast.Compare():
                return self._compare(node)
        return f"pkdb::truth({self.value(node)})"

    def value(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=bool() | int() | float() as value):
                return literal(value)
            case ast.Name() | ast.Attribute():
                return self._named(node)
            case ast.Subscript():
                return self._element(node)
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(self.value(left), op, self.value(right), node)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert() as op, operand=operand):
                symbol = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(op)]
                return f"({symbol}pkdb::num({self.value(operand)}))"
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return f"({self.truth(test)} ? {self.value(body)} : {self.value(orelse)})"
            case ast.Compare() | ast.UnaryOp():
                return self.truth(node)
            case ast.Call(func=func, args=args, keywords=[]):
                return self._call(func, args, node)
        raise self._refused(node)

    @staticmethod
    def _refused(node: ast.AST, why: str = "") -> Refused:
        return Refused(f"`{ast.unparse(node)}` can't be compiled into a kernel{why}")

    def _known(self, node: ast.expr) -> str:
        """The C++ name of a variable, view, member or list of the kernel, or nothing."""
        match node:
            case ast.Name(id=name) if name in self._inside:
                return name
            case ast.Name(id=name) if name in self._members and self._outside(name) is MISSING:
                return f"this->{name}"
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if name in self._members:
                return f"this->{name}"
        return ""

    def _named(self, node: ast.Name | ast.Attribute) -> str:
        if known := self._known(node):
            return f"pkdb::num({known})"
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        value = self._outside(node.id)
        if value is MISSING:
            raise Refused(f"the kernel has no `{node.id}` at this line")
        item = getattr(value, "item", None)
        number = item() if item is not None and getattr(value, "shape", None) == () else value
        if not isinstance(number, bool | int | float):
            raise Refused(f"`{node.id}` is a {type(value).__name__} outside of the kernel; a condition needs numbers")
        return literal(number)

    def _attribute(self, node: ast.Attribute) -> str:
        if isinstance(node.value, ast.Name) and node.value.id in _MODULES and node.attr in _CONSTANTS:
            return literal(_CONSTANTS[node.attr])
        owner = self._known(node.value)
        if not owner:
            raise self._refused(node)
        if node.attr == "size":
            return f"static_cast<long long>({owner}.size())"
        if node.attr == "ndim":
            return f"static_cast<long long>({owner}.rank)"
        return f"pkdb::num({owner}.{node.attr})"  # a field of a class-type object

    def _element(self, node: ast.Subscript) -> str:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return self._extent(self._known(node.value.value), node.slice, node)
        indices: list[ast.expr] = []
        base: ast.expr = node
        while isinstance(base, ast.Subscript):
            indices[:0] = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
            base = base.value
        known = self._known(base)
        if not known or any(isinstance(index, ast.Slice) for index in indices):
            raise self._refused(node, ": one element of a view of the kernel can")
        name = known.removeprefix("this->")
        return f'pkdb::num(pkdb::at("{name}", {known}, {", ".join(map(self.value, indices))}))'

    def _extent(self, view: str, index: ast.expr, node: ast.AST) -> str:
        if not view:
            raise self._refused(node)
        return f'static_cast<long long>({view}.extent(pkdb::place("shape", {self.value(index)}, {view}.rank)))'

    def _binary(self, left: str, op: ast.operator, right: str, node: ast.AST) -> str:
        if type(op) in _OPERATORS:
            return f"({left} {_OPERATORS[type(op)]} {right})"
        if isinstance(op, ast.Div):
            return f"(({left} * 1.0) / {right})"
        if type(op) in _CALLED:
            return f"pkdb::{_CALLED[type(op)]}({left}, {right})"
        raise self._refused(node)

    def _compare(self, node: ast.Compare) -> str:
        parts, left = [], node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.In | ast.NotIn):
                inside = self._membership(self.value(left), right)
                parts.append(inside if isinstance(op, ast.In) else f"(!{inside})")
            elif type(op) in _COMPARE:
                parts.append(f"({self.value(left)} {_COMPARE[type(op)]} {self.value(right)})")
            else:
                raise self._refused(node)
            left = right
        return parts[0] if len(parts) == 1 else f"({' && '.join(parts)})"

    def _membership(self, item: str, container: ast.expr) -> str:
        match container:
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                return "(" + (" || ".join(f"({item} == {self.value(each)})" for each in elements) or "false") + ")"
            case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]) if 1 <= len(args) <= 3:
                start = self.value(args[0]) if len(args) > 1 else "0LL"
                stop = self.value(args[1 if len(args) > 1 else 0])
                step = args[2].value if len(args) == 3 and isinstance(args[2], ast.Constant) else 1
                if isinstance(step, int) and step > 0 and (len(args) < 3 or isinstance(args[2], ast.Constant)):
                    on_step = f"pkdb::mod({item} - {start}, {step}LL) == 0"
                    return f"(({item} >= {start}) && ({item} < {stop}) && {on_step})"
        raise self._refused(container, " after `in`: a tuple, list or range with a constant step can")

    def _call(self, func: ast.expr, args: list[ast.expr], node: ast.Call) -> str:
        name = ast.unparse(func)
        if name == "len" and len(args) == 1 and (known := self._known(args[0])):
            return f"static_cast<long long>({known}.extent(0))"
        if name in ("min", "max") and len(args) > 1:
            best = self.value(args[0])
            for other in args[1:]:
                best = f"pkdb::{'least' if name == 'min' else 'most'}({best}, {self.value(other)})"
            return best
        if isinstance(func, ast.Attribute) and (owner := self._known(func.value)):
            if func.attr == "extent" and len(args) == 1:
                return self._extent(owner, args[0], node)
            if func.attr in _TEAM and not args:
                return f"pkdb::num({owner}.{func.attr}())"
        if len(args) == 1:
            if name in _CASTS:
                return f"{_CASTS[name]}({self.value(args[0])})"
            if name == "abs":
                return f"pkdb::abs({self.value(args[0])})"
            module, _, short = name.rpartition(".")
            if short in _MATH and (module in _MODULES or not module):
                return f"std::{short}(double({self.value(args[0])}))"
        raise self._refused(node, ": of functions, only numbers' and math's can")


def literal(value: bool | int | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not -(2**63) < value < 2**63:
            raise Refused(f"{value} doesn't fit into 64 bits")
        return f"({value}LL)"
    if math.isnan(value):
        return "(0.0 / 0.0)"
    if math.isinf(value):
        return "(1.0 / 0.0)" if value > 0 else "(-1.0 / 0.0)"
    return f"({value!r})"


def by_place(conditions: Iterable[Compiled]) -> dict[tuple[str, int], list[Compiled]]:
    """Those of each line, equal ones once, as they are evaluated: in one order, as builds serve later sessions too."""
    found: dict[tuple[str, int], dict[str, Compiled]] = {}
    for each in sorted(conditions, key=lambda condition: condition.digest):
        found.setdefault((each.file, each.line), {})[each.digest] = each
    return {place: list(group.values()) for place, group in found.items()}


def places(compiled: Mapping[int, Compiled]) -> dict[int, Placed]:
    """By breakpoint, where its condition stands in a kernel that was built with exactly these."""
    groups = by_place(compiled.values())
    return {
        number: Placed(each.source, each.line, each.state, groups[each.file, each.line].index(each))
        for number, each in compiled.items()
    }


def written_before(conditions: Sequence[Compiled]) -> str:
    """The C++ in front of a line's first statement: a false condition costs a branch.

    All of them have one place, a `nop`: a thread stops there once, whichever of them hold.
    """
    if not conditions:
        return ""
    first, count = conditions[0], len(conditions)
    tests = ",".join(f'\n#line 1 "{each.origin}"\n[&] {{ return bool({each.text}); }}' for each in conditions)
    return (
        f'\n#line 1 "{first.origin}"\npkdb::Conditions<{count}> {first.state}; if ({first.state}.hold({tests}))'
        f'\n#line {first.line} "{_quoted(first.source)}"\n{{ asm volatile("nop"); }}\n'
    )


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')
