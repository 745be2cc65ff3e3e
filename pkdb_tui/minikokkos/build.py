"""Compiling kernels with the system's C++ compiler, and loading them."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pkdb_tui.minikokkos import cache, cuda
from pkdb_tui.minikokkos.errors import CompileError

INCLUDE = Path(__file__).parent / "include"
BOUNDS = ("-DPK_BOUNDS",)
_REMEDY = "Install one (Debian/Ubuntu: apt install g++) or name it in the environment variable CXX."

_T = TypeVar("_T")
_libraries: dict[str, ctypes.CDLL] = {}


@dataclass(frozen=True)
class Built:
    """A loaded kernel library; `seconds` were spent compiling, 0 when it came from the cache."""

    path: str
    library: ctypes.CDLL
    seconds: float


@dataclass(frozen=True)
class Toolchain:
    """A compiler's flags for all builds, for optimised ones and for debug ones; `find` names it and its version."""

    find: Callable[[], tuple[str, ...]]
    common: tuple[str, ...]
    release: tuple[str, ...]
    debug: tuple[str, ...]


def build(source: str, flags: tuple[str, ...], tools: Toolchain | None = None) -> Built:
    """Compile, or take from the cache, and load. Raises CompileError."""
    return _built(source, flags, tools or HOST, _loaded)


def compile_only(source: str, flags: tuple[str, ...], tools: Toolchain) -> None:
    """Have a later `build` find it in the cache. Raises CompileError."""
    _built(source, flags, tools, lambda path, seconds: None)


def _built(source: str, flags: tuple[str, ...], tools: Toolchain, then: Callable[[Path, float], _T]) -> _T | Built:
    compiler, common = tools.find(), tools.common
    key = hashlib.sha256("\0".join([source, *flags, *common, *compiler, _headers()]).encode()).hexdigest()[:32]
    folder = cache.cache_folder()
    path = folder / f"{key}.so"
    known = _libraries.get(str(path))
    if known is not None:
        return Built(str(path), known, 0.0)
    with cache.used(folder):
        if path.exists():
            cache.touch(path)
            return then(path, 0.0)
    begun = time.perf_counter()
    try:
        with cache.used(folder):
            path = _compile(folder, path.name, source, (*common, *flags), compiler[0])
            return then(path, time.perf_counter() - begun)
    finally:
        cache.trim(folder, keep=path)


def _loaded(path: Path, seconds: float) -> Built:
    library = _libraries[str(path)] = ctypes.CDLL(str(path))
    return Built(str(path), library, seconds)


def _headers() -> str:
    return "\0".join(path.read_text() for path in sorted(INCLUDE.glob("*.hpp")))


def _compiler() -> tuple[str, ...]:
    """Its path and what tells one version from another."""
    wanted = os.environ.get("CXX")
    for name in [wanted] if wanted else ["g++", "c++", "clang++"]:
        found = shutil.which(name)
        if found:
            return identity(found)
    named = f"The C++ compiler {wanted} named by CXX was not found." if wanted else "No C++ compiler was found."
    raise CompileError(f"{named} {_REMEDY}")


def identity(compiler: str) -> tuple[str, ...]:
    state = os.stat(os.path.realpath(compiler))
    return compiler, str(state.st_size), str(state.st_mtime_ns)


HOST = Toolchain(
    find=_compiler,
    common=("-std=c++17", "-shared", "-fPIC", "-fopenmp", "-fvisibility=hidden", "-w", "-pipe"),
    release=("-O3", "-g1"),
    debug=("-O0", "-g", "-fno-omit-frame-pointer", "-DPK_DEBUG"),
)


def for_device() -> Toolchain:
    """nvcc for the device in use, with the host compiler of CXX. Raises DeviceError."""
    host = ("-ccbin", os.environ["CXX"]) if os.environ.get("CXX") else ()
    return device_toolchain(cuda.architecture(), host)


def device_toolchain(architecture: str, host: tuple[str, ...] = ()) -> Toolchain:
    return Toolchain(
        find=lambda: identity(cuda.nvcc()),
        common=(
            *("-x", "cu", "-std=c++17", architecture, "-shared", "--expt-relaxed-constexpr", "-w", *host),
            *("-Xcompiler", "-fPIC,-fvisibility=hidden,-w"),
        ),
        release=("-O3", "-lineinfo"),
        debug=("-O0", "-g", "-G", "-DPK_DEBUG"),
    )


def _compile(folder: Path, name: str, source: str, flags: tuple[str, ...], compiler: str) -> Path:
    """The library's path; it appears there whole or not at all."""
    try:
        return _compile_in(folder, name, source, flags, compiler)
    except OSError as error:
        if str(folder).startswith(tempfile.gettempdir()) and "pkdb-kernels-" in folder.name:
            raise CompileError(
                f"The kernel can't be written to {folder}: {error.strerror}. Make room there, or set PKDB_CACHE to a "
                "folder that has some."
            ) from error
        return _compile(cache.fall_back(folder, error), name, source, flags, compiler)


def _compile_in(folder: Path, name: str, source: str, flags: tuple[str, ...], compiler: str) -> Path:
    text = folder / f"{Path(name).stem}.cpp"
    own = tempfile.mkdtemp(prefix=cache.BUILDING, dir=folder)
    try:
        part = Path(own) / text.name
        part.write_text(source)
        os.replace(part, text)
        made = Path(own) / name
        command = [compiler, *flags, f"-I{INCLUDE}", str(text), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        if done.returncode:
            if "No space left on device" in done.stderr:
                raise OSError(28, "No space left on device")
            raise _explained(done.stderr, compiler)
        os.replace(made, folder / name)
    finally:
        shutil.rmtree(own, ignore_errors=True)
    return folder / name


def _explained(output: str, compiler: str) -> CompileError:
    """The compiler's first error, at its Python line where it has one."""
    for line in output.splitlines():
        match = re.match(r"(.*?):(\d+):(?:\d+:)? (?:fatal )?error: (.*)", line) or re.match(
            r"(.*?)\((\d+)\): (?:fatal |catastrophic )?error(?: #[\w-]+)?: (.*)", line
        )
        if match:
            file, number, text = match[1], int(match[2]), match[3]
            message = f"{Path(compiler).name} refuses the kernel: {text}"
            return CompileError(message, file, number) if file.endswith(".py") else CompileError(f"{message} ({file})")
    return CompileError(f"{Path(compiler).name} failed: {output.strip() or 'it said nothing'}")
