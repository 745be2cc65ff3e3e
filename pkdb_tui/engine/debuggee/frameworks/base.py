"""What the dispatch side needs of a kernel framework: one abstract class."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

Json = dict[str, Any]
_PLACE = re.compile(r"\.py:(?P<line>\d+): (?P<said>.*?)(?:\. When it goes on.*)?$", re.MULTILINE)


class KernelSource(Protocol):
    """A kernel or kernel function in a Python file."""

    @property
    def name(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def first_line(self) -> int: ...
    @property
    def last_line(self) -> int: ...
    @property
    def lines(self) -> tuple[int, ...]: ...


class Launch(Protocol):
    """One launch about to happen, as the framework's hook hands it over."""

    pattern: str
    policy: str
    space: str
    kernel: Any
    functions: Sequence[Any]
    arguments: Any
    index_names: tuple[str, ...]
    frame_depth: int
    prepares: bool  # whether `prepare` leaves nothing to be compiled
    stands_for: str  # the kernel that the program launched, where another one runs in its place

    @property
    def workunit(self) -> Any:
        """The Python function that is the kernel."""

    def substituted(self, workunit: Any) -> Launch:
        """The same launch with another kernel of the same parameters."""
        ...

    def let_run(self, epoch: Any, counts: Any, caller: Any) -> None:
        """Don't pass the hook from the next launch by this very call on, while the adapter's epoch stays."""

    def prepare(self) -> None:
        """Whatever takes long before `run`, where that can be told apart."""

    def run(self) -> Any: ...
    def optimised(self) -> Any: ...
    def built_debug(self, conditions: Sequence[Any] = (), *, bounds: bool = True) -> Any | None:
        """A debug build that is still right for this launch, where looking for it takes no time."""

    def build_debug(self, conditions: Sequence[Any] = (), *, bounds: bool = True) -> Any: ...
    def run_debug(self, build: Any) -> Any: ...


_PATTERNS = {"for": "parallel_for", "reduce": "parallel_reduce", "scan": "parallel_scan"}


def pattern_of(launch: Launch) -> str:
    """What the program calls to launch, also where the runtime has a shorter word for it."""
    return _PATTERNS.get(launch.pattern, launch.pattern)


class Adapter(ABC):
    """One kernel framework; nothing else in the debuggee knows it by name."""

    name: str
    views: str  # which view reader understands its native frames
    holds_lock = False  # whether its kernels run with Python's lock held
    one_at_a_time = False  # whether a kernel waits until another one under way is over

    @abstractmethod
    def spans(self, file: str, source: str) -> list[Json]:
        """Kernels and kernel functions of a source text, found without importing it."""

    @abstractmethod
    def install(self, hook: Callable[[Adapter, Any], Any]) -> None:
        """See every launch from now on; the framework is not imported for it."""

    @abstractmethod
    def uninstall(self) -> None:
        """Let launches run as without a debugger."""

    @property
    def epoch(self) -> object:
        """What launches that were let run depend on."""
        return None

    def look_again(self) -> None:  # noqa: B027 - an adapter whose launches all pass the hook has nothing to do
        """What the debugger looks for may have changed: launches that were let run pass the hook again."""

    def running(self) -> Mapping[int, Any]:
        """By Python's name of the thread, a mark of each launch that runs without having passed the hook."""
        return {}

    def launch_of(self, mark: Any) -> tuple[Any, Launch]:
        """(launching frame, launch) of one of those."""
        raise NotImplementedError

    def attend(self, mark: Any, over: Callable[[], None] | None) -> None:  # noqa: B027 - nothing passes the hook by
        """Call `over` at the end of one of those, on its thread; None for both takes it back."""

    def end_early(self) -> None:  # noqa: B027 - nothing passes the hook by
        """The one of this thread counts as over from now on."""

    @abstractmethod
    def condition(self, number: int, file: str, line: int, expression: str) -> Any:
        """A breakpoint condition in the form `Launch.build_debug` takes."""

    @abstractmethod
    def is_build_error(self, error: BaseException) -> bool:
        """Whether the error says that a kernel doesn't translate or compile."""

    def compile_edited(self, make: Callable[[Any], Any], *, bounds: bool) -> int:
        """Compile what `make` gives for each kind of launch so far, without loading it; how many there were.

        `make` gives None for kernels that aren't meant. Raises a build error for the first that can't be compiled.
        """
        return 0

    def build_problem(self, error: BaseException) -> Json:
        """The Python line and column of a build error (0 and -1 where unknown), and what is wrong there."""
        text = self.build_error_text(error)
        found = _PLACE.search(text)
        if found is None:
            return {"line": 0, "column": -1, "message": text.partition("\n")[0]}
        return {"line": int(found["line"]), "column": -1, "message": found["said"]}

    def warnings(self, launch: Any) -> Sequence[str]:
        """What the framework will do at this launch without a word, one sentence each; asked once for a call line."""
        return ()

    def says_itself(self, error: BaseException) -> bool:
        """Whether the error is this adapter's own: the program is to see what the framework does without a debugger."""
        return False

    def build_error_text(self, error: BaseException) -> str:
        return str(error)

    @abstractmethod
    def stride_note(self) -> str:
        """What the framework does with an array that is neither in row nor in column order."""
