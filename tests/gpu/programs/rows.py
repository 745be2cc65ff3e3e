import cupy as cp
import pykokkos as pk


@pk.function
def scaled(x: float, k: int) -> float:
    y: float = x * k
    return y + 1.0


@pk.workunit
def rows(j, A_view, alpha):
    temp2 = 0.0
    for i in range(4):
        temp2 += A_view[j, i] * alpha
    temp2 = scaled(temp2, j)
    A_view[j, 0] = temp2


@pk.workunit
def total(i, acc, A_view):
    acc += A_view[i, 0]


def main():
    A = cp.arange(400 * 8, dtype=cp.float64).reshape(400, 8)
    policy = pk.RangePolicy(pk.ExecutionSpace.Cuda, 0, 400)
    pk.parallel_for(policy, rows, A_view=A, alpha=0.5)
    print("row 3:", float(A[3, 0]))
    print("total:", pk.parallel_reduce(policy, total, A_view=A))
    pk.parallel_for(policy, rows, A_view=A[:, ::2], alpha=0.25)
    print("row 9:", round(float(A[9, 0]), 6))


main()
