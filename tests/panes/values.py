"""Engine values as panes get them."""

from __future__ import annotations

import numpy as np

from pkdb_tui.engine.api import (
    Breakpoint,
    BreakpointSpec,
    BreakpointState,
    Focus,
    Frame,
    FrameKind,
    KernelInfo,
    Phase,
    Reason,
    Slice,
    StopSnapshot,
    ThreadRange,
    ThreadState,
    Variable,
    VariableKind,
)
from pkdb_tui.engine.slices import statistics

FILE = "/program/yax.py"


def kernel_stop(**changes: object) -> StopSnapshot:
    """Stopped at line 13 of a kernel on thread 3 of 8."""
    fields: dict[str, object] = {
        "generation": 4,
        "phase": Phase.STOPPED_KERNEL,
        "reason": Reason.BREAKPOINT,
        "reason_text": "breakpoint 2",
        "frames": (
            Frame(index=0, function="yax", file=FILE, line=13, kind=FrameKind.KERNEL),
            Frame(index=1, function="run", file=FILE, line=22, kind=FrameKind.PYTHON),
            Frame(index=2, function="<module>", file=FILE, line=28, kind=FrameKind.PYTHON),
        ),
        "frame": 0,
        "variables": (
            Variable(name="j", type="int", text="96", kind=VariableKind.SCALAR, value=96, scope="argument"),
            Variable(
                name="row_sum", type="float", text="253.648781234", kind=VariableKind.SCALAR, value=253.648781234,
                changed=True, previous="0.0",
            ),
            Variable(name="a", type="float64[256, 1024]", text="host, rows", kind=VariableKind.ARRAY, scope="argument"),
        ),
        "breakpoints": (2,),
        "threads": (
            ThreadRange(first=0, last=4, state=ThreadState.BREAKPOINT, file=FILE, line=13),
            ThreadRange(first=5, last=5, state=ThreadState.BARRIER),
            ThreadRange(first=6, last=6, state=ThreadState.BREAKPOINT, file=FILE, line=13),
            ThreadRange(first=7, last=7, state=ThreadState.RUNNING),
        ),
        "focus": Focus(thread=3, threads=8, text="thread 3 of 8 · j = 96"),
        "kernel": KernelInfo(
            name="yax", file=FILE, first_line=8, last_line=13, space="OpenMP", policy="RangePolicy(OpenMP, 0, 256)",
            launch=1, framework="minikokkos", build="debug",
        ),
    }  # fmt: skip
    return StopSnapshot(**{**fields, **changes})  # type: ignore[arg-type]


def breakpoint_at(
    number: int,
    line: int,
    state: BreakpointState,
    *,
    file: str = FILE,
    hits: int = 0,
    reason: str = "",
    condition: str = "",
) -> Breakpoint:
    return Breakpoint(
        id=number,
        spec=BreakpointSpec(file=file, line=line, condition=condition),
        enabled=state is not BreakpointState.DISABLED,
        state=state,
        file=file,
        line=line,
        kernel="yax",
        hits=hits,
        reason=reason,
    )


def slice_of(expression: str, values: list[float], total: int = 0) -> Slice:
    array = np.array(values)
    return Slice(
        expression=expression,
        dtype="float64",
        shape=(total or len(values),),
        values=array,
        statistics=statistics(array),
        truncated=bool(total),
        total=total or len(values),
    )
