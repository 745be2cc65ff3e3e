"""What `make demo` and `make test` do about programs that a machine lacks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Setup = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    """Runs the script where only some commands are there, as the user of a number; apt-get notes what it is given."""
    here = tmp_path / "bin"
    here.mkdir()
    for name in ("bash", "dirname", "basename", "env", "touch"):
        (here / name).symlink_to(shutil.which(name) or name)
    made = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", made], check=True)
    (made / "bin" / "python").unlink()
    script(made / "bin" / "python", "exit 0")  # what is installed into it is no matter here

    def run(*programs: str, user: int, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
        script(here / "id", f"echo {user}")
        script(here / "apt-get", f'echo "$@" >>{tmp_path}/apt')
        environment = {"PATH": str(here), "PYTHON": python, "VENV": str(made), "HOME": os.environ.get("HOME", "/")}
        return subprocess.run(
            [ROOT / "scripts" / "setup.sh", *programs], env=environment, capture_output=True, text=True, check=False
        )

    return run


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)
    return path


def test_what_is_missing_is_named_with_the_command_that_installs_it(setup: Setup) -> None:
    done = setup("g++", "gdb", user=1000)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "Missing: g++ gdb. Install them first, on Debian and Ubuntu with:",
        "    sudo apt-get install g++ gdb",
    ]


def test_root_gets_it_installed(setup: Setup, tmp_path: Path) -> None:
    done = setup("g++", "gdb", "sshd", user=0)
    assert (done.returncode, done.stderr) == (0, "")
    wanted = "g++ gdb" if os.path.exists("/usr/sbin/sshd") else "g++ gdb openssh-server"
    assert (tmp_path / "apt").read_text().splitlines() == [
        "update -q",
        f"install -y -q --no-install-recommends {wanted}",
    ]


def test_a_python_that_makes_no_virtual_environments_is_completed(setup: Setup, tmp_path: Path) -> None:
    major, minor = sys.version_info[:2]
    half = script(tmp_path / "python3", f'[[ "$*" == *ensurepip* ]] && exit 1; exec {sys.executable} "$@"')
    done = setup(user=1000, python=str(half))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"    sudo apt-get install python{major}.{minor}-venv"
