"""Views of a real Kokkos, in both of its implementations, read as the library itself says they are."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
LIBRARIES = os.environ.get("PK_KOKKOS_LIB_PATH", "")

pytestmark = [
    pytest.mark.pykokkos,
    pytest.mark.skipif(not LIBRARIES, reason="PK_KOKKOS_LIB_PATH names no Kokkos"),
    pytest.mark.timeout(300),
]

PROGRAM = r"""
#include <Kokkos_Core.hpp>
#include <cstdio>
using namespace Kokkos;
double memory[1 << 16];
template <class V> void say(const char* name, const V& v) {
  std::printf("{\"name\": \"%s\", \"address\": %lu, \"shape\": [", name, (unsigned long)v.data());
  for (int d = 0; d < int(V::rank); ++d) std::printf("%s%lu", d ? ", " : "", (unsigned long)v.extent(d));
  std::printf("], \"strides\": [");
  size_t strides[9];
  v.stride(strides);
  for (int d = 0; d < int(V::rank); ++d) {
    std::printf("%s%lu", d ? ", " : "", (unsigned long)(strides[d] * sizeof(typename V::value_type)));
  }
  std::printf("]}\n");
}
#define SAY(v) say(#v, v)
#define BOTH(rank, type, ...)                                             \
  View<type, LayoutRight, HostSpace> right##rank((double*)memory, __VA_ARGS__); \
  View<type, LayoutLeft, HostSpace> left##rank((double*)memory, __VA_ARGS__);   \
  SAY(right##rank); SAY(left##rank);
__attribute__((noinline)) void marker() { asm volatile(""); }
int main() {
  {
    BOTH(1, double*, 5)
    BOTH(2, double**, 5, 6)
    BOTH(3, double***, 2, 3, 4)
    BOTH(4, double****, 2, 3, 4, 5)
    BOTH(5, double*****, 2, 3, 4, 5, 2)
    BOTH(6, double******, 2, 3, 4, 5, 2, 3)
    BOTH(7, double*******, 2, 3, 4, 5, 2, 3, 2)
    BOTH(8, double********, 2, 3, 4, 5, 2, 3, 2, 3)
    View<double**[3], LayoutRight, HostSpace> fixed(memory, 4, 2); SAY(fixed);
    View<double[4][3], LayoutLeft, HostSpace> allfixed(memory); SAY(allfixed);
    View<double, HostSpace> zero(memory); SAY(zero);
    View<double**, LayoutStride, HostSpace> strided(memory, LayoutStride(3, 2, 4, 20)); SAY(strided);
    View<double**, LayoutRight, HostSpace, MemoryTraits<Atomic>> atomic(memory, 3, 4); SAY(atomic);
    View<const double**, LayoutRight, HostSpace, MemoryTraits<RandomAccess | Unmanaged>> constant(memory, 3, 4);
    SAY(constant);
    View<complex<double>*, HostSpace> wide((complex<double>*)memory, 7); SAY(wide);
    View<complex<float>**, LayoutLeft, HostSpace> narrow((complex<float>*)memory, 7, 2); SAY(narrow);
    View<bool*, HostSpace> flags((bool*)memory, 9); SAY(flags);
    View<signed char*, HostSpace> i1((signed char*)memory, 9); SAY(i1);
    View<uint16_t*, HostSpace> u2((uint16_t*)memory, 9); SAY(u2);
    View<int64_t*, HostSpace> i8((int64_t*)memory, 9); SAY(i8);
    View<double**, LayoutRight, HostSpace, MemoryTraits<Restrict | Aligned>> aligned(memory, 3, 4); SAY(aligned);
    auto row = subview(right2, 2, ALL); SAY(row);
    auto column = subview(right2, ALL, 3); SAY(column);
    auto part = subview(right3, 1, std::make_pair(1, 3), ALL); SAY(part);
    auto inner = subview(right3, ALL, std::make_pair(1, 3), std::make_pair(1, 3)); SAY(inner);
    auto leftpart = subview(left3, std::make_pair(0, 2), 1, ALL); SAY(leftpart);
    std::fflush(stdout);
    marker();
  }
}
"""

READ = """
import json, sys
sys.path.insert(0, ROOT)
import gdb
from pkdb_tui.engine.native import gdbside_values
frame = gdb.selected_frame().older()
frame.select()
for name in NAMES:
    print("READ " + json.dumps(gdbside_values.describe(name, frame.read_var(name), "local")))
"""

DTYPES = {
    "wide": "<c16", "narrow": "<c8", "flags": "|b1", "i1": "|i1", "u2": "<u2", "i8": "<i8",
}  # fmt: skip


@pytest.fixture(scope="module", params=["new", "legacy"])
def views(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What the library says of each view, and what the reader found."""
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "views.cpp").write_text(PROGRAM)
    libraries = Path(LIBRARIES)
    legacy = ["-DKOKKOS_ENABLE_IMPL_VIEW_LEGACY"] if request.param == "legacy" else []
    subprocess.run(
        ["g++", "-std=c++20", "-O0", "-g", "-w", "-fopenmp", *legacy, "-isystem", libraries.parent / "include",
         "views.cpp", "-o", "views", f"-L{libraries}", "-lkokkoscontainers", "-lkokkoscore", f"-Wl,-rpath,{libraries}"],
        cwd=folder, check=True,
    )  # fmt: skip
    given = f"ROOT = {str(ROOT)!r}\n"
    said = subprocess.run(["./views"], cwd=folder, capture_output=True, text=True, check=True).stdout
    names = [json.loads(line)["name"] for line in said.splitlines()]
    (folder / "read.py").write_text(given + f"NAMES = {names!r}\n" + READ)
    done = subprocess.run(
        ["gdb", "-nx", "-batch", "-ex", "set disable-randomization on", "-ex", "break marker", "-ex", "run",
         "-x", "read.py", "views"],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"name"')]
    read = [json.loads(line.removeprefix("READ ")) for line in done.stdout.splitlines() if line.startswith("READ ")]
    assert len(read) == len(told) == len(names), done.stdout + done.stderr
    return {"told": told, "read": read}


def test_every_view_lies_where_the_library_says(views: dict[str, list[dict[str, Any]]]) -> None:
    keys = ("name", "address", "shape", "strides")
    assert [{key: found.get(key, found.get("error")) for key in keys} for found in views["read"]] == views["told"]


def test_element_types_are_known(views: dict[str, list[dict[str, Any]]]) -> None:
    found = {view["name"]: view.get("dtype") for view in views["read"]}
    assert found == {name: DTYPES.get(name, "<f8") for name in found}
