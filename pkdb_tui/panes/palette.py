"""Styles by role, made from a theme: the only place where panes get colours from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.style import Style


def _color(value: str) -> str:
    """Rich's name of a colour; Textual writes the sixteen as `ansi_*`."""
    return value.removeprefix("ansi_") if value.startswith("ansi_") else value


@dataclass(frozen=True)
class Palette:
    """Rich styles for everything panes draw."""

    text: Style
    dim: Style
    rule: Style
    here: Style
    here_line: Style
    changed: Style
    fault: Style
    kernel: Style
    keyword: Style
    string: Style
    number: Style
    comment: Style
    name: Style
    cursor: Style

    @classmethod
    def of(cls, colors: Mapping[str, str], *, colorless: bool = False) -> Palette:
        """`colorless`: what colour says otherwise is said by reversing and underlining."""

        def plain(role: str, *, bold: bool | None = None, italic: bool | None = None) -> Style:
            return Style(color=_color(colors[role]), bold=bold, italic=italic)

        return cls(
            text=plain("foreground"),
            dim=plain("dim"),
            rule=plain("rule"),
            here=plain("here", bold=True),
            # Of sixteen colours, few can be read on another one: there one colour takes the place of all.
            here_line=Style(
                color=_color(colors["here_foreground"]) if "here_foreground" in colors else None,
                bgcolor=_color(colors["here_background"]),
                reverse=colorless or None,
            ),
            changed=plain("changed") + Style(underline=colorless or None),
            fault=plain("fault", bold=True),
            kernel=plain("kernel"),
            keyword=plain("keyword"),
            string=plain("string"),
            number=plain("number"),
            comment=plain("comment", italic=True),
            name=plain("name"),
            cursor=Style(reverse=True),
        )
