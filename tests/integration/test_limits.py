"""Children, many threads, few descriptors and thousands of launches, with a kernel breakpoint set."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from cli import COMMAND, FIXTURES, environment, plain

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)
OPTIONS = ("--runtime", "embedded")
MANY = """\
import os
import resource

import numpy as np
import pykokkos as pk


@pk.workunit
def add(i: int, out: pk.View1D[pk.double]):
    out[i] = out[i] + 1.0


def used():
    return len(os.listdir("/proc/self/fd")), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


out = np.zeros(4)
policy = pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, 4)
for number in range(10001):
    if number == 100:
        before = used()
    pk.parallel_for(policy, add, out=out)
after = used()
print("descriptors", after[0] - before[0], "MiB", (after[1] - before[1]) // 1024)
"""


def test_children_of_every_kind_are_left_alone_and_breakpoints_go_on() -> None:
    run = plain(
        *OPTIONS,
        "forking.py",
        commands=["break rounds.py:11 if i == 3", *["continue"] * 6],
        variables={"OMP_NUM_THREADS": "2"},
    )
    assert run.stops[1:] == ["stopped: breakpoint 1 rounds.py:11 in fill thread 0 of 2 · i = 3"] * 5
    said = [line for line in run.lines if line.startswith(("sum", "child", "end", "hello", "exited"))]
    assert said == [
        *("sum 36.0", "child 7"),
        *("sum 36.0", "child [0, 0]"),
        *("sum 36.0", "child [0, 0]"),
        *("sum 36.0", "hello", "child 0"),
        *("end 36.0", "exited: status 0"),
    ]
    assert run.err == ""


def test_many_more_threads_than_processors() -> None:
    run = plain(
        *OPTIONS,
        "rounds.py",
        commands=["tbreak 11", "continue", "threads", "next", "delete", "continue"],
        variables={"OMP_NUM_THREADS": "64"},
    )
    assert run.stops[1] == "stopped: breakpoint 1 rounds.py:11 in fill thread 0 of 64 · i = 0"
    assert run.lines[-2:] == ["sum 31.0", "exited: status 0"]
    assert run.status == 0, run.err


def test_few_descriptors_are_enough() -> None:
    commands = [word for command in ("break 11", "continue", "delete", "continue") for word in ("-c", command)]
    line = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", *COMMAND, "--plain", *commands, *OPTIONS, "rounds.py"]
    done = subprocess.run(
        line,
        cwd=FIXTURES,
        env={**environment(), "OMP_NUM_THREADS": "2"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.splitlines()[-2:] == ["sum 31.0", "exited: status 0"], done.stderr
    assert "stopped: breakpoint 1 rounds.py:11 in fill" in done.stdout


@pytest.mark.timeout(240)
def test_ten_thousand_launches_cost_no_memory_and_the_breakpoint_stays(tmp_path: Path) -> None:
    (tmp_path / "many.py").write_text(MANY)
    run = plain(
        *OPTIONS,
        "many.py",
        commands=["break 10 if out[i] >= 10000.0", "continue", "print out[i]", "delete", "continue"],
        folder=tmp_path,
        variables={"OMP_NUM_THREADS": "1"},
        limit=200,
    )
    assert run.stops[1].startswith("stopped: breakpoint 1 many.py:10 in add")
    assert "10000.0" in run.lines
    found = next(line for line in run.lines if line.startswith("descriptors")).split()
    assert int(found[1]) == 0
    assert int(found[3]) < 20
    assert run.lines[-1] == "exited: status 0"


@pytest.mark.skipif(shutil.which("clang++") is None, reason="needs clang++: apt-get install clang libomp-dev")
def test_clang_in_place_of_gcc(tmp_path: Path) -> None:
    variables = {"OMP_NUM_THREADS": "2", "CXX": "clang++", "PKDB_CACHE": str(tmp_path)}
    run = plain(
        *OPTIONS,
        "rounds.py",
        commands=["break 11", "continue", "print value", "next", "delete", "continue"],
        variables=variables,
    )
    assert run.stops[1] == "stopped: breakpoint 1 rounds.py:11 in fill thread 0 of 2 · i = 0"
    assert run.lines[-2:] == ["sum 31.0", "exited: status 0"], run.err
