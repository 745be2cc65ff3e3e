"""Runs inside cuda-gdb: lines of kernels, and their addresses in the modules that are on the device."""

from __future__ import annotations

import gdb

from pkdb_tui.engine.native import gdbside_names as names
from pkdb_tui.engine.native.gdbside_symbols import Body, begin_of, function_at, kernel

Rows = list[tuple[int, int]]  # (line, address), by address
built_in: dict[tuple[str, int], int] = {}  # (source name, line) -> how many conditions any module has there


def load(argument: Body) -> Body:
    """Remember the kernel under way."""
    kernel.clear()
    kernel.update(argument)
    for name, line, number in argument["conditions"]:
        built_in[name, line] = max(built_in.get((name, line), 0), number + 1)
    return {}


def tables(source: str, lines: list[int]) -> list[Rows]:
    """The line tables of a source in the modules that are on the device."""
    found: dict[str, Rows] = {}  # by module
    for line in lines:
        try:
            _, locations = gdb.decode_line(f"{names.quoted(source)}:{line}")
        except gdb.error:
            continue
        for location in locations or ():
            symtab = location.symtab
            if symtab is None or symtab.filename != source:
                continue
            if symtab.objfile.filename not in found:
                rows = [(entry.line, entry.pc) for entry in symtab.linetable() if entry.line > 0]
                found[symtab.objfile.filename] = sorted(rows, key=lambda row: row[1])
    return list(found.values())


def where(argument: Body) -> Body:
    """Addresses of a line, the next line with code, and whether any module has the source.

    A loop's line has several: where it begins, and where each turn comes back to. Where conditions are built in at a
    line, a thread comes by one of the places of their outcomes; with a `bit`, those are meant where that one holds.
    """
    source, line, bit = names.unmarked(argument["source"]), argument["line"], argument["bit"]
    outcomes = outcomes_at(source, line)
    if bit >= 0:
        found = [address for address, outcome in outcomes.items() if outcome >> bit & 1]
        return {"addresses": sorted(found), "next": 0, "known": bool(outcomes)}
    lines = kernel.get("lines", {}).get(source, [])
    apart = {begin_of(address) for address in outcomes}
    addresses = set(outcomes)
    following, known = 0, False
    for rows in tables(source, [line, *lines]):
        known = known or spanned(rows, line)
        for place, (number, address) in enumerate(rows):
            if number == line and begins(rows, place) and begin_of(address) not in apart:
                addresses.add(address)
            elif number > line and (not following or number < following):
                following = number
    return {"addresses": sorted(addresses), "next": following, "known": known}


def begins(rows: Rows, place: int) -> bool:
    """Whether code of another line, or of another function, lies before."""
    line, address = rows[place]
    return place == 0 or rows[place - 1][0] != line or begin_of(rows[place - 1][1]) != begin_of(address)


def outcomes_at(source: str, line: int) -> dict[int, int]:
    """Of the conditions built in at a line, which hold, as bits, by the address where a thread then comes by."""
    name = f"{source}#pkdb{line}"
    found: dict[int, int] = {}
    for outcome in range(1 << built_in[name, line] if (name, line) in built_in else 0):
        first: dict[int, int] = {}  # by function
        for rows in tables(f"{name}.{outcome}", [line]):
            for _, address in rows:
                begin = begin_of(address)
                first[begin] = min(address, first.get(begin, address))
        found.update(dict.fromkeys(first.values(), outcome))
    return found


def spanned(rows: Rows, line: int) -> bool:
    """Whether a line lies in one of the functions that are there, with code of its own or without."""
    spans: dict[str, list[int]] = {}
    for number, address in rows:
        function = function_at(address)
        if function is not None:
            spans.setdefault(function.name, []).append(number)
    return any(min(numbers) <= line <= max(numbers) for numbers in spans.values())


def entry(argument: Body) -> Body:
    """Where the workunit's first line begins."""
    found: dict[str, int] = {}
    for source, lines in kernel.get("lines", {}).items():
        for rows in tables(source, lines):
            for _, address in rows:
                function = function_at(address)
                if function is not None and names.qualified(function.name).endswith("::" + kernel["entry"]):
                    found[function.name] = min(address, found.get(function.name, address))
    return {"addresses": sorted(found.values())}


def symbol(argument: Body) -> Body:
    try:
        _, locations = gdb.decode_line(argument["symbol"])
    except gdb.error:
        return {"addresses": []}
    return {"addresses": [location.pc for location in locations or ()]}
