"""Runs inside gdb: breakpoints that filter and count their own hits, so that one let pass costs no round trip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gdb

from pkdb_tui.engine.native.gdbside_symbols import Body, kernel, objfile_of


@dataclass
class Rule:
    """What all places of one breakpoint share. With `counts` off its owner judges each hit, and counts."""

    counts: bool
    threads: frozenset[int]
    condition: str
    left: int  # hits still to be passed
    serial: int  # which of the wishes for an ignore count `left` belongs to
    hits: int = 0  # since they were asked for last


rules: dict[int, Rule] = {}  # by the number the person knows
taken: dict[int, list[tuple[int, str]]] = {}  # gdb thread -> (gdb number, why its condition failed) of its last stop
_numbers: dict[int, int] = {}  # lwp -> kernel thread, of the kernel under way


class Place(gdb.Breakpoint):  # type: ignore[misc]
    """One address of a breakpoint of the person's, met there when the C text `when` says so.

    `why` is C text for a string: why a condition that is compiled in front of it can't be told.
    """

    def __init__(self, address: int, owner: int, when: str, why: str) -> None:
        super().__init__(f"*{address}", internal=False, temporary=False)
        self.owner = owner
        self.when = when
        self.why = why

    def stop(self) -> bool:
        """Called by gdb when a thread is there: whether it stops."""
        thread = gdb.selected_thread()
        rule = rules.get(self.owner)
        if thread is None or rule is None:
            return False
        counts = rule.counts
        if rule.threads:
            number = kernel_thread(thread.ptid[1])
            if number is None:
                counts = False  # nothing in the process tells: the owner knows
            elif number not in rule.threads:
                return False
        met, failure = holds(self.when)
        held, failed = holds(rule.condition) if met else (False, "")
        if not held:
            return False
        if counts:
            rule.hits += 1
            if rule.left > 0:
                rule.left -= 1
                return False
        taken.setdefault(thread.num, []).append((self.number, failure or failed or _failure(self.why)))
        return True


def holds(condition: str) -> tuple[bool, str]:
    """Whether C text is true in the frame selected, and why that can't be told: then it counts as true."""
    if not condition:
        return True, ""
    try:
        return bool(int(gdb.parse_and_eval(f"({condition}) ? 1 : 0"))), ""
    except gdb.error as error:
        text = str(error)
        return True, "division by zero, or an index out of bounds" if text == "Division by zero" else text


def _failure(why: str) -> str:
    return str(gdb.parse_and_eval(why).string(errors="replace")) if why else ""


def rule(argument: Body) -> Body:
    """Make or change a breakpoint's rule; an ignore count that was not asked for anew goes on where it was."""
    known = rules.get(argument["id"])
    made = Rule(
        counts=argument["counts"],
        threads=frozenset(argument["threads"]),
        condition=argument["condition"],
        left=argument["ignore"],
        serial=argument["serial"],
    )
    if known is not None:
        made.hits = known.hits
        if known.serial == made.serial:
            made.left = known.left
    rules[argument["id"]] = made
    return {}


def hits(argument: Body) -> list[tuple[int, int]]:
    """(breakpoint, hits since the last question), those let pass by an ignore count included."""
    found = [(number, rule.hits) for number, rule in rules.items() if rule.hits]
    for number, _ in found:
        rules[number].hits = 0
    return found


def team() -> dict[int, int]:
    """{lwp: kernel thread number} from the table the runtime keeps, empty without one."""
    address = table()
    if not address:
        return {}
    memory = gdb.selected_inferior().read_memory(address, 4)
    size = min(int.from_bytes(bytes(memory), "little", signed=True), 1024)
    if size <= 0:
        return {}
    raw = bytes(gdb.selected_inferior().read_memory(address + 4, 4 * size))
    return {int.from_bytes(raw[4 * i : 4 * i + 4], "little", signed=True): i for i in range(size)}


def table() -> int:
    """Where the runtime keeps it, or 0."""
    name = kernel.get("team")
    objfile = objfile_of(kernel["binary"]) if kernel.get("binary") else None
    symbol = objfile.lookup_global_symbol(name) if name and objfile is not None else None
    return int(symbol.value().address) if symbol is not None else 0


def forget_team() -> None:
    """A kernel is about to run: its threads get new numbers, and what its last launch left in the table is void."""
    _numbers.clear()
    taken.clear()
    address = table()
    if address:
        gdb.selected_inferior().write_memory(address, bytes(4))


def kernel_thread(lwp: int) -> int | None:
    """The kernel thread of a thread of the system; None where no table tells."""
    if lwp not in _numbers:
        _numbers.update(team())
    return _numbers.get(lwp)


def reached(thread: int, event: Any) -> tuple[list[int], dict[int, str]]:
    """(gdb numbers that stopped a thread, why conditions failed) at a breakpoint event."""
    # A signal that came in the middle of a step over a breakpoint makes gdb ask again, and stop elsewhere.
    here = {b.number for b in event.breakpoints}
    own = [(number, text) for number, text in taken.pop(thread, []) if number in here]
    others = [b.number for b in event.breakpoints if not isinstance(b, Place)]
    return [*others, *(number for number, _ in own)], {number: text for number, text in own if text}
