"""`parallel_launch`: several kernels at once, each on arrays of its own, and how their results differ."""

from __future__ import annotations

import _thread
import copy
import dataclasses
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

from pkdb_tui.engine.debuggee import hotswap
from pkdb_tui.engine.debuggee.clauses import Argument, Clause, parse, split
from pkdb_tui.engine.debuggee.differences import Difference, between
from pkdb_tui.engine.debuggee.evaluate import error_line, result_text, run
from pkdb_tui.engine.debuggee.scopes import Kernel
from pkdb_tui.engine.debuggee.values import is_array, type_name, wire_value
from pkdb_tui.engine.debuggee.wire import RequestError

Json = dict[str, Any]
Handler = Callable[[Any], Any]  # gets a launch, and returns what it returns


class _Work:
    """One clause on its way: what it launches, on what, and what came of it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.kernel = text.partition(" ")[0]
        self.start: Callable[[], Any] = lambda: None
        self.rehearse: Callable[[], Any] = lambda: None  # the same on arrays that nobody sees
        self.given: dict[str, Any] = {}
        self.policy = ""
        self.launched = False
        self.ready = _locked()  # released when it is about to launch, or needn't be waited for
        self.over = _locked()
        self.seconds = 0.0
        self.result: Any = None
        self.error = ""

    def fail(self, error: BaseException) -> None:
        said = str(error).strip().partition("\n")
        if isinstance(error, RequestError):
            self.error = f"{error.title} {error.hint}".strip()
        elif said[1]:  # a compiler's, which goes on with source lines
            self.error = f"{type(error).__name__}: {said[0]}"
        else:
            self.error = error_line(error)


def _locked() -> _thread.LockType:
    """A lock that somebody waits for to be released."""
    lock = _thread.allocate_lock()
    lock.acquire()
    return lock


def parallel_launch(text: str, frame: FrameType, kernel: Kernel | None, aside: dict[int, Handler]) -> list[Json]:
    """A ClauseBody for each clause. `aside` takes who sees the launches of a thread in place of the debugger.

    Raises RequestError where the text isn't one of clauses; what fails in one clause is told with that one.
    """
    works = [_Work(part) for part in split(text)]
    for work in works:
        try:
            _prepare(work, frame, kernel)
        except Exception as error:  # noqa: BLE001 - whatever a clause's expressions raise, the others run
            work.fail(error)
    going = [work for work in works if not work.error]
    go = _locked()
    compiling = _thread.allocate_lock()
    for work in going:
        _thread.start_new_thread(_run, (work, compiling, go, aside))
    try:
        for work in going:
            work.ready.acquire()
    finally:
        go.release()
    for work in going:
        work.over.acquire()
    return _bodies(works)


# --- before ---


def _prepare(work: _Work, frame: FrameType, kernel: Kernel | None) -> None:
    """Evaluate the clause's expressions and copy its arrays."""
    clause = parse(work.text)
    work.kernel = clause.kernel

    def value(text: str) -> Any:
        return run(text, frame, "eval", kernel)

    framework = sys.modules.get("pykokkos")
    if framework is None:
        raise RequestError("The program has not imported pykokkos.", "Stop where it has.")
    workunit = hotswap.find(clause.kernel, frame)
    words = list(clause.words)
    space, policy = None, value(words.pop(0).text)
    if type(policy).__name__ in ("ExecutionSpace", "ExecutionSpaceInstance"):
        space = policy
        if not words:
            raise RequestError(f"`{clause.text}` has no policy.", "It is a number of iterations, or a policy.")
        policy = value(words.pop(0).text)
    policy = _policy(framework, policy, space)
    named = _named(clause, words, [name for name, _ in hotswap.parameters(workunit)])
    given = {name: value(word.text) for name, word in named.items()}
    work.given = {**given, **_copies({name: given[name] for name, word in named.items() if not word.shared})}
    launch = getattr(framework, clause.pattern)
    work.policy = f"{type(policy).__name__}({getattr(getattr(policy.space, 'space', policy.space), 'name', '')})"
    work.start = lambda: launch(policy, workunit, **work.given)
    work.rehearse = lambda: launch(policy, workunit, **{**work.given, **_copies(work.given)})


def _policy(framework: Any, policy: Any, space: Any) -> Any:
    """The policy as given, in another space where one is named."""
    if isinstance(policy, int) and not isinstance(policy, bool):
        return framework.RangePolicy(*(() if space is None else (space,)), 0, policy)
    if not hasattr(policy, "space"):
        raise RequestError(f"{policy!r} is no policy.", "Write a number of iterations, or a policy object.")
    if space is not None:
        policy = copy.copy(policy)
        kind = type(policy.space)  # an execution space, or an instance of one
        policy.space = space if isinstance(space, kind) else kind(space)
    return policy


def _named(clause: Clause, words: Sequence[Argument], parameters: Sequence[str]) -> dict[str, Argument]:
    """Arguments by the kernel's parameter; those without a name are its last ones, in order."""
    named = {word.name: word for word in words if word.name}
    placed = [word for word in words if not word.name]
    free = [name for name in parameters if name not in named]
    if len(placed) > len(free):
        raise RequestError(f"{clause.kernel} takes fewer arguments than `{clause.text}` gives.", "Name them: v=v.")
    return {**dict(zip(free[len(free) - len(placed) :], placed, strict=True)), **named}


def _copies(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays of their own with the same values and layout; those that overlap still overlap each other."""
    numpy = sys.modules.get("numpy")
    arrays = {name: value for name, value in given.items() if is_array(value)}
    made: dict[str, Any] = {}
    roots: dict[int, Any] = {}
    for name, value in arrays.items():
        if numpy is None or not isinstance(value, numpy.ndarray):
            if not callable(getattr(value, "copy", None)):
                raise RequestError(f"{name} can't be copied: it is a {type_name(value)}.", "`mut:` shares it.")
            made[name] = value.copy()
            continue
        others = [other for other in arrays.values() if other is not value and isinstance(other, numpy.ndarray)]
        root = _root(numpy, value)
        if root.flags.forc and any(numpy.may_share_memory(value, other) for other in others):
            twin = roots.setdefault(id(root), root.copy(order="K"))
            begin = value.__array_interface__["data"][0] - root.__array_interface__["data"][0]
            made[name] = numpy.ndarray(value.shape, value.dtype, twin.reshape(-1, order="A"), begin, value.strides)
        else:
            same = next((made[n] for n, other in arrays.items() if other is value and n in made), None)
            made[name] = value.copy(order="K") if same is None else same
    return made


def _root(numpy: Any, array: Any) -> Any:
    """The array whose memory this one is a part of."""
    while isinstance(array.base, numpy.ndarray):
        array = array.base
    return array


# --- at once ---


def _run(work: _Work, compiling: _thread.LockType, go: _thread.LockType, aside: dict[int, Handler]) -> None:
    """On a thread of the clause's own: compile, one clause after the other, wait for the others, launch."""
    ident = _thread.get_ident()

    def launch(seen: Any) -> Any:
        work.policy = str(seen.policy)
        with compiling:
            if seen.prepares:
                seen.prepare()
            else:
                aside[ident] = lambda rehearsed: rehearsed.run()
                work.rehearse()
        return at_once(seen.run)

    def at_once(run: Callable[[], Any]) -> Any:
        work.launched = True
        work.ready.release()
        with go:
            pass
        begun = time.perf_counter()
        try:
            return run()
        finally:
            work.seconds = time.perf_counter() - begun

    aside[ident] = launch
    begun = time.perf_counter()
    try:
        work.result = work.start()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a clause raises is its result
        work.fail(error)
    finally:
        del aside[ident]
        if not work.launched:  # it failed before that, or ran where no launch is seen
            work.seconds = time.perf_counter() - begun
            work.ready.release()
        work.over.release()


# --- afterwards ---


def _bodies(works: Sequence[_Work]) -> list[Json]:
    """Differences are those to the first clause that has ended well."""
    first = next((work for work in works if not work.error), None)
    bodies = []
    for work in works:
        done = not work.error
        bodies.append(
            {
                "text": work.text,
                "kernel": work.kernel,
                "policy": work.policy,
                "seconds": work.seconds,
                "result": result_text(work.result) if done else "",
                "value": wire_value(work.result) if done else None,
                "error": work.error,
                "differences": _differences(work, first) if done and first is not None and work is not first else [],
            }
        )
    return bodies


def _differences(work: _Work, first: _Work) -> list[Json]:
    """Of what two launches returned and of the arrays that both have under the same name."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return []
    found: list[Json] = []
    if work.result is not None and first.result is not None:
        pair = (numpy.asarray(work.result), numpy.asarray(first.result))
        found.append(_difference("", between(numpy, *pair)))
    for name, value in work.given.items():
        other = first.given.get(name)
        if other is not None and other is not value and is_array(value) and is_array(other):
            pair = (_host(value), _host(other))
            found.append(_difference(name, between(numpy, *pair)))
    return found


def _difference(name: str, found: Difference) -> Json:
    """A DifferenceBody: JSON has no infinity."""
    return {**dataclasses.asdict(found), "name": name, "abs": repr(found.abs), "rel": repr(found.rel)}


def _host(array: Any) -> Any:
    """As a numpy array, from a device where it lies there."""
    numpy: Any = sys.modules["numpy"]
    fetched = array.get() if callable(getattr(array, "get", None)) and not isinstance(array, numpy.ndarray) else array
    return numpy.asarray(fetched)
