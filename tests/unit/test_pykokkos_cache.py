"""The cache of PyKokkos' debug builds: bounded, and never emptied under a process that uses it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pkdb_tui.engine.debuggee.frameworks import pykokkos_cache as cache

ROOT = Path(__file__).parents[2]
MIB = 2**20
HEAD = """import sys
from pathlib import Path
from pkdb_tui.engine.debuggee.frameworks import pykokkos_cache as cache
"""


def made(folder: Path, name: str, size: int, age: int) -> Path:
    """A folder of the cache that a process which is gone used `age` seconds after 1970."""
    place = folder / name
    (place / "kernel" / "OpenMP").mkdir(parents=True)
    (place / "kernel" / "OpenMP" / "kernel.so").write_bytes(bytes(size))
    (place / cache.USERS).touch()
    os.utime(place / cache.USERS, (age, age))
    return place


@contextmanager
def user(place: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that uses a folder of the cache."""
    program = f"{HEAD}cache.use(Path(sys.argv[1])); print('used', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", program, str(place)]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "used\n"
        yield process


def test_what_was_not_used_for_longest_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PKDB_CACHE_MIB", "2.5")
    for age in (3, 1, 2, 4):
        made(tmp_path, f"key{age}", MIB, age)
    cache.trim(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["key3", "key4"]


def test_what_a_process_uses_stays_until_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PKDB_CACHE_MIB", "0")
    used, other = made(tmp_path, "used", MIB, 1), made(tmp_path, "other", MIB, 2)
    with user(used):
        cache.trim(tmp_path)
        assert (used.exists(), other.exists()) == (True, False)
        assert (used / "kernel" / "OpenMP" / "kernel.so").stat().st_size == MIB
    cache.trim(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_using_marks_as_used_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PKDB_CACHE_MIB", "1.5")
    again, other = made(tmp_path, "again", MIB, 1), made(tmp_path, "other", MIB, 2)
    with user(again):
        pass
    cache.trim(tmp_path)
    assert (again.exists(), other.exists()) == (True, False)


def test_users_and_deleters_at_once_never_lose_a_folder_in_use(tmp_path: Path) -> None:
    """Each user finds its folder there as long as it runs, however often others delete."""
    using = (
        f"{HEAD}place = Path(sys.argv[1]) / 'key'; cache.use(place); (place / sys.argv[2]).write_text('x')\n"
        "[cache.trim(place.parent) for _ in range(20)]; assert (place / sys.argv[2]).read_text() == 'x'"
    )
    deleting = f"{HEAD}[cache.trim(Path(sys.argv[1])) for _ in range(500)]"
    environment = {**os.environ, "PKDB_CACHE_MIB": "0"}

    def run(program: str, *more: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", program, str(tmp_path), *more], cwd=ROOT, env=environment)

    running = [run(deleting) for _ in range(2)] + [run(using, str(number)) for number in range(8)]
    assert [process.wait(60) for process in running] == [0] * 10


def test_what_a_killed_deletion_left_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PKDB_CACHE_MIB", "0")
    left = made(tmp_path, f"{cache.GONE}1-key", MIB, 1)
    (left / cache.USERS).unlink()
    cache.trim(tmp_path)
    assert list(tmp_path.iterdir()) == []
