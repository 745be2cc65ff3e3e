"""The launch log as it is shown: what the program counted, and the launch that runs now."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from pkdb_tui.engine.api import Event, LaunchLogged, LaunchRecord
from pkdb_tui.engine.protocol import KernelReady, LaunchBody
from pkdb_tui.engine.snapshots import argument


class LaunchLog:
    """Launches of one run, in the order of their first one; each change is told to `emit`."""

    def __init__(self, emit: Callable[[Event], None], now: Callable[[], float] = time.monotonic) -> None:
        self._emit = emit
        self._now = now
        self._counted: tuple[LaunchRecord, ...] = ()
        self._running: LaunchRecord | None = None

    def public(self) -> tuple[LaunchRecord, ...]:
        """The running launch is marked in the row that counts its like, or is a row of its own."""
        running = self._running
        if running is None:
            return self._counted
        rows = [
            msgspec.structs.replace(
                row,
                running_since=running.running_since,
                build=running.build,
                policy=running.policy,
                arguments=running.arguments,
            )
            if _key(row) == _key(running)
            else row
            for row in self._counted
        ]
        return (*rows, running) if rows == list(self._counted) else tuple(rows)

    def counted(self, bodies: Sequence[dict[str, Any]]) -> None:
        """What the program counted so far."""
        self._counted = tuple(_record(msgspec.convert(body, LaunchBody)) for body in bodies)
        self._tell()

    def began(self, kernel: KernelReady) -> None:
        """A launch that is debugged, or in which the program was paused."""
        call = kernel.frames[0] if kernel.frames else None
        self._running = LaunchRecord(
            kernel=kernel.kernel,
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

    def ended(self) -> None:
        """No launch runs any more."""
        if self._running is not None:
            self._running = None
            self._tell()

    def forget(self) -> None:
        """Another run begins."""
        self._counted, self._running = (), None
        self._tell()

    def _tell(self) -> None:
        self._emit(LaunchLogged(launches=self.public()))


def _record(body: LaunchBody) -> LaunchRecord:
    fields = msgspec.structs.asdict(body)
    return LaunchRecord(
        **{**fields, "arguments": tuple(map(argument, body.arguments)), "warnings": tuple(body.warnings)}
    )


def _key(row: LaunchRecord) -> tuple[str, str, int, str]:
    return row.kernel, row.file, row.line, row.space
