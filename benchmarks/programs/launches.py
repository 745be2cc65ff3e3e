"""Launches a tiny kernel many times and writes the time of one launch to the file named by its argument.

The kernel `tiny_too` has the same parameters and does the same, so that one can run in the place of the other.
"""

import statistics
import sys
import time

import numpy as np
import pykokkos as pk

LAUNCHES = 2000


@pk.workunit
def tiny(i: int, v: pk.View1D[pk.double]):
    v[i] = v[i] + 1.0


@pk.workunit
def tiny_too(i: int, v: pk.View1D[pk.double]):
    v[i] = 1.0 + v[i]


def launch(policy, v, times):
    begin = time.perf_counter()
    for _ in range(times):
        pk.parallel_for(policy, tiny, v=v)
    return (time.perf_counter() - begin) / times


def main():
    v = np.zeros(64)
    policy = pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, 64)
    launch(policy, v, 20)
    # The median of batches: one thread late at the end of a region, on a busy machine, costs as much as many launches.
    seconds = statistics.median(launch(policy, v, 20) for _ in range(LAUNCHES // 20))
    assert v[0] == LAUNCHES + 20
    with open(sys.argv[1], "a") as file:
        file.write(f"{seconds}\n")


main()
