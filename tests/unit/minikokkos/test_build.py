"""The cache of compiled kernels, and processes that use it at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pkdb_tui.minikokkos as pk
from pkdb_tui.minikokkos import cache
from pkdb_tui.minikokkos.errors import CompileError

PROGRAM = """
import sys
import numpy as np
import pykokkos as pk


@pk.workunit
def work(i: int, x: pk.View1D[pk.double]):
    x[i] = i + {value}


x = np.zeros(3)
pk.parallel_for(3, work, x=x)
print(__name__, sys.argv[1:], x.tolist())
"""


def kinds(folder: Path) -> list[str]:
    """What lies in the cache, its lock aside."""
    return sorted(path.suffix or path.name.partition("-")[0] for path in folder.iterdir() if path.name != cache.LOCK)


def _start(script: Path, place: Path, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pkdb_tui.minikokkos", str(script), *arguments]
    environment = {**os.environ, "PKDB_CACHE": str(place), **variables}
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_processes_that_compile_the_same_kernel_at_once(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.format(value=1))
    place = tmp_path / "cache"
    running = [_start(script, place, "a", "-b") for _ in range(4)]
    for process in running:
        output, errors = process.communicate(timeout=60)
        assert (output, errors) == ("__main__ ['a', '-b'] [1.0, 2.0, 3.0]\n", "")
    assert kinds(place / "kernels") == [".cpp", ".so"]


def test_edited_source_is_compiled_anew(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    for value, expected in ((1, "[1.0, 2.0, 3.0]"), (5, "[5.0, 6.0, 7.0]")):
        script.write_text(PROGRAM.format(value=value))
        output, _ = _start(script, tmp_path).communicate(timeout=60)
        assert output.strip().endswith(expected)
    assert len(list(tmp_path.glob("kernels/*.so"))) == 2


def _work(load: Any, value: int) -> Any:
    return load(f"@pk.workunit\ndef work(i: int, x: pk.View1D[pk.double]):\n    x[i] = {value}\n").work


def test_a_folder_that_can_not_be_written(load: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("PKDB_CACHE", str(blocked))
    monkeypatch.setattr(cache, "_folder", None)
    x = np.zeros(1)
    with pytest.warns(RuntimeWarning, match=r"The kernel cache .* can't be written .* Set PKDB_CACHE to a folder"):
        pk.parallel_for(1, _work(load, 11), x=x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pk.parallel_for(1, _work(load, 12), x=x)
    assert x[0] == 12


def test_the_cache_is_bounded_and_what_was_used_last_stays(load: Any, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("PKDB_CACHE", str(tmp_path))
    monkeypatch.setattr(cache, "_folder", None)
    folder = tmp_path / "kernels"
    x = np.zeros(1)
    pk.parallel_for(1, _work(load, 21), x=x)
    (first,) = folder.glob("*.so")
    os.utime(first, (1, 1))
    pk.parallel_for(1, _work(load, 22), x=x)
    (second,) = set(folder.glob("*.so")) - {first}
    monkeypatch.setenv("PKDB_CACHE_MIB", str(2.5 * second.stat().st_size / 2**20))
    pk.parallel_for(1, _work(load, 23), x=x)
    assert not first.exists()
    assert not first.with_suffix(".cpp").exists()
    assert second.exists()
    assert len(list(folder.glob("*.so"))) == 2


GATED = """#!/bin/sh
touch {begun}
while [ ! -e {gate} ]; do sleep 0.01; done
exec g++ "$@"
"""


class Compiling:
    """A process in the middle of a compilation, which goes on when `gate` is there."""

    def __init__(self, folder: Path, value: int) -> None:
        self.place = folder / "cache"
        self.gate, begun, compiler = folder / "gate", folder / "begun", folder / "slow"
        compiler.write_text(GATED.format(begun=begun, gate=self.gate))
        compiler.chmod(0o755)
        (folder / "slow.py").write_text(PROGRAM.format(value=value))
        self.process = _start(folder / "slow.py", self.place, CXX=str(compiler))
        deadline = time.monotonic() + 30
        while not begun.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)


def _run(folder: Path, place: Path, value: int, **variables: str) -> str:
    script = folder / f"quick{value}.py"
    script.write_text(PROGRAM.format(value=value))
    output, errors = _start(script, place, **variables).communicate(timeout=60)
    assert errors == ""
    return output


def test_what_a_killed_compilation_left_goes_with_the_next(tmp_path: Path) -> None:
    killed = Compiling(tmp_path, 1)
    killed.process.kill()
    killed.process.communicate()
    assert kinds(killed.place / "kernels") == [".cpp", "building"]
    try:
        _run(tmp_path, killed.place, 2)
        assert kinds(killed.place / "kernels") == [".cpp", ".so"]
    finally:
        killed.gate.touch()  # lets its compiler end


def test_what_another_process_compiles_stays(tmp_path: Path) -> None:
    slow = Compiling(tmp_path, 1)
    for value in (2, 3):
        assert "[" in _run(tmp_path, slow.place, value, PKDB_CACHE_MIB="0")
    slow.gate.touch()
    output, errors = slow.process.communicate(timeout=60)
    assert (output, errors) == ("__main__ [] [1.0, 2.0, 3.0]\n", "")
    _run(tmp_path, slow.place, 4, PKDB_CACHE_MIB="0")
    assert kinds(slow.place / "kernels") == [".cpp", ".so"]


def test_a_kernel_that_the_compiler_refuses_leaves_nothing(load: Any, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("PKDB_CACHE", str(tmp_path))
    monkeypatch.setattr(cache, "_folder", None)
    compiler = tmp_path / "refuses"
    compiler.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    with pytest.raises(CompileError, match="refuses failed: no"):
        pk.parallel_for(1, _work(load, 41), x=np.zeros(1))
    assert kinds(tmp_path / "kernels") == []


def test_a_ten_line_kernel_compiles_within_a_second_and_launches_fast(load: Any) -> None:
    body = "".join(f"    x[i] = x[i] * {n}.5 + i\n" for n in range(10))
    work = load(f"@pk.workunit\ndef work(i: int, x: pk.View1D[pk.double]):\n{body}").work
    policy, x = pk.RangePolicy(pk.Serial, 0, 1), np.zeros(1)
    pk.parallel_for(policy, _work(load, 31), x=x)
    begun = time.perf_counter()
    pk.parallel_for(policy, work, x=x)
    first = time.perf_counter() - begun
    begun = time.perf_counter()
    for _ in range(1000):
        pk.parallel_for(policy, work, x=x)
    # Ten times the targets: this guards against a lost fast path, the figures themselves are benchmarks.
    assert first < 10
    assert (time.perf_counter() - begun) / 1000 < 500e-6


def test_a_kernel_can_crash(tmp_path: Path) -> None:
    script = tmp_path / "crash.py"
    text = PROGRAM.format(value=1).replace("x[i] = i + 1", "x[i + 4000000000 * (i + 1)] = 1")
    script.write_text(text.replace("i: int", "i: pk.int64"))
    process = _start(script, tmp_path)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGSEGV
