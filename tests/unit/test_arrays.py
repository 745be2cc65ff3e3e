"""Indexing of arrays in the program: numpy's results, from only the bytes needed."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import numpy as np
import pytest
from native_memory import Memory

from pkdb_tui.engine import arrays
from pkdb_tui.engine.errors import ExpressionError
from pkdb_tui.minikokkos.records import Record

DTYPES = ["<f8", "<f4", "<i4", "<i8", "<u2", "<u8", "?", "<c16", "<i1", "<f2", np.dtype("g").str, ">f8", ">c8", ">u2"]


def random_array(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """An array of 1 to 4 dimensions, often with steps, reversed or transposed."""
    shape = tuple(rng.integers(1, 7, size=rng.integers(1, 5)))
    dtype = np.dtype(DTYPES[rng.integers(len(DTYPES))])
    array = rng.integers(0, 100, size=tuple(n * 2 + 1 for n in shape)).astype(dtype)
    key = tuple(slice(None, 2 * n, int(rng.choice([1, 2]))) for n in shape)
    array = array[key][tuple(slice(None, None, int(rng.choice([1, -1]))) for _ in shape)]
    return array.transpose(rng.permutation(array.ndim)) if rng.random() < 0.5 else array


def random_key(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Any, ...]:
    key: list[Any] = []
    for size in shape[: rng.integers(0, len(shape) + 1)]:
        kind = rng.integers(6)
        if kind == 0:
            key.append(int(rng.integers(-size, size)))
        elif kind == 1:
            bounds = [None if rng.random() < 0.3 else int(rng.integers(-size - 2, size + 3)) for _ in range(2)]
            key.append(slice(*bounds, int(rng.choice([-3, -2, -1, 1, 2, 3]))))
        elif kind == 2:
            key.append(rng.integers(-size, size, size=3))
        elif kind == 3 and not any(isinstance(item, np.ndarray) for item in key):
            key.append(rng.random(size) < 0.5)
        else:
            key.append(slice(None))
    if rng.random() < 0.3:
        key.insert(int(rng.integers(len(key) + 1)), None)
    if rng.random() < 0.3 and len([k for k in key if k is not None]) < len(shape):
        key.append(Ellipsis)
    return tuple(key)


@pytest.mark.parametrize("seed", range(400))
def test_indexing_equals_numpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    array = random_array(rng)
    memory = Memory()
    view = arrays.from_variable(memory.place("a", array))
    key = random_key(rng, array.shape)
    try:
        expected = array[key]
    except IndexError:
        with pytest.raises(ExpressionError, match="shape mismatch"):
            arrays.index(view, key, 10_000)
        return
    found = arrays.index(view, key, 10_000)
    values = asyncio.run(arrays.fetch(found, view.dtype, memory.reader))
    assert values.shape == np.shape(expected)
    assert values.dtype == array.dtype
    np.testing.assert_array_equal(values, expected)
    needed = values.size * array.itemsize
    assert memory.read <= needed + arrays.GAP * max(values.size - 1, 0)


@pytest.mark.parametrize("seed", range(100))
def test_far_apart_elements_are_read_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    array = rng.random((int(rng.integers(2, 20)), 64))
    memory = Memory()
    view = arrays.from_variable(memory.place("a", array))
    column = int(rng.integers(64))
    found = arrays.index(view, (slice(None, None, int(rng.choice([1, -1, 2]))), column), 10_000)
    assert isinstance(found, arrays.ArrayView)
    values = asyncio.run(arrays.fetch(found, view.dtype, memory.reader))
    assert memory.read == values.nbytes
    assert memory.requests == 1


def test_a_contiguous_row_is_one_region() -> None:
    memory = Memory()
    view = arrays.from_variable(memory.place("a", np.arange(4096.0).reshape(64, 64)))
    found = arrays.index(view, (slice(3, 9), slice(None)), 10_000)
    values = asyncio.run(arrays.fetch(found, view.dtype, memory.reader))
    np.testing.assert_array_equal(values, np.arange(4096.0).reshape(64, 64)[3:9])
    assert memory.regions == [(view.address + 3 * 512, 6 * 512)]


def test_nothing_is_read_for_an_empty_slice_or_a_shape() -> None:
    memory = Memory()
    view = arrays.from_variable(memory.place("a", np.arange(10.0)))
    found = arrays.index(view, slice(8, 2), 10)
    assert isinstance(found, arrays.ArrayView)
    assert asyncio.run(arrays.fetch(found, view.dtype, memory.reader)).shape == (0,)
    assert memory.requests == 0


def test_a_broadcast_view_reads_its_element_once() -> None:
    memory = Memory()
    variable = memory.place("a", np.array([7.5]))
    view = arrays.ArrayView("a", np.dtype("<f8"), (1000, 3), (0, 0), variable.address)
    values = asyncio.run(arrays.fetch(view, view.dtype, memory.reader))
    assert memory.read == 8
    np.testing.assert_array_equal(values, np.full((1000, 3), 7.5))


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        (504, "`counter`: index 504 is out of bounds for axis 0 with size 504."),
        (-505, "`counter`: index -505 is out of bounds for axis 0 with size 504."),
        ((0, 1), "`counter`: too many indices for array: array is 1-dimensional, but 2 were indexed."),
        ([3, 900], "`counter`: index 900 is out of bounds for axis 0 with size 504."),
        ((..., ...), "`counter`: an index can only have a single ellipsis ('...')."),
        (slice(None, None, 0), "`counter`: slice step cannot be zero."),
        (True, "`counter` can't be indexed by True or False."),
    ],
)
def test_index_errors_name_array_index_and_extent(key: Any, sentence: str) -> None:
    view = arrays.from_variable(Memory().place("counter", np.zeros(504, dtype=np.int32)))
    with pytest.raises(ExpressionError) as caught:
        arrays.index(view, key, 1000)
    assert caught.value.title == sentence


def test_a_mask_of_another_length_is_refused_in_numpys_words() -> None:
    view = arrays.from_variable(Memory().place("x", np.zeros(4)))
    with pytest.raises(ExpressionError, match="size of axis is 4 but size of corresponding boolean axis is 3"):
        arrays.index(view, np.array([True, False, True]), 100)


@pytest.mark.parametrize("seed", range(100))
def test_stores_write_exactly_the_elements(seed: int) -> None:
    rng = np.random.default_rng(seed)
    array = random_array(rng)
    memory = Memory()
    view = arrays.from_variable(memory.place("a", array))
    key = random_key(rng, array.shape)
    try:
        shape = np.shape(array[key])
    except IndexError:
        return
    values = rng.integers(0, 100, size=shape).astype(array.dtype)
    expected = array.copy()
    expected[key] = values
    found = arrays.index(view, key, 10_000)
    addresses = found.addresses() if isinstance(found, arrays.ArrayView) else found

    async def write() -> Any:
        for address, data in arrays.stores(addresses, values):
            await memory.writer(address, data)
        return await arrays.fetch(view, view.dtype, memory.reader)

    np.testing.assert_array_equal(asyncio.run(write()), expected)


def test_fields_of_records_equal_numpy() -> None:
    point = np.dtype([("x", "f8"), ("y", ">i2")])
    dtype = np.dtype([("at", point), ("v", ">f4", (2, 3)), ("near", point, (2,)), ("n", "u1")])
    records = np.zeros((4, 3), dtype)
    records["v"] = np.arange(72).reshape(4, 3, 2, 3)
    records["near"]["y"] = np.arange(24).reshape(4, 3, 2)
    records["at"]["x"] = np.arange(12).reshape(4, 3) / 8
    part = records[::-2, 1:]
    memory = Memory()
    placed = memory.place("p", part)
    view = arrays.from_variable(msgspec.structs.replace(placed, dtype=Record(dtype, False).description))
    assert view.dtype == dtype
    deep = (1, "v", (slice(None), 0, 2))
    for keys in (("v",), ("v", (0, 1)), ("near", "y"), ("near", (1,), "x"), deep, ("at", "x")):
        found: Any = view
        expected: Any = part
        for key in keys:
            found, expected = arrays.item(found, key, 100), expected[key]
        fetched = asyncio.run(arrays.fetch(found, found.dtype, memory.reader))
        np.testing.assert_array_equal(fetched, expected)
        assert fetched.dtype == expected.dtype
    with pytest.raises(ExpressionError, match="`p`: no field of name z"):
        arrays.item(view, "z", 1)
