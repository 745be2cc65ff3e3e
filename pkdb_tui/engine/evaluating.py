"""Evaluation in the live program: in its Python, with a paused kernel's variables, or natively where that is enough."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from pkdb_tui.engine.api import ClauseResult, Difference, Evaluation, Notice, Phase, Progress, Severity
from pkdb_tui.engine.errors import DebuggeeLost, ExpressionError, NotHere
from pkdb_tui.engine.kernel_side import DEVICES
from pkdb_tui.engine.native.base import WIDE, NativeVariable
from pkdb_tui.engine.native.proc import threads_of
from pkdb_tui.engine.protocol import ClauseBody, EvaluateBody, KernelVariable

if TYPE_CHECKING:
    from pkdb_tui.engine.session import Session

WATCH_SECONDS = 2.0
LATE_SECONDS = 3.0  # that the program's side gets, beyond the time limit, to break an evaluation off
ENDING_SECONDS = 5.0  # that a process may take to end, once its connection is closed
CRASHED = (
    "{what} crashed: {fault}. It ran in the program itself, which can't go on.",
    "The kernel can still be looked at, but Python answers no more. `continue` lets the crash end the program, "
    "`restart` runs it again with all breakpoints.",
)
LEFT = "An expression that was left behind"
LAUNCH_SECONDS = 600.0  # a parallel launch may take its time; it can be interrupted
PARALLEL = "parallel"  # the mode of an evaluation that is a parallel launch
SHOWN_SECONDS = 0.3  # after which an evaluation is shown as one that takes time
SHOWN = 60  # characters of an expression in a message
BLOCKED = NotHere(
    "The framework holds Python's lock while its kernel runs, so Python can't be evaluated here.",
    "Name variables of the kernel, or ask after the launch.",
    brief="Python waits for the kernel",
)
DEVICE = NotHere(
    "The whole program is stopped with its device, so Python can't be evaluated here.",
    "Name variables of the kernel, or ask after the launch.",
    brief="Python is stopped with the device",
)


def _short(text: str) -> str:
    first, _, rest = text.strip().partition("\n")
    return first if len(first) <= SHOWN and not rest else first[: SHOWN - 1] + "…"


class Evaluator:
    """Asks the program's side; knows when an evaluation there can't be broken off."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._running: list[str] = []  # what is being evaluated, innermost last
        self._hurry = asyncio.Event()  # the person does not want to wait any longer
        self._overdue = ""
        self._told = False  # whether what is evaluated is shown as going on
        self._servers: set[int] = set()  # threads of the system that evaluate while a kernel is looked at
        self._before: set[int] = set()  # threads of the system that were there before what is evaluated now
        self.crash: ExpressionError | None = None  # how an expression has crashed: the program can't go on
        self._crashing = ""  # that expression
        self.timeout = 10.0

    @property
    def under_way(self) -> bool:
        return bool(self._running)

    @property
    def overdue(self) -> bool:
        """Whether an evaluation runs on that could not be broken off: nothing of Python's answers until it ends."""
        return bool(self._overdue) or self.crash is not None

    @property
    def _blocked(self) -> NotHere:
        kernel = self._session.kernels.kernel
        return DEVICE if kernel is not None and kernel.space in DEVICES else BLOCKED

    def interrupt(self) -> None:
        """Break off what is being evaluated; answered by the evaluation's own end."""
        self._hurry.set()
        self._session.connection.post("interruptEvaluation")

    def forget(self) -> None:
        """Another program, or none."""
        self._overdue, self.crash = "", None
        self._servers = set()
        self._session.connection.busy = None

    # --- what the threads of expressions do ---

    def serving(self, thread: int) -> None:
        """A thread of the program's, by the system's number, evaluates from now on, at stops in a kernel."""
        self._servers.add(thread)

    def launch_ended(self) -> None:
        """What is evaluated from now on is so where the program stops."""
        self._servers = set()

    def runs_in(self, thread: int) -> bool:
        """Whether an expression runs in a thread: where it was begun, or in one that came up meanwhile."""
        if thread in self._servers:
            return True
        return self.under_way and (self._session.phase is Phase.STOPPED_PYTHON or thread not in self._before)

    def crashed(self, fault: str) -> None:
        """A thread of an expression stands at a fault, which ends the program when it goes on."""
        session = self._session
        if session.phase is Phase.STOPPED_PYTHON:  # as it would without a native debugger
            session.spawn(session.kernels.controller.resume())
            return
        text = self._running[-1] if self._running else self._overdue
        self._crashing = text
        title, hint = CRASHED
        what = f"`{_short(text)}`" if text else LEFT
        self.crash = session.connection.busy = ExpressionError(title.format(what=what, fault=fault), hint)
        if self._running:
            self._hurry.set()
        else:
            session.emit(Notice(text=str(self.crash), severity=Severity.ERROR))

    async def end_by_crash(self, *, going: bool) -> None:
        """Let the program end by what an expression did; only when all of it is to go on. Raises the crash."""
        assert self.crash is not None
        if not going:
            raise self.crash
        self._session.ended_by = self._crashing or LEFT
        await self._session.kernels.resume("")
        self._session.enter(Phase.RUNNING_KERNEL)

    # --- in Python ---

    async def python(
        self, text: str, timeout: float, mode: str = "auto", kernel: Iterable[NativeVariable] = ()
    ) -> EvaluateBody:
        """What the selected Python frame says, or the one that launched the kernel. Raises ExpressionError."""
        session = self._session
        snapshot = session.require_stop()
        if session.placing.kernel_holds_lock:
            raise self._blocked
        if session.program is not None and not self._running:
            self._before = threads_of(session.program.pid)
        request = session.connection.request(
            "evaluate",
            expression=text,
            frame=session.places[snapshot.frame].in_python,
            timeout=timeout,
            mode=mode,
            kernel=bodies(kernel),
        )
        self._running.append(text)
        shown = asyncio.get_running_loop().call_later(SHOWN_SECONDS, self._show, text) if mode == "auto" else None
        if mode == "auto":  # one typed by the person: it may ask for input
            session.terminal_input.follow()
        try:
            raw = await self._in_time(asyncio.ensure_future(request), text, timeout)
        except DebuggeeLost as error:
            session.ended_by = text
            # Its end is told before this is: what comes next may be a restart, or the end of the session.
            try:
                await asyncio.wait_for(session.life.over.wait(), ENDING_SECONDS)
            except TimeoutError:
                raise ExpressionError(f"`{_short(text)}` broke the connection to the program.") from error
            raise ExpressionError(
                f"`{_short(text)}` ended the program: it ran in the program itself.",
                "`restart` runs it again with all breakpoints.",
            ) from error
        finally:
            self._running.remove(text)
            if shown is not None:
                shown.cancel()
                self._show("")
            if session.program is not None:
                session.program.console.drain()
        return msgspec.convert(raw, EvaluateBody)

    def _show(self, text: str) -> None:
        """That an expression takes its time; without any, that it doesn't any more."""
        if text or self._told:
            self._session.emit(Progress(task=f"evaluating `{_short(text)}`", done=not text))
        self._told = bool(text)

    async def _in_time(self, request: asyncio.Task[Any], text: str, timeout: float) -> Any:
        """The reply; raises ExpressionError when it is overdue, and then waits for it on its own."""
        self._hurry.clear()
        hurry = asyncio.ensure_future(self._hurry.wait())
        try:
            await asyncio.wait({request, hurry}, timeout=timeout + LATE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not request.done() and hurry.done() and self.crash is None:
                await asyncio.wait({request}, timeout=LATE_SECONDS)
        except asyncio.CancelledError:
            request.cancel()
            raise
        finally:
            hurry.cancel()
        if request.done():
            return request.result()
        if self.crash is not None:
            request.add_done_callback(lambda late: late.cancelled() or late.exception())
            raise self.crash
        self._overdue = _short(text)
        self._session.connection.busy = ExpressionError(
            f"`{self._overdue}` still runs in the program, in native code that can't be broken off.",
            "Nothing can be asked of Python until it ends, which will be told; `restart` runs the program anew.",
        )
        request.add_done_callback(self._ended_late)
        how = "was interrupted" if hurry.done() else f"has run for {timeout:g} s"
        raise ExpressionError(
            f"`{self._overdue}` {how}, but it runs on: it is in native code, which Python can't break off.",
            "Nothing can be asked of Python until it ends, which will be told; `restart` runs the program anew.",
        )

    def _ended_late(self, request: asyncio.Task[Any]) -> None:
        text, self._overdue = self._overdue, ""
        self._session.connection.busy = self.crash
        if request.cancelled() or isinstance(request.exception(), DebuggeeLost):
            return
        error = request.exception()
        said = str(error) if error is not None else _outcome(request.result())
        if self._session.program is not None:
            self._session.program.console.drain()
        self._session.emit(Notice(text=f"`{text}` has ended at last: {said}"))
        self._session.spawn(self._caught_up())

    async def _caught_up(self) -> None:
        await self._session.placing.hear()
        if self._session.phase.stopped:
            await self._session.looking.refresh_variables()

    async def parallel_launch(self, text: str, variables: Iterable[NativeVariable]) -> tuple[ClauseResult, ...]:
        """Raises ExpressionError where the whole of it failed; what fails in a clause is told there."""
        body = await self.python(text, LAUNCH_SECONDS, PARALLEL, variables)
        if body.error:
            raise ExpressionError(f"{body.error}.")
        return tuple(map(_clause_result, body.clauses))

    # --- at a kernel stop ---

    async def in_kernel(self, text: str, timeout: float, variables: Mapping[str, NativeVariable]) -> Evaluation:
        """Natively where that is enough, else in Python with the kernel's variables. Raises ExpressionError."""
        session = self._session
        native = await self._natively(text, variables)
        if isinstance(native, Evaluation):
            return native
        if session.placing.kernel_holds_lock:
            raise native or self._blocked
        body = await self.python(text, timeout, kernel=variables.values())
        await self._write(body.writes, variables)
        if body.error:
            found = re.match(r"NameError: name '(\w+)' is not defined", body.error)
            raise native if native is not None and found else ExpressionError(body.error)
        return Evaluation(text=body.text, type=body.type, value=body.value)

    async def _natively(
        self, text: str, variables: Mapping[str, NativeVariable]
    ) -> Evaluation | ExpressionError | None:
        """The answer, or why there is none; None where nothing of the kernel is named."""
        from pkdb_tui.engine import expressions

        session = self._session
        try:
            named = expressions.names(text) & set(variables)
            if not named:
                return None
            reader = session.kernels.controller.read_memory
            constants = await session.looking.constants(text, variables)
            if not expressions.is_assignment(text):
                value = await expressions.evaluate(text, variables, reader, constants=constants)
                return Evaluation(text=value.text, type=value.type, value=value.value)
            if not expressions.targets(text) <= set(variables):
                return None
            writer = session.kernels.controller.write_memory
            await expressions.assign(text, variables, reader, writer, constants=constants)
            session.kernels.written()
            return Evaluation(text="")
        except ExpressionError as error:
            return error

    async def _write(self, writes: Mapping[str, tuple[str, str]], variables: Mapping[str, NativeVariable]) -> None:
        """The kernel's scalars get what Python code bound their names to."""
        from pkdb_tui.engine import expressions

        for name, (kind, text) in writes.items():
            address, data = expressions.scalar_write(variables, name, _number(kind, text))
            await self._session.kernels.controller.write_memory(address, data)
        if writes:
            self._session.kernels.written()


def _clause_result(body: ClauseBody) -> ClauseResult:
    return ClauseResult(
        text=body.text,
        kernel=body.kernel,
        policy=body.policy,
        seconds=body.seconds,
        result=body.result,
        value=body.value,
        error=body.error,
        differences=tuple(
            Difference(
                name=each.name,
                size=each.size,
                differ=each.differ,
                nans=each.nans,
                max_abs=float(each.abs),
                max_rel=float(each.rel),
                max_ulp=each.ulp,
                at=tuple(each.at),
                error=each.error,
            )
            for each in body.differences
        ),
    )


def _number(kind: str, text: str) -> Any:
    if kind == "bool":
        return text == "True"
    if kind.startswith("numpy "):
        import numpy as np

        return np.frombuffer(bytes.fromhex(text), kind.removeprefix("numpy "))[0]
    kinds: dict[str, Any] = {"int": int, "float": float, "complex": complex}
    if kind not in kinds:
        raise ExpressionError(f"A variable of the kernel can't hold a {text}.", "Give it a number.")
    return kinds[kind](text)


def bodies(variables: Iterable[NativeVariable]) -> list[dict[str, Any]]:
    """Those that can be read, as the program's side takes them."""
    made = [
        KernelVariable(
            name=v.name,
            value=v.value.tobytes().hex() if v.type in WIDE else v.value,
            complex=v.type.startswith("complex") and isinstance(v.value, str),
            number=v.value.dtype.str if v.type in WIDE else "",
            dtype=v.dtype,
            shape=v.shape,
            strides=v.strides,
            address=v.address,
        )
        for v in variables
        if not v.error and v.name.isidentifier()
    ]
    return [msgspec.to_builtins(variable) for variable in made]


def _outcome(raw: Mapping[str, Any]) -> str:
    body = msgspec.convert(raw, EvaluateBody)
    return body.error or body.text or "done"
