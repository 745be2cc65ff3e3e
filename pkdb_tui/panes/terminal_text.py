"""The program's output: stored compactly by the million lines, and drawn as a terminal would."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque

from rich.ansi import AnsiDecoder
from rich.style import Style

Row = list[tuple[str, Style]]
BLOCK_LINES = 2000
LIMIT = 1_000_000  # lines kept
LONGEST = 4000  # characters drawn of one line
_CONTROL = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b[=>]|[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CURSOR = re.compile(r"\x1b\[([0-9;?]*)([A-Za-ln-z])")


class LineStore:
    """Lines of bytes in blocks; the oldest are dropped beyond the limit and counted."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._blocks: deque[list[bytes] | bytes] = deque()
        self._starts: deque[int] = deque()  # number of the first line of each block, dropped ones included
        self._open: list[bytes] = []
        self._closed = 0
        self.dropped = 0
        self.partial = b""

    def __len__(self) -> int:
        return self._closed + len(self._open) + (1 if self.partial else 0)

    def append(self, data: bytes) -> None:
        *lines, self.partial = (self.partial + data).split(b"\n")
        if len(self.partial) > 1 << 16:  # a "line" without end, such as a progress bar: keep what is visible of it
            self.partial = self.partial[-(1 << 15) :]
        self._open += lines
        while len(self._open) >= BLOCK_LINES:
            self._close(self._open[:BLOCK_LINES])
            del self._open[:BLOCK_LINES]

    def _close(self, lines: list[bytes]) -> None:
        self._starts.append(self._closed + self.dropped)
        # One bytes object instead of thousands: an order of magnitude less memory.
        self._blocks.append(b"\n".join(lines))
        self._closed += len(lines)
        while self._closed > self._limit:
            self._blocks.popleft()
            self._starts.popleft()
            self._closed -= BLOCK_LINES
            self.dropped += BLOCK_LINES

    def line(self, index: int) -> bytes:
        """Line `index`, counted from the oldest kept."""
        if index >= self._closed:
            index -= self._closed
            return self._open[index] if index < len(self._open) else self.partial
        block = bisect_right(self._starts, index + self.dropped) - 1
        lines = self._blocks[block]
        if isinstance(lines, bytes):
            lines = lines.split(b"\n")
            self._blocks[block] = b"\n".join(lines)
        return lines[index + self.dropped - self._starts[block]]

    def clear(self) -> None:
        self.__init__(self._limit)  # type: ignore[misc]


def overwrite(text: str) -> str:
    """What a line looks like after carriage returns, backspaces and erasing, colours kept where they stand."""
    if "\r" not in text and "\b" not in text and not _CURSOR.search(text):
        return text
    cells: list[str] = []
    column = 0
    colour = ""
    position = 0
    while position < len(text):
        ch = text[position]
        if ch == "\r":
            column = 0
        elif ch == "\b":
            column = max(0, column - 1)
        elif ch == "\x1b":
            found = _COLOUR.match(text, position)
            if found:
                colour = found[0]
                position = found.end()
                continue
            moved = _CURSOR.match(text, position)
            if moved:
                column = _move(moved[1], moved[2], column, cells)
                position = moved.end()
                continue
        else:
            while len(cells) < column:
                cells.append(" ")
            cells[column : column + 1] = [colour + ch]
            column += 1
        position += 1
    return "".join(cells)


def _move(arguments: str, letter: str, column: int, cells: list[str]) -> int:
    """Cursor moves within the line and erasing; anything else changes nothing."""
    count = int(arguments) if arguments.isdigit() else 1
    if letter == "K":
        if arguments in ("", "0"):
            del cells[column:]
        elif arguments == "2":
            cells.clear()
    elif letter == "C":
        column += count
    elif letter == "D":
        column = max(0, column - count)
    elif letter == "G":
        column = max(0, count - 1)
    elif letter == "P":
        del cells[column : column + count]
    return column


def styled(line: bytes, base: Style) -> Row:
    """A line as styled text, with the program's own colours."""
    text = _CONTROL.sub("", line.decode("utf-8", "replace")[:LONGEST].removesuffix("\r").expandtabs(8))
    if "\x1b" not in text and "\r" not in text and "\b" not in text:
        return [(text, base)]
    decoded = AnsiDecoder().decode_line(overwrite(text))
    plain = decoded.plain
    row: Row = []
    position = 0
    for span in sorted(decoded.spans, key=lambda span: span.start):
        if span.start > position:
            row.append((plain[position : span.start], base))
        style = span.style if isinstance(span.style, Style) else Style.parse(span.style)
        row.append((plain[span.start : span.end], base + style))
        position = span.end
    row.append((plain[position:], base))
    return row
