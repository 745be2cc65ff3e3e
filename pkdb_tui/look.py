"""How the screen looks: the theme that was asked for or that the terminal can show, as Textual and panes need it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from textual.theme import Theme as TextualTheme

from pkdb_tui import config
from pkdb_tui.panes.palette import Palette

# What Textual's own style sheets ask of a theme in the terminal's colours.
ANSI_VARIABLES = {
    "ansi-background": "ansi_default",
    "ansi-foreground": "ansi_default",
    "border-blurred": "ansi_bright_black",
    "block-cursor-foreground": "ansi_black",
    "block-cursor-background": "ansi_white",
    "input-cursor-background": "ansi_white",
    "input-cursor-foreground": "ansi_black",
    "input-cursor-text-style": "none",
    "input-selection-background": "ansi_blue",
    "input-selection-foreground": "ansi_white",
    "screen-selection-background": "ansi_blue",
    "screen-selection-foreground": "ansi_white",
}
FEW_COLORS = "ansi-16"
MANY_COLORS = re.compile("256color|direct|kitty|alacritty|foot|ghostty|wezterm|contour|iterm")


@dataclass(frozen=True)
class Look:
    palette: Palette
    theme: TextualTheme


def many_colors(environment: Mapping[str, str]) -> bool:
    """Whether the terminal says that it has 256 colours or more."""
    if environment.get("COLORTERM", "") in ("truecolor", "24bit"):
        return True
    return bool(MANY_COLORS.search(environment.get("TERM", "")))


def fitting_theme(environment: Mapping[str, str]) -> str:
    """The default theme, or the one of sixteen colours where there are no more or none are wanted."""
    return "dark" if many_colors(environment) and "NO_COLOR" not in environment else FEW_COLORS


def look(asked: str, environment: Mapping[str, str]) -> Look:
    """Raises UsageError for a theme that isn't there."""
    chosen = config.theme(asked or fitting_theme(environment))
    colors = chosen.colors
    theme = TextualTheme(
        name=f"pkdb-{chosen.name}", primary=colors["here"], background=colors["background"],
        surface=colors["surface"], panel=colors["rule"], foreground=colors["foreground"], warning=colors["changed"],
        error=colors["fault"], accent=colors["here"], dark=chosen.dark, ansi=chosen.ansi,
        variables=ANSI_VARIABLES if chosen.ansi else {},
    )  # fmt: skip
    return Look(Palette.of(colors, colorless="NO_COLOR" in environment), theme)
