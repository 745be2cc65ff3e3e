"""A kernel's own source: its tree, its file, and the names around it."""

from __future__ import annotations

import ast
import builtins
import linecache
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pkdb_tui.minikokkos.errors import CompileError


@lru_cache(maxsize=64)
def _parsed(file: str, text: str) -> ast.Module:
    return ast.parse(text, file)


@dataclass(frozen=True)
class FunctionSource:
    """A function's tree and where names in it that aren't its own come from."""

    node: ast.FunctionDef
    file: str
    function: Callable[..., Any]

    @property
    def quoted_file(self) -> str:
        return self.file.replace("\\", "\\\\").replace('"', '\\"')

    def nested(self, node: ast.FunctionDef) -> FunctionSource:
        return FunctionSource(node, self.file, self.function)

    def lookup(self, text: str) -> Any:
        """The value of a dotted name in the function's closure, module or builtins. Raises LookupError."""
        first, *rest = text.split(".")
        value = self._name(first)
        for part in rest:
            try:
                value = getattr(value, part)
            except AttributeError:
                raise LookupError(text) from None
        return value

    def _name(self, name: str) -> Any:
        code, closure = self.function.__code__, self.function.__closure__
        if closure is not None and name in code.co_freevars:
            try:
                return closure[code.co_freevars.index(name)].cell_contents
            except ValueError:
                raise LookupError(name) from None
        scope = self.function.__globals__
        if name in scope:
            return scope[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise LookupError(name)


def function_source(function: Callable[..., Any]) -> FunctionSource:
    """The source of a Python function. Raises CompileError when there is none to translate."""
    code = function.__code__
    file = code.co_filename
    lines = linecache.getlines(file, function.__globals__)
    if not lines:
        raise CompileError(f"The kernel {function.__name__} has no source file that could be translated.")
    real = os.path.realpath(file) if os.path.exists(file) else file
    for node in ast.walk(_parsed(real, "".join(lines))):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if code.co_firstlineno in (first, node.lineno):
                return FunctionSource(node, real, function)
    raise CompileError(
        f"The kernel {function.__name__} is not a `def` at {file}:{code.co_firstlineno}; lambdas can't be translated."
    )
