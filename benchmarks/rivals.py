"""The programs compared: how each is started, when it is ready, and which keys it takes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = Path(__file__).resolve().parent / "programs"
PDB = r"\(Pdb\) "
PACKAGES = ("pudb", "debugpy", "textual-debugger", "numpy")


@dataclass(frozen=True)
class Debugger:
    """`command` starts it on a script; `ready` matches text that is there once keys work.

    `done` matches what a step onto line `{line}` leaves on the screen and nothing before it does.
    """

    name: str
    command: tuple[str, ...]
    ready: str
    next_key: str
    into_key: str
    done: str
    screen: bool = True


@dataclass
class Workplace:
    """A throw-away home and folder, and the interpreters."""

    folder: Path
    python: str
    rivals: str = ""  # interpreter that has the rivals; empty: only what comes with Python
    others: tuple[str, ...] = ()
    quick: bool = False
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        home = self.folder / "home"
        (home / ".config" / "pudb").mkdir(parents=True)
        (home / ".config" / "pudb" / "pudb.cfg").write_text("[pudb]\nseen_welcome = z\n")
        shim = self.folder / "shim"
        shim.mkdir()
        (shim / "pykokkos.py").write_text(
            "import sys\nimport pkdb_tui.minikokkos\nsys.modules[__name__] = pkdb_tui.minikokkos\n"
        )
        kept = {key: os.environ[key] for key in ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH") if key in os.environ}
        self.environment = {
            **kept,
            "HOME": str(home),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "PYTHONPATH": str(ROOT),
            "OMP_NUM_THREADS": str(min(os.cpu_count() or 1, 4)),
        }

    @property
    def embedded(self) -> dict[str, str]:
        """The environment in which a program without pkdb-tui finds the embedded runtime as `pykokkos`."""
        return {**self.environment, "PYTHONPATH": os.pathsep.join([str(self.folder / "shim"), str(ROOT)])}

    def debuggers(self) -> list[Debugger]:
        """Those that can be measured here."""
        answer = rf"steps\.py\({{line}}\)[\s\S]*{PDB}"
        found = [pkdb_tui(self.python)]
        found.append(Debugger("pdb", (self.python, "-m", "pdb"), PDB, "n\n", "s\n", answer, screen=False))
        if self.rivals:
            tdb = str(Path(self.rivals).with_name("tdb"))
            pudb = (self.rivals, "-m", "pudb")
            found.append(Debugger("pudb", pudb, r"Variables:[\s\S]*Breakpoints:", "n", "s", r"steps\.py:{line}\D"))
            found.append(Debugger("textual-debugger", (tdb,), "Paused", "n", "s", r"Paused[^\n]*steps\.py:{line}\D"))
        return found


def pkdb_tui(python: str) -> Debugger:
    ready = r"<module>[\s\S]*steps\.py:1\D"
    return Debugger("pkdb-tui", (python, "-m", "pkdb_tui"), ready, "n", "s", r"steps\.py:{line}\D")


def install_rivals(folder: Path) -> str:
    """A virtual environment with the rivals; empty when they can't be installed here."""
    target = folder / "rivals"
    try:
        subprocess.run([sys.executable, "-m", "venv", str(target)], check=True, capture_output=True)
        python = str(target / "bin" / "python")
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES]
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"The rivals can't be installed ({error}); only pdb is compared.", file=sys.stderr)
        return ""
    return python


def throw_away() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="pkdb-benchmarks-")


def script(name: str, *arguments: object) -> Sequence[str]:
    return [str(PROGRAMS / name), *map(str, arguments)]
