"""Expressions and statements of the person, run in a frame of the program."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any

from pkdb_tui.engine.debuggee.limits import EvaluationInterrupted, EvaluationTimedOut
from pkdb_tui.engine.debuggee.scopes import Kept, Kernel, Scope
from pkdb_tui.engine.debuggee.snippets import SOURCE, Snippet
from pkdb_tui.engine.debuggee.values import error_message, is_array, is_numpy_scalar, preview, type_name, wire_value

Json = dict[str, Any]
TEXT_LIMIT = 20_000
Runner = Callable[[str, FrameType, str, Kernel | None], Any]


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


def run(text: str, frame: FrameType, mode: str = "auto", kernel: Kernel | None = None) -> Any:
    """The value of an expression, or of the last one of several statements, or None."""
    snippet = Snippet(text, mode)
    value = snippet.run(Scope(frame, kernel))
    return run_coroutine(value) if snippet.waits else value


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
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith(SOURCE[:-1]):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace))


def error_line(error: BaseException) -> str:
    """Kind and message, as Python's last line of a traceback."""
    if isinstance(error, Kept):
        return str(error)
    try:
        return "".join(traceback.format_exception_only(type(error), error)).strip().split("\n")[-1]
    except Exception as second:  # noqa: BLE001 - the error's own text may raise anything
        return f"{type(error).__name__}, whose text raised {type(second).__name__}"


def answer(error: str = "") -> Json:
    """An EvaluateBody with nothing in it yet."""
    return {"text": "", "type": "", "value": None, "error": error, "traceback": "", "writes": {}}


def evaluate(
    text: str, frame: FrameType, mode: str, timeout: float, kernel: Kernel | None = None, run: Runner = run
) -> Json:
    """An EvaluateBody; never raises for what the expression does."""
    body = answer()
    try:
        value = run(text, frame, mode, kernel)
        body["text"] = _shown(value)
        body["type"] = type_name(value)
        body["value"] = wire_value(value)
    except EvaluationInterrupted as error:
        body["error"] = f"stopped after {timeout:g} s" if isinstance(error, EvaluationTimedOut) else "interrupted"
    except SystemExit as error:
        body["error"] = f"SystemExit: {error_message(error)}. The program goes on; use quit to end the session."
    except BaseException as error:  # noqa: BLE001 - whatever the expression raises is its answer
        body["error"] = error_line(error)
        body["traceback"] = own_traceback(error)
    if kernel is not None:
        body["writes"] = {name: written(value) for name, value in kernel.changed.items()}
    return body


def _shown(value: Any) -> str:
    """The text of a value, or what its own `__repr__` raised."""
    try:
        return result_text(value)
    except Exception as error:  # noqa: BLE001 - the program's __repr__ may raise anything; the value is there all the same
        return f"<{type_name(value)}: its __repr__ raised {error_line(error)}>"


def written(value: Any) -> list[str]:
    """A kernel scalar's new value as [kind, text]; kind is a type's name where it is no number."""
    if is_numpy_scalar(value):
        value = value.item()
    if is_numpy_scalar(value):  # Python has no number of so many bits
        return [f"numpy {value.dtype.str}", value.tobytes().hex()]
    kind = next((kind for kind in (bool, int, float, complex) if isinstance(value, kind)), None)
    return ["", type_name(value)] if kind is None else [kind.__name__, kind.__repr__(value)]
