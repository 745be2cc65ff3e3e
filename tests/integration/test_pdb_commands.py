"""Every command and alias of pdb, typed here, does what docs/pdb.md says of it, or is refused with advice."""

from __future__ import annotations

import pdb
import re
import sys
from pathlib import Path

import pexpect
import pytest
from cli import PROMPT, ROOT, plain, terminal

from pkdb_tui.commands import language, mistyped

NAMES = """EOF a alias args b break bt c cl clear commands condition cont continue d debug disable display down enable
exceptions exit h help ignore interact j jump l list ll longlist n next p pp q quit r restart return retval run rv s
source step tbreak u unalias undisplay unt until up w whatis where"""
OF_313 = frozenset(NAMES.split())

# At a stop in `price`, line 6 of orders.py, where breakpoint 2 lies on line 7: what is typed, and what comes of it.
TYPED = {
    "h n": "  Run this line, stepping over calls.",
    "help n": "  Run this line, stepping over calls.",
    "w": "   3 <module> orders.py:29 python",
    "where": ">  0 price orders.py:6 python",
    "bt": ">  0 price orders.py:6 python",
    "u": "orders.py:14 in invoice",
    "up 2": "orders.py:23 in main",
    "u ;; d": "orders.py:6 in price",
    "u ;; down 1": "orders.py:6 in price",
    "b": "breakpoint 2 at orders.py:7: bound",
    "break 8, quantity == 3": "breakpoint 3 at orders.py:8 if quantity == 3: bound",
    "tbreak": "breakpoint 2 at orders.py:7: bound",
    "tbreak invoice": "breakpoint 3 at orders.py:12, temporary: bound",
    "cl 2": "deleted 2; `break orders.py:7` sets it again",
    "clear orders.py:7": "deleted 2; `break orders.py:7` sets it again",
    "cl": "deleted 2; `break orders.py:7` sets it again",
    "disable 2": "disabled 2",
    "disable 2 ;; enable 2": "enabled 2",
    "ignore 2 1": "breakpoint 2 at orders.py:7 ignore next 1 hit: bound",
    "condition 2 unit > 1": "breakpoint 2 at orders.py:7 if unit > 1: bound",
    "s": "stopped: step orders.py:8 in price",
    "step": "stopped: step orders.py:8 in price",
    "n": "stopped: step orders.py:8 in price",
    "next": "stopped: step orders.py:8 in price",
    "unt": "stopped: step orders.py:8 in price",
    "until 8": "stopped: step orders.py:8 in price",
    "r": "stopped: step orders.py:8 in price returning 5.0",
    "return": "stopped: step orders.py:8 in price returning 5.0",
    "c": "stopped: breakpoint 2 orders.py:7 in price",
    "cont": "stopped: breakpoint 2 orders.py:7 in price",
    "continue": "stopped: breakpoint 2 orders.py:7 in price",
    "j 8": "stopped: step orders.py:8 in price",
    "jump 5": "stopped: step orders.py:5 in price",
    "l": "   11    def invoice(lines):",
    "list 12, 3": "   15        return round(",
    "ll": "    4    def price(quantity, unit):",
    "u ;; longlist": "   18        )",
    "a": "quantity  int  1",
    "args": "unit      float  5.0",
    "p total, unit": "(5.0, 5.0)",
    "pp {'total': total}": "{'total': 5.0}",
    "whatis total": "float",
    "display total": "1: total = 5.0",
    "display total ;; undisplay total": "watch 1 is deleted; `display total` brings it back",
    "!total": "5.0",
    "! total = 7 ;; total": "7",
    "debug price(10, 1.0)": "stopped: step orders.py:5 in price",
    "run": "stopped: start orders.py:1 in <module>",
    "restart": "stopped: start orders.py:1 in <module>",
}
ENDS = ("q", "quit", "exit")


def documented() -> dict[str, str]:
    """The command here of each of pdb's; empty where there is none."""
    found = {}
    for row in re.findall(r"^\| `.*", (ROOT / "docs" / "pdb.md").read_text(), re.MULTILINE):
        theirs, ours, _ = row.strip("| ").split("|", 2)
        groups, names = theirs.split(","), re.findall(r"`(\w+)`", ours)
        for number, group in enumerate(groups):
            name = names[number] if len(names) == len(groups) else "".join(names)
            found |= dict.fromkeys(re.findall(r"`(\w+)`", group), name)
    return found


def test_the_table_has_every_command_and_says_which_one_it_is() -> None:
    table = documented()
    assert set(table) == OF_313
    if sys.version_info[:2] == (3, 13):
        assert {name.removeprefix("do_") for name in dir(pdb.Pdb) if name.startswith("do_")} == OF_313
    for theirs, ours in table.items():
        command, _ = language.split(theirs)
        assert (command.name if command is not None else "") == ours, theirs
    assert {name for name, ours in table.items() if not ours} == set(mistyped.OF_PDB)


def test_each_is_typed_below() -> None:
    words = {part.split()[0] for line in (*TYPED, *ENDS) for part in language.parts(line)}
    assert OF_313 - set(mistyped.OF_PDB) - {"source"} <= words


@pytest.mark.parametrize("typed", TYPED)
def test_it_does_what_pdb_does(typed: str) -> None:
    run = plain("orders.py", commands=["tbreak 6", "continue", "break 7", typed])
    assert (run.err, run.status) == ("", 0)
    assert TYPED[typed] in run.lines[6:]


@pytest.mark.parametrize("typed", ENDS)
def test_it_ends_the_program(typed: str) -> None:
    run = plain("orders.py", commands=["tbreak 24", "continue", typed, "print 1"])
    assert (run.lines[-1], run.err, run.status) == ('  24     print("amount", amount)', "", 0)


def test_what_is_not_here_is_refused_with_what_to_do_instead() -> None:
    names = sorted(mistyped.OF_PDB)
    run = plain("orders.py", commands=[*names, *(f"{name} 1" for name in names), "$x = 1"])
    expected = [f"error: `{name}` is a command of pdb that isn't here. {mistyped.OF_PDB[name]}" for name in names]
    assert run.err.splitlines()[:-2] == expected * 2
    assert run.err.splitlines()[-2].endswith("Names need no `$` here: what is assigned stays with the frame.")


def test_a_variable_of_such_a_name_is_a_variable() -> None:
    run = plain("orders.py", commands=["retval = 5", "retval", "commands = [1]", "commands[0]", "alias"])
    assert run.lines[2:] == ["5", "1"]
    assert run.err.startswith("error: `alias` is a command of pdb")


def test_source_of_a_function_is_refused_with_what_to_do_instead() -> None:
    run = plain("orders.py", commands=["source price"])
    assert run.err.startswith("error: The command file price can't be read: No such file or directory. `list`")


def test_several_on_a_line_end_at_one_that_is_refused_and_texts_are_whole() -> None:
    run = plain("orders.py", commands=["tbreak 6;;continue", "p 'a;;b' ;; p absent ;; p 2", "log 8 {total};;", "c"])
    assert run.lines[5] == "'a;;b'"
    assert "2" not in run.lines
    assert run.err.splitlines() == [
        "error: NameError: name 'absent' is not defined",
        "error: the command `p absent` was refused",
    ]
    assert run.starting("orders.py:8") == ["orders.py:8 5.0;;", "orders.py:8 18.0;;", "orders.py:8 4.5;;"]


def test_longlist_is_of_the_frames_function_with_its_decorators(tmp_path: Path) -> None:
    head = "import functools\n\n\n@functools.cache\ndef outer(n):\n"
    body = "    def inner(m):\n        return m + n\n    return inner(n)\n"
    (tmp_path / "nested.py").write_text(f"{head}{body}\n\nouter(2)\n")
    run = plain("nested.py", folder=tmp_path, commands=["tbreak 7", "c", "ll", "u", "ll", "u", "ll"])
    numbers = [int(line[:5]) for line in run.lines if line[:5].strip().isdigit() and line[4] != " " and line[5] == " "]
    assert numbers == [6, 7, *range(4, 9), *range(1, 12)]


def test_an_empty_line_at_a_terminal_steps_again_and_repeats_no_statement() -> None:
    with terminal("orders.py") as child:
        child.expect_exact(PROMPT)
        for typed, shown in (("tbreak 12", "breakpoint 1"), ("c", ":12 in invoice"), ("n", ":13 in"), ("", ":14 in")):
            child.sendline(typed)
            child.expect_exact(shown)
            child.expect_exact(PROMPT)
        for typed in ("amount += 1", "", "print amount"):
            child.sendline(typed)
        child.expect_exact("1.0\r\n")
        child.expect_exact(PROMPT)
        child.sendline("quit")
        child.expect_exact(pexpect.EOF)
