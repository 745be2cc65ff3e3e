import cupy as cp
import numpy as np
import pykokkos as pk


@pk.workunit
def on_host(i, x):
    t = x[i] + 1.0
    x[i] = t


@pk.workunit
def on_device(i, x):
    t = x[i] + 2.0
    x[i] = t


h, d = np.zeros(2), cp.zeros(64)
for _ in range(2):
    pk.parallel_for(pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, 2), on_host, x=h)
    pk.parallel_for(pk.RangePolicy(pk.ExecutionSpace.Cuda, 0, 64), on_device, x=d)
print("mixed:", h.sum(), float(d.sum()))
