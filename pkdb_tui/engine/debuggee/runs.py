"""Launches under way, on whichever of the program's threads, and what a native debugger's look at one needs."""

from __future__ import annotations

import _thread
import ctypes
import os
import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from types import FrameType
from typing import Any

from pkdb_tui.engine.debuggee import frames
from pkdb_tui.engine.debuggee.frameworks.base import Adapter

Json = dict[str, Any]


class Attended:
    """A launch that a native debugger looks at, from `launchReady` or `inKernel` until `launchDone`.

    `serve` answers requests about its frames, on a thread of its own that begins with the first of them: most launches
    get none, and a thread costs a traced process a millisecond.
    """

    def __init__(
        self,
        number: int,
        places: list[frames.Place],
        arguments: Mapping[str, Any],
        serve: Callable[[Attended], None],
    ) -> None:
        self.number = number
        self.places = places
        self.arguments = arguments  # the launch's
        self.server: object = None  # the thread that serves; another one takes over from one that is stuck
        self.answers: SimpleQueue[str] = SimpleQueue()
        self.requests: SimpleQueue[Json | None] = SimpleQueue()
        self._serve = serve
        self._serving = False
        self._closed = False
        self._lock = _thread.allocate_lock()
        self._end = _thread.allocate_lock()

    def ask(self, request: Json) -> bool:
        """Have a request served; False when nobody looks at the launch any more."""
        with self._lock:
            if self._closed:
                return False
            self.requests.put(request)
            begin, self._serving = not self._serving, True
        if begin:
            _thread.start_new_thread(self._serve, (self,))
        return True

    def close(self) -> None:
        """Serve what was asked, and nothing more."""
        with self._lock:
            self._closed = True
            self.requests.put(None)

    def claim_end(self) -> bool:
        """True for the first to ask: whoever tells its end, or finds that it was over before anybody looked."""
        return self._end.acquire(blocking=False)


class Outcome:
    """What became of a launch. `then` is launchDone's."""

    def __init__(self) -> None:
        self.result: Any = None
        self.error: BaseException | None = None
        self.then = "continue"

    @property
    def text(self) -> str:
        return "" if self.error is None else f"{type(self.error).__name__}: {self.error}"


class Sign:
    """Names the kernel under way in memory that the engine reads while Python's lock is held, and nothing answers."""

    SIZE = 1024

    def __init__(self) -> None:
        self._memory = ctypes.create_string_buffer(self.SIZE)

    @property
    def address(self) -> int:
        return ctypes.addressof(self._memory)

    def show(self, text: bytes) -> None:
        self._memory.value = text[: self.SIZE - 1]


class Run:
    """An optimised kernel under way."""

    def __init__(
        self, adapter: Adapter, launch: Any, caller: FrameType, thread: int, number: int, mark: Any = None
    ) -> None:
        self.adapter = adapter
        self.launch = launch
        self.caller = caller
        self.thread = thread  # Python's name of it
        self.number = number
        self.mark = mark  # the adapter's name of one that has not passed the hook, and has no number yet
        self.attended: Attended | None = None
        self.around: Run | None = None  # the one during which a signal handler launched this one


class Runs:
    """Optimised kernels under way that passed the hook, by thread; with those that the adapters know of, all."""

    def __init__(self, adapters: list[Adapter]) -> None:
        self.adapters = adapters
        self._seen: dict[int, Run] = {}

    def begin(self, adapter: Adapter, launch: Any, caller: FrameType, number: int) -> Run:
        ident = _thread.get_ident()
        run = Run(adapter, launch, caller, ident, number)
        run.around = self._seen.get(ident)
        self._seen[ident] = run
        return run

    def end(self, run: Run) -> None:
        if run.around is None:
            self._seen.pop(run.thread, None)
        else:
            self._seen[run.thread] = run.around

    def end_early(self) -> Run | None:
        """The one of this thread, which counts as over from now on."""
        for adapter in self.adapters:
            adapter.end_early()
        return self._seen.pop(_thread.get_ident(), None)

    @property
    def count(self) -> int:
        return len(self._seen) + sum(len(adapter.running()) for adapter in self.adapters)

    def any(self) -> Run | None:
        """One of them, an older rather than a newer one."""
        for run in list(self._seen.values()):
            return run
        for adapter in self.adapters:
            for thread, mark in adapter.running().items():
                caller, launch = adapter.launch_of(mark)
                return Run(adapter, launch, caller, thread, 0, mark)
        return None

    def includes(self, run: Run) -> bool:
        """Whether it is still under way."""
        if run.mark is None:
            return self._seen.get(run.thread) is run
        return run.adapter.running().get(run.thread) is run.mark

    def attend(self, run: Run, attended: Attended, over: Callable[[], None]) -> bool:
        """Have the end of a run told; False when it has come before that."""
        run.attended = attended
        if run.mark is not None:
            run.adapter.attend(run.mark, over)
        # In this order: an end that comes in between is seen by one of the two threads at least.
        if self.includes(run) or not attended.claim_end():
            return True
        self.look_away(run)
        return False

    @staticmethod
    def look_away(run: Run) -> None:
        """Nobody asks for its end any more."""
        if run.mark is not None:
            run.adapter.attend(None, None)


def system_thread(ident: int) -> int:
    """The system's number of a Python thread, or 0 where nobody knows it."""
    thread = threading._active.get(ident)  # type: ignore[attr-defined]
    if thread is not None:
        return os.getpid() if thread is threading.main_thread() else int(thread.native_id or 0)
    return os.getpid() if ident == _thread.get_ident() else 0
