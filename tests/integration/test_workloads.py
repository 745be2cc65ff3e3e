"""The programs of the benchmarks, whose physics they check themselves, on either runtime."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from runtimes import BOTH, EMBEDDED, ROOT, alone, debug

WORKLOADS = ROOT / "benchmarks" / "workloads"
SIZES = [("molecular_dynamics", 108, 20), ("boltzmann", 500, 5), ("ewald", 216, 2)]


def run(runtime: str, script: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*alone(runtime, script.name), *map(str, arguments)],
        cwd=script.parent,
        env={**os.environ, "OMP_NUM_THREADS": "2", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )


def copy(name: str, folder: Path, *changes: tuple[str, str]) -> Path:
    """The program in a folder of its own, with these texts replaced."""
    text = (WORKLOADS / f"{name}.py").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    script = folder / f"{name}.py"
    script.write_text(text)
    return script


@pytest.mark.parametrize("runtime", BOTH)
@pytest.mark.parametrize(("name", "size", "steps"), SIZES)
def test_a_workload_keeps_its_physics(tmp_path: Path, runtime: str, name: str, size: int, steps: int) -> None:
    done = run(runtime, copy(name, tmp_path), size, steps)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1
    words = done.stdout.split()
    assert words[2:5] == [str(size), "steps", str(steps)]


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("molecular_dynamics", "48.0 * s6 * (s6 - 0.5)", "40.0 * s6 * (s6 - 0.5)", "The energy of an atom drifts by"),
        ("molecular_dynamics", "f[i][0] = fx", "f[i][0] = fx + 0.001", "The total momentum is"),
        ("boltzmann", "v[b][2] -= hz", "v[b][2] += hz", "Collisions changed the momentum"),
        ("boltzmann", "order[starts[cell] + slot] = i", "order[starts[cell]] = i", "of them different, of 500"),
        ("boltzmann", "pad[0] += v[i][0]", "pad[0] += v[i][1]", "The moments of the cells don't add up"),
        ("ewald", "0.5 * q[i] * q[j] * erfc", "0.4 * q[i] * q[j] * erfc", "Madelung's constant came out as"),
        ("ewald", "w[i][d][3] = t * t * t / 6.0", "w[i][d][3] = i * t / 6.0", "The mesh holds the charge"),
    ],
)
def test_a_wrong_kernel_is_found_by_the_physics(tmp_path: Path, name: str, old: str, new: str, said: str) -> None:
    size, steps = next((size, steps) for known, size, steps in SIZES if known == name)
    done = run(EMBEDDED, copy(name, tmp_path, (old, new)), size, steps)
    assert done.returncode == 1
    assert said in done.stderr


@pytest.mark.parametrize("name", [name for name, _, _ in SIZES])
def test_the_debug_space_computes_the_same(tmp_path: Path, name: str) -> None:
    script = copy(name, tmp_path)
    small = {"molecular_dynamics": 32, "boltzmann": 60, "ewald": 216}[name]
    compiled, interpreted = run(EMBEDDED, script, small, 1), run(EMBEDDED, script, small, 1, "Debug")
    assert (interpreted.returncode, interpreted.stderr) == (0, "")
    assert interpreted.stdout.split()[:5] == compiled.stdout.split()[:5]


def test_a_workload_stops_in_its_forces(tmp_path: Path) -> None:
    script = copy("molecular_dynamics", tmp_path)
    line = script.read_text().splitlines().index("    f[i][0] = fx") + 1
    stopped = debug(
        EMBEDDED, script, f"break {line} if i == 5", "continue", "print counts[i] > 0", arguments=("108", "1")
    )
    assert stopped.stops == [f"molecular_dynamics.py:{line}"]
    assert "True" in stopped.lines
