"""A lens: an array of any size seen as a plane, of which only what is looked at is fetched."""

from __future__ import annotations

import asyncio
import copy
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkdb_tui.engine import expressions, formatting, slices
from pkdb_tui.engine.api import ArrayStatistics, Slice
from pkdb_tui.engine.errors import ExpressionError

Fetch = Callable[[str, int], Awaitable[Slice]]  # (expression, most elements)
Values = NDArray[Any]
FREE = re.compile(r"\$([A-Za-z_]\w*)")
WHOLE = 1 << 20  # elements of a plane that are fetched once and kept
BLOCK = 1 << 18  # elements fetched at a time to go through all of a larger one
SAMPLED = 64  # rows, and columns, of the sample of a larger one: gdb reads each element by itself
ACROSS = 10  # elements in a row of an array of one dimension
BINS = 16


@dataclass(frozen=True)
class Survey:
    """Statistics of a plane; `step` is (1, 1) where they are over all elements, else they are of every so many."""

    statistics: ArrayStatistics
    norm: float
    bins: tuple[int, ...]
    step: tuple[int, int]

    @property
    def text(self) -> str:
        """`min 0 max 9 · mean 4.5 · L2 16.8819 · 0 NaN 0 Inf · 1 zero · ▂▂▂▂`."""
        found, number = self.statistics, formatting.number
        parts = []
        if found.minimum is not None:
            parts.append(f"min {number(found.minimum)} max {number(found.maximum)}")
        if found.mean is not None:
            parts.append(f"mean {number(found.mean)}")
        zeros = f"{found.zero} zero{'s' if found.zero != 1 else ''}"
        if self.step == (1, 1):  # that of a sample would say nothing of the plane's
            parts.append(f"L2 {number(self.norm)}")
        parts += [f"{found.nan} NaN {found.inf} Inf", zeros]
        sampled = f"of a sample of {formatting.thousands(found.count)}: " if self.step != (1, 1) else ""
        return sampled + " · ".join(parts)


@dataclass(frozen=True)
class Plane:
    """Which elements rows and columns are: the last two axes, at `lead` of those before them."""

    shape: tuple[int, ...]
    lead: tuple[int, ...] = ()

    @property
    def flat(self) -> bool:
        """One axis, in rows of `ACROSS`."""
        return len(self.shape) == 1

    @property
    def rows(self) -> int:
        return -(-self.shape[0] // ACROSS) if self.flat else self.shape[-2]

    @property
    def columns(self) -> int:
        return min(ACROSS, self.shape[0]) if self.flat else self.shape[-1]

    @property
    def size(self) -> int:
        return self.shape[0] if self.flat else self.rows * self.columns

    def row_name(self, row: int) -> str:
        """The index that a row begins with."""
        return str(row * ACROSS if self.flat else row)

    def in_rows(self, values: Values) -> list[list[Any]]:
        """Elements that were fetched as they stand, the last row of one dimension maybe shorter."""
        if self.flat:
            return [list(values[at : at + ACROSS]) for at in range(0, len(values), ACROSS)]
        return [list(row) for row in values]

    def at(self, top: int, left: int, values: Values, position: int) -> tuple[int, int]:
        """(row, column) of one of the elements fetched from a row and column on, by its place among them."""
        row, column = divmod(position, ACROSS if self.flat else values.shape[1])
        return top + row, left + column

    def index(self, row: int, column: int) -> tuple[int, ...]:
        """The element's index in the array."""
        return (row * ACROSS + column,) if self.flat else (*self.lead, row, column)

    def place(self, index: tuple[int, ...]) -> tuple[int, int]:
        """(row, column) of an index. Raises ExpressionError for one outside."""
        wrapped = tuple(each + extent if each < 0 else each for each, extent in zip(index, self.shape, strict=False))
        if len(index) != len(self.shape) or not all(0 <= i < n for i, n in zip(wrapped, self.shape, strict=True)):
            inside = " × ".join(map(str, self.shape))
            raise ExpressionError(f"`{', '.join(map(str, index))}` is no index of {inside} elements.")
        return divmod(wrapped[0], ACROSS) if self.flat else (wrapped[-2], wrapped[-1])


class Lens:
    """One plane of an array at one stop."""

    def __init__(self, text: str, fetch: Fetch, head: Slice) -> None:
        self.text = text
        self.dtype = head.dtype
        self.layout = head.layout
        self.plane = Plane(head.shape, (0,) * (len(head.shape) - 2))
        self._expression = FREE.sub(":", text)
        self._fetch = fetch
        self._surveyed: Survey | None = None
        self._kept: Values | None = None  # all of the plane
        self._kept_all: Values | None = None  # all of the array, where it can be evaluated only once

    @classmethod
    async def open(cls, text: str, fetch: Fetch) -> Lens:
        """Raises ExpressionError for what is no array of numbers."""
        expression = FREE.sub(":", text)
        once = not _indexable(expression)
        head = await fetch(expression, WHOLE if once else ACROSS)
        if not head.shape:
            raise ExpressionError(f"`{text}` is one value, no array.", "`inspect` shows all there is of it.")
        if not head.total:
            raise ExpressionError(f"`{text}` has no elements.")
        lens = cls(text, fetch, head)
        listed = once or head.layout in ("list", "tuple", "range", "array", "computed")
        if listed:
            head = head if once else await fetch(expression, WHOLE)
            if head.truncated:
                raise ExpressionError(
                    f"`{text}` has {head.total:,} elements, and can only be fetched whole; at most {WHOLE:,} are.",
                    "Name an array, or a part of this.",
                )
            lens._kept_all = head.values.reshape(head.shape)
        return lens

    @property
    def planes(self) -> int:
        return math.prod(self.plane.shape[:-2])

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the free indices, as the expression has them."""
        return tuple(FREE.findall(self.text))

    @property
    def title(self) -> str:
        """`a  float64 4×64×1024  host, rows  [2, :, :]`."""
        plane = f"  [{', '.join([*map(str, self.plane.lead), ':', ':'])}]" if self.planes > 1 else ""
        return f"{self.text}  {self.dtype} {'×'.join(map(str, self.plane.shape))}  {self.layout}{plane}"

    def turned(self, step: int) -> Lens:
        """On another plane of an array of more than two dimensions; what is under way on this one stays on it."""
        outer = self.plane.shape[:-2]
        position = (int(np.ravel_multi_index(self.plane.lead, outer)) + step) % self.planes if outer else 0
        other = copy.copy(self)
        other.plane = Plane(self.plane.shape, tuple(map(int, np.unravel_index(position, outer))) if outer else ())
        other._kept = other._surveyed = None
        return other

    async def whole(self) -> Values | None:
        """All of the plane, rows by columns, or of one dimension; None where that is too much to keep."""
        if self._kept is None and self._kept_all is not None:
            self._kept = self._kept_all[self.plane.lead]
        if self._kept is None and self.plane.size <= WHOLE:
            self._kept = await self._part(self._box(slice(None), slice(None)), self.plane.size)
        return self._kept

    async def window(self, top: int, left: int, height: int, width: int) -> Values:
        """Elements as they are on screen; of one dimension as many as there are, else at most height by width."""
        bottom, right = min(top + height, self.plane.rows), min(left + width, self.plane.columns)
        whole = await self.whole()
        if whole is not None:
            return whole[top * ACROSS : bottom * ACROSS] if self.plane.flat else whole[top:bottom, left:right]
        most = (bottom - top) * (ACROSS if self.plane.flat else right - left)
        return await self._part(self._box(slice(top, bottom), slice(left, right)), most)

    async def blocks(self) -> AsyncIterator[tuple[int, int, Values]]:
        """(row, column, elements) of parts that together are all of the plane, in order."""
        plane = self.plane
        across = min(plane.columns, BLOCK)
        down = max(1, BLOCK // across)
        for top in range(0, plane.rows, down):
            for left in range(0, plane.columns, across):
                yield top, left, await self.window(top, left, down, across)

    async def survey(self) -> Survey:
        """Statistics over all elements of the plane, or of a sample of a large one; made once."""
        if self._surveyed is None:
            values = await self.whole()
            step = (1, 1)
            if values is None:
                values, step = await self.sample(SAMPLED, SAMPLED)
            self._surveyed = Survey(slices.statistics(values), _norm(values), _bins(values), step)
        return self._surveyed

    async def sample(self, rows: int, columns: int) -> tuple[Values, tuple[int, int]]:
        """(every so many elements, the steps), at most so many rows and columns, or rows × columns of one dimension."""
        plane = self.plane
        if plane.flat:
            step = -(-plane.size // (rows * columns))
            down, over = slice(None, None, step), slice(None)
            steps = (step, 1)
        else:
            steps = -(-plane.rows // rows), -(-plane.columns // columns)
            down, over = slice(None, None, steps[0]), slice(None, None, steps[1])
        whole = await self.whole()
        if whole is not None:
            return whole[down] if plane.flat else whole[down, over], steps
        box = f"[{_text(down)}]" if plane.flat else self._box(down, over)
        return await self._part(box, rows * columns), steps

    async def extreme(self, least: bool) -> tuple[int, int] | None:
        """(row, column) of the first least or greatest element, NaN left out; None where all are NaN."""
        best: Any = None
        place: tuple[int, int] | None = None
        async for top, left, values in self.blocks():
            if values.dtype.kind == "c":
                raise ExpressionError("Complex numbers have no order.")
            flat = values.ravel()
            present = np.flatnonzero(flat == flat)
            if not present.size:
                continue
            chosen = flat[present]
            at = int(present[np.argmin(chosen) if least else np.argmax(chosen)])
            if best is None or (flat[at] < best if least else flat[at] > best):
                best, place = flat[at], self.plane.at(top, left, values, at)
        return place

    async def next(self, condition: str, after: tuple[int, int]) -> tuple[int, int] | None:
        """(row, column) of the next element for which the condition on `v` holds, from the start behind the end.

        Raises ExpressionError for a condition that isn't one truth value per element.
        """
        first: tuple[int, int] | None = None
        async for top, left, values in self.blocks():
            for at in np.flatnonzero(await matches(condition, values)):
                place = self.plane.at(top, left, values, int(at))
                if place > after:
                    return place
                if first is None or place < first:
                    first = place
        return first

    def _box(self, rows: slice, columns: slice) -> str:
        if self.plane.flat:
            start, stop = (None if end is None else end * ACROSS for end in (rows.start, rows.stop))
            return f"[{_text(slice(start, stop))}]"
        return f"[{', '.join([*map(str, self.plane.lead), _text(rows), _text(columns)])}]"

    async def _part(self, box: str, most: int) -> Values:
        part = await self._fetch(f"({self._expression}){box}", most)
        if part.truncated:
            raise ExpressionError(f"`{self.text}` came back incomplete: {part.values.size} of {part.total} elements.")
        return np.asarray(part.values).reshape(part.shape)


async def matches(condition: str, values: Values) -> NDArray[np.bool_]:
    """For which of the elements, all in one row, the condition on `v` holds. Raises ExpressionError."""

    async def nothing(regions: Any) -> list[bytes]:
        raise ExpressionError("A condition on elements reads nothing of the program.")

    found = (await expressions.evaluate(condition, {}, nothing, constants={"v": values})).value
    holds = np.asarray(found)
    if holds.dtype.kind != "b" or holds.shape not in ((), values.shape):
        raise ExpressionError(f"`{condition}` is not true or false for each element.", "For example `abs(v) > 1e3`.")
    return np.broadcast_to(holds, values.shape).ravel()


def _indexable(expression: str) -> bool:
    """Whether a part of it can be asked for by itself: to evaluate a call again might change the program."""
    return "(" not in expression and not re.search(r"\bawait\b|:=|\bfor\b", expression)


def _text(part: slice) -> str:
    ends = ["" if end is None else str(end) for end in (part.start, part.stop)]
    return ":".join([*ends, str(part.step)] if part.step is not None else ends)


def _norm(values: Values) -> float:
    """The Euclidean norm, scaled so that squares neither overflow nor vanish; NaN where there is one."""
    magnitudes = np.abs(values.astype(np.result_type(values.dtype, np.float64)))
    top = magnitudes.max()
    if not 0 < top < math.inf:
        return float(top)
    norm: float = top * np.sqrt(np.sum((magnitudes / top) ** 2))
    return norm if magnitudes.dtype.char == "g" else float(norm)


def _bins(values: Values) -> tuple[int, ...]:
    """How many elements lie in each of `BINS` equal parts of their range; empty where that means nothing."""
    if values.dtype.kind == "c":
        return ()
    with np.errstate(over="ignore"):
        finite = values[np.isfinite(values)].astype(np.float64)
    if not finite.size:
        return ()
    low, high = float(np.min(finite)), float(np.max(finite))
    if low == high or not math.isfinite(high - low):
        return ()
    return tuple(int(count) for count in np.histogram(finite, BINS)[0])


async def save(lens: Lens, path: Path) -> int:
    """Write the plane to a new .npy or .csv file; returns the number of elements. Raises ExpressionError, OSError.

    The file comes into being whole or not at all.
    """
    plane = lens.plane
    if path.suffix not in (".npy", ".csv"):
        raise ExpressionError(f"`{path}` ends neither in .npy nor in .csv.", "The end says how it is written.")
    if await asyncio.to_thread(path.exists):
        raise ExpressionError(f"`{path}` is there already.", "Name a new file.")
    shape = (plane.size,) if plane.flat else (plane.rows, plane.columns)
    part = path.with_name(f".{path.name}.part")
    try:
        if path.suffix == ".npy":
            kept = np.lib.format.open_memmap(part, mode="w+", dtype=np.dtype(lens.dtype), shape=shape)
            async for top, left, values in lens.blocks():
                if plane.flat:
                    kept[top * ACROSS : top * ACROSS + len(values)] = values
                else:
                    kept[top : top + values.shape[0], left : left + values.shape[1]] = values
            kept.flush()
        else:
            await _save_text(lens, part)
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)
    return plane.size


async def _save_text(lens: Lens, path: Path) -> None:
    """Every digit that distinguishes an element, a row of the plane a line; of one dimension an element a line."""
    with path.open("w", encoding="utf-8") as out:
        async for _, left, values in lens.blocks():
            for row in values.reshape(-1, 1) if lens.plane.flat else values:
                # A row too long for one block goes on in the next.
                out.write("," if left else "")
                out.write(",".join(formatting.full(value) for value in row))
                out.write("\n" if lens.plane.flat or left + len(row) == lens.plane.columns else "")
