"""What the program and the debugger write never meet inside a line, and nothing of it is lost."""

from __future__ import annotations

import subprocess

import pytest
from cli import COMMAND, FIXTURES, PROMPT, environment, plain, terminal


def said(how: str, *more: str) -> list[str]:
    run = plain("speaking.py", how, commands=["continue", *more])
    assert (run.err, run.status) == ("", 0)
    return run.lines[2:]


def test_output_without_a_line_end_is_ended_before_a_stop_is_told() -> None:
    run = plain("speaking.py", "partial", commands=["tbreak 12", "continue", "next", "continue"])
    assert run.lines[3:] == [
        "no end",
        "stopped: breakpoint 1 speaking.py:12 in <module>",
        '  12     print(" here", end="", flush=True)',
        " here",
        "stopped: step speaking.py:13 in <module>",
        '  13     print("", flush=True)',
        "",
        "done partial",
        "exited: status 0",
    ]


def test_errors_come_on_a_fresh_line() -> None:
    run = subprocess.run(
        [*COMMAND, "--plain", "-c", "tbreak 12", "-c", "continue", "-c", "print absent", "speaking.py", "partial"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        cwd=FIXTURES,
        env=environment(),
        text=True,
        timeout=60,
        check=False,
    )
    assert run.stdout.splitlines()[-2:] == [
        "error: NameError: name 'absent' is not defined",
        "error: the command `print absent` was refused",
    ]


def test_standard_error_of_the_program_is_its_output_not_the_debuggers_errors() -> None:
    assert said("stderr") == ["to stdout", "to stderr", "done stderr", "exited: status 0"]


def test_c_libraries_and_descriptors() -> None:
    assert said("c") == ["from puts", "from printf 42", "from fd 1", "done c", "exited: status 0"]


def test_child_processes() -> None:
    assert said("child") == ["from a child", "from a shell", "its error", "done child", "exited: status 0"]


def test_bytes_that_are_not_text_are_shown_as_such() -> None:
    assert said("bytes")[0] == "bad � byte, café"


def test_a_flood_arrives_whole() -> None:
    lines = said("flood")
    assert lines[:200_000] == [str(number) for number in range(200_000)]
    assert lines[200_000:] == ["done flood", "exited: status 0"]


def test_output_comes_before_the_stop_after_it() -> None:
    run = plain("orders.py", commands=["tbreak 25", "continue"])
    assert run.lines[3:5] == ["amount 27.5", "stopped: breakpoint 1 orders.py:25 in main"]


def test_the_program_has_a_terminal_and_gets_input_by_command() -> None:
    run = plain("speaking.py", "tty", commands=["tbreak 32", "continue", "send-input Ada Lovelace", "continue"])
    assert "tty True True 80" in run.lines
    # What was typed ahead is echoed whenever the system's terminal driver gets to it.
    assert "name? " in run.out
    assert "\033[32mhello\033[0m Ada Lovelace" in run.out
    assert run.lines[-2:] == ["done tty", "exited: status 0"]


def test_end_of_file_by_command() -> None:
    run = plain("speaking.py", "eof", commands=["send-input four", r"send-input \x04", "continue"])
    assert run.lines[-3:] == ["read 5", "done eof", "exited: status 0"]


def test_what_is_typed_while_the_program_runs_is_its_input() -> None:
    with terminal("speaking.py", "tty") as child:
        child.expect_exact(PROMPT)
        child.sendline("continue")
        child.expect_exact("name? ")
        child.sendline("Grace")
        child.expect_exact("hello\x1b[0m Grace")
        child.expect_exact("exited: status 0")
        child.expect_exact(PROMPT)


@pytest.mark.parametrize("command", ["print 'x' * 100000", "!print('y' * 100000)"])
def test_long_values_are_whole_lines(command: str) -> None:
    lines = plain("orders.py", commands=[command, "print 1"]).lines
    assert lines[-1] == "1"
