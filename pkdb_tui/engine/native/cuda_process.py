"""cuda-gdb as a process: attached to the program in all-stop mode, where one stop is everybody's.

Whatever stops, stops the device and the whole process with it. `running` says whether they run; commands that need
them stopped interrupt them for as long as they take (`halted`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from abc import abstractmethod
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from pkdb_tui.engine.errors import NativeError, NativeLost, NativeUnavailable
from pkdb_tui.engine.native import mi_controller
from pkdb_tui.engine.native.base import ControllerLost, Listener, StopCause
from pkdb_tui.engine.native.mi import Record, quote
from pkdb_tui.engine.native.proc import attach_remedy

SIDE = Path(__file__).with_name("gdbside_cuda.py")
# With reports of failed calls cuda-gdb loses the exception that made them fail, and ends the program.
SETTINGS = (
    *mi_controller.SETTINGS, "set non-stop off", "skip -gfi */pk_common.hpp", "skip -gfi */pk_device.hpp",
    "skip -gfi */pk_teams.hpp", "set cuda api_failures hide",
)  # fmt: skip
# The host's signals are the program's own, but for the one that interrupts it; a device's exceptions stop as they do.
SET_UP = f"""import gdb
for text in {SETTINGS!r}:
    try: gdb.execute(text, to_string=True)
    except gdb.error: pass
signals = [line.split()[0] for line in gdb.execute("info signals", to_string=True).splitlines() if line[:3] == "SIG"]
for name in signals:
    if name not in ("SIGTRAP", "SIGINT"): gdb.execute(f"handle {{name}} nostop noprint pass", to_string=True)
gdb.execute("handle SIGINT stop print nopass", to_string=True)
"""
STOP_SECONDS = 10.0  # that stopping the device and the process may take


def find_cuda_gdb(wanted: str) -> str:
    """The path of cuda-gdb, also where the toolkit isn't in PATH; empty when there is none."""
    folders = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    names = [wanted]
    if os.sep not in wanted:
        names += [f"{folder}/bin/{wanted}" for folder in (*folders, "/usr/local/cuda")]
    return next((found for found in map(shutil.which, names) if found), "")


class CudaProcess(mi_controller.MiController):
    """What is common to all that is asked of cuda-gdb; `arrived` says what a stop is."""

    debugger = "cuda-gdb"
    ends_faulty = True

    def __init__(self, listener: Listener, *, gdb: str = "cuda-gdb") -> None:
        super().__init__(listener)
        self._gdb = gdb
        self.command: list[str] = []  # what is started, where it is not cuda-gdb itself
        self.shown = False  # a stop has been told, and nothing was let go since
        self.running = False
        self.lock = asyncio.Lock()  # held while a stop is made sense of, and while what stands is changed
        self._pausing = False
        self._sent = False  # whether the interrupt of a pause is on its way
        self._owed = 0  # interrupts that were sent and whose stop has not come: another one came before
        self._awaited: asyncio.Future[dict[str, Any]] | None = None
        self._task: asyncio.Task[None] | None = None

    @abstractmethod
    async def arrived(self, body: dict[str, Any], cause: StopCause | None = None) -> None:
        """Find out what a stop is, and tell it, or let everything go on; `cause` is that of a step's end."""

    @abstractmethod
    def renew(self) -> None:
        """Another process: nothing is placed, and nothing known."""

    @abstractmethod
    async def clear(self) -> None:
        """Take out everything that is placed; nothing runs meanwhile."""

    @abstractmethod
    def cancel_steps(self) -> None:
        """A step that is under way ends where it is."""

    @abstractmethod
    def moves(self, *, all_threads: bool) -> None:
        """What was seen of threads is no longer so."""

    # --- life ---

    async def attach(self, pid: int) -> None:
        gdb = find_cuda_gdb(self._gdb)
        if not gdb:
            raise NativeUnavailable(
                f"{self._gdb} is not there, so lines of kernels on a device can't stop.",
                "Install the CUDA toolkit, which has it, or name one with --cuda-gdb.",
            )
        self.pid = pid
        self._detaching, self._owed, self._pausing, self._sent = False, 0, False, False
        self.renew()
        await self.mi.start(self.command or [gdb, "--interpreter=mi3", "-nx", "-q"])
        try:
            await self._set_up()
            await self.mi.command(f"-interpreter-exec console {quote(f'exec-file /proc/{pid}/exe')}")
            self._expect()
            await self.mi.command(f"-target-attach {pid}")
            await self._stop_comes()
        except NativeError as error:
            await self.mi.close()
            if isinstance(error, NativeLost):
                raise NativeUnavailable(error.title, "It is attached anew at the next launch.") from error
            title, hint = attach_remedy(pid, error.title)
            raise NativeUnavailable(title.replace("gdb can't", "cuda-gdb can't", 1), hint) from error
        self._attached = True
        self._end.watch(pid)
        await self.go()

    async def _set_up(self) -> None:
        """Settings that this version doesn't know are left out; cuda-gdb needs its Python."""
        try:
            await self.mi.command(f"-interpreter-exec console {quote('python exec(' + repr(SET_UP) + ')')}")
        except NativeLost:
            raise
        except NativeError as error:
            raise NativeError(f"this cuda-gdb has no Python ({error.title})") from error
        await self.mi.command(f"-interpreter-exec console {quote(f'source {SIDE}')}")

    async def detach(self) -> None:
        self._detaching = True
        self.cancel()
        self._end.cancel()
        if self.attached:
            try:
                async with self.halted(resume=False):
                    await self.clear()
                    await self.mi.command("-target-detach", timeout=5.0)
                await self.mi.command("-gdb-exit", timeout=1.0)
            except NativeError:
                pass  # killed below; the system detaches what a dead tracer held
        self._attached = False
        await self.mi.close()

    def cancel(self) -> None:
        self.cancel_steps()
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
        self._task = None

    # --- stopped and running ---

    def _expect(self) -> None:
        """The next stop belongs to whoever waits in `_stop_comes`."""
        self._awaited = asyncio.get_running_loop().create_future()

    async def _stop_comes(self, seconds: float = STOP_SECONDS) -> dict[str, Any]:
        assert self._awaited is not None
        try:
            async with asyncio.timeout(seconds):
                return await self._awaited
        except TimeoutError:
            raise NativeError(f"the program did not stop within {seconds:g} s") from None
        finally:
            self._awaited = None

    async def go(self) -> None:
        """Let the device and the process go on."""
        self.running, self.shown = True, False
        self.moves(all_threads=True)
        try:
            await self.mi.command("-exec-continue")
            await self._send_pause()
        except NativeLost:
            raise
        except NativeError:
            self.running = False
            raise

    async def _send_pause(self) -> None:
        """What was asked to stop while nothing ran is stopped as soon as it runs."""
        if self._pausing and not self._sent:
            self._sent = True
            await self.mi.command("-exec-interrupt")

    async def move(self, command: str) -> dict[str, Any]:
        """Step, and wait until that or something else stops; whoever pauses meanwhile stops it, too."""
        self.running, self.shown = True, False
        self.moves(all_threads=False)
        awaited: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._awaited = awaited
        try:
            await self.mi.command(command)
            await self._send_pause()
        except NativeError:
            self.running = False
            self._awaited = None
            raise
        try:
            return await awaited
        finally:
            if self._awaited is awaited:
                self._awaited = None

    @contextlib.asynccontextmanager
    async def halted(self, *, resume: bool = True) -> AsyncIterator[None]:
        """In this block nothing runs; afterwards it goes on where it ran, unless a stop of its own came first.

        A step that was under way ends where it is.
        """
        async with self.lock:
            own = None
            if self.running:
                self._pausing = self._pausing or self._awaited is not None
                self.cancel_steps()
                self._expect()
                if not self._sent:
                    await self.mi.command("-exec-interrupt")
                    self._sent = self._pausing
                own = await self._stop_comes()
            yield
            if own is None or not resume:
                return
            if str(own.get("signal-name", "")) == "SIGINT":
                if not self._pausing:
                    await self.go()
                    return
            elif not self._pausing:
                self._owed += 1
        self._arrive(own)

    async def interrupt(self) -> None:
        async with self.lock:
            if self.shown or self._pausing:
                return
            self._pausing = True
            if self.running:
                await self._send_pause()

    async def interrupt_rest(self) -> None:
        """Nothing runs at a stop."""

    # --- records ---

    def _on_record(self, record: Record) -> None:
        if record.kind == "*" and record.name == "stopped":
            self._stopped(record.body)

    def _stopped(self, body: dict[str, Any]) -> None:
        self.running = False
        if str(body.get("reason", "")).startswith("exited"):
            self._ended(body)
        elif self._awaited is not None and not self._awaited.done():
            self._awaited.set_result(body)
        elif self._attached:
            self._arrive(body)

    def _arrive(self, body: dict[str, Any]) -> None:
        self._task = asyncio.get_running_loop().create_task(self._guarded(body))

    async def _guarded(self, body: dict[str, Any]) -> None:
        try:
            await self.arrived(body)
        except NativeLost:
            return  # told by its end
        except NativeError as error:  # a stop that can't be made sense of must not hold the program for ever
            self.listener(ControllerLost(reason=f"cuda-gdb can't say where the program stopped: {error.title}."))

    async def _interrupted(self) -> None:
        """A SIGINT that nobody asked for: one that came late, or the program's own."""
        if self._owed:
            self._owed -= 1
            await self.go()
            return
        self.running = True
        await self.mi.command(f"-interpreter-exec console {quote('signal SIGINT&')}")

    def gone(self) -> None:
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_exception(NativeLost("The native debugger is gone."))
