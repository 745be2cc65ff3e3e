"""Processes that the program starts find the `pykokkos` that the program has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli import FIXTURES, ROOT, plain

DOUBLED = "('pkdb_tui.minikokkos', [0.0, 2.0, 4.0]) ('pkdb_tui.minikokkos', [0.0, 2.0, 4.0, 6.0])"
HERE = "here pkdb_tui.minikokkos [0.0, 2.0, 4.0] OpenMP True"
METHODS = pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])


@METHODS
def test_processes_of_multiprocessing_find_the_embedded_runtime(method: str) -> None:
    run = plain("--runtime", "embedded", "spawning.py", method, commands=["continue"])
    assert [line for line in run.lines if line in (DOUBLED, HERE)] == [DOUBLED, HERE]
    assert run.lines[-1] == "exited: status 0"


@METHODS
def test_and_without_a_debugger(method: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pkdb_tui.minikokkos", "spawning.py", method],
        cwd=FIXTURES,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.splitlines(), done.stderr) == ([DOUBLED, HERE], "")


def test_an_installed_one_goes_before_the_embedded_one_unless_that_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "pykokkos.py").write_text("kind = 'installed'\n")
    (tmp_path / "program.py").write_text(
        "import multiprocessing\nimport pykokkos\nkind = getattr(pykokkos, 'kind', 'embedded')\n\n\n"
        "def told(_):\n    return kind\n\n\nif __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print('kinds', kind, *pool.map(told, [0]))\n"
    )
    for option, kinds in (("auto", "installed installed"), ("embedded", "embedded embedded")):
        run = plain("--runtime", option, "program.py", commands=["continue"], folder=tmp_path)
        assert f"kinds {kinds}" in run.lines


def test_the_interpreter_of_a_child_need_not_have_pkdb_tui(tmp_path: Path) -> None:
    """With nothing of this project importable but through the folder that such processes are given."""
    folder = ROOT / "pkdb_tui" / "minikokkos" / "children"
    paths = [path for path in sys.path if "site-packages" in path]
    code = (
        "import sys, importlib.util\n"
        f"sys.path += {[*paths, str(folder)]!r}\n"
        "sys.meta_path = [finder for finder in sys.meta_path if 'editable' not in repr(finder).lower()]\n"
        "assert importlib.util.find_spec('pkdb_tui') is None\n"
        "import pykokkos, pykokkos.policies as policies\n"
        "print(pykokkos.__name__, policies.__name__, sys.modules['pykokkos'] is pykokkos)\n"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("pkdb_tui.minikokkos pkdb_tui.minikokkos.policies True\n", "")
