"""Kernels whose text was edited: found, made into functions of the program, and compiled to see whether they can be."""

from __future__ import annotations

import _thread
import ast
import os
import sys
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from pkdb_tui.engine.debuggee import frames, sources
from pkdb_tui.engine.debuggee.limits import start_named
from pkdb_tui.engine.debuggee.wire import RequestError

if TYPE_CHECKING:
    from pkdb_tui.engine.debuggee.debugger import Debugger
    from pkdb_tui.engine.debuggee.frameworks.base import Adapter

Json = dict[str, Any]
Identity = tuple[str, int, str]  # file, first line (0 for any), name
Make = Callable[[Any], FunctionType | None]
ORIGINAL = "__pkdb_original__"  # of a function made here: the program's own
DEPENDENT = ("__pk_definition__",)  # what a runtime keeps of a function, the names that it sees among it
OUTER = "_pkdb_outer"
FUTURE_ANNOTATIONS = 0x1000000


def original_of(function: Any) -> Any:
    """The program's own function, where this one is made of an edited text of it."""
    return function.__dict__.get(ORIGINAL, function) if isinstance(function, FunctionType) else function


def made(original: FunctionType, path: str) -> FunctionType:
    """The function of the original's name in an edited file, with all names that the original sees.

    Raises RequestError saying what keeps it from being made, with its line.
    """
    original = original_of(original)
    code = original.__code__
    name = os.path.basename(path)
    try:
        node = _definition(ast.parse(sources.read_source(path), path), code.co_name, code.co_firstlineno)
        free = code.co_freevars
        inner = ast.arguments([], [ast.arg(each) for each in free], None, [], [], None, [])
        outer = ast.parse(f"def {OUTER}():\n    return {node.name}")
        function = outer.body[0]
        assert isinstance(function, ast.FunctionDef)
        function.args, function.body = inner, [node, *function.body]
        flags = code.co_flags & FUTURE_ANNOTATIONS
        space: dict[str, Any] = {}
        compiled = compile(ast.fix_missing_locations(outer), path, "exec", flags, dont_inherit=True)
        exec(compiled, original.__globals__, space)
        found = space[OUTER](*[None] * len(free))
    except SyntaxError as error:
        raise RequestError(f"{name}:{error.lineno}: {error.msg}") from error
    except Exception as error:
        raise RequestError(f"{name}:{_line_of(error, path) or node.lineno}: {type(error).__name__}: {error}") from error
    if not isinstance(found, FunctionType) or found.__code__.co_filename != path:
        raise RequestError(
            f"{name}:{node.lineno}: its decorators make it a {type(found).__name__}, not the function itself"
        )
    return _with_cells(found, original)


def seeing_as(function: FunctionType, original: Any) -> FunctionType:
    """A function made here for another function object of the same kernel, which may see other variables around it."""
    own = original_of(original)
    if own is original_of(function) or not isinstance(own, FunctionType) or not own.__closure__:
        return function
    return _with_cells(function, own)


def _with_cells(function: FunctionType, original: FunctionType) -> FunctionType:
    """The function with the variables around the original as its own."""
    cells = dict(zip(original.__code__.co_freevars, original.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in function.__code__.co_freevars)
    result = FunctionType(
        function.__code__, original.__globals__, function.__name__, function.__defaults__, closure or None
    )
    marks = {name: value for name, value in function.__dict__.items() if name not in DEPENDENT}
    result.__dict__.update(marks)
    result.__dict__[ORIGINAL] = original
    result.__annotations__ = function.__annotations__
    result.__kwdefaults__ = function.__kwdefaults__
    result.__qualname__ = original.__qualname__
    result.__module__ = original.__module__
    return result


def _definition(tree: ast.Module, name: str, first_line: int) -> ast.FunctionDef:
    """The definition that begins where the original's does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first == first_line or node.lineno == first_line:
                return node
    named = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name]
    if len(named) == 1:  # the file's lines are others than when the program loaded it
        return named[0]
    raise RequestError(f"The edited file has no kernel {name} at line {first_line}.")


def _line_of(error: BaseException, path: str) -> int:
    """The last line of a file in an error's traceback; 0 where there is none."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


class Edited:
    """Serves what the engine asks about kernels being edited; compiles on threads of its own."""

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger

    def find(self, arguments: Json) -> Json:
        """Where a kernel of some module of the program stands, by its name. Raises RequestError."""
        name = str(arguments["name"])
        found: dict[tuple[str, int], Json] = {}
        for module in list(sys.modules.values()):
            path = getattr(module, "__file__", None)
            if not isinstance(path, str) or not path.endswith(".py") or sources.is_glue(path):
                continue
            file = sources.real_path(path)
            for span in self._debugger.spans(file):
                if span["name"] == name:
                    body = {"file": file, "firstLine": span["firstLine"], "lastLine": span["lastLine"]}
                    found[file, span["firstLine"]] = body
        if len(found) == 1:
            return next(iter(found.values()))
        if found:
            places = ", ".join(f"{os.path.basename(file)}:{line}" for file, line in found)
            raise RequestError(f"`{name}` may be any of the kernels at {places}.", "Write one of these places.")
        raise RequestError(f"There is no kernel {name} in what the program has imported.", "Write FILE:LINE.")

    def check(self, request: Json) -> None:
        """Compile an edited kernel and answer then, on a thread that no breakpoint sees."""
        start_named(lambda: self._quietly(request))

    def _quietly(self, request: Json) -> None:
        ident = _thread.get_ident()
        frames.own_threads.add(ident)
        self._debugger.tracer.quiet.add(ident)
        connection, number = self._debugger.connection, request["id"]
        try:
            body = self._compiled(request["arguments"])
        except RequestError as error:
            connection.refuse(number, error)
        except Exception as error:  # noqa: BLE001 - on a thread of ours; the fault is told to whoever asked
            self._debugger.tracer.internal_error()
            connection.refuse(number, RequestError(f"The debuggee failed at checking the kernel: {error}"))
        else:
            connection.reply(number, body)
        finally:
            self._debugger.tracer.quiet.discard(ident)
            frames.own_threads.discard(ident)

    def _compiled(self, arguments: Json) -> Json:
        """`compiled` counts the kinds of launches that the kernel was compiled for; `error` is what was refused."""
        path, first_line = str(arguments["path"]), int(arguments["firstLine"])
        where = sources.real_path(str(arguments["file"])), first_line, str(arguments["kernel"])
        bounds, compiled = bool(self._debugger.settings["bounds"]), 0
        functions: dict[FunctionType, FunctionType] = {}

        def make(function: Any) -> FunctionType | None:
            """The edited function for one of the program's; None for those of other kernels."""
            original = original_of(function)
            if not is_kernel(original, where):
                return None
            if original not in functions:
                functions[original] = made(original, path)
            return functions[original]

        for adapter in self._debugger.dispatch.adapters:
            try:
                compiled += adapter.compile_edited(make, bounds=bounds)
                if not compiled:
                    compiled += self._for_launch_under_way(adapter, make, bounds)
            except RequestError as error:
                return {"compiled": compiled, "problem": {"line": 0, "column": -1, "message": error.title}}
            except Exception as error:
                if not adapter.is_build_error(error):
                    raise
                return {"compiled": compiled, "problem": adapter.build_problem(error)}
        return {"compiled": compiled}

    def _for_launch_under_way(self, adapter: Adapter, make: Make, bounds: bool) -> int:
        """A debug build for the launch that a native debugger looks at, if it is one of the kernel."""
        looked_at = self._debugger.dispatch.looked_at
        if looked_at is None or looked_at[0] is not adapter:
            return 0
        function = make(looked_at[1].workunit)
        if function is None:
            return 0
        looked_at[1].substituted(function).build_debug(bounds=bounds)
        return 1


def is_kernel(function: Any, where: Identity) -> bool:
    """Whether a function is the one of this name at this line of this file."""
    if not isinstance(function, FunctionType) or function.__name__ != where[2]:
        return False
    code = function.__code__
    return sources.real_path(code.co_filename) == where[0] and where[1] in (0, code.co_firstlineno)
