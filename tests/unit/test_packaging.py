"""The wheel has what the program needs, and runs where only it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "-w",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(command, check=True, capture_output=True)
    (made,) = folder.glob("*.whl")
    return made


def test_the_wheel_has_themes_headers_and_types(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in ("themes/dark.toml", "themes/light.toml", "themes/high-contrast.toml", "themes/ansi-16.toml"):
        assert f"pkdb_tui/{name}" in names
    assert "pkdb_tui/minikokkos/include/pk_runtime.hpp" in names
    assert "pkdb_tui/engine/native/gdbside.py" in names
    assert "pkdb_tui/py.typed" in names
    assert not any(name.startswith("tests/") for name in names)


@pytest.mark.timeout(300)
def test_the_installed_wheel_debugs_a_kernel(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(target), str(wheel)],
        check=True,
        capture_output=True,
    )
    script = tmp_path / "double.py"
    script.write_text(
        "import numpy as np\nimport pykokkos as pk\n\n\n@pk.workunit\ndef double(i: int, v: pk.View1D[pk.double]):\n"
        "    v[i] = 2.0 * v[i]\n\n\nv = np.arange(4.0)\npk.parallel_for(4, double, v=v)\nprint(v)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(target), "OMP_NUM_THREADS": "1"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pkdb_tui", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)

    where = run("--version").stdout
    assert where == "pkdb-tui 0.1.0\n"
    done = run(
        "--plain", "-c", "break 7 if i == 3", "-c", "continue", "-c", "print v[i]", "-c", "continue", "double.py"
    )
    assert done.stderr == ""
    assert "stopped: breakpoint 1 double.py:7 in double thread 0 of 1 · i = 3\n" in done.stdout
    assert "\n3.0\n" in done.stdout
    assert done.stdout.endswith("[0. 2. 4. 6.]\nexited: status 0\n")
    assert done.returncode == 0


def test_the_readme_has_the_keys_as_they_are() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/key_table.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_picture_can_be_made(tmp_path: Path) -> None:
    path = tmp_path / "screen.svg"
    subprocess.run([sys.executable, "scripts/screenshot.py", str(path)], cwd=ROOT, check=True, capture_output=True)
    assert "row_products" in path.read_text()
