"""Counts particles in the cells of a box; one of them lies exactly on the upper face."""

import sys

import numpy as np
import pykokkos as pk

SHAPE = (9, 8, 7)
PARTICLES = 64


@pk.function
def cell_of(px: float, py: float, pz: float, nx: int, ny: int, nz: int) -> int:
    cx: int = px * nx
    cy: int = py * ny
    cz: int = pz * nz
    return (cz * ny + cy) * nx + cx


@pk.workunit
def count_cells(i: int, counter: pk.View1D[pk.int32], p: pk.View2D[pk.double], nx: int, ny: int, nz: int):
    cell: int = cell_of(p[i][0], p[i][1], p[i][2], nx, ny, nz)
    pk.atomic_increment(counter, [cell])


def main():
    nx, ny, nz = SHAPE
    p = np.random.default_rng(1).random((PARTICLES, 3)) * 0.999
    p[17] = (0.0, 0.0, 1.0)
    counter = np.zeros(nx * ny * nz, dtype=np.int32)
    policy = pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, PARTICLES)
    pk.parallel_for(policy, count_cells, counter=counter, p=p, nx=nx, ny=ny, nz=nz)
    counted = int(counter.sum())
    print("counted", counted, "of", PARTICLES)
    return 0 if counted == PARTICLES else 1


if __name__ == "__main__":
    sys.exit(main())
