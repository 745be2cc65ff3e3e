"""The cache of debug builds of PyKokkos' kernels: a folder a key, which stays while a process uses it.

A process that uses a folder holds the lock on its `users` file shared, until it ends; whoever deletes it holds that
lock alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from pkdb_tui.cache_bound import cache_bound
from pkdb_tui.engine.debuggee.wire import move_high

LIMIT_MIB = 1024
USERS, LOCK = "users", "lock"
GONE = "gone-"  # what the name of a folder that is being deleted begins with


def cache_directory() -> Path:
    """Where debug builds live: under PKDB_CACHE, XDG_CACHE_HOME or ~/.cache."""
    explicit = os.environ.get("PKDB_CACHE")
    base = Path(explicit) if explicit else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pkdb-tui"
    return base / "pykokkos"


def use(directory: Path) -> None:
    """Make a folder of the cache and keep it there until this process ends."""
    while True:
        directory.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(directory / USERS, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:
            continue  # deleted in between
        descriptor = move_high(descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        if _is_at(directory / USERS, descriptor):
            os.utime(descriptor)
            return
        os.close(descriptor)


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether what is open is still the file of that name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def locked(directory: Path) -> Iterator[None]:
    """One process at a time builds in a directory; PyKokkos itself deletes and rewrites it in place."""
    with open(directory / LOCK, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def trim(cache: Path) -> None:
    """Delete the folders that were not used for longest until the cache is within its bound."""
    limit = cache_bound(LIMIT_MIB)
    folders = [path for path in cache.iterdir() if path.is_dir()]
    sizes = {path: _size(path) for path in folders}
    total = sum(sizes.values())
    for path in sorted(folders, key=_used):
        if total <= limit:
            return
        if _delete_unused(path):
            total -= sizes[path]


def _size(folder: Path) -> int:
    found = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # a compiler at work, or one that deletes
                found += os.lstat(os.path.join(place, name)).st_size
    return found


def _used(folder: Path) -> float:
    for path in (folder / USERS, folder):
        with contextlib.suppress(FileNotFoundError):
            return path.stat().st_mtime
    return 0.0


def _delete_unused(folder: Path) -> bool:
    try:
        descriptor = os.open(folder / USERS, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except (FileNotFoundError, PermissionError):
        return False  # deleted in between, or another user's
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        gone = folder.with_name(f"{GONE}{os.getpid()}-{folder.name}")
        folder.rename(gone)  # whoever wants to use it from now on makes it anew
        shutil.rmtree(gone, ignore_errors=True)
        return True
    finally:
        os.close(descriptor)
