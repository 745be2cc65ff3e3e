import cupy as cp
import numpy as np
import pykokkos as pk


@pk.workunit
def dots(m: pk.TeamMember, acc: pk.Acc[pk.double], cols: int, a: pk.View2D[pk.double], x: pk.View1D[pk.double]):
    s: pk.ScratchView1D[pk.double] = pk.ScratchView1D(m.team_scratch(0), cols)
    e: int = m.league_rank()

    def init(i: int):
        s[i] = x[i] * 2.0

    pk.parallel_for(pk.TeamThreadRange(m, cols), init)
    m.team_barrier()

    def over(i: int, part: pk.Acc[pk.double]):
        part += a[e][i] * s[i]

    total: float = pk.parallel_reduce(pk.TeamThreadRange(m, cols), over)
    if m.team_rank() == 0:
        acc += total


@pk.workunit
def running(m: pk.TeamMember, a: pk.View2D[pk.double], out: pk.View1D[pk.int32]):
    own: pk.ScratchView1D[pk.int32] = pk.ScratchView1D(m.thread_scratch(0), 2)
    own[1] = m.team_rank() + 1
    e: int = m.league_rank()

    def sums(i: int, part: pk.Acc[pk.double], final: bool):
        part += a[e][i]
        if final:
            a[e][i] = part

    pk.parallel_scan(pk.TeamThreadRange(m, 7), sums)

    def count():
        pk.atomic_add(out, [e], own[1])

    pk.single(pk.PerThread(m), count)


@pk.workunit
def line(i, acc, final, a):
    acc += a[i]
    if final:
        a[i] = acc


space = pk.ExecutionSpace.Cuda
rng = np.random.default_rng(3)
a, x = rng.random((5, 300)), rng.random(300)
expected = (a * (2 * x)).sum()


def reduced(size, scratch=8 * 300):
    policy = pk.TeamPolicy(space, 5, size).set_scratch_size(0, pk.PerTeam(scratch))
    return pk.parallel_reduce(policy, dots, cols=300, a=cp.asarray(a), x=cp.asarray(x))


for size in (1, 2, 7, 32, 100, 256, pk.AUTO):
    print("dots:", size, np.isclose(reduced(size), expected))
print("large scratch:", np.isclose(reduced(64, 100_000), expected))
for size in (1, 3, 64):
    b, out = cp.asarray(a[:, :7]), cp.zeros(5, dtype=cp.int32)
    pk.parallel_for(pk.TeamPolicy(space, 5, size).set_scratch_size(0, pk.PerThread(8)), running, a=b, out=out)
    right = np.allclose(b.get(), a[:, :7].cumsum(axis=1)) and (out.get() == size * (size + 1) // 2).all()
    print("running:", size, right)
for n in (0, 1, 255, 256, 257, 100_000):
    c = cp.arange(n, dtype=cp.float64) + 1
    total = pk.parallel_scan(pk.RangePolicy(space, 0, n), line, a=c)
    print("scan:", n, bool((c.get() == (np.arange(n) + 1.0).cumsum()).all()), total == n * (n + 1) / 2)
for size, scratch in ((2, 80), (2, 10_000_000)):
    try:
        reduced(size, scratch)
    except pk.ArgumentError as error:
        print("refused:", error)
