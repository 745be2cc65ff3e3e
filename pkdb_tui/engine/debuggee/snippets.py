"""Code typed at a stop, run as if it stood at the frame's line: its names are those of the program."""

from __future__ import annotations

import ast
import itertools
import linecache
import re
from collections.abc import Callable, Mapping
from types import CellType, CodeType, FrameType, FunctionType
from typing import Any

from pkdb_tui.engine.debuggee.scopes import Kernel, Scope, globals_of

SOURCE = "<console>"
INSIDE = f"{SOURCE}.<locals>.{SOURCE}.<locals>."  # how qualified names begin in the functions made around a text
CO_COROUTINE = 0x80
SEES_ALL = frozenset({"locals", "vars", "dir", "eval", "exec"})  # functions that look at all names
FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
Names = dict[str, Any]
Functions = ast.FunctionDef | ast.AsyncFunctionDef
_numbers = itertools.count(1)


class _Bindings(ast.NodeVisitor):
    """Names that code binds and deletes in its own scope, and those it declares global."""

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.deleted: set[str] = set()
        self.declared: set[str] = set()
        self.star = False  # `from module import *`
        self._comprehensions = 0

    def visit_Name(self, node: ast.Name) -> None:
        if not self._comprehensions:
            if isinstance(node.ctx, ast.Store):
                self.bound.add(node.id)
            elif isinstance(node.ctx, ast.Del):
                self.deleted.add(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.bound.add(node.target.id)
        self.visit(node.value)

    def _comprehension(self, node: ast.AST) -> None:
        self._comprehensions += 1
        self.generic_visit(node)
        self._comprehensions -= 1

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _function(self, node: Functions) -> None:
        self.bound.add(node.name)
        for part in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
            if part is not None:
                self.visit(part)

    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for part in (*node.args.defaults, *node.args.kw_defaults):
            if part is not None:
                self.visit(part)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bound.add(node.name)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self.star = self.star or alias.name == "*"
            self.bound.add(alias.asname or alias.name.partition(".")[0])

    visit_Import = visit_ImportFrom = _import

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.bound.add(node.name)
        self.generic_visit(node)

    def _match(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self.bound.add(node.name)
        self.generic_visit(node)

    visit_MatchAs = visit_MatchStar = _match

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.bound.add(node.rest)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.declared.update(node.names)


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


class Snippet:
    """One expression, or statements with an expression's value at their end. Raises SyntaxError."""

    def __init__(self, text: str, mode: str = "auto", source: str = SOURCE) -> None:
        self.text = text
        self.source = source
        self._tree = self._parse(mode)
        self._value = bool(self._tree.body) and isinstance(self._tree.body[-1], ast.Expr)
        self._expression: CodeType | None = None
        if self._value and len(self._tree.body) == 1:
            self._expression = self._last()
        # Compiled as it stands first: what Python allows at a prompt is allowed here, and nothing else.
        code = self._expression or compile(self._tree, source, "exec", FLAGS, dont_inherit=True)
        self.waits = bool(code.co_flags & CO_COROUTINE)  # it awaits something: running it gives a coroutine
        self._nested = any(isinstance(constant, CodeType) for constant in code.co_consts)
        self._names = _Bindings()
        self._names.visit(self._tree)
        if any(isinstance(node, Functions | ast.ClassDef) for node in ast.walk(self._tree)):
            self._keep_source()

    def _parse(self, mode: str) -> ast.Module:
        if mode in ("auto", "eval"):
            try:
                expression = ast.parse(self.text.strip(), self.source, "eval")
            except SyntaxError:
                if mode == "eval":
                    raise
            else:
                self.text = self.text.strip()
                return ast.Module([ast.copy_location(ast.Expr(expression.body), expression.body)], [])
        tree = ast.parse(self.text, self.source, "exec")
        while len(tree.body) > 1 and _is_text(tree.body[0]):
            del tree.body[0]  # it does nothing, but would be a docstring, which from 3.13 on can't hold surrogates
        return tree

    def _keep_source(self) -> None:
        """What is defined here can be read by whoever asks for its source: a kernel is translated from it."""
        if self.source == SOURCE:
            self.source = f"<console {next(_numbers)}>"
        lines = [line + "\n" for line in self.text.split("\n")]
        linecache.cache[self.source] = (len(self.text), None, lines, self.source)

    def run(self, scope: Scope) -> Any:
        """Its value, or a coroutine that gives it; raises what the code raises, and Kept before any of it runs."""
        if scope.kernel is not None:
            scope.kernel.check(self._names.bound, self._names.deleted)
        if scope.module:
            return self._plain(scope.globals, scope.globals, [])
        variables = scope.variables()
        outside = [
            name
            for name in sorted((self._names.bound | self._names.deleted) - self._names.declared - variables)
            if name in scope.globals
        ]
        words = set(re.findall(r"\w+", self.text))
        shared = {name: cell for name, cell in scope.cells().items() if name in words}
        if self._names.star or not (self._nested or shared):
            before = scope.known()
            names = dict(before)
            return self._keeping(
                scope,
                before,
                lambda: _without_globals(scope.globals, names, outside),
                lambda: self._plain(scope.globals, names, outside),
            )
        return self._in_closure(scope, variables if words & SEES_ALL else variables & words, outside, shared)

    def _keeping(self, scope: Scope, before: Names, after: Callable[[], Names], run: Callable[[], Any]) -> Any:
        """Run, and put what was bound where it belongs, also when it ends by an exception."""
        if self.waits:
            return self._awaited(scope, before, after, run)
        try:
            return run()
        finally:
            scope.keep(before, after())

    @staticmethod
    async def _awaited(scope: Scope, before: Names, after: Callable[[], Names], run: Callable[[], Any]) -> Any:
        try:
            return await run()
        finally:
            scope.keep(before, after())

    def value(self, frame: FrameType) -> Any:
        """An expression's value in a frame, quickly where it has no functions of its own."""
        if self._nested or self._expression is None:
            return self.run(Scope(frame))
        return eval(self._expression, globals_of(frame), frame.f_locals)

    def _last(self) -> CodeType:
        """The expression at the end."""
        statement = self._tree.body[-1]
        assert isinstance(statement, ast.Expr)
        code: CodeType = compile(ast.Expression(statement.value), self.source, "eval", FLAGS, dont_inherit=True)
        return code

    def _plain(self, globals_: Names, names: Names, outside: list[str]) -> Any:
        """Without functions of its own the code finds all names in the two dictionaries."""
        if self._expression is not None:
            return eval(self._expression, globals_, names)
        body = list(self._tree.body)
        last = self._last() if self._value else None
        if last is not None:
            body.pop()
        if outside:
            body.insert(0, ast.fix_missing_locations(ast.Global(outside)))
        first = compile(ast.Module(body, []), self.source, "exec", FLAGS, dont_inherit=True)
        if self.waits:
            return self._one_after_the_other(first, last, globals_, names)
        eval(first, globals_, names)
        return eval(last, globals_, names) if last is not None else None

    @staticmethod
    async def _one_after_the_other(first: CodeType, last: CodeType | None, globals_: Names, names: Names) -> Any:
        value = eval(first, globals_, names)
        if first.co_flags & CO_COROUTINE:
            await value
        if last is None:
            return None
        value = eval(last, globals_, names)
        return await value if last.co_flags & CO_COROUTINE else value

    def _in_closure(self, scope: Scope, mentioned: set[str], outside: list[str], shared: Mapping[str, CellType]) -> Any:
        """As the body of a function inside the frame's: functions within see, and bind, the same variables."""
        names = sorted((mentioned | self._names.bound | self._names.deleted) - self._names.declared - set(outside))
        names = [name for name in names if name.isidentifier()]
        code = self._closure_code(names, outside)
        before = {name: value for name, value in scope.known().items() if name in names}
        own = {name: CellType(before[name]) if name in before else CellType() for name in names}
        cells = {**own, **{name: cell for name, cell in shared.items() if name in own}}
        function = FunctionType(
            code, scope.globals, SOURCE, None, tuple(cells.get(name, CellType()) for name in code.co_freevars)
        )
        return self._keeping(scope, before, lambda: _contents(cells), function)

    def _closure_code(self, names: list[str], outside: list[str]) -> CodeType:
        body: list[ast.stmt] = list(self._tree.body)
        if self._value:
            expression = body.pop()
            assert isinstance(expression, ast.Expr)
            body.append(ast.copy_location(ast.Return(expression.value), expression))
        if outside:
            body.insert(0, ast.Global(outside))
        if names:
            body.insert(0, ast.Nonlocal(names))
        inner = ast.parse(f"{'async ' * self.waits}def inner(): pass").body[0]
        outer = ast.parse(f"def outer({', '.join(names)}): pass").body[0]
        assert isinstance(inner, Functions)
        assert isinstance(outer, ast.FunctionDef)
        inner.name, outer.name, inner.body, outer.body = SOURCE, SOURCE, body, [inner]
        module = ast.fix_missing_locations(ast.Module([outer], []))
        code = compile(module, self.source, "exec", dont_inherit=True)
        renamed: CodeType = _renamed(_inner(_inner(code)))
        return renamed


def _renamed(constant: Any) -> Any:
    """Code whose functions and classes are called as if they stood at the prompt itself."""
    if isinstance(constant, CodeType):
        constants = tuple(_renamed(each) for each in constant.co_consts)
        return constant.replace(co_consts=constants, co_qualname=constant.co_qualname.removeprefix(INSIDE))
    return constant.removeprefix(INSIDE) if isinstance(constant, str) else constant


def _inner(code: CodeType) -> CodeType:
    return next(constant for constant in code.co_consts if isinstance(constant, CodeType))


def _without_globals(globals_: Names, names: Names, outside: list[str]) -> Names:
    """What an expression bound, less what belongs to the globals: `(SCALE := 2)` can't declare that itself."""
    for name in outside:
        if name in names:
            globals_[name] = names.pop(name)
    return names


def _contents(cells: Mapping[str, CellType]) -> dict[str, Any]:
    """The values of cells by name; one that was never bound, or was deleted, isn't there."""
    found = {}
    for name, cell in cells.items():
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue  # empty
    return found


__all__ = ["SOURCE", "Kernel", "Scope", "Snippet"]
