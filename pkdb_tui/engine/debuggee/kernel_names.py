"""Which names the code of a kernel can have, found in its source text alone."""

from __future__ import annotations

import ast
import builtins


class KernelNames:
    """`own` are the kernel's parameters and locals, in the order of the text. Raises SyntaxError."""

    def __init__(self, source: str, name: str, last_line: int) -> None:
        tree = ast.parse(source)
        kernels = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name == name and node.end_lineno == last_line
        ]
        self.own = list(dict.fromkeys(found for kernel in kernels for found in _bound(kernel)))
        self._other = {found for node in ast.walk(tree) for found in _bindings(node)} if kernels else set()
        self._open = not kernels or "*" in self._other

    def unknown(self, expression: str) -> list[str]:
        """Names of an expression that neither the kernel nor anything else of its file has; none when in doubt."""
        if self._open:
            return []
        tree = ast.parse(expression.strip(), mode="eval")
        bound = {found for node in ast.walk(tree) for found in _bindings(node)}
        names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
        known = self._other | bound | set(dir(builtins))
        # What an expression at a kernel stop may call, whether the file imports it or not.
        return [name for name in dict.fromkeys(names) if name not in known | {"np", "numpy", "math", "cmath"}]


def _bound(kernel: ast.FunctionDef) -> list[str]:
    found = [argument.arg for argument in kernel.args.args]
    return found + [name for statement in kernel.body for node in ast.walk(statement) for name in _bindings(node)]


def _bindings(node: ast.AST) -> list[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [(alias.asname or alias.name).partition(".")[0] for alias in names]
        case ast.ExceptHandler(name=str() as name):
            return [name]
    return []
