"""Real PyKokkos' adapter: its launches as seen at `Runtime`, debugged on builds of their own.

Hook points: `Runtime.execute_workunit` (every workunit, after fusion) and `Runtime.run_workload`. What PyKokkos runs
when nothing is debugged is its own optimised build, its files and its default space, untouched.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

from pkdb_tui.engine.debuggee.frameworks.after_import import after_import
from pkdb_tui.engine.debuggee.frameworks.base import Adapter
from pkdb_tui.engine.debuggee.frameworks.minikokkos import MinikokkosAdapter
from pkdb_tui.engine.debuggee.frameworks.pykokkos_conditions import (
    MISSING,
    Compiled,
    Condition,
    Placed,
    Refused,
    compile_condition,
    places,
)
from pkdb_tui.engine.debuggee.frameworks.pykokkos_errors import explain, from_cpp, heard
from pkdb_tui.engine.debuggee.frameworks.pykokkos_header import TEAM
from pkdb_tui.engine.debuggee.frameworks.pykokkos_known import missing, sentence
from pkdb_tui.engine.debuggee.frameworks.pykokkos_traps import note_copies, shown, traps
from pkdb_tui.engine.debuggee.sources import add_library, read_source

if TYPE_CHECKING:
    from pkdb_tui.engine.debuggee.frameworks.pykokkos_build import Captured, DebugBuilds

Json = dict[str, Any]
HOOKED = "pykokkos.core.runtime"
CONVERTED = "pykokkos.interface.parallel_dispatch"


@dataclass(frozen=True)
class Kernel:
    """Where a launched entity stands in its file."""

    name: str
    file: str
    first_line: int
    last_line: int
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Build:
    """A loaded debug build, in the terms of `dispatch`."""

    path: str
    entry: str
    lines: Mapping[str, tuple[int, ...]]
    captured: Captured | None
    runtime: Any
    holds_lock: bool = True
    team: str = TEAM
    bounds: str = "Kokkos::Impl::host_abort"
    conditions: Mapping[int, Placed] = field(default_factory=dict)
    refused: Mapping[int, str] = field(default_factory=dict)


class _Scanner(MinikokkosAdapter):
    """Finds what an installed PyKokkos translates: the mains of workloads and class types, too."""

    marks = MappingProxyType({"decorators": ("workunit", "function", "main"), "classes": ("classtype",)})


def _kernel(entity: Any) -> Kernel:
    """The function or class whose code runs. A fused launch is named by its parts and spans its first one."""
    if isinstance(entity, list):
        first = _kernel(entity[0])
        return Kernel(" + ".join(part.__name__ for part in entity), first.file, first.first_line, first.last_line)
    target = entity
    if hasattr(entity, "__self__"):
        target = type(entity.__self__)
    elif not callable(entity):
        target = type(entity)
    return _named(getattr(entity, "__name__", target.__name__), target)


@functools.lru_cache(maxsize=1024)
def _named(name: str, target: Any) -> Kernel:
    try:
        lines, start = inspect.getsourcelines(target)
    except (OSError, TypeError):
        return Kernel(name, "", 0, 0)
    return Kernel(name, os.path.realpath(inspect.getfile(target)), start, start + len(lines) - 1)


def _policy_text(policy: Any, space: str) -> str:
    kind = type(policy).__name__
    if hasattr(policy, "league_size"):
        return f"{kind}({space}, {policy.league_size}, {policy.team_size})"
    return f"{kind}({space}, {getattr(policy, 'begin', 0)}, {getattr(policy, 'end', '?')})"


def _depth(package: str) -> int:
    """How many frames of PyKokkos lie between its hook point and the program's line."""
    frame = sys._getframe(2)
    depth = 0
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame = frame.f_back
        depth += 1
    return depth


# How many parameters follow the indices: the accumulator, and whether a scan makes its last pass.
_NOT_INDICES = {"parallel_reduce": 1, "parallel_scan": 2}


class PyKokkosLaunch:
    """One launch, in the terms of `dispatch`; `start(runtime)` begins it on any runtime."""

    def __init__(
        self, builds: Callable[[], DebugBuilds], entity: Any, start: Callable[[Any], Any], stock: Any, **facts: Any
    ) -> None:
        self._builds = builds
        self._entity = entity
        self._start = start
        self._stock = stock
        self.kernel = _kernel(entity)
        self.frame_depth: int = facts["depth"]
        self.pattern: str = facts["pattern"]
        self.policy: str = facts["policy"]
        self.space: str = facts["space"]
        self._given: Mapping[str, Any] = facts["arguments"]
        self._policy = facts["execution_policy"]
        self._setup: Callable[[], Any] = facts["setup"]
        self._instead: Callable[[Any], PyKokkosLaunch] | None = facts.get("instead")
        self.stands_for = ""

    @property
    def workunit(self) -> Any:
        """The Python function, or what else PyKokkos takes for a kernel."""
        return self._entity

    prepares = False

    def prepare(self) -> None:
        """PyKokkos compiles as it launches."""

    def let_run(self, epoch: Any, counts: Any, caller: Any) -> None:
        """Each launch passes the hook: its cost is small beside PyKokkos' own."""

    def substituted(self, workunit: Any) -> PyKokkosLaunch:
        if self._instead is None or not isinstance(self._entity, FunctionType):
            raise TypeError("only kernels that are functions can be substituted")
        made = self._instead(workunit)
        made.stands_for = self.kernel.name
        return made

    # A launch that nobody looks at must cost next to nothing, so what is for looking is made when asked for.

    @functools.cached_property
    def arguments(self) -> Mapping[str, Any]:
        return {name: shown(value) for name, value in self._given.items()}

    def warnings(self) -> list[str]:
        """What PyKokkos will do here without a word."""
        if self.space == "Debug":
            return []
        setup = self._setup()
        built = (Path(setup.output_dir), Path(setup.path))
        return list(traps(self._given, self._policy, self.space, self._sources(), built))

    def _sources(self) -> list[str]:
        entities = self._entity if isinstance(self._entity, list) else [self._entity]
        return [_kernel(entity).file for entity in entities]

    @functools.cached_property
    def index_names(self) -> tuple[str, ...]:
        if isinstance(self._entity, list) or not callable(self._entity):
            return ()
        names = [name for name in inspect.signature(self._entity).parameters if name not in self._given]
        return tuple(names[: len(names) - _NOT_INDICES.get(self.pattern, 0)])

    @functools.cached_property
    def functions(self) -> list[Kernel]:
        """PyKokkos finds the kernel functions of a kernel in its own file: any of them may be called."""
        return [
            Kernel(span["name"], self.kernel.file, span["firstLine"], span["lastLine"], tuple(span["lines"]))
            for span in _Scanner().spans_of_file(self.kernel.file)
            if not self.kernel.first_line <= span["firstLine"] <= self.kernel.last_line
        ]

    def run(self) -> Any:
        try:
            return self._start(self._stock)
        except SystemExit as error:
            said = getattr(error, "pkdb_said", None)
            if said is not None:
                error.pkdb_text = self._explained(said)  # type: ignore[attr-defined]
            raise

    def _explained(self, said: str) -> str:
        """A C++ compiler's messages are about generated lines but for a debug build."""
        from pkdb_tui.engine.debuggee.frameworks.pykokkos_build import BuildError

        if from_cpp(said):
            try:
                self.build_debug()
            except BuildError as error:
                said = error.output
        return explain(said, self.kernel.name, self.kernel.file)

    def optimised(self) -> Build:
        """PyKokkos' own build has no line tables: a pause in it shows no Python line."""
        return Build(path="", entry="", lines={}, captured=None, runtime=None, team="", bounds="")

    def built_debug(self, conditions: Sequence[Condition] = (), *, bounds: bool = True) -> None:
        """A build goes with the arguments that PyKokkos made ready for it."""

    def build_debug(self, conditions: Sequence[Condition] = (), *, bounds: bool = True) -> Build:
        from pkdb_tui.engine.debuggee.frameworks.pykokkos_build import BOUNDS_FLAG, built_in, holds_lock, lines_of

        sources = self._sources()
        compiled, refused = self._compiled(conditions)
        captured, runtime = self._capture(sources, BOUNDS_FLAG if bounds else "", compiled, refused)
        path = captured.module.__file__
        carried = built_in(path)
        conditions_in = places(compiled)
        for number in [n for n, placed in conditions_in.items() if placed.file not in carried]:
            refused.setdefault(number, f"line {conditions_in.pop(number).line} has no code in this kernel")
        return Build(
            path=os.path.realpath(path),
            entry=f"pk_functor_{self._functor}::operator()",
            lines={file: tuple(lines) for file, lines in lines_of(path).items()},
            captured=captured,
            runtime=runtime,
            holds_lock=holds_lock(path),
            conditions=conditions_in,
            refused=refused,
        )

    def _compiled(self, conditions: Sequence[Condition]) -> tuple[dict[int, Compiled], dict[int, str]]:
        """By breakpoint: conditions as C++, and why one can't be."""
        compiled: dict[int, Compiled] = {}
        refused: dict[int, str] = {}
        for condition in conditions:
            file = os.path.realpath(condition.file)
            try:
                compiled[condition.id] = compile_condition(condition, read_source(file), self._outside)
            except Refused as error:
                refused[condition.id] = str(error)
        return compiled, refused

    def _outside(self, name: str) -> Any:
        """A name of the module around the kernel, by its value now."""
        entity = self._entity[0] if isinstance(self._entity, list) else self._entity
        module = sys.modules.get(getattr(entity, "__module__", None) or type(entity).__module__)
        names = getattr(entity, "__globals__", None) or getattr(module, "__dict__", {})
        return names.get(name, MISSING)

    def _capture(
        self, sources: list[str], flags: str, compiled: dict[int, Compiled], refused: dict[int, str]
    ) -> tuple[Captured, Any]:
        """Builds; a condition that the C++ compiler refuses goes from `compiled` to `refused`."""
        from pkdb_tui.engine.debuggee.frameworks.pykokkos_build import BuildError

        while True:
            runtime = self._builds().runtime(sources, flags, list(compiled.values()))
            try:
                return runtime.capture(self._start), runtime
            except BuildError as error:
                blamed = {n: said for n, c in compiled.items() if (said := error.about(c.origin))}
                if not blamed:
                    error.pkdb_text = explain(error.output, self.kernel.name, self.kernel.file)
                    raise
                for number, said in blamed.items():
                    del compiled[number]
                    refused[number] = said

    @property
    def _functor(self) -> str:
        if hasattr(self._entity, "__self__"):
            return type(self._entity.__self__).__name__
        if not callable(self._entity) and not isinstance(self._entity, list):
            return type(self._entity).__name__
        return self.kernel.name.replace(" + ", "_")

    def run_debug(self, build: Build) -> Any:
        return build.runtime.call(build.captured, parallel=self.space == "OpenMP")


class PyKokkosAdapter(Adapter):
    """Knows the PyKokkos whose runtime has the hook points; says so plainly for another one."""

    name = "pykokkos"
    views = "kokkos"
    holds_lock = True
    one_at_a_time = True

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._hook: Callable[[Adapter, Any], Any] | None = None
        self._made: DebugBuilds | None = None
        self._scanner = _Scanner()

    def spans(self, file: str, source: str) -> list[Json]:
        return self._scanner.spans(file, source)

    def install(self, hook: Callable[[Adapter, Any], Any]) -> None:
        self._hook = hook
        after_import(HOOKED, self._wrap)
        after_import(CONVERTED, note_copies)

    def uninstall(self) -> None:
        self._hook = None

    def _builds(self) -> DebugBuilds:
        if self._made is None:
            from pkdb_tui.engine.debuggee.frameworks.pykokkos_build import DebugBuilds

            self._made = DebugBuilds()
        return self._made

    def _wrap(self, module: ModuleType) -> None:
        runtime = module.Runtime
        lacking = missing(Path(module.__file__ or "").parents[1])
        if lacking:
            self._tell(sentence(lacking))
            return
        package = os.path.dirname(os.path.dirname(module.__file__ or "")) + os.sep
        add_library(package.rstrip(os.sep))
        module.Compiler.compile_object = heard(module.Compiler.compile_object)
        stock_workunit, stock_workload = runtime.execute_workunit, runtime.run_workload

        def execute_workunit(
            self: Any, name: Any, policy: Any, workunit: Any, operation: str, parser: Any, **arguments: Any
        ) -> Any:
            if adapter._hook is None or type(self) is not runtime:
                return stock_workunit(self, name, policy, workunit, operation, parser, **arguments)
            space = _space_name(policy.space)
            depth = _depth(package)

            def launch(workunit: Any, parser: Any) -> PyKokkosLaunch:
                def start(on: Any) -> Any:
                    parsers = parser if on is self else _parsers(on, workunit)
                    return stock_workunit(on, name, policy, workunit, operation, parsers, **arguments)

                return PyKokkosLaunch(
                    adapter._builds,
                    workunit,
                    start,
                    self,
                    pattern=f"parallel_{operation}",
                    policy=_policy_text(policy, space),
                    space=space,
                    arguments=arguments or getattr(getattr(workunit, "__self__", None), "__dict__", {}),
                    depth=depth,
                    execution_policy=policy,
                    setup=lambda: _module_setup(self, operation, parser, policy, workunit, arguments),
                    instead=lambda chosen: launch(chosen, _parsers(self, chosen)),
                )

            return adapter._hook(adapter, launch(workunit, parser))

        def run_workload(self: Any, space: Any, workload: Any) -> Any:
            if adapter._hook is None or type(self) is not runtime or self.is_debug(space):
                return stock_workload(self, space, workload)
            launch = PyKokkosLaunch(
                adapter._builds,
                workload,
                lambda on: stock_workload(on, space, workload),
                self,
                pattern="execute",
                policy="",
                space=_space_name(space),
                arguments=dict(workload.__dict__),
                depth=_depth(package),
                execution_policy=None,
                setup=lambda: self.get_module_setup(workload, space),
            )
            return adapter._hook(adapter, launch)

        adapter = self
        runtime.execute_workunit = execute_workunit
        runtime.run_workload = run_workload

    def condition(self, number: int, file: str, line: int, expression: str) -> Any:
        return Condition(number, file, line, expression)

    def is_build_error(self, error: BaseException) -> bool:
        return self.says_itself(error) or hasattr(error, "pkdb_said")

    def says_itself(self, error: BaseException) -> bool:
        from pkdb_tui.engine.debuggee.frameworks.pykokkos_build import BuildError

        return isinstance(error, BuildError)

    def build_error_text(self, error: BaseException) -> str:
        return str(getattr(error, "pkdb_text", error))

    def warnings(self, launch: Any) -> Sequence[str]:
        found: list[str] = launch.warnings()
        return found

    def stride_note(self) -> str:
        return "PyKokkos ignores strides and treats it as contiguous: other elements are read and written"


def _module_setup(
    runtime: Any, operation: str, parser: Any, policy: Any, workunit: Any, arguments: dict[str, Any]
) -> Any:
    """Where PyKokkos keeps its own build of a workunit for these types of arguments."""
    from pykokkos.core.type_inference import get_type_info

    signature = get_type_info(operation, parser, policy, workunit, arguments)[2]
    return runtime.get_module_setup(workunit, policy.space.space, signature, None)


def _parsers(runtime: Any, workunit: Any) -> Any:
    from pykokkos.core.module_setup import get_metadata

    if isinstance(workunit, list):
        return [runtime.compiler.get_parser(get_metadata(part).path) for part in workunit]
    return runtime.compiler.get_parser(get_metadata(workunit).path)


def _space_name(space: Any) -> str:
    import pykokkos.kokkos_manager

    kind = getattr(space, "space", space)
    if kind.value == "Default":
        kind = pykokkos.kokkos_manager.get_default_space()
    return str(kind.value)
