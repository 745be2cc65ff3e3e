"""Sessions on a real terminal, each with folders of its own, and a check that none leaves a process behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from terminal import MARK, Marked, Start, Terminal, until

ROOT = Path(__file__).resolve().parents[2]
GONE_WITHIN = 5.0


@pytest.fixture
def marked() -> Iterator[Marked]:
    """The processes of this test; the test fails when one is left after its terminal has gone."""
    found = Marked()
    yield found
    gone = until(lambda: not found.processes(), GONE_WITHIN)
    left = found.processes()
    for pid in left:
        os.kill(pid, 9)
    assert gone, f"These were left: {left}"


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where built kernels are kept for all tests, so that each is compiled once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def environment(tmp_path: Path, compiled: Path, marked: Marked) -> dict[str, str]:
    """An environment that shares nothing with the person who runs the tests."""
    (tmp_path / "home").mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH", "TMUX_TMPDIR") if name in os.environ}
    return {
        **kept,
        "LC_ALL": "C.UTF-8",
        "HOME": str(tmp_path / "home"),
        "SHELL": "/bin/sh",
        "PYTHONPATH": str(ROOT),
        "PKDB_CACHE": str(compiled),
        "PKDB_STATE": str(tmp_path / "state"),
        "PKDB_CONFIG": str(tmp_path / "config.toml"),
        "OMP_NUM_THREADS": "2",
        "TERM": "xterm-256color",
        MARK: marked.value,
    }


@pytest.fixture
def terminals(marked: Marked) -> Iterator[Callable[..., Terminal]]:
    """Makes terminals and takes them away at the end."""
    made: list[Terminal] = []

    def make(command: list[str], folder: Path, environment: Mapping[str, str], columns: int, rows: int) -> Terminal:
        socket = f"pkdb-{marked.value[:12]}-{len(made)}"
        made.append(
            Terminal(command, folder=folder, environment=environment, columns=columns, rows=rows, socket=socket)
        )
        return made[-1]

    yield make
    for terminal in made:
        terminal.kill()


@pytest.fixture
def start(tmp_path: Path, environment: dict[str, str], terminals: Callable[..., Terminal]) -> Start:
    """Starts the screen on a program."""

    def debug(text: str, columns: int = 120, rows: int = 40) -> Terminal:
        (tmp_path / "program.py").write_text(text)
        command = [sys.executable, "-m", "pkdb_tui", "program.py"]
        return terminals(command, tmp_path, environment, columns, rows)

    return debug
