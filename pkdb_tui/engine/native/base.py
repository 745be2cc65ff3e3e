"""What every native controller offers: one abstract class and the plain values it speaks in.

A controller owns one native debugger process attached to the debuggee. Threads are named by their kernel thread
number (OpenMP thread, linear device thread), never by the debugger's own ids, except where a thread has no such
number yet (-1). All calls are coroutines on the session's loop; none may block it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from pkdb_tui.engine.api import ThreadRange
from pkdb_tui.engine.errors import NativeError
from pkdb_tui.engine.protocol import KernelReady


class NativeBreakpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel breakpoint to place. The condition is C text in terms of the native frame, or empty.

    `source` is the source name in the debug information: the Python file, or that of a compiled-in condition.
    `watch` is an lvalue in C text for a hardware watchpoint; then file and line are empty.
    """

    id: int
    source: str = ""
    line: int = 0
    function: str = ""
    condition: str = ""
    ignore: int = 0
    serial: int = 0  # grows when the ignore count is asked for anew
    temporary: bool = False
    threads: tuple[int, ...] = ()  # empty: all
    judged: bool = False  # its owner says at each hit whether the condition holds
    held: str = ""  # C text: whether its compiled-in condition holds, one of those that `source` has at its line
    why: str = ""  # C text: why that can't be told
    bit: int = -1  # on a device: its compiled-in condition among those that `source` has at its line
    speaks: bool = False  # a log point: its owner lets it speak, and nothing stops
    watch: str = ""
    watched: str = ""  # numpy's dtype of what is watched as an integer, where gdb has no such type


class NativePlacement(msgspec.Struct, frozen=True, kw_only=True):
    """`locations` addresses carry the breakpoint; zero means it could not be placed, for `reason`.

    `pending`: it lies in no kernel that has been loaded so far, and will be placed in the one that has its line.
    """

    id: int
    locations: int
    reason: str = ""
    ended: bool = False  # a watchpoint whose variable has left its scope: it is set anew only when asked for anew
    pending: bool = False


class StepKind(StrEnum):
    STEP = "step"  # into kernel functions, never into glue
    NEXT = "next"
    FINISH = "finish"  # to the caller's frame; from the outermost kernel frame: to the end of the launch
    UNTIL = "until"  # a line beyond the current one, or `line`, in this frame


class NativeFrame(msgspec.Struct, frozen=True, kw_only=True):
    """`level` is the native debugger's; `glue` frames have no Python source."""

    level: int
    function: str
    file: str
    line: int
    glue: bool = False


class NativeVariable(msgspec.Struct, frozen=True, kw_only=True):
    """A scalar with its value, or an array descriptor (strides in bytes; `address` of element zero)."""

    name: str
    symbol: str = ""  # what gdb knows it by, where it told
    native_type: str
    type: str  # in Python terms: int, float, bool, float64, ...
    scope: str = "local"  # argument | local
    value: Any = None  # int, float, complex, bool, or the text of what is no number
    error: str = ""  # why it can't be read: "optimised out"
    dtype: str = ""  # numpy dtype string; non-empty marks an array
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    address: int = 0
    space: str = "host"
    lvalue_address: int = 0  # of a scalar itself, for watchpoints and assignment


WIDE = ("longdouble", "clongdouble")  # types of numpy that Python has no numbers for


def _wide(kind: str, text: str) -> Any:
    """Such a number from its bytes in hex behind `0x`, or from its digits."""
    import numpy as np  # takes longer to load than the rest of the start

    made = getattr(np, kind)
    return np.frombuffer(bytes.fromhex(text[2:]), made)[0] if text.startswith("0x") else made(text)


def variable_of(row: Mapping[str, Any]) -> NativeVariable:
    """As the debugger's side described it; numbers that JSON has no form for came as their text."""
    variable = msgspec.convert(dict(row), NativeVariable)
    if isinstance(variable.value, str) and variable.type in WIDE:
        try:
            return msgspec.structs.replace(variable, value=_wide(variable.type, variable.value))
        except ValueError:  # gdb's own text of a value that is nowhere in memory
            return msgspec.structs.replace(variable, value=None, error=f"can't be read: {variable.value}")
    if isinstance(variable.value, str):
        for name, number in (("float", float), ("complex", complex)):
            if variable.type.startswith(name):
                return msgspec.structs.replace(variable, value=number(variable.value))
    return variable


class StopCause(StrEnum):
    BREAKPOINT = "breakpoint"
    STEP = "step"
    PAUSE = "pause"
    SIGNAL = "signal"
    WATCHPOINT = "watchpoint"
    BOUNDS = "bounds"


def failed_text(ids: Sequence[int], failures: Mapping[int, str]) -> str:
    """Why conditions could not be evaluated, of which breakpoint where more than one of them stops."""
    found = [(number, failures[number]) for number in sorted(ids) if number in failures]
    return "; ".join(f"condition{f' of {number}' if len(ids) > 1 else ''} failed: {why}" for number, why in found)


class NativeStop(msgspec.Struct, frozen=True, kw_only=True):
    """One gathered stop: every thread that has come to rest, and the one to look at first."""

    cause: StopCause
    thread: int
    breakpoints: tuple[int, ...] = ()
    hits: Mapping[int, int] = {}  # breakpoint id -> how often it was hit since the last stop, hits passed included
    text: str = ""  # "SIGSEGV at 0x0", "counter index 504, extent 504", "out[3]: 0.0 -> 10.5"
    threads: tuple[ThreadRange, ...] = ()
    returned: str = ""  # what the function returned that a finish of `thread` has left


class ControllerEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Base of what a controller tells its owner."""


class KernelStopped(ControllerEvent, frozen=True, kw_only=True):
    stop: NativeStop


class ThreadsChanged(ControllerEvent, frozen=True, kw_only=True):
    """Threads came to rest (or left) after the stop was shown; `hits` are additional."""

    threads: tuple[ThreadRange, ...]
    hits: Mapping[int, int] = {}


class PlacementsChanged(ControllerEvent, frozen=True, kw_only=True):
    """What these breakpoints are has changed without anybody asking for it."""

    placements: tuple[NativePlacement, ...]


class PauseMissed(ControllerEvent, frozen=True, kw_only=True):
    """A pause found no thread in a kernel: one that is about to begin or over. All threads go on."""


class ProcessEnded(ControllerEvent, frozen=True, kw_only=True):
    """The native debugger saw the process end; signal is a name such as SIGSEGV, or empty."""

    status: int | None = None
    signal: str = ""


class ControllerHangs(ControllerEvent, frozen=True, kw_only=True):
    """The native debugger owes an answer and has done nothing for `seconds`; after `limit` it will be ended."""

    seconds: float
    limit: float


class ControllerLost(ControllerEvent, frozen=True, kw_only=True):
    """The native debugger itself died or stopped answering."""

    reason: str


class ExpressionFaulted(ControllerEvent, frozen=True, kw_only=True):
    """A thread that runs an expression of the person's got a signal that ends the program: it stays where it is."""

    text: str  # as that of a stop


Triple = tuple[int, int, int]
Hit = tuple[int, int]  # (breakpoint id, kernel thread)


class Owner(Protocol):
    """What a controller asks while threads stand at breakpoints: each call is finished before they go on."""

    async def judge(self, hits: Sequence[Hit]) -> Mapping[Hit, str | None]:
        """Whether the conditions hold: None when not, why when nobody can tell, empty when so."""

    async def speak(self, hits: Sequence[Hit], failures: Mapping[Hit, str]) -> None:
        """Let log points speak, those with a failed condition of its failure."""

    def evaluates(self, thread: int) -> bool:
        """Whether a thread, by the system's number, runs an expression of the person's."""


Listener = Callable[[ControllerEvent], None]


class Controller(ABC):
    """A native debugger attached to the debuggee."""

    ends_faulty = False  # whether a program ends as soon as it goes on from a fault, whatever it does about them

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.owner: Owner | None = None
        self.focus = 0  # the kernel thread a person looks at: where several stop alike, it is the one to look at

    @property
    @abstractmethod
    def attached(self) -> bool: ...

    @property
    def hanging(self) -> bool:
        """Whether the native debugger owes an answer and does nothing."""
        return False

    def hurry(self, wanted: bool) -> None:  # noqa: B027 - one that can't hang needs none
        """While wanted, a native debugger that hangs is ended at once."""

    async def answered(self) -> None:  # noqa: B027 - one that answers at once owes nothing
        """Until what the native debugger is asked now is answered, or can't be any more."""

    @abstractmethod
    async def attach(self, pid: int) -> None:
        """Attach and let the process run on. Raises NativeUnavailable with the remedy."""

    @abstractmethod
    async def detach(self) -> None:
        """Remove everything placed, let the process run freely and end the debugger; never raises."""

    @abstractmethod
    def kill(self) -> None:
        """End the debugger at once, without waiting; for a process that is itself about to go."""

    @abstractmethod
    async def load_kernel(self, kernel: KernelReady) -> None:
        """Make a kernel binary's symbols known; a second call for the same binary is cheap."""

    @abstractmethod
    async def place(self, breakpoints: Sequence[NativeBreakpoint]) -> list[NativePlacement]:
        """Reconcile: exactly these are placed afterwards, those unchanged keep their place and counts."""

    @abstractmethod
    async def launch_begun(self, kernel: KernelReady) -> None:
        """Called right before the kernel is let go: stops at its entry when it says so."""

    @abstractmethod
    async def launch_ended(self) -> None:
        """The region is over: drop pending gatherings and steps, forget thread states."""

    @abstractmethod
    async def resume(self, threads: Sequence[int] | None = None) -> None:
        """Let all stopped threads go on, or only these. A KernelStopped follows, or the launch ends.

        Raises NativeError, and lets none go on, when one more stop was told meanwhile; so does `step`.
        """

    @abstractmethod
    async def step(self, kind: StepKind, thread: int, *, all_threads: bool = False, line: int = 0) -> None:
        """Step one thread, the others staying as they are, or all of them. A KernelStopped follows, or the end."""

    @abstractmethod
    async def interrupt(self) -> None:
        """Stop every running thread; a KernelStopped with cause PAUSE follows, or PauseMissed.

        Nothing happens where a stop has been told already and nothing was let go since.
        """

    @abstractmethod
    async def interrupt_rest(self) -> None:
        """At a stop, stop also the threads that still run in the kernel; a ThreadsChanged follows."""

    def number_of(self, near: int, block: Triple | None, thread: Triple | None) -> int:
        """The kernel thread at a place in a device's grid; what is None is as in the thread `near`.

        Raises NativeError where there is none.
        """
        raise NativeError("This kernel runs on the host.", "`thread N` looks at another of its threads.")

    def name_of(self, thread: int, count: int) -> str:
        """What a kernel thread is called, one of so many."""
        return f"thread {thread} of {count}"

    @abstractmethod
    async def thread_states(self) -> tuple[ThreadRange, ...]: ...

    @abstractmethod
    async def frames(self, thread: int) -> list[NativeFrame]:
        """Stack of a stopped thread, innermost first, cut below the kernel's entry function."""

    @abstractmethod
    async def variables(self, thread: int, level: int) -> list[NativeVariable]:
        """Arguments and locals of one frame that are in scope at its line, the framework's own hidden."""

    @abstractmethod
    async def variables_of_threads(
        self, threads: Sequence[int], names: Sequence[str]
    ) -> dict[int, list[NativeVariable]]:
        """The named variables in the innermost kernel frame of many threads, in one request."""

    @abstractmethod
    async def read_memory(self, regions: Sequence[tuple[int, int]]) -> list[bytes]:
        """Bytes at (address, length) pairs, in one request. Raises NativeError naming an unreadable address."""

    async def memory_of(self, thread: int, regions: Sequence[tuple[int, int]]) -> list[bytes]:
        """The same as a thread sees it: on a device what a block shares is its own."""
        return await self.read_memory(regions)

    @abstractmethod
    async def write_memory(self, address: int, data: bytes) -> None: ...

    @abstractmethod
    async def send(self, command: str) -> str:
        """A raw command to the native debugger, its text as answer."""
