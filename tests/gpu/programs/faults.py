import sys

import cupy as cp
import pykokkos as pk


@pk.workunit
def beyond(j, C):
    t: pk.int64 = j + 60
    C[t] = 1.0


@pk.workunit
def far(j, C):
    t: pk.int64 = j * 1000000000
    C[t] = 1.0


@pk.workunit
def spin(j, B, n):
    acc = 0.0
    for i in range(n):
        acc += B[j] * 0.5 + i * 0.0
    B[j] = acc


policy = pk.RangePolicy(pk.ExecutionSpace.Cuda, 0, 64)
match sys.argv[1]:
    case "beyond":
        pk.parallel_for(policy, beyond, C=cp.ones(64))
    case "far":
        pk.parallel_for(policy, far, C=cp.ones(64))
    case "after":
        pk.parallel_for(policy, spin, B=cp.ones(64), n=1)
        pk.parallel_for(policy, far, C=cp.ones(64))
    case "spin":
        B = cp.ones(64)
        pk.parallel_for(policy, spin, B=B, n=int(sys.argv[2]))
        print("spun", float(B[0]))
