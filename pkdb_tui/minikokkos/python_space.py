"""The space Debug: workunits run as the Python functions they are, one index after the other."""

from __future__ import annotations

import ast
import itertools
import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pkdb_tui.minikokkos import cpp_types as types
from pkdb_tui.minikokkos.arguments import Layout
from pkdb_tui.minikokkos.cpp_types import CType
from pkdb_tui.minikokkos.errors import TOO_DEEP, ArgumentError, CompileError
from pkdb_tui.minikokkos.policies import ExecutionPolicy, PerTeam
from pkdb_tui.minikokkos.program import Definition, annotated
from pkdb_tui.minikokkos.spans import deepest, own_statements
from pkdb_tui.minikokkos.translate import reduction_of
from pkdb_tui.minikokkos.views import View


class TeamMember:
    """One thread of a team."""

    def __init__(self, league_rank: int, league_size: int, team_rank: int, team: _Team) -> None:
        self._league_rank = league_rank
        self._league_size = league_size
        self._team_rank = team_rank
        self._team = team
        self._used = {True: 0, False: 0}

    def league_rank(self) -> int:
        return self._league_rank

    def league_size(self) -> int:
        return self._league_size

    def team_rank(self) -> int:
        return self._team_rank

    def team_size(self) -> int:
        return self._team.size

    def team_barrier(self) -> None:
        """Wait for the whole team."""
        self._team.barrier.wait()

    def team_scratch(self, level: int) -> _Scratch:
        """The team's scratch memory."""
        return _Scratch(self, shared=True)

    def thread_scratch(self, level: int) -> _Scratch:
        """This thread's scratch memory."""
        return _Scratch(self, shared=False)

    def __index__(self) -> int:
        return self._league_rank


class _Scratch:
    def __init__(self, member: TeamMember, *, shared: bool) -> None:
        self._member = member
        self._shared = shared

    def take(self, extents: Iterable[int], dtype: Any) -> Any:
        """The next piece of scratch, the same one for all threads of the team where it is shared."""
        member, shape = self._member, tuple(extents)
        size = (int(np.prod(shape)) * dtype.itemsize + 15) // 16 * 16
        place = member._used[self._shared]
        member._used[self._shared] += size
        room = member._team.scratch[0 if self._shared else 1]
        if place + size > room:
            per = "Team" if self._shared else "Thread"
            raise ArgumentError(
                f"scratch of {room} bytes per {per.lower()} is too small: {place + size} are asked for. Set it with "
                f"TeamPolicy(...).set_scratch_size(0, pk.Per{per}(bytes))."
            )
        if not self._shared:
            return np.zeros(shape, dtype)
        with member._team.lock:
            return member._team.pieces.setdefault(place, np.zeros(shape, dtype))


class _Team:
    def __init__(self, size: int, scratch: tuple[int, int]) -> None:
        self.size = size
        self.scratch = scratch
        self.barrier = threading.Barrier(size)
        self.lock = threading.Lock()
        self.pieces: dict[int, Any] = {}
        self.parts: list[Any] = [None] * size


class TeamThreadRange:
    """A range shared out to the threads of a team."""

    def __init__(self, team_member: TeamMember, *bounds: int) -> None:
        self.member = team_member
        self.begin, self.end = (0, bounds[0]) if len(bounds) == 1 else bounds

    @property
    def indices(self) -> Iterable[Any]:
        return range(self.begin + self.member.team_rank(), self.end, self.member.team_size())


class ThreadVectorRange(TeamThreadRange):
    """A range that each thread runs through itself."""

    @property
    def indices(self) -> Iterable[Any]:
        return range(self.begin, self.end)


class TeamThreadMDRange:
    """A box of indices shared out to the threads of a team."""

    def __init__(self, team_member: TeamMember, *extents: int) -> None:
        self.member = team_member
        self.extents = extents

    @property
    def indices(self) -> Iterable[Any]:
        every = itertools.product(*(range(extent) for extent in self.extents))
        return itertools.islice(every, self.member.team_rank(), None, self.member.team_size())


RANGES = (TeamThreadRange, TeamThreadMDRange)


def nested(pattern: str, policy: Any, function: Callable[..., Any], initial: Any = None) -> Any:
    """parallel_for, reduce or scan over a range of the team, called from inside a kernel in Python."""
    if pattern == "for":
        for index in policy.indices:
            function(*index) if isinstance(index, tuple) else function(index)
        return None
    kind = getattr(function, "__pk_reduction__", ("sum", "double"))
    alone = isinstance(policy, ThreadVectorRange)
    value = none(*kind)
    if pattern == "scan" and not alone:
        return _team_scan(policy, function, value)
    for index in policy.indices:
        value = function(index, value, True) if pattern == "scan" else function(index, value)
    if not alone:
        value = _joined(policy.member, value, kind[0], policy.member.team_size())
    return value if initial is None else join(kind[0], initial, value)


def _joined(member: TeamMember, value: Any, reduction: str, upto: int) -> Any:
    team = member._team
    team.parts[member.team_rank()] = value
    team.barrier.wait()
    total = None
    for part in team.parts[:upto]:
        total = part if total is None else join(reduction, total, part)
    team.barrier.wait()
    return total


def _team_scan(policy: TeamThreadRange, function: Callable[..., Any], zero: Any) -> Any:
    """The first thread runs the scan; the others wait for its total."""
    value = zero
    if policy.member.team_rank() == 0:
        for index in range(policy.begin, policy.end):
            value = function(index, value, True)
    return _joined(policy.member, value, "sum", policy.member.team_size())


def single(policy: Any, function: Callable[[], Any]) -> None:
    """Run once for the team, or once for each thread."""
    if not isinstance(policy, PerTeam) or policy.what.team_rank() == 0:
        function()


def none(reduction: str, name: str) -> Any:
    """What a reduction starts from."""
    kind = CType(name)
    zero: Any = 0 if kind.is_integer else 0j if kind.is_complex else 0.0
    if reduction == "sum":
        return zero
    if not kind.is_integer:
        return np.inf if reduction == "min" else -np.inf
    limits = np.iinfo(name.removesuffix("_t"))
    return int(limits.max if reduction == "min" else limits.min)


def join(reduction: str, one: Any, two: Any) -> Any:
    return min(one, two) if reduction == "min" else max(one, two) if reduction == "max" else one + two


def _return_accumulators(node: ast.FunctionDef, name: str) -> None:
    """Make a function with an accumulator of this name return it, and give scratch views their element types.

    So are the functions in it, by accumulators of their own. An empty name means none.
    """
    for part in own_statements(node.body):
        if isinstance(part, ast.FunctionDef):
            _return_own(part)
        elif isinstance(part, ast.Return) and name and part.value is None:
            part.value = ast.copy_location(ast.Name(name, ast.Load()), part)
        elif isinstance(part, ast.AnnAssign):
            call = part.value
            if isinstance(call, ast.Call) and types.last_name(call.func).startswith("ScratchView"):
                call.keywords.append(ast.copy_location(ast.keyword("dtype", part.annotation), part.annotation))
    if name:
        last = node.body[-1]
        end = ast.Return(ast.Name(name, ast.Load()))
        for added in (end, end.value):
            assert added is not None
            added.lineno = added.end_lineno = last.end_lineno or last.lineno
            added.col_offset = added.end_col_offset = last.col_offset
        node.body.append(end)


def _return_own(node: ast.FunctionDef) -> None:
    """The same for a function inside a kernel, which is marked by what its accumulator is joined with."""
    name, kind = "", None
    if len(node.args.args) > 1:
        try:
            kind = types.from_annotation(node.args.args[1].annotation)
        except ValueError:
            kind = None
        name = node.args.args[1].arg if kind is not None and kind.reduction else ""
    _return_accumulators(node, name)
    if name and kind is not None:
        node.decorator_list.append(_decorator(reduction_of(node, name, kind), node))


def _decorator(kind: CType, node: ast.FunctionDef) -> ast.expr:
    call = ast.Call(ast.Name("__pk_reduction", ast.Load()), [ast.Constant(kind.reduction), ast.Constant(kind.name)], [])
    return ast.fix_missing_locations(ast.copy_location(call, node))


def _mark(reduction: str, name: str) -> Callable[[Any], Any]:
    def mark(function: Any) -> Any:
        function.__pk_reduction__ = (reduction, name)
        return function

    return mark


def _python(kernel: Definition, accumulator: str) -> Callable[..., Any]:
    """The workunit in a form that returns its accumulator; the function itself where it has none."""
    made: Callable[..., Any] | None = kernel.in_python.get(accumulator)
    if made is None:
        made = kernel.in_python[accumulator] = _rewritten(kernel, accumulator)
    return made


def _may_be_typed(node: ast.AST) -> bool:
    """Whether a node may be the type of an accumulator or of a scratch view, which may be written as a text."""
    words = (getattr(node, field, None) for field in ("id", "attr", "value"))
    return any("Acc" in word or "ScratchView" in word for word in words if isinstance(word, str))


def _rewritten(kernel: Definition, accumulator: str) -> Callable[..., Any]:
    if not accumulator and not any(map(_may_be_typed, ast.walk(kernel.node))):
        return kernel.function
    node = kernel.fresh_node()
    node.decorator_list = []
    _return_accumulators(node, accumulator)
    names = dict.fromkeys(kernel.function.__code__.co_freevars)
    inside = {name: kernel.names(name) for name in names}
    shared = kernel.function.__globals__
    shared.setdefault("__pk_reduction", _mark)
    try:
        code = compile(ast.Module([node], []), kernel.function.__code__.co_filename, "exec", dont_inherit=True)
    except (RecursionError, MemoryError):
        deep = deepest(node)
        raise CompileError(TOO_DEEP, kernel.file, getattr(deep, "lineno", 0), getattr(deep, "col_offset", -1)) from None
    local: dict[str, Any] = {}
    exec(code, shared if not inside else {**shared, **inside}, local)
    function: Callable[..., Any] = local[kernel.function.__name__]
    return function


def run(pattern: str, policy: ExecutionPolicy, kernel: Definition, given: dict[str, Any], initial: Any) -> Any:
    """A whole launch, in Python."""
    Layout(kernel, pattern, policy, given)
    given = {name: _view(value) if isinstance(value, np.ndarray) else value for name, value in given.items()}
    accumulator, value, reduction = "", None, ""
    if pattern != "for":
        argument = kernel.parameters[policy.rank]
        kind = annotated(kernel)[argument.arg] or CType("double", reduction="sum")
        kind = reduction_of(kernel.node, argument.arg, CType(kind.name, reduction=kind.reduction or "sum"))
        accumulator, reduction = argument.arg, kind.reduction
        value = none(reduction, kind.name)
    function = _python(kernel, accumulator)
    if policy.kind == "team":
        value = _teams(policy, function, given, value, reduction)
    else:
        extra = () if pattern != "scan" else (True,)
        for index in _indices(policy):
            value = function(*index, *(() if pattern == "for" else (value,)), *extra, **given)
    if pattern == "for":
        return None
    value = value if initial is None else join(reduction, initial, value)
    return value.item() if isinstance(value, np.generic) else value


def _view(array: Any) -> Any:
    """An array as kernels see it: times are counts of their unit."""
    counts = array.view(array.dtype.str[0] + "i8") if array.dtype.kind in "mM" else array
    return counts.view(View)


def _indices(policy: ExecutionPolicy) -> Iterable[tuple[int, ...]]:
    rank = policy.rank
    return itertools.product(*(range(policy.words[d], policy.words[rank + d]) for d in range(rank)))


def _teams(
    policy: ExecutionPolicy, function: Callable[..., Any], given: dict[str, Any], value: Any, reduction: str
) -> Any:
    league, size, shared, own = policy.words
    start = value
    for rank in range(league):
        team = _Team(size, (shared, own))
        members = [TeamMember(rank, league, r, team) for r in range(size)]
        if size == 1:
            results = [function(members[0], *([start] if reduction else []), **given)]
        else:
            results = _threads(members, function, [start] if reduction else [], given)
        for result in results if reduction else []:
            value = join(reduction, value, result)
    return value


def _threads(
    members: list[TeamMember], function: Callable[..., Any], first: list[Any], given: dict[str, Any]
) -> list[Any]:
    results: list[Any] = [None] * len(members)
    errors: list[BaseException] = []

    def work(place: int) -> None:
        try:
            results[place] = function(members[place], *first, **given)
        except threading.BrokenBarrierError:
            return
        except BaseException as error:  # noqa: BLE001  # raised again in the thread that launched
            errors.append(error)
            members[place]._team.barrier.abort()

    threads = [threading.Thread(target=work, args=(place,)) for place in range(len(members))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results
