"""All there is to know of one value: every digit, its type on both sides, where it lies and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkdb_tui.commands.registry import STOPPED, Reply, registry
from pkdb_tui.engine import formatting
from pkdb_tui.engine.api import Evaluation, Slice, Variable
from pkdb_tui.engine.errors import PkdbError, UsageError
from pkdb_tui.engine.session import Session

if TYPE_CHECKING:
    from pkdb_tui.engine.lens import Lens

CORNER = 8  # rows and columns shown where there is no screen
ELEMENTS = 4096  # the statistics are over so many


@registry.command(
    "inspect",
    "show all of a value: every digit, type, shape, strides, the C++ type, statistics",
    usage="inspect EXPRESSION",
    phases=STOPPED,
    group="Looking",
)
async def inspect(session: Session, text: str) -> Reply:
    if not text:
        raise UsageError("Inspect what?", "For example `inspect row_sum` or `inspect a`.")
    known = next((v for v in session.require_stop().variables if v.name == text), None)
    facts: dict[str, str] = {}
    try:
        evaluation = await session.evaluate(text)
    except PkdbError as error:
        if known is None:
            raise
        # What the stop showed of it is known all the same.
        evaluation = Evaluation(text=known.text, type=known.type, value=known.value)
        facts["note"] = error.title
    facts["type"] = evaluation.type
    if known is not None and known.native_type:
        facts["C++"] = known.native_type
    facts |= _number_facts(evaluation) | await _array_facts(session, text, evaluation, known)
    width = max(map(len, facts))
    value = evaluation.text or "None"
    rows = [f"{name:<{width}}  {fact}" for name, fact in facts.items() if fact]
    if "\n" in value:  # as many lines as it may be, what is known of it stands above them
        return Reply(text="\n".join([*rows, "", f"{text} =", value]), value=evaluation)
    return Reply(text="\n".join([f"{text} = {value}", "", *rows]), value=evaluation)


@registry.command(
    "lens",
    "look at an array as a table or picture, with its statistics; large ones by parts",
    usage="lens EXPRESSION",
    details="`$i` in the place of an index is free, and names it: `lens a[$i, 0, $k]`.",
    phases=STOPPED,
    group="Looking",
)
async def lens(session: Session, text: str) -> Reply:
    from pkdb_tui.engine.lens import Lens

    if not text:
        raise UsageError("Look at what?", "For example `lens a` or `lens a[$i, 0, $k]`.")
    opened = await Lens.open(text, session.read_slice)
    found = await opened.survey()
    facts = {
        "dtype": opened.dtype,
        "shape": opened.plane.shape,
        "plane": opened.plane.lead,
        "layout": opened.layout,
        "statistics": found.statistics,
        "norm": found.norm,
        "histogram": found.bins,
        "step": found.step,
    }
    return Reply(text=f"{opened.title}\n{found.text}\n{await _corner(opened)}", value=facts, shows=opened)


async def _corner(lens: Lens) -> str:
    """The first rows and columns, with their numbers."""
    rows = lens.plane.in_rows(await lens.window(0, 0, CORNER, CORNER))
    texts = formatting.columns([value for row in rows for value in row])
    cell = max(len(text) for text in texts)
    shown = iter(texts)
    names = [lens.plane.row_name(row) for row in range(len(rows))]
    width = max(map(len, names))
    head = " " * width + "".join(f"  {column:>{cell}}" for column in range(max(len(row) for row in rows)))
    body = [
        f"{name:>{width}}" + "".join(f"  {next(shown):>{cell}}" for _ in row)
        for name, row in zip(names, rows, strict=True)
    ]
    return "\n".join([head, *body])


def _number_facts(evaluation: Evaluation) -> dict[str, str]:
    value = evaluation.value
    if isinstance(value, int) and not isinstance(value, bool):
        return {"hex": hex(value), "bits": str(value.bit_length())}
    if isinstance(value, float):
        return {"hex": value.hex()}
    return {}


async def _array_facts(session: Session, text: str, evaluation: Evaluation, known: Variable | None) -> dict[str, str]:
    if not evaluation.type.endswith("]"):
        return {}
    try:
        part = await session.read_slice(text, ELEMENTS)
    except PkdbError as error:
        return {"layout": known.text if known is not None else "", "elements": error.title}
    strides = await session.strides_of(text)
    facts = {
        "dtype": part.dtype,
        "shape": " × ".join(map(str, part.shape)),
        "layout": part.layout,
        "strides": f"{', '.join(map(str, strides))} bytes" if strides else "",
        "elements": f"{formatting.thousands(part.total)}, {formatting.byte_size(part.total * part.values.itemsize)}",
    }
    return facts | _statistics(part)


def _statistics(part: Slice) -> dict[str, str]:
    found = part.statistics
    over = f" (of the first {formatting.thousands(found.count)})" if part.truncated else ""
    facts = {}
    if found.minimum is not None:
        facts["min"] = f"{formatting.full(found.minimum)}{over}"
        facts["max"] = f"{formatting.full(found.maximum)}{over}"
    if found.mean is not None:
        facts["mean"] = f"{formatting.full(found.mean)}{over}"
    if part.values.dtype.kind in "fc":
        facts["NaN"] = f"{found.nan}{over}"
        facts["Inf"] = f"{found.inf}{over}"
    facts["zeros"] = f"{found.zero}{over}"
    return facts
