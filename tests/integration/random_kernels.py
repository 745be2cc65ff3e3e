"""Kernels made at random, and the lines that Python comes to in them."""

from __future__ import annotations

import ast
import random
import sys
import types
from pathlib import Path
from typing import Any, NamedTuple

COUNT = 4  # indices of the launch
_HEAD = """import numpy as np
import pykokkos as pk


@pk.function
def helper(n: int) -> int:
{helper}


@pk.workunit
def work(i: int, v: pk.View1D[pk.double]):
{work}


v = np.zeros({count})
pk.parallel_for(pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, {count}), work, v=v)
print("values", [int(x) for x in v])
"""


class _Maker:
    """Writes one function: every statement of it is in both runtimes' language, with the same values as in Python."""

    def __init__(self, choose: random.Random, index: str, names: tuple[str, ...], *, helps: bool) -> None:
        self._choose = choose
        self._index = index
        self._names = names
        self._helps = helps
        self._loops = 0
        self._counters: list[str] = []

    def function(self) -> list[str]:
        """Its lines; the last of them stand in a block more often than not."""
        declared = [f"    {name}: int = {self._choose.randrange(3)}" for name in self._names]
        body = [line for _ in range(2) for line in self._statement(1, loop=False)]
        body += self._statement(1, loop=False) if self._choose.random() < 0.3 else self._compound(1, loop=False)
        return declared + [f"    {name}: int = 0" for name in self._counters] + body

    def _value(self) -> str:
        name = self._choose.choice((self._index, *self._names))
        return self._choose.choice((name, f"{name} + 1", f"({name} * 3 + {self._index}) % 5", "2"))

    def _test(self) -> str:
        if self._choose.random() < 0.05:
            return "1 < 2"
        name = self._choose.choice((self._index,) * 4 + self._names)
        first = f"{name} {self._choose.choice(('==', '<', '>', '!=', '>='))} {self._choose.randrange(3)}"
        if self._choose.random() < 0.25:
            first += f" {self._choose.choice(('and', 'or'))} {self._index} % 2 == {self._choose.randrange(2)}"
        return first

    def _simple(self) -> str:
        name = self._choose.choice(self._names)
        kinds = ["pass", f"{name} = ({self._value()}) % 7", f"{name} += {self._value()}", f"{name} *= 2"]
        kinds += [f"{name} = {name}", f"{name} += 0", f"{name} *= 1"]  # of which compilers like to make nothing
        if self._helps:
            kinds += [f"v[{self._index}] += {self._value()}", f"{name} = helper({self._value()})"]
        return self._choose.choice(kinds)

    def _statement(self, depth: int, *, loop: bool) -> list[str]:
        pad = "    " * depth
        what = self._choose.random()
        if what < 0.4 and depth < 3:
            return self._compound(depth, loop=loop)
        if what < 0.55:
            return [f"{pad}{self._simple()}; {self._simple()}"]
        if what < 0.65:
            return [f"{pad}if {self._test()}: {self._simple()}"]
        return [pad + self._simple()]

    def _compound(self, depth: int, *, loop: bool) -> list[str]:
        pad = "    " * depth
        kind = self._choose.choice(("if", "if", "for", "while"))
        if kind == "if":
            lines = [f"{pad}if {self._test()}:", *self._block(depth + 1, loop=loop)]
            for _ in range(self._choose.randrange(3)):
                lines += [f"{pad}elif {self._test()}:", *self._block(depth + 1, loop=loop)]
            if self._choose.random() < 0.7:
                lines += [f"{pad}else:", *self._block(depth + 1, loop=loop)]
            return lines
        self._loops += 1
        if kind == "for":
            if self._choose.random() < 0.2:
                return [f"{pad}for k{self._loops} in range(2): {self._simple()}"]
            head = f"{pad}for k{self._loops} in range({self._choose.randrange(3)}, 3):"
            return [head, *self._block(depth + 1, loop=True)]
        name = f"w{self._loops}"
        self._counters.append(name)
        turns = self._choose.randrange(1, 3)
        return [f"{pad}{name} = 0", f"{pad}while {name} < {turns}:", f"{pad}    {name} += 1",
                *self._block(depth + 1, loop=True)]  # fmt: skip

    def _block(self, depth: int, *, loop: bool) -> list[str]:
        lines = [line for _ in range(self._choose.randrange(1, 3)) for line in self._statement(depth, loop=loop)]
        leaves = ["break", "continue"] if loop else []
        leaves.append("return" if self._helps else f"return {self._value()}")
        if self._choose.random() < 0.25:
            lines.append("    " * depth + self._choose.choice(leaves))
        return lines


def program(seed: int) -> str:
    """The text of a program that launches one kernel over COUNT indices; the same one for the same seed."""
    choose = random.Random(seed)
    helper = [*_Maker(choose, "n", ("p",), helps=False).function(), "    return p"]
    work = _Maker(choose, "i", ("a", "b"), helps=True).function()
    text = _HEAD.format(helper="\n".join(helper), work="\n".join(work), count=COUNT)
    return _without_unreached(text)


def _without_unreached(text: str) -> str:
    """The text less what stands behind a statement that always leaves, which neither runtime makes code of."""
    lines: list[str | None] = list(text.splitlines())
    for node in ast.walk(ast.parse(text)):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            ends = False
            for statement in block if isinstance(block, list) else ():
                if ends:
                    for number in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1):
                        lines[number - 1] = None
                ends = ends or _leaves(statement)
    return "".join(f"{line}\n" for line in lines if line is not None)


def _leaves(node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        return bool(node.orelse) and _leaves(node.body[-1]) and _leaves(node.orelse[-1])
    return isinstance(node, ast.Return | ast.Break | ast.Continue)


class Came(NamedTuple):
    """Python came to a line: in the call for this index, in a function whose first parameter has this value."""

    line: int
    index: int
    parameter: int


def in_python(path: Path) -> tuple[list[Came], list[int]]:
    """What Python's own tracing says of the kernel's calls, in order, and what the view holds then."""
    tree = ast.parse(path.read_text())
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    for node in functions:
        node.decorator_list.clear()
        node.returns = None
        for argument in node.args.args:
            argument.annotation = None
    names: dict[str, Any] = {}
    exec(compile(ast.Module(list(functions), []), str(path), "exec"), names)
    came: list[Came] = []
    values = [0] * COUNT
    index = 0

    def trace(frame: types.FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != str(path):
            return None
        if event == "line":
            came.append(Came(frame.f_lineno, index, frame.f_locals[frame.f_code.co_varnames[0]]))
        return trace

    before = sys.gettrace()
    for index in range(COUNT):  # `trace` reads it
        sys.settrace(trace)
        try:
            names["work"](index, values)
        finally:
            sys.settrace(before)
    return came, values


def kernel_lines(path: Path) -> dict[int, str]:
    """The lines of its kernels that have statements, with the name of the function's first parameter."""
    found: dict[int, str] = {}
    for function in ast.parse(path.read_text()).body:
        if isinstance(function, ast.FunctionDef):
            inside = [node for each in function.body for node in ast.walk(each) if isinstance(node, ast.stmt)]
            found.update(dict.fromkeys((node.lineno for node in inside), function.args.args[0].arg))
    return dict(sorted(found.items()))
