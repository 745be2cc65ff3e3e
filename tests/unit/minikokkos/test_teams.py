"""Teams: nested parallelism, barriers and scratch, on every space."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pkdb_tui.minikokkos as pk

SPACES = [pk.OpenMP, pk.Serial, pk.Debug]
KERNELS = """
@pk.function
def square(x: float) -> float:
    return x * x


@pk.workunit
def nested(m: pk.TeamMember, acc: pk.Acc[float], rows: int, cols: int, a: pk.View3D[pk.double], x: pk.View2D[float]):
    e: int = m.league_rank()
    s: pk.ScratchView1D[float] = pk.ScratchView1D(m.team_scratch(0), cols)

    def init(i: int):
        s[i] = x[e][i]

    if m.team_rank() == 0:
        pk.parallel_for(pk.ThreadVectorRange(m, cols), init)
    m.team_barrier()

    def over_rows(j: int, part: pk.Acc[float]):
        def over_columns(i: int, inner: pk.Acc[float]):
            inner += a[e][j][i] * s[i]

        dot: float = pk.parallel_reduce(pk.ThreadVectorRange(m, cols), over_columns)
        part += square(dot)

    total: float = pk.parallel_reduce(pk.TeamThreadRange(m, rows), over_rows)

    def once():
        nonlocal acc
        acc += total

    pk.single(pk.PerTeam(m), once)


@pk.workunit
def ranks(m, seen):
    seen[m.league_rank(), m.team_rank(), 0] = m.league_size()
    seen[m.league_rank(), m.team_rank(), 1] = m.team_size()


@pk.workunit
def box(m, a, n, k):
    row: int = m.league_rank()

    def inner(i: int, j: int):
        a[row][i][j] = row * 100 + i * 10 + j

    pk.parallel_for(pk.TeamThreadMDRange(m, n, k), inner)


@pk.workunit
def sums(m: pk.TeamMember, a: pk.View2D[pk.double], out: pk.View2D[pk.double]):
    r: int = m.league_rank()
    n: int = a.extent(1)

    def running(i: int, part: pk.Acc[float], final: bool):
        part += a[r][i]
        if final:
            a[r][i] = part

    largest: float = pk.parallel_reduce(pk.TeamThreadRange(m, n), lambda i, part: part + a[r][i])

    def most(i: int, part: pk.Max[pk.double]):
        part = max(part, a[r][i])

    out[r, 1] = pk.parallel_reduce(pk.TeamThreadRange(m, 1, n), most)
    m.team_barrier()
    total: float = pk.parallel_scan(pk.TeamThreadRange(m, n), running)
    out[r, 0] = largest
    out[r, 2] = total
"""


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_nested_reductions_with_scratch(load: Any, space: Any, size: int) -> None:
    rng = np.random.default_rng(5)
    a, x = rng.random((4, 6, 9)), rng.random((4, 9))
    scratch = pk.PerTeam(pk.ScratchView1D[float].shmem_size(9))  # type: ignore[misc]
    policy = pk.TeamPolicy(space, 4, size).set_scratch_size(0, scratch)
    result = pk.parallel_reduce(policy, load(KERNELS).nested, rows=6, cols=9, a=a, x=x)
    assert result == pytest.approx((np.einsum("erc,ec->er", a, x) ** 2).sum())


@pytest.mark.parametrize("space", SPACES)
def test_scratch_that_is_too_small_is_named(load: Any, space: Any) -> None:
    policy = pk.TeamPolicy(space, 1, 2).set_scratch_size(0, pk.PerTeam(32))
    with pytest.raises(pk.ArgumentError, match="scratch of 32 bytes per team is too small: 80 are asked for"):
        pk.parallel_reduce(policy, load(KERNELS).nested, rows=1, cols=9, a=np.ones((1, 1, 9)), x=np.ones((1, 9)))


@pytest.mark.parametrize("space", SPACES)
def test_ranks_and_sizes(load: Any, space: Any) -> None:
    seen = np.zeros((3, 4, 2), np.int32)
    pk.parallel_for("ranks", pk.TeamPolicy(space, 3, 4), load(KERNELS).ranks, seen=seen)
    assert (seen == [3, 4]).all()


@pytest.mark.parametrize("space", SPACES)
def test_a_box_of_indices(load: Any, space: Any) -> None:
    a = np.zeros((2, 3, 4))
    pk.parallel_for(pk.TeamPolicy(space, 2, 3), load(KERNELS).box, a=a, n=3, k=4)
    np.testing.assert_array_equal(a, np.arange(2)[:, None, None] * 100 + np.arange(3)[:, None] * 10 + np.arange(4))


@pytest.mark.parametrize("space", [pk.OpenMP, pk.Serial])
@pytest.mark.parametrize("size", [1, 3])
def test_reductions_and_scans_of_a_team(load: Any, space: Any, size: int) -> None:
    a = np.arange(14.0).reshape(2, 7)
    before, out = a.copy(), np.zeros((2, 3))
    pk.parallel_for(pk.TeamPolicy(space, 2, size), load(KERNELS).sums, a=a, out=out)
    np.testing.assert_array_equal(a, before.cumsum(axis=1))
    np.testing.assert_array_equal(out, np.stack([before.sum(1), before[:, 1:].max(1), before.sum(1)], axis=1))


def test_auto_is_a_team_of_one() -> None:
    assert pk.TeamPolicy(7, pk.AUTO, 32).team_size == pk.TeamPolicy(pk.OpenMP, 7, "auto").team_size == 1


def test_threads_that_openmp_does_not_give_are_named(tmp_path: Path) -> None:
    script = tmp_path / "teams.py"
    script.write_text(
        "import pykokkos as pk\nimport numpy as np\n\n\n@pk.workunit\ndef work(m: pk.TeamMember, x):\n"
        "    m.team_barrier()\n\n\npk.parallel_for(pk.TeamPolicy(2, 3), work, x=np.zeros(1))\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pkdb_tui.minikokkos", str(script)],
        env={**os.environ, "OMP_THREAD_LIMIT": "2"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "work: its teams need 3 threads, OpenMP gives 2. Use a smaller team size" in done.stderr
