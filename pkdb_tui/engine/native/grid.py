"""A device's threads by number: block after block, in each thread after thread, the first dimension fastest."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from pkdb_tui.engine.native.base import Triple


class Grid(msgspec.Struct, frozen=True):
    """The shape of one launch: blocks in the grid, threads in a block."""

    blocks: Triple = (1, 1, 1)
    size: Triple = (1, 1, 1)

    @property
    def per_block(self) -> int:
        return self.size[0] * self.size[1] * self.size[2]

    @property
    def count(self) -> int:
        return self.blocks[0] * self.blocks[1] * self.blocks[2] * self.per_block

    def number(self, block: Triple, thread: Triple) -> int:
        return _linear(block, self.blocks) * self.per_block + _linear(thread, self.size)

    def place(self, number: int) -> tuple[Triple, Triple]:
        """(block, thread) of a number."""
        block, thread = divmod(number, self.per_block)
        return _spread(block, self.blocks), _spread(thread, self.size)

    def has(self, block: Triple, thread: Triple) -> bool:
        pairs = zip((*block, *thread), (*self.blocks, *self.size), strict=True)
        return all(0 <= at < extent for at, extent in pairs)


def _linear(at: Triple, shape: Triple) -> int:
    return (at[2] * shape[1] + at[1]) * shape[0] + at[0]


def _spread(number: int, shape: Triple) -> Triple:
    rest, x = divmod(number, shape[0])
    z, y = divmod(rest, shape[1])
    return x, y, z


def triple(text: str) -> Triple:
    """`(1,0,0)`, as cuda-gdb writes it. Raises ValueError."""
    found = [int(part) for part in re.findall(r"-?\d+", text)]
    if len(found) != 3:
        raise ValueError(f"{text} is not a place in a grid")
    return found[0], found[1], found[2]


def spoken(at: Triple, shape: Triple) -> str:
    """As short as the shape allows: `5`, or `(5,1,0)`."""
    return str(at[0]) if shape[1:] == (1, 1) else f"({at[0]},{at[1]},{at[2]})"


class Row(msgspec.Struct, frozen=True):
    """Threads `first` to `last` of the kernel in focus that stand at one address."""

    first: int
    last: int
    address: int
    file: str
    line: int

    @property
    def count(self) -> int:
        return self.last - self.first + 1


def rows_of(body: Mapping[str, Any], grid: Grid, kernel: str) -> list[Row]:
    """The rows of `-cuda-info-threads` that belong to a kernel, by their first threads."""
    table = body.get("CoalescedInfoCudaThreadsTable", {})
    found = []
    for entry in table.get("body", []):
        row = entry.get("CoalescedInfoCudaThreadsRow", entry)
        if kernel and row.get("kernel", kernel) != kernel:
            continue
        found.append(
            Row(
                first=grid.number(triple(row["from_blockIdx"]), triple(row["from_threadIdx"])),
                last=grid.number(triple(row["to_blockIdx"]), triple(row["to_threadIdx"])),
                address=int(row["virtual_pc"], 16),
                file=str(row.get("filename", "")),
                line=int(row.get("line", 0) or 0),
            )
        )
    return sorted(found, key=lambda row: row.first)


def outside(threads: Iterable[int], ranges: Sequence[tuple[int, int]]) -> int:
    """How many threads lie in none of these (disjoint) ranges."""
    ordered = sorted(ranges)
    firsts = [first for first, _ in ordered]
    total = 0
    for thread in threads:
        place = bisect.bisect(firsts, thread)
        total += place == 0 or ordered[place - 1][1] < thread
    return total
