"""The launch log as it is shown: what the program counted, and the launch that runs now."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from pkdb_tui.engine.api import Event, LaunchLogged, LaunchRecord
from pkdb_tui.engine.protocol import KernelReady, LaunchBody
from pkdb_tui.engine.snapshots import argument

_Key = tuple[str, str, str, int, str]  # kernel, its file, file and line of the call, space


class LaunchLog:
    """Launches of one run, in the order of their first one; each change is told to `emit`."""

    def __init__(self, emit: Callable[[Event], None], now: Callable[[], float] = time.monotonic) -> None:
        self._emit = emit
        self._now = now
        self._counted: tuple[LaunchRecord, ...] = ()
        self._running: LaunchRecord | None = None
        self._stopped_at: float | None = None  # since when the running launch is stopped
        self._stopped = 0.0  # seconds that it was stopped before
        self._all_stopped: dict[_Key, float] = {}  # seconds that the launches of each row were stopped
        self._last_stopped: dict[_Key, tuple[int, float]] = {}  # the count of a row then, and those of its last launch

    def public(self) -> tuple[LaunchRecord, ...]:
        """The running launch is marked in the row that counts its like, or is a row of its own."""
        counted = [self._without_stops(row) for row in self._counted]
        if self._running is None:
            return tuple(counted)
        running = msgspec.structs.replace(
            self._running, running_since=self._since(), stopped=self._stopped_at is not None
        )
        rows = [
            msgspec.structs.replace(
                row,
                running_since=running.running_since,
                stopped=running.stopped,
                build=running.build,
                policy=running.policy,
                arguments=running.arguments,
            )
            if _key(row) == _key(running)
            else row
            for row in counted
        ]
        return (*rows, running) if rows == counted else tuple(rows)

    def _since(self) -> float:
        """When the running launch would have begun, had it not been stopped meanwhile."""
        assert self._running is not None
        assert self._running.running_since is not None
        stopped = self._stopped + (self._now() - self._stopped_at if self._stopped_at is not None else 0.0)
        return self._running.running_since + stopped

    def _without_stops(self, row: LaunchRecord) -> LaunchRecord:
        """With the time that its launches ran: the program measures that at which they are stopped, too."""
        count, last = self._last_stopped.get(_key(row), (0, 0.0))
        return msgspec.structs.replace(
            row,
            last_seconds=max(row.last_seconds - last, 0.0) if row.count == count else row.last_seconds,
            total_seconds=max(row.total_seconds - self._all_stopped.get(_key(row), 0.0), 0.0),
        )

    def counted(self, bodies: Sequence[dict[str, Any]]) -> None:
        """What the program counted so far."""
        self._counted = tuple(_record(msgspec.convert(body, LaunchBody)) for body in bodies)
        self._tell()

    def began(self, kernel: KernelReady) -> None:
        """A launch that is debugged, or in which the program was paused."""
        self._stopped_at, self._stopped = None, 0.0
        call = kernel.frames[0] if kernel.frames else None
        self._running = LaunchRecord(
            kernel=kernel.kernel,
            kernel_file=kernel.file,
            file=call.file if call is not None else kernel.file,
            line=call.line if call is not None else kernel.first_line,
            pattern=kernel.pattern,
            policy=kernel.policy,
            space=kernel.space,
            build=kernel.build,
            count=0,
            last_seconds=0.0,
            total_seconds=0.0,
            arguments=tuple(map(argument, kernel.arguments)),
            running_since=self._now(),
        )
        self._tell()

    def stopped(self, stopped: bool) -> None:
        """Whether the launch that runs is stopped, which is no time of its own."""
        if self._running is None or stopped == (self._stopped_at is not None):
            return
        if self._stopped_at is not None:
            self._stopped += self._now() - self._stopped_at
        self._stopped_at = self._now() if stopped else None
        self._tell()

    def ended(self) -> None:
        """No launch runs any more."""
        if self._running is not None:
            self.stopped(False)
            key = _key(self._running)
            count = next((row.count for row in self._counted if _key(row) == key), 0)
            self._all_stopped[key] = self._all_stopped.get(key, 0.0) + self._stopped
            self._last_stopped[key] = count, self._stopped
            self._running = None
            self._tell()

    def forget(self) -> None:
        """Another run begins."""
        self._counted, self._running = (), None
        self._all_stopped, self._last_stopped = {}, {}
        self._tell()

    def _tell(self) -> None:
        self._emit(LaunchLogged(launches=self.public()))


def _record(body: LaunchBody) -> LaunchRecord:
    fields = msgspec.structs.asdict(body)
    return LaunchRecord(
        **{**fields, "arguments": tuple(map(argument, body.arguments)), "warnings": tuple(body.warnings)}
    )


def _key(row: LaunchRecord) -> _Key:
    return row.kernel, row.kernel_file, row.file, row.line, row.space
