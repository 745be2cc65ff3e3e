"""Lines of debug builds: those announced are exactly those that gdb finds code on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gdb_lines import lines_with_code

from pkdb_tui.minikokkos import debug
from pkdb_tui.minikokkos.debug import Condition
from pkdb_tui.minikokkos.spans import kernel_spans

EVERYTHING = '''
@pk.function
def clamp(x: float, low: float, high: float) -> float:
    """A text without code."""
    if x < low:
        return low
    elif x > high:
        return high
    return x


@pk.workunit
def work(i: int, acc: pk.Acc[pk.double], out: pk.View1D[pk.double], n: int):
    """Another."""
    total: float = 0
    count: int
    for j in range(n):
        if j == 3:
            continue
        if j > 8:
            break
        else:
            total += clamp(
                out[i] + j,
                0.0,
                5.0,
            )
    k = n
    while k > 0:
        k -= 2
        if k == 5:
            pass
    while True:
        k += 1
        if k > 3:
            break

    if n < 0:
        return
        total = 7.0
    pk.printf("")
    out[i] = total if total > 1 else (
        1.0
    )
    last = j
    acc += out[i] + last


def run(space=pk.OpenMP):
    out = np.arange(4.0)
    return pk.parallel_reduce(pk.RangePolicy(space, 0, 4), work, out=out, n=12), out
'''

TEAM = """
@pk.workunit
def work(member: pk.TeamMember, acc: pk.Acc[float], a: pk.View2D[pk.double]):
    row: int = member.league_rank()
    scratch: pk.ScratchView1D[float] = pk.ScratchView1D(member.team_scratch(0), a.extent(1))

    def fill(i: int):
        scratch[i] = a[row][i]

    pk.parallel_for(pk.TeamThreadRange(member, a.extent(1)), fill)
    member.team_barrier()

    def add(i: int, part: pk.Acc[float]):
        if i > 0:
            part += scratch[i]

    total: float = pk.parallel_reduce(
        pk.ThreadVectorRange(member, a.extent(1)), add
    )

    def once():
        nonlocal acc
        acc += total

    pk.single(pk.PerTeam(member), once)


def run(space=pk.OpenMP):
    a = np.arange(12.0).reshape(3, 4)
    policy = pk.TeamPolicy(space, 3, 2).set_scratch_size(0, pk.PerTeam(64))
    return pk.parallel_reduce(policy, work, a=a), a
"""


def _debug_build(module: Any, hooked: Callable[[debug.Hook], None], *conditions: Condition) -> tuple[Any, Any]:
    kept: list[debug.DebugBuild] = []

    def hook(launch: debug.Launch) -> Any:
        kept.append(launch.build_debug(conditions))
        return launch.run_debug(kept[-1])

    hooked(hook)
    return kept, module.run()


def _compare(text: str, load: Any, hooked: Any, folder: Path) -> None:
    module = load(text)
    builds, (result, _) = _debug_build(module, hooked)
    hooked(None)
    assert result == module.run()[0] == module.run(module.pk.Debug)[0]
    announced = {line for lines in builds[0].lines.values() for line in lines}
    spans = kernel_spans(Path(module.__file__).read_text(), module.__file__)
    assert announced == {line for span in spans for line in span.lines}
    assert lines_with_code(builds[0].path, folder)[module.__file__] == sorted(announced)


def test_every_announced_line_has_code_and_no_other(load: Any, hooked: Any, tmp_path: Path) -> None:
    _compare(EVERYTHING, load, hooked, tmp_path)


def test_lines_of_nested_parallelism(load: Any, hooked: Any, tmp_path: Path) -> None:
    _compare(TEAM, load, hooked, tmp_path)


def test_a_condition_has_code_of_its_own_under_its_own_name(load: Any, hooked: Any, tmp_path: Path) -> None:
    module = load(EVERYTHING)
    line = EVERYTHING[: EVERYTHING.index("        if j == 3")].count("\n") + 4
    file = module.__file__
    builds, _ = _debug_build(
        module,
        hooked,
        Condition(8, file, line, "nowhere > 1"),
        Condition(7, file, line, "i == 2 and j > 1"),
        Condition(9, file, 1, "True"),
    )
    assert builds[0].conditions == {7: (f"{file}#pkdb{line}", line, f"pk_at_{line}", 1)}
    assert builds[0].refused == {
        8: "nowhere is not defined in this kernel",
        9: "line 1 has no code in this kernel",
    }
    assert lines_with_code(builds[0].path, tmp_path)[f"{file}#pkdb{line}"] == [line]
