"""Runs inside gdb: names of files and functions, as texts."""

from __future__ import annotations

import re

MARK = re.compile(r"#(pkdb\d+|turn)$")
TURN = "#turn"  # behind a file's name: the test of a loop, which each turn comes to


def python_name(name: str | None) -> str:
    """The Python file behind a source name, or an empty text for anything that isn't Python's."""
    plain = MARK.sub("", name or "")
    return plain if plain.endswith(".py") else ""


def plain_name(name: str | None) -> str:
    """A function's own name: parameters, templates and namespaces cut off."""
    text = re.sub(r"\s*\[.*\]$", "", name or "")
    depth, kept = 0, []
    for ch in text:
        if ch in "<({":
            depth += 1
        if depth == 0:
            kept.append(ch)
        if ch in ">)}":
            depth -= 1
    joined = "".join(kept).strip()
    if "operator" in joined:
        return joined[joined.rindex("operator") :] + "()"
    return joined.rsplit("::", 1)[-1].split(" ")[-1]


def qualified(name: str | None) -> str:
    """The name with namespaces but without templates and parameters."""
    text, depth, kept = name or "", 0, []
    for position, ch in enumerate(text):
        if ch == "<":
            depth += 1
        if ch == "(" and depth == 0 and not text[:position].endswith("operator"):
            break
        if depth == 0:
            kept.append(ch)
        if ch == ">":
            depth -= 1
    return "".join(kept).strip()


def escaped(path: str) -> str:
    """A file name as one word of a command's arguments."""
    return re.sub(r"([^\w/.\-])", r"\\\1", path)


def quoted(name: str) -> str:
    """A file name as a linespec has it: it knows no escapes, but finds files by the last parts of their names."""
    parts = name.split("/")
    while len(parts) > 1 and any(mark in part for part in parts for mark in "'\""):
        parts.pop(0)
    return '"' + "/".join(parts) + '"'
