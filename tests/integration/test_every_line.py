"""Breakpoints on every line of random kernels: threads stop where Python comes by, in its order, and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from random_kernels import in_python, kernel_lines, program
from runtimes import BOTH, Run, debug

pytestmark = pytest.mark.parametrize("runtime", BOTH)
SEEDS = (2, 16, 21, 28, 36)
ONE = {"OMP_NUM_THREADS": "1"}


class Kernel:
    """A program made from a seed, and what Python does in it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.path = folder / f"random_{seed}.py"
        self.path.write_text(program(seed))
        self.came, values = in_python(self.path)
        self.end = f"values {values}"
        self.lines = kernel_lines(self.path)
        assert {each.line for each in self.came} <= set(self.lines)


@pytest.fixture(scope="module", params=SEEDS)
def kernel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    return Kernel(tmp_path_factory.mktemp("random"), request.param)


def logged(run: Run) -> list[tuple[int, int]]:
    found = [re.fullmatch(r"random_\d+\.py:(\d+) thread \d came (\d+)", line) for line in run.lines]
    return [(int(match[1]), int(match[2])) for match in found if match]


def stops(run: Run) -> list[tuple[int, int]]:
    found = [
        re.match(r"stopped: breakpoint \d+ random_\d+\.py:(\d+) in \w+ thread 0 of 1 · i = (\d+)", line)
        for line in run.starting("stopped:")[1:]
    ]
    assert None not in found, run.out
    return [(int(match[1]), int(match[2])) for match in found if match]


@pytest.mark.parametrize("threads", [1, 3])
def test_log_points_speak_as_often_as_python_comes_by(kernel: Kernel, runtime: str, threads: int) -> None:
    points = [f"log {line} came {{{name}}}" for line, name in kernel.lines.items()]
    run = debug(runtime, kernel.path, *points, "continue", variables={"OMP_NUM_THREADS": str(threads)})
    said, wanted = logged(run), [(each.line, each.parameter) for each in kernel.came]
    assert (said if threads == 1 else sorted(said)) == (wanted if threads == 1 else sorted(wanted)), run.out + run.err
    assert run.lines[-2:] == [kernel.end, "exited: status 0"]


@pytest.mark.parametrize("condition", ["", " if {name} >= 0"])
def test_each_line_stops_where_python_comes_by(kernel: Kernel, runtime: str, condition: str) -> None:
    """Conditions that are built into the kernel have places of their own."""
    points = [f"break {line}{condition.format(name=name)}" for line, name in kernel.lines.items()]
    run = debug(runtime, kernel.path, *points, *["continue"] * (len(kernel.came) + 1), variables=ONE)
    assert stops(run) == [(each.line, each.index) for each in kernel.came], run.out + run.err
    assert run.lines[-2:] == [kernel.end, "exited: status 0"]
