"""How a thread goes on from a stop: pdb's step, next, return and until, as one small rule each."""

from __future__ import annotations

from types import FrameType

STEP = "step"
NEXT = "next"
RETURN = "return"
UNTIL = "until"
START = "start"
PAUSE = "pause"
DEBUG = "debug"


class Plan:
    """Where one thread stops next. `frame` is the frame a next, return or until belongs to."""

    __slots__ = ("frame", "kind", "line")

    def __init__(self, kind: str, frame: FrameType | None = None, line: int = 0) -> None:
        self.kind = kind
        self.frame = frame
        self.line = line

    @property
    def enters_calls(self) -> bool:
        return self.kind in (STEP, PAUSE, START)

    @property
    def reason(self) -> str:
        return self.kind if self.kind in (START, PAUSE) else STEP

    def stops_on_line(self, frame: FrameType, line: int) -> bool:
        if self.kind in (STEP, PAUSE, START):
            return True
        if self.kind == RETURN:
            return False
        if frame is not self.frame:
            return False
        return self.kind == NEXT or line >= self.line

    def stops_on_exception(self, frame: FrameType) -> bool:
        """At an exception in the frame, as pdb: an until only from its line on, a finish not at all."""
        if self.kind == STEP:
            return True
        if frame is not self.frame:
            return False
        return self.kind == NEXT or (self.kind == UNTIL and frame.f_lineno >= self.line)

    def stops_on_return(self, frame: FrameType) -> bool:
        """At the frame's own end, not at a yield; a step also ends at any function's return."""
        return self.kind == STEP or (self.frame is frame and self.kind in (NEXT, RETURN, UNTIL))

    def leave(self, frame: FrameType) -> None:
        """The frame it belongs to is gone: stop at whatever of the program's comes next."""
        if self.frame is frame:
            self.kind, self.frame = STEP, None
