"""Completing what is typed: the last word of a command, the name of a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple


class Completions(NamedTuple):
    """The end of a text that is being typed, and what may stand in its place."""

    typed: str
    matches: list[str]


def files(text: str) -> list[str]:
    """Files and folders (with a slash) that begin with the text, in order; hidden ones when a dot is typed."""
    folder, beginning = os.path.split(text)
    try:
        entries = list(os.scandir(os.path.expanduser(folder) or "."))
    except OSError:
        return []  # no such folder: nothing completes it
    names = sorted(
        entry.name + ("/" if entry.is_dir() else "")
        for entry in entries
        if entry.name.startswith(beginning) and (beginning.startswith(".") or not entry.name.startswith("."))
    )
    return [os.path.join(folder, name) for name in names]


def common(words: Sequence[str]) -> str:
    """What all of them begin with."""
    first, last = min(words), max(words)
    length = 0
    while length < min(len(first), len(last)) and first[length] == last[length]:
        length += 1
    return first[:length]


def last_word(text: str) -> str:
    """The word being typed: words are dotted names and paths."""
    position = len(text)
    while position and (text[position - 1].isalnum() or text[position - 1] in "_.-/~"):
        position -= 1
    return text[position:]


def file_named(arguments: str) -> Completions:
    """Files for what is typed behind a command that takes one, whose name may have blanks and stand in quotes."""
    bare = arguments[1:] if arguments[:1] in ("'", '"') else arguments
    for typed in (bare, last_word(bare)):
        if matches := files(typed):
            return Completions(typed, matches)
    return Completions(last_word(arguments), [])
