"""Infinities and NaNs in kernels are numbers: shown, computed with, asked for in conditions, and set."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from runtimes import BOTH, debug

pytestmark = pytest.mark.parametrize("runtime", BOTH)
ONE = {"OMP_NUM_THREADS": "1"}

ASKED = {
    "t": "inf",
    "-t": "-inf",
    "2 * t": "inf",
    "u": "nan",
    "u != u": "True",
    "t > 5": "True",
    "np.isnan(u), math.isinf(t)": "(True, True)",
    "f'{t:.2f} {u}'": "'inf nan'",
    "max(t, 1.0)": "inf",
}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    fixtures = Path(__file__).resolve().parents[1] / "fixtures"
    return Path(shutil.copy(fixtures / "not_finite.py", tmp_path))


def test_they_are_numbers_at_a_stop(runtime: str, script: Path) -> None:
    given = [f"print {text}" for text in ASKED]
    run = debug(runtime, script, "break 11 if i == 3", "continue", *given, "info locals", variables=ONE)
    assert run.stops == ["not_finite.py:11"]
    shown = run.lines[run.lines.index(run.after("stopped: breakpoint")) + 1 :]
    assert shown[: len(ASKED)] == list(ASKED.values())
    assert {"t  float  inf", "u  float  nan"} <= {line.rstrip() for line in shown}
    assert run.err == ""


@pytest.mark.parametrize("condition", ["u != u", "np.isnan(u)", "math.isnan(u)", "not t < 1e300"])
@pytest.mark.parametrize("when", ["before the launch", "while stopped"])
def test_a_condition_finds_them(runtime: str, condition: str, when: str, script: Path) -> None:
    wanted = [f"break 11 if {condition}", "continue", "print i"]
    late = ["break 10", "continue", wanted[0], "delete 1", *wanted[1:]]
    run = debug(runtime, script, *(wanted if when == "before the launch" else late), variables=ONE)
    assert run.stops[-1] == "not_finite.py:11"
    assert run.lines[-1] == "3"
    assert run.err == ""


def test_a_log_point_writes_them(runtime: str, script: Path) -> None:
    run = debug(runtime, script, "log 11 {i} {t:.2f} {u}", "continue", variables=ONE)
    assert "not_finite.py:11 thread 0 3 inf nan" in run.lines


def test_they_can_be_set(runtime: str, script: Path) -> None:
    set_it = ["u = -math.inf", "print u", "next", "print w[5]"]
    run = debug(runtime, script, "break 12 if i == 5", "continue", *set_it, variables=ONE)
    assert run.starting("-inf") == ["-inf", "-inf"]
    assert run.err == ""


def test_a_breakpoint_in_a_kernel_to_come_is_pending_and_met(runtime: str, script: Path) -> None:
    run = debug(runtime, script, "break 11", "continue", "delete 1", "break 17", "continue", variables=ONE)
    assert [line for line in run.lines if line.startswith("breakpoint 2")] == [
        "breakpoint 2 at not_finite.py:17 in kernel twice: pending (the kernel has not run yet)"
    ]
    assert run.stops == ["not_finite.py:11", "not_finite.py:17"]
