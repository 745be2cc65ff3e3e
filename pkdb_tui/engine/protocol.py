"""The JSON-lines protocol between the engine and the debugged process, as the engine sees it.

One socketpair, one JSON object a line, UTF-8. The debuggee's half is `debuggee/wire.py` (standard library only,
plain dicts); this file is the reference of every message.

Requests (engine -> debuggee)  {"id": int, "command": str, "arguments": {...}}
Replies  (debuggee -> engine)  {"reply": int, "ok": true, "body": {...}}
                               {"reply": int, "ok": false, "title": str, "hint": str}
Events   (debuggee -> engine)  {"event": str, "body": {...}}

Requests are served by a reader thread of the debuggee's own, so they are answered while Python code runs. The ones
marked (stop) need the program's stopped thread and are refused elsewhere with a title that says so.

| command        | arguments                                            | reply body                              |
|----------------|------------------------------------------------------|-----------------------------------------|
| setBreakpoints | breakpoints: [BreakpointRequest]  (the full set)      | placements: [Placement]                 |
| describeFile   | file                                                 | SourceInfo of `api`                     |
| pause          | -                                                    | {}; then `stopped`, or `inKernel`       |
| resume (stop)  | verb: continue next step return until, line, frame    | {}; then `continued`                    |
| jump (stop)    | line                                                 | {}; then a new `stopped` (reason step)  |
| debugEvaluate (stop)| expression, frame                               | {}; then `continued`, later `evaluated` |
| endDebugged (stop)| -                                                 | {}: what is debugged is broken off      |
| variables (stop)| frame                                               | variables: [VariableBody]               |
| evaluate (stop)| expression, frame, timeout, mode: auto eval exec parallel, kernel: [KernelVariable] | EvaluateBody |
| readSlice (stop)| expression, frame, limit, kernel: [KernelVariable]  | SliceBody                               |
| complete       | text, frame, kernel: [KernelVariable]                 | matches: [str]                          |
| setSubstitutions | rules: [SubstitutionRequest]  (the full set)        | substitutions: [SubstitutionBody]       |
| addSubstitution (stop)| rule: SubstitutionRequest, frame              | SubstitutionBody                        |
| substitutions  | -                                                    | substitutions: [SubstitutionBody]       |
| findKernel     | name                                                 | file, firstLine, lastLine               |
| checkKernel    | path, file, kernel, firstLine (0: the only one)       | compiled: int, problem: line column message |
| settings       | stepIntoKernel, bounds, catchFaults, justMyCode: bool | {}                                     |
| interruptEvaluation | -                                               | {}; the evaluation answers with an error |
| launchGo       | launch                                               | {}: runs the kernel just made ready     |
| logHeard       | thread                                               | {}: the log point's line is written     |
| launchDone     | launch, then: continue, stop, run or pause           | {}: answer to `launchEnded`             |
| launches       | -                                                    | launches: [LaunchBody]                  |
| terminate      | -                                                    | no reply; the process group ends itself |

`checkKernel` compiles the kernel's text in another file, on a thread of its own, for each kind of launch so far, and is
answered then. A SubstitutionRequest with `source` names such a file as the replacement of the kernel at `origin`.
The first `resume` after `ready` starts the program, whatever its verb: it stops before the first line (reason start).
While a debug kernel runs or is stopped (after `launchReady`, until `launchDone`), variables, evaluate, readSlice,
complete and addSubstitution are served too, about the dispatching Python frames, in a thread of the debuggee's own.
`launchDone` with `then: stop` stops at the dispatching line, the launch being over (reason step); with `continue` a
next or step that was under way before the launch goes on; with `run` it is dropped (the person said continue there);
with `pause` as with `stop`, for the reason pause: one that came when nothing of the kernel was left to stop in. Any
pause before a `launchDone` is over by it.
A pause that finds a release kernel running waits 0.1 s for its end before it answers `inKernel`: from there on, until
`launchDone`, that launch is as one after `launchGo`. One launch at a time is looked at so, and no thread is stopped in
Python meanwhile: whatever else comes, from other threads of the program, waits until it is over.
The program's own `breakpoint()` stops with reason breakpoint and no ids.

| event          | body                                                                                          |
|----------------|-----------------------------------------------------------------------------------------------|
| ready          | Ready: the hook is in place; `setBreakpoints` may come, then `resume` starts the program       |
| stopped        | PythonStop                                                                                    |
| evaluated      | EvaluateBody of an expression that was debugged; a `stopped` (reason debug) follows            |
| continued      | thread                                                                                        |
| breakpoints    | placements: [Placement]: bindings or hit counts that changed while running                     |
| logPoint       | breakpoint, text, thread: the thread goes on after `logHeard`                                  |
| notice         | text, severity                                                                                |
| progress       | task, done, seconds                                                                           |
| launchReady    | KernelReady: a debug build is loaded; nothing runs until `launchGo`                            |
| launchEnded    | launch, seconds, error; nothing goes on until `launchDone`. After `launchReady` or `inKernel`  |
| launched       | kernel: the first launch of all                                                               |
| inKernel       | KernelReady: a pause arrived while this optimised kernel runs                                 |
| serving        | thread: the system's number of the one that evaluates while a kernel is looked at              |
| launches       | launches: [LaunchBody], at stops, pauses, debug launches, exit                                |
| ending         | status or exception: the program is about to end; the process may still run atexit handlers    |
"""

from __future__ import annotations

from typing import Any

import msgspec


class Message(msgspec.Struct, kw_only=True):
    """Base of the bodies; names are camelCase on the wire."""


class BreakpointRequest(Message, kw_only=True):
    """One desired breakpoint; `condition`, `log` in Python syntax. The debuggee keeps `hits` by id across sets."""

    id: int
    file: str = ""
    line: int = 0
    function: str = ""
    condition: str = ""
    ignore: int = 0
    serial: int = 0  # grows when the ignore count is asked for anew
    temporary: bool = False
    log: str = ""


class Placement(Message, kw_only=True):
    """Where a breakpoint landed. `state` is an `api.BreakpointState` value; `kernel` names the kernel of its line."""

    id: int
    state: str
    file: str = ""
    line: int = 0
    kernel: str = ""
    reason: str = ""
    hits: int = 0


class FrameBody(Message, kw_only=True):
    """A Python frame, innermost first in lists; `glue` marks library frames hidden until asked for."""

    function: str
    file: str
    line: int
    glue: bool = False


class VariableBody(Message, kw_only=True):
    name: str
    type: str
    text: str
    kind: str = "object"
    value: int | float | bool | str | None = None
    scope: str = "local"


class ExceptionBody(Message, kw_only=True):
    type: str
    message: str
    traceback: str


class ThreadBody(Message, kw_only=True):
    ident: int
    name: str
    current: bool
    file: str
    line: int
    function: str


class Ready(Message, kw_only=True, rename="camel"):
    pid: int
    python: str
    backend: str  # settrace | monitoring
    runtime: str  # embedded | installed | none: which pykokkos an import would find
    runtime_detail: str = ""
    file: str = ""  # the script, absolute
    sign: int = 0  # where in its memory stands which kernel runs with Python's lock held, as text that ends with NUL


class PythonStop(Message, kw_only=True, rename="camel"):
    """A stop in Python; `variables` are the selected frame's (index `frame`)."""

    reason: str  # an api.Reason value
    breakpoints: list[int] = []
    thread: int = 0
    frames: list[FrameBody] = []
    frame: int = 0
    variables: list[VariableBody] = []
    threads: list[ThreadBody] = []
    exception: ExceptionBody | None = None
    post_mortem: bool = False
    return_text: str = ""
    text: str = ""  # detail of the reason, such as a compile error


class DifferenceBody(Message, kw_only=True):
    """As `differences.Difference`, of an array's name or of what was returned (no name); floats as their text."""

    name: str
    size: int
    differ: int
    nans: int
    abs: str
    rel: str
    ulp: int | None = None
    at: list[int] = []
    error: str = ""


class ClauseBody(Message, kw_only=True):
    """What one clause of a `parallel_launch` came to; the differences are to the first that ended well."""

    text: str
    kernel: str
    policy: str
    seconds: float
    result: str = ""
    value: int | float | bool | str | None = None
    error: str = ""
    differences: list[DifferenceBody] = []


class EvaluateBody(Message, kw_only=True):
    """`error` is the exception's one-line text when the expression raised.

    `writes` are new values of the kernel's scalars as [kind, text]: bool, int, float, complex, or "" and a type's name
    for what is no number. `clauses` are those of a `parallel_launch` (mode parallel).
    """

    text: str = ""
    type: str = ""
    value: int | float | bool | str | None = None
    error: str = ""
    traceback: str = ""
    writes: dict[str, tuple[str, str]] = {}
    clauses: list[ClauseBody] = []


class KernelVariable(Message, kw_only=True):
    """A variable of the paused kernel as the native debugger has it, before the frame's names in an expression.

    A scalar has its `value` (text where `complex`; where `number` is a numpy dtype, its bytes in hex); an array dtype,
    shape, strides in bytes and address. The dtype of records is Python's text of what `numpy.dtype` makes it of.
    """

    name: str
    value: int | float | bool | str | None = None
    complex: bool = False
    number: str = ""
    dtype: str = ""
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    address: int = 0


class SliceBody(Message, kw_only=True):
    """Elements in C order, base64 of little-endian bytes; `total` counts the elements the expression names."""

    dtype: str  # numpy dtype string, such as "<f8"
    shape: list[int]
    data: str
    total: int
    layout: str = ""
    truncated: bool = False


class ArgumentBody(VariableBody, kw_only=True):
    """A launch argument: for arrays `text` names place and layout."""

    shape: list[int] = []
    strides: list[int] = []


class LaunchBody(Message, kw_only=True, rename="camel"):
    kernel: str
    kernel_file: str = ""
    stands_for: str = ""  # the kernel the program launched, where another one ran in its place
    file: str
    line: int
    pattern: str
    policy: str
    space: str
    build: str
    count: int
    last_seconds: float
    total_seconds: float
    arguments: list[ArgumentBody] = []
    warnings: list[str] = []


class SubstitutionRequest(Message, kw_only=True):
    """A kernel to run in place of another, everywhere or only at `line` of `file`."""

    id: int
    kernel: str
    replacement: str
    file: str = ""
    line: int = 0
    enabled: bool = True
    source: str = ""
    origin: str = ""
    firstLine: int = 0


class SubstitutionBody(Message, kw_only=True):
    """What became of it. `state`: pending (its kernels aren't known yet), bound, refused (with the reason)."""

    id: int
    state: str
    reason: str = ""
    uses: int = 0


class CompiledCondition(Message, kw_only=True):
    """A breakpoint condition built into the kernel: the native breakpoint goes on `line` of source name `file`.

    All of a Python line share that place. `state` is the C variable that has their outcomes, this one's with `number`.
    It is empty on a device, where each outcome has a place, `file.OUTCOME`, this condition's being the bit `number`.
    """

    id: int
    file: str
    line: int
    state: str = ""
    number: int = 0

    @property
    def met(self) -> str:
        """C text, also at the statement behind: whether any condition of the line holds in this pass."""
        return f"{self.state}.pk_met" if self.state else ""

    @property
    def held(self) -> str:
        """C text: whether this one does."""
        return f"{self.state}.pk_held[{self.number}]" if self.state else ""

    @property
    def why(self) -> str:
        """C text: why that can't be told, a string."""
        return f"{self.state}.pk_each[{self.number}].pk_why" if self.state else ""


class KernelReady(Message, kw_only=True, rename="camel"):
    """A debug build about to run, and all a native debugger needs to find its way in it.

    `lines` maps each Python file that has code in this binary to its kernel lines. `entry` is the mangled-free name of
    the function that is one workunit call (the outermost kernel frame). `team` names a global
    `struct { int size; int tid[N]; }` filled at region start, or is empty. `conditions` are compiled in;
    `refused` maps a breakpoint id to why its condition couldn't be compiled in.
    """

    launch: int
    kernel: str
    file: str
    first_line: int
    last_line: int
    pattern: str
    space: str
    policy: str
    framework: str
    binary: str
    lines: dict[str, list[int]]
    entry: str
    views: str  # which view reader: "minikokkos", "kokkos", ...
    team: str = ""
    bounds_symbol: str = ""  # function reached on an out-of-bounds access, or empty
    index_names: list[str] = []  # the kernel's index parameters, outermost first
    stop_at_entry: bool = False
    one_at_a_time: bool = False  # its framework has no kernel begin before it is over
    holds_lock: bool = False  # Python's lock is held while it runs: the debuggee answers nothing until it ends
    build: str = "debug"  # debug | release: in an optimised build few variables can be read
    breakpoints: list[int] = []  # ids that concern this kernel
    conditions: list[CompiledCondition] = []
    refused: dict[int, str] = {}
    thread: int = 0  # native id of the dispatching thread
    frames: list[FrameBody] = []  # the Python stack that dispatched it, innermost first
    arguments: list[ArgumentBody] = []


Body = dict[str, Any]
