"""Lennard-Jones atoms at constant energy: neighbour lists, velocity Verlet, energies by reduction.

`molecular_dynamics.py [ATOMS [STEPS [SPACE]]]` in reduced units, ATOMS rounded to four times a cube: density 0.8,
temperature 0.7, cutoff 2.5 (half the box in a small one), potential and force shifted to zero there. Exit status 1
where the total energy drifts or the momentum isn't kept.
"""

import sys
from math import floor, sqrt

import numpy as np
import pykokkos as pk

DENSITY, TEMPERATURE, CUTOFF, SKIN, STEP = 0.8, 0.7, 2.5, 0.4, 0.002
NEIGHBOURS = 192  # a sphere of the list's radius holds about 82 at this density
REBUILD = 10
DRIFT = 5e-4  # of the energy of an atom, in well depths
MOMENTUM = 1e-9


@pk.workunit
def find_neighbours(
    i: int, n: int, most: int, box: float, reach2: float,
    x: pk.View2D[pk.double], counts: pk.View1D[pk.int32], lists: pk.View2D[pk.int32],
):  # fmt: skip
    found: int = 0
    for j in range(n):
        if j != i:
            dx: float = x[i][0] - x[j][0]
            dy: float = x[i][1] - x[j][1]
            dz: float = x[i][2] - x[j][2]
            dx = dx - box * floor(dx / box + 0.5)
            dy = dy - box * floor(dy / box + 0.5)
            dz = dz - box * floor(dz / box + 0.5)
            if dx * dx + dy * dy + dz * dz < reach2:
                if found < most:
                    lists[i][found] = j
                found += 1
    counts[i] = found


@pk.workunit
def forces(
    i: int, box: float, cut2: float, slope: float, x: pk.View2D[pk.double], f: pk.View2D[pk.double],
    counts: pk.View1D[pk.int32], lists: pk.View2D[pk.int32],
):  # fmt: skip
    fx: float = 0.0
    fy: float = 0.0
    fz: float = 0.0
    for k in range(counts[i]):
        j: int = lists[i][k]
        dx: float = x[i][0] - x[j][0]
        dy: float = x[i][1] - x[j][1]
        dz: float = x[i][2] - x[j][2]
        dx = dx - box * floor(dx / box + 0.5)
        dy = dy - box * floor(dy / box + 0.5)
        dz = dz - box * floor(dz / box + 0.5)
        r2: float = dx * dx + dy * dy + dz * dz
        if r2 < cut2:
            s2: float = 1.0 / r2
            s6: float = s2 * s2 * s2
            pull: float = 48.0 * s6 * (s6 - 0.5) * s2 - slope / sqrt(r2)
            fx += pull * dx
            fy += pull * dy
            fz += pull * dz
    f[i][0] = fx
    f[i][1] = fy
    f[i][2] = fz


@pk.workunit
def kick_and_drift(
    i: int, dt: float, box: float, x: pk.View2D[pk.double], v: pk.View2D[pk.double], f: pk.View2D[pk.double]
):
    for d in range(3):
        v[i][d] += 0.5 * dt * f[i][d]
        moved: float = x[i][d] + dt * v[i][d]
        x[i][d] = moved - box * floor(moved / box)


@pk.workunit
def kick(i: int, dt: float, v: pk.View2D[pk.double], f: pk.View2D[pk.double]):
    for d in range(3):
        v[i][d] += 0.5 * dt * f[i][d]


@pk.workunit
def kinetic(i: int, acc: pk.Acc[pk.double], v: pk.View2D[pk.double]):
    acc += 0.5 * (v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2])


@pk.workunit
def potential(
    i: int, acc: pk.Acc[pk.double], box: float, cut: float, shift: float, slope: float,
    x: pk.View2D[pk.double], counts: pk.View1D[pk.int32], lists: pk.View2D[pk.int32],
):  # fmt: skip
    for k in range(counts[i]):
        j: int = lists[i][k]
        dx: float = x[i][0] - x[j][0]
        dy: float = x[i][1] - x[j][1]
        dz: float = x[i][2] - x[j][2]
        dx = dx - box * floor(dx / box + 0.5)
        dy = dy - box * floor(dy / box + 0.5)
        dz = dz - box * floor(dz / box + 0.5)
        r2: float = dx * dx + dy * dy + dz * dz
        if r2 < cut * cut:
            s6: float = 1.0 / (r2 * r2 * r2)
            acc += 0.5 * (4.0 * s6 * (s6 - 1.0) - shift + slope * (sqrt(r2) - cut))


def lattice(side, box):
    """(4 * side**3, 3) positions on a face-centred cubic lattice that fills the box."""
    cells = np.indices((side, side, side)).reshape(3, -1).T
    corners = np.array([(0, 0, 0), (0.5, 0.5, 0), (0.5, 0, 0.5), (0, 0.5, 0.5)])
    return np.ascontiguousarray((cells[:, None] + corners + 0.25).reshape(-1, 3) * (box / side))


def main(atoms=256, steps=50, space="OpenMP"):
    side = max(round((atoms / 4) ** (1 / 3)), 2)
    atoms = 4 * side**3
    box = float((atoms / DENSITY) ** (1 / 3))
    cut = min(CUTOFF, 0.5 * box)
    reach2 = (cut + SKIN) ** 2
    s6 = cut**-6
    shift, slope = 4 * s6 * (s6 - 1), 48 * s6 * (s6 - 0.5) / cut  # potential and force at the cutoff
    rng = np.random.default_rng(7)
    x = lattice(side, box)
    v = rng.normal(0, TEMPERATURE**0.5, (atoms, 3))
    v -= v.mean(axis=0)
    f = np.zeros((atoms, 3))
    counts, lists = np.zeros(atoms, np.int32), np.zeros((atoms, NEIGHBOURS), np.int32)
    policy = pk.RangePolicy(getattr(pk.ExecutionSpace, space), 0, atoms)

    def rebuild():
        pk.parallel_for(
            policy, find_neighbours, n=atoms, most=NEIGHBOURS, box=box, reach2=reach2, x=x, counts=counts, lists=lists
        )
        if counts.max() > NEIGHBOURS:
            sys.exit(f"An atom has {counts.max()} neighbours, and its list holds {NEIGHBOURS}; raise NEIGHBOURS.")

    def energy():
        moving = pk.parallel_reduce(policy, kinetic, v=v)
        args = {"box": box, "cut": cut, "shift": shift, "slope": slope, "x": x, "counts": counts, "lists": lists}
        return (moving + pk.parallel_reduce(policy, potential, **args)) / atoms

    rebuild()
    args = {"box": box, "cut2": cut * cut, "slope": slope, "x": x, "f": f, "counts": counts, "lists": lists}
    pk.parallel_for(policy, forces, **args)
    first = energy()
    worst = 0.0
    for step in range(1, steps + 1):
        pk.parallel_for(policy, kick_and_drift, dt=STEP, box=box, x=x, v=v, f=f)
        if step % REBUILD == 0:
            rebuild()
        pk.parallel_for(policy, forces, **args)
        pk.parallel_for(policy, kick, dt=STEP, v=v, f=f)
        worst = max(worst, abs(energy() - first))
    momentum = float(np.abs(v.sum(axis=0)).max())
    print(f"md atoms {atoms} steps {steps} energy {first:.6f} drift {worst:.1e} momentum {momentum:.1e}")
    if not worst <= DRIFT:
        sys.exit(f"The energy of an atom drifts by {worst:.1e} from {first:.6f}; at most {DRIFT:.0e} is allowed.")
    if not momentum <= MOMENTUM * atoms:
        sys.exit(f"The total momentum is {momentum:.1e} after {steps} steps, and it should stay 0.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:4])
