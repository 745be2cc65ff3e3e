"""Stands in for a native debugger: plays a session that was recorded with a real one.

`>` is a command, of which the name is compared. `<` is what was printed behind it, with `{token}` for the command's
number. `#` is for whoever reads the file. Commands named after the record are polls: how often they come is a matter of
time, so one too many gets the latest answer again, and for one too few its answer is left out.
"""

from __future__ import annotations

import re
import sys


def main() -> None:
    polls = set(sys.argv[2:])
    blocks, at, answers = _blocks(sys.argv[1]), 0, dict[str, str]()
    while given := sys.stdin.readline():
        token, name = _taken_apart(given)
        left_out = ""
        while at < len(blocks) and blocks[at][0] != name and blocks[at][0] in polls and name not in polls:
            left_out += "".join(line for line in blocks[at][1].splitlines(True) if "{token}" not in line)
            at += 1
        if at < len(blocks) and blocks[at][0] == name:
            text = blocks[at][1]
            at += 1
            if name in polls:
                answers[name] = "".join(line for line in text.splitlines(True) if "{token}" in line)
        elif name in answers:
            text = answers[name]
        else:
            there = blocks[at][0] if at < len(blocks) else "nothing more"
            text = f'{{token}}^error,msg="the recorded session has {there} here, not {name}"\n'
        # In one piece: what comes together is not to be taken for what comes one after the other.
        sys.stdout.write((left_out + text).replace("{token}", token))
        sys.stdout.flush()


def _blocks(path: str) -> list[tuple[str, str]]:
    """Each command with the lines that followed it."""
    blocks: list[tuple[str, str]] = []
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            if line[:1] == ">":
                blocks.append((line[2:].rstrip("\n"), ""))
            elif line[:1] == "<":
                name, text = blocks.pop()
                blocks.append((name, text + line[2:]))
    return blocks


def _taken_apart(given: str) -> tuple[str, str]:
    found = re.match(r"(\d*)(.*)", given)
    assert found is not None
    return found[1], name_of(found[2])


def name_of(command: str) -> str:
    """What is compared: the command, and of one in gdb's own language its first word."""
    found = re.match(r'(-interpreter-exec console "\w+|[-\w]+)', command)
    return found[1].replace('"', "") if found else command


if __name__ == "__main__":
    main()
