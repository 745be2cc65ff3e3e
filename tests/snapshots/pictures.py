"""The programs of the pictures, and when a picture can be taken."""

from __future__ import annotations

import asyncio

from textual.pilot import Pilot

PROGRAM = '''"""A reduction and a step over an array: the program of the pictures."""
import numpy as np
import pykokkos as pk

ROWS, COLS = 16, 64


@pk.workunit
def yax(j: int, acc: pk.Acc[pk.double], cols: int, y: pk.View1D[float], x: pk.View1D[float], a: pk.View2D[float]):
    row_sum: float = 0
    for i in range(cols):
        row_sum += a[j][i] * x[i]
    acc += y[j] * row_sum


def run(space=pk.ExecutionSpace.OpenMP):
    y = np.linspace(1.0, 2.0, ROWS)
    x = np.linspace(0.0, 1.0, COLS)
    a = np.outer(y, x)
    policy = pk.RangePolicy(space, 0, ROWS)
    result = pk.parallel_reduce(policy, yax, cols=COLS, y=y, x=x, a=a)
    print("kernel", round(result, 6), "numpy", round(float(y @ a @ x), 6))
    return {}["missing"]


if __name__ == "__main__":
    run()
'''


HARD = '''"""Values that are hard to show."""
import numpy as np
import pykokkos as pk


@pk.workunit
def accumulate_the_weighted_contributions(particle: int, weights_of_all_particles: pk.View1D[pk.double], scale: float):
    contribution_before_normalisation: float = weights_of_all_particles[particle] * scale
    weights_of_all_particles[particle] = contribution_before_normalisation / 3.0


def describe(量=3):
    huge = 7 ** 120
    nested = [[1, 2, [3, 4, {"k": (5, 6)}]], ["a" * 30, "b"]]
    text = "a long text with 日本語の文字 and a tab\\t" * 5
    nan, tiny, third, turn = float("nan"), 1e-300, 1 / 3, complex(1 / 3, -2)
    温度 = 21.53
    weights = np.linspace(0, 1, 64)
    weights[5] = np.nan
    big = np.zeros((1000, 1000))
    policy = pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, 64)
    pk.parallel_for(policy, accumulate_the_weighted_contributions, weights_of_all_particles=weights, scale=1.1)
    third += 1e-9
    raise ValueError("the matrix is singular to working precision: its 3rd pivot is 1.2e-17, below 1e-12")


describe()
'''


async def at_rest(pilot: Pilot[int], patience: float = 20.0) -> None:
    """Until the screen has shown all it was told: messages lead to further ones, and those to a new layout."""
    async with asyncio.timeout(patience):
        before = ""
        while before != (before := pilot.app.export_screenshot()):
            await pilot.pause(0.1)
