"""Lenses over arrays: what is fetched, found and saved is what numpy says of the whole array."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pkdb_tui.engine import lens, slices
from pkdb_tui.engine.api import Slice
from pkdb_tui.engine.errors import ExpressionError
from pkdb_tui.engine.lens import Lens


class Program:
    """Evaluates what a lens asks for, and counts the elements it hands out."""

    def __init__(self, **names: Any) -> None:
        self._names = {**names, "np": np}
        self.elements = 0
        self.asked: list[str] = []

    async def fetch(self, expression: str, most: int) -> Slice:
        value = np.asarray(eval(expression, {}, self._names))
        part = value[tuple(slice(0, n) for n in slices.leading_shape(value.shape, most))]
        self.elements += part.size
        self.asked.append(expression)
        return slices.build(expression, part, value.shape, "host", value.size)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds so low that arrays of a test are large ones."""
    monkeypatch.setattr(lens, "WHOLE", 100)
    monkeypatch.setattr(lens, "BLOCK", 40)
    monkeypatch.setattr(lens, "SAMPLED", 4)


@pytest.mark.parametrize("shape", [(7,), (1001,), (30, 50), (3, 200), (200, 3), (4, 5, 30, 9), (1, 1), (0, 3)])
@pytest.mark.usefixtures("small")
async def test_all_that_is_found_in_parts_is_what_numpy_finds_in_the_whole(shape: tuple[int, ...]) -> None:
    a = np.random.default_rng(3).normal(size=shape)
    program = Program(a=a)
    if not a.size:
        with pytest.raises(ExpressionError, match="no elements"):
            await Lens.open("a", program.fetch)
        return
    opened = await Lens.open("a", program.fetch)
    for _ in range(min(opened.planes, 3)):
        plane = a[opened.plane.lead]
        least, greatest = await opened.extreme(True), await opened.extreme(False)
        assert least is not None
        assert greatest is not None
        assert a[opened.plane.index(*least)] == plane.min()
        assert a[opened.plane.index(*greatest)] == plane.max()
        place, found = (-1, -1), []
        while (following := await opened.next("v > 0.5", place)) is not None and following > place:
            place = following
            found.append(a[opened.plane.index(*place)])
        assert found == list(plane[plane > 0.5])
        opened = opened.turned(1)


@pytest.mark.usefixtures("small")
async def test_of_a_large_array_only_a_sample_and_what_is_on_screen_is_fetched() -> None:
    program = Program(a=np.arange(10_000_000.0).reshape(10_000, 1000))
    opened = await Lens.open("a", program.fetch)
    found = await opened.survey()
    assert found.step == (2500, 250)
    assert found.statistics.count == 16
    assert (await opened.window(9998, 990, 10, 4)).tolist() == [
        [9998990 + i for i in range(4)],
        [9999990 + i for i in range(4)],
    ]
    assert program.elements < 50
    assert "of a sample of 16" in found.text


async def test_a_small_array_is_fetched_once() -> None:
    program = Program(a=np.arange(20.0).reshape(4, 5))
    opened = await Lens.open("a", program.fetch)
    assert (await opened.survey()).step == (1, 1)
    await opened.extreme(True)
    assert (await opened.window(1, 1, 2, 2)).tolist() == [[6, 7], [11, 12]]
    assert len(program.asked) == 2


@pytest.mark.usefixtures("small")
async def test_what_is_under_way_on_a_plane_stays_on_it() -> None:
    a = np.arange(240.0).reshape(2, 30, 4)
    opened = await Lens.open("a", Program(a=a).fetch)
    other, parts = opened, []
    async for _, _, values in opened.blocks():
        other = opened.turned(1)
        await other.window(0, 0, 1, 1)
        parts.append(values)
    assert len(parts) == 3
    assert np.array_equal(np.concatenate(parts), a[0])
    assert (await other.survey()).statistics.maximum > 120
    assert (await opened.survey()).statistics.minimum == 0
    assert opened.turned(2).plane == opened.plane


async def test_what_may_change_the_program_is_evaluated_once() -> None:
    calls = []
    program = Program(f=lambda: calls.append(1) or np.arange(30))
    opened = await Lens.open("f()", program.fetch)
    await opened.survey()
    await opened.extreme(False)
    assert calls == [1]


async def test_free_indices_have_names() -> None:
    program = Program(a=np.arange(24).reshape(2, 3, 4))
    opened = await Lens.open("a[$i, 1, $k]", program.fetch)
    assert (opened.labels, opened.plane.shape) == (("i", "k"), (2, 4))
    assert (await opened.window(0, 0, 9, 9)).tolist() == [[4, 5, 6, 7], [16, 17, 18, 19]]


@pytest.mark.parametrize(
    ("values", "norm", "nan", "bins"),
    [
        ([3.0, 4.0], 5.0, 0, 16),
        ([3e300, 4e300], 5e300, 0, 16),
        ([3e-320, 4e-320], 5e-320, 0, 16),
        ([float("nan"), 1.0], float("nan"), 1, 0),
        ([float("-inf"), 1.0], float("inf"), 0, 0),
        ([0.0, 0.0], 0.0, 0, 0),
        ([-1e308, 1e308], 2**0.5 * 1e308, 0, 0),
    ],
)
async def test_statistics(values: list[float], norm: float, nan: int, bins: int) -> None:
    opened = await Lens.open("a", Program(a=np.array(values)).fetch)
    found = await opened.survey()
    assert found.norm == pytest.approx(norm, nan_ok=True, rel=1e-3)
    assert found.statistics.nan == nan
    assert len(found.bins) == bins
    assert not bins or sum(found.bins) == len(values)


@pytest.mark.parametrize("condition", ["v", "1", "w > 1", "v >", "v[0] > 1", "open('x')"])
async def test_what_is_no_condition_is_refused(condition: str) -> None:
    opened = await Lens.open("a", Program(a=np.arange(9.0).reshape(3, 3)).fetch)
    if condition == "v[0] > 1":
        condition = "v[0] + v[1]"
    with pytest.raises(ExpressionError):
        await opened.next(condition, (0, 0))


@pytest.mark.parametrize("shape", [(1001,), (30, 50), (4, 300), (300, 4)])
@pytest.mark.parametrize("end", [".npy", ".csv"])
@pytest.mark.usefixtures("small")
async def test_what_is_saved_is_what_was_there(tmp_path: Path, shape: tuple[int, ...], end: str) -> None:
    a = np.random.default_rng(4).normal(size=shape)
    opened = await Lens.open("a", Program(a=a).fetch)
    path = tmp_path / f"saved{end}"
    assert await lens.save(opened, path) == a.size
    back = np.load(path) if end == ".npy" else np.loadtxt(path, delimiter=",")
    assert back.tobytes() == a.tobytes()
    with pytest.raises(ExpressionError, match="there already"):
        await lens.save(opened, path)
    assert list(tmp_path.iterdir()) == [path]


async def test_nothing_is_left_of_a_file_that_could_not_be_written(tmp_path: Path) -> None:
    opened = await Lens.open("a", Program(a=np.arange(9.0)).fetch)
    with pytest.raises(ExpressionError, match="neither"):
        await lens.save(opened, tmp_path / "saved.txt")
    with pytest.raises(OSError):
        await lens.save(opened, tmp_path / "nowhere" / "saved.npy")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("index", "place"), [((7,), (0, 7)), ((-1,), (100, 0)), ((95,), (9, 5))])
async def test_an_index_has_its_place(index: tuple[int, ...], place: tuple[int, int]) -> None:
    opened = await Lens.open("a", Program(a=np.arange(1001)).fetch)
    assert opened.plane.place(index) == place
    with pytest.raises(ExpressionError, match="no index of 1001"):
        opened.plane.place((1001,))
