"""What the program is told to do when a debugged launch is over, by what was typed at its last kernel stop."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from pkdb_tui.engine.api import BreakpointSpec, Event, LaunchOptions, Notice, Phase, ThreadRange
from pkdb_tui.engine.breakpoints import BreakpointBook
from pkdb_tui.engine.errors import NativeError, WrongPhase
from pkdb_tui.engine.kernel_side import KernelSide
from pkdb_tui.engine.moves import Verb
from pkdb_tui.engine.native.base import (
    Controller,
    KernelStopped,
    NativeBreakpoint,
    NativeFrame,
    NativePlacement,
    NativeStop,
    NativeVariable,
    PauseMissed,
    StepKind,
    StopCause,
)
from pkdb_tui.engine.protocol import KernelReady
from pkdb_tui.engine.session import Session

READY = {
    "launch": 7,
    "kernel": "scale",
    "file": "/scale.py",
    "firstLine": 3,
    "lastLine": 5,
    "pattern": "parallel_for",
    "space": "OpenMP",
    "policy": "RangePolicy 0:8",
    "framework": "minikokkos",
    "binary": "/scale.so",
    "lines": {"/scale.py": [4, 5]},
    "entry": "pk_body",
    "views": "minikokkos",
}


class AttachedController(Controller):
    """Attached to nothing: takes every request; steps fail when told to."""

    refuses_steps = False

    pid = 0

    @property
    def attached(self) -> bool:
        return self.pid > 0

    async def attach(self, pid: int) -> None:
        self.pid = pid

    async def detach(self) -> None:
        self.pid = 0

    def kill(self) -> None: ...

    async def load_kernel(self, kernel: KernelReady) -> None: ...

    async def place(self, breakpoints: Sequence[NativeBreakpoint]) -> list[NativePlacement]:
        return []

    async def launch_begun(self, kernel: KernelReady) -> None: ...

    async def launch_ended(self) -> None: ...

    async def resume(self, threads: Sequence[int] | None = None) -> None: ...

    async def step(self, kind: StepKind, thread: int, *, all_threads: bool = False, line: int = 0) -> None:
        if self.refuses_steps:
            raise NativeError("Thread 0 can't be stepped.")

    async def interrupt(self) -> None: ...

    async def interrupt_rest(self) -> None: ...

    async def thread_states(self) -> tuple[ThreadRange, ...]:
        return ()

    async def frames(self, thread: int) -> list[NativeFrame]:
        return []

    async def variables(self, thread: int, level: int) -> list[NativeVariable]:
        return []

    async def variables_of_threads(
        self, threads: Sequence[int], names: Sequence[str]
    ) -> dict[int, list[NativeVariable]]:
        return {}

    async def read_memory(self, regions: Sequence[tuple[int, int]]) -> list[bytes]:
        return []

    async def write_memory(self, address: int, data: bytes) -> None: ...

    async def send(self, command: str) -> str:
        return ""


class RecordedConnection:
    """Keeps what the debuggee would be sent."""

    connected = True

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []

    async def request(self, command: str, **arguments: Any) -> dict[str, Any]:
        self.sent.append((command, arguments))
        return {}

    def post(self, command: str, **arguments: Any) -> None:
        self.sent.append((command, arguments))


async def launch(
    verbs: Sequence[Verb], *, refused: Verb | None = None, again: Sequence[Verb] = (), paused: bool = False
) -> dict[str, Any]:
    """Arguments of `launchDone` after a launch that stopped before each of these verbs, and may be paused then."""
    controllers: list[AttachedController] = []

    def made(listener: Any) -> AttachedController:
        controllers.append(AttachedController(listener))
        return controllers[0]

    session = Session(LaunchOptions(script="/scale.py"), lambda event: None, controller=made)
    connection = RecordedConnection()
    session.connection = connection  # type: ignore[assignment]
    await session.kernels.attach(1)
    await session.kernel_stops.launch_ready(dict(READY))
    stop = NativeStop(cause=StopCause.BREAKPOINT, thread=0, breakpoints=(), threads=(), hits={})
    for verb in verbs:
        session.kernel_stops.on_event(KernelStopped(stop=stop))
        await session.settled()
        await session.resume(verb)
        assert session.phase is Phase.RUNNING_KERNEL
    if refused is not None:
        session.kernel_stops.on_event(KernelStopped(stop=stop))
        await session.settled()
        controllers[0].refuses_steps = True
        with pytest.raises(NativeError):
            await session.resume(refused)
        assert session.phase is Phase.STOPPED_KERNEL
        assert session.kernels.stop is stop
        controllers[0].refuses_steps = False
        for verb in again:
            await session.resume(verb)
    if paused:
        await session.pause()
        controllers[0].listener(PauseMissed())
    await session.kernel_stops.launch_ended({"launch": 7})
    return next(arguments for command, arguments in connection.sent if command == "launchDone")


async def test_a_launch_without_a_kernel_stop_lets_a_python_step_go_on() -> None:
    assert await launch([]) == {"launch": 7, "then": "continue"}


async def test_continue_at_a_kernel_stop_drops_a_python_step() -> None:
    assert await launch([Verb.CONTINUE]) == {"launch": 7, "then": "run"}


@pytest.mark.parametrize("verb", [Verb.NEXT, Verb.STEP, Verb.UNTIL, Verb.FINISH])
async def test_a_step_out_of_a_kernel_stops_at_the_launching_line(verb: Verb) -> None:
    assert await launch([verb]) == {"launch": 7, "then": "stop"}


async def test_the_last_verb_decides() -> None:
    assert (await launch([Verb.NEXT, Verb.CONTINUE]))["then"] == "run"
    assert (await launch([Verb.CONTINUE, Verb.NEXT]))["then"] == "stop"


async def test_a_refused_step_changes_nothing() -> None:
    assert (await launch([Verb.CONTINUE], refused=Verb.NEXT))["then"] == "run"
    assert (await launch([Verb.CONTINUE], refused=Verb.NEXT, again=[Verb.STEP]))["then"] == "stop"


@pytest.mark.parametrize("verbs", [[], [Verb.CONTINUE], [Verb.NEXT]])
async def test_a_pause_that_found_nobody_in_the_kernel_stops_at_its_end(verbs: list[Verb]) -> None:
    assert (await launch(verbs, paused=True))["then"] == "pause"


async def test_a_pause_answered_by_a_stop_is_over() -> None:
    session = Session(LaunchOptions(script="/scale.py"), lambda event: None, controller=AttachedController)
    connection = session.connection = RecordedConnection()  # type: ignore[assignment]
    await session.kernels.attach(1)
    await session.kernel_stops.launch_ready(dict(READY))
    await session.pause()
    session.kernel_stops.on_event(KernelStopped(stop=NativeStop(cause=StopCause.PAUSE, thread=0)))
    await session.settled()
    await session.resume(Verb.CONTINUE)
    await session.kernel_stops.launch_ended({"launch": 7})
    assert ("launchDone", {"launch": 7, "then": "run"}) in connection.sent


async def test_a_pause_while_a_kernel_is_made_ready_stops_in_it() -> None:
    interrupted: list[Phase] = []

    class Interrupted(AttachedController):
        async def interrupt(self) -> None:
            interrupted.append(session.phase)

    session = Session(LaunchOptions(script="/scale.py"), lambda event: None, controller=Interrupted)
    session.connection = RecordedConnection()  # type: ignore[assignment]
    await session.kernels.attach(1)
    session.enter(Phase.DISPATCHING)
    await session.pause()
    await session.kernel_stops.launch_ready(dict(READY))
    assert interrupted == [Phase.RUNNING_KERNEL]


async def test_a_stop_told_while_another_is_shown_is_looked_at_first() -> None:
    """A fault in another thread: whoever goes on just then has not seen it."""
    events: list[Event] = []
    session = Session(LaunchOptions(script="/scale.py"), events.append, controller=AttachedController)
    session.connection = RecordedConnection()  # type: ignore[assignment]
    await session.kernels.attach(1)
    await session.kernel_stops.launch_ready(dict(READY))
    session.kernel_stops.on_event(KernelStopped(stop=NativeStop(cause=StopCause.BREAKPOINT, thread=0)))
    await session.settled()
    session.kernel_stops.on_event(
        KernelStopped(stop=NativeStop(cause=StopCause.SIGNAL, thread=1, text="SIGSEGV at 0x0"))
    )
    with pytest.raises(WrongPhase, match="The kernel has stopped anew"):
        await session.resume(Verb.CONTINUE)
    while session.generation < 2:
        await asyncio.sleep(0)
    assert session.snapshot is not None
    assert session.snapshot.reason_text == "signal SIGSEGV at 0x0"
    await session.resume(Verb.CONTINUE)
    assert session.phase is Phase.RUNNING_KERNEL


async def test_a_watchpoint_and_a_breakpoint_of_another_thread_are_told_apart() -> None:
    session = Session(LaunchOptions(script="/scale.py"), lambda event: None, controller=AttachedController)
    session.connection = RecordedConnection()  # type: ignore[assignment]
    await session.kernels.attach(1)
    await session.kernel_stops.launch_ready(dict(READY))
    session.book.add(BreakpointSpec(file="/scale.py", line=4))
    session.book.add(BreakpointSpec(watch="a[i]"))
    stop = NativeStop(cause=StopCause.WATCHPOINT, thread=0, breakpoints=(1, 2), text="0 -> 12.5")
    session.kernel_stops.on_event(KernelStopped(stop=stop))
    await session.settled()
    assert session.snapshot is not None
    assert session.snapshot.reason_text == "watchpoint 2: a[i] 0 -> 12.5; breakpoint 1"


async def test_a_launch_ends_whatever_fails_in_the_debugger() -> None:
    controller = AttachedController(lambda event: None)

    async def failing() -> None:
        raise NativeError("The native debugger doesn't answer.")

    controller.launch_ended = failing  # type: ignore[method-assign]
    session = Session(LaunchOptions(script="/scale.py"), lambda event: None, controller=lambda listener: controller)
    connection = RecordedConnection()
    session.connection = connection  # type: ignore[assignment]
    await session.kernels.attach(1)
    await session.kernel_stops.launch_ready(dict(READY))
    with pytest.raises(NativeError):
        await session.kernel_stops.launch_ended({"launch": 7})
    assert ("launchDone", {"launch": 7, "then": "continue"}) in connection.sent


async def test_a_launch_told_in_words_that_nobody_knows_goes_on() -> None:
    session = Session(LaunchOptions(script="/scale.py"), lambda event: None, controller=AttachedController)
    connection = RecordedConnection()
    session.connection = connection  # type: ignore[assignment]
    with pytest.raises(msgspec.ValidationError):
        await session.kernel_stops.launch_ready({"launch": 8, "kernel": ["no", "name"]})
    assert connection.sent == [("launchGo", {"launch": 8})]


class EndedProgram:
    """A program that is over."""

    pid = 1

    def kill(self) -> None: ...


@pytest.mark.parametrize(
    ("signal_name", "attached", "told"),
    [("SIGTRAP", True, True), ("SIGSEGV", True, False), ("SIGTRAP", False, False)],
)
async def test_the_end_by_a_left_breakpoint_is_explained_whatever_was_seen_of_the_debugger(
    signal_name: str, attached: bool, told: bool
) -> None:
    events: list[Event] = []
    session = Session(LaunchOptions(script="/scale.py"), events.append, controller=AttachedController)
    session.program = EndedProgram()  # type: ignore[assignment]
    if attached:
        await session.kernels.attach(EndedProgram.pid)
        await session.kernels.detach()
    await session.life.show_exit(-signal.Signals[signal_name])
    notices = [event.text for event in events if isinstance(event, Notice)]
    assert any(text.startswith("The native debugger ended while") for text in notices) is told


async def test_one_debugger_holds_the_program_at_a_time() -> None:
    made: list[tuple[str, AttachedController]] = []

    def maker(name: str) -> Any:
        def make(listener: Any) -> AttachedController:
            made.append((name, AttachedController(listener)))
            return made[-1][1]

        return make

    kernels = KernelSide(BreakpointBook(), maker("gdb"), maker("cuda-gdb"), lambda event: None)
    for space in ("OpenMP", "Serial", "Cuda", "Cuda", "OpenMP"):
        await kernels.attach(1, space)
        assert kernels.attached_for(space)
        assert [controller.attached for _, controller in made] == [False] * (len(made) - 1) + [True]
    assert [name for name, _ in made] == ["gdb", "cuda-gdb", "gdb"]
    assert not kernels.attached_for("Cuda")
