"""Where each local of a kernel is declared, so that C++'s block scopes give Python's function scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

Block = tuple[int, ...]


@dataclass
class Use:
    """One statement that names a local: its block, and whether it plainly assigns it first."""

    block: Block
    statement: ast.stmt
    assigns: bool


@dataclass
class Places:
    """Declaration points: at an assignment itself, at a loop's body, or in front of a statement."""

    at: dict[int, set[str]] = field(default_factory=dict)  # id(statement) -> names declared by it
    before: dict[int, set[str]] = field(default_factory=dict)  # id(statement) -> names declared in front of it


def names_in(node: ast.AST) -> set[str]:
    """Names read or written by a node, not descending into nested functions' own parameters."""
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def plan(function: ast.FunctionDef, local: set[str]) -> Places:
    """Decide for every local in `local`; parameters must not be among them."""
    uses: dict[str, list[Use]] = {}
    loops: set[Block] = set()
    order: dict[Block, list[ast.stmt]] = {}
    _walk(function.body, (), local, uses, loops, order)
    places = Places()
    for name, found in uses.items():
        _place(name, found, loops, order, places)
    return places


def _heads(statement: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that run in its own block."""
    if isinstance(statement, (ast.If, ast.While)):
        yield statement.test
    elif isinstance(statement, ast.For):
        yield statement.iter
    else:
        yield statement


def _walk(
    body: list[ast.stmt],
    block: Block,
    local: set[str],
    uses: dict[str, list[Use]],
    loops: set[Block],
    order: dict[Block, list[ast.stmt]],
) -> None:
    order[block] = body
    for index, statement in enumerate(body):
        for head in _heads(statement):
            for name in sorted(names_in(head) & local):
                uses.setdefault(name, []).append(Use(block, statement, _assigns(statement, name)))
        for part, inner in enumerate((getattr(statement, "body", None), getattr(statement, "orelse", None))):
            if not inner or isinstance(statement, ast.FunctionDef):
                continue
            child = (*block, index * 2 + part)
            if isinstance(statement, (ast.For, ast.While)):
                loops.add(child)
            if isinstance(statement, ast.For) and isinstance(statement.target, ast.Name):
                name = statement.target.id
                if name in local:
                    uses.setdefault(name, []).append(Use(child, statement, True))
            _walk(inner, child, local, uses, loops, order)


def _assigns(statement: ast.stmt, name: str) -> bool:
    """Whether a statement gives the name a value without reading it."""
    if isinstance(statement, ast.AnnAssign):
        targets: list[ast.expr] = [statement.target]
        value = statement.value
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        targets, value = statement.targets, statement.value
    else:
        return False
    named = any(isinstance(target, ast.Name) and target.id == name for target in targets)
    return named and (value is None or name not in names_in(value))


def _common(blocks: list[Block]) -> Block:
    shortest = min(blocks, key=len)
    for depth in range(len(shortest)):
        if any(block[depth] != shortest[depth] for block in blocks):
            return shortest[:depth]
    return shortest


def _place(name: str, found: list[Use], loops: set[Block], order: dict[Block, list[ast.stmt]], places: Places) -> None:
    common = _common([use.block for use in found])
    first = found[0]
    if first.block == common and first.assigns:
        places.at.setdefault(id(first.statement), set()).add(name)
        return
    # A value may live from one turn of a loop to the next: declare outside every loop around it.
    while any(common[: depth + 1] in loops for depth in range(len(common))):
        depth = next(depth for depth in range(len(common)) if common[: depth + 1] in loops)
        common = common[:depth]
    index = 0
    if len(found[0].block) > len(common):
        index = found[0].block[len(common)] // 2
    else:
        index = next((i for i, s in enumerate(order[common]) if s is found[0].statement), 0)
    places.before.setdefault(id(order[common][index]), set()).add(name)
