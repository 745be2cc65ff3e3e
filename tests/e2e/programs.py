"""Programs to debug, as text, and the lines in them that tests stop at."""

KERNEL = """\
import numpy as np
import pykokkos as pk


@pk.workunit
def scaled_sum(j: int, acc: pk.Acc[pk.double], width: int, v: pk.View1D[pk.double], a: pk.View2D[pk.double]):
    row: float = v[j] * a[j][0]
    acc += row * width


def run():
    v = np.arange(8.0)
    a = np.arange(32.0).reshape(8, 4)
    policy = pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, 8)
    total = pk.parallel_reduce(policy, scaled_sum, width=4, v=v, a=a)
    print("total is", total)
    return total


run()
print("all done")
"""
ROW_LINE = 7  # row: float = ...
SUM_LINE = 8  # acc += ...

ASKING = """\
name = input("who is there? ")
print("good day,", name)
"""

BUSY = """\
count = 0
while True:
    count += 1
"""
