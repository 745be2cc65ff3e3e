"""The native half of a session: the debugger's life, the flow of one debugged launch, and what a kernel stop shows."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkdb_tui.engine.api import KernelInfo, ThreadRange, ThreadState
from pkdb_tui.engine.breakpoints import BreakpointBook, Entry, parse_threads
from pkdb_tui.engine.debuggee.log_points import template_literal
from pkdb_tui.engine.errors import ExpressionError, NativeError, NativeUnavailable, PkdbError
from pkdb_tui.engine.native.base import (
    Controller,
    ControllerEvent,
    NativeBreakpoint,
    NativeFrame,
    NativePlacement,
    NativeStop,
    NativeVariable,
    Owner,
    StepKind,
)
from pkdb_tui.engine.protocol import KernelReady

if TYPE_CHECKING:  # it brings numpy, which takes longer to load than all else, and only stops in kernels need it
    from pkdb_tui.engine import expressions
    from pkdb_tui.engine.arrays import ReadMemory

Factory = Callable[[Callable[[ControllerEvent], None]], Controller]


DEVICES = ("Cuda",)


class KernelSide:
    """Owns at most one controller; `kernel` is the debugged launch under way, `stop` its current stop."""

    def __init__(
        self, book: BreakpointBook, host: Factory, device: Factory, listener: Callable[[ControllerEvent], None]
    ) -> None:
        self._book = book
        self._factories = {False: host, True: device}
        self._device = False  # whether the controller is the one for devices
        self._listener = listener
        self.owner: Owner | None = None  # who is asked about hits while threads stand
        self._controller: Controller | None = None
        self.kernel: KernelReady | None = None
        self.stop: NativeStop | None = None
        self.entered = 0  # process that was attached to last
        self._compiled: dict[int, str] = {}  # breakpoint -> condition text built into this kernel
        self._watched_as: dict[int, tuple[str, str]] = {}  # by watchpoint, what `_watched` has found
        self._frames: dict[int, list[NativeFrame]] = {}
        self._variables: dict[tuple[int, int], list[NativeVariable]] = {}
        self._lock = asyncio.Lock()
        # One after the other: a process has one tracer, and a debugger that is dropped as it attaches keeps hold of it.
        self._coming_or_going = asyncio.Lock()
        self._parting: Controller | None = None
        self._hurries = 0

    @property
    def attached(self) -> bool:
        return self._controller is not None and self._controller.attached

    @property
    def controller(self) -> Controller:
        if self._controller is None:
            raise NativeError("No native debugger is attached.", "Stop inside a kernel first.")
        return self._controller

    # --- life ---

    def attached_for(self, space: str) -> bool:
        """Whether the debugger that is attached is the one for kernels of a space."""
        return self.attached and self._device == (space in DEVICES)

    async def attach(self, pid: int, space: str = "") -> None:
        """The debugger for kernels of a space; the other one leaves, as only one can hold the program.

        Raises NativeUnavailable with the remedy.
        """
        device = space in DEVICES
        async with self._coming_or_going:
            if self._controller is not None and self._device != device:
                self.forget()
                await self._leave()
            if self._controller is None:
                self._device = device
                self._controller = self._factories[device](self._listener)
                self._controller.owner = self.owner
                self._controller.hurry(self._hurries > 0)
            if not self._controller.attached:
                await self._controller.attach(pid)
                self.entered = pid

    async def detach(self) -> None:
        self.forget()
        async with self._coming_or_going:
            await self._leave()

    async def _leave(self) -> None:
        self._parting, self._controller = self._controller, None
        if self._parting is not None:
            await self._parting.detach()
        self._parting = None

    @property
    def hanging(self) -> bool:
        """Whether the native debugger owes an answer and does nothing."""
        return self._controller is not None and self._controller.hanging

    @contextlib.contextmanager
    def hurried(self) -> Iterator[None]:
        """In this block a native debugger that hangs is ended at once."""
        self._hurry(1)
        try:
            yield
        finally:
            self._hurry(-1)

    def _hurry(self, more: int) -> None:
        self._hurries += more
        if self._controller is not None:
            self._controller.hurry(self._hurries > 0)

    async def answered(self) -> None:
        """Until what the native debugger is asked now is answered, or can't be any more."""
        if self._controller is not None:
            await self._controller.answered()

    def kill(self) -> None:
        """End the debugger at once, without waiting, also one that is about to attach or detach."""
        for controller in (self._controller, self._parting):
            if controller is not None:
                controller.kill()

    def forget(self) -> None:
        """The launch is over or the process gone."""
        self.kernel = None
        self.stop = None
        self._frames, self._variables = {}, {}

    # --- one launch ---

    async def prepare(self, kernel: KernelReady) -> None:
        """Everything before the kernel may run."""
        compiled = {condition.id for condition in kernel.conditions}
        entries = self._book.entries.values()
        self._compiled = {entry.id: entry.spec.condition for entry in entries if entry.id in compiled}
        self.kernel = kernel
        self.stop = None
        await self.controller.load_kernel(kernel)
        await self.place()
        await self.controller.launch_begun(kernel)

    async def adopt(self, kernel: KernelReady) -> None:
        """Find the way in a kernel that runs already."""
        self.kernel = kernel
        self._frames, self._variables = {}, {}
        await self.controller.load_kernel(kernel)

    async def ended(self) -> None:
        self.forget()
        if self._controller is not None:
            await self._controller.launch_ended()

    async def place(self) -> None:
        """Make what is placed natively what the book wants; reasons go into the book."""
        async with self._lock:
            if self._controller is None or not self._controller.attached:
                return
            wanted: list[NativeBreakpoint] = []
            for entry in self._book.in_kernels():
                try:
                    wanted.append(await self._native(entry))
                except PkdbError as error:
                    self._book.placed_natively([NativePlacement(id=entry.id, locations=0, reason=str(error))])
            self._book.placed_natively(await self._controller.place(wanted))

    async def _native(self, entry: Entry) -> NativeBreakpoint:
        spec = entry.spec
        threads = parse_threads(spec.threads)
        if spec.watch:
            watch, watched = await self._watched(entry)
            return NativeBreakpoint(
                id=entry.id, watch=watch, watched=watched, condition=spec.condition, threads=threads
            )
        source, condition, judged, held, why, bit = entry.file, spec.condition, False, "", "", -1
        entry.slow = ""
        if condition and self.kernel is not None:
            if self._compiled.get(entry.id) == condition:
                place = next(c for c in self.kernel.conditions if c.id == entry.id)
                source, condition, held, why = place.file, "", place.held, place.why
                bit = -1 if place.state else place.number
            else:
                condition = await self._as_c(entry)
                judged = not condition
        return NativeBreakpoint(
            id=entry.id,
            source=source,
            line=entry.line,
            condition=condition,
            ignore=spec.ignore,
            serial=entry.serial,
            temporary=spec.temporary,
            threads=threads,
            judged=judged,
            speaks=bool(spec.log),
            held=held,
            why=why,
            bit=bit,
        )

    async def _watched(self, entry: Entry) -> tuple[str, str]:
        """What a watchpoint watches, as C, and numpy's type of that where C has none."""
        known = entry.native
        if known is not None and (known.locations or known.ended) and entry.unavailable == "":
            return self._watched_as.get(entry.id, ("", ""))
        if self.stop is None:
            raise ExpressionError("A watchpoint can be set only while stopped in a kernel.")
        thread = self.stop.thread
        level = next((frame.level for frame in await self.frames(thread) if not frame.glue), 0)
        variables = await self.variables(thread, level)
        from pkdb_tui.engine import native_c

        named = {v.name: v for v in variables}
        text = native_c.lvalue_c(entry.spec.watch, named)
        found = self._watched_as[entry.id] = text, native_c.watched_dtype(entry.spec.watch, named)
        return found

    async def _as_c(self, entry: Entry) -> str:
        """The condition for the native debugger, from the variables of a thread that is in this kernel.

        Empty where it can't be written so: it is then evaluated here, at each hit.
        """
        assert self.kernel is not None
        reason = self.kernel.refused.get(entry.id, "it was changed after the kernel was built")
        if self.stop is not None:
            from pkdb_tui.engine import native_c

            variables = await self.variables(self.stop.thread, 0)
            try:
                return native_c.to_c(entry.spec.condition, {v.name: v for v in variables}, views=self.kernel.views)
            except ExpressionError as error:
                reason = error.title.rstrip(".")
        entry.slow = f"the condition isn't built in ({reason}): it is evaluated at each hit"
        return ""

    # --- a stop ---

    def stopped(self, stop: NativeStop) -> None:
        self.stop = stop
        self._frames, self._variables = {}, {}

    async def frames(self, thread: int) -> list[NativeFrame]:
        if thread not in self._frames:
            self._frames[thread] = await self.controller.frames(thread)
        return self._frames[thread]

    async def variables(self, thread: int, level: int) -> list[NativeVariable]:
        if (thread, level) not in self._variables:
            self._variables[thread, level] = await self.controller.variables(thread, level)
        return self._variables[thread, level]

    def written(self) -> None:
        """Memory or variables were changed: what was read is stale."""
        self._variables = {}

    async def resume(self, threads: str) -> None:
        wanted = parse_threads(threads)
        with self._leaving():
            await self.controller.resume(wanted or None)

    async def step(self, kind: StepKind, thread: int, *, all_threads: bool, line: int) -> None:
        with self._leaving():
            await self.controller.step(kind, thread, all_threads=all_threads, line=line)

    @contextlib.contextmanager
    def _leaving(self) -> Iterator[None]:
        """The stop is over from here on, unless the debugger refuses to go on from it."""
        left, self.stop = self.stop, None
        self._frames, self._variables = {}, {}
        try:
            yield
        except PkdbError:
            self.stop = self.stop or left
            raise

    async def values_of_threads(
        self, expression: str, threads: Sequence[int], constants: Mapping[str, Any]
    ) -> dict[int, expressions.Value | PkdbError]:
        """The expression in each of these threads, or why it has no value there."""
        from pkdb_tui.engine import expressions

        names = sorted(expressions.names(expression) - set(constants))
        found = await self.controller.variables_of_threads(threads, names)
        values: dict[int, expressions.Value | PkdbError] = {}
        for thread in threads:
            variables = {v.name: v for v in found.get(thread, [])}
            try:
                values[thread] = await expressions.evaluate(
                    expression, variables, self._reader(thread), constants=constants
                )
            except PkdbError as error:
                values[thread] = error
        return values

    def _reader(self, thread: int) -> ReadMemory:
        return functools.partial(self.controller.memory_of, thread)

    async def texts_of_threads(
        self, template: str, threads: Sequence[int], constants: Mapping[str, Any]
    ) -> dict[int, str]:
        """A log point's text in each of these threads."""
        from pkdb_tui.engine import expressions

        names = sorted(expressions.names(template_literal(template)))
        found = await self.controller.variables_of_threads(threads, names)
        return {
            thread: await expressions.log_text(
                template, {v.name: v for v in found.get(thread, [])}, self._reader(thread), constants=constants
            )
            for thread in threads
        }

    async def failures_of_threads(
        self, condition: str, threads: Sequence[int], constants: Mapping[str, Any]
    ) -> dict[int, str | None]:
        """Whether a condition holds: None where not, why where nobody can tell, empty where so."""
        from pkdb_tui.engine import expressions

        names = sorted(expressions.names(condition))
        found = await self.controller.variables_of_threads(threads, names)
        answer: dict[int, str | None] = {}
        for thread in threads:
            variables = {v.name: v for v in found.get(thread, [])}
            try:
                holds = await expressions.truth(condition, variables, self._reader(thread), constants=constants)
                answer[thread] = "" if holds else None
            except PkdbError as error:
                answer[thread] = error.title.rstrip(".")
        return answer

    def info(self) -> KernelInfo | None:
        kernel = self.kernel
        if kernel is None:
            return None
        return KernelInfo(
            name=kernel.kernel,
            file=kernel.file,
            first_line=kernel.first_line,
            last_line=kernel.last_line,
            space=kernel.space,
            policy=kernel.policy,
            launch=kernel.launch,
            framework=kernel.framework,
            build=kernel.build,
            generated=generated_source(kernel.binary),
        )


def generated_source(binary: str) -> str:
    """The C++ that a kernel's library was made from, where its framework leaves it: beside it, or a folder above."""
    library = Path(binary)
    for path in (library.with_suffix(".cpp"), library.parent.parent / "functor.hpp"):
        if path.is_file():
            return str(path)
    return ""


def stopped_threads(ranges: Sequence[ThreadRange]) -> tuple[list[int], list[int]]:
    """(threads that can be looked at, threads that run); a device has neither of those that aren't there."""
    still: list[int] = []
    moving: list[int] = []
    for part in ranges:
        if part.state is ThreadState.ABSENT:
            continue
        (still if is_still(part) else moving).extend(range(part.first, part.last + 1))
    return still, moving


def is_still(part: ThreadRange) -> bool:
    """Whether these threads can be looked at: they are stopped in the kernel."""
    at_rest = part.state in (ThreadState.BREAKPOINT, ThreadState.STOPPED, ThreadState.FAULT, ThreadState.DIVERGED)
    return at_rest and part.line > 0


__all__ = ["KernelSide", "NativeUnavailable", "is_still", "stopped_threads"]
