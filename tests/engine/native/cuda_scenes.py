"""Sessions of the controller for devices: played on a device, where they are recorded, and from records elsewhere."""

from __future__ import annotations

import re

from scenes import FIXTURES, ROOT, Conditions, Live, Played, Scene, Stage

from pkdb_tui.engine.api import ThreadState
from pkdb_tui.engine.native.base import Listener, StepKind, StopCause
from pkdb_tui.engine.native.cuda import CudaController

PROGRAMS = ROOT / "tests" / "gpu" / "programs"
RECORDED = FIXTURES / "recorded" / "cuda"


def on_device(program: str, *arguments: str, conditions: Conditions = ()) -> Live:
    def controller(listener: Listener) -> CudaController:
        return CudaController(listener, gdb="cuda-gdb")

    return Live(controller, PROGRAMS / program, *arguments, conditions=conditions)


def from_record(name: str) -> Played:
    return Played(played_controller, RECORDED / f"{name}.mi")


def played_controller(listener: Listener, command: list[str]) -> CudaController:
    controller = CudaController(listener, gdb=command[0])
    controller.command = command
    return controller


async def rows(stage: Stage) -> None:
    """Stops, values, memory, other threads, steps and breakpoints that come and go."""
    controller = stage.controller
    assert await stage.begin(stage.at(1, 15), stage.at(2, 99)) == [1, 0]
    stop = await stage.stop()
    assert (stop.cause, stop.breakpoints, stop.thread) == (StopCause.BREAKPOINT, (1,), 0)
    assert stop.hits[1] > 0
    assert stop.threads[0].state is ThreadState.BREAKPOINT
    assert (stop.threads[0].first, stop.threads[0].line) == (0, 15)
    frames = await controller.frames(0)
    assert (frames[0].function, frames[0].line, frames[0].glue) == ("rows", 15, False)
    assert frames[0].file == stage.kernel.file
    values = await stage.named(0)
    assert {name: values[name].value for name in ("j", "i", "temp2", "alpha")} == {
        "j": 0, "i": 0, "temp2": 0.0, "alpha": 0.5,
    }  # fmt: skip
    view = values["A_view"]
    assert (view.dtype, view.shape, view.strides, view.space) == ("<f8", (400, 8), (64, 8), "cuda")
    data = await controller.read_memory([(view.address + 8, 16), (view.address + 64 * 399, 8)])
    assert [memoryview(piece).cast("d").tolist() for piece in data] == [[1.0, 2.0], [3192.0]]
    place = controller.grid.place(263)
    assert place == ((1, 0, 0), (7, 0, 0))
    assert controller.number_of(0, (1, 0, 0), (7, 0, 0)) == 263
    assert controller.name_of(263, 0) == "block 1 thread 7 of 512"
    many = await controller.variables_of_threads([0, 5, 31], ["j"])
    assert {thread: found[0].value for thread, found in many.items()} == {0: 0, 5: 5, 31: 31}
    await controller.step(StepKind.NEXT, 5)
    stop = await stage.stop()
    assert (stop.cause, stop.thread, await stage.line(5)) == (StopCause.STEP, 5, 14)
    await controller.place([stage.at(3, 16)])
    await controller.resume()
    stop = await stage.stop()
    assert (stop.cause, stop.breakpoints) == (StopCause.BREAKPOINT, (3,))
    await controller.step(StepKind.STEP, stop.thread)
    inner = await stage.stop()
    frames = await controller.frames(inner.thread)
    assert [(f.function, f.line) for f in frames if not f.glue] == [("scaled", 7), ("rows", 16)]
    await controller.step(StepKind.FINISH, inner.thread)
    assert await stage.line((await stage.stop()).thread) == 16
    await controller.place([])
    await controller.resume()
    await stage.over()
    await controller.launch_ended()


async def beyond(stage: Stage) -> None:
    """A failed check of an index, with the values of its thread."""
    assert await stage.begin() == []
    stop = await stage.stop()
    assert stop.cause is StopCause.BOUNDS
    found = re.fullmatch(r"C index (\d+) in dimension 0, extent 64", stop.text)
    assert found is not None, stop.text
    assert await stage.line(stop.thread) == 10
    values = await stage.named(stop.thread)
    assert values["j"].value == stop.thread == int(found[1]) - 60


async def spin(stage: Stage) -> None:
    """A pause of a kernel that runs on."""
    controller = stage.controller
    assert await stage.begin(stage.at(1, 24)) == [1]
    await controller.interrupt()
    stop = await stage.stop()
    assert stop.cause is StopCause.PAUSE
    assert await stage.line(stop.thread) in (21, 22, 23)
    assert (await stage.named(stop.thread))["n"].value == 300000000


async def passes(stage: Stage) -> None:
    """A stop for each pass of a thread through a line with conditions built in."""
    controller = stage.controller
    first, second = stage.kernel.conditions
    held = [stage.at(placed.id, 16, source=placed.file, bit=placed.number) for placed in (first, second)]
    assert await stage.begin(*held, stage.at(3, 16, threads=(37,))) == [2, 2, 4]
    told = {}
    for _ in range(2):
        stop = await stage.stop()
        assert stop.cause is StopCause.BREAKPOINT
        told[stop.thread] = stop.breakpoints
        assert stop.hits == dict.fromkeys(stop.breakpoints, 1)
        assert (await stage.named(stop.thread))["j"].value == stop.thread
        await controller.resume()
    assert told == {36: (2,), 37: (1, 2, 3)}
    await stage.over()
    await controller.launch_ended()


SCENES: dict[str, tuple[Scene, tuple[str, ...], Conditions]] = {
    "rows": (rows, ("rows.py",), ()),
    "passes": (passes, ("rows.py",), [(1, 16, "j == 37"), (2, 16, "j > 35 and j < 38")]),
    "beyond": (beyond, ("faults.py", "beyond"), ()),
    "spin": (spin, ("faults.py", "spin", "300000000"), ()),
}
