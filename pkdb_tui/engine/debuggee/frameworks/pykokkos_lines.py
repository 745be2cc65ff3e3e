"""Line mapping for PyKokkos: makes its translator write `#line` directives that name the Python source.

PyKokkos' C++ syntax nodes carry no location. While a debug build is translated, the Python nodes are tagged with their
file, the visitor copies file and line to what it makes of a node, and the serializer writes a directive before it.
Untagged trees, such as those of PyKokkos' own optimised builds, come out as they always do.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

GLUE = "pk_glue.hpp"
_FILE = "pkdb_file"
_PLACE = "pkdb_place"
_MET = "pkdb_met"  # places met so far in a function
_FUNCTIONS = ("MethodDecl", "FunctionDecl", "LambdaExpr")
TURN = "#turn"  # behind a file's name: the test of a loop
_NOP = 'asm volatile("nop");'
# What a compiler may make no code of, or only a way to somewhere: `pass`, `x += 0`, `if 1 < 2`, `break` behind an `if`.
_MAYBE_NOTHING = (
    "EmptyStmt", "BreakStmt", "ContinueStmt", "ReturnStmt", "IfStmt", "AssignOperator", "CompoundAssignOperator",
)  # fmt: skip
_KOKKOS_LAMBDA = re.compile(r"KOKKOS_LAMBDA *\([^)]*\) *\{")


def tag_tree(tree: ast.AST, file: str) -> None:
    """Mark every statement of a parsed file that has code with the file it came from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not _is_text(node):
            setattr(node, _FILE, file)


def _is_text(node: ast.stmt) -> bool:
    """A docstring or another constant standing alone."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def directive(file: str, line: int) -> str:
    quoted = file.replace("\\", "\\\\").replace('"', '\\"')
    return f'\n#line {line} "{quoted}"\n'


def _visit(original: Any) -> Any:
    def visit(self: Any, node: ast.AST) -> Any:
        made = original(self, node)
        file = getattr(node, _FILE, None)
        # A workunit comes as (operation, declaration).
        target = made[1] if isinstance(made, tuple) else made
        if file is not None and isinstance(node, ast.stmt) and hasattr(target, "__dict__"):
            target.__dict__.setdefault(_PLACE, (file, node.lineno))
        return made

    return visit


def _on_one_line(text: str) -> str:
    """A statement without line ends of its own, which would count its later parts to the lines that follow it."""
    kept: list[str] = []
    for line in text.split("\n"):
        if line.startswith("#line") or not kept or kept[-1].startswith("#line"):
            kept.append(line)
        else:
            kept[-1] += line
    return "\n".join(kept)


def _with_turns(serializer: Any, node: Any, place: tuple[str, int], stops: str) -> str:
    """A loop whose test, to which each turn comes, has a source name of its own; empty for anything else.

    `stops` is what is written in front of other statements: here each turn comes to it.
    """
    kind = type(node).__name__
    if kind not in ("ForStmt", "WhileStmt"):
        return ""
    test = f"({{ {stops}{directive(place[0] + TURN, place[1])}{_NOP} {serializer.serialize(node.condition)}; }})"
    body = serializer.serialize(node.body)
    if kind == "WhileStmt":
        return f"while({test}{directive(*place)}) {{ {body} }}"
    init, increment = serializer.serialize(node.init), serializer.serialize(node.increment)
    return f"for ({init}{test};{directive(*place)}{increment}){{ {body} }}"


def _serialize(original: Any, before: Callable[[tuple[str, int]], str]) -> Any:
    def serialize(self: Any, node: Any) -> str:
        around: tuple[str, int] | None = getattr(self, _PLACE, None)
        place: tuple[str, int] | None = getattr(node, _PLACE, None)
        met: set[tuple[str, int]] = self.__dict__.setdefault(_MET, set())
        if type(node).__name__ in _FUNCTIONS:
            setattr(self, _MET, set())
        # Only in front of a line's first statement in each function: the breakpoints of a line lie there, too.
        stops = before(place) if place is not None and place not in met else ""
        if place is not None:
            met.add(place)
        setattr(self, _PLACE, place or around)
        turns = _with_turns(self, node, place, stops) if place is not None else ""
        text: str = turns or original(self, node)
        setattr(self, _PLACE, around)
        setattr(self, _MET, met)
        if place is None:
            if type(node).__name__ == "MethodDecl" and "\n#line " in text:  # of fused workunits: it stands nowhere
                return directive(GLUE, 1) + text + directive(GLUE, 1)
            # A lambda's head would be its line, too: a breakpoint there would stop in every call of it.
            if around is not None and type(node).__name__ == "LambdaExpr":
                return directive(GLUE, 1) + text + directive(*around)
            return text
        # A function's head and what follows it are glue: the head would be a line of every call, the rest its last one.
        if type(node).__name__ in ("MethodDecl", "FunctionDecl", "RecordDecl", "ConstructorDecl"):
            return directive(GLUE, 1) + text + directive(GLUE, 1)
        text = _KOKKOS_LAMBDA.sub(lambda head: directive(GLUE, 1) + head.group() + directive(*place), text)
        # What follows is glue: a way out of a branch or loop would be a line of threads that never came to it.
        front = "" if turns else stops + directive(*place) + (_NOP if type(node).__name__ in _MAYBE_NOTHING else "")
        return (front or directive(*place)) + _on_one_line(text) + directive(GLUE, 1)

    return serialize


def _main_body(original: Any) -> Any:
    def visit_function(self: Any, node: ast.FunctionDef) -> Any:
        body = original(self, node)
        if getattr(node, _FILE, None) is not None:
            body += directive(GLUE, 1)
        return body

    return visit_function


def install(cppast: Any, visitors: Any, before: Callable[[tuple[str, int]], str]) -> None:
    """Patch PyKokkos' visitor and serializer; to be called once, before anything is tagged.

    `before(place)` is what to write in front of a statement from this (file, line).
    """
    base = visitors.PyKokkosVisitor
    base.visit = _visit(base.visit)
    cppast.Serializer.serialize = _serialize(cppast.Serializer.serialize, before)
    main = visitors.KokkosMainVisitor
    main.visit_FunctionDef = _main_body(main.visit_FunctionDef)
