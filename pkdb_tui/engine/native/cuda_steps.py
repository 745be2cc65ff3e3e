"""Steps on a device: the focused thread's warp goes from Python line to Python line, the others stay."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pkdb_tui.engine.errors import NativeError, NativeLost
from pkdb_tui.engine.native.base import StepKind, StopCause
from pkdb_tui.engine.native.stepping import python_text

if TYPE_CHECKING:
    from pkdb_tui.engine.native.cuda import CudaController

TRIES = 60  # moves through generated code before a step ends where it is
VERBS = {StepKind.STEP: "-exec-step", StepKind.NEXT: "-exec-next", StepKind.FINISH: "-exec-finish"}


class DeviceSteps:
    """At most one at a time."""

    def __init__(self, controller: CudaController) -> None:
        self._controller = controller
        self._task: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
        self._task = None

    async def begin(self, kind: StepKind, line: int) -> None:
        """From the thread in focus."""
        controller = self._controller
        start: dict[str, Any] = await controller.ask("place")
        if kind is StepKind.FINISH and start["depth"] <= 0:
            await controller.breakpoints.silence(True)
            await controller.go()
            return
        if kind is StepKind.UNTIL and line:
            await self._until(start, line)
            return
        controller.shown = False
        self._task = asyncio.get_running_loop().create_task(self._follow(kind, start))

    async def _until(self, start: Mapping[str, Any], line: int) -> None:
        controller = self._controller
        answer = await controller.ask("where", {"source": start["file"], "line": line, "bit": -1})
        if not answer["addresses"]:
            following = f" The next one is {answer['next']}." if answer["next"] else ""
            raise NativeError(f"Line {line} is not a kernel line.{following}")
        block, thread = start["block"], start["thread"]
        names = [f"blockIdx.{axis} == {at}" for axis, at in zip("xyz", block, strict=True)]
        names += [f"threadIdx.{axis} == {at}" for axis, at in zip("xyz", thread, strict=True)]
        await controller.breakpoints.own(answer["addresses"], " && ".join(names))
        controller.breakpoints.all_move()
        await controller.go()

    async def _follow(self, kind: StepKind, start: dict[str, Any]) -> None:
        try:
            await self._walk(kind, start)
        except NativeLost:
            return  # told by its end
        except NativeError as error:
            with contextlib.suppress(NativeError):
                await self._controller.tell(StopCause.STEP, await self._controller.ask("place"), text=error.title)

    async def _walk(self, kind: StepKind, start: dict[str, Any]) -> None:
        controller = self._controller
        verb = "-exec-until" if kind is StepKind.UNTIL else VERBS[kind]
        first, returned = verb, ""
        for _ in range(TRIES):
            body = await controller.move(verb)
            returned = returned or (python_text(str(body.get("return-value", ""))) if kind is StepKind.FINISH else "")
            if "signal-name" in body or "CudaFocus" not in body:
                await controller.arrived(body)
                return
            place = await controller.stands(body)
            moved = (place["block"], place["thread"]) != (start["block"], start["thread"])
            if moved or controller.breakpoints.at(int(place["pc"])) or body.get("bkptno"):
                await controller.arrived(body, StopCause.STEP if place["file"] and not moved else None)
                return
            following = self._next(kind, first, start, place)
            if following is None:
                await controller.tell(StopCause.STEP, place, returned=returned)
                return
            if following == "-exec-continue":  # the thread has left the workunit
                controller.breakpoints.all_move()
                await controller.go()
                return
            verb = following
        await controller.tell(StopCause.STEP, place, text="still in generated code")

    @staticmethod
    def _next(kind: StepKind, first: str, start: Mapping[str, Any], place: Mapping[str, Any]) -> str | None:
        """How to go on from here; None where the step ends."""
        if place.get("glue"):
            return "-exec-next"  # between two lines
        if not place["file"]:
            return "-exec-continue"
        if not place["at_top"]:
            return "-exec-finish"
        same = all(start[name] == place[name] for name in ("file", "line", "depth"))
        if kind is not StepKind.FINISH and same and ("#pkdb" in start["source"] or not place.get("begins")):
            return first  # on from the line's conditions, or back in the middle of the line it came from
        return None
