"""Particle-in-cell step of a Boltzmann gas: free flight, counting by atomics, collisions in pairs, moments by teams.

`boltzmann.py [PARTICLES [STEPS [SPACE]]]`: particles of unit mass in a periodic line of 16 cells with
velocities in three dimensions. Particles of a cell collide in pairs that each keep momentum and energy, drawn
by numpy. Exit status 1 where a particle is lost or momentum, energy or the moments of the cells don't add up.
"""

import sys
from math import cos, floor, sin, sqrt

import numpy as np
import pykokkos as pk

CELLS, STEP, RATE, TOLERANCE = 16, 0.05, 0.5, 1e-10


@pk.workunit
def fly(i: int, dt: float, x: pk.View1D[pk.double], v: pk.View2D[pk.double]):
    moved: float = x[i] + dt * v[i][0]
    x[i] = moved - floor(moved)


@pk.workunit
def count(i: int, cells: int, x: pk.View1D[pk.double], where: pk.View1D[pk.int32], counts: pk.View1D[pk.int32]):
    cell: int = int(x[i] * cells)
    if cell > cells - 1:
        cell = cells - 1
    where[i] = cell
    pk.atomic_fetch_add(counts, [cell], 1)


@pk.workunit
def place(
    i: int, where: pk.View1D[pk.int32], starts: pk.View1D[pk.int32], used: pk.View1D[pk.int32],
    order: pk.View1D[pk.int32],
):  # fmt: skip
    cell: int = where[i]
    slot: int = pk.atomic_fetch_add(used, [cell], 1)
    order[starts[cell] + slot] = i


@pk.workunit
def collide(
    c: int, rate: float, starts: pk.View1D[pk.int32], counts: pk.View1D[pk.int32], order: pk.View1D[pk.int32],
    chance: pk.View2D[pk.double], v: pk.View2D[pk.double], collisions: pk.View1D[pk.int32],
):  # fmt: skip
    for k in range(counts[c] // 2):
        a: int = order[starts[c] + 2 * k]
        b: int = order[starts[c] + 2 * k + 1]
        if chance[a][0] < rate:
            dx: float = v[a][0] - v[b][0]
            dy: float = v[a][1] - v[b][1]
            dz: float = v[a][2] - v[b][2]
            speed: float = sqrt(dx * dx + dy * dy + dz * dz)
            up: float = 2.0 * chance[a][1] - 1.0
            side: float = sqrt(1.0 - up * up)
            turn: float = 6.283185307179586 * chance[a][2]
            hx: float = 0.5 * (speed * side * cos(turn) - dx)
            hy: float = 0.5 * (speed * side * sin(turn) - dy)
            hz: float = 0.5 * (speed * up - dz)
            v[a][0] += hx
            v[a][1] += hy
            v[a][2] += hz
            v[b][0] -= hx
            v[b][1] -= hy
            v[b][2] -= hz
            pk.atomic_fetch_add(collisions, [0], 1)


@pk.workunit
def moments(
    member: pk.TeamMember, acc: pk.Acc[pk.double], starts: pk.View1D[pk.int32], counts: pk.View1D[pk.int32],
    order: pk.View1D[pk.int32], v: pk.View2D[pk.double], momentum: pk.View1D[pk.double], energy: pk.View1D[pk.double],
):  # fmt: skip
    c: int = member.league_rank()
    pad: pk.ScratchView1D[float] = pk.ScratchView1D(member.team_scratch(0), 2)
    if member.team_rank() == 0:
        pad[0] = 0.0
        pad[1] = 0.0
        for k in range(counts[c]):
            i: int = order[starts[c] + k]
            pad[0] += v[i][0]
            pad[1] += 0.5 * (v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2])
    member.team_barrier()
    if member.team_rank() == 0:
        momentum[c] = pad[0]
        energy[c] = pad[1]
        acc += pad[1]


def main(particles=2000, steps=20, space="OpenMP"):
    rng = np.random.default_rng(11)
    x, v = rng.random(particles), rng.normal(0, 1, (particles, 3))
    before = v.sum(axis=0)
    energy_before = 0.5 * float((v * v).sum())
    where, order = np.zeros(particles, np.int32), np.zeros(particles, np.int32)
    starts, counts, used = (np.zeros(CELLS, np.int32) for _ in range(3))
    momentum, energy, collisions = np.zeros(CELLS), np.zeros(CELLS), np.zeros(1, np.int32)
    chosen = getattr(pk.ExecutionSpace, space)
    each, cells = pk.RangePolicy(chosen, 0, particles), pk.RangePolicy(chosen, 0, CELLS)
    teams = pk.TeamPolicy(chosen, CELLS, 1)
    teams.set_scratch_size(0, pk.PerTeam(pk.ScratchView1D[float].shmem_size(2)))
    for _ in range(steps):
        counts[:], used[:] = 0, 0
        pk.parallel_for(each, fly, dt=STEP, x=x, v=v)
        pk.parallel_for(each, count, cells=CELLS, x=x, where=where, counts=counts)
        starts[1:] = np.cumsum(counts)[:-1]
        pk.parallel_for(each, place, where=where, starts=starts, used=used, order=order)
        chance = rng.random((particles, 3))
        lists = {"starts": starts, "counts": counts, "order": order}
        pk.parallel_for(cells, collide, rate=RATE, chance=chance, v=v, collisions=collisions, **lists)
        total = pk.parallel_reduce(teams, moments, v=v, momentum=momentum, energy=energy, **lists)
    counted = int(counts.sum())
    shift = float(np.abs(v.sum(axis=0) - before).max()) / particles
    heat = abs(total - energy_before) / energy_before
    print(
        f"boltzmann particles {counted} steps {steps} collisions {collisions[0]} momentum {shift:.1e} energy {heat:.1e}"
    )
    if counted != particles or len(set(order.tolist())) != particles:
        sys.exit(f"The cells hold {counted} particles, {len(set(order.tolist()))} of them different, of {particles}.")
    if not shift <= TOLERANCE or not heat <= TOLERANCE:
        sys.exit(f"Collisions changed the momentum by {shift:.1e} a particle and the energy by {heat:.1e} of itself.")
    if (
        not abs(momentum.sum() - before[0]) <= TOLERANCE * particles
        or not abs(energy.sum() - total) <= TOLERANCE * total
    ):
        sys.exit("The moments of the cells don't add up to the momentum and the energy of all particles.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:4])
