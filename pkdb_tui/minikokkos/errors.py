"""What the embedded runtime refuses, with the file, the line and a caret."""

from __future__ import annotations

import linecache

TOO_DEEP = "this is nested too deeply to be translated: give parts of it names in statements of their own"

WIDTH = 120


class MinikokkosError(Exception):
    """Base of this runtime's errors."""


class CompileError(MinikokkosError):
    """A kernel that can't be translated or compiled; `str` shows the Python line and a caret under the construct."""

    def __init__(self, message: str, file: str = "", line: int = 0, column: int = -1) -> None:
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        super().__init__(self._text())

    def _text(self) -> str:
        if not self.line:
            return self.message
        text = f"{self.file}:{self.line}: {self.message}"
        source = linecache.getline(self.file, self.line).rstrip("\n")
        if source:
            column = max(self.column - (len(source) - len(source.lstrip())), 0)
            shown, column = _around(source.strip(), column)
            text += f"\n    {shown}"
            if self.column >= 0:
                text += "\n    " + " " * column + "^"
        return text


def _around(source: str, column: int) -> tuple[str, int]:
    """What a terminal's line has room for of a long one, and where its column is in that."""
    begin = max(column - WIDTH // 2, 0) if len(source) > WIDTH else 0
    end = begin + WIDTH
    before, behind = "…" if begin else "", "…" if end < len(source) else ""
    return f"{before}{source[begin:end]}{behind}", column - begin + len(before)


class ArgumentError(MinikokkosError, TypeError):
    """A launch whose arguments don't fit the kernel."""


class DeviceError(MinikokkosError, RuntimeError):
    """A device that isn't there, or a kernel that failed on it."""


class KernelFault(DeviceError):
    """A kernel that failed on a device, which runs nothing for this process any more."""
