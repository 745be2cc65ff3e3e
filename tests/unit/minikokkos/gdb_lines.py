"""What gdb makes of a kernel library, asked through its own Python."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

_SCRIPT = """
import gdb, json
found = {}
seen = set()
for symbol in gdb.lookup_static_symbols('pk_body') or []:
    pass
table = gdb.execute('maint info line-table', to_string=True)
name = ''
for line in table.splitlines():
    if line.startswith('symtab: '):
        name = line.split(' ')[1]
    parts = line.split()
    if len(parts) >= 4 and parts[0].isdigit() and parts[1].isdigit():
        found.setdefault(name, set()).add(int(parts[1]))
print('LINES', json.dumps({name: sorted(lines) for name, lines in found.items()}))
"""


def lines_with_code(library: str, folder: Path) -> dict[str, list[int]]:
    """Source name -> lines that have code."""
    script = folder / "lines.py"
    script.write_text(_SCRIPT)
    command = ["gdb", "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", "maint expand-symtabs"]
    done = subprocess.run([*command, "-x", str(script), library], capture_output=True, text=True, check=True)
    answer = next(line for line in done.stdout.splitlines() if line.startswith("LINES "))
    found: dict[str, list[int]] = json.loads(answer.removeprefix("LINES "))
    return found
