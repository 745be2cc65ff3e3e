"""What a runtime does without a word, told at the launch; its own files and settings stay as they are.

Old and failed builds and wrong memory spaces are PyKokkos' alone: the embedded runtime knows its builds by their text,
and has arrays of the host alone.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest
from runtimes import BOTH, EMBEDDED, INSTALLED, PYKOKKOS, ROOT, Run, alone, debug

on_each = pytest.mark.parametrize("runtime", BOTH)
on_pykokkos = pytest.mark.parametrize("runtime", [pytest.param(INSTALLED, marks=PYKOKKOS)])

HEAD = """import numpy as np
import pykokkos as pk


@pk.workunit
def fill(i: int, v: pk.View1D[pk.double]):
    t: float = 10.0 + i
    v[i] = t


S = pk.ExecutionSpace.OpenMP
p = pk.RangePolicy(S, 0, 4)
"""


def run(runtime: str, folder: Path, text: str, *commands: str) -> Run:
    script = folder / "program.py"
    if not script.exists() or script.read_text() != text:
        script.write_text(text)
    return debug(runtime, script, *commands)


def told(done: Run) -> list[str]:
    return [line.removeprefix("warning: ") for line in done.starting("warning:")]


def contents(folder: Path) -> dict[str, str]:
    """Each file of PyKokkos' cache with the digest of what is in it and its time."""
    return {
        str(path.relative_to(folder)): f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mtime_ns}"
        for path in sorted((folder / "pk_cpp").rglob("*"))
        if path.is_file()
    }


@on_each
def test_strides_are_told_with_the_argument_and_what_becomes_of_them(runtime: str, tmp_path: Path) -> None:
    text = HEAD + "a = np.zeros(8)\npk.parallel_for(p, fill, v=a[::2])\nprint(a.tolist())\n"
    done = run(runtime, tmp_path, text, "break 15", "continue", "info launches", "continue")
    what, array = {
        EMBEDDED: ("the embedded runtime follows the stride", "[10.0, 0.0, 11.0, 0.0, 12.0, 0.0, 13.0, 0.0]"),
        INSTALLED: (
            "PyKokkos ignores strides and treats it as contiguous: other elements are read and written",
            "[10.0, 11.0, 12.0, 13.0, 0.0, 0.0, 0.0, 0.0]",
        ),
    }[runtime]
    assert told(done) == [f"fill at program.py:14: argument v has a stride of 16 bytes (2 elements); {what}."]
    assert array in done.lines
    assert done.starting("fill program.py:14 parallel_for RangePolicy(OpenMP, 0, 4) release 1×")


@on_each
def test_what_becomes_of_an_array_of_bool_is_told_where_it_is_copied(runtime: str, tmp_path: Path) -> None:
    text = HEAD.replace("v: pk.View1D[pk.double]", "v").replace("10.0 + i", "1") + (
        "a, u = np.zeros(4, bool), np.zeros(4, np.uint8)\npk.parallel_for(p, fill, v=a)\n"
        "pk.parallel_for(p, fill, v=u)\n"
        "print(a.tolist(), u.tolist())\n"
    )
    done = run(runtime, tmp_path, text, "continue")
    copied = (
        "fill at program.py:14: argument v is an array of bool, of which PyKokkos hands the kernel a copy: what the "
        "kernel writes is lost; use an array of uint8."
    )
    assert told(done) == ([] if runtime == EMBEDDED else [copied])
    assert f"{[runtime == EMBEDDED] * 4} {[1] * 4}" in done.lines


@on_each
def test_an_edited_kernel_is_built_anew_where_it_is_looked_at(runtime: str, tmp_path: Path) -> None:
    """Also where the runtime itself would run its old build, as PyKokkos does."""
    text = HEAD + "a = np.zeros(4)\npk.parallel_for(p, fill, v=a)\nprint(a.tolist())\n"
    assert "[10.0, 11.0, 12.0, 13.0]" in run(runtime, tmp_path, text, "continue").lines
    edited = run(
        runtime, tmp_path, text.replace("10.0 + i", "20.0 + i"), "break 8", "continue", "print t", "delete", "continue"
    )
    assert {"20.0", "[20.0, 21.0, 22.0, 23.0]"} <= set(edited.lines)


@on_pykokkos
def test_an_old_build_and_a_failed_one_are_told_before_they_are_used(runtime: str, tmp_path: Path) -> None:
    text = HEAD + "a = np.zeros(4)\npk.parallel_for(p, fill, v=a)\nprint(a.tolist())\n"
    assert told(run(runtime, tmp_path, text, "continue")) == []
    assert told(run(runtime, tmp_path, text, "continue")) == []
    edited = run(runtime, tmp_path, text.replace("10.0 + i", "20.0 + i"), "continue")
    assert [line.partition(": ")[2].partition(";")[0] for line in told(edited)] == [
        "program.py was changed after its kernel was built, and PyKokkos runs the old kernel"
    ]
    assert "[10.0, 11.0, 12.0, 13.0]" in edited.lines
    for kernel in (tmp_path / "pk_cpp").rglob("*.so"):
        kernel.unlink()
    failed = run(runtime, tmp_path, text, "continue", "quit")
    assert "an earlier compile failed and left pk_cpp" in told(failed)[0]


@on_pykokkos
def test_a_wrong_memory_space_is_told(runtime: str, tmp_path: Path) -> None:
    text = HEAD + "x = pk.View([4], pk.double)\nx.space = pk.MemorySpace.CudaSpace\npk.parallel_for(p, fill, v=x)\n"
    assert told(run(runtime, tmp_path, text, "continue", "quit")) == [
        "fill at program.py:15: argument v lies in CudaSpace, which a kernel in OpenMP can't read.",
    ]


TEAMS = HEAD.replace(
    "S = ", "@pk.workunit\ndef teams(m: pk.TeamMember, v: pk.View1D[pk.double]):\n    v[m.league_rank()] = 1\n\n\nS = "
)


@on_pykokkos
@pytest.mark.parametrize(
    ("size", "sentence"),
    [
        (3, "a team of 3 needs 3 threads and OpenMP has 2, at which Kokkos aborts the program"),
        (0, "a team of 0 has no threads, at which Kokkos aborts the program"),
    ],
)
def test_a_team_that_no_threads_can_be_is_told_before_kokkos_aborts(
    runtime: str, tmp_path: Path, size: int, sentence: str
) -> None:
    done = run(
        runtime, tmp_path, TEAMS + f"pk.parallel_for(pk.TeamPolicy(S, 2, {size}), teams, v=np.zeros(4))\n", "continue"
    )
    assert told(done) == [f"teams at program.py:18: {sentence}."]
    assert done.lines[-1] == "exited: signal SIGABRT"


def test_the_embedded_runtime_takes_any_team_but_one_of_0(tmp_path: Path) -> None:
    text = TEAMS + "v = np.zeros(4)\npk.parallel_for(pk.TeamPolicy(S, 2, 3), teams, v=v)\nprint(v)\n"
    assert "[1. 1. 0. 0.]" in run(EMBEDDED, tmp_path, text, "continue").lines
    none = run(EMBEDDED, tmp_path, text.replace("2, 3)", "2, 0)"), "continue")
    (stop,) = none.starting("stopped: exception")
    assert "The team size of a TeamPolicy must be 1 to 1024, not 0. program.py:19 in <module>" in stop


@on_pykokkos
@pytest.mark.parametrize(
    ("wrong", "what", "message"),
    [
        ("t = 1 if i else 2", "translate", "Not supported for translation"),
        ("t = missing", "translate", "undefined symbol missing used"),
        ("t = v", "compile", "cannot convert"),
    ],
)
def test_an_error_of_translation_or_compilation_stops_with_its_python_line(
    runtime: str, tmp_path: Path, wrong: str, what: str, message: str
) -> None:
    text = HEAD.replace("t: float = 10.0 + i", f"t: float = 0\n    {wrong}")
    text += "try:\n    pk.parallel_for(p, fill, v=np.zeros(4))\nexcept SystemExit:\n    print('caught')\n"
    done = run(runtime, tmp_path, text, "continue", "where", "continue")
    (stop,) = done.starting("stopped: error")
    assert f"fill doesn't {what}: program.py:8: {message}" in stop
    assert stop.endswith("program.py:15 in <module>")
    assert "caught" in done.lines
    assert done.lines[-1] == "exited: status 0"
    watched = run(runtime, tmp_path, text, "break 9", "continue", "continue")
    assert f"fill doesn't {what}: program.py:8: {message}" in watched.starting("stopped: error")[0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("t = [1]", "a list is not supported in a kernel"),
        ("t = missing", "missing is not defined in this kernel"),
        ("t = v", "t is a number already, it can't become a view"),
    ],
)
def test_the_embedded_runtime_raises_such_an_error_with_its_line(tmp_path: Path, wrong: str, message: str) -> None:
    """The program may catch it, so it stops where nothing does."""
    text = HEAD.replace("t: float = 10.0 + i", f"t: float = 0\n    {wrong}")
    text += "pk.parallel_for(p, fill, v=np.zeros(4))\n"
    for commands in (("continue",), ("break 9", "continue")):
        (stop,) = run(EMBEDDED, tmp_path, text, *commands).starting("stopped: exception")
        assert f"program.py:8: {message}" in stop
        assert stop.endswith("program.py:14 in <module>")


@on_each
def test_the_programs_space_its_cache_and_its_launches_are_as_without_a_debugger(runtime: str, tmp_path: Path) -> None:
    """Also with breakpoints, conditions, and an edited kernel under test."""
    where = "pk" if runtime == EMBEDDED else "pykokkos.kokkos_manager"
    text = HEAD + (
        f"import {'pykokkos' if where == 'pk' else where} as km\nbefore = km.get_default_space()\na = np.zeros(4)\n"
        "for _ in range(3):\n    pk.parallel_for(p, fill, v=a)\nprint(before is km.get_default_space(), a.tolist())\n"
    )
    run(runtime, tmp_path, text, "continue")
    stock = contents(tmp_path)
    assert any(name.endswith(".so") for name in stock) is (runtime == INSTALLED)
    done = run(runtime, tmp_path, text, "break 8 if i == 2", "continue", "delete", "finish", "continue")
    assert "True [10.0, 11.0, 12.0, 13.0]" in done.lines
    assert contents(tmp_path) == stock
    times = (tmp_path / "program.py").stat()
    os.utime(tmp_path / "program.py", (times.st_atime, times.st_mtime + 60))
    again = run(runtime, tmp_path, text, "break 7", "continue", "print i", "delete", "continue")
    assert again.stops == ["program.py:7"]
    assert contents(tmp_path) == stock


@on_each
def test_a_launch_that_nobody_looks_at_costs_next_to_nothing(runtime: str, tmp_path: Path) -> None:
    """Many times the cost of a launch would be felt; twice is left for a machine that does something else, too.

    One thread, as the others of a team come late there.
    """
    text = HEAD + (
        "import time\na = np.zeros(4)\n\n\ndef launches():\n    begun = time.perf_counter()\n    for _ in range(300):\n"
        "        pk.parallel_for(p, fill, v=a)\n    return time.perf_counter() - begun\n\n\n"
        "launches()\nprint('took', min(launches() for _ in range(5)))\n"
    )
    (tmp_path / "program.py").write_text(text)
    debugged = debug(runtime, tmp_path / "program.py", "continue", variables={"OMP_NUM_THREADS": "1"})
    stock = subprocess.run(
        alone(runtime, "program.py"), cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    took = [float(done.split("took ")[1].split()[0]) for done in (debugged.out, stock.stdout)]
    assert took[0] < 2 * took[1]
