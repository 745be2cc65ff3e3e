"""A kernel frame's variables in Python terms, and the memory behind them."""

from __future__ import annotations

import math
import struct

import pytest
from debugged import Debugged
from kernel_programs import BODY, Compile, KernelProgram

from pkdb_tui.engine.errors import NativeError
from pkdb_tui.engine.native.base import StepKind


@pytest.fixture(scope="module")
def many(compiled: Compile) -> KernelProgram:
    return compiled(
        f"""
def work(i, acc, a):               ## {BODY}
    flag: bool = i == 0            ## bool flag = i == 0;
    tiny: int8 = -5                ## int8_t tiny = -5;
    byte: uint8 = 200              ## uint8_t byte = 200;
    big: int64 = -2**40            ## int64_t big = -(1LL << 40);
    huge: uint64 = 2**64 - 1       ## uint64_t huge = ~0ULL;
    half: float32 = 0.5            ## float half = 0.5f;
    nan: float = math.nan          ## double nan = std::nan("");
    inf: float = -math.inf         ## double inf = -HUGE_VAL;
    z: complex = 1 + 2j            ## std::complex<double> z(1, 2);
    g = a.grid()                   ## const pk::View<float, 2> g = pk_grid();
    v: int = 1                     ## int32_t v = 1;
    if v:                          ## if (v) {{
        w: float = 2.5             ## double v = 2.5;
        inner = w                  ## double inner = v;
                                   ## }}
    acc += i                       ## acc += i; double pk_hidden = 1; (void)pk_hidden;
                                   ## }}
""",
        flags=("-DPK_COMPLEX",),
        preamble="""
static float pk_cells[24];
inline pk::View<float, 2> pk_grid() {
    for (int k = 0; k < 24; ++k) pk_cells[k] = float(k);
    return pk::View<float, 2>{pk_cells + 2, {3, 4}, {1, 6}, "g"};
}
""",
    )


async def at_the_end(run: Debugged) -> None:
    await run.begin(run.at("acc += i"))
    await run.stop()


async def test_scalars_are_python_values(many: KernelProgram) -> None:
    async with Debugged(many, threads=1, count=1) as run:
        await at_the_end(run)
        values = await run.values(0)
        assert {
            name: (v.type, v.value) for name, v in values.items() if name in ("flag", "tiny", "byte", "i", "acc")
        } == {
            "i": ("int", 0),
            "acc": ("float", 0.0),
            "flag": ("bool", True),
            "tiny": ("int8", -5),
            "byte": ("uint8", 200),
        }
        assert (values["big"].type, values["big"].value) == ("int64", -(2**40))
        assert (values["huge"].type, values["huge"].value) == ("uint64", 2**64 - 1)
        assert (values["half"].type, values["half"].value) == ("float32", 0.5)
        assert values["flag"].value is True
        assert (values["nan"].type, type(values["nan"].value)) == ("float", float)
        assert math.isnan(values["nan"].value)
        assert (values["inf"].type, values["inf"].value) == ("float", -math.inf)
        assert (values["z"].type, values["z"].value) == ("complex", 1 + 2j)


async def test_arguments_come_first_and_the_runtimes_own_names_never(many: KernelProgram) -> None:
    async with Debugged(many, threads=1, count=1) as run:
        await at_the_end(run)
        frame = (await run.controller.frames(0))[0]
        listed = await run.controller.variables(0, frame.level)
        assert [v.name for v in listed if v.scope == "argument"] == ["i", "acc", "a"]
        assert [v.name for v in listed[:3]] == ["i", "acc", "a"]
        assert not [v.name for v in listed if v.name.startswith("pk_")]


async def test_views_are_descriptors_with_strides_in_bytes(many: KernelProgram) -> None:
    async with Debugged(many, threads=1, count=1) as run:
        await at_the_end(run)
        view = (await run.values(0))["g"]
        assert (view.dtype, view.shape, view.strides) == ("<f4", (3, 4), (4, 24))
        [data] = await run.controller.read_memory([(view.address, 4)])
        assert struct.unpack("<f", data) == (2.0,)
        vector = (await run.values(0))["a"]
        assert (vector.dtype, vector.shape, vector.strides) == ("<f8", (1,), (8,))


async def test_a_name_is_there_from_the_line_after_its_own(many: KernelProgram) -> None:
    async with Debugged(many, threads=1, count=1) as run:
        await run.begin(run.at("tiny: int8"))
        await run.stop()
        assert set(await run.values(0)) == {"i", "acc", "a", "flag"}
        await run.step(StepKind.NEXT, 0)
        assert set(await run.values(0)) == {"i", "acc", "a", "flag", "tiny"}


async def test_the_innermost_of_equal_names_counts(many: KernelProgram) -> None:
    async with Debugged(many, threads=1, count=1) as run:
        await run.begin(run.at("inner = w"), run.at("acc += i", 2))
        await run.stop()
        assert (await run.values(0))["v"].value == 2.5
        await run.controller.resume()
        await run.stop()
        assert (await run.values(0))["v"].value == 1


async def test_references_can_be_written_through(many: KernelProgram) -> None:
    async with Debugged(many, threads=1, count=1) as run:
        await at_the_end(run)
        acc = (await run.values(0))["acc"]
        assert acc.lvalue_address
        await run.controller.write_memory(acc.lvalue_address, struct.pack("<d", 41.0))
        assert (await run.values(0))["acc"].value == 41.0
        await run.controller.resume()
        assert (await run.end())["total"] == 41.0


async def test_an_unreadable_address_is_named(many: KernelProgram) -> None:
    async with Debugged(many, threads=1, count=1) as run:
        await at_the_end(run)
        with pytest.raises(NativeError, match="the memory at 0x10 can't be read"):
            await run.controller.read_memory([(16, 8)])
        with pytest.raises(NativeError, match="the memory at 0x10 can't be written"):
            await run.controller.write_memory(16, b"12345678")
        assert await run.controller.read_memory([]) == []


async def test_large_reads_come_whole(branch: KernelProgram) -> None:
    count = 40_000
    async with Debugged(branch, threads=1, count=1, data=[float(i) for i in range(count)]) as run:
        await run.begin(run.at("a[i] = value"))
        await run.stop()
        view = (await run.values(0))["a"]
        [data] = await run.controller.read_memory([(view.address, 8 * count)])
        assert struct.unpack(f"<{count}d", data) == tuple(float(i) for i in range(count))


async def test_many_threads_in_one_request(branch: KernelProgram) -> None:
    async with Debugged(branch, threads=16) as run:
        await run.begin(run.at("a[i] = value"))
        await run.stop()
        found = await run.controller.variables_of_threads(range(16), ["i", "value"])
        assert {thread: {v.name: v.value for v in row} for thread, row in found.items()} == {
            thread: {"i": 4 * thread, "value": float(4 * thread)} for thread in range(16)
        }


async def test_caller_frames_have_their_own_variables(calls: KernelProgram) -> None:
    async with Debugged(calls, threads=1, count=3) as run:
        await run.begin(run.at("return y"))
        await run.stop()
        frames = [f for f in await run.controller.frames(0) if not f.glue]
        assert [(f.function, f.line) for f in frames] == [
            ("half", calls.line("return y")),
            ("work", calls.line("total +=")),
        ]
        assert set(await run.values(0, frames[0].level)) == {"x", "y"}
        outer = await run.values(0, frames[1].level)
        assert (outer["k"].value, outer["total"].value) == (0, 0.0)


async def test_optimised_variables_say_so(compiled: Compile) -> None:
    program = compiled(
        f"""
def work(i, acc, a):               ## {BODY}
    gone: float = 3.0 * i          ## double gone = 3.0 * i;
    a[i] = 1.0                     ## a(i) = 1.0;
    acc += a[i]                    ## acc += a(i);
                                   ## }}
""",
        flags=("-O2",),
    )
    async with Debugged(program, threads=1, count=1) as run:
        await run.begin(run.at("acc += a[i]"))
        await run.stop()
        values = await run.values(0)
        assert values["gone"].error == "optimised out"
        assert values["gone"].value is None
