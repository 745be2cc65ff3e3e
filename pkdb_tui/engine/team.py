"""A kernel's team member, as Python sees it: where its team is in the league, and its thread in the team."""

from __future__ import annotations

import re
from dataclasses import dataclass

TYPE = "TeamMember"
_TEXT = re.compile(r"league rank (\d+) of (\d+), team rank (\d+) of (\d+)")
_METHODS = ("league_rank", "league_size", "team_rank", "team_size")


@dataclass(frozen=True)
class TeamMember:
    """The four numbers, and the text that the native debugger's side makes of them."""

    numbers: tuple[int, ...]
    text: str

    @classmethod
    def read(cls, text: str) -> TeamMember | None:
        """From that text; None for another."""
        found = _TEXT.fullmatch(text)
        return cls(tuple(map(int, found.groups())), text) if found else None

    def __repr__(self) -> str:
        return self.text

    def league_rank(self) -> int:
        return self.numbers[0]

    def league_size(self) -> int:
        return self.numbers[1]

    def team_rank(self) -> int:
        return self.numbers[2]

    def team_size(self) -> int:
        return self.numbers[3]


def has_method(name: str) -> bool:
    """Whether a kernel can ask its member for it and get a number."""
    return name in _METHODS
