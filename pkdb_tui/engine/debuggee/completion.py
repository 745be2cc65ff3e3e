"""Completion of the word at the end of a line, over a frame's names and the attributes of evaluated prefixes."""

from __future__ import annotations

import builtins
import keyword
import re
from types import FrameType

LIMIT = 200
WORD = re.compile(r"[\w.]*$")


def complete(text: str, frame: FrameType | None) -> list[str]:
    """Whole replacements for the last word of `text`, attributes with their prefix."""
    found = WORD.search(text)
    word = found.group() if found else ""
    if "." in word:
        return _attributes(word, frame)
    names = set(keyword.kwlist) | set(dir(builtins))
    if frame is not None:
        names |= set(frame.f_globals) | set(frame.f_locals)
    private = word.startswith("_")
    return sorted(n for n in names if isinstance(n, str) and n.startswith(word) and (private or n[:1] != "_"))[:LIMIT]


def _attributes(word: str, frame: FrameType | None) -> list[str]:
    prefix, _, start = word.rpartition(".")
    if frame is None or not prefix:
        return []
    first, *rest = prefix.split(".")
    for names in (frame.f_locals, frame.f_globals, vars(builtins)):
        if first in names:
            value = names[first]
            break
    else:
        return []
    for part in rest:
        try:
            value = getattr(value, part)
        except Exception:  # noqa: BLE001 - a property of the program's may raise anything: nothing to offer then
            return []
    private = start.startswith("_")
    names_found = [n for n in dir(value) if n.startswith(start) and (private or n[:1] != "_")]
    return [f"{prefix}.{name}" for name in sorted(names_found)[:LIMIT]]
