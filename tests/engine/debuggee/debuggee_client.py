"""A small engine for tests: starts a real debuggee on a pty and speaks the protocol over the socketpair."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
BOOT = ROOT / "pkdb_tui" / "engine" / "debuggee" / "__main__.py"
PATIENCE = 10.0

Json = dict[str, Any]


class Refused(Exception):
    """A reply that says no."""


class Client:
    """One debuggee; messages are kept in the order they came."""

    def __init__(
        self,
        script: str | Path = "",
        *args: str,
        module: str = "",
        runtime: str = "auto",
        cwd: Path | None = None,
        environment: dict[str, str] | None = None,
        python: str = sys.executable,
    ) -> None:
        ours, theirs = socket.socketpair()
        self.socket = ours
        self.terminal, program_side = pty.openpty()
        self.console, printing = os.pipe()
        config = {
            "fd": theirs.fileno(),
            "console": printing,
            "script": str(script),
            "module": module,
            "args": list(args),
            "runtime": runtime,
            "root": str(ROOT),
        }
        self.process = subprocess.Popen(
            [python, str(BOOT)],
            stdin=program_side,
            stdout=program_side,
            stderr=program_side,
            pass_fds=[theirs.fileno(), printing],
            env={**os.environ, "PYTHON_COLORS": "0", **(environment or {}), "PKDB_DEBUGGEE": json.dumps(config)},
            cwd=cwd,
            start_new_session=True,
        )
        theirs.close()
        os.close(program_side)
        os.close(printing)
        self.output = b""
        self.messages: list[Json] = []
        self.seen = 0
        self.on_log: Callable[[], None] = lambda: None
        self._buffer = b""
        self._number = 0

    # --- transport ---

    def _pump(self, deadline: float) -> None:
        """Take in whatever the program and the debuggee send next."""
        descriptors = [fd for fd in (self.socket, self.terminal) if fd is not None]
        ready, _, _ = select.select(descriptors, [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise AssertionError(f"nothing came within {PATIENCE} s; output {self.output!r}; got {self.messages[-3:]}")
        if self.terminal in ready:
            self._read_terminal()
        if self.socket in ready:
            data = self.socket.recv(65536)
            if not data:
                self.socket.close()
                self.socket = None  # type: ignore[assignment]
                return
            self._buffer += data
            *lines, self._buffer = self._buffer.split(b"\n")
            for message in map(json.loads, lines):
                self.messages.append(message)
                if message.get("event") == "logPoint":
                    self._take_output()
                    self.on_log()
                    self.post("logHeard", thread=message["body"]["thread"])

    def _take_output(self) -> None:
        """All that the program has written so far."""
        while self.terminal is not None and select.select([self.terminal], [], [], 0)[0]:
            self._read_terminal()

    def _read_terminal(self) -> None:
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            data = b""
        if not data:
            os.close(self.terminal)
            self.terminal = None  # type: ignore[assignment]
        self.output += data

    def _next(self, wanted: Any, patience: float = PATIENCE) -> Json:
        deadline = time.monotonic() + patience
        position = self.seen
        while True:
            while position < len(self.messages):
                message = self.messages[position]
                position += 1
                if wanted(message):
                    return message
            if self.socket is None:
                raise AssertionError(f"the debuggee is gone; output {self.output!r}; got {self.messages[-3:]}")
            self._pump(deadline)

    def request(self, command: str, **arguments: Any) -> Json:
        self._number += 1
        number = self._number
        message = {"id": number, "command": command, "arguments": arguments}
        self.socket.sendall(json.dumps(message).encode() + b"\n")
        reply = self._next(lambda m: m.get("reply") == number)
        if not reply["ok"]:
            raise Refused(f"{reply['title']} {reply['hint']}".strip())
        return reply["body"]

    def post(self, command: str, **arguments: Any) -> None:
        self._number += 1
        message = {"id": self._number, "command": command, "arguments": arguments}
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def event(self, name: str, patience: float = PATIENCE) -> Json:
        """The next event of that name; it and all before it count as seen."""
        message = self._next(lambda m: m.get("event") == name, patience)
        self.seen = self.messages.index(message) + 1
        return message["body"]

    def events(self, name: str) -> list[Json]:
        return [m["body"] for m in self.messages if m.get("event") == name]

    # --- what a person does ---

    def start(self, *breakpoints: Json) -> Json:
        """To the stop before the first line."""
        self.ready = self.event("ready")
        if breakpoints:
            self.placements = self.set_breakpoints(*breakpoints)
        return self.go("continue")

    def set_breakpoints(self, *breakpoints: Json) -> list[Json]:
        full = [{"id": number, **b} for number, b in enumerate(breakpoints, 1)]
        return self.request("setBreakpoints", breakpoints=full)["placements"]

    def resume(self, verb: str, **arguments: Any) -> None:
        self.seen = len(self.messages)
        self.request("resume", verb=verb, **arguments)

    def go(self, verb: str, **arguments: Any) -> Json:
        """Resume and wait for the next stop."""
        self.resume(verb, **arguments)
        return self.event("stopped")

    def line(self, verb: str, **arguments: Any) -> int:
        stop = self.go(verb, **arguments)
        return stop["frames"][stop["frame"]]["line"]

    def evaluate(self, expression: str, **arguments: Any) -> Json:
        return self.request("evaluate", expression=expression, **arguments)

    def console_text(self) -> str:
        """What expressions have printed since this was asked last."""
        found = b""
        while select.select([self.console], [], [], 0)[0] and (data := os.read(self.console, 65536)):
            found += data
        return found.decode()

    def text(self, expression: str, **arguments: Any) -> str:
        body = self.evaluate(expression, **arguments)
        assert not body["error"], body["error"]
        return body["text"]

    def finish(self) -> int:
        """Wait for the end; the status as subprocess tells it."""
        deadline = time.monotonic() + PATIENCE
        while self.terminal is not None or self.socket is not None:
            self._pump(deadline)
        return self.process.wait(PATIENCE)

    def run_out(self) -> int:
        self.resume("continue")
        return self.finish()

    def until_printed(self, text: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while text not in self.printed:
            self._pump(deadline)

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    @property
    def printed(self) -> str:
        """What the program has written so far, also where its message about a stop came in before it."""
        self._take_output()
        return self.output.decode().replace("\r\n", "\n")

    def close(self) -> None:
        os.close(self.console)
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.socket is not None:
            self.socket.close()
        if self.terminal is not None:
            os.close(self.terminal)


def where(stop: Json) -> tuple[str, int]:
    """(function, line) of the selected frame."""
    frame = stop["frames"][stop["frame"]]
    return frame["function"], frame["line"]
