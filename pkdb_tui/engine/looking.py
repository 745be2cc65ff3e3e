"""Looking at a stop: the selected frame and thread, expressions on whichever side owns the frame, slices."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Awaitable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from pkdb_tui.engine import evaluating
from pkdb_tui.engine.api import (
    ClauseResult,
    Evaluation,
    Frame,
    Phase,
    Reason,
    Slice,
    SnapshotChanged,
    Stopped,
    StopSnapshot,
    ThreadValue,
    ThreadValues,
    WatchesChanged,
)
from pkdb_tui.engine.errors import ExpressionError, NotHere, PkdbError, UsageError, WrongPhase
from pkdb_tui.engine.evaluating import WATCH_SECONDS
from pkdb_tui.engine.kernel_side import stopped_threads
from pkdb_tui.engine.native.base import NativeVariable
from pkdb_tui.engine.protocol import SliceBody, VariableBody
from pkdb_tui.engine.snapshots import NATIVE, python_frames, python_variable

if TYPE_CHECKING:
    from pkdb_tui.engine.session import Session

WATCH_LIMIT = 256  # elements a watch fetches


class Looking:
    """Questions about the current stop; each answer belongs to the stop it was asked in."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def current(self, generation: int) -> bool:
        return self._session.generation == generation and self._session.phase.stopped

    @property
    def can_evaluate(self) -> bool:
        return self._session.phase.stopped and self._session.snapshot is not None

    @property
    def snapshot(self) -> StopSnapshot:
        return self._session.require_stop()

    def emit_stop(self) -> None:
        snapshot = self._session.snapshot
        if snapshot is not None:
            self._session.life.shown_fault = snapshot.reason is Reason.SIGNAL and bool(snapshot.location.line)
            self._session.emit(Stopped(snapshot=snapshot))

    def show(self, snapshot: StopSnapshot) -> StopSnapshot:
        """The same stop, seen differently."""
        self._session.snapshot = snapshot
        self._session.emit(SnapshotChanged(snapshot=snapshot))
        return snapshot

    def amend(self, generation: int, **fields: Any) -> StopSnapshot:
        """The stop as it is now with other fields. Raises WrongPhase when the program went on meanwhile."""
        if not self.current(generation):
            raise WrongPhase("The program went on meanwhile.")
        return self.show(msgspec.structs.replace(self._session.require_stop(), **fields))

    # --- focus ---

    async def select_frame(self, index: int) -> StopSnapshot:
        snapshot = self._session.require_stop()
        if not 0 <= index < len(snapshot.frames):
            raise UsageError(f"There is no frame {index}.", f"The stack has frames 0 to {len(snapshot.frames) - 1}.")
        chosen = self.amend(snapshot.generation, frame=index, variables=await self.variables_of(index))
        await self.refresh_watches()
        return chosen

    async def refresh_watches(self) -> None:
        """Watches as they are in what is looked at now."""
        session = self._session
        if await session.watch_list.refresh(session.generation):
            session.emit(WatchesChanged(watches=session.watches))

    async def variables_of(self, index: int) -> tuple[Any, ...]:
        session = self._session
        snapshot = session.require_stop()
        place = session.places[index]
        if place.side == NATIVE:
            return await session.kernel_stops.variables_of(place.index, snapshot.frames[index])
        if session.placing.python_blocked:
            return ()  # nobody can answer until the kernel has ended
        body = await session.connection.request("variables", frame=place.index)
        found = [python_variable(msgspec.convert(row, VariableBody)) for row in body["variables"]]
        return session.history.mark(snapshot.frames[index], found, session.generation)

    async def select_thread(self, thread: int) -> StopSnapshot:
        if self._session.phase is not Phase.STOPPED_KERNEL:
            raise WrongPhase("Threads are selected at a stop in a kernel.", "Set a breakpoint on a kernel line.")
        await self._show_kernel_stop(self._session.kernel_stops.select(thread))
        await self.refresh_watches()
        return self._session.require_stop()

    async def _show_kernel_stop(self, building: Awaitable[StopSnapshot]) -> None:
        generation = self._session.generation
        built = await building
        if not self.current(generation):
            raise WrongPhase("The program went on meanwhile.")
        self.show(built)

    async def rebuild_frames(self) -> None:
        """Frames again, after glue frames were asked for or hidden."""
        session = self._session
        snapshot = session.snapshot
        if snapshot is None or not session.phase.stopped:
            return
        if session.phase is Phase.STOPPED_KERNEL:
            await self._show_kernel_stop(session.kernel_stops.build())
            return
        stop = session.python_side.stop
        assert stop is not None
        old = session.places[snapshot.frame]
        frames, session.places = python_frames(stop.frames, glue=session.glue)
        selected = session.places.index(old) if old in session.places else 0
        session.snapshot = msgspec.structs.replace(snapshot, frames=tuple(frames), frame=selected)
        self.amend(snapshot.generation, variables=await self.variables_of(selected))

    # --- expressions ---

    def _native_frame(self) -> tuple[int, Frame] | None:
        """(level, frame) of the selected frame when it is a kernel frame."""
        snapshot = self._session.require_stop()
        place = self._session.places[snapshot.frame]
        return (place.index, snapshot.frames[snapshot.frame]) if place.side == NATIVE else None

    async def evaluate(self, text: str, timeout: float) -> Evaluation:
        """Raises ExpressionError with what Python (or the native frame) said."""
        generation = self.snapshot.generation
        try:
            if self._native_frame() is None:
                return await self._in_python(text, timeout)
            variables = {} if self._optimised else await self.native_variables()
            return await self._session.evaluator.in_kernel(text, timeout, variables)
        finally:
            if _may_change(text) and self.current(generation) and self._session.connection.connected:
                await self.refresh_variables()

    async def _in_python(
        self,
        text: str,
        timeout: float,
        mode: str = "auto",
        variables: Mapping[str, NativeVariable] = MappingProxyType({}),
    ) -> Evaluation:
        body = await self._session.evaluator.python(text, timeout, mode, variables.values())
        if body.error:
            raise ExpressionError(body.error)
        return Evaluation(text=body.text, type=body.type, value=body.value)

    async def parallel_launch(self, text: str) -> tuple[ClauseResult, ...]:
        """Raises PkdbError for text that is no list of clauses."""
        session = self._session
        session.require_stop()
        kernel = session.kernels.kernel
        if kernel is not None and kernel.one_at_a_time:
            raise NotHere(
                f"No kernel can run while {kernel.kernel} is stopped: {kernel.framework} runs one at a time.",
                "`finish` it, then launch.",
                brief="another kernel is stopped",
            )
        native = self._native_frame() is not None and not self._optimised
        variables = await self.native_variables() if native else {}
        generation = self.snapshot.generation
        try:
            return await session.evaluator.parallel_launch(text, variables.values())
        finally:
            if self.current(generation) and session.connection.connected:
                await self.refresh_variables()  # arrays that a launch shares with the program

    @property
    def _optimised(self) -> bool:
        kernel = self._session.kernels.kernel
        return kernel is not None and kernel.build == "release"

    def _need_debug_build(self) -> None:
        kernel = self._session.kernels.kernel
        if self._optimised and kernel is not None:
            raise NotHere(
                f"The optimised build of {kernel.kernel} keeps no variables.",
                "Set a breakpoint in it: its next launch then runs a debug build.",
                brief="the optimised build keeps no variables",
            )

    async def native_variables(self) -> dict[str, NativeVariable]:
        found = self._native_frame()
        assert found is not None
        return await self._session.kernel_stops.native_variables(found[0])

    async def constants(self, text: str, variables: Mapping[str, NativeVariable]) -> dict[str, Any]:
        """Numbers of the dispatching Python frame for names the kernel frame doesn't have."""
        from pkdb_tui.engine import expressions

        found: dict[str, Any] = {}
        for name in sorted(expressions.names(text) - set(variables)):
            try:
                value = (await self._in_python(name, WATCH_SECONDS, "eval")).value
            except PkdbError:
                continue  # the evaluation itself will name it as missing
            if isinstance(value, (int, float, bool)):
                found[name] = value
        return found

    async def refresh_variables(self) -> None:
        """Variables and watches as they are after something may have changed them."""
        session = self._session
        snapshot = session.require_stop()
        self.amend(snapshot.generation, variables=await self.variables_of(snapshot.frame))
        await self.refresh_watches()

    async def read_slice(self, expression: str, limit: int) -> Slice:
        from pkdb_tui.engine import slices

        if self._native_frame() is None:
            return await self._python_slice(expression, limit)
        variables = await self.native_variables()
        constants = await self.constants(expression, variables)
        reader = self._session.kernels.controller.read_memory
        try:
            return await slices.read(expression, variables, reader, limit, constants=constants)
        except ExpressionError as error:
            if self._session.placing.kernel_holds_lock:
                raise
            try:
                return await self._python_slice(expression, limit, variables)
            except PkdbError:
                raise error from None

    async def _python_slice(
        self, expression: str, limit: int, variables: Mapping[str, NativeVariable] = MappingProxyType({})
    ) -> Slice:
        """What Python has under that expression; with a kernel's variables, in the frame that launched it."""
        from pkdb_tui.engine import slices

        snapshot = self._session.require_stop()
        raw = await self._session.connection.request(
            "readSlice",
            expression=expression,
            frame=self._session.places[snapshot.frame].in_python,
            limit=limit,
            kernel=evaluating.bodies(variables.values()),
        )
        body = msgspec.convert(raw, SliceBody)
        return await asyncio.to_thread(slices.from_bytes, expression, body)

    async def strides_of(self, expression: str) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis; empty for what is no array in memory."""
        variables: Mapping[str, NativeVariable] = {}
        if self._native_frame() is not None:
            from pkdb_tui.engine import arrays, expressions

            variables = await self.native_variables()
            reader = self._session.kernels.controller.read_memory
            constants = await self.constants(expression, variables)
            try:
                value = await expressions.view(expression, variables, reader, constants=constants)
                return value.strides if isinstance(value, arrays.ArrayView) else ()
            except ExpressionError:
                if self._session.placing.kernel_holds_lock:
                    return ()
        if _may_change(expression):
            return ()  # evaluating it once more may be felt
        try:
            text = (await self._in_python(f"({expression}).strides", WATCH_SECONDS, "eval", variables)).text
        except ExpressionError:
            return ()  # an array of a library that has no such attribute
        found = ast.literal_eval(text) if re.fullmatch(r"\([-\d, ]*\)", text) else ()
        return tuple(map(int, found))

    async def evaluate_watch(self, expression: str) -> Evaluation:
        """A watch's value; arrays come as slices."""
        self._session.require_stop()
        if self._native_frame() is None:
            return await self._watched_in_python(expression)
        self._need_debug_build()
        variables = await self.native_variables()
        try:
            return await self._watched_in_kernel(expression, variables)
        except ExpressionError as error:
            if self._session.placing.kernel_holds_lock:
                raise
            try:
                return await self._watched_in_python(expression, variables)
            except NotHere:
                raise error from None

    async def _watched_in_kernel(self, expression: str, variables: Mapping[str, NativeVariable]) -> Evaluation:
        from pkdb_tui.engine import expressions, slices

        reader = self._session.kernels.controller.read_memory
        constants = await self.constants(expression, variables)
        value = await expressions.view(expression, variables, reader, limit=WATCH_LIMIT, constants=constants)
        if getattr(value, "shape", ()):
            part = await slices.read(expression, variables, reader, WATCH_LIMIT, constants=constants)
            return Evaluation(text="", type=part.dtype, slice=part)
        plain = await expressions.evaluate(expression, variables, reader, constants=constants)
        return Evaluation(text=plain.text, type=plain.type, value=plain.value)

    async def _watched_in_python(
        self, expression: str, variables: Mapping[str, NativeVariable] = MappingProxyType({})
    ) -> Evaluation:
        try:
            evaluation = await self._in_python(expression, WATCH_SECONDS, "eval", variables)
        except ExpressionError as error:
            raise _not_here(expression, error) from error
        if evaluation.type.endswith("]") and "[" in evaluation.type:
            try:
                part = await self._python_slice(expression, WATCH_LIMIT, variables)
            except PkdbError:
                return evaluation  # an array of objects has no numbers to show
            return msgspec.structs.replace(evaluation, slice=part)
        return evaluation

    async def parallel_print(self, expression: str) -> ThreadValues:
        """The expression in every stopped thread that is in the kernel."""
        session = self._session
        snapshot = session.require_stop()
        if session.phase is not Phase.STOPPED_KERNEL:
            raise WrongPhase("`parallel_print` looks at kernel threads.", "Stop inside a kernel first.")
        variables = await session.kernel_stops.native_variables(session.kernel_stops.level)
        constants = await self.constants(expression, variables)
        still, moving = stopped_threads(snapshot.threads)
        found = await session.kernels.values_of_threads(expression, still, constants)
        rows = []
        for thread, value in found.items():
            if isinstance(value, PkdbError):
                rows.append(ThreadValue(thread=thread, text="", value=None, error=value.title))
            else:
                rows.append(ThreadValue(thread=thread, text=value.text, value=_plain(value.value)))
        return ThreadValues(expression=expression, values=tuple(rows), missing=tuple(moving))

    async def complete(self, text: str) -> list[str]:
        if not self._session.phase.stopped:
            return []
        found = self._native_frame()
        matches: list[str] = []
        names: dict[str, NativeVariable] = {}
        if found is not None and not self._optimised:
            names = await self._session.kernel_stops.native_variables(found[0])
            head = text.rsplit(None, 1)[-1] if text.strip() else ""
            matches = [name for name in names if name.startswith(head)]
        if self._session.placing.python_blocked:
            return matches
        snapshot = self._session.require_stop()
        body = await self._session.connection.request(
            "complete",
            text=text,
            frame=self._session.places[snapshot.frame].in_python,
            kernel=evaluating.bodies(names.values()),
        )
        return matches + [match for match in body["matches"] if match not in matches]


def _may_change(text: str) -> bool:
    """Whether Python code can do more than look."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return any(isinstance(node, (ast.Call, ast.NamedExpr, ast.Await)) for node in ast.walk(tree))


def _not_here(expression: str, error: ExpressionError) -> ExpressionError:
    """The same error, said as a matter of scope where a name of the expression itself isn't known."""
    from pkdb_tui.engine import expressions

    found = re.match(r"NameError: name '(\w+)' is not defined", error.title)
    try:
        return NotHere(error.title) if found and found[1] in expressions.names(expression) else error
    except ExpressionError:
        return error  # Python that only Python can read


def _plain(value: Any) -> Any:
    """numpy's scalars as Python's; anything else that isn't a scalar has only its text."""
    item = getattr(value, "item", None)
    if item is not None and getattr(value, "ndim", 1) == 0:
        value = item()
    if getattr(value, "dtype", None) is not None and value.dtype.kind == "f":
        value = float(value)  # one of more bits than Python's
    return value if isinstance(value, (bool, int, float, complex, str)) else None
