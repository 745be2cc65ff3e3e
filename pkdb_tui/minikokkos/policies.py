"""Execution spaces and policies: where a kernel runs, and over which indices."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from pkdb_tui.minikokkos.errors import ArgumentError


class ExecutionSpace(Enum):
    """Where kernels run; HIP and Threads are known by name and refused."""

    Cuda = "Cuda"
    HIP = "HIP"
    OpenMP = "OpenMP"
    Threads = "Threads"
    Serial = "Serial"
    Debug = "Debug"
    Default = "Default"


_HERE = (ExecutionSpace.OpenMP, ExecutionSpace.Serial, ExecutionSpace.Cuda, ExecutionSpace.Debug)
_default = ExecutionSpace.OpenMP


def set_default_space(space: ExecutionSpace) -> None:
    """Use `space` where a policy names none. Raises ArgumentError for one that isn't here."""
    global _default
    _default = _checked(space)


def get_default_space() -> ExecutionSpace:
    return _default


class ExecutionSpaceInstance:
    """A space; a stream can't be given: kernels on Cuda use the one that CuPy uses."""

    def __init__(self, space: ExecutionSpace, stream: Any = None) -> None:
        if stream is not None:
            raise ArgumentError("A stream can't be given to a space here: make it CuPy's current one, `with stream:`.")
        self.space = space


def _checked(space: Any) -> ExecutionSpace:
    if isinstance(space, ExecutionSpaceInstance):
        space = space.space
    if not isinstance(space, ExecutionSpace):
        raise ArgumentError(
            f"{space!r} is not an execution space: use pk.ExecutionSpace.OpenMP, Serial, Cuda or Debug."
        )
    if space is ExecutionSpace.Default:
        return _default
    if space not in _HERE:
        raise ArgumentError(
            f"The embedded runtime has no execution space {space.name}: use OpenMP, Serial, Cuda or Debug, or install "
            "PyKokkos."
        )
    return space


def is_host_execution_space(space: ExecutionSpace) -> bool:
    """Whether the space runs on the host."""
    return _checked(space) in (ExecutionSpace.OpenMP, ExecutionSpace.Serial)


def _integer(value: Any, what: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentError(f"{what} must be an integer, not {value!r}.")
    return int(value.__index__())


class ExecutionPolicy:
    """`kind` names the shape (range, md, team), `rank` how many indices a workunit gets, `words` the bounds."""

    kind: str
    rank = 1
    space: ExecutionSpace
    device = False  # whether kernels run on a device
    words: tuple[int, ...]

    def describe(self) -> str:
        """As a person would write it."""
        raise NotImplementedError


class RangePolicy(ExecutionPolicy):
    """Indices from begin up to end: `RangePolicy([space,] begin, end)`."""

    kind = "range"

    def __init__(self, *args: Any) -> None:
        if len(args) not in (2, 3):
            raise ArgumentError(f"RangePolicy takes ([space,] begin, end), {len(args)} arguments are given.")
        self.space = _checked(args[0] if len(args) == 3 else ExecutionSpace.Default)
        self.device = self.space is ExecutionSpace.Cuda
        self.begin = _integer(args[-2], "The begin of a RangePolicy")
        self.end = _integer(args[-1], "The end of a RangePolicy")
        self.words = (self.begin, self.end)

    def describe(self) -> str:
        return f"RangePolicy({self.space.name}, {self.begin}, {self.end})"


class Iterate(Enum):
    """The order of indices; a hint that is not needed here."""

    Left = "Left"
    Right = "Right"
    Default = "Default"


class Rank:
    """The rank of an MDRangePolicy with its iteration order."""

    def __init__(self, n: int, iter_outer: Iterate = Iterate.Default, iter_inner: Iterate = Iterate.Default) -> None:
        self.n = n
        self.iter_outer = iter_outer
        self.iter_inner = iter_inner


class MDRangePolicy(ExecutionPolicy):
    """A box of indices, two to six dimensions; tiling and iteration order are accepted and don't matter."""

    kind = "md"

    def __init__(
        self,
        begin: Sequence[int],
        end: Sequence[int],
        tiling: Sequence[int] | None = None,
        space: Any = ExecutionSpace.Default,
        iter_outer: Iterate = Iterate.Default,
        iter_inner: Iterate = Iterate.Default,
        rank: Rank | None = None,
    ) -> None:
        if isinstance(begin, ExecutionSpace | ExecutionSpaceInstance):
            raise ArgumentError("MDRangePolicy takes (begin, end, tiling, space): the space comes last, or by name.")
        if len(begin) != len(end) or (rank is not None and rank.n != len(begin)):
            raise ArgumentError(f"MDRangePolicy has {len(begin)} begins and {len(end)} ends: the ranks differ.")
        if not 2 <= len(begin) <= 6:
            raise ArgumentError(f"MDRangePolicy needs two to six dimensions, not {len(begin)}.")
        self.space = _checked(space)
        self.device = self.space is ExecutionSpace.Cuda
        self.begin = [_integer(value, "A begin of an MDRangePolicy") for value in begin]
        self.end = [_integer(value, "An end of an MDRangePolicy") for value in end]
        self.tiling = tiling
        self.iter_outer = rank.iter_outer if rank else iter_outer
        self.iter_inner = rank.iter_inner if rank else iter_inner
        self.rank = len(self.begin)
        self.words = (*self.begin, *self.end)

    def describe(self) -> str:
        return f"MDRangePolicy({self.space.name}, {self.begin}, {self.end})"


class AUTO:
    """Let the runtime choose the team size: it is 1, on a device 32."""


class _Amount:
    """A number of scratch bytes, or inside a kernel the member that `single` is asked about."""

    def __init__(self, what: Any) -> None:
        self.what = what


class PerTeam(_Amount):
    pass


class PerThread(_Amount):
    pass


class TeamPolicy(ExecutionPolicy):
    """Teams of threads: `TeamPolicy([space,] league_size, team_size[, vector_length])`."""

    kind = "team"

    def __init__(self, *args: Any) -> None:
        space: Any = ExecutionSpace.Default
        if args and isinstance(args[0], ExecutionSpace | ExecutionSpaceInstance):
            space, args = args[0], args[1:]
        if len(args) not in (2, 3):
            raise ArgumentError("TeamPolicy takes ([space,] league_size, team_size[, vector_length]).")
        self.space = _checked(space)
        self.device = self.space is ExecutionSpace.Cuda
        self.league_size = _integer(args[0], "The league size of a TeamPolicy")
        automatic = args[1] is AUTO or isinstance(args[1], AUTO | str)
        self.team_size = (32 if self.device else 1) if automatic else _integer(args[1], "The team size of a TeamPolicy")
        if not 1 <= self.team_size <= 1024:
            raise ArgumentError(f"The team size of a TeamPolicy must be 1 to 1024, not {self.team_size}.")
        self.vector_length = args[2] if len(args) == 3 else 1
        self.scratch = [0, 0]
        self._count()

    def _count(self) -> None:
        self.words = (max(self.league_size, 0), self.team_size, self.scratch[0], self.scratch[1])

    def set_scratch_size(self, level: int, amount: Any) -> TeamPolicy:
        """Give each team (PerTeam) or thread (PerThread) that many bytes of scratch; both levels share them."""
        place = 1 if isinstance(amount, PerThread) else 0
        size = _integer(amount.what if isinstance(amount, _Amount) else amount, "The scratch size")
        self.scratch[place] += (size + 15) // 16 * 16
        self._count()
        return self

    def describe(self) -> str:
        return f"TeamPolicy({self.space.name}, {self.league_size}, {self.team_size})"
