"""Sessions of the controller for OpenMP kernels: played with gdb, where they are recorded, and from records."""

from __future__ import annotations

import shlex
from pathlib import Path

from scenes import FIXTURES, Live, Played, Scene, Stage

from pkdb_tui.engine.api import ThreadState
from pkdb_tui.engine.native.base import Listener, NativeStop, StepKind, StopCause
from pkdb_tui.engine.native.gdb import GdbController

RECORDED = FIXTURES / "recorded" / "openmp"


def with_gdb(program: str) -> Live:
    """Two threads in the kernel, and none of numpy's."""
    return Live(GdbController, FIXTURES / program, OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="1")


def from_record(record: Path, folder: Path) -> Played:
    """`folder` is for what stands in gdb's place."""

    def controller(listener: Listener, command: list[str]) -> GdbController:
        gdb = folder / "gdb"
        gdb.write_text(f"#!/bin/sh\nexec {shlex.join(command)}\n")
        gdb.chmod(0o755)
        return GdbController(listener, gdb=str(gdb))

    return Played(controller, record, "-pkdb-threads")


def states(stop: NativeStop) -> list[tuple[int, int, ThreadState, int]]:
    return [(row.first, row.last, row.state, row.line) for row in stop.threads]


async def rounds(stage: Stage) -> None:
    """Stops of two threads, their values and memory, a step, one thread let go alone, and breakpoints that go."""
    controller = stage.controller
    assert await stage.begin(stage.at(1, 10), stage.at(2, 99)) == [1, 0]
    stop = await stage.stop()
    assert (stop.cause, stop.breakpoints, stop.thread, dict(stop.hits)) == (StopCause.BREAKPOINT, (1,), 0, {1: 2})
    assert states(stop) == [(0, 1, ThreadState.BREAKPOINT, 10)]
    frames = await controller.frames(1)
    assert [(frame.function, frame.line) for frame in frames if not frame.glue] == [("fill", 10)]
    assert frames[0].file == stage.kernel.file
    values = await stage.named(1)
    assert (values["i"].value, values["value"].value) == (4, 4.0)
    out = values["out"]
    assert (out.dtype, out.shape, out.strides, out.space) == ("<f8", (8,), (8,), "host")
    assert await controller.read_memory([(out.address, 16), (out.address + 56, 8)]) == [bytes(16), bytes(8)]
    many = await controller.variables_of_threads([0, 1], ["i"])
    assert {thread: found[0].value for thread, found in many.items()} == {0: 0, 1: 4}
    await controller.step(StepKind.NEXT, 1)
    stop = await stage.stop()
    assert (stop.cause, stop.thread) == (StopCause.STEP, 1)
    assert states(stop) == [(0, 0, ThreadState.BREAKPOINT, 10), (1, 1, ThreadState.STOPPED, 11)]
    data = await controller.read_memory([(out.address + 32, 8)])
    assert memoryview(data[0]).cast("d").tolist() == [5.0]
    await controller.resume([1])
    stop = await stage.stop()
    assert (stop.thread, dict(stop.hits), (await stage.named(1))["i"].value) == (1, {1: 1}, 5)
    placed = await controller.place([stage.at(3, 11, condition="i == 6")])
    assert [placement.locations for placement in placed] == [1]
    await controller.resume()
    stop = await stage.stop()
    assert (stop.cause, stop.breakpoints, stop.thread) == (StopCause.BREAKPOINT, (3,), 1)
    assert (await stage.named(1))["value"].value == 6.0
    await controller.place([])
    await controller.resume()
    await stage.over()
    await controller.launch_ended()


async def bins(stage: Stage) -> None:
    """A function entered and finished, and an index past the end."""
    controller = stage.controller
    assert await stage.begin(stage.at(1, 12)) == [1]
    stop = await stage.stop()
    assert stop.breakpoints == (1,)
    frames = await controller.frames(0)
    assert [(frame.function, frame.line) for frame in frames if not frame.glue] == [("bin_of", 12), ("count", 18)]
    assert ((await stage.named(0))["scaled"].value, (await stage.named(0))["bins"].value) == (0.0, 40)
    await controller.step(StepKind.FINISH, 0)
    stop = await stage.stop()
    assert (stop.cause, await stage.line(0), stop.returned) == (StopCause.STEP, 18, "0")
    await controller.place([])
    await controller.resume()
    stop = await stage.stop()
    assert (stop.cause, stop.text, stop.thread) == (StopCause.BOUNDS, "counter index 40 in dimension 0, extent 40", 0)
    assert await stage.line(0) == 19
    assert (await stage.named(0))["i"].value == 42


SCENES: dict[str, tuple[Scene, str]] = {"rounds": (rounds, "rounds.py"), "bins": (bins, "bins.py")}
