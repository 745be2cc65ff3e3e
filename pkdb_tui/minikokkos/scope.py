"""Names of one kernel function: parameters, locals, and where each local has to be declared."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from pkdb_tui.minikokkos.cpp_types import CType

_RESERVED = frozenset(
    """
    alignas alignof asm auto bool catch char class const constexpr const_cast decltype default delete do
    double dynamic_cast enum explicit export extern float friend goto inline int long mutable namespace new
    noexcept nullptr operator private protected public register reinterpret_cast short signed sizeof static
    static_assert static_cast struct switch template this thread_local throw typedef typeid typename union
    unsigned using virtual void volatile wchar_t true false char16_t char32_t
    and_eq bitand bitor compl not_eq or_eq xor xor_eq
    EOF INFINITY M_E M_PI NAN NULL assert errno linux stderr stdin stdout unix
    """.split()  # noqa: SIM905
)


def cpp_name(name: str) -> str:
    """The name itself; an ending, which a debugger takes off again, keeps it from C++'s and generated code's own."""
    return f"{name}__py" if name in _RESERVED or name.startswith(("pk_", "__")) else name


@dataclass
class Scope:
    """The names of a function, and those of the functions around it."""

    parent: Scope | None = None
    types: dict[str, CType] = field(default_factory=dict)
    hoisted: set[str] = field(default_factory=set)
    declared: dict[str, CType] = field(default_factory=dict)  # hoisted ones met so far
    nested: dict[str, ast.FunctionDef] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)

    def find(self, name: str) -> CType | None:
        if name in self.types:
            return self.types[name]
        return self.parent.find(name) if self.parent else None

    def find_nested(self, name: str) -> ast.FunctionDef | None:
        if name in self.nested:
            return self.nested[name]
        return self.parent.find_nested(name) if self.parent else None


class Uses(ast.NodeVisitor):
    """Collects which names a function assigns, and which of them are used outside the block that does it first."""

    def __init__(self, body: list[ast.stmt]) -> None:
        self._path: tuple[int, ...] = ()
        self._loops: list[str] = []
        self._first: dict[str, tuple[int, ...]] = {}
        self._free: set[str] = set()
        self._loop_only: dict[str, bool] = {}
        self.outer: set[str] = set()
        self.assigned: set[str] = set()
        self._block(body)

    @property
    def hoisted(self) -> set[str]:
        """Locals that have to be declared at the top."""
        loops = {name for name, only in self._loop_only.items() if only}
        return (self._free - self.outer - loops) & self.assigned

    def _block(self, body: list[ast.stmt]) -> None:
        for node in body:
            self.visit(node)

    def _inner(self, key: int, body: list[ast.stmt]) -> None:
        kept = self._path
        self._path = (*kept, key)
        self._block(body)
        self._path = kept

    def visit_Name(self, node: ast.Name) -> None:
        name = node.id
        if name not in self._loops:
            self._loop_only[name] = False
        if isinstance(node.ctx, ast.Store):
            self.assigned.add(name)
            self._first.setdefault(name, self._path)
        first = self._first.get(name)
        if first is not None and self._path[: len(first)] != first:
            self._free.add(name)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
        self.visit(node.target)

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self._inner(id(node.body), node.body)
        self._inner(id(node.orelse), node.orelse)

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)
        self._inner(id(node.body), node.body)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        if not isinstance(node.target, ast.Name):
            return
        name = node.target.id
        self.assigned.add(name)
        self._loop_only.setdefault(name, True)
        self._free.add(name)
        self._loops.append(name)
        self._inner(id(node.body), node.body)
        self._loops.pop()

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.outer |= set(node.names)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        inner = Uses(node.body)
        mine = {arg.arg for arg in node.args.args} | (inner.assigned - inner.outer)
        for child in ast.walk(ast.Module(node.body, [])):
            if isinstance(child, ast.Name) and child.id not in mine:
                self.visit_Name(ast.Name(child.id, ast.Load()))

    def visit_Lambda(self, node: ast.Lambda) -> None:
        mine = {arg.arg for arg in node.args.args}
        for child in ast.walk(node.body):
            if isinstance(child, ast.Name) and child.id not in mine:
                self.visit_Name(child)
