"""Runs the real command line in plain mode, as a script or a person at a terminal would."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pexpect

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
COMMAND = [sys.executable, "-m", "pkdb_tui"]
LIMIT = 60.0
PROMPT = "pkdb> "


@dataclass(frozen=True)
class Run:
    """What one run wrote and how it ended."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    def starting(self, word: str) -> list[str]:
        """Lines of standard output that begin so."""
        return [line for line in self.lines if line.startswith(word)]

    @property
    def stops(self) -> list[str]:
        return self.starting("stopped:")

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The lines of a `--json` run; each must be one JSON object."""
        return [json.loads(line) for line in self.lines]

    def events(self, name: str) -> list[dict[str, Any]]:
        return [each for each in self.objects if each["event"] == name]


_SEPARATE = tempfile.TemporaryDirectory()  # for saved state, so that no run sees the person's own or a test's


def environment(state: Path | None = None) -> dict[str, str]:
    """This environment with the package importable and saved state kept apart."""
    found = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PKDB_STATE": str(state or tempfile.mkdtemp(dir=_SEPARATE.name)),
        "TERM": "dumb",
    }
    found.pop("PYTHONSTARTUP", None)
    return found


def plain(
    *arguments: str,
    commands: Sequence[str] = (),
    stdin: str | bytes = "",
    folder: Path = FIXTURES,
    state: Path | None = None,
    variables: Mapping[str, str] = {},
    limit: float = LIMIT,
) -> Run:
    """`pkdb-tui --plain -c COMMAND... ARGUMENTS` in `folder`; arguments name the options, script and its own."""
    given = [word for command in commands for word in ("-c", command)]
    done = subprocess.run(
        [*COMMAND, "--plain", *given, *arguments],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        cwd=folder,
        env={**environment(state), **variables},
        timeout=limit,
        check=False,
    )
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode())


@contextmanager
def terminal(*arguments: str, folder: Path = FIXTURES, state: Path | None = None) -> Iterator[pexpect.spawn[str]]:
    """The command line on a terminal, ended at the end of the block."""
    child: pexpect.spawn[str] = pexpect.spawn(
        COMMAND[0],
        [*COMMAND[1:], "--plain", *arguments],
        cwd=str(folder),
        env=environment(state),
        encoding="utf-8",
        timeout=20,
        echo=False,
        dimensions=(40, 160),
    )
    try:
        yield child
    finally:
        child.close(force=True)


def send_signal(child: pexpect.spawn[str], number: signal.Signals) -> None:
    assert child.pid is not None
    os.kill(child.pid, number)


def living(marker: str) -> list[int]:
    """Processes that have this text in their command line or in what they were started with, zombies left out."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            started = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if marker.encode() in started and state != "Z":
            found.append(int(entry.name))
    return found


def gone(marker: str, seconds: float = 10.0, *, but: int | None = None) -> bool:
    """Whether every process with this text, one aside, has ended, or ends within some seconds."""
    for pid in living(marker):
        if pid == but:
            continue
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            select.select([descriptor], [], [], seconds)
        finally:
            os.close(descriptor)
    return all(pid == but for pid in living(marker))
