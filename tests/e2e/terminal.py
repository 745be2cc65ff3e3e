"""A real terminal to look at: tmux draws the screen, keys go in, and no process may stay behind."""

from __future__ import annotations

import os
import re
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

MARK = "PKDB_E2E"
POLL = 0.05
LIMIT = 15.0
CONFIGURATION = """\
set -g status off
set -g remain-on-exit on
set -g escape-time 0
set -g history-limit 2000
"""


def until(condition: Callable[[], bool], limit: float) -> bool:
    """Whether the condition came true within `limit` seconds."""
    deadline = time.monotonic() + limit
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL)
    return True


def alive(pid: int) -> bool:
    """Whether the process runs; one that only waits to be collected has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


class Marked:
    """The processes whose environment carries one mark: all that a test started, wherever they were put."""

    def __init__(self) -> None:
        self.value = uuid.uuid4().hex
        self._entry = f"{MARK}={self.value}".encode()

    def processes(self) -> dict[int, str]:
        """The command lines of those that run, by process number."""
        found: dict[int, str] = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit() or int(folder.name) == os.getpid():
                continue
            try:
                marked = self._entry in (folder / "environ").read_bytes().split(b"\0")
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
            except (FileNotFoundError, ProcessLookupError, PermissionError):  # ended, or not ours
                continue
            if marked and alive(int(folder.name)):
                found[int(folder.name)] = command
        return found

    def debugging(self) -> dict[int, str]:
        """Those that belong to a debugging session: not the terminal nor what carries it."""
        around = ("tmux", "sh", "ssh", "sshd", "sshd:")
        return {
            pid: command
            for pid, command in self.processes().items()
            if os.path.basename(command.partition(" ")[0]) not in around
        }

    def matching(self, words: str) -> list[int]:
        """The processes whose command lines match."""
        return [pid for pid, command in self.processes().items() if re.search(words, command)]

    def one(self, words: str) -> int:
        """The process whose command line matches."""
        found = self.matching(words)
        assert len(found) == 1, f"{words!r} matches {len(found)} of {self.processes()}"
        return found[0]


class Terminal:
    """One command on a tmux terminal of its own; the last screen stays readable after the command ends."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        columns: int = 80,
        rows: int = 24,
        socket: str,
    ) -> None:
        self._socket = socket
        configuration = folder / "tmux.conf"
        configuration.write_text(CONFIGURATION)
        # tmux 3.3 now and then misses the end of a pane's process, so a shell notes it, as a person's would.
        self._end = folder / f"{socket}.end"
        shell = ["/bin/sh", "-c", '"$@"; echo "$?" >"$0"', str(self._end)]
        size = ["-x", str(columns), "-y", str(rows)]
        subprocess.run(
            [
                "tmux",
                "-L",
                socket,
                "-f",
                configuration,
                "new-session",
                "-d",
                *size,
                "-c",
                folder,
                "--",
                *shell,
                *command,
            ],
            env=dict(environment),
            check=True,
            timeout=LIMIT,
        )

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._socket, *words], capture_output=True, text=True, check=True, timeout=LIMIT
        )
        return done.stdout

    @property
    def text(self) -> str:
        """What the screen shows, a line for each row, without colours."""
        return self._tmux("capture-pane", "-p")

    @property
    def all_text(self) -> str:
        """What the screen shows and what has been scrolled out of it."""
        return self._tmux("capture-pane", "-p", "-S", "-")

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def end(self) -> str:
        """The exit status of the command, once it has ended; empty while it runs."""
        return self._end.read_text().strip() if self._end.exists() else ""

    def press(self, *keys: str) -> None:
        """Presses keys by their tmux names: `n`, `Enter`, `C-c`, `Right`."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Types text letter by letter, as it is."""
        self._tmux("send-keys", "-l", "--", text)

    def move(self, key: str) -> None:
        """Presses a key that moves the focus, and waits until the titles show that it has moved."""
        before = self._titles()
        self.press(key)
        assert until(lambda: self._titles() != before, LIMIT), f"{key} did not move the focus:\n{self.text}"

    def _titles(self) -> list[str]:
        return [line for line in self._tmux("capture-pane", "-p", "-e").splitlines() if "─" in line]

    def wait_for_cursor(self, pattern: str, limit: float = LIMIT) -> None:
        """Waits until the cursor stands in a line that matches: what is typed now lands there."""

        def there() -> bool:
            row = int(self._tmux("display-message", "-p", "#{cursor_y}"))
            return row < len(lines := self.lines) and bool(re.search(pattern, lines[row]))

        assert until(there, limit), f"The cursor is not at {pattern!r}:\n{self.text}"

    def resize(self, columns: int, rows: int) -> None:
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def wait_for(self, pattern: str, limit: float = LIMIT) -> str:
        """The screen once it matches; fails with the screen as it stands when it never does."""
        return self._wait(pattern, lambda text: bool(re.search(pattern, text)), limit)

    def wait_without(self, pattern: str, limit: float = LIMIT) -> str:
        """The screen once nothing on it matches."""
        return self._wait(f"no {pattern}", lambda text: not re.search(pattern, text), limit)

    def _wait(self, wanted: str, condition: Callable[[str], bool], limit: float) -> str:
        deadline = time.monotonic() + limit
        while not condition(text := self.text):
            assert time.monotonic() < deadline, f"{wanted!r} was not seen within {limit:.0f} s:\n{text}"
            time.sleep(POLL)
        return text

    def wait_end(self, limit: float = LIMIT) -> str:
        """The exit status of the command, once it has ended; 128 and the signal's number when one ended it."""
        assert until(lambda: bool(self.end), limit), f"The command still runs:\n{self.text}"
        return self.end

    def kill(self) -> None:
        """Takes the terminal away, as closing its window would, and the socket that tmux leaves behind."""
        subprocess.run(["tmux", "-L", self._socket, "kill-server"], capture_output=True, check=False, timeout=LIMIT)
        folder = Path(os.environ.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}"
        (folder / self._socket).unlink(missing_ok=True)


class Start(Protocol):
    """Debugs a program given as text, on a terminal of this size."""

    def __call__(self, text: str, columns: int = 120, rows: int = 40) -> Terminal: ...
