"""Runs inside gdb: kernel binaries, and where their lines and functions are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import gdb

from pkdb_tui.engine.native import gdbside_names as names

Body = dict[str, Any]
Lines = dict[str, dict[int, list[int]]]

kernel: Body = {}  # facts of the kernel under way: entry, name, binary, team
tables: dict[str, Lines] = {}  # binary -> {source name: {line: [addresses]}}
# (source name of compiled-in conditions, line) -> C text that tells behind them whether a thread came by their place
meets: dict[tuple[str, int], str] = {}


def base_address(binary: str) -> int:
    """Where a shared object is mapped in the process."""
    real = os.path.realpath(binary)
    with open(f"/proc/{gdb.selected_inferior().pid}/maps") as maps:
        for line in maps:
            fields = line.split(maxsplit=5)
            if len(fields) == 6 and os.path.realpath(fields[5].strip()) == real:
                return int(fields[0].split("-")[0], 16) - int(fields[2], 16)
    raise gdb.GdbError(f"{binary} is not loaded in the process")


def objfile_of(binary: str) -> Any:
    real = os.path.realpath(binary)
    for objfile in gdb.objfiles():
        if objfile.filename and os.path.realpath(objfile.filename) == real:
            return objfile
    return None


def load(argument: Body) -> Body:
    """Read a kernel binary's symbols once; remember the kernel."""
    kernel.clear()
    kernel.update(argument)
    binary = argument["binary"]
    if objfile_of(binary) is None:
        base = base_address(binary)
        gdb.execute(f"add-symbol-file {names.escaped(binary)} -o {base}", to_string=True)
    if binary not in tables:
        tables[binary] = line_table(binary, argument["lines"], argument["sources"])
        meets.update({(name, line): met for name, line, met in argument["sources"]})
    return {}


def line_table(binary: str, lines: dict[str, list[int]], sources: list[tuple[str, int, str]]) -> Lines:
    """{source name: {line: [one address per function]}} of the sources named."""
    real = os.path.realpath(binary)
    found: dict[Any, Any] = {}
    wanted = {name: set(numbers) for name, numbers in lines.items()}
    wanted.update({name + names.TURN: set(numbers) for name, numbers in lines.items()})
    for name, number, _ in sources:
        wanted.setdefault(name, set()).add(number)
    for name, numbers in wanted.items():
        if not numbers or not known_source(name, min(numbers)):
            continue
        for number in sorted(numbers):
            if name in found:
                break  # a table has all lines of its source, and looking for each of thousands takes long
            for symtab in symtabs(name, number, real):
                if symtab.filename in wanted and symtab.filename not in found:
                    found[symtab.filename] = addresses_by_line(symtab)
    return found


def known_source(name: str, line: int) -> bool:
    """Whether any debug information has this source; looking for each line of one that it lacks takes long."""
    try:
        gdb.decode_line(f"{names.quoted(name)}:{line}")
    except gdb.error as error:
        return not str(error).startswith("No source file")
    return True


def lines_of(source: str) -> dict[int, list[int]]:
    """The lines of a Python file in the kernel under way, those of loops by their tests."""
    table = tables.get(kernel.get("binary", ""), {})
    name = names.python_name(source)
    return {**table.get(name, {}), **table.get(name + names.TURN, {})}


def symtabs(name: str, line: int, real: str) -> Iterator[Any]:
    try:
        _, locations = gdb.decode_line(f"{names.quoted(name)}:{line}")
    except gdb.error:
        return
    for location in locations or ():
        symtab = location.symtab
        if symtab is not None and os.path.realpath(symtab.objfile.filename) == real:
            yield symtab


def body_at(address: int) -> Any:
    """The outermost block of the function at an address."""
    block = gdb.block_for_pc(address)
    while block is not None and block.function is None:
        block = block.superblock
    return block


def begin_of(address: int) -> int:
    """Where the function at an address begins, 0 for none."""
    block = body_at(address)
    return 0 if block is None else int(block.start)


def function_at(address: int) -> Any:
    block = body_at(address)
    return None if block is None else block.function


def same_function(one: Any, other: Any) -> bool:
    return one is not None and other is not None and (one.name, one.line) == (other.name, other.line)


def addresses_by_line(symtab: Any) -> dict[int, list[int]]:
    """For each line the lowest statement address in each function that has it."""
    lowest: dict[Any, int] = {}
    for entry in symtab.linetable():
        if entry.line <= 0:
            continue
        function = function_at(entry.pc)
        if function is not None and names.is_implicit(function.name):
            continue  # copies of a lambda, which carry its line and run nothing of it
        key = (entry.line, begin_of(entry.pc))
        if key not in lowest or entry.pc < lowest[key]:
            lowest[key] = entry.pc
    found: dict[Any, Any] = {}
    for (line, _), address in lowest.items():
        found.setdefault(line, []).append(address)
    return found


def where(argument: Body) -> Body:
    """Addresses of a line in every loaded kernel binary, the next line with code, and whether a function spans it.

    Of them and those of its compiled-in conditions, what a breakpoint takes: (address, C text on which it stops).
    """
    source, line = argument["source"], argument["line"]
    addresses, stops, following = [], [], 0
    for sources in tables.values():
        table = sources.get(source, {})
        here = sources.get(source + names.TURN, {}).get(line) or table.get(line, [])
        addresses += here
        stops += stops_at(sources, source, line, here)
        later = [n for n in table if n > line]
        if later and (not following or min(later) < following):
            following = min(later)
    known = bool(addresses) or _spanned(source, line)
    return {"addresses": sorted(addresses), "stops": stops, "next": following, "known": known}


def stops_at(sources: Lines, source: str, line: int, addresses: list[int]) -> list[tuple[int, str]]:
    """Where a breakpoint at these addresses of a line stops, once for each pass of a thread.

    Where a function has conditions compiled in front of the line, that is at their place when one of them holds, with
    the breakpoints whose conditions they are, and at the line itself otherwise.
    """
    found: dict[int, str] = {}
    for address in addresses:
        condition = ""
        for (name, number), met in meets.items():
            if not met or number != line or names.unmarked(name) != source:
                continue
            for place in sources.get(name, {}).get(line, []):
                if begin_of(place) == begin_of(address):
                    found[place], condition = "", f"!{met}"
        found[address] = condition
    return sorted(found.items())


def _spanned(source: str, line: int) -> bool:
    """Whether a line lies in a function of a loaded kernel binary, with code of its own or without."""
    for sources in tables.values():
        spans: dict[Any, list[int]] = {}
        for number, addresses in sources.get(source, {}).items():
            for function in map(function_at, addresses):
                if function is not None:
                    begins = [function.line] if function.symtab.filename == source else []
                    spans.setdefault(function.name, begins).append(number)
        if any(min(numbers) <= line <= max(numbers) for numbers in spans.values()):
            return True
    return False


def before_turn(source: str, line: int) -> bool:
    """Whether this is the part of a loop's line that only leads to its test."""
    table = tables.get(kernel.get("binary", ""), {})
    return line in table.get(source + names.TURN, {})


def begins_line(source: str, address: int) -> bool:
    """Whether a line's code begins at an address: a line may be left and come back to in its middle."""
    return any(address in addresses for t in tables.values() for addresses in t.get(source, {}).values())


def functions(argument: Body) -> Body:
    """First-line addresses of functions of that name in Python sources, and what a breakpoint there takes."""
    found, stops = [], []
    for sources in tables.values():
        for name, table in sources.items():
            if not names.python_name(name) or names.CONDITIONS.search(name):
                continue
            by_function: dict[str, Any] = {}
            for line, addresses in table.items():
                for address in addresses:
                    function = function_at(address)
                    if function is not None and names.plain_name(function.name) == argument["function"]:
                        by_function.setdefault(function.name, []).append((line, address))
            for line, address in map(min, by_function.values()):
                found.append(address)
                stops += stops_at(sources, names.unmarked(name), line, [address])
    return {"addresses": sorted(found), "stops": stops}


def entry(argument: Body) -> Body:
    """First-line addresses of the function that is one workunit call, with `lambdas` those of lambdas instead."""
    found: dict[Any, Any] = {}
    for name, table in tables.get(kernel.get("binary", ""), {}).items():
        if not names.python_name(name) or names.CONDITIONS.search(name):
            continue  # those of conditions: a thread comes by only where they hold
        for line, addresses in table.items():
            for address in addresses:
                function = function_at(address)
                if function is None or not is_wanted(function.name, bool((argument or {}).get("lambdas"))):
                    continue
                key = (function.name, function.line)
                found[key] = min(found.get(key, (line, address)), (line, address))
    return {"addresses": sorted(address for _, address in found.values())}


def is_wanted(name: str, lambdas: bool) -> bool:
    if lambdas or names.is_lambda(name):
        return lambdas and names.is_lambda(name)
    full = names.qualified(name)
    return bool(full == kernel["entry"] or full.endswith("::" + kernel["entry"]))


def symbol(argument: Body) -> Body:
    """Addresses of a function by name: in the kernel's binary, else anywhere."""
    objfile = objfile_of(argument["binary"])
    found = objfile.lookup_global_symbol(argument["symbol"]) if objfile is not None else None
    if found is not None:
        return {"addresses": [int(found.value().address)]}
    try:
        _, locations = gdb.decode_line(argument["symbol"])
    except gdb.error:
        return {"addresses": []}
    return {"addresses": [location.pc for location in locations or ()]}
