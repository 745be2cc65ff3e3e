"""Sessions of the controller for devices: played on a device, where they are recorded, and from records elsewhere."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from cuda_player import name_of

from pkdb_tui.engine.api import ThreadState
from pkdb_tui.engine.native.base import (
    ControllerEvent,
    KernelStopped,
    NativeBreakpoint,
    NativeStop,
    NativeVariable,
    PauseMissed,
    StepKind,
    StopCause,
)
from pkdb_tui.engine.native.cuda import CudaController
from pkdb_tui.engine.protocol import KernelReady

ROOT = Path(__file__).parents[3]
PROGRAMS = ROOT / "tests" / "gpu" / "programs"
RECORDED = ROOT / "tests" / "fixtures" / "recorded" / "cuda"
CHECKOUT = "/checkout"  # what stands for this one's path in a record
PATIENCE = 40.0

Conditions = Sequence[tuple[int, int, str]]  # (breakpoint, line, expression) of those to be built in


class Stage:
    """A controller, and what it told. `kernel` is the launch that waits for `go`."""

    def __init__(self, gdb: str = "cuda-gdb") -> None:
        self.controller = CudaController(self._told, gdb=gdb)
        self.events: asyncio.Queue[ControllerEvent] = asyncio.Queue()
        self.kernel: KernelReady
        self.pid = 0

    def _told(self, event: ControllerEvent) -> None:
        self.events.put_nowait(event)

    def go(self) -> None:
        """Let the kernel run."""

    async def over(self) -> None:
        """Until the launch has ended."""

    async def stop(self) -> NativeStop:
        """The next stop."""
        async with asyncio.timeout(PATIENCE):
            while not isinstance(event := await self.events.get(), KernelStopped):
                if isinstance(event, PauseMissed):  # it was about to enter the kernel
                    await self.controller.interrupt()
        return event.stop

    async def begin(self, *breakpoints: NativeBreakpoint) -> list[int]:
        """Attach, place, and let the kernel go; how many places each breakpoint has."""
        await self.controller.attach(self.pid)
        await self.controller.load_kernel(self.kernel)
        placed = await self.controller.place(breakpoints)
        await self.controller.launch_begun(self.kernel)
        self.go()
        return [placement.locations for placement in placed]

    def at(self, number: int, line: int, **more: Any) -> NativeBreakpoint:
        return NativeBreakpoint(**{"id": number, "source": self.kernel.file, "line": line, **more})

    async def named(self, thread: int) -> dict[str, NativeVariable]:
        """The variables of a thread's innermost kernel frame."""
        frames = await self.controller.frames(thread)
        level = next(frame.level for frame in frames if not frame.glue)
        return {variable.name: variable for variable in await self.controller.variables(thread, level)}

    async def line(self, thread: int) -> int:
        frames = await self.controller.frames(thread)
        return next(frame.line for frame in frames if not frame.glue)


class Played(Stage):
    """From a record."""

    def __init__(self, scene: str) -> None:
        player = Path(__file__).with_name("cuda_player.py")
        self.record = RECORDED / f"{scene}.mi"
        super().__init__(gdb=sys.executable)
        self.controller.command = [sys.executable, str(player), str(self.record)]
        first = self.record.read_text().partition("\n")[0].removeprefix("# ")
        facts = json.loads(first)
        self.kernel = msgspec.convert(facts["kernel"], KernelReady, strict=False)
        self.pid = os.getpid()

    async def end(self) -> None:
        await self.controller.detach()


class Live(Stage):
    """On a device: a program in a process of its own, and every word of cuda-gdb written down."""

    def __init__(self, program: str, *arguments: str, conditions: Conditions = ()) -> None:
        super().__init__()
        path = str(PROGRAMS / program)
        built_in = [{"id": n, "file": path, "line": line, "expression": text} for n, line, text in conditions]
        self._lines: list[str] = []
        host = Path(__file__).with_name("minikokkos_host.py")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        self._process = subprocess.Popen(
            [sys.executable, str(host), path, json.dumps(built_in), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True, env=environment,
        )  # fmt: skip
        self.pid = self._process.pid
        self._listen()

    def _listen(self) -> None:
        mi: Any = self.controller.mi
        feed, ask = mi.feed, mi._ask

        async def heard(line: bytes) -> None:
            text = line.decode("utf-8", "replace")
            found = re.match(r"(\d+)\^", text)
            if found:
                text = "{token}" + text[len(found[1]) :]
            self._lines.append(f"< {text}")
            await feed(line)

        async def asked(text: str, *arguments: Any) -> Any:
            self._lines.append(f"> {name_of(text)}")
            return await ask(text, *arguments)

        mi.feed, mi._ask = heard, asked

    async def kernel_comes(self) -> None:
        assert self._process.stdout is not None
        while True:
            line = await asyncio.to_thread(self._process.stdout.readline)
            assert line, "the program has ended"
            if line.startswith('{"launch"'):
                self.kernel = msgspec.convert(json.loads(line), KernelReady, strict=False)
                self._first = line
                return

    def go(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    async def over(self) -> None:
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            await asyncio.to_thread(self._process.stdout.readline)

    async def end(self) -> None:
        await self.controller.detach()
        self._process.kill()
        self._process.wait()

    def save(self, path: Path) -> None:
        """The record, with nothing of this machine in it but what cuda-gdb said of the device."""
        facts = json.dumps({"kernel": json.loads(self._first)})
        text = "\n".join([f"# {facts}", *self._lines]) + "\n"
        text = text.replace(str(ROOT), CHECKOUT).replace(os.path.realpath(ROOT), CHECKOUT)
        text = re.sub(r"^< (=library-|=thread-group|=cmd-param|&|~).*\n", "", text, flags=re.MULTILINE)
        path.write_text(re.sub(r',from="/[^"]*"', "", text))


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


Scene = Callable[[Stage], Awaitable[None]]
SCENES: dict[str, tuple[Scene, tuple[str, ...], Conditions]] = {
    "rows": (rows, ("rows.py",), ()),
    "passes": (passes, ("rows.py",), [(1, 16, "j == 37"), (2, 16, "j > 35 and j < 38")]),
    "beyond": (beyond, ("faults.py", "beyond"), ()),
    "spin": (spin, ("faults.py", "spin", "300000000"), ()),
}
