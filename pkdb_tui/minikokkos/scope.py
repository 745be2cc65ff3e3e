"""Names of one kernel function: parameters, locals, and where each local has to be declared."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from pkdb_tui.minikokkos.cpp_types import CType
from pkdb_tui.minikokkos.spans import elif_chain

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


class Uses:
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
            method = getattr(self, f"_do_{type(node).__name__}", self._names)
            method(node)

    def _inner(self, key: int, body: list[ast.stmt]) -> None:
        kept = self._path
        self._path = (*kept, key)
        self._block(body)
        self._path = kept

    def _names(self, node: ast.AST) -> None:
        """The names of an expression, or of a statement without a block, in the text's order."""
        waiting = [node]
        while waiting:
            part = waiting.pop()
            if isinstance(part, ast.Name):
                self._name(part.id, stored=isinstance(part.ctx, ast.Store))
            elif isinstance(part, ast.Lambda):
                mine = {argument.arg for argument in part.args.args}
                self._used(part.body, mine)
            else:
                waiting += list(ast.iter_child_nodes(part))[::-1]

    def _name(self, name: str, *, stored: bool) -> None:
        if name not in self._loops:
            self._loop_only[name] = False
        if stored:
            self.assigned.add(name)
            self._first.setdefault(name, self._path)
        first = self._first.get(name)
        if first is not None and self._path[: len(first)] != first:
            self._free.add(name)

    def _used(self, node: ast.AST, mine: set[str]) -> None:
        """The names that a function inside this one has from it."""
        for child in ast.walk(node):
            if isinstance(child, ast.Name) and child.id not in mine:
                self._name(child.id, stored=False)

    def _do_Assign(self, node: ast.Assign) -> None:
        self._names(node.value)
        for target in node.targets:
            self._names(target)

    def _do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._names(node.value)
        self._names(node.target)

    def _do_If(self, node: ast.If) -> None:
        chain = elif_chain(node)
        for part in chain:
            self._names(part.test)
            self._inner(id(part.body), part.body)
        self._inner(id(chain[-1].orelse), chain[-1].orelse)

    def _do_While(self, node: ast.While) -> None:
        self._names(node.test)
        self._inner(id(node.body), node.body)

    def _do_For(self, node: ast.For) -> None:
        self._names(node.iter)
        if not isinstance(node.target, ast.Name):
            return
        name = node.target.id
        self.assigned.add(name)
        self._loop_only.setdefault(name, True)
        self._free.add(name)
        self._loops.append(name)
        self._inner(id(node.body), node.body)
        self._loops.pop()

    def _do_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.outer |= set(node.names)

    def _do_FunctionDef(self, node: ast.FunctionDef) -> None:
        inner = Uses(node.body)
        mine = {argument.arg for argument in node.args.args} | (inner.assigned - inner.outer)
        self._used(ast.Module(node.body, []), mine)
