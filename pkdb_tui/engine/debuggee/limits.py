"""Bounds on code run on the person's behalf: a time limit, and interruption on request, in any thread."""

from __future__ import annotations

import _thread
import ctypes
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from pkdb_tui.engine.debuggee import frames

SIGNAL = signal.SIGRTMIN + 7


class EvaluationInterrupted(BaseException):
    """Raised into a running evaluation by the person."""


class EvaluationTimedOut(EvaluationInterrupted):
    """Raised into a running evaluation by its time limit."""


class Limit:
    """One bounded run; `fired` tells that its own time is over."""

    __slots__ = ("fired", "ident", "reached")

    def __init__(self, ident: int) -> None:
        self.ident = ident
        self.fired = False
        self.reached = False  # an exception is on its way to the thread


class Limits:
    """The bounded runs of all threads. The main thread is reached by a signal, so that waits in C end too."""

    def __init__(self, main: int) -> None:
        self._main = main
        self._active: list[Limit] = []
        self._pending: type[EvaluationInterrupted] | None = None
        self.waiting = 0  # requests that will run bounded and have not been answered
        self._soon = False

    @contextmanager
    def within(self, seconds: float) -> Iterator[Limit]:
        """After `seconds` EvaluationTimedOut is raised inside, on request EvaluationInterrupted."""
        limit = Limit(_thread.get_ident())
        finished = _thread.allocate_lock()
        finished.acquire()
        self._active.append(limit)
        _thread.start_new_thread(self._watch, (limit, finished, seconds))
        try:
            soon, self._soon = self._soon, False
            if soon:
                raise EvaluationInterrupted
            yield limit
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
            limit.reached = limit.reached or limit.ident == ident
        if ident == self._main:
            self._pending = kind
            signal.pthread_kill(ident, SIGNAL)
        else:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(kind))

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
