"""The times of launches are those they ran: what a person takes at a stop is none of them."""

from __future__ import annotations

from typing import Any

import pytest

from pkdb_tui.engine.api import LaunchLogged, LaunchRecord
from pkdb_tui.engine.launch_log import LaunchLog
from pkdb_tui.engine.protocol import FrameBody, KernelReady


class Clocked:
    """A log over a clock, and the row it last told."""

    def __init__(self) -> None:
        self.now = 100.0
        self.told: tuple[LaunchRecord, ...] = ()
        self.log = LaunchLog(self._tell, lambda: self.now)

    def _tell(self, event: Any) -> None:
        assert isinstance(event, LaunchLogged)
        self.told = event.launches

    @property
    def row(self) -> LaunchRecord:
        (row,) = self.told
        return row

    def began(self) -> None:
        self.log.began(
            KernelReady(
                launch=1, kernel="yax", file="/yax.py", first_line=9, last_line=13, pattern="parallel_for",
                space="OpenMP", policy="RangePolicy", framework="minikokkos", binary="", lines={}, entry="pk_body",
                views="minikokkos", frames=[FrameBody(function="run", file="/yax.py", line=22)],
            )
        )  # fmt: skip

    def counted(self, count: int, last: float, total: float) -> None:
        body = {
            "kernel": "yax", "kernelFile": "/yax.py", "standsFor": "", "file": "/yax.py", "line": 22,
            "pattern": "parallel_for", "policy": "RangePolicy", "space": "OpenMP", "build": "debug",
            "count": count, "lastSeconds": last, "totalSeconds": total, "arguments": [], "warnings": [],
        }  # fmt: skip
        self.log.counted([body])


def test_a_running_time_stands_still_while_stopped() -> None:
    clocked = Clocked()
    clocked.began()
    clocked.now += 1
    clocked.log.stopped(True)
    clocked.now += 30
    assert clocked.row.stopped
    clocked.log.stopped(False)
    clocked.now += 2
    assert not clocked.row.stopped
    assert clocked.row.running_since is not None
    assert clocked.now - clocked.row.running_since == pytest.approx(3)


def test_what_the_program_measured_is_told_without_the_stops() -> None:
    clocked = Clocked()
    clocked.began()
    clocked.log.stopped(True)
    clocked.now += 30
    clocked.log.stopped(False)
    clocked.counted(1, 30.5, 30.5)
    clocked.log.ended()
    assert (clocked.row.last_seconds, clocked.row.total_seconds) == (0.5, 0.5)
    clocked.counted(2, 0.25, 30.75)  # another launch, at which nobody stopped
    assert (clocked.row.last_seconds, clocked.row.total_seconds) == (0.25, 0.75)


def test_another_run_has_times_of_its_own() -> None:
    clocked = Clocked()
    clocked.began()
    clocked.log.stopped(True)
    clocked.now += 30
    clocked.log.ended()  # killed at the stop
    clocked.log.forget()
    clocked.counted(1, 0.5, 0.5)
    assert (clocked.row.last_seconds, clocked.row.total_seconds) == (0.5, 0.5)
