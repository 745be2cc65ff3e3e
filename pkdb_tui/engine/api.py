"""Frozen plain types that cross the boundary between the engine and whoever shows it.

Everything here is a value: built once, never changed, safe to keep after the program has moved on. A handle
into the program (a frame, a thread) is only meaningful for the `generation` of the snapshot it came from.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec


class Plain(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all boundary types."""


class Phase(StrEnum):
    """The state machine of one session (DESIGN section 4)."""

    IDLE = "idle"
    RUNNING_PYTHON = "running python"
    STOPPED_PYTHON = "stopped in python"
    DISPATCHING = "dispatching"
    RUNNING_KERNEL = "running kernel"
    STOPPED_KERNEL = "stopped in kernel"
    EXITED = "exited"

    @property
    def stopped(self) -> bool:
        return self in (Phase.STOPPED_PYTHON, Phase.STOPPED_KERNEL)

    @property
    def running(self) -> bool:
        return self in (Phase.RUNNING_PYTHON, Phase.DISPATCHING, Phase.RUNNING_KERNEL)


class Reason(StrEnum):
    """Why the program stopped; the words plain mode prints after `stopped:`."""

    START = "start"
    BREAKPOINT = "breakpoint"
    STEP = "step"
    PAUSE = "pause"
    EXCEPTION = "exception"
    SIGNAL = "signal"
    WATCHPOINT = "watchpoint"
    BOUNDS = "bounds"
    DEBUG = "debug"  # an expression that was debugged has ended
    ERROR = "error"  # a kernel that doesn't translate or compile


class FrameKind(StrEnum):
    PYTHON = "python"
    KERNEL = "kernel"
    GLUE = "glue"  # generated code, framework, OpenMP runtime, interpreter: hidden until asked for


class Frame(Plain, frozen=True, kw_only=True):
    """One entry of the merged stack, innermost first; `index` is what `frame N` takes."""

    index: int
    function: str
    file: str
    line: int
    kind: FrameKind


class VariableKind(StrEnum):
    SCALAR = "scalar"
    ARRAY = "array"
    OBJECT = "object"


class Variable(Plain, frozen=True, kw_only=True):
    """A name with its value as a person of Python reads it.

    `text` is the full display text of a scalar or the bounded preview of an object; for an array it is the
    place and layout ("host, rows"), never its elements. `value` is the number itself for scalars, for alignment.
    """

    name: str
    type: str
    text: str
    kind: VariableKind = VariableKind.OBJECT
    value: int | float | bool | complex | str | None = None
    native_type: str = ""
    scope: str = "local"  # argument | local | global | closure | special (`__return__`, `__exception__`)
    changed: bool = False
    previous: str = ""  # display text at the last stop in the same frame, when changed


class Argument(Variable, frozen=True, kw_only=True):
    """A launch's argument; for arrays with their extents and their strides in bytes."""

    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()


class ThreadState(StrEnum):
    BREAKPOINT = "at breakpoint"
    STOPPED = "stopped"
    RUNNING = "running"
    BARRIER = "at barrier"  # waits for the other threads: end of the region, or an explicit barrier
    DIVERGED = "diverged"
    FAULT = "fault"
    ABSENT = "not on the device"  # its block has not begun, or is over


class ThreadRange(Plain, frozen=True, kw_only=True):
    """Kernel threads `first`..`last` (inclusive, linear numbers) that share a state and a place."""

    first: int
    last: int
    state: ThreadState
    file: str = ""
    line: int = 0
    detail: str = ""


class PythonThread(Plain, frozen=True, kw_only=True):
    """A Python thread of the program."""

    ident: int
    name: str
    current: bool
    file: str
    line: int
    function: str


class Focus(Plain, frozen=True, kw_only=True):
    """Which kernel thread the panes show. `text` is what the top line says, such as `thread 3 of 8 · j = 96`."""

    thread: int
    threads: int
    text: str


class KernelInfo(Plain, frozen=True, kw_only=True):
    """The launch a kernel stop belongs to."""

    name: str
    file: str
    first_line: int
    last_line: int
    space: str
    policy: str
    launch: int
    framework: str
    build: str  # debug | release
    generated: str = ""  # the file of C++ that was made from it, where there is one


class ExceptionInfo(Plain, frozen=True, kw_only=True):
    type: str
    message: str
    traceback: str


class StopSnapshot(Plain, frozen=True, kw_only=True):
    """All that one stop shows at once; late answers of an older `generation` are dropped."""

    generation: int
    phase: Phase
    reason: Reason
    reason_text: str  # "breakpoint 2", "step", "signal SIGSEGV", "bounds: counter index 504, extent 504"
    frames: tuple[Frame, ...]
    frame: int  # index into `frames` of the selected one
    variables: tuple[Variable, ...]  # of the selected frame
    breakpoints: tuple[int, ...] = ()  # ids hit
    threads: tuple[ThreadRange, ...] = ()  # kernel threads, kernel stops only
    focus: Focus | None = None
    python_threads: tuple[PythonThread, ...] = ()
    kernel: KernelInfo | None = None
    exception: ExceptionInfo | None = None
    return_text: str = ""  # value being returned, at a stop on return

    @property
    def location(self) -> Frame:
        return self.frames[self.frame]


class BreakpointState(StrEnum):
    PENDING = "pending"
    BOUND = "bound"
    UNBOUND = "cannot bind"
    DISABLED = "disabled"


class BreakpointSpec(Plain, frozen=True, kw_only=True):
    """What the person asked for. Exactly one of `line` (with `file`), `function` and `watch` is given."""

    file: str = ""
    line: int = 0
    function: str = ""
    watch: str = ""
    condition: str = ""
    ignore: int = 0
    temporary: bool = False
    log: str = ""  # a log point: text with {expressions}; printed instead of stopping
    threads: str = ""  # kernel threads it applies to, as Python slice or list text: "3", "0:4", "1,5"


class Breakpoint(Plain, frozen=True, kw_only=True):
    """A breakpoint as it stands now: the request, what it is bound to, and why not."""

    id: int
    spec: BreakpointSpec
    enabled: bool
    state: BreakpointState
    file: str  # where it is bound, or would be
    line: int
    kernel: str = ""  # name of the kernel whose line this is; empty for Python lines
    hits: int = 0  # by all threads, those that its ignore count let pass included
    ignoring: int = 0  # hits that will still be passed
    reason: str = ""  # why it can't bind, or what was moved: "line 11 has no code: moved to 12"


class KernelSpan(Plain, frozen=True, kw_only=True):
    """A kernel or kernel function in a source file, found without importing it; lines are inclusive."""

    name: str
    first_line: int
    last_line: int
    lines: tuple[int, ...]  # lines that will have kernel code


class SourceInfo(Plain, frozen=True, kw_only=True):
    """What the debugger knows about a file's lines before anything has run."""

    file: str
    python_lines: tuple[int, ...]
    kernels: tuple[KernelSpan, ...]
    error: str = ""  # a syntax error, as one sentence


class ArrayStatistics(Plain, frozen=True, kw_only=True):
    """Over the elements fetched (`count` of them); NaN is excluded from min, max and mean, counted in `nan`."""

    count: int
    nan: int
    inf: int
    zero: int
    minimum: float | int | None
    maximum: float | int | None
    mean: float | None


class Slice(Plain, frozen=True, kw_only=True):
    """Part of an array as it is in the program's memory.

    `values` is a numpy array (0-2 dimensions as shown, any numeric dtype), a private copy.
    """

    expression: str
    dtype: str
    shape: tuple[int, ...]
    values: Any
    statistics: ArrayStatistics
    truncated: bool = False  # True when the expression names more elements than were fetched
    total: int = 0
    layout: str = ""
    changed: tuple[int, ...] = ()  # flat indices into `values` that differ from the last stop


class Evaluation(Plain, frozen=True, kw_only=True):
    """The answer to an expression or statement typed by the person."""

    text: str  # as the console shows it; empty for statements and None
    type: str = ""
    value: Any = None
    slice: Slice | None = None


class ThreadValue(Plain, frozen=True, kw_only=True):
    thread: int
    text: str
    value: int | float | bool | complex | str | None
    error: str = ""


class ThreadValues(Plain, frozen=True, kw_only=True):
    """`parallel_print`: one value per stopped kernel thread; threads that aren't stopped are in `missing`."""

    expression: str
    values: tuple[ThreadValue, ...]
    missing: tuple[int, ...] = ()


class Watch(Plain, frozen=True, kw_only=True):
    """A watch expression with its value at the current stop, or the reason it has none.

    With `seen`, the evaluation is the last one there was, at the place that names; `error` is why there is none now.
    """

    id: int
    expression: str
    evaluation: Evaluation | None
    error: str = ""
    changed: bool = False
    previous: str = ""  # display text at the last stop in the same function and thread, when changed
    seen: str = ""  # "yax.py:13, thread 3"


class LaunchRecord(Plain, frozen=True, kw_only=True):
    """One row of the launch log: launches of the same kernel from the same line are one row.

    `count`, `last_seconds` and `total_seconds` are those of launches that have ended; `policy` and `arguments` are the
    latest launch's, as it began.
    """

    kernel: str
    file: str  # of the call
    line: int
    pattern: str  # parallel_for | parallel_reduce | parallel_scan
    policy: str
    space: str
    build: str
    count: int
    last_seconds: float
    total_seconds: float
    arguments: tuple[Argument, ...] = ()
    warnings: tuple[str, ...] = ()
    running_since: float | None = None  # time.monotonic() of the engine, stops left out, while a launch of it runs
    stopped: bool = False  # that launch is stopped
    stands_for: str = ""  # the kernel the program launched, where another one ran in its place
    kernel_file: str = ""

    @property
    def title(self) -> str:
        """`damp_fixed for damp`; of one that has the same name, as an edited text has, the file tells it."""
        if self.stands_for == self.kernel:
            return f"{self.kernel} of {os.path.basename(self.kernel_file)}"
        return f"{self.kernel} for {self.stands_for}" if self.stands_for else self.kernel


class Substitution(Plain, frozen=True, kw_only=True):
    """A kernel that runs in place of another: at every launch, or at those of one line.

    `state` is pending (its kernels aren't known yet), bound, or refused with the reason; `uses` counts its launches.
    """

    id: int
    kernel: str
    replacement: str
    file: str = ""
    line: int = 0
    enabled: bool = True
    state: str = "pending"
    reason: str = ""
    uses: int = 0
    source: str = ""  # the file of the replacement, where it is an edited text of the kernel
    origin: str = ""  # and the kernel's own file
    first_line: int = 0  # where the kernel begins in it; 0 where its name tells enough


class EditProblem(Plain, frozen=True, kw_only=True):
    """What is wrong with an edited kernel, at a line of its file (0: of all) and a column (-1: unknown)."""

    line: int
    message: str
    column: int = -1


class EditCheck(StrEnum):
    """What is known of the text in the editor."""

    SAME = "same"  # as in the file
    CHECKING = "checking"
    FINE = "fine"  # compiled for every kind of launch so far
    UNTRIED = "untried"  # right as Python; never launched yet, so that the types are unknown
    WRONG = "wrong"


class EditVariant(Plain, frozen=True, kw_only=True):
    """A text of a kernel that was installed once; `number` 0 is the program's own.

    `places` are where it runs now: "" for everywhere, else FILE:LINE.
    """

    number: int
    time: float
    text: str
    path: str = ""
    first_line: int = 0  # where the kernel begins in that file
    places: tuple[str, ...] = ()


class EditState(Plain, frozen=True, kw_only=True):
    """A kernel in the editor: `original` is its text in the program, `text` the draft; newlines between their lines."""

    kernel: str
    file: str
    first_line: int
    original: str
    text: str
    check: EditCheck = EditCheck.SAME
    said: str = ""
    problems: tuple[EditProblem, ...] = ()
    variants: tuple[EditVariant, ...] = ()
    warning: str = ""  # that the file is another one now, or the draft one of an earlier session

    @property
    def name(self) -> str:
        return os.path.basename(self.file)


class Difference(Plain, frozen=True, kw_only=True):
    """How an array (or what was returned, without a name) differs from that of another launch, by its elements.

    Two NaNs are equal; `nans` counts elements that are NaN in one only. `max_rel` is relative to the other launch's;
    `max_ulp` counts floats in between, None for what are no real floats of one type; `at` are the indices of the
    largest difference. `error` says why they can't be compared.
    """

    name: str
    size: int
    differ: int
    nans: int
    max_abs: float
    max_rel: float
    max_ulp: int | None = None
    at: tuple[int, ...] = ()
    error: str = ""


class ClauseResult(Plain, frozen=True, kw_only=True):
    """What one clause of a parallel launch came to: its time in seconds and its result, or its error.

    `differences` are to the first clause that ended well, and empty in that one.
    """

    text: str
    kernel: str
    policy: str
    seconds: float
    result: str = ""
    value: Any = None
    error: str = ""
    differences: tuple[Difference, ...] = ()


class ExitCause(Plain, frozen=True, kw_only=True):
    """How the program ended: exactly one of `status`, `signal` and `exception` is meaningful."""

    status: int | None = None
    signal: str = ""
    exception: ExceptionInfo | None = None
    detail: str = ""

    @property
    def text(self) -> str:
        """What plain mode prints after `exited:`."""
        if self.signal:
            return f"signal {self.signal}"
        if self.exception is not None:
            first = self.exception.message.partition("\n")[0]
            return f"exception {self.exception.type}{': ' if first else ''}{first}"
        return f"status {self.status}"


class LaunchOptions(Plain, frozen=True, kw_only=True):
    """How the program is started. Exactly one of `script` and `module` is given; script `-` is `source`."""

    script: str = ""
    source: str = ""  # what came from standard input, for script `-`
    module: str = ""
    arguments: tuple[str, ...] = ()
    python: str = ""  # interpreter; empty for this one
    runtime: str = "auto"  # auto | embedded | installed
    directory: str = ""  # working directory; empty for this one
    environment: Mapping[str, str] = {}
    columns: int = 80
    rows: int = 24
    bounds: bool = True  # bounds checks in debug builds
    gdb: str = "gdb"
    cuda_gdb: str = "cuda-gdb"


# --- events, in the order they happened -----------------------------------------------------------------------


class Event(Plain, frozen=True, kw_only=True):
    """Something the session tells its listener; a command's reply is always delivered before its events."""


class PhaseChanged(Event, frozen=True, kw_only=True):
    phase: Phase
    generation: int


class Stopped(Event, frozen=True, kw_only=True):
    snapshot: StopSnapshot


class SnapshotChanged(Event, frozen=True, kw_only=True):
    """Same stop, other focus, frame, or thread states: `snapshot.generation` is unchanged."""

    snapshot: StopSnapshot


class Exited(Event, frozen=True, kw_only=True):
    cause: ExitCause


class ProgramOutput(Event, frozen=True, kw_only=True):
    """Bytes the program wrote to its terminal; `dropped` counts bytes lost before these under back-pressure."""

    data: bytes
    dropped: int = 0


class InputWanted(Event, frozen=True, kw_only=True):
    """Whether the program waits for something to be typed into its terminal."""

    wanted: bool


class Printed(Event, frozen=True, kw_only=True):
    """Whole lines, without the last one's end, that an expression of the person's printed: the console's."""

    text: str


class EditChanged(Event, frozen=True, kw_only=True):
    """What is known of the kernel in the editor."""

    edit: EditState


class BreakpointsChanged(Event, frozen=True, kw_only=True):
    breakpoints: tuple[Breakpoint, ...]


class WatchesChanged(Event, frozen=True, kw_only=True):
    """Other watches, or other values of them; `stop` is True when the values are those of a new stop."""

    watches: tuple[Watch, ...]
    stop: bool = False


class LogPoint(Event, frozen=True, kw_only=True):
    """A log point's line, such as `yax.py:13 j=4`."""

    breakpoint: int
    text: str


class Severity(StrEnum):
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Notice(Event, frozen=True, kw_only=True):
    """A sentence for the person that isn't an answer to a command."""

    text: str
    severity: Severity = Severity.INFO


class Progress(Event, frozen=True, kw_only=True):
    """A long step ("compiling yax", "attaching gdb"); `done` closes it. Elapsed time is the listener's to show."""

    task: str
    done: bool = False
    seconds: float = 0.0


class LaunchLogged(Event, frozen=True, kw_only=True):
    launches: tuple[LaunchRecord, ...]
