"""Kernels for a device, as far as a machine without one can tell: their text, their messages, their cache."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pkdb_tui.minikokkos as pk
from pkdb_tui.minikokkos import build, cuda
from pkdb_tui.minikokkos.arguments import Layout, signature
from pkdb_tui.minikokkos.cpp_types import CType
from pkdb_tui.minikokkos.debug import Condition
from pkdb_tui.minikokkos.program import Program, definition

KERNELS = """@pk.function
def half(x: float) -> float:
    return x / 2

@pk.workunit
def work(i, x, y, s):
    t = 0.0
    for k in range(3):
        t += x[i, k] * s
    while t > 9:
        t -= 1
        continue
    pk.atomic_add(y, [0], half(t))
    pk.printf("%d\\n", i)
    pk.fence()
    x[i, 0] = max(t, pk.sqrt(2.0))

@pk.workunit
def total(i, acc, y):
    acc += y[i]

@pk.workunit
def least(i, j, acc: pk.Min[pk.float], x):
    acc = min(acc, x[i, j])

@pk.workunit
def running(i, acc, final, y):
    acc += y[i]
    if final:
        y[i] = acc

@pk.workunit
def dots(m: pk.TeamMember, acc: pk.Acc[pk.double], x: pk.View2D[pk.double]):
    s: pk.ScratchView1D[float] = pk.ScratchView1D(m.team_scratch(0), 3)
    own: pk.ScratchView1D[int] = pk.ScratchView1D(m.thread_scratch(0), 1)
    e: int = m.league_rank()
    own[0] = m.team_rank()

    def init(i: int):
        s[i] = x[e][i]

    pk.parallel_for(pk.TeamThreadRange(m, 3), init)
    m.team_barrier()

    def sums(i: int, part: pk.Acc[pk.double], final: bool):
        part += s[i]
        if final:
            x[e][i] = part

    def put(i: int, j: int):
        x[e][i] += j

    def once():
        nonlocal acc
        acc += own[0]

    total: float = pk.parallel_scan(pk.TeamThreadRange(m, 3), sums)
    most: float = pk.parallel_reduce(pk.ThreadVectorRange(m, 3), lambda i, part: part + s[i])
    pk.parallel_for(pk.TeamThreadMDRange(m, 3, 2), put)
    pk.single(pk.PerTeam(m), once)
    if m.team_rank() == 0:
        acc += total + most
"""
TYPES = {"x": CType("double", 2), "y": CType("double", 1), "s": CType("double")}


@pytest.fixture
def programs(load: Any) -> dict[str, Program]:
    module = load(KERNELS)
    file = definition(module.work).file
    conditions = [
        Condition(1, file, 12, "i == 3 and x[i, 5] // 2 > 1"),  # the line of `t += …`
        Condition(2, file, 11, "k == 1"),  # the line of the loop
        Condition(3, file, 12, "nowhere == 3"),
        Condition(4, file, 12, "k < 2"),
        Condition(5, file, 12, "k < 1"),
    ]
    return {
        "work": Program(definition(module.work), "for", "range", 1, TYPES, (), conditions, debug=True, device=True),
        "release": Program(definition(module.work), "for", "range", 1, TYPES, ("x",), device=True),
        "total": Program(definition(module.total), "reduce", "range", 1, {"y": TYPES["y"]}, device=True),
        "least": Program(definition(module.least), "reduce", "md", 2, {"x": CType("float", 2)}, device=True),
        "running": Program(definition(module.running), "scan", "range", 1, {"y": TYPES["y"]}, device=True),
        "teams": Program(definition(module.dots), "reduce", "team", 1, {"x": TYPES["x"]}, debug=True, device=True),
        "dots": Program(definition(module.dots), "reduce", "team", 1, {"x": TYPES["x"]}, device=True),
    }


def test_the_text_is_cuda_with_python_lines(programs: dict[str, Program]) -> None:
    program = programs["work"]
    file = program.kernel.file
    assert '#include "pk_device.hpp"' in program.source
    assert "__global__ void pk_kernel(const pk_Words pk_given)" in program.source
    assert f'#line 12 "{file}"\n' in program.source
    assert "omp" not in program.source
    assert program.placed == {1: (f"{file}#pkdb12", 12, "", 0), 4: (f"{file}#pkdb12", 12, "", 2)}
    places = [line.rpartition("#")[2] for line in program.source.splitlines() if "#pkdb" in line]
    assert places == ['pkdb12.0"', 'pkdb12.1"', 'pkdb12.4"', 'pkdb12.5"']
    assert "const int pk_met_12 = pk_at_12.outcome([&](pk::Condition& pk_condition) { return bool(" in program.source
    assert "pk::met(pk_condition, x, i, 5)" in program.source
    assert program.refused == {
        2: "a loop's line on a device",
        3: "nowhere is not defined in this kernel",
        5: "3 of a line is all that a device takes",
    }
    assert "struct pk_Words { int64_t w[14]; };" in program.source  # 3, the range, 5 of x, 3 of y, s
    assert "pk::join_block<double, pk::Sum, 256>(pk_sum, pk_parts);" in programs["total"].source
    assert "pk::join_block<float, pk::Min, 256>" in programs["least"].source
    assert "pk::Odometer<2> pk_at(pk_low, pk_high, pk_k);" in programs["least"].source


def _nvcc() -> str:
    try:
        return cuda.nvcc()
    except pk.CompileError:
        return ""


@pytest.mark.skipif(not _nvcc(), reason="no nvcc")
@pytest.mark.parametrize("name", ["work", "release", "total", "least", "running", "teams", "dots"])
def test_the_text_compiles(programs: dict[str, Program], name: str, tmp_path: Path) -> None:
    tools = build.device_toolchain("-arch=sm_90")
    flags = (*tools.debug, *build.BOUNDS) if name in ("work", "teams") else tools.release
    source = tmp_path / "kernel.cpp"
    source.write_text(programs[name].source)
    command = [cuda.nvcc(), *tools.common, *flags, "-c", f"-I{build.INCLUDE}", str(source), "-o", str(tmp_path / "k.o")]
    done = subprocess.run([word for word in command if word != "-shared"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not _nvcc() or not shutil.which("readelf"), reason="no nvcc, or no readelf")
def test_outcomes_of_conditions_and_their_statement_have_places(programs: dict[str, Program], tmp_path: Path) -> None:
    tools = build.device_toolchain("-arch=sm_90")
    source, made = tmp_path / "kernel.cpp", str(tmp_path / "kernel.cubin")
    source.write_text(programs["work"].source)
    flags = [word for word in (*tools.common, *tools.debug) if word != "-shared"]
    subprocess.run([cuda.nvcc(), *flags, "-cubin", f"-I{build.INCLUDE}", str(source), "-o", made], check=True)
    read = ["readelf", "--debug-dump=decodedline", "--wide", made]
    told = subprocess.run(read, capture_output=True, text=True, check=True).stdout
    name = Path(programs["work"].kernel.file).name
    rows = re.findall(rf"^{re.escape(name)}(\S*) +12 ", told, re.MULTILINE)
    assert rows == ["#pkdb12.0", "#pkdb12.1", "#pkdb12.4", "#pkdb12.5", ""]


def test_complex_numbers_are_refused_by_line(load: Any) -> None:
    module = load("@pk.workunit\ndef work(i, x):\n    x[i] = abs(complex(1.0, x[i]))\n")
    with pytest.raises(pk.CompileError, match="complex numbers, which kernels on Cuda don't support") as caught:
        Program(definition(module.work), "for", "range", 1, {"x": CType("double", 1)}, device=True)
    assert caught.value.line == 5


def test_longdouble_is_refused_by_line(load: Any) -> None:
    module = load("@pk.workunit\ndef work(i, x):\n    y: pk.longdouble = x[i]\n    x[i] = y\n")
    with pytest.raises(pk.CompileError, match=r"longdouble, which kernels on Cuda don't support") as caught:
        Program(definition(module.work), "for", "range", 1, {"x": CType("double", 1)}, device=True)
    assert caught.value.line == 5


@pytest.mark.skipif(not _nvcc(), reason="no nvcc")
@pytest.mark.parametrize("debug", [False, True])
def test_float16_compiles(load: Any, tmp_path: Path, debug: bool) -> None:
    module = load(
        "@pk.workunit\ndef work(i: int, acc: pk.Max[pk.float16], h):\n    x = h[i]\n    h[i] += x * 2\n"
        "    pk.atomic_add(h, [0], 1)\n    acc = max(acc, x)\n"
    )
    tools, kernel = build.device_toolchain("-arch=sm_90"), definition(module.work)
    conditions = [Condition(1, kernel.file, 7, "h[i] > 1")] if debug else []
    program = Program(
        kernel, "reduce", "range", 1, {"h": CType("pk::half", 1)}, (), conditions, debug=debug, device=True
    )
    assert not program.refused
    source = tmp_path / "kernel.cpp"
    source.write_text(program.source)
    flags = (*tools.debug, *build.BOUNDS) if debug else tools.release
    command = [cuda.nvcc(), *tools.common, *flags, "-c", f"-I{build.INCLUDE}", str(source), "-o", str(tmp_path / "k.o")]
    done = subprocess.run([word for word in command if word != "-shared"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def no_cupy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "cupy", None)
    cuda.cupy.cache_clear()
    yield
    cuda.cupy.cache_clear()


@pytest.mark.usefixtures("no_cupy")
def test_a_launch_without_cupy_says_what_to_install(load: Any) -> None:
    module = load("@pk.workunit\ndef work(i, x):\n    x[i] = i\n")
    with pytest.raises(pk.DeviceError, match=r"Kernels on Cuda need CuPy.*pip install cupy-cuda13x.*OpenMP"):
        pk.parallel_for(pk.RangePolicy(pk.Cuda, 0, 4), module.work, x=np.zeros(4))


class Array:
    """Takes the place of CuPy's arrays, which can't be made without a device: what one over a numpy array would say."""

    def __init__(self, host: np.ndarray[Any, Any], address: int = 4096) -> None:
        self.dtype, self.ndim, self.itemsize, self.strides = host.dtype, host.ndim, host.itemsize, host.strides
        self.flags, self.shape, self.size = host.flags, host.shape, host.size
        self.data = SimpleNamespace(ptr=address)


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """A CuPy that is only asked what is there."""
    runtime = SimpleNamespace(getDeviceCount=lambda: 1)
    made = ModuleType("cupy")
    found = SimpleNamespace(runtime=runtime, Device=lambda: SimpleNamespace(id=0, compute_capability="90"))
    made.ndarray, made.cuda = Array, found  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cupy", made)
    cuda.cupy.cache_clear()
    yield runtime
    cuda.cupy.cache_clear()


def test_a_launch_without_a_device_says_so(load: Any, device: SimpleNamespace) -> None:
    def none() -> int:
        raise RuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")

    device.getDeviceCount = none
    module = load("@pk.workunit\ndef work(i, x):\n    x[i] = i\n")
    with pytest.raises(pk.DeviceError, match=r"an NVIDIA device with its driver, and CUDA finds none.*NoDevice"):
        pk.parallel_for(pk.RangePolicy(pk.Cuda, 0, 4), module.work, x=np.zeros(4))


@pytest.mark.usefixtures("device")
def test_elements_at_odd_addresses_are_refused_after_a_launch_with_others(load: Any) -> None:
    """As their types are kept from launch to launch, those launches must not be told alike."""
    module = load("@pk.workunit\ndef work(i, x):\n    x[i] = i\n")
    good = Array(np.zeros(8)[::2])
    records = np.zeros(4, dtype=[("a", "u1"), ("x", "<f8")])
    between, shifted = Array(records["x"]), Array(np.zeros(8)[::2], address=4097)
    assert len({signature({"x": each}) for each in (good, between, shifted)}) == 3
    policy = pk.RangePolicy(pk.Cuda, 0, 4)
    assert Layout(definition(module.work), "for", policy, {"x": good}).types["x"].is_view
    for odd in (between, shifted):
        with pytest.raises(pk.ArgumentError, match=r"x is an array whose elements lie at odd addresses.*x\.copy\(\)"):
            Layout(definition(module.work), "for", policy, {"x": odd})


@pytest.mark.usefixtures("device")
def test_arrays_have_to_be_where_the_kernel_runs(load: Any) -> None:
    module = load("@pk.workunit\ndef work(i, x):\n    x[i] = i\n")
    with pytest.raises(pk.ArgumentError, match=r"x is a numpy array in the host's memory.*cupy\.asarray\(x\)"):
        pk.parallel_for(pk.RangePolicy(pk.Cuda, 0, 4), module.work, x=np.zeros(4))
    with pytest.raises(pk.ArgumentError, match="parallel_scan over a TeamPolicy can't run on Cuda"):
        pk.parallel_scan(pk.TeamPolicy(pk.Cuda, 4, 4), module.work, x=np.zeros(4))


def test_without_nvcc_a_kernel_says_where_it_is_looked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("NVCC", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    there = shutil.which("/usr/local/cuda/bin/nvcc")
    if there is None:
        with pytest.raises(pk.CompileError, match=r"No nvcc was found\. Kernels on Cuda are compiled with it"):
            cuda.nvcc()
    monkeypatch.setenv("NVCC", "/nowhere/nvcc")
    with pytest.raises(pk.CompileError, match="The CUDA compiler /nowhere/nvcc named by NVCC was not found"):
        cuda.nvcc()
    folder = tmp_path / "toolkit" / "bin"
    folder.mkdir(parents=True)
    (folder / "nvcc").write_text("#!/bin/sh\n")
    (folder / "nvcc").chmod(0o755)
    monkeypatch.delenv("NVCC")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "toolkit"))
    assert cuda.nvcc() == str(folder / "nvcc")


def test_a_build_is_kept_by_its_compilers_flags() -> None:
    source = 'extern "C" __attribute__((visibility("default"))) int pk_number() { return NUMBER; }'

    def number(value: int) -> tuple[str, int]:
        host = build.HOST
        tools = build.Toolchain(host.find, (*host.common, f"-DNUMBER={value}"), host.release, host.debug)
        made = build.build(source, tools.release, tools)
        return made.path, made.library.pk_number()

    one, two = number(1), number(2)
    assert (one[1], two[1]) == (1, 2)
    assert one[0] != two[0]
    assert number(1) == one


def test_errors_of_nvcc_name_the_python_line() -> None:
    error = build._explained('/some/rows.py(12): error: no operator "+" matches\n\n1 error detected', "/bin/nvcc")
    assert (error.file, error.line) == ("/some/rows.py", 12)
    assert error.message == 'nvcc refuses the kernel: no operator "+" matches'
