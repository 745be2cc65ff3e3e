"""Texts as wide as the screen has room for, counted in columns: wide characters take two."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

INDENT = "  "  # of the rows after the first
PICTURES: dict[int, str] = {  # of characters that would move the terminal's cursor, or change it
    **{code: chr(0x2400 + code) for code in range(0x20)},
    0x7F: "␡",
    **dict.fromkeys(range(0x80, 0xA0), "�"),
}


def drawable(text: str) -> str:
    """The text as it can be drawn: control characters of the program's stand there as pictures."""
    return text if text.isprintable() else text.translate(PICTURES)


def fitted(text: str, width: int) -> str:
    """Exactly `width` columns, a longer text with `…` at its end."""
    return set_cell_size(text, width - 1) + "…" if cell_len(text) > width else set_cell_size(text, width)


def longest(texts: list[str], most: int) -> int:
    """The columns the widest of them takes, at most `most`."""
    return min(most, max(map(cell_len, texts), default=0))


def wrapped(text: str, width: int) -> list[str]:
    """Rows of at most `width` columns, all but the first indented; nothing but blanks at a break is left out.

    A row ends at a blank unless that leaves it half empty.
    """
    width = max(width, len(INDENT) + 2)
    rows: list[str] = []
    while cell_len(text) > width:
        # A wide character that doesn't fit is replaced by a blank, so the part may be one too long to be the text's.
        part = set_cell_size(text, width)
        part = part if text.startswith(part) else part[:-1]
        cut = part.rfind(" ")
        cut = cut if cut > len(part) // 2 else len(part)
        rows.append(text[:cut].rstrip())
        text = INDENT + (text[cut:].lstrip() if cut < len(part) else text[cut:])
    return [*rows, text]
