"""The embedded runtime on a device, and kernels that stop there."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from gpu_runs import PATIENCE, PROGRAMS, Plain, Running, environment

from pkdb_tui.engine.api import BreakpointSpec, Phase, Reason
from pkdb_tui.engine.moves import Verb


def test_kernels_compute_what_the_host_does() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pkdb_tui.minikokkos", str(PROGRAMS / "forms.py")],
        capture_output=True, text=True, check=True, timeout=110, env=environment(),
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert lines[:6] == [
        "md: True",
        "max: 999.0",
        "atomics: [250, 250, 250, 250] 999",
        "sum: True",
        "empty: 0.0",
        f"stream: {round(1000 * 2 * -0.7568024953079282, 3)}",
    ]
    refused = [line for line in lines if line.startswith("refused:")]
    assert len(refused) == 4
    for text, line in zip(("cupy.asarray(x)", "cupy.asnumpy(x)", "TeamPolicy", "complex128"), refused, strict=True):
        assert text in line


def test_a_breakpoint_stops_at_the_python_line_with_values(plain: Plain) -> None:
    text = plain(
        "rows.py", "break 15", "continue", "where", "locals", "print A_view[3:5, ::2]", "print temp2 + alpha",
        "threads", "delete", "continue",
    )  # fmt: skip
    assert "stopped: breakpoint 1 rows.py:15 in rows block 0 thread 0 of 512 · j = 0" in text
    assert re.search(r">  0 rows rows.py:15 kernel\n +1 main rows.py:28 python\n +2 <module> rows.py:35 python", text)
    assert re.search(r"^j +int +0$", text, re.MULTILINE)
    assert re.search(r"^A_view +float64\[400, 8\] +cuda, rows$", text, re.MULTILINE)
    assert re.search(r"^alpha +float +0.5$", text, re.MULTILINE)
    assert "array([[24., 26., 28., 30.],\n       [32., 34., 36., 38.]])" in text
    assert "\n0.5\n" in text
    assert "at breakpoint rows.py:15" in text
    assert "row 3: 154.0\ntotal: 340294200.0" in text
    assert "row 9: 3493.0\nexited: status 0" in text


def test_the_focus_moves_by_block_and_thread(plain: Plain) -> None:
    text = plain(
        "rows.py", "break 17", "continue", "cuda block 1 thread 7", "print j", "cuda thread 0 5", "print j",
        "cuda thread (33,0,0)", "print j", "thread 399", "print j", "cuda block 2 thread 0", "cuda nonsense", "delete",
        "continue",
    )  # fmt: skip
    assert "rows.py:17 in rows block 1 thread 7 of 512 · j = 263" in text
    for number in (263, 5, 33, 399):
        assert f"\n{number}\n" in text
    assert "There is no thread 0 in block 2. The grid is 2 × 1 × 1, a block 256 × 1 × 1." in text
    assert "`cuda nonsense` names no thread." in text


def test_steps_go_from_line_to_line_and_into_functions(plain: Plain) -> None:
    text = plain(
        "rows.py", "break 13", "continue", "next", "next", "next", "next", "delete", "tbreak 16", "continue", "step",
        "locals", "where", "finish", "next", "next", "print 'after'", "continue",
    )  # fmt: skip
    stops = re.findall(r"stopped: (\w+)[^:]* rows.py:(\d+) in (\w+)", text)
    assert stops[:5] == [
        ("breakpoint", "13", "rows"), ("step", "14", "rows"), ("step", "15", "rows"), ("step", "14", "rows"),
        ("step", "15", "rows"),
    ]  # fmt: skip
    assert stops[5:8] == [("breakpoint", "16", "rows"), ("step", "7", "scaled"), ("step", "16", "rows")]
    assert stops[8] == ("step", "17", "rows")
    assert stops[9] == ("step", "28", "main")
    assert re.search(r"^k +int +0$", text, re.MULTILINE)
    assert re.search(r">  0 scaled rows.py:7 kernel\n +1 rows rows.py:16 kernel", text)
    assert "row 3: 154.0" in text


def test_every_thread_hits_once(plain: Plain) -> None:
    text = plain("rows.py", "break 17", *["continue"] * 60, "info breakpoints")
    assert "exited: status 0" in text
    assert "hit 800 times" in text


def test_a_loop_line_is_hit_at_each_turn(plain: Plain) -> None:
    text = plain("faults.py", "break 22 thread 5", *["continue"] * 4, "info breakpoints", arguments=("spin", "3"))
    assert len(re.findall(r"stopped: breakpoint 1 faults.py:22 in spin block 0 thread 5", text)) == 4
    assert "hit 4 times" in text


def test_a_condition_stops_the_one_thread_it_holds_for(plain: Plain) -> None:
    text = plain(
        "rows.py", "break 16 if j == 37 and A_view[j, 0] // 2 > 1", "continue", "print j", "print temp2", "finish",
        "continue", "continue",
    )  # fmt: skip
    assert "stopped: breakpoint 1 rows.py:16 in rows block 0 thread 37 of 512 · j = 37" in text
    assert "\n37\n595.0\n" in text
    assert text.count("stopped: breakpoint 1") == 2  # in each of the two launches


def test_a_condition_that_fails_says_why(plain: Plain) -> None:
    text = plain("rows.py", "break 16 if A_view[j + 400, 0] > 0", "continue", "delete", "continue")
    assert "stopped: breakpoint 1: condition failed: index 400 in dimension 0, extent 400 rows.py:16" in text


def test_a_thread_filter_stops_that_thread(plain: Plain) -> None:
    text = plain("rows.py", "break 17 thread 300", "continue", "print j", "continue", "continue")
    assert "stopped: breakpoint 1 rows.py:17 in rows block 1 thread 44 of 512 · j = 300" in text
    assert text.count("stopped: breakpoint 1") == 2


def test_a_log_point_speaks_for_every_thread(plain: Plain) -> None:
    text = plain("faults.py", "log 24 j={j} acc={acc}", "continue", arguments=("spin", "2"))
    found = re.findall(r"faults.py:24 thread (\d+) j=(\d+) acc=1.0", text)
    assert sorted(int(thread) for thread, _ in found) == list(range(64))
    assert all(thread == j for thread, j in found)
    assert "spun 1.0" in text


def test_parallel_print_shows_every_thread(plain: Plain) -> None:
    text = plain(
        "faults.py", "break 24", "continue", "parallel_print j * 2", "delete", "continue", arguments=("spin", "2")
    )
    assert "63 126" in text


def test_threads_that_are_not_on_the_device_are_said_to_be(plain: Plain) -> None:
    text = plain(
        "many.py", "break 7", "continue", "threads", "cuda block 15624 thread 255", "print i", "delete",
        "continue",
    )  # fmt: skip
    found = re.search(r"stopped: breakpoint 1 many.py:7 in twice block (\d+) thread (\d+) of 4000000 · i = (\d+)", text)
    assert found is not None
    assert int(found[3]) == 256 * int(found[1]) + int(found[2])
    assert re.search(r"^\d+-3999999  not on the device$", text, re.MULTILINE)
    assert "Thread 3999999 is not on the device: its block has not begun, or is over." in text
    assert f"\n{found[3]}\n" in text
    assert "sum 8000000.0" in text


def test_a_reduction_accumulates(plain: Plain) -> None:
    text = plain("rows.py", "break 22", "continue", "print acc", "next", "finish", "continue", "delete", "continue")
    assert "stopped: breakpoint 1 rows.py:22 in total block 0 thread 0" in text
    assert "total: 340294200.0" in text


def test_step_at_the_launch_goes_to_the_kernels_first_line(plain: Plain) -> None:
    text = plain("rows.py", "break 28", "continue", "step", "print j", "delete", "continue")
    assert "stopped: step rows.py:13 in rows block 0 thread 0 of 512 · j = 0" in text
    assert "exited: status 0" in text


def test_until_and_breakpoints_that_come_and_go(plain: Plain) -> None:
    text = plain(
        "rows.py", "break 13", "continue", "until 16", "print temp2", "disable 1", "break 17", "info breakpoints",
        "break 18", "continue", "delete", "continue",
    )  # fmt: skip
    assert "stopped: step rows.py:16 in rows block 0 thread 0" in text
    assert "\n3.0\n" in text
    assert "stopped: breakpoint 2 rows.py:17 in rows" in text
    assert "exited: status 0" in text


def test_only_the_bytes_of_a_slice_are_read(plain: Plain, tmp_path: Path) -> None:
    log = tmp_path / "mi.log"
    plain("rows.py", "break 15", "continue", "print A_view[10, 2:4]", "delete", "continue", log=str(log))
    reads = re.findall(r'-pkdb-read ".*?\\"regions\\": \[(.*?)\]\}"', log.read_text())
    assert len(reads) == 1
    assert sum(int(length) for _, length in re.findall(r"\[(\d+), (\d+)\]", reads[0] + "]")) == 16


def test_an_index_out_of_bounds_stops_at_its_line(plain: Plain) -> None:
    text = plain(
        "faults.py",
        "break 9",
        "continue",
        "delete",
        "continue",
        "where",
        "locals",
        *["continue"] * 4,
        arguments=("beyond",),
    )
    found = re.search(
        r"stopped: bounds: C index (\d+) in dimension 0, extent 64 faults.py:10 in beyond block 0 thread (\d+)", text
    )
    assert found is not None
    assert int(found[1]) == int(found[2]) + 60
    assert re.search(rf"^j +int +{found[2]}$", text, re.MULTILINE)
    assert "IndexError: C index" in text


FAULT = r"stopped: signal CUDA_EXCEPTION_\d+: [-\w ]+ faults.py:16 in"


def test_an_exception_of_the_device_stops_at_its_line(plain: Plain) -> None:
    text = plain(
        "faults.py", "break 15", "continue", "delete", "continue", "where", "locals", "continue", arguments=("far",),
        options=("--no-bounds",),
    )  # fmt: skip
    assert re.search(rf"{FAULT} far block 0 thread \d+", text)
    assert re.search(r"^C +float64\[64\] +cuda$", text, re.MULTILINE)
    assert "After an exception of the device the program ends as soon as it goes on" in text
    assert "exited: signal SIGKILL" in text


def test_an_exception_is_caught_in_a_kernel_without_breakpoints(plain: Plain) -> None:
    for _ in range(3):  # the program's thread and cuda-gdb hear of it at about the same time
        text = plain(
            "faults.py", "set catch on", "continue", "where", "locals", arguments=("far",), options=("--no-bounds",)
        )
        assert re.search(rf"{FAULT} far block 0 thread \d+", text)
        assert re.search(r">  0 far faults.py:16 kernel\n +1 <module> faults.py:32 python", text)
        assert re.search(r"^C +float64\[64\] +cuda$", text, re.MULTILINE)


def test_an_exception_in_an_optimised_kernel_stops_while_another_one_has_a_breakpoint(plain: Plain) -> None:
    for _ in range(3):
        text = plain("faults.py", "break 24 thread 5", "continue", "continue", "where", arguments=("after",))
        assert "stopped: breakpoint 1 faults.py:24 in spin block 0 thread 5" in text
        assert re.search(FAULT, text)
        assert "Traceback" not in text


def test_an_exception_without_a_debugger_is_the_programs_own(plain: Plain) -> None:
    text = plain("faults.py", "continue", "continue", arguments=("far",))
    assert re.search(r"stopped: exception KernelFault: far failed on the device: .* faults.py:32 in <module>", text)
    assert "`set catch on` and `restart` stop at the line of the kernel where that happens." in text
    assert "exited: exception KernelFault: far failed on the device" in text


def test_a_breakpoint_by_a_functions_name_stops_at_its_first_line(plain: Plain) -> None:
    text = plain(
        "rows.py", "break scaled", "break total", "continue", "where", "delete 1", "continue", "delete", "continue"
    )
    assert re.search(r">  0 scaled rows.py:7 kernel\n +1 rows rows.py:16 kernel", text)
    assert "stopped: breakpoint 2 rows.py:22 in total" in text
    assert "total: 340294200.0" in text


@pytest.mark.skipif(shutil.which("gdb") is None, reason="no gdb for kernels of the host")
def test_one_session_stops_on_the_host_and_on_the_device(plain: Plain) -> None:
    text = plain("mixed.py", "break 9", "break 15", *["continue"] * 4, "delete", "continue")
    stops = re.findall(r"stopped: breakpoint \d mixed.py:(\d+)", text)
    assert stops[:4] == ["9", "15", "9", "15"]
    assert "mixed: 4.0 256.0" in text


async def _paused_in_kernel(running: Running) -> None:
    """Pause until that finds the kernel, and not the Python code around it."""
    session = running.session
    async with asyncio.timeout(PATIENCE):
        while session.phase is not Phase.STOPPED_KERNEL:
            if session.phase.stopped:
                await session.resume(Verb.CONTINUE)
            await asyncio.sleep(0.3)
            if session.pausable:
                await session.pause()
                await running.settled()


@pytest.mark.parametrize("debugged", [True, False])
async def test_a_running_kernel_pauses(debugged: bool) -> None:
    async with Running("faults.py", "spin", "300000000") as running:
        session = running.session
        if debugged:
            await session.add_breakpoint(BreakpointSpec(file=running.script, line=24))
        await session.resume(Verb.CONTINUE)
        await _paused_in_kernel(running)
        stop = session.require_stop()
        assert stop.reason is Reason.PAUSE
        assert stop.location.line in (21, 22, 23)
        if debugged:
            assert (await session.evaluate("n")).value == 300000000
            await running.go(Verb.NEXT)
            assert session.require_stop().location.line in (22, 23)


async def test_quitting_and_restarting_at_a_stop_leaves_nothing() -> None:
    async with Running("rows.py") as running:
        session = running.session
        await session.add_breakpoint(BreakpointSpec(file=running.script, line=17))
        await running.go()
        assert session.phase is Phase.STOPPED_KERNEL
        await session.restart()
        await running.settled()
        await running.go()
        assert session.phase is Phase.STOPPED_KERNEL
        assert session.program is not None
        pid = session.program.pid
    assert not Path(f"/proc/{pid}").exists()
    names = [path.read_text() for path in Path("/proc").glob("[0-9]*/comm")]
    assert not any(name.startswith("cuda-gdb") for name in names)
