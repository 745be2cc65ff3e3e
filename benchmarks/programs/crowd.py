"""The full-screen program with 100,000 kernel threads added to what each stop shows; all else is as it is.

No machine at hand runs that many kernel threads, so only the thread list of the snapshots is made here: it goes
through the same events, panes and drawing as a real one, and is another one at each stop.
"""

from __future__ import annotations

import functools
from typing import Any

import msgspec

from pkdb_tui.engine import session as sessions
from pkdb_tui.engine.api import Event, Focus, SnapshotChanged, Stopped, StopSnapshot, ThreadRange, ThreadState

THREADS, RUN = 100_000, 16
STATES = (ThreadState.BREAKPOINT, ThreadState.RUNNING, ThreadState.BREAKPOINT, ThreadState.DIVERGED)


@functools.cache
def crowd(shift: int, file: str) -> tuple[ThreadRange, ...]:
    """Runs of 16 threads; each `shift` has every run in another state. Made once, so that making it isn't measured."""
    return tuple(
        ThreadRange(
            first=first,
            last=min(first + RUN, THREADS) - 1,
            state=STATES[(first // RUN + shift) % len(STATES)],
            file=file,
            line=10,
        )
        for first in range(0, THREADS, RUN)
    )


def crowded(snapshot: StopSnapshot) -> StopSnapshot:
    """The snapshot with the crowd in changing states, and the focus somewhere in it."""
    turn = snapshot.generation
    focus = Focus(thread=turn * 997 % THREADS, threads=THREADS, text=f"thread {turn * 997 % THREADS} of {THREADS}")
    threads = crowd(turn % len(STATES), snapshot.location.file)
    return msgspec.structs.replace(snapshot, threads=threads, focus=focus)


class CrowdedSession(sessions.Session):
    def __init__(self, options: Any, listener: Any) -> None:
        def tell(event: Event) -> None:
            if isinstance(event, (Stopped, SnapshotChanged)):
                event = type(event)(snapshot=crowded(event.snapshot))
            listener(event)

        super().__init__(options, tell)


if __name__ == "__main__":
    setattr(sessions, "Session", CrowdedSession)  # noqa: B010 - replaces the class for whoever imports it from here on
    from pkdb_tui.cli import main

    raise SystemExit(main())
