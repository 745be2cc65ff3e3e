"""Sums the rows of a matrix by teams of threads, of which each keeps a buffer in the team's scratch memory."""

import sys

import numpy as np
import pykokkos as pk

ROWS, COLUMNS = 6, 1024
PIECE = 128  # values in the buffer of a thread
BUFFER = PIECE * 8  # bytes of it
SCRATCH = 2048  # bytes of scratch memory of a team


@pk.workunit
def row_sums(m: pk.TeamMember, piece: int, tiles: int, a: pk.View2D[pk.double], sums: pk.View1D[pk.double]):
    row: int = m.league_rank()
    pad: pk.ScratchView1D[float] = pk.ScratchView1D(m.team_scratch(0), m.team_size() * piece)
    mine: int = m.team_rank() * piece
    part: float = 0
    for tile in range(m.team_rank(), tiles, m.team_size()):
        for k in range(piece):
            pad[mine + k] = a[row][tile * piece + k]
        for k in range(piece):
            part += pad[mine + k]
    pk.atomic_add(sums, [row], part)


def bytes_of(values: int) -> int:
    return values * np.dtype(float).itemsize


def team_policy():
    need = bytes_of(BUFFER)
    threads = SCRATCH // need
    policy = pk.TeamPolicy(pk.ExecutionSpace.OpenMP, ROWS, threads)
    policy.set_scratch_size(0, pk.PerTeam(SCRATCH))
    return policy


def main():
    a = np.arange(float(ROWS * COLUMNS)).reshape(ROWS, COLUMNS)
    sums = np.zeros(ROWS)
    pk.parallel_for(team_policy(), row_sums, piece=PIECE, tiles=COLUMNS // PIECE, a=a, sums=sums)
    right = int((sums == a.sum(axis=1)).sum())
    print("right sums:", right, "of", ROWS)
    return 0 if right == ROWS else 1


if __name__ == "__main__":
    sys.exit(main())
