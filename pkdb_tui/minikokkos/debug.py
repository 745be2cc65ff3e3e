"""What a debugger may ask of the embedded runtime: to see each launch, and to run a debug build of it instead.

`hook` is None in normal runs, and a launch then costs nothing for it. When set, it is called in place of every launch
and must return what the launch returns, by calling `Launch.run` or `Launch.build_debug` and `Launch.run_debug`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple, Protocol

from pkdb_tui.minikokkos.spans import KernelSource as KernelSource


@dataclass(frozen=True)
class Condition:
    """A breakpoint condition in Python syntax to be compiled in before the code of `line`."""

    id: int
    file: str
    line: int
    expression: str


class PlacedCondition(NamedTuple):
    """Where a thread comes by for which a condition holds: `line` of the source name `file`.

    `state` is the C++ variable that has the outcomes of all the line's conditions in this pass: `pk_met` says whether
    any holds, and of the one with this `number` `pk_held[number]` whether it does and `pk_each[number].pk_why` why it
    can't be told. It is empty on a device, where each outcome of all the line's conditions has a place of its own: the
    source name `file.OUTCOME`, in whose number the bit `number` says whether this one holds.
    """

    file: str
    line: int
    state: str = ""
    number: int = 0


@dataclass(frozen=True)
class DebugBuild:
    """A loaded debug build. `conditions` maps ids of those built in to their places in the debug information.

    `entry` is the C++ function that is one workunit call; `team` a global `struct { int size; int tid[]; }` filled at
    region start; `bounds` the function called on an access out of bounds, its message in the C string `message`; on a
    device it is a line, FILE:LINE.
    """

    path: str
    seconds: float  # spent compiling; 0 when it came from the cache
    entry: str
    team: str
    bounds: str
    message: str
    lines: Mapping[str, tuple[int, ...]]
    conditions: Mapping[int, PlacedCondition] = field(default_factory=dict)
    refused: Mapping[int, str] = field(default_factory=dict)
    handle: Any = None
    holds_lock: bool = False  # nothing of the process answers while a debugger holds the kernel: a device's


class Launch(ABC):
    """One parallel_for, parallel_reduce or parallel_scan about to happen, arguments already checked."""

    pattern: str
    policy: str  # as a person would write it: "RangePolicy(OpenMP, 0, 256)"
    space: str  # OpenMP | Serial | Cuda | Debug
    kernel: KernelSource
    functions: Sequence[KernelSource]  # the @pk.functions it calls, directly or not
    arguments: Mapping[str, Any]
    index_names: tuple[str, ...]
    prepares = True
    frame_depth: int  # how many Python frames of the runtime lie between the hook and the caller's line
    stands_for: str = ""  # the kernel that the program launched, where another one runs in its place
    workunit: FunctionType

    @abstractmethod
    def substituted(self, workunit: FunctionType) -> Launch:
        """The same launch with another kernel. Raises ArgumentError or CompileError when the arguments don't fit it."""

    def let_run(self, epoch: object, counts: Counts, caller: FrameType) -> None:  # noqa: B027 - it may stay as it is
        """From the next launch by this very call on, don't pass the hook, while `epoch` stays."""

    def prepare(self) -> None:  # noqa: B027 - nothing has to be done before
        """Compile what `run` needs, so that from its call on the kernel runs."""

    @abstractmethod
    def run(self) -> Any:
        """The optimised build, as without a debugger."""

    @abstractmethod
    def optimised(self) -> DebugBuild:
        """The optimised build that `run` uses, as a debugger may find its way in it; it has line tables only."""

    @abstractmethod
    def built_debug(self, conditions: Sequence[Condition] = (), *, bounds: bool = True) -> DebugBuild | None:
        """What `build_debug` returned for a launch like this one, while it is still right."""

    @abstractmethod
    def build_debug(self, conditions: Sequence[Condition] = (), *, bounds: bool = True) -> DebugBuild:
        """Compile (or take from the cache) and load. Raises `CompileError` with the Python line."""

    @abstractmethod
    def run_debug(self, build: DebugBuild) -> Any: ...


class Counts(Protocol):
    """What a debugger keeps of a launching line; launches that it let run count themselves in it.

    The first item of `latest`, called with the others, gives (policy as text, arguments by name) of the last launch:
    numbers as they were given, of arrays an `ArrayFacts`.
    """

    count: int
    last: float  # seconds
    total: float
    latest: tuple[Any, ...]


class ArrayFacts(NamedTuple):
    """What there is to say of an array that may be gone by now; strides in bytes."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int


class Site(NamedTuple):
    """A call in `code` that launches a compiled kernel without the hook, while `epoch` is still the debugger's."""

    epoch: object
    code: CodeType
    counts: Counts


Hook = Callable[[Launch], Any]

hook: Hook | None = None
epoch: object = None
"""Made anew by the debugger whenever what it looks for may have changed: launches pass the hook again then."""

addition: str = ""
"""C++ that the debugger wants in every debug build, behind the kernel's."""

running: dict[int, tuple[Any, ...]] = {}
"""By thread, the arguments of `launch.running` for a launch that runs there without the hook."""

attended: tuple[Any, ...] | None = None
"""One of those, whose end the debugger wants to know: `over` is called then, on its thread."""

over: Callable[[], None] | None = None
