"""The command that launches several kernels at once and compares what they do."""

from __future__ import annotations

from pkdb_tui.commands.registry import STOPPED, Reply, registry
from pkdb_tui.commands.swapping import GROUP
from pkdb_tui.engine import formatting
from pkdb_tui.engine.api import ClauseResult, Difference
from pkdb_tui.engine.errors import UsageError
from pkdb_tui.engine.session import Session


@registry.command(
    "parallel_launch",
    "launch several kernels at once on the live data, and compare their times and results",
    usage="parallel_launch [reduce|scan] KERNEL [SPACE] POLICY ARGUMENT… ; …",
    details="The policy is a number of iterations or a policy object, the space one such as pk.ExecutionSpace.Serial. "
    "Arguments are Python expressions, by place or by name (v=w); put commas between them where blanks could be read "
    "in two ways. Each kernel gets copies of its arrays; mut:v shares the program's own. Differences are to the first. "
    "No breakpoint is met, no hotswap rule applies, and the launches are not counted.",
    phases=STOPPED,
    group=GROUP,
)
async def parallel_launch(session: Session, text: str) -> Reply:
    if not text:
        raise UsageError("Launch what?", "For example `parallel_launch damp 120 v ; damp_fixed 120 v`.")
    results = await session.parallel_launch(text)
    return Reply(text=results_text(results), value=results)


def results_text(results: tuple[ClauseResult, ...]) -> str:
    """One line a clause, and one for each array in which it differs from the first that ended well."""
    lines: list[str] = []
    numbers = [str(number) for number in range(1, len(results) + 1)]
    times = ["" if result.error else formatting.duration(result.seconds) for result in results]
    first = next((i for i, result in enumerate(results) if not result.error), 0)
    name = max(len(result.kernel) for result in results)
    policy = max(len(result.policy) for result in results)
    width = max(map(len, times))
    for index, result in enumerate(results):
        head = f"{numbers[index]:>{len(numbers[-1])}}  {result.kernel:<{name}}"
        if result.error:
            lines.append(f"{head}  failed: {result.error}")
            continue
        returned = f"  returned {result.result}" if result.result else ""
        lines.append(f"{head}  {result.policy:<{policy}}  {times[index]:>{width}}{returned}".rstrip())
        indent = " " * (len(numbers[-1]) + 2)
        lines += [f"{indent}{difference_text(each)}" for each in result.differences if each.differ or each.error]
        if index != first and not any(each.differ or each.error for each in result.differences):
            same = f"the same as {numbers[first]}" if result.differences else "nothing to compare"
            lines.append(f"{indent}{same}")
    return "\n".join(lines)


def difference_text(found: Difference) -> str:
    """`v: 120 of 120 differ, max abs 0.5, rel 0.5, 4,503,599,627,370,496 ulp, most at [0]`."""
    name = found.name or "returned"
    if found.error:
        return f"{name}: not compared: {found.error}"
    words = [f"{name}: {formatting.thousands(found.differ)} of {formatting.thousands(found.size)} differ"]
    if found.nans:
        words.append(f"{formatting.thousands(found.nans)} NaN in one only")
    if found.differ > found.nans:
        words += [f"max abs {found.max_abs:.6g}", f"rel {found.max_rel:.6g}"]
        if found.max_ulp is not None:
            words.append(f"{formatting.thousands(found.max_ulp)} ulp")
    if found.at:
        words.append(f"most at [{', '.join(map(str, found.at))}]")
    return ", ".join(words)
