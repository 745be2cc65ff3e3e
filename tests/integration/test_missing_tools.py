"""No gdb, no compiler, no right to attach: one message says what to do, and the rest of the session works."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import refusing_ptrace
from cli import COMMAND, FIXTURES, LIMIT, Run, environment, plain

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)
OPTIONS = ("--runtime", "embedded", "rounds.py")
COMMANDS = ["break 11", "break 20", "continue", "print 6 * 7", "info breakpoints", "continue"]
FORBIDDEN = "This system forbids attaching a debugger to the program."


@pytest.fixture
def path_without(tmp_path: Path) -> Callable[..., str]:
    """A PATH with all commands but those whose names have one of these words in them."""

    def path(*words: str) -> str:
        folder = tmp_path / "bin"
        folder.mkdir()
        for source in reversed(os.environ["PATH"].split(os.pathsep)):
            for command in Path(source).glob("*"):
                if not any(word in command.name for word in words):
                    (folder / command.name).unlink(missing_ok=True)
                    (folder / command.name).symlink_to(command)
        return str(folder)

    return path


def runs_on(run: Run, why: str) -> None:
    """Kernel lines can't stop, which is said once and at the breakpoint; Python's can, and all work is done."""
    assert [line for line in run.err.splitlines() if why in line] == [run.err.splitlines()[0]]
    assert "Traceback" not in run.out + run.err
    assert run.stops == ["stopped: start rounds.py:1 in <module>", "stopped: breakpoint 2 rounds.py:20 in main"]
    assert "42" in run.lines
    (kernel,) = run.starting("breakpoint 1 at rounds.py:11 in kernel fill: cannot bind (")
    assert why in kernel
    assert "breakpoint 2 at rounds.py:20: bound, hit 1 time" in run.lines
    assert run.lines[-2:] == ["sum 31.0", "exited: status 0"]


def test_no_gdb(path_without: Callable[..., str]) -> None:
    run = plain(*OPTIONS, commands=COMMANDS, variables={"PATH": path_without("gdb")})
    runs_on(run, "gdb is not there, so kernel lines can't stop. Install it (on Debian and Ubuntu: apt-get install gdb)")
    assert run.status == 0


def test_no_compiler(path_without: Callable[..., str], tmp_path: Path) -> None:
    """The program can't do without: it is told at the launch, in Python, where all can be looked at."""
    variables = {"PATH": path_without("g++", "c++", "clang"), "PKDB_CACHE": str(tmp_path / "cache")}
    run = plain(*OPTIONS, commands=[*COMMANDS[:3], "print 6 * 7", "up", "continue", "continue"], variables=variables)
    remedy = "No C++ compiler was found. Install one (Debian/Ubuntu: apt install g++) or name it in the environment"
    assert [stop.partition(".")[0] for stop in run.stops[1:]] == [
        "stopped: error: No C++ compiler was found",
        "stopped: exception CompileError: No C++ compiler was found",
    ]
    assert all(remedy in stop and stop.endswith("rounds.py:18 in main") for stop in run.stops[1:])
    assert "42" in run.lines
    assert run.lines[-1].startswith(f"exited: exception CompileError: {remedy}")


@pytest.mark.skipif(sys.platform != "linux", reason="seccomp is Linux'")
def test_ptrace_refused() -> None:
    given = [word for command in COMMANDS for word in ("-c", command)]
    done = subprocess.run(
        [sys.executable, refusing_ptrace.__file__, *COMMAND, "--plain", *given, *OPTIONS],
        cwd=FIXTURES,
        env={**environment(), "OMP_NUM_THREADS": "2"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    run = Run(done.returncode, done.stdout, done.stderr)
    runs_on(run, FORBIDDEN)
    assert "--cap-add=SYS_PTRACE" in run.err
    assert run.status == 0


def test_a_cache_bound_that_is_no_number(tmp_path: Path) -> None:
    variables = {"PKDB_CACHE": str(tmp_path), "PKDB_CACHE_MIB": "lots", "OMP_NUM_THREADS": "2"}
    run = plain(*OPTIONS, commands=["break 11", "continue", "delete", "continue"], variables=variables)
    assert run.stops[1].startswith("stopped: breakpoint 1 rounds.py:11 in fill")
    (said,) = [line for line in run.lines if "PKDB_CACHE_MIB" in line and "RuntimeWarning" in line]
    assert "PKDB_CACHE_MIB=lots is not a size in MiB: the kernel cache is bounded by 256 MiB." in said
    assert run.lines[-2:] == ["sum 31.0", "exited: status 0"]
    assert list((tmp_path / "kernels").glob("*.so"))
