import cupy as cp
import numpy as np
import pykokkos as pk

N = 1000


@pk.workunit
def shifted(i, j, a, b):
    b[i, j] = a[i, j] + 10 * i + j


@pk.workunit
def largest(i, acc: pk.Acc[pk.double], x):
    acc = max(acc, x[i])


@pk.workunit
def counted(i, x, bins, n):
    k: int = int(x[i]) % 4
    pk.atomic_add(bins, [k], 1)
    pk.atomic_fetch_max(n, [0], i)


@pk.workunit
def length(i, acc, x):
    acc += pk.sqrt(x[i]) * pk.sin(x[i])


space = pk.ExecutionSpace.Cuda
x = cp.arange(N, dtype=cp.float64)
a = cp.arange(12, dtype=cp.float32).reshape(3, 4)
b = cp.zeros((3, 4), dtype=cp.float32)
pk.parallel_for(pk.MDRangePolicy([1, 0], [3, 4], space=space), shifted, a=a.T.copy().T, b=b)
expected = a.get() + 10 * np.arange(3)[:, None] + np.arange(4)
expected[0] = 0
print("md:", bool((b.get() == expected).all()))
pk.set_default_space(space)
print("max:", pk.parallel_reduce(N, largest, x=x))
bins, n = cp.zeros(4, dtype=cp.int32), cp.zeros(1, dtype=cp.int64)
pk.parallel_for(N, counted, x=x, bins=bins, n=n)
print("atomics:", bins.get().tolist(), int(n[0]))
found = pk.parallel_reduce(pk.RangePolicy(space, 0, N), length, x=x)
print("sum:", abs(found - float((cp.sqrt(x) * cp.sin(x)).sum())) < 1e-9)
print("empty:", pk.parallel_reduce(0, length, x=x))
with cp.cuda.Stream(non_blocking=True):
    y = cp.full(N, 4.0)
    print("stream:", round(pk.parallel_reduce(N, length, x=y), 3))
for wrong in (
    lambda: pk.parallel_for(N, counted, x=np.zeros(N), bins=bins, n=n),
    lambda: pk.parallel_for(pk.RangePolicy(pk.OpenMP, 0, N), counted, x=x, bins=bins, n=n),
    lambda: pk.parallel_scan(pk.TeamPolicy(space, 4, 8), counted, x=x, bins=bins, n=n),
    lambda: pk.parallel_for(N, counted, x=cp.zeros(N, dtype=cp.complex128), bins=bins, n=n),
):
    try:
        wrong()
    except pk.MinikokkosError as error:
        print("refused:", error)
