"""An interactive session brings back what the last one had; scripts of commands neither see nor change it."""

from __future__ import annotations

from pathlib import Path

import pexpect
from cli import PROMPT, plain, terminal


def session(folder: Path, state: Path, *lines: str) -> str:
    """What a person sees who types these lines and leaves."""
    with terminal("hello.py", folder=folder, state=state) as child:
        for line in lines:
            child.expect_exact(PROMPT)
            child.sendline(line)
        child.expect_exact(PROMPT)
        child.sendeof()
        child.expect(pexpect.EOF)
        return (child.before or "").replace("\r\n", "\n")


def test_breakpoints_and_displays_come_back_and_an_edit_is_told(tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text("x = 1\ny = x + 1\nprint(y)\n")
    state = tmp_path / "state"
    session(tmp_path, state, "break 2 if x == 1", "display x", "tbreak 3")
    with terminal("hello.py", folder=tmp_path, state=state) as child:
        child.expect_exact("note: Back from the last session: 1 breakpoint, 1 display.")
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("stopped: breakpoint 1 hello.py:2 in <module>")
        child.expect_exact("1: x = 1")
        child.expect_exact(PROMPT)
        child.sendline("quit")
        child.expect(pexpect.EOF)
    (tmp_path / "hello.py").write_text("import sys\nx = 1\ny = x + 1\nprint(y)\n")
    with terminal("hello.py", folder=tmp_path, state=state) as child:
        child.expect_exact("warning: Breakpoint 1: line 2 of hello.py changed since this breakpoint was saved.")
        child.expect_exact(PROMPT)
        child.sendline("info breakpoints")
        child.expect_exact("(line 2 of hello.py changed since this breakpoint was saved)")
        child.expect_exact(PROMPT)
        child.sendline("quit")
        child.expect(pexpect.EOF)


def test_scripts_of_commands_and_pipes_neither_see_nor_change_it(tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text("x = 1\ny = x + 1\nprint(y)\n")
    state = tmp_path / "state"
    session(tmp_path, state, "break 2")
    (kept,) = (state / "programs").iterdir()
    before = kept.read_bytes()
    for run in (
        plain("hello.py", commands=["break 3", "continue"], folder=tmp_path, state=state),
        plain("hello.py", stdin="break 3\ncontinue\n", folder=tmp_path, state=state),
    ):
        assert run.stops[1] == "stopped: breakpoint 1 hello.py:3 in <module>"
    assert kept.read_bytes() == before


def test_a_damaged_file_is_told_and_the_session_goes_on(tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text("x = 1\n")
    state = tmp_path / "state"
    session(tmp_path, state, "break 1")
    (kept,) = (state / "programs").iterdir()
    kept.write_text("{")
    with terminal("hello.py", folder=tmp_path, state=state) as child:
        child.expect_exact("warning: What was saved for this program in ")
        child.expect_exact("stopped: start hello.py:1 in <module>")
        child.expect_exact(PROMPT)
        child.sendline("quit")
        child.expect(pexpect.EOF)
