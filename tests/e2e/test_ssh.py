"""A session over ssh: the same screen, and nothing left on the far side when the connection is cut."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from programs import KERNEL
from sessions import enter, stop_in_kernel
from terminal import MARK, Marked, Terminal, until

pytestmark = pytest.mark.e2e
SSHD = Path("/usr/sbin/sshd")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _key(path: Path) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True, timeout=30)
    return path


@pytest.fixture
def port(tmp_path: Path, environment: dict[str, str]) -> Iterator[int]:
    """A server of its own on the loopback, which lets in one key."""
    if not SSHD.exists():
        pytest.skip("openssh-server is not installed")
    key, host = _key(tmp_path / "key"), _key(tmp_path / "host")
    (tmp_path / "authorized").write_text(key.with_suffix(".pub").read_text())
    Path("/run/sshd").mkdir(exist_ok=True)
    chosen = _free_port()
    words = {
        "Port": chosen, "ListenAddress": "127.0.0.1", "HostKey": host, "AuthorizedKeysFile": tmp_path / "authorized",
        "PidFile": "none", "UsePAM": "no", "StrictModes": "no", "PermitRootLogin": "yes",
    }  # fmt: skip
    (tmp_path / "sshd.conf").write_text("".join(f"{name} {value}\n" for name, value in words.items()))
    with (tmp_path / "sshd.log").open("wb") as log:
        server = subprocess.Popen([SSHD, "-D", "-e", "-f", tmp_path / "sshd.conf"], env=environment, stderr=log)
    try:
        assert until(lambda: _answers(chosen), 10.0), (tmp_path / "sshd.log").read_text()
        yield chosen
    finally:
        server.terminate()
        server.wait(10.0)


@pytest.fixture
def screen(
    port: int, tmp_path: Path, environment: dict[str, str], terminals: Callable[..., Terminal], marked: Marked
) -> Terminal:
    """The test program on the screen, over ssh."""
    (tmp_path / "program.py").write_text(KERNEL)
    names = ("PYTHONPATH", "PKDB_CACHE", "PKDB_STATE", "PKDB_CONFIG", "OMP_NUM_THREADS", "LC_ALL", MARK)
    variables = shlex.join(f"{name}={environment[name]}" for name in names)
    command = f"cd {shlex.quote(str(tmp_path))} && exec env {variables} {sys.executable} -m pkdb_tui program.py"
    options = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR", "IdentitiesOnly=yes")
    ssh = ["ssh", "-tt", "-p", str(port), "-i", str(tmp_path / "key")]
    ssh += [word for option in options for word in ("-o", option)]
    return terminals([*ssh, "127.0.0.1", command], tmp_path, environment, 100, 30)


def test_kernel_over_ssh(screen: Terminal) -> None:
    stop_in_kernel(screen)
    screen.wait_for("thread 0 of 2")
    enter(screen, "print a[j, 0:2]")
    screen.wait_for(r"array\(\[0\., 1\.\]\)")
    screen.move("Escape")
    screen.press("q")
    assert screen.wait_end() == "0"


def test_connection_cut_in_kernel(screen: Terminal, marked: Marked) -> None:
    stop_in_kernel(screen)
    assert len(marked.debugging()) >= 3, marked.debugging()
    os.kill(marked.one(r"^ssh -tt "), signal.SIGKILL)
    assert until(lambda: not marked.debugging(), 5.0), marked.debugging()
