"""One kernel to stop in again and again; every turn of its loop has a line of its own."""

import numpy as np
import pykokkos as pk


@pk.workunit
def climb(i: int, v: pk.View1D[pk.double], turns: int):
    total: float = 0
    for turn in range(turns):
        step: float = turn * 0.5
        total += step
        total += v[i]
    v[i] = total


def main():
    v = np.arange(64.0)
    pk.parallel_for(pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, 64), climb, v=v, turns=1000)
    print("sum", float(v.sum()))


main()
