"""The C++ entry of a launch: unpacks the arguments and runs the workunit over the policy with OpenMP threads.

The arguments are an array of 64-bit words: two for the result, the number of threads (0: OpenMP's own choice), the
policy (range: begin, end; md: all begins, all ends; team: league size, team size, scratch per team and per thread),
then for each argument a scalar's bits, or a view's address, extents and byte strides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pkdb_tui.minikokkos.program import Program

_HEAD = """#line 1 "pk_glue.cpp"
extern "C" __attribute__((visibility("default"))) void pk_launch(int64_t* pk_words) {
    const int64_t* a = pk_words + 2;
    const int64_t pk_wanted = *a++;
    int pk_threads = pk_wanted ? int(pk_wanted) : omp_get_max_threads();
    if (pk_threads > 1024) pk_threads = 1024;
    pk_failed = 0;"""


class Regions:
    """Writes the entry for each pattern and policy."""

    def source(self, program: Program, unpack: list[str], arguments: str) -> list[str]:
        body = getattr(self, f"_{program.policy}")(program, arguments)
        return [*_HEAD.splitlines(), *self.policy(program), *unpack, *body, "}"]

    def policy(self, program: Program) -> list[str]:
        """What unpacks the policy's words from `a`."""
        lines: list[str] = getattr(self, f"_{program.policy}_policy")(program)
        return lines

    # --- policies ---

    def _range_policy(self, program: Program) -> list[str]:
        return ["    const int64_t pk_begin = a[0], pk_count = a[1] > a[0] ? a[1] - a[0] : 0;", "    a += 2;"]

    def _md_policy(self, program: Program) -> list[str]:
        rank = program.rank
        return [
            f"    const int64_t *pk_low = a, *pk_high = a + {rank};",
            "    int64_t pk_count = 1;",
            f"    for (int d = 0; d < {rank}; ++d) pk_count *= pk_high[d] > pk_low[d] ? pk_high[d] - pk_low[d] : 0;",
            f"    a += {2 * rank};",
        ]

    def _team_policy(self, program: Program) -> list[str]:
        return [
            "    const int64_t pk_count = a[0], pk_size = a[1], pk_shared = a[2], pk_own = a[3];",
            "    a += 4;",
            "    const int pk_groups = pk_threads > pk_size ? int(pk_threads / pk_size) : 1;",
            "    pk_threads = int(pk_groups * pk_size);",
            "    pk::Groups pk_all(pk_groups, pk_shared + pk_own * pk_size);",
        ]

    # --- bodies ---

    def _range(self, program: Program, arguments: str) -> list[str]:
        index = next(iter(program.roles.indices.values())).name
        return self._shared(program, self._range_loop(f"{index}(pk_begin + pk_k)", arguments))

    def _range_loop(self, index: str, arguments: str) -> str:
        call = self._call(index, arguments)
        return f"for (int64_t pk_k = pk_part.from; pk_k < pk_part.to; ++pk_k) {call}"

    def _md(self, program: Program, arguments: str) -> list[str]:
        kinds = [kind.name for kind in program.roles.indices.values()]
        indices = ", ".join(f"{kind}(pk_at[{d}])" for d, kind in enumerate(kinds))
        loop = (
            f"pk::Odometer<{program.rank}> pk_at(pk_low, pk_high, pk_part.from); "
            f"for (int64_t pk_k = pk_part.from; pk_k < pk_part.to; ++pk_k, pk_at.next()) "
            f"{self._call(indices, arguments)}"
        )
        return self._shared(program, loop)

    @staticmethod
    def _call(index: str, arguments: str) -> str:
        return f"pk_body({index}PK_EXTRA{arguments});"

    def _shared(self, program: Program, loop: str) -> list[str]:
        loop = loop.replace("pk_body(", f"pkk_{_name(program)}::pk_body(")
        method = getattr(self, f"_{program.pattern}")
        lines: list[str] = method(program, loop)
        return lines

    def _for(self, program: Program, loop: str) -> list[str]:
        return [
            *_open(),
            "        const pk::Share pk_part(pk_count, omp_get_thread_num(), omp_get_num_threads());",
            f"        {loop.replace('PK_EXTRA', '')}",
            "    }",
        ]

    def _reduce(self, program: Program, loop: str) -> list[str]:
        kind, join = program.accumulator.name, _join(program)
        return [
            f"    pk::Part<{kind}> pk_parts[1024];",
            "    int pk_used = 1;",
            *_open(),
            "        const int pk_me = omp_get_thread_num();",
            "        if (pk_me == 0) pk_used = omp_get_num_threads();",
            "        const pk::Share pk_part(pk_count, pk_me, omp_get_num_threads());",
            f"        {kind} pk_sum = {join}::none<{kind}>();",
            f"        {loop.replace('PK_EXTRA', ', pk_sum')}",
            "        pk_parts[pk_me].value = pk_sum;",
            "    }",
            f"    {kind} pk_total = {join}::none<{kind}>();",
            f"    for (int t = 0; t < pk_used; ++t) pk_total = {join}::join<{kind}>(pk_total, pk_parts[t].value);",
            "    std::memcpy(pk_words, &pk_total, sizeof pk_total);",
        ]

    def _scan(self, program: Program, loop: str) -> list[str]:
        kind = program.accumulator.name
        return [
            f"    pk::Part<{kind}> pk_parts[1024];",
            f"    {kind} pk_total = {kind}(0);",
            *_open(),
            "        const int pk_me = omp_get_thread_num(), pk_all = omp_get_num_threads();",
            "        const pk::Share pk_part(pk_count, pk_me, pk_all);",
            f"        {kind} pk_sum = {kind}(0);",
            f"        if (pk_all > 1) {{ {loop.replace('PK_EXTRA', ', pk_sum, false')} }}",
            "        pk_parts[pk_me].value = pk_sum;",
            "        #pragma omp barrier",
            f"        {kind} pk_before = {kind}(0);",
            "        for (int t = 0; t < pk_me; ++t) pk_before += pk_parts[t].value;",
            f"        pk_sum = pk_before; {{ {loop.replace('PK_EXTRA', ', pk_sum, true')} }}",
            "        if (pk_me == pk_all - 1) pk_total = pk_sum;",
            "    }",
            "    std::memcpy(pk_words, &pk_total, sizeof pk_total);",
        ]

    def _team(self, program: Program, arguments: str) -> list[str]:
        loop = (
            "for (int64_t pk_k = pk_part.from; pk_k < pk_part.to; ++pk_k) { "
            "pk::Team pk_team_member = "
            "pk_all.member(pk_k, pk_count, omp_get_thread_num(), int(pk_size), pk_shared, pk_own); "
            f"{self._call('pk_team_member', arguments)} pk_team_member.team_barrier(); }}"
        )
        lines = self._shared(program, loop)
        share = "pk_part(pk::complete(pk_threads) ? pk_count : 0, omp_get_thread_num() / int(pk_size), pk_groups);"
        return [
            line[: line.index("pk_part(")] + share if line.lstrip().startswith("const pk::Share") else line
            for line in lines
        ]


def _open() -> list[str]:
    return ["#pragma omp parallel num_threads(pk_threads)", "    {", "        pk::enter();"]


def _name(program: Program) -> str:
    return program.entry.removeprefix("pkk_").removesuffix("::pk_body")


def _join(program: Program) -> str:
    return {"sum": "pk::Sum", "min": "pk::Min", "max": "pk::Max"}[program.accumulator.reduction]


REGIONS = Regions()
