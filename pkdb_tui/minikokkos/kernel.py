"""Kernels: a decorated function with its parameters, the functions it calls, and its generated sources."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from pkdb_tui.minikokkos import cpp_types as ct
from pkdb_tui.minikokkos import spans
from pkdb_tui.minikokkos.cpp_types import DOUBLE, INT, LONG, TEAM, VOID, CType
from pkdb_tui.minikokkos.debug import Condition, KernelSource
from pkdb_tui.minikokkos.errors import CompileError
from pkdb_tui.minikokkos.source import FunctionSource, function_source
from pkdb_tui.minikokkos.translate import GLUE, FunctionTranslator

ATTRIBUTE = "__pk_kernel__"
LIMITS = {"min": "INFINITY", "max": "-INFINITY"}


def annotated(source: FunctionSource, argument: ast.arg) -> CType | None:
    """A parameter's annotated type, None without annotation. Raises CompileError."""
    try:
        return ct.from_annotation(argument.annotation)
    except (ValueError, SyntaxError) as error:
        raise CompileError(
            f"In the parameter {argument.arg}, {error}.", source.file, argument.lineno, argument.col_offset
        ) from None


class Function:
    """A workunit or kernel function; everything about its source is found out when first needed."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name = function.__name__

    @cached_property
    def source(self) -> FunctionSource:
        return function_source(self.function)

    @cached_property
    def place(self) -> KernelSource:
        node = self.source.node
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        lines = tuple(sorted(set(spans.code_lines(node))))
        return KernelSource(self.name, self.source.file, first, node.end_lineno or node.lineno, lines)

    @cached_property
    def parameter_types(self) -> list[tuple[str, CType]]:
        """For kernel functions, whose parameters are all annotated."""
        found = []
        for argument in self.source.node.args.args:
            kind = annotated(self.source, argument)
            if kind is None:
                raise CompileError(
                    f"The parameter {argument.arg} of {self.name} needs a type.",
                    self.source.file, argument.lineno, argument.col_offset,
                )  # fmt: skip
            found.append((argument.arg, kind))
        return found

    @cached_property
    def return_type(self) -> CType:
        node = self.source.node
        try:
            return ct.from_annotation(node.returns) or VOID
        except ValueError as error:
            raise CompileError(f"In the result of {self.name}, {error}.", self.source.file, node.lineno) from None

    @cached_property
    def calls(self) -> dict[str, Function]:
        """Kernel functions called by name here."""
        found: dict[str, Function] = {}
        for node in ast.walk(self.source.node):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                try:
                    target = self.source.lookup(node.func.id)
                except LookupError:
                    continue
                function = getattr(target, ATTRIBUTE, None)
                if isinstance(function, Function):
                    found[node.func.id] = function
        return found

    @cached_property
    def all_calls(self) -> list[Function]:
        """Kernel functions it calls, directly or not, callees first."""
        ordered: list[Function] = []

        def visit(function: Function, path: tuple[Function, ...]) -> None:
            for callee in function.calls.values():
                if callee not in path and callee not in ordered:
                    visit(callee, (*path, callee))
                    ordered.append(callee)

        visit(self, (self,))
        return ordered


class Shape:
    """What the policy prescribes: how a workunit's parameters begin and how the loop around it looks."""

    def __init__(self, pattern: str, kind: str, rank: int, space: str) -> None:
        self.pattern, self.kind, self.rank, self.space = pattern, kind, rank, space

    @property
    def leading(self) -> int:
        """How many parameters are indices (or the team member)."""
        return self.rank if self.kind == "md" else 1

    @property
    def extra(self) -> int:
        """How many follow them that are the accumulator (and a scan's last-pass flag)."""
        return {"for": 0, "reduce": 1, "scan": 2}[self.pattern]


class Kernel(Function):
    """A workunit; `arguments` are its parameters behind indices and accumulator."""

    def arguments(self, shape: Shape) -> list[ast.arg]:
        return self.source.node.args.args[shape.leading + shape.extra :]

    def check(self, shape: Shape) -> None:
        node = self.source.node
        needed = shape.leading + shape.extra
        if len(node.args.args) < needed:
            what = {"for": "", "reduce": " and an accumulator", "scan": ", an accumulator and a last-pass flag"}
            raise CompileError(
                f"The workunit {self.name} takes {len(node.args.args)} parameters; a parallel_{shape.pattern} over this "
                f"policy gives it {shape.leading} {'index' if shape.leading == 1 else 'indices'}{what[shape.pattern]}.",
                self.source.file, node.lineno, node.col_offset,
            )  # fmt: skip
        if node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.args.defaults:
            raise CompileError(
                "A workunit has plain parameters only, without defaults or `*`.", self.source.file, node.lineno
            )

    def accumulator(self, shape: Shape) -> CType:
        if not shape.extra:
            return VOID
        argument = self.source.node.args.args[shape.leading]
        kind = annotated(self.source, argument) or CType("double", reduction="sum")
        return CType(kind.name, reduction=self._reduction(argument.arg, kind))

    def _reduction(self, name: str, kind: CType) -> str:
        """min or max when that is how the workunit combines its accumulator, else as annotated."""
        if kind.reduction not in ("", "sum"):
            return kind.reduction
        for node in ast.walk(self.source.node):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1:
                target, called = node.targets[0], ct.last_name(node.value.func)
                mine = any(isinstance(a, ast.Name) and a.id == name for a in node.value.args)
                if isinstance(target, ast.Name) and target.id == name and mine:
                    return {"min": "min", "fmin": "min", "max": "max", "fmax": "max"}.get(called, "sum")
        return "sum"

    def parameters(self, shape: Shape, types: Sequence[CType]) -> list[tuple[str, CType]]:
        """All parameters with types; `types` are those of the arguments."""
        names = [argument.arg for argument in self.source.node.args.args]
        kinds: list[CType] = []
        for argument in self.source.node.args.args[: shape.leading]:
            default = TEAM if shape.kind == "team" else INT
            kinds.append(TEAM if shape.kind == "team" else annotated(self.source, argument) or default)
        if shape.extra:
            kinds.append(self.accumulator(shape))
        if shape.extra == 2:
            kinds.append(CType("bool"))
        return list(zip(names, [*kinds, *types], strict=True))

    def generate(
        self,
        shape: Shape,
        types: Sequence[CType],
        dense: Sequence[bool],
        conditions: Sequence[Condition] = (),
    ) -> tuple[str, dict[int, str]]:
        """(the C++ source, why conditions were refused). Raises CompileError."""
        self.check(shape)
        refused: dict[int, str] = {}
        parts = ['#include "pk_runtime.hpp"', "PK_DEFINE_GLOBALS", f"namespace pkk_{self.name} {{"]
        if any(kind.is_complex for kind in types):
            parts.insert(0, "#include <complex>")
        bodies: list[str] = []
        for function in self.all_calls:
            translator = FunctionTranslator(
                function.source, function.parameter_types, returns=function.return_type, functions=function.calls,
                conditions=[c for c in conditions if _inside(c, function.place)],
            )  # fmt: skip
            bodies += translator.translate(function.name)
            parts.append(f"static {translator.signature(function.name)};")
            refused.update(translator.refused)
        body = FunctionTranslator(
            self.source, self.parameters(shape, types), functions=self.calls,
            conditions=[c for c in conditions if _inside(c, self.place)],
        )  # fmt: skip
        text = body.translate("pk_body")
        refused.update(body.refused)
        if any(dense):
            text = _densify(text, types, dense)
        parts += [*bodies, *text, "}", GLUE, *self._entry(shape, types, dense)]
        return "\n".join(parts) + "\n", refused

    # --- the function that is called from Python ---

    def _entry(self, shape: Shape, types: Sequence[CType], dense: Sequence[bool]) -> list[str]:
        lines = [
            'extern "C" __attribute__((visibility("default"))) int pk_launch(const int64_t* pk_a, void* pk_result) {',
            "pk_failed.store(0);",
            *_policy_slots(shape),
        ]
        names = []
        for argument, kind, packed in zip(self.arguments(shape), types, dense, strict=True):
            names.append(f"pk_arg_{argument.arg}")
            if kind.is_view:
                lines.append(
                    f'auto pk_arg_{argument.arg} = pk::view_from<{kind.name}, {kind.rank}>(pk_a, "{argument.arg}");'
                )
                if packed:
                    lines[-1] = (
                        f"pk::Dense<{kind.name}, {kind.rank}> pk_arg_{argument.arg}; "
                        f"static_cast<pk::View<{kind.name}, {kind.rank}>&>(pk_arg_{argument.arg}) = "
                        f'pk::view_from<{kind.name}, {kind.rank}>(pk_a, "{argument.arg}");'
                    )
            else:
                lines.append(f"auto pk_arg_{argument.arg} = pk::scalar_from<{kind.name}>(pk_a);")
        lines += _loop(self.name, shape, self.accumulator(shape), names)
        return [*lines, "return pk_failed.load();", "}"]


def _inside(condition: Condition, place: KernelSource) -> bool:
    return condition.file == place.file and place.first_line <= condition.line <= place.last_line


def _densify(text: list[str], types: Sequence[CType], dense: Sequence[bool]) -> list[str]:
    """In the signature alone, views known to be dense become `pk::Dense`."""
    signature = text[1]
    head, _, tail = signature.partition("(")
    parameters = tail.rsplit(")", 1)[0].split(", ")
    # `pk::View<double, 2> a` splits at its own comma: put such halves together again.
    merged: list[str] = []
    for part in parameters:
        if merged and merged[-1].count("<") > merged[-1].count(">"):
            merged[-1] += ", " + part
        else:
            merged.append(part)
    first = len(merged) - len(types)
    for position, packed in enumerate(dense):
        if packed:
            merged[first + position] = merged[first + position].replace("pk::View<", "pk::Dense<", 1)
    return [text[0], f"{head}({', '.join(merged)}) {{", *text[2:]]


def _policy_slots(shape: Shape) -> list[str]:
    if shape.kind == "range":
        return ["const int64_t pk_begin = *pk_a++, pk_end = *pk_a++;"]
    if shape.kind == "team":
        return ["const int64_t pk_league = *pk_a++, pk_size = *pk_a++, pk_room = *pk_a++;"]
    slots = [f"const int64_t pk_b{d} = *pk_a++, pk_n{d} = *pk_a++ - pk_b{d};" for d in range(shape.rank)]
    total = " * ".join(f"(pk_n{d} > 0 ? pk_n{d} : 0)" for d in range(shape.rank))
    return [*slots, f"const int64_t pk_begin = 0, pk_end = {total};"]


def _indices(shape: Shape) -> tuple[list[str], str]:
    """(lines that compute the indices from pk_i, the index arguments)."""
    if shape.kind == "range":
        return [], "int32_t(pk_i)"
    lines = ["int64_t pk_r = pk_i;"]
    for d in reversed(range(shape.rank)):
        lines.append(f"const int32_t pk_i{d} = int32_t(pk_b{d} + pk_r % pk_n{d}); pk_r /= pk_n{d};")
    return lines, ", ".join(f"pk_i{d}" for d in range(shape.rank))


def _identity(kind: CType) -> str:
    if kind.reduction == "sum":
        return f"{kind.name}(0)"
    side = "lowest" if kind.reduction == "max" else "max"
    return f"std::numeric_limits<{kind.name}>::{side}()"


def _combine(kind: CType, total: str, part: str) -> str:
    if kind.reduction == "sum":
        return f"{total} += {part};"
    return f"{total} = {'std::min' if kind.reduction == 'min' else 'std::max'}({total}, {part});"


def _loop(name: str, shape: Shape, kind: CType, arguments: Sequence[str]) -> list[str]:
    rest = "".join(f", {argument}" for argument in arguments)
    parallel = "#pragma omp parallel" if shape.space == "OpenMP" else "#pragma omp parallel num_threads(1)"
    if shape.kind == "team":
        return _team_loop(name, shape, kind, rest, parallel)
    lines, indices = _indices(shape)
    call = f"pkk_{name}::pk_body({indices}"
    block = "\n".join(lines)
    if shape.pattern == "for":
        return [parallel, "{ pk::enter();", "#pragma omp for schedule(static)",
                f"for (int64_t pk_i = pk_begin; pk_i < pk_end; ++pk_i) {{ {block}\n{call}{rest}); }}", "}"]  # fmt: skip
    if shape.pattern == "reduce":
        return [f"{kind.name} pk_parts[1024]; int pk_used = 0;", parallel,
                f"{{ pk::enter(); {kind.name} pk_mine = {_identity(kind)};", "#pragma omp for schedule(static)",
                f"for (int64_t pk_i = pk_begin; pk_i < pk_end; ++pk_i) {{ {block}\n{call}, pk_mine{rest}); }}",
                "pk_parts[omp_get_thread_num()] = pk_mine;",
                "if (omp_get_thread_num() == 0) pk_used = omp_get_num_threads(); }",
                f"{kind.name} pk_total = *static_cast<{kind.name}*>(pk_result);",
                f"for (int pk_t = 0; pk_t < pk_used; ++pk_t) {{ {_combine(kind, 'pk_total', 'pk_parts[pk_t]')} }}",
                f"*static_cast<{kind.name}*>(pk_result) = pk_total;"]  # fmt: skip
    return [f"{kind.name} pk_parts[1025] = {{}};", parallel,
            "{ pk::enter(); const int64_t pk_me = omp_get_thread_num(), pk_all = omp_get_num_threads();",
            "const int64_t pk_len = pk_end > pk_begin ? pk_end - pk_begin : 0;",
            "const int64_t pk_lo = pk_begin + pk_len * pk_me / pk_all, pk_hi = pk_begin + pk_len * (pk_me + 1) / pk_all;",
            f"{kind.name} pk_mine = {kind.name}(0);",
            f"for (int64_t pk_i = pk_lo; pk_i < pk_hi; ++pk_i) {{ {block}\n{call}, pk_mine, false{rest}); }}",
            "pk_parts[pk_me + 1] = pk_mine;", "#pragma omp barrier", "#pragma omp single",
            "for (int64_t pk_t = 1; pk_t <= pk_all; ++pk_t) pk_parts[pk_t] += pk_parts[pk_t - 1];",
            "pk_mine = pk_parts[pk_me];",
            f"for (int64_t pk_i = pk_lo; pk_i < pk_hi; ++pk_i) {{ {block}\n{call}, pk_mine, true{rest}); }}",
            f"if (pk_me == pk_all - 1) *static_cast<{kind.name}*>(pk_result) = pk_parts[pk_all];", "}"]  # fmt: skip


def _team_loop(name: str, shape: Shape, kind: CType, rest: str, parallel: str) -> list[str]:
    """Teams of real threads: as many teams at a time as threads allow, at least one."""
    if shape.space == "OpenMP":
        threads = "int pk_most = omp_get_max_threads();"
    else:
        threads = "int pk_most = 1;"
    mine = f"{kind.name} pk_mine = {_identity(kind)};" if shape.pattern == "reduce" else ""
    acc = ", pk_mine" if shape.pattern == "reduce" else ""
    keep = "pk_parts[omp_get_thread_num()] = pk_mine;" if shape.pattern == "reduce" else ""
    total = []
    if shape.pattern == "reduce":
        total = [f"{kind.name} pk_total = *static_cast<{kind.name}*>(pk_result);",
                 f"for (int pk_t = 0; pk_t < pk_teams * pk_size; ++pk_t) {{ {_combine(kind, 'pk_total', 'pk_parts[pk_t]')} }}",
                 f"*static_cast<{kind.name}*>(pk_result) = pk_total;"]  # fmt: skip
    return [threads,
            "int pk_teams = int(pk_most / pk_size); if (pk_teams < 1) pk_teams = 1; if (pk_teams > 1024 / pk_size) pk_teams = int(1024 / pk_size);",
            "if (pk_league < pk_teams) pk_teams = pk_league > 0 ? int(pk_league) : 1;",
            f"{kind.name + ' pk_parts[1024];' if shape.pattern == 'reduce' else ''}",
            "pk::Shared* pk_shared = new pk::Shared[pk_teams];",
            "for (int pk_t = 0; pk_t < pk_teams; ++pk_t) pk_shared[pk_t].scratch = new char[pk_room + 64];",
            f"#pragma omp parallel num_threads(pk_teams * int(pk_size))",
            f"{{ pk::enter(); {mine} const int pk_me = omp_get_thread_num();",
            "if (omp_get_num_threads() != pk_teams * int(pk_size)) {",
            'if (pk_me == 0 && !pk_failed.exchange(2)) std::snprintf(pk_message, sizeof pk_message, "a team of %d threads is not to be had here", int(pk_size));',
            "} else {",
            "const int pk_team_number = pk_me / int(pk_size);",
            "for (int64_t pk_l = pk_team_number; pk_l < pk_league; pk_l += pk_teams) {",
            "pk::Team pk_member{&pk_shared[pk_team_number], int32_t(pk_l), int32_t(pk_league), int32_t(pk_me % pk_size), int32_t(pk_size), 0, pk_room};",
            f"pkk_{name}::pk_body(pk_member{acc}{rest}); pk_member.team_barrier(); }} }} {keep} }}",
            "for (int pk_t = 0; pk_t < pk_teams; ++pk_t) delete[] pk_shared[pk_t].scratch;",
            "delete[] pk_shared;", *total]  # fmt: skip


__all__ = ["ATTRIBUTE", "DOUBLE", "LONG", "Function", "Kernel", "Shape"]
