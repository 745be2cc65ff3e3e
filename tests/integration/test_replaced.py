"""What a program replaces for itself, builtins and library functions, isn't replaced for the debugger inside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli import plain

PROGRAM = """\
import sys
from unittest import mock

def work(n):
    twice = n * 2
    here = twice + 1
    return here

def broken(*arguments, **names):
    raise AssertionError("the program's own replacement was called")

with mock.patch(sys.argv[1], broken):
    a = work(3)
    b = a + 1
print("result", b)
"""
COMMANDS = [
    "break 6", "continue", "print n", "where", "next", "step", "locals", "tbreak 14", "condition 1 here > 3", "x = 5",
    "continue", "continue",
]  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        *(f"builtins.{name}" for name in ("len", "isinstance", "int", "open", "print", "id", "type", "__import__")),
        *("time.time", "time.sleep", "os.read", "os.write", "sys.exit", "sys._getframe", "_thread.get_ident"),
        *("json.dumps", "socket.socket", "threading.Thread", "collections.deque", "traceback.format_exception"),
    ],
)
def test_a_replaced_function_is_replaced_for_the_program_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / "replaced.py").write_text(PROGRAM)
    run = plain("replaced.py", name, commands=COMMANDS, folder=tmp_path)
    assert (run.err, run.status) == ("", 0)
    assert [stop.rpartition("replaced.py:")[2] for stop in run.stops] == [
        "1 in <module>", "6 in work", "7 in work", "7 in work returning 7", "14 in <module>",
    ]  # fmt: skip
    assert run.lines[-2:] == ["result 8", "exited: status 0"]
    assert "3" in run.lines


def test_code_typed_at_a_stop_sees_what_the_program_has_replaced(tmp_path: Path) -> None:
    (tmp_path / "replaced.py").write_text(PROGRAM)
    run = plain("replaced.py", "builtins.len", commands=["break 6", "continue", "len([])"], folder=tmp_path)
    assert run.err.startswith("error: AssertionError: the program's own replacement was called")
