"""The CUDA C++ of a launch: a kernel that unpacks the arguments and calls the workunit once a thread, and its launch.

The words are those of `regions`, but for the third, which is the stream. Blocks of ranges have 256 threads in one
dimension, so that iteration `k` is thread `k % 256` of block `k // 256`; a multidimensional policy counts its last
index fastest. A team is a block of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkdb_tui.minikokkos.regions import REGIONS

if TYPE_CHECKING:
    from pkdb_tui.minikokkos.program import Program

BLOCK = 256
JOINS = {"sum": "pk::Sum", "min": "pk::Min", "max": "pk::Max"}
MORE = {  # a kernel's parameters behind the words, the type of the result to be filled in
    "for": "",
    "reduce": ", {0}* pk_parts",
    "scan": ", {0}* pk_parts, {0}* pk_each, bool pk_last",
}


def source(program: Program, unpack: list[str], arguments: str) -> list[str]:
    """The lines behind the workunit."""
    more = MORE[program.pattern].format(program.accumulator.name)
    bounds = "__launch_bounds__(1024) " if program.policy == "team" else ""
    return [
        '#line 1 "pk_glue.cpp"',
        f"struct pk_Words {{ int64_t w[{_words(program)}]; }};",
        f"__global__ void {bounds}pk_kernel(const pk_Words pk_given{more}) {{",
        "    const int64_t* a = pk_given.w + 3;",
        *_policy(program),
        *unpack,
        *_body(program, arguments),
        "}",
        *_preload(),
        *_launch(program),
    ]


def _policy(program: Program) -> list[str]:
    if program.policy != "team":
        return REGIONS.policy(program)
    return ["    const int64_t pk_count = a[0], pk_size = a[1], pk_shared = a[2], pk_own = a[3];", "    a += 4;"]


def _words(program: Program) -> int:
    count = 3 + (4 if program.policy == "team" else 2 * program.rank)
    for kind in program.arguments.values():
        count += 1 + 2 * kind.rank
    return count


def _body(program: Program, arguments: str) -> list[str]:
    before, indices, condition = _indices(program)
    body, kind = program.entry, program.accumulator.name
    if program.pattern == "for":
        return [*before, f"    {condition}{body}({indices}{arguments});"]
    if program.pattern == "scan":
        return [
            *before,
            "    if (pk_last) {",
            "        if (pk_k >= pk_count) return;",
            f"        {kind} pk_sum = {kind}(pk_parts[blockIdx.x] + pk_each[pk_k]);",
            f"        {body}({indices}, pk_sum, true{arguments});",
            "        return;",
            "    }",
            f"    {kind} pk_sum = {kind}(0);",
            f"    {condition}{body}({indices}, pk_sum, false{arguments});",
            f"    pk::scan_block<{kind}, {BLOCK}>(pk_sum, pk_each, pk_parts);",
        ]
    join = JOINS[program.accumulator.reduction]
    most = 1024 if program.policy == "team" else BLOCK
    return [
        *before,
        f"    {kind} pk_sum = {join}::none<{kind}>();",
        f"    {condition}{body}({indices}, pk_sum{arguments});",
        f"    pk::join_block<{kind}, {join}, {most}>(pk_sum, pk_parts);",
    ]


def _indices(program: Program) -> tuple[list[str], str, str]:
    """What comes before the workunit's call, its first arguments, and on what it is called."""
    if program.policy == "team":
        return ["    pk::Team pk_team_member(pk_shared, pk_own);"], "pk_team_member", ""
    before = [f"    const int64_t pk_k = int64_t(blockIdx.x) * {BLOCK} + threadIdx.x;"]
    kinds = [kind.name for kind in program.roles.indices.values()]
    if program.policy == "md":
        before.append(f"    pk::Odometer<{program.rank}> pk_at(pk_low, pk_high, pk_k);")
        indices = ", ".join(f"{kind}(pk_at[{d}])" for d, kind in enumerate(kinds))
    else:
        indices = f"{kinds[0]}(pk_begin + pk_k)"
    return before, indices, "if (pk_k < pk_count) "


def _preload() -> list[str]:
    """Have the device's code loaded, so that a debugger finds its lines before it runs."""
    return [
        'extern "C" __attribute__((visibility("default"))) void pk_preload() {',
        "    cudaFuncAttributes pk_found;",
        "    pk_failed = 0;",
        "    pk_well(cudaFuncGetAttributes(&pk_found, pk_kernel));",
        "}",
    ]


def _launch(program: Program) -> list[str]:
    return [
        'extern "C" __attribute__((visibility("default"))) void pk_launch(int64_t* pk_words) {',
        "    const int64_t* a = pk_words + 3;",
        "    const cudaStream_t pk_stream = reinterpret_cast<cudaStream_t>(pk_words[2]);",
        "    pk_failed = 0;",
        *_policy(program),
        *_shape(program),
        "    pk_Words pk_given;",
        "    std::memcpy(&pk_given, pk_words, sizeof pk_given);",
        *{"for": _for, "reduce": _reduce, "scan": _scan}[program.pattern](program),
        *_take_fault(program),
        "}",
    ]


def _shape(program: Program) -> list[str]:
    if program.policy == "team":
        return [
            "    const int64_t pk_blocks = pk_count, pk_bytes = pk_shared + pk_own * pk_size;",
            "    if (!pk_room(reinterpret_cast<const void*>(pk_kernel), pk_size, pk_bytes)) return;",
        ]
    return [
        f"    const int64_t pk_blocks = (pk_count + {BLOCK - 1}) / {BLOCK}, pk_size = {BLOCK}, pk_bytes = 0;",
    ]


def _for(program: Program) -> list[str]:
    return ["    if (pk_count == 0) return;", *_run("")]


def _reduce(program: Program) -> list[str]:
    kind, join = program.accumulator.name, JOINS[program.accumulator.reduction]
    return [
        f"    {kind} pk_total = {join}::none<{kind}>();",
        "    std::memcpy(pk_words, &pk_total, sizeof pk_total);",
        "    if (pk_count == 0) return;",
        f"    {kind}* pk_parts = nullptr;",
        f"    if (!pk_well(cudaMalloc(&pk_parts, pk_blocks * sizeof({kind})))) return;",
        *_run(", pk_parts"),
        f"    std::vector<{kind}> pk_all(pk_failed ? 0 : pk_blocks);",
        *_copy("pk_all.data()", "pk_parts", kind, "DeviceToHost"),
        f"    for ({kind} pk_part : pk_all) pk_total = {join}::join<{kind}>(pk_total, pk_part);",
        "    std::memcpy(pk_words, &pk_total, sizeof pk_total);",
        "    cudaFree(pk_parts);",
    ]


def _scan(program: Program) -> list[str]:
    """Each thread's sum before it in its block, then the blocks' before each block, then the workunit with both."""
    kind = program.accumulator.name
    return [
        f"    {kind} pk_total = {kind}(0);",
        "    std::memcpy(pk_words, &pk_total, sizeof pk_total);",
        "    if (pk_count == 0) return;",
        f"    {kind}* pk_parts = nullptr;",
        f"    if (!pk_well(cudaMalloc(&pk_parts, pk_blocks * (1 + {BLOCK}) * sizeof({kind})))) return;",
        f"    {kind}* const pk_each = pk_parts + pk_blocks;",
        *_run(", pk_parts, pk_each, false"),
        f"    std::vector<{kind}> pk_all(pk_failed ? 0 : pk_blocks);",
        *_copy("pk_all.data()", "pk_parts", kind, "DeviceToHost"),
        f"    for ({kind}& pk_part : pk_all) {{",
        f"        const {kind} pk_before = pk_total;",
        f"        pk_total = {kind}(pk_total + pk_part);",
        "        pk_part = pk_before;",
        "    }",
        *_copy("pk_parts", "pk_all.data()", kind, "HostToDevice"),
        "    if (!pk_failed) {",
        *_run(", pk_parts, pk_each, true"),
        "    }",
        "    std::memcpy(pk_words, &pk_total, sizeof pk_total);",
        "    cudaFree(pk_parts);",
    ]


def _copy(to: str, of: str, kind: str, way: str) -> list[str]:
    # In the kernels' stream: one of a person's own may run on beside a copy in the default one.
    call = f"cudaMemcpyAsync({to}, {of}, pk_blocks * sizeof({kind}), cudaMemcpy{way}, pk_stream)"
    return [
        f"    if (!pk_all.empty() && !pk_failed && pk_well({call}))",
        "        pk_well(cudaStreamSynchronize(pk_stream));",
    ]


def _run(more: str) -> list[str]:
    return [
        f"    pk_kernel<<<unsigned(pk_blocks), unsigned(pk_size), size_t(pk_bytes), pk_stream>>>(pk_given{more});",
        "    if (pk_well(cudaGetLastError()) && !pk_well(cudaStreamSynchronize(pk_stream))) pk_await_debugger();",
    ]


def _take_fault(program: Program) -> list[str]:
    if program.policy == "team":  # also without checks of bounds: scratch may be too small
        return ["    if (!pk_failed) pk_take_fault();"]
    return ["#ifdef PK_BOUNDS", "    if (!pk_failed) pk_take_fault();", "#endif"]
