"""One launch's whole C++ source: the workunit, the functions it calls, and the entry that runs it over a policy."""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from pkdb_tui.minikokkos import cpp_types as types
from pkdb_tui.minikokkos import cuda_regions
from pkdb_tui.minikokkos.cpp_types import BOOL, INT, TEAM, VOID, CType
from pkdb_tui.minikokkos.debug import Condition, KernelSource, PlacedCondition
from pkdb_tui.minikokkos.errors import ArgumentError, CompileError
from pkdb_tui.minikokkos.expressions import MISSING, Expressions, Typed, c_string
from pkdb_tui.minikokkos.records import record_of
from pkdb_tui.minikokkos.regions import REGIONS
from pkdb_tui.minikokkos.scope import cpp_name
from pkdb_tui.minikokkos.source_lines import lines_of
from pkdb_tui.minikokkos.spans import span
from pkdb_tui.minikokkos.translate import GLUE, FunctionTranslator, parameter_list, reduction_of

_trees: dict[str, tuple[list[str], ast.Module]] = {}


class Captured:
    """The names a Python function sees outside itself."""

    def __init__(self, function: FunctionType) -> None:
        self._globals = function.__globals__
        self._cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))

    def __call__(self, name: str) -> Any:
        if name in self._cells:
            try:
                return self._cells[name].cell_contents
            except ValueError:
                return MISSING
        found = self._globals.get(name, MISSING)
        return getattr(builtins, name, MISSING) if found is MISSING else found


class Definition:
    """A Python function that can be translated: its syntax tree, file and names."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.name = function.__name__
        self.file = os.path.realpath(function.__code__.co_filename)
        self.names = Captured(function)
        self.in_python: dict[str, Any] = {}  # accumulator name -> the form of it that the space Debug runs
        self._node: ast.FunctionDef | None = None

    @property
    def node(self) -> ast.FunctionDef:
        if self._node is None:
            self._node = self._find()
        return self._node

    @functools.cached_property
    def source(self) -> KernelSource:
        return span(self.node, self.file)

    @property
    def parameters(self) -> list[ast.arg]:
        arguments = self.node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs or arguments.defaults:
            raise CompileError(
                f"{self.name} may only have plain parameters: no defaults, *, ** or /",
                self.file,
                self.node.lineno,
                self.node.col_offset,
            )
        return arguments.args

    def fresh_node(self) -> ast.FunctionDef:
        """A tree of its own, to be changed; made from the text, as copying one would nest as deep as it does."""
        return self._found(self._parsed(lines_of(self.function)))

    def _find(self) -> ast.FunctionDef:
        name = self.function.__code__.co_filename
        lines = lines_of(self.function)
        known = _trees.get(name)
        if known is None or known[0] is not lines:
            _trees[name] = known = (lines, self._parsed(lines))
        return self._found(known[1])

    def _parsed(self, lines: list[str]) -> ast.Module:
        text = "".join(lines)
        try:
            return ast.parse(text)
        except (RecursionError, MemoryError):  # which of them depends on the version
            tree = _parsed_aside(text)
        if tree is None:
            raise CompileError(
                f"the file of the kernel {self.name} has an expression or an elif that is nested too deeply to be read",
                self.file,
                self.function.__code__.co_firstlineno,
            )
        return tree

    def _found(self, tree: ast.Module) -> ast.FunctionDef:
        code = self.function.__code__
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
                continue
            if code.co_firstlineno in (node.lineno, *(d.lineno for d in node.decorator_list)):
                return node
        advice = "put it in a file"
        if lines_of(self.function):
            advice = "the file was changed while it was imported: run the program again"
        raise CompileError(f"the source of the kernel {self.name} can't be found in {code.co_filename}: {advice}")


def _parsed_aside(text: str) -> ast.Module | None:
    """Parse in a thread of its own, where the calls around the launch take nothing of what Python nests at most."""
    found: list[ast.Module] = []

    def parse() -> None:
        with contextlib.suppress(RecursionError, MemoryError):
            found.append(ast.parse(text))

    thread = threading.Thread(target=parse)
    thread.start()
    thread.join()
    return found[0] if found else None


def definition(function: FunctionType) -> Definition:
    """The definition of a function, made once."""
    found: Definition | None = function.__dict__.get("__pk_definition__")
    if found is None:
        found = function.__dict__["__pk_definition__"] = Definition(function)
    return found


@dataclass(frozen=True)
class Parameters:
    """The workunit's parameters by role."""

    indices: dict[str, CType]
    accumulator: str
    final: str
    arguments: tuple[str, ...]


@functools.lru_cache(maxsize=1024)
def roles(kernel: Definition, pattern: str, policy: str, rank: int) -> Parameters:
    """Which parameters are indices, accumulator, the scan's flag, and arguments. Raises ArgumentError."""
    names = [argument.arg for argument in kernel.parameters]
    count = rank + {"for": 0, "reduce": 1, "scan": 2}[pattern]
    if len(names) < count:
        wanted = (
            f"{rank} for the policy"
            + {"for": "", "reduce": ", an accumulator", "scan": ", an accumulator, a flag"}[pattern]
        )
        raise ArgumentError(f"{kernel.name} needs at least {count} parameters ({wanted}), it has {len(names)}.")
    indices = {}
    for argument in kernel.parameters[:rank]:
        kind = _annotation(kernel, argument)
        if policy == "team":
            kind = TEAM
        if kind is not None and (kind.is_view or kind.reduction or kind.is_float):
            raise ArgumentError(f"{kernel.name}: {argument.arg} is an index of the policy, it can't be a {kind.text}.")
        indices[argument.arg] = kind or INT
    accumulator = names[rank] if pattern != "for" else ""
    final = names[rank + 1] if pattern == "scan" else ""
    return Parameters(indices, accumulator, final, tuple(names[count:]))


def _annotation(kernel: Definition, argument: ast.arg) -> CType | None:
    records = _records(kernel, argument.annotation)
    if records is not None:
        return records
    try:
        return types.from_annotation(argument.annotation)
    except ValueError as error:
        raise CompileError(str(error), kernel.file, argument.lineno, argument.col_offset) from None


def _records(kernel: Definition, node: ast.expr | None) -> CType | None:
    """The type of `pk.View1D[POINT]`, where the name means a structured numpy.dtype."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = ast.parse(node.value, mode="eval").body
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Name):
        return None
    found = kernel.names(node.slice.id)
    record = record_of(found) if isinstance(found, np.dtype) else None
    rank = types.view_rank(types.last_name(node.value))
    return CType("record", rank, record=record) if record is not None and rank else None


@functools.lru_cache(maxsize=1024)
def annotated(kernel: Definition) -> dict[str, CType | None]:
    """The types the parameters' annotations ask for."""
    return {argument.arg: _annotation(kernel, argument) for argument in kernel.parameters}


class Program:
    """The translation of one launch's signature; `source` is the C++ text."""

    def __init__(
        self,
        kernel: Definition,
        pattern: str,
        policy: str,
        rank: int,
        arguments: dict[str, CType],
        dense: Sequence[str] = (),
        conditions: Sequence[Condition] = (),
        *,
        debug: bool = False,
        device: bool = False,
    ) -> None:
        self.kernel = kernel
        self.debug = debug
        self.device = device
        self.pattern = pattern
        self.policy = policy
        self.rank = rank
        self.arguments = arguments
        self.dense = frozenset(dense)
        self.constants: dict[tuple[int, str], tuple[Captured, Any]] = {}
        self.placed: dict[int, PlacedCondition] = {}
        self.refused: dict[int, str] = {}
        self.functions: dict[str, Definition] = {}
        self._conditions: dict[tuple[str, int], list[Condition]] = {}
        for condition in conditions:
            self._conditions.setdefault((os.path.realpath(condition.file), condition.line), []).append(condition)
        self._instances: dict[tuple[str, tuple[str, ...]], CType] = {}
        self._prototypes: list[str] = []
        self._bodies: list[str] = []
        self.roles = roles(kernel, pattern, policy, rank)
        self.accumulator = self._accumulator()
        self.source = self._generate()
        self._captured = [(names, key[1], value) for key, (names, value) in self.constants.items()]
        for missing in (c for group in self._conditions.values() for c in group if c.id not in self.placed):
            self.refused.setdefault(missing.id, f"line {missing.line} has no code in this kernel")
        for number in self.refused:  # perhaps only for some of the types that a function is called with
            self.placed.pop(number, None)

    def conditions_at(self, file: str, line: int) -> Sequence[Condition]:
        return self._conditions.get((file, line), ())

    @property
    def entry(self) -> str:
        return f"pkk_{cpp_name(self.kernel.name)}::pk_body"

    def lines(self) -> dict[str, tuple[int, ...]]:
        """Lines with code, by file."""
        found: dict[str, set[int]] = {}
        for part in (self.kernel, *self.functions.values()):
            found.setdefault(part.file, set()).update(part.source.lines)
        return {file: tuple(sorted(lines)) for file, lines in found.items()}

    def current(self) -> bool:
        """Whether the values compiled in are still those of the names outside the kernel."""
        return not self._captured or all(
            names(name) is value or names(name) == value for names, name, value in self._captured
        )

    def _accumulator(self) -> CType:
        if not self.roles.accumulator:
            return VOID
        argument = self.kernel.parameters[self.rank]
        kind = _annotation(self.kernel, argument) or CType("double", reduction="sum")
        if not kind.reduction:
            kind = CType(kind.name, reduction="sum")
        return reduction_of(self.kernel.node, argument.arg, kind) if self.pattern == "reduce" else kind

    def call(self, caller: Expressions, node: ast.Call, function: Any, arguments: list[Typed]) -> Typed:
        """A call of a kernel function, translating it for these argument types when they are new."""
        part = definition(function)
        if isinstance(node.func, ast.Name):
            self.constants[(id(caller.names), node.func.id)] = (caller.names, function)
        if len(part.parameters) != len(arguments):
            caller.error(node, f"{part.name} has {len(part.parameters)} parameters, {len(arguments)} are given")
        parameters = {}
        for argument, (_, given) in zip(part.parameters, arguments, strict=True):
            bare = given.of_rank(given.rank)
            wanted = _annotation(part, argument) or bare
            if (wanted.is_view or bare.is_view or bare.record) and wanted.text != bare.text:
                if not wanted.holds(bare):
                    caller.error(node, f"{argument.arg} of {part.name} is a {wanted.text}, a {bare.text} is given")
                wanted = bare
            parameters[argument.arg] = wanted
        key = (part.name, tuple(kind.text for kind in parameters.values()))
        if self.functions.setdefault(part.name, part) is not part:
            caller.error(node, f"two functions called {part.name} are used in one kernel")
        if key not in self._instances:
            self._function(caller, node, part, parameters, key)
        texts = ", ".join(text for text, _ in arguments)
        return f"{cpp_name(part.name)}({texts})", self._instances[key]

    def _function(
        self, caller: Expressions, node: ast.Call, part: Definition, parameters: dict[str, CType], key: Any
    ) -> None:
        translator = FunctionTranslator(self, part.file, part.names)
        translator.result = translator.annotation(part.node.returns)
        if translator.result is not None:
            self._instances[key] = translator.result
        elif any(types.last_name(c.func) == part.name for c in ast.walk(part.node) if isinstance(c, ast.Call)):
            caller.error(node, f"{part.name} calls itself: annotate what it returns")
        translator.body(part.node.body, parameters)
        result = translator.result or VOID
        self._instances[key] = result
        head = f"PK_FUNCTION {result.text} {cpp_name(part.name)}({parameter_list(parameters)})"
        self._prototypes.append(f"{head};")
        self._bodies += [GLUE, f"{head} {{", *translator.lines, GLUE, *_ending(result), "}", ""]

    def _generate(self) -> str:
        parameters = dict(self.roles.indices)
        if self.roles.accumulator:
            parameters[self.roles.accumulator] = self.accumulator
        if self.roles.final:
            parameters[self.roles.final] = BOOL
        parameters.update({name: self.arguments[name] for name in self.roles.arguments})
        translator = FunctionTranslator(self, self.kernel.file, self.kernel.names)
        translator.result = VOID
        translator.body(self.kernel.node.body, parameters)
        head = self._typed_parameters(parameters)
        body = [GLUE, f"PK_FUNCTION void pk_body({head}) {{", *translator.lines, GLUE, "}"]
        complex_used = any(kind.is_complex for kind in self.arguments.values()) or "std::complex" in "".join(
            [*translator.lines, *self._bodies]
        )
        used = "".join([*translator.lines, *self._bodies, *(kind.text for kind in parameters.values())])
        if self.device:
            self._check_numbers(complex_used, used)
        return "\n".join(
            [
                *(["#define PK_COMPLEX"] if complex_used else []),
                *(["#define PK_CONDITIONS"] if self.placed else []),
                *(["#include <vector>"] if self.device else []),
                f'#include "{"pk_device.hpp" if self.device else "pk_runtime.hpp"}"',
                *(['#include "pk_half.hpp"'] if "pk::half" in used else []),
                *(['#include "pk_loose.hpp"'] if "pk::Loose<" in used else []),
                "PK_DEFINE_GLOBALS",
                f"namespace pkk_{cpp_name(self.kernel.name)} {{",
                *self._prototypes,
                *self._bodies,
                *body,
                "}",
                "",
                *self._entry(),
                "",
            ]
        )

    def _check_numbers(self, complex_used: bool, used: str) -> None:
        """Refuse numbers that devices don't have here."""
        what = "complex numbers" if complex_used else "longdouble" if "pk::longdouble" in used else ""
        if what:
            raise CompileError(
                f"{self.kernel.name} computes with {what}, which kernels on Cuda don't support here",
                self.kernel.file,
                self.kernel.node.lineno,
            )

    def _typed_parameters(self, parameters: dict[str, CType]) -> str:
        if not self.dense:
            return parameter_list(parameters)
        parts = []
        for name, kind in parameters.items():
            text = parameter_list({name: kind})
            parts.append(text.replace("pk::View<", "pk::Dense<", 1) if name in self.dense else text)
        return ", ".join(parts)

    def _entry(self) -> list[str]:
        unpack = []
        for name, kind in self.arguments.items():
            if kind.is_loose:
                shown = c_string(kind.record.description) if kind.record is not None else "nullptr"
                value = f'pk::loose_from<{kind.element}, {kind.rank}>(a, "{name}", {shown})'
            elif kind.is_view:
                made = f'pk::view_from<{kind.name}, {kind.rank}>(a, "{name}")'
                dense = f"pk::Dense<{kind.name}, {kind.rank}>"
                value = f"{dense}{{{made}}}" if name in self.dense else made
            else:
                value = f"pk::scalar_from<{kind.name}>(a)"
            unpack.append(f"    const auto pk_a_{name} = {value};")
        arguments = "".join(f", pk_a_{name}" for name in self.roles.arguments)
        return (cuda_regions if self.device else REGIONS).source(self, unpack, arguments)


def _ending(result: CType) -> list[str]:
    return [] if result == VOID else [f"    return {result.text}();"]
