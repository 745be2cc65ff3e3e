"""The cache of compiled kernels: where it is, who uses it, and what is deleted from it.

`KEY.cpp` and `KEY.so` belong together; `building-*` are folders of compilers at work. Whoever compiles or loads holds
the lock shared, whoever deletes holds it alone, so that nothing goes that another process is about to use.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pkdb_tui.cache_bound import cache_bound

LIMIT_MIB = 256
BUILDING = "building-"
LOCK = "lock"

_folder: Path | None = None


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
        fall_back(wanted, error)
    assert _folder is not None
    return _folder


def _wanted_folder() -> Path:
    given = os.environ.get("PKDB_CACHE")
    if given:
        return Path(given) / "kernels"
    import platformdirs

    return Path(platformdirs.user_cache_dir("pkdb-tui")) / "kernels"


def fall_back(wanted: Path, error: OSError) -> Path:
    """A temporary folder from now on, as this one can't be written to; a warning says so."""
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


@contextmanager
def used(folder: Path) -> Iterator[None]:
    """Nothing is deleted from the cache meanwhile."""
    with _lock(folder, fcntl.LOCK_SH):
        yield


@contextmanager
def _lock(folder: Path, how: int) -> Iterator[bool]:
    """Whether the lock was got: always, unless it is asked for without waiting; False where it can't be opened."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        yield False  # a folder that can only be read: nobody deletes from it
        return
    try:
        try:
            fcntl.flock(descriptor, how)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def touch(path: Path) -> None:
    """Mark as used now; a cache that can only be read keeps its order."""
    try:
        os.utime(path)
    except OSError:
        return


def trim(folder: Path, keep: Path) -> None:
    """Delete what builds that failed or were killed left, and what was not used for longest beyond the bound.

    While another process compiles nothing is deleted: it does so itself when it is done.
    """
    with _lock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB) as alone:
        if alone:
            _delete_left(folder)
            _delete_oldest(folder, keep, cache_bound(LIMIT_MIB))


def _delete_left(folder: Path) -> None:
    for path in folder.glob(f"{BUILDING}*"):
        shutil.rmtree(path, ignore_errors=True)  # it may be another user's, in a cache that is shared
    for path in folder.glob("*.cpp"):
        if not path.with_suffix(".so").exists():
            _delete(path)


def _delete_oldest(folder: Path, keep: Path, limit: float) -> None:
    entries = []
    for path in folder.glob("*.so"):
        state, source = path.stat(), path.with_suffix(".cpp")
        entries.append((state.st_mtime, state.st_size + (source.stat().st_size if source.exists() else 0), path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= limit:
            return
        if path != keep:
            _delete(path)
            _delete(path.with_suffix(".cpp"))
            total -= size


def _delete(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        return  # another user's, in a cache that is shared
