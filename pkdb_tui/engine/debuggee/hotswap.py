"""Kernels that run in place of others: which rule applies to a launch, and whether one kernel can stand for another."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any

from pkdb_tui.engine.debuggee import edited, sources
from pkdb_tui.engine.debuggee.scopes import globals_of
from pkdb_tui.engine.debuggee.wire import RequestError

Json = dict[str, Any]
Identity = tuple[str, int, str]  # file, first line, name
Parameter = tuple[str, str]  # name, annotation as written

PENDING, BOUND, REFUSED = "pending", "bound", "refused"


class Rule:
    """One substitution; `workunit` is the replacement once it is known, `identity` the kernel that it stands for."""

    def __init__(self, body: Json, lines: tuple[int, int]) -> None:
        self.id = int(body["id"])
        self.kernel = str(body["kernel"])
        self.replacement = str(body["replacement"])
        self.file = sources.real_path(str(body.get("file") or "")) if body.get("line") else ""
        self.line = int(body.get("line") or 0)
        self.enabled = bool(body.get("enabled", True))
        self.source = str(body.get("source") or "")  # the file of the replacement, which is an edited text
        self.edits = (
            (sources.real_path(str(body["origin"])), int(body.get("firstLine") or 0), self.kernel)
            if self.source
            else None
        )
        self.lines = lines
        self.identity: Identity | None = None
        self.workunit: FunctionType | None = None
        self.reason = ""
        self.uses = 0

    @property
    def state(self) -> str:
        return REFUSED if self.reason else PENDING if self.workunit is None else BOUND

    def concerns(self, kernel: Any, caller: FrameType) -> bool:
        """Whether the rule is about this launch of `kernel` from the line that `caller` is at."""
        if self.edits is not None:
            file, first_line, name = self.edits
            if (
                kernel.name != name
                or first_line not in (0, kernel.first_line)
                or sources.real_path(kernel.file) != file
            ):
                return False
        elif self.identity is not None:
            if identity_of_source(kernel) != self.identity:
                return False
        elif kernel.name != self.kernel.rpartition(".")[2]:
            return False
        if not self.line:
            return True
        return (
            self.lines[0] <= caller.f_lineno <= self.lines[1]
            and sources.real_path(caller.f_code.co_filename) == self.file
        )

    def body(self) -> Json:
        return {"id": self.id, "state": self.state, "reason": self.reason, "uses": self.uses}


class Swaps:
    """All rules; the set comes whole from the engine, what was resolved stays with its rule's number."""

    def __init__(self, spans_of_statement: Callable[[str, int], tuple[int, int]]) -> None:
        self._statement = spans_of_statement
        self._rules: dict[int, Rule] = {}
        self._active: tuple[Rule, ...] = ()

    @property
    def armed(self) -> bool:
        return bool(self._active)

    def replace(self, bodies: list[Json]) -> list[Json]:
        """The desired set, whole; rules known by number keep what they are bound to."""
        rules = {}
        for body in bodies:
            known = self._rules.get(int(body["id"]))
            if known is None:
                known = self._rule(body)
            known.enabled = bool(body.get("enabled", True))
            rules[known.id] = known
        self._take(rules)
        return [rule.body() for rule in rules.values()]

    def bodies(self) -> list[Json]:
        return [rule.body() for rule in self._rules.values()]

    def add(self, body: Json, frame: FrameType) -> Json:
        """One rule more, its names looked up from a frame. Raises RequestError when it can't be."""
        rule = self._rule(body)
        try:
            original = find(rule.kernel, frame)
        except NameError as error:
            # A kernel that isn't defined yet but will be: the first launch of that name binds the rule.
            if not _defines(frame.f_code.co_filename, rule.kernel):
                raise RequestError(f"There is no kernel {rule.kernel} here.", "Name it as the program does.") from error
        else:
            rule.identity = identity(original)
            self._bind(rule, original, frame)
        self._take({**self._rules, rule.id: rule})
        return rule.body()

    def _take(self, rules: dict[int, Rule]) -> None:
        self._rules = rules
        # A rule for one line goes before one for all.
        active = sorted(rules.values(), key=lambda rule: not rule.line)
        self._active = tuple(rule for rule in active if rule.enabled and not rule.reason)

    def _rule(self, body: Json) -> Rule:
        line = int(body.get("line") or 0)
        lines = (0, 0)
        if line:
            lines = self._statement(sources.real_path(str(body["file"])), line)
        return Rule(body, lines)

    @staticmethod
    def _bind(rule: Rule, original: FunctionType, frame: FrameType) -> None:
        if rule.source:
            instead = edited.made(original, rule.source)
            check(original, instead)
            rule.workunit = instead
            return
        try:
            chosen = find(rule.replacement, frame)
        except NameError as error:
            raise RequestError(
                f"There is no kernel {rule.replacement} here.", "Define it first, or name it as the program does."
            ) from error
        check(original, chosen)
        rule.workunit = chosen

    # --- at a launch ---

    def chosen(self, launch: Any, caller: FrameType) -> tuple[Rule, FunctionType] | None:
        """The rule for this launch and its kernel; None when the launch runs as it is."""
        for rule in self._active:
            if rule.concerns(launch.kernel, caller):
                if rule.workunit is None:
                    self._resolve(rule, launch, caller)
                if rule.workunit is None:
                    continue
                return rule, edited.seeing_as(rule.workunit, launch.workunit) if rule.source else rule.workunit
        return None

    def _resolve(self, rule: Rule, launch: Any, caller: FrameType) -> None:
        """A rule set before its kernels existed meets its first launch; raises RequestError when it can't stand."""
        rule.identity = identity_of_source(launch.kernel)
        try:
            self._bind(rule, workunit(rule.kernel, launch.workunit), caller)
        except RequestError as error:
            self.refuse(rule, error.title)
            raise

    def refuse(self, rule: Rule, reason: str) -> None:
        """The rule can't be used: the original runs from now on."""
        rule.reason = reason
        self._take(self._rules)


def find(text: str, frame: FrameType) -> FunctionType:
    """The kernel that a person names in a frame, or else by a name that one of the program's modules has.

    Raises NameError where nothing has the name, RequestError for what is no kernel.
    """
    try:
        return workunit(text, eval(text, globals_of(frame), frame.f_locals))
    except NameError:
        found = _in_modules(text)
        if not found:
            raise
    except (AttributeError, SyntaxError) as error:
        raise RequestError(f"`{text}` is not the name of a kernel: {error}.") from error
    if len(found) > 1:
        names = ", ".join(f"{function.__module__}.{text}" for function in found.values())
        raise RequestError(f"`{text}` may mean {names}.", "Stop where the one meant is visible.")
    return workunit(text, next(iter(found.values())))


def _in_modules(name: str) -> dict[Identity, FunctionType]:
    found = {}
    for module in list(sys.modules.values()):
        value = getattr(module, "__dict__", {}).get(name)
        if isinstance(value, FunctionType) and not sources.is_glue(value.__code__.co_filename):
            found[identity(value)] = value
    return found


def _defines(file: str, name: str) -> bool:
    """Whether a source file has a function of that name."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in ast.walk(tree))


def workunit(text: str, value: Any) -> FunctionType:
    """The function behind a kernel as a person names it. Raises RequestError for what is none."""
    if not isinstance(value, FunctionType):
        raise RequestError(f"`{text}` is not a workunit, it is a {type(value).__name__}.", "Name a kernel function.")
    if getattr(value, "__pk_function__", False):
        raise RequestError(f"`{text}` is a function that kernels call, not one that is launched.")
    return value


def identity(function: FunctionType) -> Identity:
    code = function.__code__
    return sources.real_path(code.co_filename), code.co_firstlineno, function.__name__


def identity_of_source(kernel: Any) -> Identity:
    return sources.real_path(kernel.file), kernel.first_line, kernel.name


def parameters(function: FunctionType) -> list[Parameter]:
    """Names and annotations as written; annotations as they are where the source can't be read."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except (SyntaxError, ValueError):
        tree = ast.Module([], [])
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
            continue
        if code.co_firstlineno in (node.lineno, *(d.lineno for d in node.decorator_list)):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            return [(a.arg, ast.unparse(a.annotation) if a.annotation else "") for a in given]
    return [(name, str(function.__annotations__.get(name, ""))) for name in names]


def check(original: FunctionType, chosen: FunctionType) -> None:
    """Raises RequestError naming the first parameter in which two kernels differ."""
    if identity(original) == identity(chosen):
        raise RequestError(
            f"{chosen.__name__} would stand for itself.", f"`hotswap -d {original.__name__}` takes a rule away."
        )
    old, new = parameters(original), parameters(chosen)
    difference = _difference(original, chosen, old, new)
    if difference:
        raise RequestError(
            f"{chosen.__name__} can't stand for {original.__name__}: {difference}.",
            "Both need the same parameters, by name and annotation.",
        )


def _difference(original: FunctionType, chosen: FunctionType, old: list[Parameter], new: list[Parameter]) -> str:
    known, given = dict(old), dict(new)
    for name, annotation in new:
        if name not in known:
            return f"its parameter {_shown(name, annotation)} is none of {original.__name__}'s"
    for name, annotation in old:
        if name not in given:
            return f"it lacks the parameter {_shown(name, annotation)}"
    for name, annotation in old:
        if annotation != given[name] and not _same_type(name, original, chosen):
            return f"{name} is {_type(annotation)} in {original.__name__} and {_type(given[name])} in {chosen.__name__}"
    if [name for name, _ in old] != [name for name, _ in new]:
        first = next(name for (name, _), (other, _) in zip(old, new, strict=True) if name != other)
        return f"its parameters come in another order, from {first} on"
    return ""


def _same_type(name: str, original: FunctionType, chosen: FunctionType) -> bool:
    """Whether two annotations written differently mean the same."""
    one, other = original.__annotations__.get(name), chosen.__annotations__.get(name)
    if one is None or other is None:
        return False
    return bool(one == other) or (repr(one) == repr(other) and " at 0x" not in repr(one))


def _shown(name: str, annotation: str) -> str:
    return f"{name}: {annotation}" if annotation else name


def _type(annotation: str) -> str:
    return annotation or "not annotated"
