"""Completion of the word at the end of a line, over a frame's names and the attributes of evaluated prefixes."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Mapping, Sequence
from types import FrameType, MappingProxyType
from typing import Any

LIMIT = 200
NOTHING: Mapping[str, Any] = MappingProxyType({})
WORD = re.compile(r"[\w.]*$")


def complete(text: str, frame: FrameType, kernel: Mapping[str, Any] = NOTHING) -> list[str]:
    """Whole replacements for the last word of `text`, attributes with their prefix; `kernel` goes before the frame."""
    found = WORD.search(text)
    word = found.group() if found else ""
    if "." in word:
        return _attributes(word, (kernel, frame.f_locals, frame.f_globals, vars(builtins)))
    names = set(keyword.kwlist) | set(dir(builtins)) | set(kernel) | set(frame.f_globals) | set(frame.f_locals)
    private = word.startswith("_")
    return sorted(n for n in names if isinstance(n, str) and n.startswith(word) and (private or n[:1] != "_"))[:LIMIT]


def _attributes(word: str, scopes: Sequence[Mapping[str, Any]]) -> list[str]:
    prefix, _, start = word.rpartition(".")
    if not prefix:
        return []
    first, *rest = prefix.split(".")
    for names in scopes:
        if first in names:
            value = names[first]
            break
    else:
        return []
    try:
        for part in rest:
            value = getattr(value, part)
        every = dir(value)
    except Exception:  # noqa: BLE001 - a property of the program's may raise anything: nothing to offer then
        return []
    private = start.startswith("_")
    names_found = [n for n in every if n.startswith(start) and (private or n[:1] != "_")]
    return [f"{prefix}.{name}" for name in sorted(names_found)[:LIMIT]]
