"""JSON lines over the inherited socket: requests in, replies and events out."""

from __future__ import annotations

import _thread
import fcntl
import json
import os
import resource
import select
import socket
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]


class RequestError(Exception):
    """A request that can't be served: `title` says what happened, `hint` what to do."""

    def __init__(self, title: str, hint: str = "") -> None:
        super().__init__(title)
        self.title = title
        self.hint = hint


def move_high(descriptor: int) -> int:
    """Move a descriptor out of the way of programs that close low ones, close-on-exec; returns the new one."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    ceiling = 65536 if soft == resource.RLIM_INFINITY else min(soft, 1 << 20)
    low = max(257, ceiling - 64) if ceiling > 330 else max(3, ceiling - 64)
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, low)
    os.close(descriptor)
    return moved


def encode(message: Json) -> bytes:
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


class Connection:
    """The debuggee's end of the socketpair; sending is safe from any thread."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._socket.setblocking(True)
        self._lock = _thread.allocate_lock()
        self._buffer = b""
        self._wake, self._waker = (move_high(end) for end in os.pipe())
        self.open = True

    def send(self, message: Json) -> None:
        data = encode(message)
        with self._lock:
            if not self.open:
                return
            try:
                self._socket.sendall(data)
            except OSError:
                self.open = False

    def event(self, name: str, body: Json) -> None:
        self.send({"event": name, "body": body})

    def reply(self, request: int, body: Json) -> None:
        self.send({"reply": request, "ok": True, "body": body})

    def refuse(self, request: int, error: RequestError) -> None:
        self.send({"reply": request, "ok": False, "title": error.title, "hint": error.hint})

    def messages(self) -> Iterator[Json]:
        """Requests as they arrive, until `interrupt`; raises EOFError when the other side is gone."""
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        while True:
            while b"\n" not in self._buffer:
                ready = [descriptor for descriptor, _ in poll.poll()]
                if self._wake in ready:
                    os.read(self._wake, 1)
                    return
                data = self._socket.recv(65536)
                if not data:
                    raise EOFError
                self._buffer += data
            line, self._buffer = self._buffer.split(b"\n", 1)
            if line.strip():
                message: Json = json.loads(line)
                yield message

    def interrupt(self) -> None:
        """Let the thread that reads leave `messages`; what it has not handed out is kept."""
        os.write(self._waker, b"x")

    def forget(self) -> None:
        """Close this process's copy without a word, as a forked child must."""
        self.open = False
        self._lock = _thread.allocate_lock()
        self._socket.close()
        os.close(self._wake)
        os.close(self._waker)
