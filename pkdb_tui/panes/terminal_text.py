"""The program's output: stored compactly by the million lines, and drawn as a terminal would."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque

from rich.ansi import AnsiDecoder
from rich.style import Style

Row = list[tuple[str, Style]]
BLOCK_LINES = 2000
BLOCK_BYTES = 1 << 16
LIMIT = 1_000_000  # lines kept
LONGEST = 4000  # characters drawn of one line
_CONTROL = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b[=>]|[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CURSOR = re.compile(r"\x1b\[([0-9;?]*)([A-Za-ln-z])")


class LineStore:
    """Lines of bytes in blocks; the oldest are dropped beyond the limit and counted.

    What comes in large pieces is taken apart only where it is looked at.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._blocks: deque[bytes] = deque()  # one object instead of thousands of lines: far less memory
        self._counts: deque[int] = deque()  # lines of each block
        self._starts: deque[int] = deque()  # number of the first line of each block, dropped ones included
        self._open: list[bytes] = []
        self._closed = 0
        self._apart: tuple[int, list[bytes]] = (-1, [])  # (its start, lines) of the block that was looked at last
        self.dropped = 0
        self.partial = b""

    def __len__(self) -> int:
        return self._closed + len(self._open) + (1 if self.partial else 0)

    def append(self, data: bytes) -> None:
        data = self.partial + data
        end = data.rfind(b"\n") + 1
        data, self.partial = data[:end], data[end:]
        if len(self.partial) > 1 << 16:  # a "line" without end, such as a progress bar: keep what is visible of it
            self.partial = self.partial[-(1 << 15) :]
        if len(data) > BLOCK_BYTES:
            self._close_open()
            self._close_pieces(data)
        elif data:
            self._open += data[:-1].split(b"\n")
            if len(self._open) >= BLOCK_LINES:
                self._close_open()

    def _close_pieces(self, data: bytes) -> None:
        """Whole lines, in blocks of about the usual size."""
        begin = 0
        while begin < len(data):
            end = data.find(b"\n", begin + BLOCK_BYTES) + 1 or len(data)
            block = data[begin : end - 1]
            self._close(block, block.count(b"\n") + 1)
            begin = end

    def _close_open(self) -> None:
        if self._open:
            self._close(b"\n".join(self._open), len(self._open))
            self._open = []

    def _close(self, block: bytes, lines: int) -> None:
        self._starts.append(self._closed + self.dropped)
        self._blocks.append(block)
        self._counts.append(lines)
        self._closed += lines
        while self._closed > self._limit:
            self._blocks.popleft()
            self._starts.popleft()
            gone = self._counts.popleft()
            self._closed -= gone
            self.dropped += gone

    def line(self, index: int) -> bytes:
        """Line `index`, counted from the oldest kept."""
        if index >= self._closed:
            index -= self._closed
            return self._open[index] if index < len(self._open) else self.partial
        number = index + self.dropped
        block = bisect_right(self._starts, number) - 1
        start = self._starts[block]
        if self._apart[0] != start:
            self._apart = start, self._blocks[block].split(b"\n")
        return self._apart[1][number - start]

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


def uncoloured(line: str) -> str:
    """What a line of any length looks like, without its colours."""
    if line.isprintable():
        return line
    text = _CONTROL.sub("", line.removesuffix("\r").expandtabs(8))
    return AnsiDecoder().decode_line(overwrite(text)).plain


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
