"""A debug build whose inner line is reached a million times; writes how long the launch took."""

import sys
import time

import numpy as np
import pykokkos as pk

ROWS, TURNS = 1000, int(sys.argv[2])


@pk.workunit
def count(i: int, v: pk.View1D[pk.double], turns: int):
    if turns < 0:
        v[i] = -1.0
    for _turn in range(turns):
        v[i] += 1.0


def main():
    v = np.zeros(ROWS)
    begin = time.perf_counter()
    pk.parallel_for(pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, ROWS), count, v=v, turns=TURNS)
    seconds = time.perf_counter() - begin
    assert v.sum() == ROWS * TURNS
    with open(sys.argv[1], "a") as file:
        file.write(f"{seconds}\n")


main()
