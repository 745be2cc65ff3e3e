"""parallel_for, parallel_reduce and parallel_scan: from the call to the compiled kernel."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import time
from _thread import get_ident
from collections.abc import Mapping, Sequence
from types import FrameType, FunctionType
from typing import Any

import numpy as np

from pkdb_tui.minikokkos import arguments, cuda, debug, python_space
from pkdb_tui.minikokkos.build import BOUNDS, HOST, Built, Toolchain, build, for_device
from pkdb_tui.minikokkos.cpp_types import PACK
from pkdb_tui.minikokkos.debug import Condition, DebugBuild, KernelSource
from pkdb_tui.minikokkos.elements import from_words
from pkdb_tui.minikokkos.errors import ArgumentError, KernelFault
from pkdb_tui.minikokkos.policies import ExecutionPolicy, ExecutionSpace, RangePolicy
from pkdb_tui.minikokkos.program import Definition, Program, definition

Layout = arguments.Layout
_RESULTS = {name: struct.Struct(code) for name, code in PACK.items()}
SITES = 256  # calls by which one kernel is launched past the hook
_entries: dict[Any, Entry] = {}
_translated: dict[Any, Program] = {}  # for debug builds
_debug_builds: dict[Any, DebugBuild] = {}


class Entry:
    """A compiled kernel for one signature, and how to call it."""

    def __init__(self, program: Program, built: Built, layout: arguments.Layout, *, checked: bool) -> None:
        self.program = program
        self.built = built
        self._layout = layout
        self._call = built.library.pk_launch
        self._call.restype = None
        self._checked = checked
        self.current = program.current  # called at each launch
        self._kind = program.accumulator.name if program.pattern != "for" else ""
        self._result = _RESULTS.get(self._kind)
        self._failed = ctypes.c_int.in_dll(built.library, "pk_failed")
        # By (id, instruction) of the launching code, which the site keeps, so that its id stays its own.
        self.sites: dict[tuple[int, int], debug.Site] = {}
        self._team = None if program.device else ctypes.c_int.in_dll(built.library, "pk_team")  # how many it holds
        self.strided = layout.strided
        self.told = layout.told

    def __call__(self, policy: ExecutionPolicy, given: Mapping[str, Any]) -> Any:
        return self.run(self.pack(policy, given))

    def pack(self, policy: ExecutionPolicy, given: Mapping[str, Any]) -> Any:
        """What `run` takes; it names the arrays' addresses, and keeps none of them."""
        how = cuda.stream() if policy.device else int(policy.space is ExecutionSpace.Serial)
        return self._layout.pack(how, policy.words, given)

    def run(self, words: Any) -> Any:
        self._call(words)
        if self._checked and self._failed.value:
            self._raise()
        if self._result is None:
            return from_words(self._kind, words)
        value = self._result.unpack_from(words)
        return complex(*value) if len(value) == 2 else value[0]

    def forget_team(self) -> None:
        """The threads of the last launch are not those of the next one."""
        if self._team is not None:
            self._team.value = 0

    def preload(self) -> None:
        """Load the device's code. Raises KernelFault."""
        self.built.library.pk_preload()
        if self._failed.value:
            self._raise()

    def _raise(self) -> None:
        message = (ctypes.c_char * 512).in_dll(self.built.library, "pk_message").value.decode(errors="replace")
        if self._failed.value == 1:
            raise IndexError(message)
        if self._failed.value == 3:
            raise KernelFault(f"{self.program.kernel.name} failed on the device: {message}.")
        raise ArgumentError(f"{self.program.kernel.name}: {message}")


def _key(kernel: Definition, pattern: str, policy: ExecutionPolicy, given: Mapping[str, Any]) -> tuple[Any, ...]:
    """What an optimised kernel depends on."""
    bounds = getattr(kernel.function, "bounds", None) or os.environ.get("PKDB_BOUNDS") == "1"
    where = cuda.cupy().cuda.Device().id if policy.device else None
    return kernel, pattern, policy.kind, policy.rank, bounds, tuple(given), arguments.signature(given), where


def _entry(
    kernel: Definition,
    pattern: str,
    policy: ExecutionPolicy,
    given: Mapping[str, Any],
    key: tuple[Any, ...] | None = None,
) -> Entry:
    """The optimised kernel for these arguments: a look-up, but for the first time."""
    key = key or _key(kernel, pattern, policy, given)
    found = _entries.get(key)
    if found is None or not found.current():
        bounds = key[4]
        layout = arguments.Layout(kernel, pattern, policy, given)
        dense = () if bounds else layout.dense
        program = Program(kernel, pattern, policy.kind, policy.rank, layout.types, dense, device=policy.device)
        tools = _tools(policy)
        flags = tools.release + (BOUNDS if bounds else ())
        checked = bool(bounds) or policy.kind == "team" or policy.device
        found = _entries[key] = Entry(program, build(program.source, flags, tools), layout, checked=checked)
    return found


def known_programs() -> list[Program]:
    """The translations of all kinds of launches so far, the debug builds' first: these are compiled sooner."""
    debugged = [build.handle.program for build in list(_debug_builds.values())]
    return [*debugged, *(entry.program for entry in list(_entries.values()))]


class KernelLaunch(debug.Launch):
    """A launch as a debugger sees it."""

    frame_depth = 2

    def __init__(
        self,
        pattern: str,
        policy: ExecutionPolicy,
        kernel: Definition,
        given: dict[str, Any],
        initial: Any,
        key: tuple[Any, ...] | None = None,
    ) -> None:
        self._key = key
        self._kernel = kernel
        self._policy = policy
        self._given = given
        self._initial = initial
        self._functions: Sequence[KernelSource] | None = None
        self.pattern = pattern
        self.space = policy.space.name
        self.kernel = kernel.source

    # A launch that nobody looks at must cost next to nothing, so what is for looking is made when asked for.

    def let_run(self, epoch: object, counts: debug.Counts, caller: FrameType) -> None:
        entry = _entries.get(self._key)
        if entry is not None and not entry.strided:  # what strides an array has is told at each launch
            if len(entry.sites) >= SITES:  # code that is made anew again and again
                entry.sites.clear()
            code = caller.f_code
            entry.sites[id(code), caller.f_lasti] = debug.Site(epoch, code, counts)

    @property
    def policy(self) -> str:  # type: ignore[override]
        return self._policy.describe()

    @property
    def arguments(self) -> Mapping[str, Any]:  # type: ignore[override]
        return self._given

    @property
    def index_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(argument.arg for argument in self._kernel.parameters[: self._policy.rank])

    @property
    def workunit(self) -> FunctionType:  # type: ignore[override]
        return self._kernel.function

    def substituted(self, workunit: FunctionType) -> KernelLaunch:
        kernel = definition(workunit)
        key = _key(kernel, self.pattern, self._policy, self._given)
        if key not in _entries:
            arguments.Layout(kernel, self.pattern, self._policy, self._given)
        made = KernelLaunch(self.pattern, self._policy, kernel, self._given, self._initial, key)
        made.stands_for = self.kernel.name
        return made

    @property
    def functions(self) -> Sequence[KernelSource]:  # type: ignore[override]
        if self._functions is None:
            self._functions = [part.source for part in self._program().functions.values()]
        return self._functions

    def _signature(self) -> tuple[Any, ...]:
        return self._key or _key(self._kernel, self.pattern, self._policy, self._given)

    def _program(self, conditions: Sequence[Condition] = ()) -> Program:
        key = self._signature(), tuple(conditions)
        found = _translated.get(key)
        if found is None or not found.current():
            policy = self._policy
            types = self._layout().types
            found = _translated[key] = Program(
                self._kernel,
                self.pattern,
                policy.kind,
                policy.rank,
                types,
                (),
                conditions,
                debug=True,
                device=policy.device,
            )
        return found

    def _layout(self) -> Layout:
        return arguments.Layout(self._kernel, self.pattern, self._policy, self._given)

    def prepare(self) -> None:
        if self._policy.space is not ExecutionSpace.Debug:
            _entry(self._kernel, self.pattern, self._policy, self._given, self._key)

    def run(self) -> Any:
        return _run(self.pattern, self._policy, self._kernel, self._given, self._initial, self._key)

    def optimised(self) -> DebugBuild:
        entry = _entry(self._kernel, self.pattern, self._policy, self._given)
        program = entry.program
        return DebugBuild(
            path=entry.built.path,
            seconds=0.0,
            entry=program.entry,
            team="",
            bounds="",
            message="",
            lines=program.lines(),
            holds_lock=self._policy.device,
        )

    def _build_key(self, conditions: Sequence[Condition], bounds: bool) -> tuple[Any, ...]:
        return self._signature(), tuple(conditions), bounds, debug.addition

    def built_debug(self, conditions: Sequence[Condition] = (), *, bounds: bool = True) -> DebugBuild | None:
        found = _debug_builds.get(self._build_key(conditions, bounds))
        return found if found is not None and found.handle.current() else None

    def build_debug(self, conditions: Sequence[Condition] = (), *, bounds: bool = True) -> DebugBuild:
        program = self._program(conditions)
        tools = _tools(self._policy)
        flags = tools.debug + (BOUNDS if bounds else ())
        on_device = self._policy.device
        built = build(program.source + ("" if on_device else debug.addition), flags, tools)
        entry = Entry(program, built, self._layout(), checked=True)
        if on_device:
            entry.preload()
        made = _debug_builds[self._build_key(conditions, bounds)] = DebugBuild(
            path=built.path,
            seconds=built.seconds,
            entry=program.entry,
            team="" if on_device else "pk_team",
            bounds=_bounds_place(on_device, bounds),
            message="pk_message",
            lines=program.lines(),
            conditions=dict(program.placed),
            refused=dict(program.refused),
            handle=entry,
            holds_lock=on_device,
        )
        return made

    def run_debug(self, build: DebugBuild) -> Any:
        entry: Entry = build.handle
        entry.forget_team()
        return _combined(entry, entry(self._policy, self._given), self._initial)


def _bounds_place(on_device: bool, bounds: bool) -> str:
    """Where a debugger stops at an access out of bounds: a function, in a device's code a line."""
    if on_device:
        return "pk_bounds.cpp:1" if bounds else ""
    return "pk_bounds_fault"


def _tools(policy: ExecutionPolicy) -> Toolchain:
    return for_device() if policy.device else HOST


def _check_device(pattern: str, policy: ExecutionPolicy) -> None:
    """Whether there is a device, and the launch is of a kind that runs on it here."""
    cuda.cupy()
    if policy.kind == "team" and pattern == "scan":
        raise ArgumentError("parallel_scan over a TeamPolicy can't run on Cuda here yet: use OpenMP, or a RangePolicy.")


def _combined(entry: Entry, value: Any, initial: Any) -> Any:
    """A result with the initial value taken in."""
    if initial is None or value is None:
        return value
    reduction = entry.program.accumulator.reduction
    return min(value, initial) if reduction == "min" else max(value, initial) if reduction == "max" else value + initial


def _run(
    pattern: str,
    policy: ExecutionPolicy,
    kernel: Definition,
    given: dict[str, Any],
    initial: Any,
    key: tuple[Any, ...] | None = None,
) -> Any:
    if policy.space is ExecutionSpace.Debug:
        return python_space.run(pattern, policy, kernel, given, initial)
    entry = _entry(kernel, pattern, policy, given, key)
    return _combined(entry, entry(policy, given), initial)


def _forms(pattern: str, args: tuple[Any, ...]) -> tuple[ExecutionPolicy, Any, Any]:
    """(policy, workunit, initial value) of `([name,] policy, workunit[, initial value])`."""
    rest = args[1:] if args and (args[0] is None or isinstance(args[0], str)) else args
    if len(rest) not in ((2,) if pattern == "for" else (2, 3)):
        extra = "" if pattern == "for" else "[, initial value]"
        raise ArgumentError(f"parallel_{pattern} takes ([name,] policy, workunit{extra}, name=argument, …).")
    policy = rest[0]
    if isinstance(policy, int | np.integer) and not isinstance(policy, bool):
        policy = RangePolicy(0, int(policy))
    if not isinstance(policy, ExecutionPolicy):
        raise ArgumentError(f"{policy!r} is not an execution policy: use a number, or pk.RangePolicy and its kin.")
    return policy, rest[1], rest[2] if len(rest) == 3 else None


def _launch(pattern: str, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    if args and isinstance(args[0], python_space.RANGES):
        return python_space.nested(pattern, *args)
    policy, workunit, initial = _forms(pattern, args)
    if initial is None and pattern != "for" and "initial_value" in given:
        initial = given.pop("initial_value")
    if not isinstance(workunit, FunctionType):
        raise ArgumentError(f"{workunit!r} is not a workunit: it must be a function decorated with @pk.workunit.")
    kernel = definition(workunit)
    if policy.device:
        _check_device(pattern, policy)
    hook = debug.hook
    if hook is None:
        return _run(pattern, policy, kernel, given, initial)
    key = _key(kernel, pattern, policy, given)
    entry = _entries.get(key)
    if entry is None:
        # Arguments that don't fit are refused before the hook sees them.
        arguments.Layout(kernel, pattern, policy, given)
    elif entry.sites:
        caller = sys._getframe(2)
        site = entry.sites.get((id(caller.f_code), caller.f_lasti))
        if site is not None and site.epoch is debug.epoch and entry.current():
            counts = site.counts
            ident = get_ident()
            around = debug.running.get(ident)  # where this is a signal handler's launch, during another one's
            mine = debug.running[ident] = (caller, pattern, policy, kernel, given, initial, key)
            begun = time.perf_counter()
            try:  # each call and each attribute counts here: see benchmarks
                words = entry.pack(policy, given)
                counts.latest = (entry.told, policy, words)
                value = entry.run(words)
            finally:
                counts.last = took = time.perf_counter() - begun
                counts.total += took
                counts.count += 1
                if around is None:
                    debug.running.pop(ident, None)
                else:
                    debug.running[ident] = around
                if debug.attended is mine and debug.over is not None:
                    debug.over()
            return value if initial is None else _combined(entry, value, initial)
    return hook(KernelLaunch(pattern, policy, kernel, given, initial, key))


def running(caller: FrameType, *launch: Any) -> tuple[FrameType, KernelLaunch]:
    """The launching frame and the launch behind `debug.running`."""
    return caller, KernelLaunch(*launch)


def parallel_for(*args: Any, **kwargs: Any) -> None:
    """Run a workunit for each index of a policy: `([name,] policy, workunit, name=argument, …)`."""
    _launch("for", args, kwargs)


def parallel_reduce(*args: Any, **kwargs: Any) -> Any:
    """Reduce over a policy: `([name,] policy, workunit[, initial value], name=argument, …)`."""
    return _launch("reduce", args, kwargs)


def parallel_scan(*args: Any, **kwargs: Any) -> Any:
    """Scan over a policy, giving the total: `([name,] policy, workunit[, initial value], name=argument, …)`."""
    return _launch("scan", args, kwargs)
