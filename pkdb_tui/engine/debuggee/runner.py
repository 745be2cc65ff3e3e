"""Runs the person's program as the interpreter itself would, and stops where an exception ends it."""

from __future__ import annotations

import importlib.machinery
import io
import itertools
import linecache
import os
import sys
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any, NoReturn

from pkdb_tui.engine.debuggee import frames
from pkdb_tui.engine.debuggee.debugger import Debugger
from pkdb_tui.engine.debuggee.plans import START, Plan
from pkdb_tui.engine.debuggee.runtimes import describe
from pkdb_tui.engine.debuggee.sources import is_own, real_path
from pkdb_tui.engine.debuggee.tracer import exception_body

Json = dict[str, Any]


def execute(code: CodeType, namespace: dict[str, Any]) -> None:
    """The bottom of every stack: frames below this one are the debugger's."""
    exec(code, namespace)


frames.bottom_codes.add(execute.__code__)


def _new_main(**names: Any) -> ModuleType:
    module = ModuleType("__main__")
    module.__dict__.update(
        __builtins__=__builtins__ if isinstance(__builtins__, ModuleType) else sys.modules["builtins"]
    )
    module.__dict__.update(names)
    sys.modules["__main__"] = module
    return module


def _fail(message: str, status: int) -> NoReturn:
    sys.stderr.write(message + "\n")
    sys.exit(status)


def _load_script(script: str, source_descriptor: int) -> tuple[CodeType, ModuleType, str]:
    if script == "-":
        with open(source_descriptor, encoding="utf-8") as stream:
            source = stream.read()
        linecache.cache["<stdin>"] = (len(source), None, source.splitlines(True), "<stdin>")
        sys.path.insert(0, "")
        code = compile(source, "<stdin>", "exec", dont_inherit=True)
        return code, _new_main(__file__="<stdin>", __spec__=None, __package__=None, __doc__=None), "<stdin>"
    path = os.path.abspath(script)
    if os.path.isdir(path):
        return _load_directory(path)
    try:
        with io.open_code(path) as stream:
            source_bytes = stream.read()
    except OSError as error:
        _fail(f"{sys.executable}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}", 2)
    sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    main = _new_main(__file__=script, __spec__=None, __package__=None, __doc__=None, __loader__=loader, __cached__=None)
    return compile(source_bytes, path, "exec", dont_inherit=True), main, path


def _load_directory(path: str) -> tuple[CodeType, ModuleType, str]:
    sys.path.insert(0, path)
    return _load_module("__main__", keep_argument=True)


def _load_module(name: str, *, keep_argument: bool = False) -> tuple[CodeType, ModuleType, str]:
    import runpy

    own = sys.modules["__main__"]
    if name == "__main__":
        del sys.modules[name]  # a folder's would be taken for that one
    try:
        _, spec, code = runpy._get_module_details(name, runpy._Error)  # type: ignore[attr-defined]
    except runpy._Error as error:  # type: ignore[attr-defined]
        _fail(f"{sys.executable}: {error}", 1)
    finally:
        sys.modules["__main__"] = own
    main = _new_main(
        __file__=spec.origin,
        __spec__=spec,
        __package__=spec.parent,
        __doc__=None,
        __loader__=spec.loader,
        __cached__=spec.cached,
    )
    if not keep_argument:
        sys.argv[0] = spec.origin
    return code, main, spec.origin


def run(debugger: Debugger, config: Json, ready: Json) -> None:
    """Load, announce, wait for the start, run to the end. Leaves by SystemExit or returns, as the program does."""
    script, module = config.get("script") or "", config.get("module") or ""
    sys.argv[:] = [script or "-m", *config.get("args", [])]
    try:
        if module:
            sys.path.insert(0, os.getcwd())
            code, main, file = _load_module(module)
        else:
            code, main, file = _load_script(script, config.get("source", 0))
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - a syntax error is reported as the interpreter would
        _report(debugger, error)
    debugger.table.main_file = real_path(file)
    info = debugger.table.see(code)
    runtime, detail = describe()
    if runtime == "installed":
        detail = _installed(debugger, detail)
    body = {**ready, "runtime": runtime, "runtimeDetail": detail, "file": debugger.table.main_file}
    debugger.connection.event("ready", body)
    debugger.wait_for_start()
    debugger.tracer.plans[debugger.main] = Plan(START)
    debugger.backend.start()
    debugger.backend.code_seen(info)
    _supervise(debugger, code, main)


def _installed(debugger: Debugger, origin: str) -> str:
    """Look for launches of the PyKokkos that will be imported; what to say of it."""
    from pkdb_tui.engine.debuggee.frameworks import pykokkos_known
    from pkdb_tui.engine.debuggee.frameworks.pykokkos import PyKokkosAdapter

    if not debugger.dispatch.knows("pykokkos"):
        debugger.dispatch.add(PyKokkosAdapter(debugger.dispatch.tell))
    return pykokkos_known.detail(Path(origin).parent)


def _supervise(debugger: Debugger, code: CodeType, main: ModuleType) -> None:
    status: Any = 0
    try:
        execute(code, main.__dict__)
    except SystemExit as error:
        debugger.tracer.plans.pop(debugger.main, None)
        status = error.code
        debugger.ending({"status": status if isinstance(status, int) else 1 if status else 0})
        raise
    except BaseException as error:  # noqa: BLE001 - whatever the program didn't catch
        _report(debugger, error, stop=True)
    debugger.tracer.plans.pop(debugger.main, None)
    debugger.ending({"status": 0})


def _trim(error: BaseException) -> None:
    """Take the debugger's frames out of the traceback: it reads as without a debugger."""
    kept: list[TracebackType] = []
    trace = error.__traceback__
    while trace is not None:
        if not is_own(trace.tb_frame.f_code.co_filename):
            kept.append(trace)
        trace = trace.tb_next
    for outer, inner in itertools.pairwise([*kept, None]):
        if outer is not None:
            outer.tb_next = inner
    error.__traceback__ = kept[0] if kept else None


def _report(debugger: Debugger, error: BaseException, *, stop: bool = False) -> NoReturn:
    """Show the exception where it happened, then end as the interpreter would."""
    _trim(error)
    body = exception_body(error, error.__traceback__)
    debugger.tracer.plans.pop(debugger.main, None)
    if stop:
        debugger.post_mortem(error, body)
    debugger.ending({"exception": body})
    sys.excepthook(type(error), error, error.__traceback__)
    if isinstance(error, KeyboardInterrupt):
        sys.excepthook = lambda *_: None
        raise KeyboardInterrupt
    sys.exit(1)
