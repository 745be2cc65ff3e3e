"""Where a source file has kernels, and which of their lines have code; found without running or importing it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MODULES = ("pykokkos", "pkdb_tui.minikokkos")
DECORATORS = ("workunit", "function")


@dataclass(frozen=True)
class KernelSource:
    """A workunit or kernel function: `lines` are those that have code in a debug build; all bounds inclusive."""

    name: str
    file: str
    first_line: int
    last_line: int
    lines: tuple[int, ...]


def kernel_spans(
    source: str, file: str, *, decorators: Sequence[str] = DECORATORS, classes: Sequence[str] = ()
) -> list[KernelSource]:
    """The functions so decorated, and all methods of classes so decorated, in the text's order. Raises SyntaxError."""
    tree = ast.parse(source, file)
    modules, names = _imported(tree)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and _marked(node, modules, names, decorators):
            found.append(node)
        elif isinstance(node, ast.ClassDef) and _marked(node, modules, names, classes):
            found += [method for method in node.body if isinstance(method, ast.FunctionDef)]
    return [span(node, file) for node in sorted(found, key=lambda node: node.lineno)]


def span(node: ast.FunctionDef, file: str) -> KernelSource:
    """The extent of one function, its decorators included, and its lines with code."""
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return KernelSource(node.name, file, first, node.end_lineno or node.lineno, executable_lines(node.body))


def executable_lines(body: list[ast.stmt]) -> tuple[int, ...]:
    """The first lines of the statements that have code: not docstrings, nested headers, or what is never reached."""
    lines: set[int] = set()
    _block(body, lines)
    return tuple(sorted(lines))


def reached(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a block up to the one after which nothing runs."""
    for place, statement in enumerate(body):
        if not _block([statement], set()):
            return body[: place + 1]
    return body


def elif_chain(node: ast.If) -> list[ast.If]:
    """An `if` and what stands behind it as `elif`, which Python nests in its `else`: there may be thousands."""
    found = [node]
    while len(found[-1].orelse) == 1 and isinstance(follows := found[-1].orelse[0], ast.If):
        found.append(follows)
    return found


def operands(node: ast.BinOp) -> tuple[ast.expr, list[ast.BinOp]]:
    """The first value of a sum or the like, which Python nests to the left, and its operations from there on."""
    found = [node]
    while isinstance(found[-1].left, ast.BinOp):
        found.append(found[-1].left)
    return found[-1].left, found[::-1]


def own_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a function and those in them, in the text's order; of functions inside it only the `def`."""
    waiting = body[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef):
            waiting += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)][::-1]


def deepest(node: ast.AST) -> ast.AST:
    """The part inside a node that most others are around, among those that have a place in the text."""
    level: list[ast.AST] = [node]
    found = node
    while level:
        found = next((part for part in level if hasattr(part, "lineno")), found)
        level = [child for part in level for child in ast.iter_child_nodes(part)]
    return found


def is_text(node: ast.stmt) -> bool:
    """A docstring or another constant standing alone, which has no code."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _block(body: list[ast.stmt], lines: set[int]) -> bool:
    """Add the lines of a block; whether its end is reached."""
    return all(_statement(node, lines) for node in body)


def _statement(node: ast.stmt, lines: set[int]) -> bool:
    if isinstance(node, ast.FunctionDef):
        _block(node.body, lines)
        return True
    if is_text(node) or isinstance(node, ast.Global | ast.Nonlocal):
        return True
    lines.add(node.lineno)
    if isinstance(node, ast.If):
        chain = elif_chain(node)
        lines.update(part.lineno for part in chain)
        ends = [_block(block, lines) for block in (*(part.body for part in chain), chain[-1].orelse)]
        return any(ends)
    if isinstance(node, ast.For):
        _block(node.body, lines)
        return True
    if isinstance(node, ast.While):
        _block(node.body, lines)
        return not _is_true(node.test) or _leaves(node.body)
    return not isinstance(node, ast.Return | ast.Break | ast.Continue)


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether a `break` of this loop, not of one inside it, stands in its body."""
    for node in body:
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, ast.If):
            chain = elif_chain(node)
            if any(_leaves(block) for block in (*(part.body for part in chain), chain[-1].orelse)):
                return True
    return False


def _imported(tree: ast.Module) -> tuple[set[str], dict[str, str]]:
    """Names by which the module is known, and what its decorators are called here."""
    modules: set[str] = set()
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name for alias in node.names if alias.name in MODULES}
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if node.module in MODULES:
                    names[alias.asname or alias.name] = alias.name
                elif f"{node.module}.{alias.name}" in MODULES:
                    modules.add(alias.asname or alias.name)
    return modules, names


def _marked(
    node: ast.FunctionDef | ast.ClassDef, modules: set[str], names: dict[str, str], wanted: Sequence[str]
) -> bool:
    return any(_name(decorator, modules, names) in wanted for decorator in node.decorator_list)


def _name(decorator: ast.expr, modules: set[str], names: dict[str, str]) -> str:
    """What a decorator of the module is called there, empty for any other."""
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(node, ast.Attribute):
        return node.attr if ast.unparse(node.value) in modules else ""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id if "*" in names else "")
    return ""
