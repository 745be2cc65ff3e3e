"""The source of decorated functions, taken when they are made: their files may be edited or deleted before a launch."""

from __future__ import annotations

import linecache
from types import FunctionType
from typing import Any

_KEPT = "__pk_lines__"


def keep_lines(function: Any) -> None:
    """Take the lines of the file that a function was made from just now."""
    if isinstance(function, FunctionType):
        name = function.__code__.co_filename
        linecache.checkcache(name)  # a module that was edited and reloaded
        function.__dict__[_KEPT] = linecache.getlines(name, function.__globals__)


def lines_of(function: FunctionType) -> list[str]:
    """The lines of a function's file as they were when it was made; empty where there is none."""
    return function.__dict__.get(_KEPT) or linecache.getlines(function.__code__.co_filename, function.__globals__)
