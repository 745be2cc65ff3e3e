"""Signal handlers of the program that launch kernels themselves, during launches that go on, are paused or stopped."""

from __future__ import annotations

from pathlib import Path

import pexpect
import pytest
from cli import PROMPT, plain, terminal

HEAD = """\
import os, signal, threading, time
import numpy as np
import pykokkos as pk

@pk.workunit
def outer(i: int, out: pk.View1D[pk.double], flag: pk.View1D[pk.double]):
    while pk.atomic_fetch_add(flag, [0], 0.0) == 0.0:
        pk.atomic_add(out, [i], 1.0)
    out[i] = 5.0

@pk.workunit
def inner(i: int, v: pk.View1D[pk.double]):
    v[i] = v[i] + 1.0

def handle(number, frame):
    global handled
    pk.parallel_for(p, inner, v=w)
    handled += 1

def tell():
    while not out.any():
        time.sleep(0.001)
    print("the kernel runs", flush=True)

p = pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, 2)
out, w, flag = np.zeros(2), np.zeros(2), np.zeros(1)
handled = 0
"""
IN_INNER, IN_HANDLER = 13, 17
NEVER_ENDING = """\
signal.signal(signal.SIGUSR1, handle)
threading.Thread(target=tell).start()
pk.parallel_for(p, outer, out=out, flag=flag)
print("over", out[0], w[0])
"""
AGAIN_AND_AGAIN = """\
launched, flag[0] = 0, 1.0
for _ in range(3):
    pk.parallel_for(p, inner, v=w)
    pk.parallel_for(p, outer, out=out, flag=flag)
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
while handled < 50 or launched < 50:
    pk.parallel_for(p, outer, out=out, flag=flag)
    launched += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print("all of them", w[0] == 3 + handled)
"""
LINE_OF_LAUNCH = len(HEAD.splitlines()) + 3


def test_launches_that_nobody_sees_may_be_in_each_other(tmp_path: Path) -> None:
    (tmp_path / "handlers.py").write_text(HEAD + AGAIN_AND_AGAIN)
    run = plain("--runtime", "embedded", "handlers.py", commands=["continue"], folder=tmp_path)
    assert (run.err, run.lines[-2:]) == ("", ["all of them True", "exited: status 0"])


@pytest.mark.parametrize(
    ("line", "where"), [(IN_INNER, r"handlers\.py:13 in inner thread 0"), (IN_HANDLER, r"handlers\.py:17 in handle\b")]
)
def test_a_handler_that_runs_as_a_paused_kernel_ends_is_debugged(tmp_path: Path, line: int, where: str) -> None:
    (tmp_path / "handlers.py").write_text(HEAD + NEVER_ENDING)
    with terminal("--runtime", "embedded", "handlers.py", folder=tmp_path) as child:
        child.expect_exact(PROMPT)
        child.sendline(f"break {line}")
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("the kernel runs")
        child.sendintr()
        child.expect(r"pause handlers\.py:\d+ in outer thread")
        child.expect_exact(PROMPT)
        child.sendline("os.kill(os.getpid(), signal.SIGUSR1)")
        child.expect_exact(PROMPT)
        child.sendline("flag[0] = 1.0")
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect(f"stopped: breakpoint 1 {where}")
        child.expect_exact(PROMPT)
        child.sendline("where")
        child.expect(rf"<module> handlers\.py:{LINE_OF_LAUNCH} python")
        child.expect_exact(PROMPT)
        child.sendline("delete 1")
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("over 5.0 1.0")
        child.expect_exact("exited: status 0")
        child.sendline("quit")
        child.expect(pexpect.EOF)


def test_a_handler_that_launches_as_a_stopped_kernel_ends_is_told_and_counted(tmp_path: Path) -> None:
    (tmp_path / "handlers.py").write_text(HEAD + NEVER_ENDING)
    commands = [
        "break 9", f"break {IN_INNER}", f"tbreak {LINE_OF_LAUNCH}", "continue", "flag[0] = 1.0", "continue",
        "os.kill(os.getpid(), signal.SIGUSR1)", "delete 1", "continue", "info launches",
    ]  # fmt: skip
    run = plain("--runtime", "embedded", "handlers.py", commands=commands, folder=tmp_path)
    assert run.err == ""
    said = "inner was launched by a signal handler before the launch of outer had ended: "
    assert [line.partition("warning: ")[2].startswith(said) for line in run.starting("warning: ")] == [True]
    assert "over 5.0 1.0" in run.lines
    assert any(line.startswith(f"inner handlers.py:{IN_HANDLER} ") and " 1× " in line for line in run.lines)
