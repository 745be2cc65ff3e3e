"""Debug builds of PyKokkos kernels: -O0 -g, Python lines, bounds checks, in a cache of their own.

PyKokkos' cache under `pk_cpp`, its compiler object and its module table are never touched: a second `Runtime` with a
second `Compiler` translates and builds into our cache, whose directories are keyed by the text of the source files,
the flags, the compiler and the versions, so that an edited kernel is never served an old build.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pkdb_tui.engine.debuggee.frameworks import (
    pykokkos_cache,
    pykokkos_conditions,
    pykokkos_header,
    pykokkos_lines,
)
from pkdb_tui.engine.debuggee.frameworks.pykokkos_conditions import Compiled
from pkdb_tui.engine.debuggee.frameworks.pykokkos_errors import plain

BOUNDS_FLAG = "-DKOKKOS_ENABLE_DEBUG_BOUNDS_CHECK"

# Arguments as PyKokkos passes them: compiler, module, execution space, memory space, layout, real type,
# Kokkos lib and include directories, compute capability, library suffix, compiler path.
_SCRIPT = """#!/bin/bash
set -e
STANDARD=$(g++ -dM -E -DKOKKOS_MACROS_HPP "$8/KokkosCore_config.h" |
    sed -n 's/^#define KOKKOS_ENABLE_CXX\\([0-9][0-9]\\).*/\\1/p' | sort | tail -n 1)
SOURCE=$(find . -maxdepth 1 -name '*.cpp')
g++ -std=c++${{STANDARD:-17}} -O0 -g -fno-omit-frame-pointer -fopenmp -fPIC -shared -w \\
    {flags} $("{python}" -m pybind11 --includes) -I.. -isystem "$8" \\
    -DSPACE="$3" -Dpk_arg_memspace="$4" -Dpk_arg_layout="$5" -Dpk_exec_space="Kokkos::$3" -Dpk_real="$6" \\
    "$SOURCE" -o "$2" "$7/libkokkoscontainers${{10}}.so" "$7/libkokkoscore${{10}}.so"
"""

BINDINGS = "bindings.cpp"
UNLOCKED = "pybind11::gil_scoped_release pk_unlocked;"
_RUNS = re.compile(r"^(\w[\w:]* run(?:_\w+)?\([^()]*\) *\{)", re.MULTILINE)
_PYTHON_LINE = re.compile(
    r'^#line (\d+) "([^"\n]+\.py)"\n(?! *(?:KOKKOS_|template|struct|~|pk_functor_))', re.MULTILINE
)
_CONDITION = re.compile(r'^#line \d+ "([^"\n]+#pkdb\d+)"\n', re.MULTILINE)


class BuildError(Exception):
    """A kernel that doesn't translate or compile; `output` is what PyKokkos or the compiler said, without colours."""

    def __init__(self, output: str) -> None:
        self.output = plain(output)
        self.pkdb_text = self.output  # what to tell of it
        super().__init__(self.output)

    def about(self, origin: str) -> str:
        """The first thing a compiler said about a file, or nothing."""
        found = re.search(rf"{re.escape(origin)}:\d+:\d+: error: (.*)", self.output)
        return f"the C++ compiler says: {found.group(1)}" if found else ""


@functools.cache
def _compiler_version() -> bytes:
    return subprocess.run(["g++", "--version"], capture_output=True, check=False).stdout


def build_key(sources: list[str], flags: str) -> str:
    """A digest of everything a debug build depends on; `sources` are the files with the kernel's code."""
    from pykokkos.kokkos_manager import get_default_precision

    digest = hashlib.sha256()
    for path in sorted(set(sources)):
        digest.update(path.encode() + b"\0" + Path(path).read_bytes() + b"\0")
    settings = sorted((name, value) for name, value in os.environ.items() if name.startswith("PK_"))
    facts = (flags, _compiler_version(), _translator(), get_default_precision().__name__, sys.version, settings)
    digest.update(repr(facts).encode())
    return digest.hexdigest()[:24]


@functools.cache
def _translator() -> str:
    """A digest of what makes C++ of a kernel: PyKokkos' translator and what this package adds to it."""
    import pykokkos

    digest = hashlib.sha256(f"{UNLOCKED}{_SCRIPT}{pykokkos_header.TEXT}".encode())
    own = [Path(module.__file__ or "") for module in (pykokkos_lines, pykokkos_conditions)]
    for path in [*own, *sorted((Path(pykokkos.__file__).parent / "core").rglob("*.py"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


class _Building(threading.local):
    """What the patched parts of PyKokkos need to know while this thread makes a debug build."""

    directory: Path | None = None
    conditions: Mapping[tuple[str, int], Sequence[Compiled]] = {}


_building = _Building()


@contextlib.contextmanager
def _building_in(directory: Path, conditions: Sequence[Compiled]) -> Iterator[None]:
    previous = _building.directory, _building.conditions
    _building.directory, _building.conditions = directory, pykokkos_conditions.by_place(conditions)
    try:
        yield
    finally:
        _building.directory, _building.conditions = previous


_depth = threading.RLock()


@contextlib.contextmanager
def _nesting_deeper() -> Iterator[None]:
    """PyKokkos' translator calls itself for each part of an expression, and what this package adds calls between."""
    with _depth:  # one at a time: what one finds would be another's otherwise, and be left behind
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(3 * before)
        try:
            yield
        finally:
            if sys.getrecursionlimit() == 3 * before:  # else the program has set another one
                sys.setrecursionlimit(before)


def _before(place: tuple[str, int]) -> str:
    return pykokkos_conditions.written_before(_building.conditions.get(place, ()))


def without_lock(bindings: str) -> str:
    """The functions that launch let Python's lock go meanwhile: at a stop in the kernel Python can then be asked."""
    return _RUNS.sub(rf"\1 {UNLOCKED} ", bindings)


def holds_lock(module_file: str) -> bool:
    """Whether a build keeps Python's lock while its kernel runs."""
    return UNLOCKED not in (Path(module_file).parent / BINDINGS).read_text()


def _patch_places(core: Any) -> None:
    """Send the files of debug builds, and only theirs, to our directory and our compile script."""
    setup = core.module_setup.ModuleSetup
    stock_directory = setup.get_main_dir
    stock_init = core.cpp_setup.CppSetup.__init__
    stock_write = core.cpp_setup.CppSetup.write_raw_source

    def get_main_dir(main: Path) -> Path:
        return _building.directory if _building.directory is not None else stock_directory(main)

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        stock_init(self, *args, **kwargs)
        if _building.directory is not None:
            self.script_path = _building.directory / "compile.sh"

    def write_raw_source(self: Any, output_dir: Path, source: list[str], filename: str) -> None:
        if _building.directory is not None and filename == BINDINGS:
            source = [without_lock(text) for text in source]
        stock_write(self, output_dir, source, filename)

    core.cpp_setup.CppSetup.write_raw_source = write_raw_source
    setup.get_main_dir = staticmethod(get_main_dir)
    core.cpp_setup.CppSetup.__init__ = init


def _write_script(directory: Path, flags: str) -> None:
    script = directory / "compile.sh"
    if script.exists():
        return
    header = directory / pykokkos_header.NAME
    _write_whole(header, pykokkos_header.TEXT)
    flags += f" -include {shlex.quote(str(header))}"
    _write_whole(script, _SCRIPT.format(flags=flags, python=sys.executable))


def _write_whole(path: Path, text: str) -> None:
    """Executable, and never seen half written."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(text)
    draft.chmod(0o755)
    draft.replace(path)


def built_in(module_file: str) -> set[str]:
    """The source names of the conditions that a debug build carries."""
    directory = Path(module_file).parent
    sources = (directory.parent / "functor.hpp", directory / BINDINGS)
    return {name for source in sources for name in _CONDITION.findall(source.read_text())}


def lines_of(module_file: str) -> dict[str, list[int]]:
    """Kernel lines by Python file of a debug build, from the directives in its generated sources."""
    directory = Path(module_file).parent
    found: dict[str, set[int]] = {}
    for source in (directory.parent / "functor.hpp", directory / BINDINGS):
        for line, file in _PYTHON_LINE.findall(source.read_text()):
            found.setdefault(file, set()).add(int(line))
    return {file: sorted(lines) for file, lines in found.items()}


class DebugBuilds:
    """Runs launches on debug builds, made as needed; one private PyKokkos runtime per build key."""

    def __init__(self) -> None:
        from pykokkos.core import compiler, cpp_setup, cppast, module_setup, runtime, visitors

        self.core = type("core", (), {"cpp_setup": cpp_setup, "module_setup": module_setup})
        self._runtime_class = _runtime_class(runtime.Runtime, compiler.Compiler)
        self._runtimes: dict[str, Any] = {}
        pykokkos_lines.install(cppast, visitors, _before)
        _patch_places(self.core)

    def runtime(self, sources: list[str], flags: str, conditions: Sequence[Compiled] = ()) -> Any:
        """The private runtime for these sources, with these conditions compiled in."""
        said = " ".join(sorted(condition.digest for condition in conditions))
        key = build_key(sources, f"{flags} {said}".strip())
        if key not in self._runtimes:
            directory = pykokkos_cache.cache_directory() / key
            pykokkos_cache.use(directory)
            pykokkos_cache.trim(directory.parent)
            _write_script(directory, flags)
            self._runtimes[key] = self._runtime_class(directory, conditions)
        return self._runtimes[key]


def _compiler_class(base: Any) -> Any:
    class DebugCompiler(base):  # type: ignore[misc]
        def __init__(self, directory: Path) -> None:
            super().__init__()
            self.directory = directory

        def get_parser(self, path: str) -> Any:
            known = path in self.parser_cache
            parser = super().get_parser(path)
            if not known:
                pykokkos_lines.tag_tree(parser.tree, os.path.realpath(path))
            return parser

        def compile_object(self, module_setup: Any, *args: Any, **kwargs: Any) -> Any:
            output = Path(module_setup.output_dir)
            said = io.StringIO()
            with pykokkos_cache.locked(self.directory):
                if output.is_dir() and not Path(module_setup.path).exists():
                    shutil.rmtree(output)  # left by a build that failed or was killed
                try:
                    with contextlib.redirect_stdout(said):
                        return super().compile_object(module_setup, *args, **kwargs)
                except SystemExit as error:
                    self.is_compiled_cache.pop(module_setup.output_dir, None)
                    shutil.rmtree(output, ignore_errors=True)
                    message = error.code if isinstance(error.code, str) else ""
                    raise BuildError(f"{said.getvalue()}\n{message}") from None

    return DebugCompiler


class Captured(Exception):
    """Unwinds PyKokkos from the point where everything is built and the kernel would be called."""

    def __init__(self, entity: Any, members: Any, args: Any, module: Any) -> None:
        super().__init__("captured")
        self.entity = entity
        self.members = members
        self.arguments = args
        self.module = module


def _runtime_class(base: Any, compiler: Any) -> Any:
    debug_compiler = _compiler_class(compiler)

    class DebugRuntime(base):  # type: ignore[misc]
        """Builds and loads, and stops short of calling; `call` makes the call later."""

        def __init__(self, directory: Path, conditions: Sequence[Compiled]) -> None:
            super().__init__()
            self.directory = directory
            self.conditions = conditions
            self.compiler = debug_compiler(directory)
            self.fusion_strategy = None  # fusing is done when a launch gets here

        def capture(self, launch: Callable[[Any], Any]) -> Captured:
            """What `launch(self)` would call. Raises BuildError."""
            with _building_in(self.directory, self.conditions), _nesting_deeper():
                try:
                    launch(self)
                except Captured as captured:
                    return captured
            raise BuildError("PyKokkos finished this launch without calling a compiled kernel.")

        def call_wrapper(self, entity: Any, members: Any, args: Any, module: Any) -> Any:
            raise Captured(entity, members, args, module)

        def call(self, captured: Captured, *, parallel: bool) -> Any:
            """The launch itself; `parallel` when its space runs more than one thread."""
            getattr(ctypes.CDLL(captured.module.__file__), pykokkos_header.FILL)(int(parallel))
            entity, members, args = captured.entity, captured.members, captured.arguments
            result = super().call_wrapper(entity, members, args, captured.module)
            if not callable(entity) and not isinstance(entity, list):
                self.retrieve_results(entity, members, args)
                self.run_callbacks(entity, members)
            return result

    return DebugRuntime
