"""Small kernels compiled during the tests: each row is a Python line and, after `##`, the C++ generated for it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pkdb_tui.engine.protocol import KernelReady

INCLUDE = Path(__file__).parents[3] / "pkdb_tui" / "minikokkos" / "include"
GLUE = '#line 1 "pk_glue.cpp"'
FLAGS = ("-std=c++17", "-O0", "-g", "-fno-omit-frame-pointer", "-fopenmp", "-fPIC", "-shared", "-DPK_DEBUG", "-w")
LAUNCH = """
extern "C" __attribute__((visibility("default")))
double pk_launch(int pk_threads, int64_t pk_count, int64_t pk_size, double* pk_data) {
    const pk::View<double, 1> pk_a{pk_data, {pk_size}, {1}, "a"};
    double pk_total = 0;
    pk_failed = 0;
#pragma omp parallel num_threads(pk_threads)
    {
        pk::enter();
        double pk_sum = 0;
        const pk::Share pk_part(pk_count, omp_get_thread_num(), omp_get_num_threads());
        for (int64_t pk_k = pk_part.from; pk_k < pk_part.to; ++pk_k) pkk_test::pk_body(int32_t(pk_k), pk_sum, pk_a);
#pragma omp critical
        pk_total += pk_sum;
    }
    return pk_total;
}
"""
BODY = "PK_FUNCTION void pk_body(int32_t i, double& acc, pk::View<double, 1> a) {"


@dataclass(frozen=True)
class KernelProgram:
    """A compiled kernel, what a debuggee would report of it, and where its marked lines are."""

    ready: KernelReady
    script: str
    text: tuple[str, ...]

    def line(self, part: str) -> int:
        """The line whose Python text contains `part`; tests name lines by what they say."""
        found = [number for number, text in enumerate(self.text, 1) if part in text]
        assert len(found) == 1, f"{part!r} is on lines {found}"
        return found[0]


Compile = Callable[..., KernelProgram]


def compile_kernel(
    folder: Path, rows: str, *, flags: tuple[str, ...] = (), preamble: str = "", name: str = "kernel", glue: str = GLUE
) -> KernelProgram:
    """Write the script, generate its C++ and compile it as a debug build."""
    pairs = [tuple(part.rstrip() for part in row.partition("##")[::2]) for row in rows.strip("\n").split("\n")]
    script = folder / f"{name}.py"
    script.write_text("\n".join(python for python, _ in pairs) + "\n")
    source = folder / f"{name}.cpp"
    source.write_text(_generated(pairs, str(script), preamble, glue))
    binary = folder / f"{name}.so"
    command = ["g++", *FLAGS, *flags, f"-I{INCLUDE}", str(source), "-o", str(binary)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    lines = [number for number, row in enumerate(pairs, 1) if _has_code(row)]
    ready = KernelReady(
        launch=1,
        kernel="work",
        file=str(script),
        first_line=1,
        last_line=len(pairs),
        pattern="parallel_reduce",
        space="OpenMP",
        policy="RangePolicy(OpenMP, 0, 64)",
        framework="minikokkos",
        binary=str(binary),
        lines={str(script): lines},
        entry="pkk_test::pk_body",
        views="minikokkos",
        team="pk_team",
        bounds_symbol="pk_bounds_fault",
        index_names=["i"],
    )
    return KernelProgram(ready=ready, script=str(script), text=tuple(python for python, _ in pairs))


def _has_code(row: tuple[str, ...]) -> bool:
    python, generated = row[0].strip(), row[1].strip()
    return bool(python and generated) and not python.startswith(("def ", "@"))


def _generated(pairs: list[tuple[str, ...]], script: str, preamble: str, glue: str) -> str:
    parts = ['#include "pk_runtime.hpp"', preamble, "PK_DEFINE_GLOBALS", "namespace pkk_test {"]
    for number, row in enumerate(pairs, 1):
        if row[1].strip():
            parts += [f'#line {number} "{script}"' if _has_code(row) else glue, row[1]]
    return "\n".join([*parts, glue, "}", LAUNCH])
