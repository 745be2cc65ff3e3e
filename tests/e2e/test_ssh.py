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
from programs import KERNEL, SUM_LINE
from sessions import AT_START, enter, stop_in_kernel
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


@pytest.mark.timeout(300)
def test_a_long_session_of_hundreds_of_keys(screen: Terminal) -> None:
    """Panes, evaluations, steps and restarts, over and over: each has its effect, and the last screen is whole."""
    pressed = 0
    stop_in_kernel(screen)
    for turn in range(1, 9):
        screen.wait_for(r"▪ kernel scaled_sum .*breakpoint 1")
        keys = ["t", "Right", "Left", "3", "Down", "Up", "4", "Down", "5", "Tab", "BTab", "Escape", "z", "z", "a", "a"]
        keys += ["G", "G", "L", "L", "L", "PageDown", "PageUp", "Home", "End", ".", "/", *"row", "Enter"]
        screen.press(*keys)
        command = f"print {turn} * 1000 + int(width)"
        enter(screen, command)
        screen.wait_for(rf"\b{turn * 1000 + 4}\b")
        screen.move("Escape")
        screen.press("n")
        screen.wait_for(r"▪ kernel scaled_sum .*(step|end|breakpoint 1)")
        screen.press("R")
        screen.wait_for(AT_START)
        screen.press("c")
        pressed += len(keys) + len(command) + 6
    assert pressed > 400
    screen.wait_for(r"▪ kernel scaled_sum .*breakpoint 1")
    screen.wait_for(rf"\n +{SUM_LINE} ●▶ +acc \+= row")
    screen.press("q")
    assert screen.wait_end() == "0"


def test_connection_cut_in_kernel(screen: Terminal, marked: Marked) -> None:
    stop_in_kernel(screen)
    assert len(marked.debugging()) >= 3, marked.debugging()
    os.kill(marked.one(r"^ssh -tt "), signal.SIGKILL)
    assert until(lambda: not marked.debugging(), 5.0), marked.debugging()
