"""Makes a function call the debugger when it is entered, so that tracing can be off everywhere else (3.11).

A copy of the code gets a call of the hook behind its RESUME; the copy replaces `__code__` of the functions that have
the original. Jumps are relative in 3.11 and need no change; the exception and the location table are shifted.
"""

from __future__ import annotations

import dis
import gc
import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from pkdb_tui.engine.debuggee.sources import CO_GENERATOR_LIKE, RESUME, is_function

NO_LOCATION = 15
UNITS_PER_ENTRY = 8


def _call_of(constant: int) -> bytes:
    """PUSH_NULL; LOAD_CONST; PRECALL 0; CALL 0; POP_TOP, with their inline caches."""
    operations = dis.opmap
    load = bytes([operations["EXTENDED_ARG"], constant >> 8]) if constant > 255 else b""
    load += bytes([operations["LOAD_CONST"], constant & 255])
    call = bytes([operations["PRECALL"], 0]) + bytes(2) + bytes([operations["CALL"], 0]) + bytes(8)
    return bytes([operations["PUSH_NULL"], 0]) + load + call + bytes([operations["POP_TOP"], 0])


def _varint(value: int, first: bool) -> bytes:
    groups = [value & 63]
    while value := value >> 6:
        groups.insert(0, value & 63)
    data = bytearray(group | 64 for group in groups[:-1])
    data.append(groups[-1])
    if first:
        data[0] |= 128
    return bytes(data)


def _shifted_exceptions(code: CodeType, at: int, by: int) -> bytes:
    table = b""
    for entry in dis._parse_exception_table(code):  # type: ignore[attr-defined]
        start, end, target = (place + by if place >= at else place for place in (entry.start, entry.end, entry.target))
        numbers = (start // 2, (end - start) // 2, target // 2, entry.depth << 1 | bool(entry.lasti))
        table += b"".join(_varint(number, index == 0) for index, number in enumerate(numbers))
    return table


def _shifted_locations(table: bytes, at: int, by: int) -> bytes | None:
    """The location table with `by` bytes of code without a line at `at`; None when no entry begins there."""
    offset = index = 0
    while index < len(table) and offset < at:
        offset += ((table[index] & 7) + 1) * 2
        index += 1
        while index < len(table) and not table[index] & 128:
            index += 1
    if offset != at:
        return None
    units, inserted = by // 2, b""
    while units > 0:
        now = min(units, UNITS_PER_ENTRY)
        inserted += bytes([128 | NO_LOCATION << 3 | now - 1])
        units -= now
    return table[:index] + inserted + table[index:]


def hooked_copy(code: CodeType, hook: Callable[[], None]) -> CodeType | None:
    """The code with a call of `hook` at its beginning, or None where that can't be done."""
    raw = code.co_code
    at = next((offset + 2 for offset in range(0, len(raw), 2) if raw[offset] == RESUME), 0)
    constant = len(code.co_consts)
    if not at or constant > 0xFFFF:
        return None
    inserted = _call_of(constant)
    locations = _shifted_locations(code.co_linetable, at, len(inserted))
    if locations is None:
        return None
    return code.replace(
        co_code=raw[:at] + inserted + raw[at:],
        co_consts=(*code.co_consts, hook),
        co_stacksize=code.co_stacksize + 2,
        co_linetable=locations,
        co_exceptiontable=_shifted_exceptions(code, at, len(inserted)),
    )


def may_hook(code: CodeType) -> bool:
    """Whether all functions with this code can be found: a plain def of a module or class, run once."""
    return is_function(code) and not code.co_flags & CO_GENERATOR_LIKE and "<locals>" not in code.co_qualname


def functions_of(code: CodeType) -> list[FunctionType]:
    """The function objects that run this code now."""
    return [found for found in gc.get_referrers(code) if isinstance(found, FunctionType) and found.__code__ is code]


def replace_code(function: FunctionType, code: Any) -> None:
    function.__code__ = code


def compiles_bytecode() -> bool:
    """Whether something in this process reads functions' bytecode, which a hook would spoil."""
    return "numba" in sys.modules
