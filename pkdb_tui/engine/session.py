"""Session: the one façade of the engine, one verb per thing a person can do, and the state machine.

Interface first; bodies follow. All coroutines run on one asyncio loop; the listener is called on that loop, in the
order things happened, never from inside a verb before its reply is delivered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

from pkdb_tui.engine.api import (
    Breakpoint,
    BreakpointSpec,
    Evaluation,
    Event,
    ExitCause,
    LaunchOptions,
    LaunchRecord,
    Phase,
    Slice,
    SourceInfo,
    StopSnapshot,
    ThreadValues,
    Watch,
)


class Verb(StrEnum):
    """Ways to go on. FINISH is gdb's: out of this frame, from the outermost kernel frame to the end of the launch."""

    CONTINUE = "continue"
    NEXT = "next"
    STEP = "step"
    FINISH = "finish"
    UNTIL = "until"


class Session:
    """One debugged program, from before its first line to after its end, and again after a restart."""

    phase: Phase
    generation: int
    snapshot: StopSnapshot | None
    exit_cause: ExitCause | None
    breakpoints: tuple[Breakpoint, ...]
    watches: tuple[Watch, ...]
    launches: tuple[LaunchRecord, ...]
    runtime: str  # one sentence about the runtime: "embedded runtime (pykokkos is not installed)", or empty

    def __init__(self, options: LaunchOptions, listener: Callable[[Event], None]) -> None:
        raise NotImplementedError

    async def start(self) -> None: ...  # then Stopped(START); raises LaunchError
    async def restart(self) -> None: ...
    async def quit(self) -> None: ...  # ends every process the session started; never raises

    async def resume(self, verb: Verb, *, line: int = 0, threads: str = "", all_threads: bool = False) -> None: ...
    async def jump(self, line: int) -> None: ...
    async def pause(self) -> None: ...

    async def add_breakpoint(self, spec: BreakpointSpec) -> Breakpoint: ...
    async def remove_breakpoints(self, ids: Sequence[int]) -> None: ...
    async def enable_breakpoints(self, ids: Sequence[int], enabled: bool) -> None: ...
    async def change_breakpoint(self, number: int, spec: BreakpointSpec) -> Breakpoint: ...
    async def describe_file(self, path: str) -> SourceInfo: ...

    async def select_frame(self, index: int) -> StopSnapshot: ...
    async def select_thread(self, thread: int) -> StopSnapshot: ...
    async def show_glue(self, shown: bool) -> None: ...

    async def evaluate(self, text: str, timeout: float = 10.0) -> Evaluation: ...
    async def interrupt_evaluation(self) -> None: ...
    async def read_slice(self, expression: str, limit: int = 4096) -> Slice: ...
    async def parallel_print(self, expression: str) -> ThreadValues: ...
    async def complete(self, text: str) -> list[str]: ...
    async def add_watch(self, expression: str) -> Watch: ...
    async def remove_watch(self, number: int) -> None: ...
    async def send_native(self, command: str) -> str: ...

    def write_input(self, data: bytes) -> None: ...  # to the program's terminal
    def resize_terminal(self, columns: int, rows: int) -> None: ...
