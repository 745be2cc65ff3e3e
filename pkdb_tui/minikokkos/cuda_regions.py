"""The CUDA C++ of a launch: a kernel that unpacks the arguments and calls the workunit once a thread, and its launch.

The words are those of `regions`, but for the third, which is the stream. Blocks have 256 threads in one dimension, so
that iteration `k` is thread `k % 256` of block `k // 256`; a multidimensional policy counts its last index fastest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkdb_tui.minikokkos.regions import REGIONS

if TYPE_CHECKING:
    from pkdb_tui.minikokkos.program import Program

BLOCK = 256
JOINS = {"sum": "pk::Sum", "min": "pk::Min", "max": "pk::Max"}


def source(program: Program, unpack: list[str], arguments: str) -> list[str]:
    """The lines behind the workunit."""
    policy = REGIONS.policy(program)
    parts = f", {program.accumulator.name}* pk_parts" if program.pattern == "reduce" else ""
    return [
        '#line 1 "pk_glue.cpp"',
        f"struct pk_Words {{ int64_t w[{_words(program)}]; }};",
        f"__global__ void pk_kernel(const pk_Words pk_given{parts}) {{",
        "    const int64_t* a = pk_given.w + 3;",
        *policy,
        *unpack,
        f"    const int64_t pk_k = int64_t(blockIdx.x) * {BLOCK} + threadIdx.x;",
        *_body(program, arguments),
        "}",
        *_preload(),
        *_launch(program, policy),
    ]


def _words(program: Program) -> int:
    count = 3 + 2 * program.rank
    for kind in program.arguments.values():
        count += 1 + 2 * kind.rank
    return count


def _body(program: Program, arguments: str) -> list[str]:
    kinds = [kind.name for kind in program.roles.indices.values()]
    if program.policy == "md":
        before = [f"    pk::Odometer<{program.rank}> pk_at(pk_low, pk_high, pk_k);"]
        indices = ", ".join(f"{kind}(pk_at[{d}])" for d, kind in enumerate(kinds))
    else:
        before, indices = [], f"{kinds[0]}(pk_begin + pk_k)"
    body = program.entry
    if program.pattern == "for":
        return [*before, f"    if (pk_k < pk_count) {body}({indices}{arguments});"]
    kind, join = program.accumulator.name, JOINS[program.accumulator.reduction]
    return [
        *before,
        f"    {kind} pk_sum = {join}::none<{kind}>();",
        f"    if (pk_k < pk_count) {body}({indices}, pk_sum{arguments});",
        f"    pk::join_block<{kind}, {join}>(pk_sum, pk_parts);",
    ]


def _preload() -> list[str]:
    """Have the device's code loaded, so that a debugger finds its lines before it runs."""
    return [
        'extern "C" __attribute__((visibility("default"))) void pk_preload() {',
        "    cudaFuncAttributes pk_found;",
        "    pk_failed = 0;",
        "    pk_well(cudaFuncGetAttributes(&pk_found, pk_kernel));",
        "}",
    ]


def _launch(program: Program, policy: list[str]) -> list[str]:
    lines = [
        'extern "C" __attribute__((visibility("default"))) void pk_launch(int64_t* pk_words) {',
        "    const int64_t* a = pk_words + 3;",
        "    const cudaStream_t pk_stream = reinterpret_cast<cudaStream_t>(pk_words[2]);",
        "    pk_failed = 0;",
        *policy,
        f"    const int64_t pk_blocks = (pk_count + {BLOCK - 1}) / {BLOCK};",
        "    pk_Words pk_given;",
        "    std::memcpy(&pk_given, pk_words, sizeof pk_given);",
    ]
    if program.pattern == "for":
        return [*lines, "    if (pk_count == 0) return;", *_run("")]
    kind, join = program.accumulator.name, JOINS[program.accumulator.reduction]
    return [
        *lines,
        f"    {kind} pk_total = {join}::none<{kind}>();",
        "    std::memcpy(pk_words, &pk_total, sizeof pk_total);",
        "    if (pk_count == 0) return;",
        f"    {kind}* pk_parts = nullptr;",
        f"    if (!pk_well(cudaMalloc(&pk_parts, pk_blocks * sizeof({kind})))) return;",
        *_run(", pk_parts")[:-1],
        f"    std::vector<{kind}> pk_all(pk_failed ? 0 : pk_blocks);",
        f"    if (!pk_all.empty()) pk_well(cudaMemcpy(pk_all.data(), pk_parts, pk_blocks * sizeof({kind}), "
        "cudaMemcpyDeviceToHost));",
        f"    for ({kind} pk_part : pk_all) pk_total = {join}::join<{kind}>(pk_total, pk_part);",
        "    std::memcpy(pk_words, &pk_total, sizeof pk_total);",
        "    cudaFree(pk_parts);",
        "}",
    ]


def _run(more: str) -> list[str]:
    return [
        f"    pk_kernel<<<unsigned(pk_blocks), {BLOCK}, 0, pk_stream>>>(pk_given{more});",
        "    if (pk_well(cudaGetLastError()) && !pk_well(cudaStreamSynchronize(pk_stream))) pk_await_debugger();",
        "#ifdef PK_BOUNDS",
        "    if (!pk_failed) pk_take_fault();",
        "#endif",
        "}",
    ]
