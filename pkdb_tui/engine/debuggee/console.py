"""Where code typed at a stop writes: to the engine, by a pipe that takes the place of the program's terminal."""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import io
import os
import sys
from collections.abc import Container
from typing import Any

from pkdb_tui.engine.debuggee.wire import move_high

OUT, ERR = 1, 2
C = ctypes.CDLL(None)
# Looked up here: ctypes does that in Python, with whatever builtins the program has by then.
_try_lock, _flush_unlocked, _unlock = C.ftrylockfile, C.fflush_unlocked, C.funlockfile


def _text(descriptor: int) -> io.TextIOWrapper:
    """A text stream that keeps back less than a line, as on a terminal."""
    raw = io.FileIO(descriptor, "w", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "backslashreplace", line_buffering=True)


class _Stream(io.TextIOBase):
    """`sys.stdout` or `sys.stderr` meanwhile: for the threads that evaluate, the pipe; for all others, what it was."""

    def __init__(self, ours: int, original: Any, terminal: int, threads: Container[int]) -> None:
        self._ours = _text(ours)
        self._original = original
        self._others = _text(terminal) if _descriptor(original) in (OUT, ERR) and terminal >= 0 else original
        self._threads = threads
        self.over = False

    def _target(self) -> Any:
        if self.over:
            return self._original
        return self._ours if _thread.get_ident() in self._threads else self._others

    def write(self, text: str) -> int:
        return int(self._target().write(text))

    def flush(self) -> None:
        self._target().flush()

    def end(self) -> None:
        """What was kept back is written, and from now on everybody writes where this stream stood before."""
        for stream in {self._ours, self._others}:
            with contextlib.suppress(Exception):  # the terminal may be gone
                stream.flush()
        self.over = True

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._target().fileno())

    @property
    def buffer(self) -> Any:
        return self._target().buffer

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return str(getattr(self._target(), "encoding", "utf-8"))


def _descriptor(stream: Any) -> int:
    try:
        return int(stream.fileno())
    except Exception:  # noqa: BLE001 - a stream of the program's may have none, or answer as it likes
        return -1


class _Taken:
    """One evaluation's hold on the output."""

    def __init__(self, terminals: tuple[int, int], outer: tuple[Any, Any], streams: tuple[_Stream, _Stream]) -> None:
        self.terminals = terminals
        self.outer = outer
        self.streams = streams


class Console:
    """The pipe to the engine; without one (`descriptor` -1) output goes where it always does."""

    def __init__(self, descriptor: int) -> None:
        self._pipe = move_high(descriptor) if descriptor >= 0 else -1
        self._lock = _thread.allocate_lock()
        self._taken: _Taken | None = None

    def take(self, threads: Container[int]) -> _Taken | None:
        """From now on these threads, and all that writes to the terminal's descriptors, write to the console."""
        with self._lock:
            if self._pipe < 0 or self._taken is not None:
                return None
            _flush(sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
            terminals = _saved(OUT), _saved(ERR)
            outer = sys.stdout, sys.stderr
            streams = (
                _Stream(self._pipe, outer[0], terminals[0], threads),
                _Stream(self._pipe, outer[1], terminals[1], threads),
            )
            for descriptor in (OUT, ERR):
                os.dup2(self._pipe, descriptor)
            sys.stdout, sys.stderr = streams
            self._taken = _Taken(terminals, outer, streams)
            return self._taken

    def give_back(self, taken: _Taken | None) -> None:
        """All is as before; safe to call twice."""
        with self._lock:
            if taken is None or taken is not self._taken:
                return
            self._taken = None
            for stream in taken.streams:
                stream.end()
            _flush(*taken.outer, sys.__stdout__, sys.__stderr__)
            if sys.stdout is taken.streams[0]:
                sys.stdout = taken.outer[0]
            if sys.stderr is taken.streams[1]:
                sys.stderr = taken.outer[1]
            for descriptor, terminal in zip((OUT, ERR), taken.terminals, strict=True):
                if terminal < 0:
                    os.close(descriptor)
                else:
                    os.dup2(terminal, descriptor)
                    os.close(terminal)


def _saved(descriptor: int) -> int:
    """A copy of one of the program's descriptors, out of its way; -1 where the program has closed it."""
    try:
        return move_high(os.dup(descriptor))
    except OSError:
        return -1


def _flush(*streams: Any) -> None:
    """What was written before goes where it was meant to, that of C code too."""
    for stream in streams:
        with contextlib.suppress(Exception):  # a stream of the program's that can't be flushed is its own affair
            stream.flush()
    _flush_c()


def _flush_c() -> None:
    """C's standard output, unless a thread is just writing there: it may have been stopped in the midst of it."""
    stream = ctypes.c_void_p.in_dll(C, "stdout")
    if _try_lock(stream) == 0:
        _flush_unlocked(stream)
        _unlock(stream)
