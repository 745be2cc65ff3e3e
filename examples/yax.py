"""y^T A x, twice: smoothed and weighted rows on OpenMP threads, a reduction over them, and the same with numpy.

Good places for a breakpoint: `weight` (called by every row), the inner loop of `row_products`, the reduction, and
`main`, where the arrays are still numpy's own.
"""

import sys

import numpy as np
import pykokkos as pk

ROWS, COLS = 64, 512
CUTOFF = 0.25


@pk.function
def weight(value: float, limit: float) -> float:
    if value < limit:
        return 0.5 * value
    return value


@pk.workunit
def row_products(
    j: int, cols: int, limit: float, x: pk.View1D[pk.double], a: pk.View2D[pk.double], rows: pk.View1D[pk.double]
):
    total: float = 0
    for i in range(cols):
        product: float = a[j][i] * x[i]
        total += weight(product, limit)
    rows[j] = total


@pk.workunit
def weighted_sum(j: int, acc: pk.Acc[pk.double], y: pk.View1D[pk.double], rows: pk.View1D[pk.double]):
    part: float = y[j] * rows[j]
    acc += part


def with_numpy(y, a, x):
    products = a * x
    return float(y @ np.where(products < CUTOFF, 0.5 * products, products).sum(axis=1))


def main(rows_count=ROWS):
    rng = np.random.default_rng(42)
    y, x = rng.random(rows_count), rng.random(COLS)
    a = rng.random((rows_count, COLS))
    rows = np.zeros(rows_count)
    policy = pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, rows_count)
    pk.parallel_for(policy, row_products, cols=COLS, limit=CUTOFF, x=x, a=a, rows=rows)
    result = pk.parallel_reduce(policy, weighted_sum, y=y, rows=rows)
    expected = with_numpy(y, a, x)
    print(f"kernels {result:.6f}  numpy {expected:.6f}")
    return 0 if abs(result - expected) < 1e-6 * abs(expected) else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS))
