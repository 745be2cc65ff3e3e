"""Runs a program in plain mode on the embedded runtime or on an installed PyKokkos."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import cli
import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("PKDB_PYKOKKOS", sys.executable)
EMBEDDED, INSTALLED = "embedded", "installed"


@functools.cache
def installed() -> bool:
    probe = "import pykokkos, sys; sys.exit(bool(getattr(pykokkos, 'embedded', False)))"
    return subprocess.run([PYTHON, "-c", probe], capture_output=True, check=False).returncode == 0


PYKOKKOS = [
    pytest.mark.pykokkos,
    pytest.mark.skipif(not installed(), reason="no PyKokkos can be imported here"),
    pytest.mark.timeout(300),
]
BOTH = [EMBEDDED, pytest.param(INSTALLED, marks=PYKOKKOS)]


def alone(runtime: str, script: str) -> list[str]:
    """The command that runs a program without a debugger; `PYTHONPATH` must find this project."""
    return [PYTHON, script] if runtime == INSTALLED else [sys.executable, "-m", "pkdb_tui.minikokkos", script]


class Run:
    """What one run wrote and how it ended."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.lines = done.stdout.splitlines()

    def starting(self, word: str) -> list[str]:
        return [line for line in self.lines if line.startswith(word)]

    @property
    def stops(self) -> list[str]:
        """Where each stop after the start was: `file.py:line`."""
        return [next(w for w in line.split() if ".py:" in w) for line in self.starting("stopped:")[1:]]

    def after(self, text: str) -> str:
        """The first line after one that contains this text."""
        found = next(place for place, line in enumerate(self.lines) if text in line)
        return self.lines[found + 1]


def debug(
    runtime: str,
    script: Path,
    *commands: str,
    variables: Mapping[str, str] = {},
    options: tuple[str, ...] = (),
    arguments: tuple[str, ...] = (),
) -> Run:
    """`pkdb-tui --plain -c COMMAND... SCRIPT ARGUMENT...` in the script's folder, with two threads by default."""
    given = [part for command in commands for part in ("-c", command)]
    python = PYTHON if runtime == INSTALLED else sys.executable
    which = () if runtime == INSTALLED else ("--runtime", "embedded")
    line = [sys.executable, "-m", "pkdb_tui", "--plain", "--python", python, *which, *options, *given, script.name]
    line += arguments
    state = tempfile.mkdtemp(dir=script.parent)  # breakpoints of another run of this program are not for this one
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "PYTHONPATH": str(ROOT), "PKDB_STATE": state, **variables}
    return Run(
        subprocess.run(
            line,
            cwd=script.parent,
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=280,
        )
    )


class OnRuntime:
    """Runs the fixtures on one runtime; on an installed PyKokkos from a folder in which it may write its builds."""

    def __init__(self, runtime: str, folder: Path) -> None:
        self.runtime, self.folder = runtime, folder
        installed = runtime == INSTALLED
        self.option = ("--python", PYTHON) if installed else ("--runtime", "embedded")
        self.limit = 280.0 if installed else cli.LIMIT

    @property
    def embedded(self) -> bool:
        return self.runtime == EMBEDDED

    def __call__(self, script: str, *commands: str, threads: int = 2, options: tuple[str, ...] = ()) -> cli.Run:
        return cli.plain(
            *self.option,
            *options,
            script,
            commands=commands,
            folder=self.folder,
            variables={"OMP_NUM_THREADS": str(threads)},
            limit=self.limit,
        )
