"""Compiling another text of a kernel for the launches that were made of it, to see whether it can be."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType

from pkdb_tui.minikokkos import debug, launch
from pkdb_tui.minikokkos.build import BOUNDS, HOST, compile_only, for_device
from pkdb_tui.minikokkos.program import Definition, Program


def compile_instead(make: Callable[[FunctionType], FunctionType | None], *, bounds: bool) -> int:
    """Compile what `make` gives for each kernel, for every kind of launch of it so far; how many kinds there were.

    `make` gives None for kernels that aren't meant. Raises CompileError for the first that can't be compiled.
    """
    done: set[tuple[str, ...]] = set()
    for program in launch.known_programs():
        function = make(program.kernel.function)
        if function is None:
            continue
        kind = (
            *(str(program.debug), program.pattern, program.policy, str(program.rank), str(program.device)),
            *(f"{name}: {each.text}" for name, each in program.arguments.items()),
            *sorted(program.dense),
        )
        if kind not in done:
            done.add(kind)
            _compile(program, Definition(function), bounds)
    return len(done)


def _compile(like: Program, kernel: Definition, bounds: bool) -> None:
    """As the launch would: the debug build with the debugger's addition, the optimised one as it was."""
    program = Program(
        kernel,
        like.pattern,
        like.policy,
        like.rank,
        like.arguments,
        tuple(like.dense),
        debug=like.debug,
        device=like.device,
    )
    tools = for_device() if like.device else HOST
    if like.debug:
        addition = "" if like.device else debug.addition
        compile_only(program.source + addition, tools.debug + (BOUNDS if bounds else ()), tools)
    else:
        compile_only(program.source, tools.release, tools)
