"""Statements of one kernel function to C++, each under the `#line` of its Python statement."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pkdb_tui.minikokkos import cpp_types as types
from pkdb_tui.minikokkos.calls import Calls
from pkdb_tui.minikokkos.cpp_types import BOOL, INT, VOID, CType
from pkdb_tui.minikokkos.debug import Condition, PlacedCondition
from pkdb_tui.minikokkos.errors import TOO_DEEP, CompileError
from pkdb_tui.minikokkos.expressions import Typed, c_string, cast
from pkdb_tui.minikokkos.scope import Scope, Uses, cpp_name
from pkdb_tui.minikokkos.spans import deepest, elif_chain, is_text, reached

if TYPE_CHECKING:
    from pkdb_tui.minikokkos.program import Program

GLUE = '#line 1 "pk_glue.cpp"'
_NATIVE = {
    ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.BitAnd: "&=", ast.BitOr: "|=", ast.BitXor: "^=",
    ast.LShift: "<<=", ast.RShift: ">>=",
}  # fmt: skip
_JOINS = {"sum": "pk::Sum", "min": "pk::Min", "max": "pk::Max"}
TOGETHER = 3  # conditions of a line that a device takes: which of them hold has as many places as there are outcomes


class FunctionTranslator(Calls):
    """Translates one function body into `lines`."""

    def __init__(self, program: Program, file: str, names: Any) -> None:
        super().__init__(program, file, names)
        self.lines: list[str] = []
        self.depth = 1
        self.result: CType | None = None  # of `return`; None until one is seen
        self._counter = 0
        self._met: set[int] = set()  # lines whose conditions stand before the first of their statements

    def body(self, statements: list[ast.stmt], parameters: dict[str, CType], parent: Scope | None = None) -> None:
        """Translate a whole function's statements, its hoisted locals first."""
        self.scope = Scope(parent, dict(parameters))
        self.scope.hoisted = Uses(statements).hoisted - set(parameters)
        place = len(self.lines)
        self.block(statements)
        declarations = [f"{kind.text} {cpp_name(name)}{{}};" for name, kind in self.scope.declared.items()]
        if declarations:
            self.lines[place:place] = [GLUE, *("    " * self.depth + text for text in declarations)]

    # --- writing ---

    def glue(self, text: str) -> None:
        self.lines += [GLUE, "    " * self.depth + text]

    def at(self, node: ast.stmt, text: str) -> None:
        """One statement's code, on one line under its own number."""
        self.lines += [f"#line {node.lineno} {c_string(self.file)}", "    " * self.depth + text]

    def block(self, statements: list[ast.stmt]) -> None:
        kept = dict(self.scope.types)
        for node in reached(statements):
            if is_text(node):
                continue
            try:
                self._statement(node)
            except RecursionError:
                self.error(deepest(node), TOO_DEEP)
        self.scope.types = {
            name: kind for name, kind in self.scope.types.items() if name in kept or name in self.scope.declared
        }

    def _statement(self, node: ast.stmt) -> None:
        if not isinstance(node, ast.FunctionDef | ast.Nonlocal | ast.For | ast.While):
            self._conditions(node)
        method = getattr(self, f"_do_{type(node).__name__}", None)
        if method is None:
            self.of(node)  # type: ignore[arg-type]  # names the construct in its error
        else:
            method(node)

    def indented(self, statements: list[ast.stmt]) -> None:
        self.depth += 1
        self.block(statements)
        self.depth -= 1

    def _conditions(self, node: ast.stmt) -> None:
        conditions = self.program.conditions_at(self.file, node.lineno)
        if not conditions or node.lineno in self._met:
            return
        self._met.add(node.lineno)
        texts = [self._condition(condition) for condition in conditions]
        if any(texts):
            place = self._apart if self.program.device else self._together
            place(conditions, texts, node.lineno)

    def _condition(self, condition: Condition) -> str:
        """A C++ lambda that tells whether a condition holds; empty where it is refused."""
        self.in_condition = True
        try:
            text = self.number(ast.parse(condition.expression.strip(), mode="eval").body)[0]
        except (CompileError, SyntaxError) as error:
            self.program.refused[condition.id] = error.message if isinstance(error, CompileError) else str(error)
            return ""
        except RecursionError:
            self.program.refused[condition.id] = TOO_DEEP
            return ""
        finally:
            self.in_condition = False
        return f"[&]({self._given()}) {{ return bool({text}); }}"

    def _given(self) -> str:
        return "pk::Condition& pk_condition" if self.program.device else ""

    def _together(self, conditions: Sequence[Condition], texts: Sequence[str], line: int) -> None:
        """One place for all conditions of a line: a thread stops there once, whichever of them hold."""
        name, state = f"{self.file}#pkdb{line}", f"pk_at_{line}"
        for number, (condition, text) in enumerate(zip(conditions, texts, strict=True)):
            if text:
                self.program.placed[condition.id] = PlacedCondition(name, line, state, number)
        tests = ", ".join(text or "[] { return false; }" for text in texts)
        self.glue(f"pk::Conditions<{len(texts)}> {state};")
        self.glue(f"if ({state}.hold({tests}))")
        self.lines += [f"#line {line} {c_string(name)}", "    " * self.depth + '{ asm volatile("nop"); }']

    def _apart(self, conditions: Sequence[Condition], texts: Sequence[str], line: int) -> None:
        """A place for each outcome of a line's conditions: a thread stops there once, and that tells which hold."""
        for condition in conditions[TOGETHER:]:
            self.program.refused.setdefault(condition.id, f"{TOGETHER} of a line is all that a device takes")
        texts = texts[:TOGETHER]
        name, state, found = f"{self.file}#pkdb{line}", f"pk_at_{line}", f"pk_met_{line}"
        outcomes = {0}
        for number, (condition, text) in enumerate(zip(conditions, texts, strict=False)):
            if text:
                self.program.placed[condition.id] = PlacedCondition(name, line, "", number)
                outcomes |= {outcome | 1 << number for outcome in outcomes}
        tests = ", ".join(text or f"[]({self._given()}) {{ return false; }}" for text in texts)
        self.glue(f"pk::Conditions<{len(texts)}> {state};")
        self.glue(f"const int {found} = {state}.outcome({tests});")
        for outcome in sorted(outcomes):
            self.glue(f"if ({found} == {outcome})")
            self.lines += [f"#line {line} {c_string(f'{name}.{outcome}')}", "    " * self.depth + "{ PK_LINE; }"]
        self.glue("{ PK_LINE; }")  # nvcc sees no new line where only the file is another one

    # --- assignments ---

    def _do_Assign(self, node: ast.Assign) -> None:
        text, kind = self.of(node.value)
        if kind.name in ("void", "team"):
            self.error(node.value, f"{ast.unparse(node.value)} has no value")
        parts = []
        for target in reversed(node.targets):
            parts.append(self._assign(target, text, kind))
            text = self.text(target)
        self._set(node, " ".join(parts))

    def _set(self, node: ast.stmt, text: str) -> None:
        """An assignment. Of one that changes nothing, as `x += 0`, a host's compiler makes no code."""
        self.at(node, text if self.program.device else f"PK_LINE; {text}")

    def _assign(self, target: ast.expr, text: str, kind: CType) -> str:
        if isinstance(target, ast.Name):
            known = self.scope.types.get(target.id) or self.scope.find(target.id)
            if known is None:
                return self._declare(target.id, kind, text)
            if known.is_view:
                if known.text != kind.text:
                    self.error(target, f"{target.id} is a view of another type already")
                return f"{cpp_name(target.id)} = {text};"
            if known.record is not None and known.text == kind.text:
                return f"{cpp_name(target.id)} = {text};"
            if kind.is_view or kind.record is not None or known.record is not None:
                what, other = (
                    "a view" if it.is_view else "a number" if it.record is None else "a record" for it in (known, kind)
                )
                other = "another" if other == what else other
                self.error(target, f"{target.id} is {what} already, it can't become {other}")
            return f"{cpp_name(target.id)} = {cast(text, kind, CType(known.name)) if known.is_complex else text};"
        if not isinstance(target, ast.Subscript) and not isinstance(target, ast.Attribute):
            self.error(target, f"assignment to {ast.unparse(target)} is not supported in a kernel")
        if kind.record is not None:
            place, element = self.of(target)
            if element.text != kind.text or kind.rank:
                self.error(target, f"{ast.unparse(target)} is no record of the same type: assign field by field")
            return f"{place}.copy({text});"
        place, element = self.number(target)
        return f"{place} = {cast(text, kind, element) if element.is_complex else text};"

    def _declare(self, name: str, kind: CType, text: str) -> str:
        kind = kind.of_rank(kind.rank)
        self.scope.types[name] = kind
        if name in self.scope.hoisted:
            self.scope.declared[name] = kind
            return f"{cpp_name(name)} = {text};"
        return f"{kind.text} {cpp_name(name)} = {text};"

    def _do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if not isinstance(node.target, ast.Name):
            self.error(node.target, "only a local name can be declared")
        name = node.target.id
        kind = self.annotation(node.annotation)
        assert kind is not None
        if kind.is_view and isinstance(node.value, ast.Call) and "ScratchView" in types.last_name(node.value.func):
            text = self._scratch(node.value, name, kind)
        elif node.value is None:
            text = f"{kind.text}()"
        elif kind.is_view:
            text, given = self.of(node.value)
            if given.text != kind.text:
                self.error(node.value, f"{ast.unparse(node.value)} is not a {ast.unparse(node.annotation)}")
        else:
            value, given = self.number(node.value)
            text = cast(value, given, kind) if kind.is_complex else value
        known = self.scope.types.get(name)
        if known is not None and known.text != kind.text:
            self.error(node, f"{name} is declared with another type above")
        self.at(node, self._declare(name, kind, text) if known is None else f"{cpp_name(name)} = {text};")

    def _scratch(self, call: ast.Call, name: str, kind: CType) -> str:
        place = call.args[0] if call.args else call
        if not isinstance(place, ast.Call) or not isinstance(place.func, ast.Attribute) or not call.args[1:]:
            self.error(place, "a scratch view is made from (team_member.team_scratch(level), extents…)")
        if place.func.attr not in ("team_scratch", "thread_scratch") or len(call.args) - 1 != kind.rank:
            self.error(call, f"a scratch view of {kind.rank} dimensions needs team_scratch(…) and {kind.rank} extents")
        extents = ", ".join(self.index(extent) for extent in call.args[1:])
        owner = self.text(place.func.value)
        per = "true" if place.func.attr == "thread_scratch" else "false"
        return f"pk::scratch_view<{kind.name}, {kind.rank}>({owner}, {c_string(name)}, {per}, {extents})"

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        target, kind = self.number(node.target)
        value, given = self.number(node.value)
        sign = _NATIVE.get(type(node.op))
        if isinstance(node.op, ast.Div) and kind.is_float:
            sign = "/="
        if sign is not None and not kind.is_complex and (kind.is_integer or sign in ("+=", "-=", "*=", "/=")):
            self._set(node, f"{target} {sign} {value};")
            return
        now = copy.copy(node.target)
        now.ctx = ast.Load()
        text, result = self.binary(node, node.op, self.number(now), (value, given))
        self._set(node, f"{target} = {cast(text, result, kind)};")

    # --- control flow ---

    def _do_If(self, node: ast.If) -> None:
        depth = self.depth
        chain = elif_chain(node)
        for part in chain:
            if part is not node:
                self._before_elif(part)
            self.at(part, f"if (PK_TEST({self.number(part.test)[0]})) {{")
            self.indented(part.body)
        if chain[-1].orelse:
            self.glue("} else {")
            self.indented(chain[-1].orelse)
        self.glue("}")
        while self.depth > depth:
            self.depth -= 1
            self.glue("}")

    def _before_elif(self, node: ast.If) -> None:
        """A block of its own only where conditions stand: compilers read only so many within each other."""
        if node.lineno in self._met or not self.program.conditions_at(self.file, node.lineno):
            self.glue("} else")
            return
        self.glue("} else {")
        self.depth += 1
        self._conditions(node)

    def _do_While(self, node: ast.While) -> None:
        if node.orelse:
            self.error(node.orelse[0], "else of a loop is not supported in a kernel")
        self._loop(node, "while (", f"PK_TEST({self.number(node.test)[0]})", ") {")
        self.indented(node.body)
        self.glue("}")

    def _do_For(self, node: ast.For) -> None:
        if node.orelse:
            self.error(node.orelse[0], "else of a loop is not supported in a kernel")
        if not isinstance(node.target, ast.Name):
            self.error(node.target, "a loop needs a single name")
        call = node.iter
        if not isinstance(call, ast.Call) or types.last_name(call.func) != "range" or not 1 <= len(call.args) <= 3:
            self.error(node.iter, "only range(…) can be looped over in a kernel")
        bounds = [self.number(argument) for argument in call.args]
        for argument, (_, kind) in zip(call.args, bounds, strict=True):
            if not kind.is_integer:
                self.error(argument, f"range needs integers, {ast.unparse(argument)} is a {kind.name}")
        begin, end = (("0", INT), bounds[0]) if len(bounds) == 1 else bounds[:2]
        kind = types.promote(begin[1], end[1])
        name = node.target.id
        loop = self._loop_variable(name, kind)
        step, test = self._step(call, bounds, loop)
        test, _, onward = test.partition("; ")
        self._loop(node, f"for ({kind.text} {loop} = {begin[0]}, pk_end = {end[0]}{step}; ", test, f"; {onward}) {{")
        if loop != cpp_name(name):
            self.lines.append("    " * (self.depth + 1) + f"{cpp_name(name)} = {loop};")
        self.indented(node.body)
        self.glue("}")
        if name not in self.scope.declared:
            self.scope.types.pop(name, None)

    def _loop(self, node: ast.For | ast.While, begin: str, test: str, end: str) -> None:
        """A loop's head. A debug build names its test apart: breakpoints and conditions of the line are met there."""
        if not self.program.debug or self.program.device:  # nvcc keeps no line of a part of a statement
            self._conditions_of_loop(node)
            self.at(node, begin + test + end)
            return
        self.at(node, f"{begin}({{")
        self._conditions(node)
        file = c_string(f"{self.file}#turn")
        self.lines += [f"#line {node.lineno} {file}", "    " * self.depth + f"PK_TEST({test}); }})"]
        self.at(node, end)

    def _conditions_of_loop(self, node: ast.For | ast.While) -> None:
        """Where the test has no place of its own: they can't be built in, as each turn has to come by."""
        for condition in self.program.conditions_at(self.file, node.lineno):
            self.program.refused[condition.id] = "a loop's line on a device"

    def _loop_variable(self, name: str, kind: CType) -> str:
        """The C++ loop variable: the name itself, or a hidden one where the name lives on after the loop."""
        if name not in self.scope.hoisted and self.scope.types.get(name) is None:
            self.scope.types[name] = kind
            return cpp_name(name)
        if self.scope.types.get(name) is None:
            self._declare(name, kind, "")
        self._counter += 1
        return f"pk_loop{self._counter}"

    def _step(self, call: ast.Call, bounds: list[Typed], loop: str) -> tuple[str, str]:
        if len(bounds) < 3:
            return "", f"{loop} < pk_end; ++{loop}"
        node = call.args[2]
        negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        if isinstance(node, ast.Constant) or negative:
            return "", f"{loop} {'>' if negative else '<'} pk_end; {loop} += {bounds[2][0]}"
        test = f"(pk_step > 0 ? {loop} < pk_end : {loop} > pk_end)"
        return f", pk_step = {bounds[2][0]}", f"{test}; {loop} += pk_step"

    def _do_Break(self, node: ast.Break) -> None:
        self.at(node, "PK_LINE; break;")

    def _do_Continue(self, node: ast.Continue) -> None:
        self.at(node, "PK_LINE; continue;")

    def _do_Pass(self, node: ast.Pass) -> None:
        self.at(node, "PK_LINE;")

    def _do_Return(self, node: ast.Return) -> None:
        if node.value is None:
            self.at(node, "PK_LINE; return;")
            return
        text, kind = self.of(node.value)
        if self.result is None:
            self.result = kind
        elif self.result == VOID:
            self.error(node, "a value is returned where none is declared")
        self.at(node, f"return {cast(text, kind, self.result) if self.result.is_complex else text};")

    def _do_Nonlocal(self, node: ast.Nonlocal) -> None:
        for name in node.names:
            if self.scope.find(name) is None:
                self.error(node, f"{name} is not defined around this function")

    def _do_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Call):
            self.error(node, f"{ast.unparse(node)} has no effect")
        self.at(node, f"PK_LINE; {self.text(node.value)};")

    # --- nested functions and nested parallelism ---

    def _do_FunctionDef(self, node: ast.FunctionDef) -> None:
        parameters: dict[str, CType] = {}
        for place, argument in enumerate(node.args.args):
            kind = self.annotation(argument.annotation) if argument.annotation else None
            if kind is None and place:
                self.error(argument, f"the parameter {argument.arg} of a nested function needs an annotation")
            parameters[argument.arg] = kind or INT
        self.scope.nested[node.name] = node
        self.scope.types[node.name] = CType("nested")
        outer, result = self.scope, self.result
        own = (Uses(node.body).assigned - Uses(node.body).outer) - set(parameters)
        self.glue(f"auto {cpp_name(node.name)} = [&]({parameter_list(parameters)}) {{")
        self.depth += 1
        shadowed = {name: outer.types.pop(name) for name in own if name in outer.types}
        self.body(node.body, parameters, outer)
        outer.types.update(shadowed)
        self.depth -= 1
        self.glue("};")
        self.scope, self.result = outer, result

    def annotation(self, node: ast.expr | None) -> CType | None:
        try:
            return types.from_annotation(node)
        except ValueError as error:
            assert node is not None
            self.error(node, str(error))

    def _nested_call(self, node: ast.Call, name: str) -> Typed | None:
        if name not in ("parallel_for", "parallel_reduce", "parallel_scan", "single"):
            return None
        if len(node.args) < 2 or not isinstance(node.args[0], ast.Call):
            self.error(node, f"{name} inside a kernel is called with (a range of the team, a nested function)")
        policy, function = node.args[0], node.args[1]
        where = types.last_name(policy.func)
        if name == "single" and where in ("PerTeam", "PerThread"):
            once = "true" if where == "PerTeam" else "false"
            return f"pk::single({self.text(policy.args[0])}, {once}, {self._closure(function, [])})", VOID
        if name == "parallel_for" and where == "TeamThreadMDRange":
            extents = ", ".join(self.index(extent) for extent in policy.args[1:])
            inner = self._closure(function, [INT] * len(policy.args[1:]))
            return f"pk::team_for_md({self.text(policy.args[0])}, {inner}, {extents})", VOID
        if where not in ("TeamThreadRange", "ThreadVectorRange") or not 2 <= len(policy.args) <= 3:
            self.error(policy, f"{ast.unparse(policy.func)} is not a range inside a kernel")
        level = "team" if where == "TeamThreadRange" else "vector"
        span = [self.index(argument) for argument in policy.args[1:]]
        head = f"{self.text(policy.args[0])}, {', '.join(['0', *span] if len(span) == 1 else span)}"
        if name == "parallel_for":
            return f"pk::{level}_for({head}, {self._closure(function, [INT])})", VOID
        kind = self._accumulator(function)
        inner = self._closure(function, [INT, kind, BOOL][: 3 if name == "parallel_scan" else 2])
        value = CType(kind.name)
        if name == "parallel_scan":
            return f"pk::{level}_scan<{kind.name}>({head}, {inner})", value
        join = _JOINS[kind.reduction or "sum"]
        text = f"pk::{level}_reduce<{kind.name}, {join}>({head}, {inner})"
        if len(node.args) > 2:
            text = f"{join}::join<{kind.name}>({self.convert(node.args[2], value)}, {text})"
        return text, value

    def _accumulator(self, function: ast.expr) -> CType:
        if isinstance(function, ast.Name):
            node = self.scope.find_nested(function.id)
            if node is not None and len(node.args.args) > 1:
                kind = self.annotation(node.args.args[1].annotation)
                if kind is not None and kind.reduction:
                    return reduction_of(node, node.args.args[1].arg, kind)
            self.error(function, f"{function.id} needs an accumulator, annotated pk.Acc[…], as its second parameter")
        return CType("double", reduction="sum")

    def _closure(self, function: ast.expr, kinds: Sequence[CType]) -> str:
        if isinstance(function, ast.Name) and self.scope.find_nested(function.id):
            node = self.scope.find_nested(function.id)
            assert node is not None
            if len(node.args.args) != len(kinds):
                self.error(
                    function, f"{function.id} has {len(node.args.args)} parameters, {len(kinds)} are needed here"
                )
            return cpp_name(function.id)
        if not isinstance(function, ast.Lambda):
            self.error(function, f"{ast.unparse(function)} is neither a nested function nor a lambda")
        names = [argument.arg for argument in function.args.args]
        if len(names) != len(kinds):
            self.error(function, f"the lambda has {len(names)} parameters, {len(kinds)} are needed here")
        parameters = dict(zip(names, kinds, strict=True))
        outer = self.scope
        self.scope = Scope(outer, parameters)
        text = self.text(function.body)
        self.scope = outer
        target = f"{cpp_name(names[1])} = " if len(kinds) > 1 and kinds[1].reduction else ""
        return f"[&]({parameter_list(parameters)}) {{ {target}{text}; }}"


def parameter_list(parameters: dict[str, CType]) -> str:
    """C++ parameters: accumulators and teams by reference, the rest by value."""
    return ", ".join(
        f"{kind.text}{'&' if kind.reduction or kind.name == 'team' else ''} {cpp_name(name)}"
        for name, kind in parameters.items()
    )


def reduction_of(node: ast.FunctionDef, accumulator: str, kind: CType) -> CType:
    """The kind of reduction: as annotated, or min/max where the accumulator is only ever set by `acc = min(acc, …)`."""
    seen = set()
    for child in ast.walk(node):
        if isinstance(child, ast.AugAssign) and types.last_name(child.target) == accumulator:
            seen.add("sum")
        elif isinstance(child, ast.Assign) and any(types.last_name(t) == accumulator for t in child.targets):
            call = child.value
            name = types.last_name(call.func) if isinstance(call, ast.Call) else ""
            own = isinstance(call, ast.Call) and any(types.last_name(a) == accumulator for a in call.args)
            seen.add({"min": "min", "fmin": "min", "max": "max", "fmax": "max"}.get(name, "sum") if own else "sum")
    found = seen.pop() if len(seen) == 1 else "sum"
    return CType(kind.name, reduction=found if kind.reduction == "sum" else kind.reduction)
