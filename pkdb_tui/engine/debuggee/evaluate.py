"""Expressions and statements of the person, run in a frame of the program."""

from __future__ import annotations

import _thread
import ast
import ctypes
import io
import sys
import traceback
from collections.abc import Callable, Coroutine
from types import CodeType, FrameType
from typing import Any

from pkdb_tui.engine.debuggee.limits import EvaluationInterrupted, EvaluationTimedOut
from pkdb_tui.engine.debuggee.values import is_array, is_numpy_scalar, preview, type_name, wire_value

Json = dict[str, Any]
TEXT_LIMIT = 20_000
SOURCE = "<console>"


class _Capture(io.TextIOBase):
    """What this thread prints is kept; other threads' output goes where it would."""

    def __init__(self, original: Any) -> None:
        self._original = original
        self._thread = _thread.get_ident()
        self.parts: list[str] = []

    def write(self, text: str) -> int:
        if _thread.get_ident() != self._thread:
            return int(self._original.write(text))
        self.parts.append(text)
        return len(text)

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self._original, "encoding", "utf-8")


def compile_text(text: str, mode: str) -> tuple[CodeType | None, CodeType | None]:
    """(statements to run, expression to evaluate after them); either may be absent. Raises SyntaxError."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    if mode in ("auto", "eval"):
        try:
            return None, compile(text.strip(), SOURCE, "eval", flags, dont_inherit=True)
        except SyntaxError:
            if mode == "eval":
                raise
    tree = ast.parse(text, SOURCE, "exec")
    last: CodeType | None = None
    if len(tree.body) > 1 and isinstance(tree.body[-1], ast.Expr):
        expression = tree.body.pop()
        assert isinstance(expression, ast.Expr)
        last = compile(ast.Expression(expression.value), SOURCE, "eval", flags, dont_inherit=True)
    return compile(tree, SOURCE, "exec", flags, dont_inherit=True), last


def _has_nested(code: CodeType) -> bool:
    return any(isinstance(constant, CodeType) for constant in code.co_consts)


def locals_to_fast(frame: FrameType) -> None:
    """Before 3.13, write the snapshot dict back into the frame's variables."""
    if sys.version_info < (3, 13):
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))


def _run_code(code: CodeType, frame: FrameType) -> Any:
    names, globals_ = frame.f_locals, frame.f_globals
    if names is globals_ or not _has_nested(code):
        value = eval(code, globals_, names)
    else:
        # Nested scopes (lambdas, comprehensions) look names up in globals only: let those include the locals.
        merged = {**globals_, **names}
        before = dict(merged)
        value = eval(code, merged, names)
        for name, new in merged.items():
            if name not in before or before[name] is not new:
                globals_[name] = new
    if code.co_flags & 0x80:
        value = run_coroutine(value)
    if names is not globals_:
        locals_to_fast(frame)
    return value


def run_coroutine(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Drive an awaited expression to its end, on the running loop when there is one."""
    # Not at the top: the program may never use asyncio, and its import is felt at every start.
    import asyncio

    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    pump: Callable[[], None] | None = getattr(loop, "_run_once", None)
    if pump is None:
        coroutine.close()
        raise RuntimeError(f"await needs asyncio's own loop; {type(loop).__name__} can't be driven from here")
    task = loop.create_task(coroutine)
    current = asyncio.current_task(loop)
    if current is not None:
        asyncio.tasks._leave_task(loop, current)
    try:
        while not task.done():
            pump()
    finally:
        if not task.done():
            task.cancel()
        if current is not None:
            asyncio.tasks._enter_task(loop, current)
    return task.result()


def run(text: str, frame: FrameType, mode: str = "auto") -> Any:
    """The value of an expression, or of the last one of several statements, or None."""
    statements, expression = compile_text(text, mode)
    value = None
    if statements is not None:
        value = _run_code(statements, frame)
    if expression is not None:
        value = _run_code(expression, frame)
    return value


def result_text(value: Any) -> str:
    """The console's text of a value: its own repr, bounded; arrays abbreviated by their own library."""
    if value is None:
        return ""
    if is_array(value):
        return _array_text(value)
    if isinstance(value, list | tuple | dict | set | frozenset) and len(value) > 1000:
        return preview(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return preview(value)
    if isinstance(value, str | bytes) and len(value) > TEXT_LIMIT:
        return preview(value)
    text = str(value) if is_numpy_scalar(value) else repr(value)
    return text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + "…"


def _array_text(value: Any) -> str:
    size = 1
    for extent in value.shape:
        size *= int(extent)
    if size > 1000:
        return preview(value, 1)
    return repr(value)[:TEXT_LIMIT]


def own_traceback(error: BaseException) -> str:
    """The traceback from the person's expression on, without the debugger's frames."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != SOURCE:
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace))


def error_line(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(type(error), error)).strip().split("\n")[-1]


def answer(error: str = "") -> Json:
    """An EvaluateBody with nothing in it yet."""
    return {"text": "", "type": "", "value": None, "output": "", "error": error, "traceback": ""}


def evaluate(text: str, frame: FrameType, mode: str, timeout: float) -> Json:
    """An EvaluateBody; never raises for what the expression does."""
    captured = _Capture(sys.stdout)
    outer = sys.stdout, sys.stderr
    body = answer()
    try:
        sys.stdout = sys.stderr = captured
        value = run(text, frame, mode)
        body["text"] = result_text(value)
        body["type"] = type_name(value)
        body["value"] = wire_value(value)
    except EvaluationInterrupted as error:
        body["error"] = f"stopped after {timeout:g} s" if isinstance(error, EvaluationTimedOut) else "interrupted"
    except SystemExit as error:
        body["error"] = f"SystemExit: {error}. The program goes on; use quit to end the session."
    except BaseException as error:  # noqa: BLE001 - whatever the expression raises is its answer
        body["error"] = error_line(error)
        body["traceback"] = own_traceback(error)
    finally:
        if sys.stdout is captured:
            sys.stdout = outer[0]
        if sys.stderr is captured:
            sys.stderr = outer[1]
    body["output"] = "".join(captured.parts)[: TEXT_LIMIT * 10]
    return body
