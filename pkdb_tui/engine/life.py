"""Life: the program's process from its start to its end, and again after a restart."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from pkdb_tui.engine.api import (
    BreakpointsChanged,
    ExitCause,
    Exited,
    Notice,
    Phase,
    Printed,
    ProgramOutput,
    Severity,
    WatchesChanged,
)
from pkdb_tui.engine.errors import DebuggeeLost, LaunchError, WrongPhase
from pkdb_tui.engine.launcher import Program
from pkdb_tui.engine.protocol import Ready
from pkdb_tui.engine.snapshots import VariableHistory

if TYPE_CHECKING:
    from pkdb_tui.engine.session import Session

READY_SECONDS = 30.0
SIGN_BYTES = 1024
LOST_GRACE = 0.5  # seconds between the end of the connection and that of the process
FAULTS = ("SIGSEGV", "SIGFPE", "SIGABRT", "SIGBUS", "SIGILL")
LINE_HINT = (
    "Which Python line {signal} came at isn't known: "
    "started as `PYTHONFAULTHANDLER=1 pkdb-tui …` the program prints it."
)
CATCH_HINT = "If a kernel caused {signal}: `set catch on` and `restart` stop at the line where it happens."
DEVICE_HINT = "`set catch on` and `restart` stop at the line of the kernel where that happens."
TRAPPED = (
    "The native debugger ended while its breakpoints were in the program, and they ended the program. "
    "`restart` runs it again with all breakpoints."
)
CLOSED = (
    "The program closed the debugger's connection: it runs on, but can't be stopped any more. "
    "`restart` runs it anew, `quit` ends it."
)
BEFORE_FIRST_LINE = "The program ended before its first line."


class Life:
    """Starts, restarts and ends the one program of a session, and tells how it ended."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._ready: asyncio.Future[Ready] | None = None
        self._sign = 0, 0
        self._ending: ExitCause | None = None  # what the program said of its end
        self._quitting = False
        self._restarting = False
        self.launched = False  # whether any kernel was launched
        self.shown_fault = False  # whether the latest stop was at the line of a signal
        self.over = asyncio.Event()  # its end has been told
        self.started = 0.0  # time.time() of its start

    def require_started(self) -> None:
        """Raises WrongPhase while the program is being restarted."""
        if self._restarting:
            raise WrongPhase("The program is being restarted.", "Wait until it stops before its first line.")

    async def start(self) -> None:
        """See `Session.start`."""
        session = self._session
        if session.program is not None:
            raise WrongPhase("The program is running already.", "`restart` runs it anew.")
        self._quitting = False
        session.kernel_stops.begin()
        session.evaluator.forget()
        session.exit_cause, self._ending, session.ended_by = None, None, ""
        self.shown_fault = False
        self.over.clear()
        self.started = time.time()
        session.program = Program(session.options, self._on_output, self._on_exit, self._on_console)
        self._ready = asyncio.get_running_loop().create_future()
        await session.connection.open(session.program.socket)
        try:
            ready = await asyncio.wait_for(self._ready, READY_SECONDS)
        except DebuggeeLost:
            return  # it ended before its first line; Exited says how
        except TimeoutError:
            await self.end_program()
            raise LaunchError(
                f"The program did not start within {READY_SECONDS:g} s.", "Check --python and the machine's load."
            ) from None
        self._take_ready(ready)
        with suppress(DebuggeeLost):  # it was ended by somebody; Exited says how
            await session.connection.request("settings", **session.settings)
            await session.placing.send()
            await session.substitutions.send()
            await session.connection.request("resume", verb="continue")

    def _take_ready(self, ready: Ready) -> None:
        session = self._session
        self._sign = ready.pid, ready.sign
        session.file, session.python, session.backend = ready.file, ready.python, ready.backend
        detail = f" ({ready.runtime_detail})" if ready.runtime_detail else ""
        session.runtime = {
            "embedded": f"embedded runtime{detail}",
            "installed": f"installed PyKokkos{detail}",
        }.get(ready.runtime, "")
        session.enter(Phase.RUNNING_PYTHON)

    async def restart(self) -> None:
        """See `Session.restart`."""
        self.require_started()
        self._restarting = True
        try:
            await self._restart()
        finally:
            self._restarting = False

    async def _restart(self) -> None:
        session = self._session
        await self.end_program()
        session.book.forget_bindings()
        session.history = VariableHistory()
        session.watch_list.forget_values()
        session.substitutions.forget_bindings()
        session.edits.begin_anew()
        session.snapshot = None
        session.enter(Phase.IDLE)
        session.launch_log.forget()
        session.emit(WatchesChanged(watches=session.watches))
        session.emit(BreakpointsChanged(breakpoints=session.breakpoints))
        await self.start()

    async def quit(self) -> None:
        """See `Session.quit`."""
        self._quitting = True
        self._session.edits.keep_now()
        await self.end_program()

    def kill(self) -> None:
        """See `Session.kill`."""
        session = self._session
        self._quitting = True
        if session.program is not None:
            session.program.kill()
        session.kernels.kill()
        session.edits.keep_now()

    async def end_program(self) -> None:
        """End the process, its connection, its native debugger and what the session was doing with them."""
        session = self._session
        program, session.program = session.program, None
        if program is not None:
            program.kill()
            # It may not collect the threads that have just died under it, and the process is held until it does.
            session.kernels.kill()
            await program.wait()
        await session.connection.close()
        await session.kernels.detach()
        session.cancel_tasks()
        if program is not None and session.phase is not Phase.EXITED:
            session.snapshot = None
            session.enter(Phase.IDLE)

    # --- what happens ---

    def ready(self, ready: Ready) -> None:
        """The program is about to run its first line."""
        if self._ready is not None and not self._ready.done():
            self._ready.set_result(ready)

    def sign(self) -> str:
        """The kernel that keeps Python waiting, as `spin launched at program.py:19`; empty where none does."""
        pid, address = self._sign
        try:
            with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
                found = os.pread(memory.fileno(), SIGN_BYTES, address)
        except OSError:  # it has ended, or may not be read
            return ""
        return found.partition(b"\0")[0].decode(errors="replace")

    def ending(self, cause: ExitCause) -> None:
        """The program said that it ends, and how; its process is still there."""
        self._ending = cause

    def _on_output(self, data: bytes, dropped: int) -> None:
        self._session.emit(ProgramOutput(data=data, dropped=dropped))

    def _on_console(self, text: str) -> None:
        self._session.emit(Printed(text=text))

    def connection_lost(self) -> None:
        """The socket is closed: the program is ending, or closed what it should not have."""
        self._not_ready()
        program = self._session.program
        if program is not None and program.process.poll() is None and not self._quitting:
            self._session.spawn(self._explain_lost_connection())

    def _not_ready(self) -> None:
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(DebuggeeLost(BEFORE_FIRST_LINE))

    async def _explain_lost_connection(self) -> None:
        program = self._session.program
        if program is None:
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(program.wait(), LOST_GRACE)
        if self._session.program is not program or program.process.returncode is not None:
            return
        if program.dying:
            self._session.kernels.kill()  # it holds what has ended
        else:
            self._session.emit(Notice(text=CLOSED, severity=Severity.ERROR))

    def _on_exit(self, status: int) -> None:
        """The process is gone and its output delivered."""
        if self._quitting or self._session.program is None:
            return
        self._session.spawn(self.show_exit(status))

    async def show_exit(self, status: int) -> None:
        """Tell how the process ended, by its wait status as `Popen.returncode` gives it."""
        session = self._session
        self._not_ready()
        await session.connection.finish()
        session.cancel_tasks()  # what was done for this run must not tell anything after its end
        # A debugger that is there lets no SIGTRAP through: it is gone, whether or not its own end was seen already.
        if status == -signal.SIGTRAP and session.program is not None and session.kernels.entered == session.program.pid:
            session.emit(Notice(text=TRAPPED, severity=Severity.ERROR))
        session.kernels.kill()
        await session.kernels.detach()
        program, session.program = session.program, None
        if program is not None:
            program.kill()
        session.generation += 1
        session.snapshot = None
        session.launch_log.ended()
        session.exit_cause = exit_cause(status, self._ending)
        session.enter(Phase.EXITED)
        by_kernel = self.launched and not session.ended_by
        if (fault := session.exit_cause.signal) in FAULTS and not self.shown_fault:
            if by_kernel and not session.settings["catchFaults"]:
                session.emit(Notice(text=CATCH_HINT.format(signal=fault)))
            if not session.ended_by and not {**os.environ, **session.options.environment}.get("PYTHONFAULTHANDLER"):
                session.emit(Notice(text=LINE_HINT.format(signal=fault)))
        ended_by = session.exit_cause.exception
        if ended_by is not None and ended_by.type.endswith("KernelFault") and not session.settings["catchFaults"]:
            session.emit(Notice(text=DEVICE_HINT))
        session.emit(Exited(cause=session.exit_cause))
        self.over.set()


def exit_cause(status: int, ending: ExitCause | None) -> ExitCause:
    """How it ended: a signal that killed it, the exception nothing caught, or its status."""
    if status < 0:
        try:
            return ExitCause(signal=signal.Signals(-status).name)
        except ValueError:
            return ExitCause(signal=f"number {-status}")
    if ending is not None and ending.exception is not None:
        return ExitCause(status=status, exception=ending.exception)
    return ExitCause(status=status)
