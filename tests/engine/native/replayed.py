"""Stands in for gdb: plays a recorded MI session. `>` waits for a command, `<` prints; `{token}` is that command's."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def main() -> None:
    tokens: list[str] = []
    for line in Path(sys.argv[1]).read_text().splitlines():
        kind, text = line[:1], line[2:]
        if kind == ">":
            command = sys.stdin.readline()
            if not command:
                return
            tokens.append(re.match(r"\d*", command)[0])  # type: ignore[index]
        elif kind == "<":
            for at, token in enumerate(tokens):
                text = text.replace(f"{{token{at + 1}}}", token)
            if tokens:
                text = text.replace("{token}", tokens[-1])
            sys.stdout.write(text.replace("{long}", "x" * 300_000) + "\n")
            sys.stdout.flush()
        elif kind == "!":
            sys.stdout.write(text)  # the last words of one that dies in the middle of a record
            sys.stdout.flush()
            return
    sys.stdin.read()


if __name__ == "__main__":
    main()
