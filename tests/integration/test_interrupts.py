"""An interrupt sent to the program itself, as by `kill -INT`: it gets it, and no stop and no launch is lost by that."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pexpect
import pytest
from cli import PROMPT, living, terminal

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)
CAUGHT = """\
import numpy as np
import pykokkos as pk


@pk.workunit
def raised(i: int, out: pk.View1D[pk.double]):
    value: float = out[i]
    out[i] = value + 1.0


out = np.zeros(4)
policy = pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, 4)
try:
    pk.parallel_for(policy, raised, out=out)
except KeyboardInterrupt:
    print("interrupted at", out.sum())
pk.parallel_for(policy, raised, out=out)
print("sum", out.sum())
"""


def program_of(child: pexpect.spawn[str], marker: str) -> int:
    (found,) = [pid for pid in living(marker) if pid != child.pid and Path(f"/proc/{pid}/comm").read_text() != "gdb\n"]
    return found


def test_an_interrupt_at_a_kernel_stop_reaches_the_program_and_later_launches_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    (tmp_path / "caught.py").write_text(CAUGHT)
    marker = f"mark{os.getpid()}{tmp_path.name}"
    commands = ("break 8 if i == 3", "continue")
    given = [word for command in commands for word in ("-c", command)]
    with terminal("--runtime", "embedded", *given, "caught.py", marker, folder=tmp_path) as child:
        child.expect_exact("stopped: breakpoint 1 caught.py:8 in raised")
        child.expect_exact(PROMPT)
        os.kill(program_of(child, marker), signal.SIGINT)
        child.sendline("continue")
        child.expect_exact("interrupted at 4.0")
        child.expect_exact("stopped: breakpoint 1 caught.py:8 in raised")
        child.expect_exact(PROMPT)
        child.sendline("print out[0:4]")
        child.expect_exact("[2., 2., 2., 1.]")
        child.sendline("continue")
        child.expect_exact("sum 8.0")
        child.expect_exact("exited: status 0")
