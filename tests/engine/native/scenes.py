"""Sessions of a native controller: played with a real debugger, where they are recorded, and from records elsewhere."""

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
from session_player import name_of

from pkdb_tui.engine.native.base import (
    ControllerEvent,
    ControllerLost,
    KernelStopped,
    Listener,
    NativeBreakpoint,
    NativeStop,
    NativeVariable,
    PauseMissed,
)
from pkdb_tui.engine.native.mi_controller import MiController
from pkdb_tui.engine.protocol import KernelReady

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "tests" / "fixtures"
PLAYER = Path(__file__).with_name("session_player.py")
CHECKOUT = "/checkout"  # what stands for this one's path in a record
PATIENCE = 40.0
Conditions = Sequence[tuple[int, int, str]]  # (breakpoint, line, expression) of those to be built in
# What a session is told and no controller looks at, or what differs from machine to machine.
LEFT_OUT = re.compile(r"^< (=library-|=thread-group|=cmd-param|=breakpoint-|&|~).*\n", re.MULTILINE)


class Lost(Exception):
    """The debugger is gone; why it is said to be."""


class Stage:
    """A controller, and what it told. `kernel` is the launch that waits for `go`."""

    def __init__(self, controller: Callable[[Listener], MiController]) -> None:
        self.controller: Any = controller(self._hear)
        self.told: list[ControllerEvent] = []
        self.events: asyncio.Queue[ControllerEvent] = asyncio.Queue()
        self.kernel: KernelReady
        self.pid = 0

    def _hear(self, event: ControllerEvent) -> None:
        self.told.append(event)
        self.events.put_nowait(event)

    def go(self) -> None:
        """Let the kernel run."""

    async def over(self) -> None:
        """Until the launch has ended."""

    async def stop(self) -> NativeStop:
        """The next stop; raises Lost where the debugger goes instead."""
        async with asyncio.timeout(PATIENCE):
            while not isinstance(event := await self.events.get(), KernelStopped):
                if isinstance(event, ControllerLost):
                    raise Lost(event.reason)
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
    """From a record, with a process in the place of the program."""

    def __init__(self, controller: Callable[[Listener, list[str]], MiController], record: Path, *polls: str) -> None:
        command = [sys.executable, "-I", "-S", str(PLAYER), str(record), *polls]
        super().__init__(lambda listener: controller(listener, command))
        first = record.read_text().partition("\n")[0].removeprefix("# ")
        self.kernel = msgspec.convert(json.loads(first)["kernel"], KernelReady, strict=False)
        self._process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        self.pid = self._process.pid

    async def end(self) -> None:
        await self.controller.detach()
        self._process.kill()
        self._process.communicate()


class Live(Stage):
    """A program in a process of its own, and every word of the debugger written down."""

    def __init__(
        self,
        controller: Callable[[Listener], MiController],
        program: Path,
        *arguments: str,
        conditions: Conditions = (),
        **variables: str,
    ) -> None:
        super().__init__(controller)
        built_in = [{"id": n, "file": str(program), "line": line, "expression": text} for n, line, text in conditions]
        self._lines: list[str] = []
        self._first = ""
        host = Path(__file__).with_name("minikokkos_host.py")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        self._process = subprocess.Popen(
            [sys.executable, str(host), str(program), json.dumps(built_in), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
            env={**environment, **variables},
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
        self._process.communicate()

    def save(self, path: Path) -> None:
        """The record, with nothing of this machine in it but what the debugger said of the kernel."""
        facts = json.dumps({"kernel": json.loads(self._first)})
        text = "\n".join([f"# {facts}", *self._lines]) + "\n"
        text = text.replace(str(ROOT), CHECKOUT).replace(os.path.realpath(ROOT), CHECKOUT)
        folder = os.path.dirname(self.kernel.binary)
        text = LEFT_OUT.sub("", text.replace(folder, "/kernels"))
        path.write_text(re.sub(r',from="/[^"]*"', "", text))


Scene = Callable[[Any], Awaitable[None]]


def recorded_to(stage: Live, name: str) -> None:
    """Save what was said, where PKDB_RECORD names a folder for records."""
    if folder := os.environ.get("PKDB_RECORD"):
        stage.save(Path(folder) / f"{name}.mi")
