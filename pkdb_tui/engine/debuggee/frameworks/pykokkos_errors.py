"""Translation and compile errors of PyKokkos, which prints them and ends the program, as a sentence with their line."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable
from typing import Any, TextIO, cast

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_TRANSLATION = re.compile(r"Error on line (\d+)\s*: *(.*)")
_SYMBOL = re.compile(r'File "([^"]+)", line (\d+):\s*\n?\s*(.*)')
_CPP = re.compile(r"(\S+\.py):(\d+):\d+: (?:fatal )?error: (.*)")
_FROM_CPP = "C++ compilation in "


class _Tee(io.TextIOBase):
    """Passes on what is written, and keeps it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.kept: list[str] = []

    def write(self, text: str) -> int:
        self.kept.append(text)
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()


def heard(compile_object: Callable[..., Any]) -> Callable[..., Any]:
    """PyKokkos' `Compiler.compile_object`, whose SystemExit then carries what was printed before it as `pkdb_said`."""

    def listening(self: Any, module_setup: Any, *args: Any, **kwargs: Any) -> Any:
        if module_setup.output_dir in self.is_compiled_cache:
            return compile_object(self, module_setup, *args, **kwargs)
        tee = _Tee(sys.stdout)
        try:
            with contextlib.redirect_stdout(cast(TextIO, tee)):
                return compile_object(self, module_setup, *args, **kwargs)
        except SystemExit as error:
            error.pkdb_said = "".join(tee.kept) + (error.code if isinstance(error.code, str) else "")  # type: ignore[attr-defined]
            raise

    return listening


def plain(said: str) -> str:
    return _ANSI.sub("", said).strip()


def from_cpp(said: str) -> bool:
    """Whether the C++ compiler refused a build of PyKokkos' own, whose messages name generated lines."""
    return _FROM_CPP in said


def explain(said: str, kernel: str, file: str) -> str:
    """What went wrong, at its Python line where that is known, and what follows for the program."""
    text = plain(said)
    place, message, what = "", text.splitlines()[0] if text else "it says nothing more", "translate"
    if found := _CPP.search(text):
        what = "compile"
        place, message = f"{os.path.basename(found.group(1))}:{found.group(2)}: ", found.group(3)
    elif found := _TRANSLATION.search(text):
        place, message = f"{os.path.basename(file)}:{found.group(1)}: ", found.group(2)
    elif found := _SYMBOL.search(text):
        place, message = f"{os.path.basename(found.group(1))}:{found.group(2)}: ", found.group(3)
    said = f"{place}{message.strip().rstrip('.')}"
    return f"{kernel} doesn't {what}: {said}. When it goes on, PyKokkos ends the program by SystemExit."
