"""Energy of rock salt by an Ewald sum on a mesh: pairs, spreading with atomics, FFT, influence function, gathering.

`ewald.py [IONS [STEPS [SPACE]]]`: unit charges of alternating sign on a cubic lattice, IONS rounded to the cube of an
even number from 6 on, periodic. Steps move no ion; each computes the sum anew. Charges are spread by cubic B-splines.
Exit status 1 where the energy an ion differs from half of Madelung's constant, or the mesh doesn't hold the charge.
"""

import sys
from math import erfc, floor, sqrt

import numpy as np
import pykokkos as pk

MADELUNG = 1.7475645946  # of sodium chloride, by nearest distance
POINTS = 4  # of the mesh, between two neighbouring ions
TOLERANCE = 2e-4


@pk.workunit
def near(
    i: int, acc: pk.Acc[pk.double], n: int, box: float, cut: float, beta: float, x: pk.View2D[pk.double],
    q: pk.View1D[pk.double],
):  # fmt: skip
    for j in range(n):
        if j != i:
            dx: float = x[i][0] - x[j][0]
            dy: float = x[i][1] - x[j][1]
            dz: float = x[i][2] - x[j][2]
            dx = dx - box * floor(dx / box + 0.5)
            dy = dy - box * floor(dy / box + 0.5)
            dz = dz - box * floor(dz / box + 0.5)
            r: float = sqrt(dx * dx + dy * dy + dz * dz)
            if r < cut:
                acc += 0.5 * q[i] * q[j] * erfc(beta * r) / r


@pk.workunit
def weights(i: int, h: float, x: pk.View2D[pk.double], first: pk.View2D[pk.int32], w: pk.View3D[pk.double]):
    for d in range(3):
        at: float = x[i][d] / h
        low: float = floor(at)
        t: float = at - low
        first[i][d] = int(low) - 1
        w[i][d][0] = (1.0 - t) * (1.0 - t) * (1.0 - t) / 6.0
        w[i][d][1] = (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0
        w[i][d][2] = (1.0 + 3.0 * t + 3.0 * t * t - 3.0 * t * t * t) / 6.0
        w[i][d][3] = t * t * t / 6.0


@pk.workunit
def spread(
    i: int, m: int, first: pk.View2D[pk.int32], w: pk.View3D[pk.double], q: pk.View1D[pk.double],
    mesh: pk.View3D[pk.double],
):  # fmt: skip
    for a in range(4):
        for b in range(4):
            for c in range(4):
                ia: int = (first[i][0] + a + m) % m
                ib: int = (first[i][1] + b + m) % m
                ic: int = (first[i][2] + c + m) % m
                part: float = q[i] * w[i][0][a] * w[i][1][b] * w[i][2][c]
                pk.atomic_fetch_add(mesh, [ia, ib, ic], part)


@pk.workunit
def gather(
    i: int, acc: pk.Acc[pk.double], m: int, first: pk.View2D[pk.int32], w: pk.View3D[pk.double],
    q: pk.View1D[pk.double], mesh: pk.View3D[pk.double],
):  # fmt: skip
    for a in range(4):
        for b in range(4):
            for c in range(4):
                ia: int = (first[i][0] + a + m) % m
                ib: int = (first[i][1] + b + m) % m
                ic: int = (first[i][2] + c + m) % m
                acc += 0.5 * q[i] * w[i][0][a] * w[i][1][b] * w[i][2][c] * mesh[ia][ib][ic]


def influence(m, box, beta):
    """(m, m, m//2+1) factors from the mesh's charge to its potential, with the splines' own transform divided out."""
    k = 2 * np.pi * np.fft.fftfreq(m, 1 / m) / box
    spline = (2 + np.cos(k * box / m)) / 3  # transform of the cubic B-spline at the mesh's points
    half = m // 2 + 1
    k2 = k[:, None, None] ** 2 + k[None, :, None] ** 2 + k[None, None, :half] ** 2
    correction = spline[:, None, None] * spline[None, :, None] * spline[None, None, :half]
    k2[0, 0, 0] = 1.0
    factors = 4 * np.pi / k2 * np.exp(-k2 / (4 * beta * beta)) / correction**2 * (m / box) ** 3
    factors[0, 0, 0] = 0.0
    return factors


def main(ions=512, steps=5, space="OpenMP"):
    side = max(2 * round(ions ** (1 / 3) / 2), 6)
    ions, box, m = side**3, float(side), POINTS * side
    places = np.indices((side, side, side)).reshape(3, -1).T
    q = np.where(places.sum(axis=1) % 2, -1.0, 1.0)
    x = np.ascontiguousarray(places + 0.3)  # off the mesh's points, so that all weights count
    cut = box / 2
    beta = 3.0 / min(cut, 3.0)
    first, w = np.zeros((ions, 3), np.int32), np.zeros((ions, 3, 4))
    factors = influence(m, box, beta)
    policy = pk.RangePolicy(getattr(pk.ExecutionSpace, space), 0, ions)
    for _ in range(steps):
        short = pk.parallel_reduce(policy, near, n=ions, box=box, cut=cut, beta=beta, x=x, q=q)
        pk.parallel_for(policy, weights, h=box / m, x=x, first=first, w=w)
        mesh = np.zeros((m, m, m))
        pk.parallel_for(policy, spread, m=m, first=first, w=w, q=q, mesh=mesh)
        charge = float(abs(mesh.sum()))
        mesh = np.ascontiguousarray(np.fft.irfftn(np.fft.rfftn(mesh) * factors, s=(m, m, m), axes=(0, 1, 2)))
        far = pk.parallel_reduce(policy, gather, m=m, first=first, w=w, q=q, mesh=mesh)
        itself = beta / np.pi**0.5 * float((q * q).sum())
    madelung = -2 * (short + far - itself) / ions
    print(f"ewald ions {ions} steps {steps} madelung {madelung:.6f} error {abs(madelung - MADELUNG):.1e}")
    if not charge <= 1e-9 * ions:
        sys.exit(f"The mesh holds the charge {charge:.1e}, and the ions together have none.")
    if not abs(madelung - MADELUNG) <= TOLERANCE:
        sys.exit(f"Madelung's constant came out as {madelung:.6f}, not {MADELUNG}; at most {TOLERANCE} off is allowed.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:4])
