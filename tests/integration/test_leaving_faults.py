"""From a failed bounds check one gets out again; the thread that is looked at stays the one looked at."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cli import Run, plain

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)


def debug(script: str, *commands: str, threads: int = 2) -> Run:
    variables = {"OMP_NUM_THREADS": str(threads)}
    return plain("--runtime", "embedded", script, commands=commands, variables=variables)


@pytest.mark.parametrize("threads", [1, 2])
def test_finish_runs_the_launch_to_its_end(threads: int) -> None:
    run = debug("past_the_end.py", "set catch on", "continue", "finish", "delete", "next", threads=threads)
    assert run.stops[1].startswith("stopped: bounds: u index 32 in dimension 0, extent 32 past_the_end.py:16 in smooth")
    assert run.stops[2] == "stopped: step past_the_end.py:31 in main"


def test_finish_in_a_function_goes_to_its_caller_and_then_to_the_end() -> None:
    run = debug("past_the_end.py", "set catch on", "continue", "finish", "continue", "finish", "finish")
    assert [stop.partition("past_the_end.py:")[2].partition(" thread")[0] for stop in run.stops[3:]] == [
        "9 in ahead",
        "21 in shifted",
        "31 in main",
    ]


def test_a_setting_of_the_build_says_from_when_on() -> None:
    run = debug("past_the_end.py", "set catch on", "continue", "set bounds off", "set stepinto off")
    assert run.starting("catch") == ["catch on"]
    assert run.starting("bounds") == ["bounds off from the next launch on"]
    assert run.starting("stepinto") == ["stepinto off"]


def test_the_thread_that_is_looked_at_stays_so() -> None:
    run = debug(
        "some_rows.py", "break 13", "continue", "thread 1", "continue", "next", "tbreak 13", "continue", threads=2
    )
    assert [stop.partition(" thread ")[2][:6] for stop in run.stops[1:]] == ["0 of 2", "1 of 2", "1 of 2", "1 of 2"]


def test_a_fault_that_was_shown_at_its_line_ends_the_program_without_advice_to_look_for_it(tmp_path: Path) -> None:
    (tmp_path / "divides.py").write_text(
        "import numpy as np\nimport pykokkos as pk\n\n\n@pk.workunit\n"
        "def divide(i: int, v: pk.View1D[pk.int64], n: pk.int64):\n    v[i] = v[i] // n\n\n\n"
        "pk.parallel_for(8, divide, v=np.arange(8), n=0)\n"
    )
    options, script = ("--runtime", "embedded"), "divides.py"
    run = plain(*options, script, folder=tmp_path, commands=["set catch on", "continue", "continue"])
    assert run.stops[1].startswith("stopped: signal SIGFPE divides.py:7 in divide thread ")
    assert run.starting("note: ") == []
    assert run.lines[-1] == "exited: signal SIGFPE"
    unseen = plain(*options, script, folder=tmp_path, commands=["continue"])
    assert unseen.starting("note: If a kernel caused SIGFPE: `set catch on` and `restart` stop at the line")
