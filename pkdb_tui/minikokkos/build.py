"""Compiling kernels with the system's C++ compiler, and the cache of what was compiled."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

from pkdb_tui.minikokkos.errors import CompileError

INCLUDE = Path(__file__).parent / "include"
COMMON = ("-std=c++17", "-shared", "-fPIC", "-fopenmp", "-fvisibility=hidden", "-w", "-pipe")
RELEASE = ("-O3", "-g1")
DEBUG = ("-O0", "-g", "-fno-omit-frame-pointer", "-DPK_DEBUG")
BOUNDS = ("-DPK_BOUNDS",)
LIMIT_MIB = 256
_REMEDY = "Install one (Debian/Ubuntu: apt install g++) or name it in the environment variable CXX."

_libraries: dict[str, ctypes.CDLL] = {}
_folder: Path | None = None


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
    folder = cache_folder()
    path = folder / f"{key}.so"
    seconds = 0.0
    known = _libraries.get(str(path))
    if known is not None:
        return Built(str(path), known, 0.0)
    if path.exists():
        _touch(path)
    else:
        begun = time.perf_counter()
        path = _compile(folder, path.name, source, (*COMMON, *flags), compiler[0])
        seconds = time.perf_counter() - begun
        _trim(folder, keep=path)
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


def cache_folder() -> Path:
    """Where compiled kernels are kept: PKDB_CACHE or the user's cache, a temporary folder where it isn't writable."""
    global _folder
    wanted = _wanted_folder()
    if _folder is not None and (_folder == wanted or not os.access(wanted, os.W_OK)):
        return _folder
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=wanted):
            pass
        _folder = wanted
    except OSError as error:
        _fall_back(wanted, error)
    assert _folder is not None
    return _folder


def _wanted_folder() -> Path:
    given = os.environ.get("PKDB_CACHE")
    if given:
        return Path(given) / "kernels"
    import platformdirs

    return Path(platformdirs.user_cache_dir("pkdb-tui")) / "kernels"


def _fall_back(wanted: Path, error: OSError) -> Path:
    global _folder
    _folder = Path(tempfile.mkdtemp(prefix="pkdb-kernels-"))
    warnings.warn(
        f"The kernel cache {wanted} can't be written ({error.strerror}): kernels are compiled into {_folder} and not "
        "kept. Set PKDB_CACHE to a folder that can be written.",
        RuntimeWarning,
        stacklevel=2,
    )
    import atexit

    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    return _folder


def _compile(folder: Path, name: str, source: str, flags: tuple[str, ...], compiler: str) -> Path:
    """The library's path; it appears there whole or not at all."""
    try:
        return _compile_in(folder, name, source, flags, compiler)
    except OSError as error:
        if str(folder).startswith(tempfile.gettempdir()) and "pkdb-kernels-" in folder.name:
            raise CompileError(f"The kernel can't be written to {folder}: {error.strerror}.") from error
        return _compile(_fall_back(folder, error), name, source, flags, compiler)


def _compile_in(folder: Path, name: str, source: str, flags: tuple[str, ...], compiler: str) -> Path:
    text = folder / f"{Path(name).stem}.cpp"
    own = tempfile.mkdtemp(prefix="building-", dir=folder)
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


def _touch(path: Path) -> None:
    """Mark as used now; a cache that can only be read keeps its order."""
    try:
        os.utime(path)
    except OSError:
        return


def _trim(folder: Path, keep: Path) -> None:
    """Delete what was not used for longest until the cache is within its bound."""
    limit = float(os.environ.get("PKDB_CACHE_MIB", LIMIT_MIB)) * 2**20
    entries = []
    for path in folder.glob("*.so"):
        try:
            state = path.stat()
        except FileNotFoundError:  # another process trims too
            continue
        entries.append((state.st_mtime, state.st_size, path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= limit:
            return
        if path != keep:
            path.unlink(missing_ok=True)
            path.with_suffix(".cpp").unlink(missing_ok=True)
            total -= size
