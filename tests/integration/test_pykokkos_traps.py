"""What an installed PyKokkos does without a word, told at the launch; its own files and settings stay as they are."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest
from runtimes import INSTALLED, PYKOKKOS, PYTHON, Run, debug

pytestmark = PYKOKKOS

HEAD = """import numpy as np
import pykokkos as pk


@pk.workunit
def fill(i: int, v: pk.View1D[pk.double]):
    t: float = 10.0 + i
    v[i] = t


S = pk.ExecutionSpace.OpenMP
p = pk.RangePolicy(S, 0, 4)
"""


def run(folder: Path, text: str, *commands: str) -> Run:
    script = folder / "program.py"
    if not script.exists() or script.read_text() != text:
        script.write_text(text)
    return debug(INSTALLED, script, *commands)


def told(done: Run) -> list[str]:
    return [line.removeprefix("warning: ") for line in done.starting("warning:")]


def contents(folder: Path) -> dict[str, str]:
    """Each file of PyKokkos' cache with the digest of what is in it and its time."""
    return {
        str(path.relative_to(folder)): f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mtime_ns}"
        for path in sorted((folder / "pk_cpp").rglob("*"))
        if path.is_file()
    }


def test_strides_that_will_be_ignored_are_told_with_the_argument(tmp_path: Path) -> None:
    text = HEAD + "a = np.zeros(8)\npk.parallel_for(p, fill, v=a[::2])\nprint(a.tolist())\n"
    done = run(tmp_path, text, "break 15", "continue", "info launches", "continue")
    sentence = (
        "fill at program.py:14: argument v has a stride of 16 bytes (2 elements); "
        "PyKokkos ignores strides and treats it as contiguous: other elements are read and written."
    )
    assert told(done) == [sentence]
    assert "[10.0, 11.0, 12.0, 13.0, 0.0, 0.0, 0.0, 0.0]" in done.lines
    (launch,) = [line for line in done.lines if line.startswith("fill ") and "parallel_for" in line]
    assert "program.py:14 parallel_for RangePolicy(OpenMP, 0, 4) release 1×" in launch


def test_an_old_build_and_a_failed_one_are_told_before_they_are_used(tmp_path: Path) -> None:
    text = HEAD + "a = np.zeros(4)\npk.parallel_for(p, fill, v=a)\nprint(a.tolist())\n"
    assert told(run(tmp_path, text, "continue")) == []
    assert told(run(tmp_path, text, "continue")) == []
    edited = run(tmp_path, text.replace("10.0 + i", "20.0 + i"), "continue")
    assert [line.partition(": ")[2].partition(";")[0] for line in told(edited)] == [
        "program.py was changed after its kernel was built, and PyKokkos runs the old kernel"
    ]
    assert "[10.0, 11.0, 12.0, 13.0]" in edited.lines
    looked_at = run(
        tmp_path, text.replace("10.0 + i", "20.0 + i"), "break 8", "continue", "print t", "delete", "continue"
    )
    assert "20.0" in looked_at.lines
    for kernel in (tmp_path / "pk_cpp").rglob("*.so"):
        kernel.unlink()
    failed = run(tmp_path, text, "continue", "quit")
    assert "an earlier compile failed and left pk_cpp" in told(failed)[0]


def test_a_wrong_memory_space_is_told(tmp_path: Path) -> None:
    text = HEAD + "x = pk.View([4], pk.double)\nx.space = pk.MemorySpace.CudaSpace\npk.parallel_for(p, fill, v=x)\n"
    assert told(run(tmp_path, text, "continue", "quit")) == [
        "fill at program.py:15: argument v lies in CudaSpace, which a kernel in OpenMP can't read.",
    ]


@pytest.mark.parametrize(
    ("size", "sentence"),
    [
        (3, "a team of 3 needs 3 threads and OpenMP has 2, at which Kokkos aborts the program"),
        (0, "a team of 0 has no threads, at which Kokkos aborts the program"),
    ],
)
def test_a_team_that_no_threads_can_be_is_told_before_kokkos_aborts(tmp_path: Path, size: int, sentence: str) -> None:
    text = (
        HEAD.replace(
            "S = ",
            "@pk.workunit\ndef teams(m: pk.TeamMember, v: pk.View1D[pk.double]):\n    v[m.league_rank()] = 1\n\n\nS = ",
        )
        + f"pk.parallel_for(pk.TeamPolicy(S, 2, {size}), teams, v=np.zeros(4))\n"
    )
    done = run(tmp_path, text, "continue")
    assert told(done) == [f"teams at program.py:18: {sentence}."]
    assert done.lines[-1] == "exited: signal SIGABRT"


@pytest.mark.parametrize(
    ("wrong", "what", "message"),
    [
        ("t = 1 if i else 2", "translate", "Not supported for translation"),
        ("t = missing", "translate", "undefined symbol missing used"),
        ("t = v", "compile", "cannot convert"),
    ],
)
def test_an_error_of_translation_or_compilation_stops_with_its_python_line(
    tmp_path: Path, wrong: str, what: str, message: str
) -> None:
    text = HEAD.replace("t: float = 10.0 + i", f"t: float = 0\n    {wrong}")
    text += "try:\n    pk.parallel_for(p, fill, v=np.zeros(4))\nexcept SystemExit:\n    print('caught')\n"
    done = run(tmp_path, text, "continue", "where", "continue")
    (stop,) = done.starting("stopped: error")
    assert f"fill doesn't {what}: program.py:8: {message}" in stop
    assert stop.endswith("program.py:15 in <module>")
    assert "caught" in done.lines
    assert done.lines[-1] == "exited: status 0"
    watched = run(tmp_path, text, "break 9", "continue", "continue")
    assert f"fill doesn't {what}: program.py:8: {message}" in watched.starting("stopped: error")[0]


def test_the_programs_space_its_cache_and_its_launches_are_as_without_a_debugger(tmp_path: Path) -> None:
    """Also with breakpoints, conditions, and an edited kernel under test."""
    text = HEAD + (
        "import pykokkos.kokkos_manager as km\nbefore = km.get_default_space()\na = np.zeros(4)\n"
        "for _ in range(3):\n    pk.parallel_for(p, fill, v=a)\nprint(before is km.get_default_space(), a.tolist())\n"
    )
    run(tmp_path, text, "continue")
    stock = contents(tmp_path)
    assert any(name.endswith(".so") for name in stock)
    done = run(tmp_path, text, "break 8 if i == 2", "continue", "delete", "finish", "continue")
    assert "True [10.0, 11.0, 12.0, 13.0]" in done.lines
    assert contents(tmp_path) == stock
    times = (tmp_path / "program.py").stat()
    os.utime(tmp_path / "program.py", (times.st_atime, times.st_mtime + 60))
    again = run(tmp_path, text, "break 7", "continue", "print i", "delete", "continue")
    assert again.stops == ["program.py:7"]
    assert contents(tmp_path) == stock


def test_a_launch_that_nobody_looks_at_costs_next_to_nothing(tmp_path: Path) -> None:
    """Many times the cost of a launch would be felt; twice is left for a machine that does something else, too."""
    text = HEAD + (
        "import time\na = np.zeros(4)\n\n\ndef launches():\n    begun = time.perf_counter()\n    for _ in range(300):\n"
        "        pk.parallel_for(p, fill, v=a)\n    return time.perf_counter() - begun\n\n\n"
        "launches()\nprint('took', min(launches() for _ in range(5)))\n"
    )
    debugged = run(tmp_path, text, "continue")
    stock = subprocess.run(
        [PYTHON, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**os.environ, "OMP_NUM_THREADS": "2"},
    )  # fmt: skip
    took = [float(done.split("took ")[1].split()[0]) for done in (debugged.out, stock.stdout)]
    assert took[0] < 2 * took[1]
