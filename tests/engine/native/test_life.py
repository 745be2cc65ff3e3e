"""Attaching, detaching, and every way in which gdb or the program can go."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from debugged import Debugged
from kernel_programs import KernelProgram

from pkdb_tui.engine.errors import NativeError, NativeUnavailable
from pkdb_tui.engine.native.base import ControllerLost, ProcessEnded, StepKind
from pkdb_tui.engine.native.gdb import GdbController

SUM = sum(i * 10.0 + 0.5 if i % 8 == 3 else float(i) for i in range(64))


def tracer(pid: int) -> int:
    text = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"TracerPid:\s+(\d+)", text)[1])  # type: ignore[index]


def environment_of(pid: int) -> str:
    return Path(f"/proc/{pid}/environ").read_text()


def gdb_pid(run: Debugged) -> int:
    pid = tracer(run.process.pid)
    assert pid
    return pid


async def gone(pid: int) -> None:
    """Until a process is no more; a zombie's handle reads as ended, too."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(handle, ended.set)
    try:
        async with asyncio.timeout(5):
            await ended.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)


async def test_detaching_at_a_stop_lets_the_program_finish(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=8) as run:
        await run.begin(run.at("a[i] = value"))
        await run.stop()
        await run.controller.detach()
        assert not run.controller.attached
        assert (await run.end())["total"] == SUM
        assert tracer(run.process.pid) == 0
        await run._launch()
        assert (await run.end())["total"] == SUM


async def test_detaching_while_threads_are_hitting_breakpoints(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=8) as run:
        for _ in range(3):
            await run.begin(run.at("a[i] = value"))
            for _ in range(3):
                await run.stop()
                await run.controller.resume()
            await run.controller.detach()
            while not run.events.empty() and not isinstance(run.events._queue[0], dict):  # type: ignore[attr-defined]
                run.events.get_nowait()
            assert (await run.end())["total"] == SUM


async def test_detaching_in_the_middle_of_a_step(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=2) as run:
        await run.begin(run.at("value: float"))
        await run.stop()
        await run.controller.step(StepKind.NEXT, 0)
        await run.controller.detach()
        while not isinstance(event := await asyncio.wait_for(run.events.get(), 5), dict):
            pass
        assert event["total"] == SUM


async def test_attaching_again_after_detaching(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=2) as run:
        for _ in range(2):
            await run.begin(run.at("value * 10.0"))
            _, answer = await run.run_out()
            assert answer["total"] == SUM
            await run.controller.detach()
        assert run.hits == {1: 16}


async def test_killed_gdb_is_told(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=2) as run:
        await run.begin(run.at("a[i] = value"))
        await run.stop()
        os.kill(gdb_pid(run), signal.SIGKILL)
        lost = await run.lost()
        assert isinstance(lost, ControllerLost)
        assert lost.reason == "gdb ended."
        assert not run.controller.attached
        with pytest.raises(NativeError, match="not running"):
            await run.controller.resume()


async def test_killed_gdb_while_the_kernel_runs(branch: KernelProgram) -> None:
    async with Debugged(branch) as run:
        await run.attach()
        os.kill(gdb_pid(run), signal.SIGKILL)
        assert isinstance(await run.lost(), ControllerLost)
        await run._launch()
        assert (await run.end())["total"] == SUM


async def test_hanging_gdb_is_given_up(branch: KernelProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Debugged(branch) as run:
        await run.attach()
        pid = gdb_pid(run)
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(NativeError, match=r"did not answer within 0\.3 s"):
            await run.controller.mi.command("-list-features", timeout=0.3)
        assert isinstance(await run.lost(), ControllerLost)
        await gone(pid)


async def test_missing_gdb_names_the_remedy() -> None:
    controller = GdbController(lambda event: None, gdb="no-such-gdb")
    with pytest.raises(NativeUnavailable, match=r"no-such-gdb is not there.*apt-get install gdb"):
        await controller.attach(os.getpid())
    assert not controller.attached
    await controller.detach()


async def test_a_process_that_is_traced_already(branch: KernelProgram) -> None:
    async with Debugged(branch) as run:
        await run.attach()
        other = GdbController(lambda event: None)
        with pytest.raises(NativeUnavailable, match=f"traced by process {gdb_pid(run)} already"):
            await other.attach(run.process.pid)
        assert not other.attached
        await other.detach()


async def test_a_process_that_is_gone() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await process.wait()
    controller = GdbController(lambda event: None)
    with pytest.raises(NativeUnavailable, match="can't attach"):
        await controller.attach(process.pid)


async def test_gdb_runs_without_the_environment_that_breaks_it(
    branch: KernelProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHOME", "/nonexistent")
    monkeypatch.setenv("VIRTUAL_ENV", "/nonexistent")
    controller = GdbController(lambda event: None)
    process = await asyncio.create_subprocess_exec("sleep", "30")
    try:
        await controller.attach(process.pid)
        environment = environment_of(tracer(process.pid))
        assert "PYTHONHOME" not in environment
        assert "VIRTUAL_ENV" not in environment
    finally:
        await controller.detach()
        process.kill()
        await process.wait()


@pytest.mark.parametrize("state", ["at work", "hanging"])
def test_gdb_goes_with_the_process_that_started_it(tmp_path: Path, state: str) -> None:
    """A debugger killed with -9 leaves neither gdb behind nor the program stopped."""
    script = tmp_path / "owner.py"
    script.write_text(
        "import asyncio, sys\n"
        "from pkdb_tui.engine.native.gdb import GdbController\n"
        "async def main():\n"
        "    controller = GdbController(lambda event: None)\n"
        "    await controller.attach(int(sys.argv[1]))\n"
        "    print('attached', flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    program = subprocess.Popen(["sleep", "60"])
    owner = subprocess.Popen([sys.executable, str(script), str(program.pid)], stdout=subprocess.PIPE, text=True)
    try:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "attached\n"
        gdb = tracer(program.pid)
        if state == "hanging":
            os.kill(gdb, signal.SIGSTOP)
        owner.kill()
        owner.wait()
        asyncio.run(gone(gdb))
        assert program.poll() is None
        assert tracer(program.pid) == 0
    finally:
        owner.kill()
        program.kill()
        program.wait()


async def test_children_of_the_program_run_undisturbed(branch: KernelProgram) -> None:
    async with Debugged(branch) as run:
        await run.attach()
        await run._ask({"spawn": ["sh", "-c", "exit 7"]})
        assert await run._answer() == {"status": 7}
        await run._ask({"fork": 5})
        assert await run._answer() == {"status": 5}
        assert run.events.empty()


async def test_conditions_that_fail_stop_and_say_why(branch: KernelProgram) -> None:
    async with Debugged(branch) as run:
        await run.begin(run.at("a[i] = value", condition="nonsense > 1"))
        stop = await run.stop()
        assert (stop.breakpoints, stop.text) == ((1,), 'condition failed: No symbol "nonsense" in current context.')


async def test_raw_commands_answer_text(branch: KernelProgram) -> None:
    async with Debugged(branch) as run:
        await run.begin(run.at("a[i] = value"))
        stop = await run.stop()
        assert "hits" not in await run.controller.send("print 6 * 7")
        assert (await run.controller.send("print 6 * 7")).strip().endswith("= 42")
        assert f"kernel.py:{branch.line('a[i] = value')}" in await run.controller.send("info breakpoints")
        with pytest.raises(NativeError, match="Undefined command"):
            await run.controller.send("no-such-command")
        assert stop.breakpoints == (1,)


async def test_a_killed_program_is_told(branch: KernelProgram) -> None:
    async with Debugged(branch) as run:
        await run.begin(run.at("value: float"))
        await run.stop()
        run.process.kill()
        assert isinstance(await run.lost(), ProcessEnded)
        assert await run.process.wait() == -signal.SIGKILL
        assert not run.controller.attached


@pytest.mark.parametrize("status", [0, 3, 77])
async def test_the_exit_status_is_told(branch: KernelProgram, status: int) -> None:
    async with Debugged(branch) as run:
        await run.attach()
        await run._ask({"exit": status})
        assert await run.lost() == ProcessEnded(status=status)


REFUSED = """
import asyncio, os, sys
import pygdbmi.gdbmiparser
from pkdb_tui.engine.errors import NativeUnavailable
from pkdb_tui.engine.native.gdb import GdbController

async def main():
    os.setuid(65534)
    try:
        await GdbController(lambda event: None).attach(int(sys.argv[1]))
    except NativeUnavailable as error:
        print(error.title)
        print(error.hint)

asyncio.run(main())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start somebody else's program")
def test_an_attach_that_the_system_refuses_names_the_remedy() -> None:
    program = subprocess.Popen(["sleep", "60"])
    try:
        command = [sys.executable, "-c", REFUSED, str(program.pid)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
        title, hint = answer.splitlines()
        assert title == "This system forbids attaching a debugger to the program."
        assert "--cap-add=SYS_PTRACE" in hint
        assert program.poll() is None
    finally:
        program.kill()
        program.wait()
