"""Runs inside gdb: names of files and functions, as texts."""

from __future__ import annotations

import re

MARK = re.compile(r"#(pkdb\d+(\.\d+)?|turn)$")
CONDITIONS = re.compile(r"#pkdb\d+(\.\d+)?$")  # behind a file's name: a place of conditions that are compiled in
TURN = "#turn"  # behind a file's name: the test of a loop, which each turn comes to


def unmarked(name: str) -> str:
    """The source name of a line, also where what is placed on it has a name of its own."""
    return MARK.sub("", name)


def python_name(name: str | None) -> str:
    """The Python file behind a source name, or an empty text for anything that isn't Python's."""
    plain = unmarked(name or "")
    return plain if plain.endswith(".py") else ""


def in_python(name: str) -> str:
    """The name of a variable or function in the program: the embedded runtime ends those that C++ has no use of."""
    return name.removesuffix("__py")


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
    return in_python(joined.rsplit("::", 1)[-1].split(" ")[-1])


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


def is_implicit(name: str | None) -> bool:
    """Whether a function is one that the compiler wrote for a lambda: its constructors and destructor."""
    return bool(re.search(r"(?:^|::)~?<lambda", name or ""))


def is_lambda(name: str | None) -> bool:
    """Whether a function is a lambda's body: `operator()` of nothing, or of something in a function."""
    return bool(re.search(r"(?:^|\}::|E\d*_::)operator\(\)(?:\([^{}]*\)[ a-z]*)?$", name or ""))


def is_lambda_type(name: str) -> bool:
    """Whether a type is that of a lambda, as g++ or clang write it, or as nvcc does: mangled."""
    return "<lambda" in name or bool(re.search(r"^_ZZ.*Ul.*E\d*_$", name))


def workunit(function: str, kernel: str, entry: str) -> str:
    """What a workunit call is called: of a kernel with several, the one whose tag the function takes, or a lambda."""
    if not entry.endswith(f"_{kernel}::operator()"):
        return kernel
    tag = re.search(r"(\w+)_tag const&", function)
    return tag.group(1) if tag else "lambda" if is_lambda(function) else kernel


def escaped(path: str) -> str:
    """A file name as one word of a command's arguments."""
    return re.sub(r"([^\w/.\-])", r"\\\1", path)


def quoted(name: str) -> str:
    """A file name as a linespec has it: it knows no escapes, but finds files by the last parts of their names."""
    parts = name.split("/")
    while len(parts) > 1 and any(mark in part for part in parts for mark in "'\""):
        parts.pop(0)
    return '"' + "/".join(parts) + '"'
