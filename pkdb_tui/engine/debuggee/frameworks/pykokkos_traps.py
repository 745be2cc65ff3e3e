"""What PyKokkos does without a word at a launch, told before it: old builds, failed builds, copies, spaces, teams."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

AUTO = -1  # the team size that lets Kokkos choose
HOST_SPACES = ("OpenMP", "Threads", "Serial")


def shown(value: Any) -> Any:
    """An argument as the program knows it: the array behind a view PyKokkos wrapped it in."""
    for name in ("xp_array", "data"):
        behind = getattr(value, name, None)
        if behind is not None and hasattr(behind, "dtype") and hasattr(value, "layout"):
            return behind
    return value


def traps(
    arguments: Mapping[str, Any], policy: Any, space: str, sources: Sequence[str], built: tuple[Path, Path] | None
) -> Iterator[str]:
    """One sentence each. `built` is (directory, kernel) of the build in PyKokkos' own cache that would be used."""
    if built is not None:
        yield from _old_build(sources, *built)
    yield from _copies(arguments)
    yield from _spaces(arguments, space)
    yield from _team(policy, space)


def _old_build(sources: Sequence[str], directory: Path, kernel: Path) -> Iterator[str]:
    """PyKokkos' cache asks only whether the directory exists."""
    if not directory.is_dir():
        return
    if not kernel.exists():
        yield (
            f"an earlier compile failed and left {directory} without a kernel, which PyKokkos will try to import; "
            "remove that folder"
        )
        return
    time = kernel.stat().st_mtime
    newer = [source for source in sources if os.path.exists(source) and os.stat(source).st_mtime > time]
    if newer:
        names = " and ".join(os.path.basename(name) for name in newer)
        yield (
            f"{names} was changed after its kernel was built, and PyKokkos runs the old kernel; "
            f"remove {directory} to have it built anew"
        )


def note_copies(module: ModuleType) -> None:
    """Mark the views that PyKokkos makes of copies: afterwards a view of a bool array looks like one of uint8."""
    stock = getattr(module, "convert_arrays", None)
    if stock is None:  # in another state of PyKokkos nothing is marked, so nothing is told
        return

    def convert_arrays(kwargs: dict[str, Any]) -> None:
        copied = [name for name, value in kwargs.items() if _is_bool(value)]
        stock(kwargs)
        for name in copied:
            kwargs[name].pkdb_copied = True

    module.convert_arrays = convert_arrays  # type: ignore[attr-defined]


def _is_bool(value: Any) -> bool:
    """Whether it is an array of bool, numpy's, CuPy's or torch's, and no view yet."""
    dtype = getattr(value, "dtype", None)
    if dtype is None or (hasattr(value, "layout") and hasattr(value, "trait")) or not getattr(value, "shape", ()):
        return False
    kind = getattr(dtype, "kind", "")  # numpy and CuPy; their dtype's text takes longer than the rest of a launch's log
    return bool(kind == "b") if kind else str(dtype) == "torch.bool"


def _copies(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        if getattr(value, "pkdb_copied", False):
            yield (
                f"argument {name} is an array of bool, of which PyKokkos hands the kernel a copy: what the kernel "
                "writes is lost; use an array of uint8"
            )


def _spaces(arguments: Mapping[str, Any], space: str) -> Iterator[str]:
    host = space in HOST_SPACES
    for name, value in arguments.items():
        memory = getattr(getattr(value, "space", None), "name", "")
        if not hasattr(value, "layout") or memory in ("", "MemorySpaceDefault"):
            continue
        if host is not (memory == "HostSpace") and "UVM" not in memory and "Managed" not in memory:
            yield f"argument {name} lies in {memory}, which a kernel in {space} can't read"


def _team(policy: Any, space: str) -> Iterator[str]:
    size = getattr(policy, "team_size", None)
    if not isinstance(size, int) or size == AUTO:
        return
    if size < 1:
        yield f"a team of {size} has no threads, at which Kokkos aborts the program"
        return
    threads = _threads(space)
    if threads and size > threads:
        yield f"a team of {size} needs {size} threads and {space} has {threads}, at which Kokkos aborts the program"


def _threads(space: str) -> int:
    """How many threads a host space runs, 0 where that isn't known."""
    if space == "Serial":
        return 1
    if space != "OpenMP":
        return 0
    with open("/proc/self/maps") as maps:
        library = next((line.split()[-1] for line in maps if "/libgomp" in line), "")
    return int(ctypes.CDLL(library).omp_get_max_threads()) if library else 0
