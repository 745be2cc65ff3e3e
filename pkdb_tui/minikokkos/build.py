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
from dataclasses import dataclass
from pathlib import Path

from pkdb_tui.minikokkos import cache
from pkdb_tui.minikokkos.errors import CompileError

INCLUDE = Path(__file__).parent / "include"
COMMON = ("-std=c++17", "-shared", "-fPIC", "-fopenmp", "-fvisibility=hidden", "-w", "-pipe")
RELEASE = ("-O3", "-g1")
DEBUG = ("-O0", "-g", "-fno-omit-frame-pointer", "-DPK_DEBUG")
BOUNDS = ("-DPK_BOUNDS",)
_REMEDY = "Install one (Debian/Ubuntu: apt install g++) or name it in the environment variable CXX."

_libraries: dict[str, ctypes.CDLL] = {}


@dataclass(frozen=True)
class Built:
    """A loaded kernel library; `seconds` were spent compiling, 0 when it came from the cache."""

    path: str
    library: ctypes.CDLL
    seconds: float


def build(source: str, flags: tuple[str, ...]) -> Built:
    """Compile, or take from the cache, and load. Raises CompileError."""
    compiler = _compiler()
    key = hashlib.sha256("\0".join([source, *flags, *COMMON, *compiler, _header()]).encode()).hexdigest()[:32]
    folder = cache.cache_folder()
    path = folder / f"{key}.so"
    known = _libraries.get(str(path))
    if known is not None:
        return Built(str(path), known, 0.0)
    with cache.used(folder):
        if path.exists():
            cache.touch(path)
            return _loaded(path, 0.0)
    begun = time.perf_counter()
    try:
        with cache.used(folder):
            path = _compile(folder, path.name, source, (*COMMON, *flags), compiler[0])
            return _loaded(path, time.perf_counter() - begun)
    finally:
        cache.trim(folder, keep=path)


def _loaded(path: Path, seconds: float) -> Built:
    library = _libraries[str(path)] = ctypes.CDLL(str(path))
    return Built(str(path), library, seconds)


def _header() -> str:
    return (INCLUDE / "pk_runtime.hpp").read_text()


def _compiler() -> tuple[str, ...]:
    """Its path and what tells one version from another."""
    wanted = os.environ.get("CXX")
    for name in [wanted] if wanted else ["g++", "c++", "clang++"]:
        found = shutil.which(name)
        if found:
            state = os.stat(os.path.realpath(found))
            return found, str(state.st_size), str(state.st_mtime_ns)
    named = f"The C++ compiler {wanted} named by CXX was not found." if wanted else "No C++ compiler was found."
    raise CompileError(f"{named} {_REMEDY}")


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
        match = re.match(r"(.*?):(\d+):(?:\d+:)? (?:fatal )?error: (.*)", line)
        if match:
            file, number, text = match[1], int(match[2]), match[3]
            message = f"{Path(compiler).name} refuses the kernel: {text}"
            return CompileError(message, file, number) if file.endswith(".py") else CompileError(f"{message} ({file})")
    return CompileError(f"{Path(compiler).name} failed: {output.strip() or 'it said nothing'}")
