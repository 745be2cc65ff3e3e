"""Bounds on code run on the person's behalf: a time limit, and interruption on request, in any thread."""

from __future__ import annotations

import _thread
import ctypes
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pkdb_tui.engine.debuggee import frames

SIGNAL = signal.SIGRTMIN + 7
GRACE = 1.0  # seconds after which a run that was interrupted and goes on counts as stuck
INSIST_EVERY = 0.05


class EvaluationInterrupted(BaseException):
    """Raised into a running evaluation by the person."""


class EvaluationTimedOut(EvaluationInterrupted):
    """Raised into a running evaluation by its time limit."""


class Limit:
    """One bounded run; `fired` tells that its own time is over.

    `stuck` is called, on another thread, when it goes on in spite of having been interrupted: Python code can't be
    reached while it waits for a lock or runs in native code.
    """

    __slots__ = ("ending", "fired", "ident", "reached", "stuck")

    def __init__(self, ident: int, stuck: Callable[[Limit], None] | None) -> None:
        self.ident = ident
        self.fired = False
        self.reached = False  # an exception is on its way to the thread
        self.stuck = stuck
        self.ending = False


class Limits:
    """The bounded runs of all threads. The main thread is reached by a signal, so that waits in C end too."""

    def __init__(self, main: int) -> None:
        self._main = main
        self._active: list[Limit] = []
        self._pending: type[EvaluationInterrupted] | None = None
        self.waiting = 0  # requests that will run bounded and have not been answered
        self._soon = False

    @contextmanager
    def within(self, seconds: float, stuck: Callable[[Limit], None] | None = None) -> Iterator[Limit]:
        """After `seconds` EvaluationTimedOut is raised inside, on request EvaluationInterrupted."""
        limit = Limit(_thread.get_ident(), stuck)
        finished = _thread.allocate_lock()
        finished.acquire()
        self._active.append(limit)
        _thread.start_new_thread(self._watch, (limit, finished, seconds))
        try:
            soon, self._soon = self._soon, False
            if soon:
                raise EvaluationInterrupted
            yield limit
            limit.ending = True
            if limit.reached:
                self._absorb(limit.ident)
        finally:
            self._active.remove(limit)
            finished.release()

    def _watch(self, limit: Limit, finished: _thread.LockType, seconds: float) -> None:
        ident = _thread.get_ident()
        frames.own_threads.add(ident)
        if not finished.acquire(timeout=seconds) and limit in self._active:
            limit.fired = True
            self._raise_in(limit.ident, EvaluationTimedOut)
        frames.own_threads.discard(ident)

    def _insist(self, limit: Limit) -> None:
        """Until the run has ended: an exception that came just before a wait in the system needs one more signal."""
        ident = _thread.get_ident()
        frames.own_threads.add(ident)
        moment = _thread.allocate_lock()
        moment.acquire()
        deadline = time.monotonic() + GRACE
        while limit in self._active and time.monotonic() < deadline:
            moment.acquire(timeout=INSIST_EVERY)
            if limit.ident == self._main and self._pending is not None and limit in self._active:
                signal.pthread_kill(limit.ident, SIGNAL)
        if limit in self._active:
            if limit.stuck is not None:
                limit.stuck(limit)
            if limit.ident != self._main:
                self._pursue(limit, moment)
        frames.own_threads.discard(ident)

    def _pursue(self, limit: Limit, moment: _thread.LockType) -> None:
        """Break a run off once it is in Python code again.

        Until then nothing must be on its way to its thread: 3.11 lets all threads look for it all the time, and those
        that are traced get no further.
        """
        before = None
        while limit in self._active and not limit.ending:
            _retract(limit.ident)
            moment.acquire(timeout=INSIST_EVERY)
            frame = sys._current_frames().get(limit.ident)
            now = None if frame is None else (id(frame), frame.f_lasti)
            if before not in (None, now) and limit in self._active and not limit.ending:
                _raise_async(limit.ident, EvaluationInterrupted)
                moment.acquire(timeout=INSIST_EVERY)
            before = now

    def interrupt(self) -> None:
        """Break off everything that runs bounded."""
        self._soon = not self._active and self.waiting > 0
        for ident in {limit.ident for limit in self._active}:
            self._raise_in(ident, EvaluationInterrupted)

    def on_signal(self) -> None:
        """In the main thread's signal handler: raise what waits for it."""
        pending, self._pending = self._pending, None
        if pending is not None and any(limit.ident == self._main for limit in self._active):
            raise pending

    def _raise_in(self, ident: int, kind: type[EvaluationInterrupted]) -> None:
        for limit in self._active:
            if limit.ident == ident and not limit.reached:
                limit.reached = True
                _thread.start_new_thread(self._insist, (limit,))
        if ident == self._main:
            self._pending = kind
            signal.pthread_kill(ident, SIGNAL)
        else:
            _raise_async(ident, kind)

    def _absorb(self, ident: int) -> None:
        """Take what is on its way to this thread but came too late.

        Clearing it by PyThreadState_SetAsyncExc(ident, NULL) leaves 3.11's evaluation flag set for good, which hangs a
        traced thread; so let it arrive here.
        """
        if ident == self._main:
            self._pending = None
            return
        try:
            for _ in range(1000):
                pass
        except EvaluationInterrupted:
            return


def _raise_async(ident: int, kind: type[EvaluationInterrupted]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(kind))


def _retract(ident: int) -> None:
    """Take back what is on its way to another thread.

    That alone leaves 3.11's flag set, which whoever gets such an exception clears: so this thread gets one.
    """
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), None)
    try:
        _raise_async(_thread.get_ident(), EvaluationInterrupted)
        for _ in range(1000):
            pass
    except EvaluationInterrupted:
        return
