import cupy as cp
import pykokkos as pk


@pk.workunit
def twice(i, x):
    x[i] = 2.0 * x[i]


x = cp.ones(4_000_000)
pk.parallel_for(pk.RangePolicy(pk.ExecutionSpace.Cuda, 0, 4_000_000), twice, x=x)
print("sum", float(x.sum()))
