"""Bounds on code run on the person's behalf: a time limit, and interruption on request, in any thread."""

from __future__ import annotations

import _thread
import ctypes
import signal
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from pkdb_tui.engine.debuggee import frames

T = TypeVar("T")
SIGNAL = signal.SIGRTMIN + 7
GRACE = 1.0  # seconds after which a run that was interrupted and goes on counts as stuck
INSIST_EVERY = 0.05
_set_async_exception = ctypes.pythonapi.PyThreadState_SetAsyncExc  # ctypes' look-up runs with the program's builtins


class EvaluationInterrupted(BaseException):
    """Raised into a running evaluation by the person."""


class EvaluationTimedOut(EvaluationInterrupted):
    """Raised into a running evaluation by its time limit."""


class Limit:
    """One bounded run; `fired` tells that its own time is over.

    `stuck` is called, on another thread, when it goes on in spite of having been interrupted: Python code can't be
    reached while it waits for a lock or runs in native code.
    """

    __slots__ = ("fired", "ident", "reached", "sent", "stuck", "watched")

    def __init__(self, stuck: Callable[[Limit], None] | None = None) -> None:
        self.ident = 0  # the thread that runs
        self.fired = False
        self.reached: type[EvaluationInterrupted] | None = None  # what is on its way to the thread, or has come
        self.sent = True  # false while that is about to be raised
        self.watched = True  # false while the thread that watches it is being started
        self.stuck = stuck


class Limits:
    """The bounded runs of all threads. The main thread is reached by a signal, so that waits in C end too."""

    def __init__(self, main: int) -> None:
        self._main = main
        self._active: list[Limit] = []
        self._lock = _thread.allocate_lock()  # held by whoever raises into runs
        self._pending: type[EvaluationInterrupted] | None = None
        self.waiting = 0  # requests that will run bounded and have not been answered
        self._soon = False

    def run(self, seconds: float, work: Callable[[], T], limit: Limit | None = None) -> T:
        """What `work` returns; after `seconds` EvaluationTimedOut is raised in it, on request EvaluationInterrupted.

        Both may be raised at any of Python's instructions, also those of this function: what a `with` statement does
        at its end could be left out by that.
        """
        limit = Limit() if limit is None else limit
        limit.ident = _thread.get_ident()
        finished = _thread.allocate_lock()
        finished.acquire()
        try:
            try:
                self._active.append(limit)
                self._start_watch(limit, finished, seconds)
                soon, self._soon = self._soon, False
                if soon:
                    raise EvaluationInterrupted
                result = work()
            finally:
                self._leave(limit)
        finally:  # once more, if that was broken off itself, which happens once at most
            self._leave(limit)
            finished.release()
            for outer in self._active:
                if outer.ident == limit.ident and outer.reached is not None:
                    raise outer.reached  # it came while this run was left, however that ended
        return result

    def _leave(self, limit: Limit) -> None:
        """The run is over, however it ended: from here on nothing arrives for it.

        No lock: one that is held when something arrives would stay so. Whoever raises looks whether a run is still
        there after having said so in it, and the run looks for that after it has gone.
        """
        while True:
            try:
                for each in self._from(limit):
                    self._active.remove(each)
                while not (limit.sent and limit.watched):
                    time.sleep(0)
                if limit.reached is not None:
                    self._absorb(limit.ident)
            except EvaluationInterrupted:
                continue  # it came too late
            return

    def _start_watch(self, limit: Limit, finished: _thread.LockType, seconds: float) -> None:
        """A thread that is being started has the name of this one until it runs, and would get what is meant for it."""
        try:
            limit.watched = False
            _thread.start_new_thread(self._watch, (limit, finished, seconds))
        except BaseException:
            limit.watched = True
            raise

    def _watch(self, limit: Limit, finished: _thread.LockType, seconds: float) -> None:
        limit.watched = True
        ident = _thread.get_ident()
        frames.own_threads.add(ident)
        if not finished.acquire(timeout=seconds) and limit in self._active:
            limit.fired = True
            self._break_off(limit, EvaluationTimedOut)
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
        while limit in self._active:
            self._send([limit], lambda: _retract(limit.ident))
            moment.acquire(timeout=INSIST_EVERY)
            frame = sys._current_frames().get(limit.ident)
            now = None if frame is None else (id(frame), frame.f_lasti)
            if before not in (None, now):
                self._send([limit], lambda: _raise_async(limit.ident, EvaluationInterrupted))
                moment.acquire(timeout=INSIST_EVERY)
            before = now

    def interrupt(self) -> None:
        """Break off everything that runs bounded."""
        self._soon = not self._active and self.waiting > 0
        outermost = {limit.ident: limit for limit in reversed(self._active)}
        for limit in outermost.values():
            self._break_off(limit, EvaluationInterrupted)

    def on_signal(self) -> None:
        """In the main thread's signal handler: raise what waits for it."""
        pending, self._pending = self._pending, None
        if pending is not None and any(limit.ident == self._main for limit in self._active):
            raise pending

    def _from(self, limit: Limit) -> list[Limit]:
        """A run and those inside it; none when it is over."""
        active = list(self._active)
        inner = active[active.index(limit) :] if limit in active else []
        return [each for each in inner if each.ident == limit.ident]

    def _break_off(self, limit: Limit, kind: type[EvaluationInterrupted]) -> None:
        with self._lock:
            fresh = [each for each in self._from(limit) if each.reached is None]
            if limit not in fresh:
                return  # it is over, or is being broken off already

            def now() -> None:
                if limit.ident == self._main:
                    self._pending = kind
                    signal.pthread_kill(limit.ident, SIGNAL)
                else:
                    _raise_async(limit.ident, kind)

            self._send(fresh, now, kind)
        for each in fresh:
            _thread.start_new_thread(self._insist, (each,))

    def _send(
        self, limits: list[Limit], act: Callable[[], None], kind: type[EvaluationInterrupted] | None = None
    ) -> None:
        """Act on the thread of these runs, if the first of them, which the others are inside, goes on; see `_leave`."""
        for limit in limits:
            limit.sent = False
            limit.reached = kind or limit.reached
        if limits[0] in self._active:
            act()
        for limit in limits:
            limit.sent = True

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


def start_named(work: Callable[[], None]) -> None:
    """Start a thread and wait until it has a name of its own.

    Before 3.12 it has that of this thread until it runs, and would get what is raised in this one.
    """
    begun = _thread.allocate_lock()
    begun.acquire()

    def run() -> None:
        begun.release()
        work()

    _thread.start_new_thread(run, ())
    begun.acquire()


def _raise_async(ident: int, kind: type[EvaluationInterrupted]) -> None:
    _set_async_exception(ctypes.c_ulong(ident), ctypes.py_object(kind))


def _retract(ident: int) -> None:
    """Take back what is on its way to another thread.

    That alone leaves 3.11's flag set, which whoever gets such an exception clears: so this thread gets one.
    """
    _set_async_exception(ctypes.c_ulong(ident), None)
    try:
        _raise_async(_thread.get_ident(), EvaluationInterrupted)
        for _ in range(1000):
            pass
    except EvaluationInterrupted:
        return
