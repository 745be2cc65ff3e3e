"""Stands in for cuda-gdb: plays a session recorded on a device. `>` is a command, of which the name is compared.

`<` is what was printed behind it, with `{token}` for the command's number. `#` is for whoever reads the file.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def main() -> None:
    token = ""
    for line in Path(sys.argv[1]).read_text().splitlines():
        kind, text = line[:1], line[2:]
        if kind == ">":
            given = sys.stdin.readline()
            if not given:
                return
            found = re.match(r"(\d*)(.*)", given)
            assert found is not None
            token = found[1]
            if name_of(found[2]) != text:
                print(f'{token}^error,msg="the recorded session has {text} here, not {name_of(found[2])}"', flush=True)
                return
        elif kind == "<":
            print(text.replace("{token}", token), flush=True)
    sys.stdin.read()


def name_of(command: str) -> str:
    """What is compared: the command, and of one in gdb's own language its first word."""
    found = re.match(r'(-interpreter-exec console "\w+|[-\w]+)', command)
    return found[1].replace('"', "") if found else command


if __name__ == "__main__":
    main()
