"""Commands about breakpoints, log points, watchpoints and watches."""

from __future__ import annotations

import msgspec

from pkdb_tui.commands.locations import numbers, parse_break, parse_place, read_place, shown_path, written
from pkdb_tui.commands.registry import ANY, KERNEL, Reply, registry
from pkdb_tui.engine import formatting
from pkdb_tui.engine.api import Breakpoint, BreakpointSpec, BreakpointState, Phase, Watch
from pkdb_tui.engine.errors import UsageError
from pkdb_tui.engine.session import Session

GROUP = "Breakpoints"
NO_WATCHES = "there are no watches; `display EXPRESSION` adds one"


def describe(breakpoint: Breakpoint) -> str:
    """`breakpoint 2 at yax.py:13 in kernel yax: pending`."""
    spec = breakpoint.spec
    if spec.watch:
        place = f"on {spec.watch}"
    elif breakpoint.line:
        place = f"at {shown_path(breakpoint.file)}:{breakpoint.line}"
    else:
        place = f"at function {spec.function}"
    kind = "watchpoint" if spec.watch else "log point" if spec.log else "breakpoint"
    text = f"{kind} {breakpoint.id} {place}"
    if breakpoint.kernel:
        text += f" in kernel {breakpoint.kernel}"
    for word, value in (("if", spec.condition), ("thread", spec.threads), ("log", spec.log)):
        if value:
            text += f" {word} {value}"
    if breakpoint.ignoring:
        text += f" ignore next {breakpoint.ignoring} {'hit' if breakpoint.ignoring == 1 else 'hits'}"
    if spec.temporary:
        text += ", temporary"
    text += f": {breakpoint.state.value}"
    if breakpoint.reason:
        text += f" ({breakpoint.reason})"
    if breakpoint.hits:
        text += f", hit {breakpoint.hits} {'time' if breakpoint.hits == 1 else 'times'}"
    return text


async def add(session: Session, spec: BreakpointSpec) -> Reply:
    """Set a breakpoint; the answer says where it lies. Raises BreakpointError."""
    made = await session.add_breakpoint(spec)
    return Reply(text="\n".join([describe(made), *_shared(session, made)]), value=made)


def _shared(session: Session, made: Breakpoint) -> list[str]:
    """A note that others stop on the same line already, whatever the new one asks for."""
    others = [
        b
        for b in session.breakpoints
        if b.id != made.id and b.enabled and not b.spec.log and b.line and (b.file, b.line) == (made.file, made.line)
    ]
    if not others or made.spec.log or made.state is BreakpointState.UNBOUND:
        return []
    plain = [str(b.id) for b in others if not b.spec.condition and not b.spec.threads and not b.spec.ignore]
    names = ", ".join(str(b.id) for b in others)
    stop = "stops" if len(others) == 1 else "stop"
    note = f"Note: breakpoint{'s' * (len(others) > 1)} {names} also {stop} at {shown_path(made.file)}:{made.line}"
    if made.spec.condition and plain:
        note += f", without a condition; `condition {plain[0]} {made.spec.condition}` gives it this one"
    return [f"{note}."]


@registry.command(
    "break",
    "set a breakpoint, or list them",
    aliases=("b",),
    usage="break [FILE:]LINE|FUNCTION [thread T] [ignore N] [if CONDITION]",
    details="Works on Python lines and on kernel lines alike; conditions are written in Python. `thread 0:4` keeps it "
    "to some threads of a kernel. Without arguments: the list.",
    key="b",
    group=GROUP,
)
async def break_(session: Session, text: str) -> Reply:
    return await add(session, parse_break(session, text)) if text else listing(session)


@registry.command(
    "tbreak",
    "set a breakpoint that goes after its first hit",
    aliases=("tb",),
    usage="tbreak [FILE:]LINE|FUNCTION [if CONDITION]",
    key="T",
    group=GROUP,
)
async def tbreak(session: Session, text: str) -> Reply:
    return await add(session, parse_break(session, text, temporary=True)) if text else listing(session)


@registry.command(
    "log",
    "print a text whenever a line is reached, and go on",
    usage="log [FILE:]LINE TEXT with {expressions}",
    details="For example `log 13 j={j} row_sum={row_sum:.3f}`.",
    group=GROUP,
)
async def log(session: Session, text: str) -> Reply:
    if not text:
        raise UsageError("Log what?", "For example `log 13 j={j}`.")
    (file, line, function), message = read_place(session, text)
    if not message.strip():
        raise UsageError("Log what?", "For example `log 13 j={j}`.")
    return await add(session, BreakpointSpec(file=file, line=line, function=function, log=message.strip()))


@registry.command(
    "watch",
    "set a watchpoint: stop when a scalar or an array element changes",
    usage="watch NAME | watch ARRAY[INDEX]",
    details="A hardware watchpoint, for kernels: while there is one, every launch runs a debug build. To see an "
    "expression at every stop use `display`.",
    phases=KERNEL,
    group=GROUP,
)
async def watch(session: Session, text: str) -> Reply:
    if not text:
        raise UsageError("Watch what?", "For example `watch out[3]`.")
    return await add(session, BreakpointSpec(watch=text))


@registry.command(
    "delete",
    "remove breakpoints",
    aliases=("del", "clear", "cl"),
    usage="delete [NUMBER ...|FILE:LINE]",
    details="Without arguments: all of them.",
    group=GROUP,
)
async def delete(session: Session, text: str) -> Reply:
    chosen = _chosen(session, text)
    gone = [b for b in session.breakpoints if b.id in chosen]
    await session.remove_breakpoints(chosen)
    if not chosen:
        return Reply(text="there are no breakpoints", value=chosen)
    again = f"; `{asking(gone[0].spec)}` sets it again" if len(gone) == 1 else ""
    return Reply(text=f"deleted {', '.join(map(str, chosen))}{again}", value=chosen)


def asking(spec: BreakpointSpec) -> str:
    """The command that sets such a breakpoint."""
    if spec.watch:
        return f"watch {spec.watch}"
    place = written(spec.file, spec.line) if spec.line else spec.function
    if spec.log:
        return f"log {place} {spec.log}"
    text = f"{'tbreak' if spec.temporary else 'break'} {place}"
    for word, value in (("thread", spec.threads), ("ignore", spec.ignore or ""), ("if", spec.condition)):
        text += f" {word} {value}" if value else ""
    return text


def _chosen(session: Session, text: str) -> list[int]:
    if not text:
        return [breakpoint.id for breakpoint in session.breakpoints]
    if ":" not in text:
        return numbers(text, "breakpoint")
    file, line, _ = parse_place(session, text)
    found = [b.id for b in session.breakpoints if line in (b.line, b.spec.line) and file in (b.file, b.spec.file)]
    if not found:
        raise UsageError(f"There is no breakpoint at {text}.", "`info breakpoints` lists them.")
    return found


@registry.command("disable", "keep breakpoints but don't stop at them", usage="disable [NUMBER ...]", group=GROUP)
async def disable(session: Session, text: str) -> Reply:
    return await _enable(session, text, False)


@registry.command("enable", "stop at breakpoints again", usage="enable [NUMBER ...]", group=GROUP)
async def enable(session: Session, text: str) -> Reply:
    return await _enable(session, text, True)


async def _enable(session: Session, text: str, enabled: bool) -> Reply:
    chosen = _chosen(session, text)
    if not chosen:
        return Reply(text="there are no breakpoints", value=chosen)
    await session.enable_breakpoints(chosen, enabled)
    return Reply(text=f"{'enabled' if enabled else 'disabled'} {', '.join(map(str, chosen))}", value=chosen)


@registry.command(
    "condition",
    "stop at a breakpoint only when an expression is true",
    usage="condition NUMBER [EXPRESSION]",
    details="Without an expression the condition is taken away.",
    group=GROUP,
)
async def condition(session: Session, text: str) -> Reply:
    number, _, expression = text.partition(" ")
    return await _change(session, number, condition=expression.strip())


@registry.command(
    "ignore",
    "let a breakpoint pass a number of times",
    usage="ignore NUMBER COUNT",
    details="The next COUNT hits, those of all threads together and where its condition holds, are passed and counted.",
    group=GROUP,
)
async def ignore(session: Session, text: str) -> Reply:
    number, _, count = text.partition(" ")
    counts = numbers(count, "count")
    if len(counts) != 1:
        raise UsageError("Ignore it how often?", "For example `ignore 2 10`.")
    return await _change(session, number, ignore=counts[0])


async def _change(session: Session, number: str, **fields: object) -> Reply:
    chosen = numbers(number, "breakpoint")
    if len(chosen) != 1:
        raise UsageError("Which breakpoint?", "Give its number; `info breakpoints` lists them.")
    spec = msgspec.structs.replace(session.book[chosen[0]].spec, **fields)
    changed = await session.change_breakpoint(chosen[0], spec, ignore_anew="ignore" in fields)
    return Reply(text=describe(changed), value=changed)


def listing(session: Session) -> Reply:
    found = session.breakpoints
    text = "\n".join(describe(breakpoint) for breakpoint in found) or "there are no breakpoints"
    return Reply(text=text, value=found)


@registry.command(
    "display",
    "add a watch: show an expression at every stop",
    usage="display [EXPRESSION]",
    details="Array slices such as `a[j, 0:4]` are shown with their statistics, in the watches pane at every stop. "
    "Without an expression: the list.",
    phases=ANY,
    key="w",
    group="Looking",
)
async def display(session: Session, text: str) -> Reply:
    if not text:
        return watches(session)
    made = await session.add_watch(text)
    return Reply(text=_with_statistics(made) if session.phase.stopped else f"watch {made.id}: {text}", value=made)


@registry.command(
    "undisplay", "delete watches, or all of them", usage="undisplay [NUMBER ...|EXPRESSION]", phases=frozenset(Phase),
    group="Looking",
)  # fmt: skip
async def undisplay(session: Session, text: str) -> Reply:
    named = [w.id for w in session.watches if not text or w.expression == text]
    chosen = named or numbers(text, "watch")
    gone = [w for w in session.watches if w.id in chosen]
    for number in chosen:
        await session.remove_watch(number)
    lines = [f"watch {w.id} is deleted; `display {w.expression}` brings it back" for w in gone]
    return Reply(text="\n".join(lines) or NO_WATCHES, value=chosen)


def watches(session: Session) -> Reply:
    """All watches, a line each, and one for the statistics of an array."""
    return Reply(text="\n".join(_with_statistics(w) for w in session.watches) or NO_WATCHES)


def _with_statistics(watch: Watch) -> str:
    part = watch.evaluation.slice if watch.evaluation is not None and not watch.error else None
    below = f"\n   {' · '.join(formatting.statistics(part))}" if part is not None else ""
    return watch_line(watch) + below


def watch_line(watch: Watch) -> str:
    """`2: a[j, 0:4] = 0.44877 0.27953 …`."""
    if watch.error:
        return f"{watch.id}: {watch.expression}: {watch.error}"
    if watch.evaluation is None:
        return f"{watch.id}: {watch.expression}"
    if (part := watch.evaluation.slice) is not None:
        first, all_ = formatting.thousands(part.statistics.count), formatting.thousands(part.total)
        note = f"the first {first} of {all_} elements, " if part.truncated else ""
        return f"{watch.id}: {watch.expression} = {note}{formatting.array(part.values)}"
    changed = f"  (was {watch.previous})" if watch.changed else ""
    return f"{watch.id}: {watch.expression} = {watch.evaluation.text}{changed}"
