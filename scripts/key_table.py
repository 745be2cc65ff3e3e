"""Writes the key table of the README from the keys themselves; `--check` only says whether it is current."""

from __future__ import annotations

import sys
from pathlib import Path

from pkdb_tui.keys import KEYS, PANE_KEYS, PANES, shown

BEGIN, END = "<!-- keys -->", "<!-- end of keys -->"


def table() -> str:
    rows = ["| key | what it does | name in `[keys]` |", "|---|---|---|"]
    for key in (*KEYS, *PANE_KEYS):
        pressed = " ".join("`` ` ``" if shown(k) == "`" else f"`{shown(k)}`" for k in key.keys.split(","))
        where = {"": "", "any": ""}.get(key.pane, f"{key.pane}: ")
        rows.append(f"| {pressed} | {where}{key.about} | `{key.name}` |")
    rows.append(f"| `1`-`9` | go to a pane: {', '.join(PANES)} | `pane_source` … |")
    return "\n".join(rows)


def renewed(text: str) -> str:
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    readme = Path("README.md")
    new = renewed(readme.read_text())
    if "--check" in sys.argv:
        sys.exit(0 if new == readme.read_text() else "The README's key table is old: run scripts/key_table.py")
    readme.write_text(new)
