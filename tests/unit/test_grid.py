"""Numbers of a device's threads, and the ranges that cuda-gdb tells."""

from __future__ import annotations

import pytest

from pkdb_tui.commands.looking import device_thread
from pkdb_tui.engine.api import ThreadRange, ThreadState
from pkdb_tui.engine.errors import NativeError, NativeUnavailable, UsageError
from pkdb_tui.engine.kernel_side import stopped_threads
from pkdb_tui.engine.native.cuda import CudaController, with_absent
from pkdb_tui.engine.native.grid import Grid, outside, rows_of, spoken, triple
from pkdb_tui.engine.native.mi import parse_body

RECORD = (
    ',CoalescedInfoCudaThreadsTable={nr_rows="3",nr_cols="10",hdr=[{width="1",col_name="current",colhdr=" "}],'
    'body=[CoalescedInfoCudaThreadsRow={current="*",kernel="0",from_blockIdx="(0,0,0)",from_threadIdx="(0,0,0)",'
    'to_blockIdx="(1,0,0)",to_threadIdx="(143,0,0)",count="400",virtual_pc="0x00007fdd677a3710",'
    'filename="/x/prog.py",line="12"},CoalescedInfoCudaThreadsRow={current=" ",kernel="0",from_blockIdx="(1,0,0)",'
    'from_threadIdx="(144,0,0)",to_blockIdx="(1,0,0)",to_threadIdx="(159,0,0)",count="16",'
    'virtual_pc="0x00007fdd677a2600",filename="/x/pk_glue.cpp",line="5"},CoalescedInfoCudaThreadsRow={current=" ",'
    'kernel="1",from_blockIdx="(0,0,0)",from_threadIdx="(0,0,0)",to_blockIdx="(0,0,0)",to_threadIdx="(31,0,0)",'
    'count="32",virtual_pc="0x00007fdd677a2600",filename="/x/other.cpp",line="5"}]}'
)


@pytest.mark.parametrize("grid", [Grid((2, 1, 1), (256, 1, 1)), Grid((3, 4, 5), (2, 3, 4))])
def test_numbers_and_places_are_each_others_inverse(grid: Grid) -> None:
    seen = [grid.place(number) for number in range(grid.count)]
    assert [grid.number(block, thread) for block, thread in seen] == list(range(grid.count))
    assert all(grid.has(block, thread) for block, thread in seen)
    assert len(set(seen)) == grid.count


def test_the_first_dimension_is_the_fastest() -> None:
    grid = Grid((3, 4, 5), (2, 3, 4))
    assert grid.place(1) == ((0, 0, 0), (1, 0, 0))
    assert grid.place(2) == ((0, 0, 0), (0, 1, 0))
    assert grid.place(24) == ((1, 0, 0), (0, 0, 0))
    assert not grid.has((3, 0, 0), (0, 0, 0))
    assert (spoken((5, 0, 0), (256, 1, 1)), spoken((1, 2, 0), (2, 3, 4))) == ("5", "(1,2,0)")


def test_rows_are_those_of_the_kernel_that_is_stopped() -> None:
    rows = rows_of(parse_body(RECORD), Grid((2, 1, 1), (256, 1, 1)), "0")
    assert [(row.first, row.last, row.line) for row in rows] == [(0, 399, 12), (400, 415, 5)]
    assert rows[0].address == 0x7FDD677A3710


def test_threads_between_those_on_the_device_are_absent() -> None:
    there = [
        ThreadRange(first=first, last=last, state=ThreadState.STOPPED, file="x.py", line=3)
        for first, last in ((32, 63), (64, 65), (100, 100))
    ]
    found = list(with_absent(there, 200))
    gaps = [(part.first, part.last) for part in found if part.state is ThreadState.ABSENT]
    assert gaps == [(0, 31), (66, 99), (101, 199)]
    assert [part for part in found if part.state is not ThreadState.ABSENT] == there
    assert stopped_threads(found) == ([*range(32, 66), 100], [])
    assert list(with_absent(there[:1], 64)) == list(with_absent([], 32)) + there[:1]


def test_hits_are_counted_once() -> None:
    threads = [*range(400), *range(500, 510)]
    assert outside(threads, []) == 410
    assert outside(threads, [(390, 504), (0, 99)]) == 295
    assert outside(reversed(threads), [(0, 0), (509, 600)]) == 408


def test_a_place_that_is_none() -> None:
    with pytest.raises(ValueError, match="not a place in a grid"):
        triple("(1,2)")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("block 2 thread 5", ((2, 0, 0), (5, 0, 0))),
        ("block (1,2,3) thread (4,5)", ((1, 2, 3), (4, 5, 0))),
        ("thread 2 5", ((2, 0, 0), (5, 0, 0))),
        ("thread 5", (None, (5, 0, 0))),
        ("block 1", ((1, 0, 0), None)),
    ],
)
def test_the_command_names_a_block_and_a_thread(text: str, found: object) -> None:
    assert device_thread(text) == found


@pytest.mark.parametrize("text", ["", "nonsense", "thread x", "block 1 2", "thread (1,2,3,4)", "block 1 thread -1"])
def test_the_command_says_what_it_takes(text: str) -> None:
    with pytest.raises(UsageError):
        device_thread(text)


def test_threads_are_named_by_block_and_place() -> None:
    controller = CudaController(lambda event: None)
    controller.grid = Grid((2, 1, 1), (256, 1, 1))
    assert controller.name_of(263, 0) == "block 1 thread 7 of 512"
    assert controller.number_of(263, None, (9, 0, 0)) == 265
    assert controller.number_of(263, (0, 0, 0), None) == 7
    with pytest.raises(NativeError, match=r"There is no thread 0 in block 2\. The grid is 2 × 1 × 1"):
        controller.number_of(0, (2, 0, 0), (0, 0, 0))


async def test_without_cuda_gdb_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    controller = CudaController(lambda event: None, gdb="/nowhere/cuda-gdb")
    with pytest.raises(NativeUnavailable, match=r"/nowhere/cuda-gdb is not there.*the CUDA toolkit.*--cuda-gdb"):
        await controller.attach(1)
    assert not controller.attached
