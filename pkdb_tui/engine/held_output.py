"""Output of the program that has been read and not been delivered yet."""

from __future__ import annotations


class HeldOutput:
    """Keeps at most `most` bytes; older ones are dropped and counted."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._parts: list[bytes] = []
        self._bytes = 0
        self._dropped = 0
        self._waited = False  # the line that was begun has been held once already

    def __bool__(self) -> bool:
        return bool(self._parts or self._dropped)

    def add(self, data: bytes) -> None:
        self._parts.append(data)
        self._bytes += len(data)
        while self._bytes > self._most:
            oldest = self._parts.pop(0)
            self._bytes -= len(oldest)
            self._dropped += len(oldest)

    def take(self) -> tuple[bytes, int]:
        """(all that is held, how many bytes were dropped before it)."""
        data, dropped = b"".join(self._parts), self._dropped
        self._parts, self._bytes, self._dropped, self._waited = [], 0, 0, False
        return data, dropped

    def take_lines(self) -> tuple[bytes, int]:
        """The same, but a line that was only begun is held.

        A terminal may hand out what was written at once in two parts, and what the debugger says in between would stand
        inside the line.
        """
        waited = self._waited
        data, dropped = self.take()
        end = data.rfind(b"\n") + 1
        if begun := data[end:]:
            self.add(begun)
            self._waited = waited and not end
        return data[:end], dropped

    def take_later(self) -> tuple[bytes, int]:
        """The same, but a line that was only begun is held until the next time."""
        if self._waited and not any(b"\n" in part for part in self._parts):
            return self.take()
        taken = self.take_lines()
        self._waited = bool(self._parts)
        return taken
