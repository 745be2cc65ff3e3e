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
from pkdb_tui.minikokkos import build

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


def _start(script: Path, cache: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pkdb_tui.minikokkos", str(script), *arguments]
    environment = {**os.environ, "PKDB_CACHE": str(cache)}
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_processes_that_compile_the_same_kernel_at_once(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.format(value=1))
    cache = tmp_path / "cache"
    running = [_start(script, cache, "a", "-b") for _ in range(4)]
    for process in running:
        output, errors = process.communicate(timeout=60)
        assert (output, errors) == ("__main__ ['a', '-b'] [1.0, 2.0, 3.0]\n", "")
    assert sorted(path.suffix for path in (cache / "kernels").iterdir()) == [".cpp", ".so"]


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
    monkeypatch.setattr(build, "_folder", None)
    x = np.zeros(1)
    with pytest.warns(RuntimeWarning, match=r"The kernel cache .* can't be written .* Set PKDB_CACHE to a folder"):
        pk.parallel_for(1, _work(load, 11), x=x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pk.parallel_for(1, _work(load, 12), x=x)
    assert x[0] == 12


def test_the_cache_is_bounded_and_what_was_used_last_stays(load: Any, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("PKDB_CACHE", str(tmp_path))
    monkeypatch.setattr(build, "_folder", None)
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
