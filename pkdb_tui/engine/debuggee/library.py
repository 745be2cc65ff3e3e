"""Gives the debugger's code in the program builtins and library modules that the program can't replace under it.

A program may replace `builtins.open`, `time.time` or `os.read` for itself, as tests and simulations do. Functions find
their builtins through the `__builtins__` of their module, and what they import through the `__import__` in it: modules
of this package are given a dictionary of their own there before they run. Its `__import__` hands out

* of the library modules in COPIED, which run Python code at a stop, copies that are run in the same way;
* of those in KEPT, which are C or hold state of the process, modules with the contents that they have at first sight;
  those of the C module below, where that is enough;
* of `sys` its functions alone, as what else is in it changes;
* everything else as it is: what the program is to share, and what hardly ever runs at a stop.

No place that calls anything has to know of it.
"""

from __future__ import annotations

import _thread
import builtins
import importlib.machinery
import importlib.util
import linecache
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import BuiltinFunctionType, ModuleType
from typing import Any

BUILTINS: dict[str, Any] = dict(vars(builtins))
globals()["__builtins__"] = BUILTINS  # for the functions below as well
PACKAGE = __name__.rpartition(".")[0]
HIDDEN = __name__ + "."  # before the names of copies, which stand in sys.modules only while they are run
LIBRARY = os.path.dirname(os.__file__)
COPIED = frozenset((
    "_colorize", "ast", "base64", "contextlib", "copyreg", "dis", "enum", "genericpath", "json", "linecache",
    "posixpath", "re", "stat", "struct", "textwrap", "tokenize", "traceback",
))  # fmt: skip
KEPT = {
    name: name
    for name in (
        "_thread", "atexit", "collections", "fcntl", "gc", "io", "itertools", "math", "os", "resource", "select",
        "threading", "time",
    )
} | {"queue": "_queue", "signal": "_signal", "socket": "_socket"}  # fmt: skip
HOOKS = frozenset(("breakpointhook", "displayhook", "excepthook", "unraisablehook"))  # which are there to be replaced

_stock = builtins.__import__
_found: dict[str, ModuleType] = {}
_lock = _thread.RLock()


def load(name: str) -> ModuleType:
    """A module of this package, run with builtins of its own."""
    module = _own(name)
    assert module is not None
    return module


def _import(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    """What `import` means in modules that were given BUILTINS."""
    if isinstance(fromlist, list):  # it is C that asks, and looks into sys.modules next
        return _stock(name, globals, locals, fromlist, level)
    full = _absolute(name, globals or {}, level)
    module = _own(full)
    if module is None and fromlist:
        shared = sys.modules.get(full)  # the import system runs Python code with the program's builtins, so not always
        if shared is not None and all(each in shared.__dict__ for each in fromlist):
            return shared
    if module is None:
        return _stock(name, globals, locals, fromlist or (), level)
    if not fromlist:
        top = full.partition(".")[0]
        return module if top == full else _own(top) or sys.modules[top]
    for each in fromlist:
        if each != "*" and not hasattr(module, each):
            _own(f"{full}.{each}")
    return module


def _absolute(name: str, globals: Mapping[str, Any], level: int) -> str:
    if not level:
        return name
    package = str(globals["__package__"]).removeprefix(HIDDEN)
    base = package.rsplit(".", level - 1)[0] if level > 1 else package
    return f"{base}.{name}" if name else base


def _own(full: str) -> ModuleType | None:
    """The module that the debugger gets for a name; None for one that it shares with the program."""
    top = full.partition(".")[0]
    if full in _found:
        return _found[full]
    with _lock:
        if full in _found:
            return _found[full]
        if full == PACKAGE or full.startswith(PACKAGE + "."):
            return sys.modules.get(full) or _load_own(full)
        if full == "sys":
            return _found.setdefault(full, _Sys())
        if top in COPIED:
            return _copy(full)
        return _keep(full) if full in KEPT else None


def _load_own(full: str) -> ModuleType:
    above, _, last = full.rpartition(".")
    parent = load(above)
    spec = PathFinder.find_spec(full, parent.__path__)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {full!r}", name=full)
    module = _module(full, full, spec)
    setattr(parent, last, module)
    return module


def _copy(full: str) -> ModuleType | None:
    above, _, last = full.rpartition(".")
    parent = _own(above) if above else None
    spec = PathFinder.find_spec(HIDDEN + full, [LIBRARY] if parent is None else list(parent.__path__))
    if spec is None or not isinstance(spec.loader, SourceFileLoader):
        return None  # an interpreter without the library's sources: shared
    try:
        module = _module(full, HIDDEN + full, spec)
    finally:
        sys.modules.pop(HIDDEN + full, None)
    if parent is not None:
        setattr(parent, last, module)
    if full == "linecache":
        module.cache = linecache.cache  # type: ignore[attr-defined] # lines that the program put there are shown, too
    return module


def _module(known: str, name: str, spec: ModuleSpec) -> ModuleType:
    """Run a module's code with BUILTINS."""
    module = importlib.util.module_from_spec(spec)
    module.__dict__["__builtins__"] = BUILTINS
    sys.modules[name] = _found[known] = module
    try:
        assert spec.loader is not None
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name], _found[known]
        raise
    return module


def _keep(full: str) -> ModuleType:
    """A module with what the real one holds now."""
    real = _stock(KEPT[full])
    kept = _found[full] = ModuleType(full, real.__doc__)
    kept.__dict__.update(vars(real))
    if full == "os":
        kept.path = _own("posixpath") or real.path  # type: ignore[attr-defined]
    return kept


class _Sys(ModuleType):
    """`sys` with the functions that it has now."""

    def __init__(self) -> None:
        super().__init__("sys")
        functions = {n: f for n, f in vars(sys).items() if isinstance(f, BuiltinFunctionType) and n not in HOOKS}
        # As a module's own, not the class's: with that, each function would take four times as long to be found.
        self.__dict__.update(functions, __getattr__=lambda name: getattr(sys, name))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(sys, name, value)


BUILTINS["__import__"] = _import
