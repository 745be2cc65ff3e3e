"""`@pk.workunit` and `@pk.function`; what PyKokkos decorates beside them is refused by name."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from pkdb_tui.minikokkos.errors import MinikokkosError
from pkdb_tui.minikokkos.source_lines import keep_lines
from pkdb_tui.minikokkos.views import Trait

F = TypeVar("F", bound=Callable[..., Any])


def workunit(*args: Any, **traits: Any) -> Any:
    """Mark a function as a workunit; it stays the function it is. View traits are accepted and not needed."""
    if not args:
        return workunit
    keep_lines(args[0])
    return args[0]


def function(*args: Any, **traits: Any) -> Any:
    """Mark a function as callable from kernels; it stays the function it is."""
    if not args:
        return function
    args[0].__pk_function__ = True
    keep_lines(args[0])
    return args[0]


def _refuse(name: str) -> Callable[..., NoReturn]:
    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        raise MinikokkosError(
            f"pk.{name} is not supported by the embedded runtime: write the workunit as a function decorated with "
            "@pk.workunit, or install PyKokkos."
        )

    refused.__name__ = name
    return refused


workload = _refuse("workload")
functor = _refuse("functor")
main = _refuse("main")
callback = _refuse("callback")
classtype = _refuse("classtype")
execute = _refuse("execute")
rand = _refuse("rand")
BinSort = _refuse("BinSort")
Random_XorShift64_Pool = _refuse("Random_XorShift64_Pool")
Random_XorShift1024_Pool = _refuse("Random_XorShift1024_Pool")


class ViewTypeInfo:
    """Traits of a view in a workunit's decorator; accepted and not needed, but for Atomic, which is refused."""

    def __init__(self, **traits: Any) -> None:
        if Trait.Atomic in traits.values():
            raise MinikokkosError(
                "pk.Trait.Atomic is not supported by the embedded runtime: use pk.atomic_add and its like, or install "
                "PyKokkos."
            )
        self.traits = traits


class Timer:
    """Seconds since it was made or reset."""

    def __init__(self) -> None:
        self._begun = time.perf_counter()

    def seconds(self) -> float:
        return time.perf_counter() - self._begun

    def reset(self) -> None:
        self._begun = time.perf_counter()


def initialize(*args: Any) -> None:
    """Nothing has to be set up."""


def finalize() -> None:
    """Nothing has to be taken down."""
