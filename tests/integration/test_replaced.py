"""What a program replaces for itself, builtins and library functions, isn't replaced for the debugger inside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli import FIXTURES, plain

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


def test_of_all_functions_that_the_program_replaces_the_debugger_calls_none() -> None:
    lines = (FIXTURES / "replacing.py").read_text().splitlines()
    line = {text: number for number, text in enumerate(lines, 1)}
    run = plain(
        "--runtime", "embedded", "replacing.py",
        commands=[
            f"break {line['    twice = n * 2']} if n > 2", "continue", "print n * 7", "where", "next", "step", "locals",
            "q = [k * n for k in range(3)]", "def f(a): return a + n", "f(100)", "1 / 0", "debug work(7)", "continue",
            "finish", f"log {line['    a += k']} a is {{a}}", "continue", "threads", "delete 1",
            f"break {line['    v[i] = v[i] * 0.5']} if v[i] > 1.0", "continue", "print v[3]", "where", "next", "sum(v)",
            "delete 3", "hotswap halve double", f"tbreak {line['value = v[0]']}", "continue", "print a", "continue",
        ],
    )  # fmt: skip
    assert run.err.splitlines() == [
        "error: ZeroDivisionError: division by zero",
        "error: the command `1 / 0` was refused",
    ]
    said = ["21", "103", "replacing.py:86 a is 2", "8.0", "4"]
    assert [each for each in run.lines if each in said] == said
    assert [" ".join(stop.rpartition("replacing.py:")[2].split()[:3]) for stop in run.stops] == [
        "1 in <module>", "75 in work", "76 in work", "77 in work", "75 in work", "77 in work", "77 in work",
        "75 in work", "66 in halve", "66 in halve", "92 in <module>",
    ]  # fmt: skip
    assert run.lines[-2:] == ["value 8.0 called by the debugger: []", "exited: status 0"]


def test_code_typed_at_a_stop_sees_what_the_program_has_replaced(tmp_path: Path) -> None:
    (tmp_path / "replaced.py").write_text(PROGRAM)
    run = plain("replaced.py", "builtins.len", commands=["break 6", "continue", "len([])"], folder=tmp_path)
    assert run.err.startswith("error: AssertionError: the program's own replacement was called")


def test_what_the_program_pickles_is_nothing_of_the_debuggers(tmp_path: Path) -> None:
    (tmp_path / "pickles.py").write_text(
        "import pickle, re\npattern = re.compile('a+')\nprint(pickle.loads(pickle.dumps(pattern)) == pattern)\n"
    )
    run = plain("pickles.py", commands=["continue"], folder=tmp_path)
    assert (run.err, run.lines[-2:]) == ("", ["True", "exited: status 0"])


def test_code_typed_in_a_function_without_builtins_of_its_own_gets_the_programs(tmp_path: Path) -> None:
    (tmp_path / "bare.py").write_text(
        "import sys\nfrom types import FunctionType\n\ndef work():\n    return abs(-3)\n\n"
        "bare = FunctionType(work.__code__, {'sys': sys})\nprint(bare())\n"
        "print(bare.__globals__['__builtins__']['__import__'].__module__)\n"
    )
    commands = ["break 5 if abs(-1) == 1", "continue", "import json; json is sys.modules['json']", "continue"]
    run = plain("bare.py", commands=commands, folder=tmp_path)
    assert (run.err, run.status) == ("", 0)
    assert run.stops[-1].endswith("bare.py:5 in work")
    assert [line for line in run.lines if line in ("True", "False")] == ["True"]
    assert run.lines[-3:] == ["3", "builtins", "exited: status 0"]
