"""The stack of a stopped thread and the list of threads, without the debugger's own frames."""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType, TracebackType
from typing import Any

from pkdb_tui.engine.debuggee.sources import is_glue, is_own, real_path

Json = dict[str, Any]
Place = tuple[FrameType, int]

bottom_codes: set[CodeType] = set()


def stack_of(frame: FrameType | None) -> list[Place]:
    """Frames from the innermost to the program's outermost."""
    places: list[Place] = []
    while frame is not None:
        if frame.f_code in bottom_codes:
            break
        if not is_own(frame.f_code.co_filename):
            places.append((frame, frame.f_lineno or frame.f_code.co_firstlineno))
        frame = frame.f_back
    return places


def stack_of_traceback(traceback: TracebackType | None) -> list[Place]:
    """Frames of a traceback, innermost first, then none below it: those have ended."""
    places: list[Place] = []
    while traceback is not None:
        if not is_own(traceback.tb_frame.f_code.co_filename):
            places.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    return places[::-1]


def display_file(file: str) -> str:
    return real_path(file)


def frame_bodies(places: list[Place]) -> list[Json]:
    return [
        {
            "function": frame.f_code.co_name,
            "file": display_file(frame.f_code.co_filename),
            "line": line,
            "glue": is_glue(frame.f_code.co_filename),
        }
        for frame, line in places
    ]


def selected(places: list[Place]) -> int:
    """The innermost frame that isn't library code, or the innermost of all."""
    for index, (frame, _) in enumerate(places):
        if not is_glue(frame.f_code.co_filename):
            return index
    return 0


own_threads: set[int] = set()


def thread_bodies(current: int, places: list[Place]) -> list[Json]:
    """Every Python thread of the program with its place; the debugger's own are left out."""
    found = []
    active = dict(threading._active)  # type: ignore[attr-defined]
    for ident, frame in sys._current_frames().items():
        if ident in own_threads:
            continue
        mine = places if ident == current else stack_of(frame)
        if not mine:
            continue
        top, line = mine[selected(mine)]
        thread = active.get(ident)
        found.append(
            {
                "ident": ident,
                "name": thread.name if thread is not None else f"thread {ident}",
                "current": ident == current,
                "file": display_file(top.f_code.co_filename),
                "line": line,
                "function": top.f_code.co_name,
            }
        )
    return sorted(found, key=lambda body: not body["current"])
