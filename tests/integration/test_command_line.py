"""The command line in plain mode: what is given, what is refused, what comes out."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pexpect
import pytest
from cli import COMMAND, FIXTURES, PROMPT, ROOT, environment, plain, terminal


def test_a_module_runs_as_python_m_does() -> None:
    run = plain("-m", "parcel", "5", commands=["continue"])
    assert run.lines[-2:] == ["parcel.__main__ ['5'] 15", "exited: status 4"]
    assert run.status == 4


def test_a_breakpoint_in_a_module() -> None:
    run = plain("-m", "parcel", "5", commands=["break parcel/__main__.py:7", "continue", "print SCALE"])
    assert run.stops[1] == "stopped: breakpoint 1 parcel/__main__.py:7 in <module>"
    assert run.lines[-1] == "3"


def test_arguments_after_the_script_are_the_programs() -> None:
    run = plain("ends.py", "-c", "--plain", commands=["print sys.argv[1:]"])
    assert run.status == 1  # nothing is imported before the first line
    run = plain("ends.py", "-c", "--plain", commands=["tbreak 11", "continue", "print sys.argv[1:]"])
    assert run.lines[-1] == "['-c', '--plain']"


def test_commands_used_up_end_the_program_with_status_zero() -> None:
    run = plain("waits.py", "sleeping", commands=["next"])
    assert (run.status, run.err) == (0, "")
    assert run.starting("exited:") == []


def test_the_first_refused_command_is_named_and_the_others_are_carried_out() -> None:
    run = plain("orders.py", commands=["break 9999", "frobnicate", "up", "print 7"])
    assert run.status == 1
    assert run.err.splitlines()[-1] == "error: the command `frobnicate` was refused"
    assert run.lines[-1] == "7"


def test_a_file_of_commands(tmp_path: Path) -> None:
    script = tmp_path / "commands"
    script.write_text("# a comment\nbreak 24\n\ncontinue\nprint amount\n")
    run = plain("-x", str(script), "orders.py")
    assert (run.status, run.err, run.lines[-1]) == (0, "", "27.5")


def test_a_file_of_commands_comes_after_those_of_the_command_line(tmp_path: Path) -> None:
    script = tmp_path / "commands"
    script.write_text("print 2\n")
    assert plain("-x", str(script), "orders.py", commands=["print 1"]).lines[-2:] == ["1", "2"]


def test_statements_of_several_lines_in_a_file_are_whole_and_run_no_commands(tmp_path: Path) -> None:
    file = tmp_path / "commands"
    function = "def twice(n):\n    if n > 2:\n\n        return 2 * n\n    return n\n"
    loop = "for n in range(3):\n    if n < 2:\n        continue\n    amount = n\n"
    good = f"tbreak 24\ncontinue\n{function}\nprint [twice(n) for n in (2, 3)]\n{loop}print amount\n"
    file.write_text(good)
    for run in (plain("-x", str(file), "orders.py"), plain("orders.py", commands=[f"source {file}"])):
        assert (run.err, run.status) == ("", 0)
        assert [stop.partition(" ")[2] for stop in run.stops[1:]] == ["breakpoint 1 orders.py:24 in main"]
        assert run.lines[-2:] == ["[2, 6]", "2"]
    file.write_text(f"{good}if absent:\n    pass\n")
    run = plain("-x", str(file), "orders.py")
    assert run.lines[-2:] == ["[2, 6]", "2"]
    assert run.err.splitlines()[-1] == "error: the command `if absent: …` was refused"
    run = plain("orders.py", commands=[f"source {file}"])
    assert f"error: {file}, command 7 (`if absent: …`): NameError: name 'absent' is not defined" in run.err


def test_a_missing_file_of_commands() -> None:
    run = plain("-x", "absent.commands", "orders.py")
    assert (run.status, run.out) == (2, "")
    assert run.err == "error: The command file absent.commands can't be read: No such file or directory.\n"


def test_source_reads_commands_and_names_the_one_that_failed(tmp_path: Path) -> None:
    script = tmp_path / "commands"
    script.write_text("tbreak 24\ncontinue\nprint amount\n")
    assert plain("orders.py", commands=[f"source {script}"]).lines[-1] == "27.5"
    script.write_text("print 1 ;; break 24\ncontinue\nprint amount\nprint absent\nprint 2\n")
    run = plain("orders.py", commands=[f"source {script}"])
    assert run.lines[2:] == [
        "1",
        "breakpoint 1 at orders.py:24: bound",
        "stopped: breakpoint 1 orders.py:24 in main",
        '  24     print("amount", amount)',
        "27.5",
    ]
    assert run.err.splitlines()[0].startswith(f"error: {script}, command 4 (`print absent`): NameError")
    script.write_text("print 1\nquit\nprint 2\n")
    run = plain("orders.py", commands=[f"source {script}", "print 3"])
    assert (run.lines[2:], run.err, run.status) == (["1"], "", 0)
    script.write_text(f"source {script}\n")
    run = plain("orders.py", commands=[f"source {script}", "print 3", f"source {script}"])
    assert run.err.splitlines()[0].endswith(" is being carried out already. A file of commands can't call itself.")
    assert run.err.splitlines()[0] == run.err.splitlines()[1]
    assert run.lines[2:] == ["3"]


def test_commands_from_a_pipe() -> None:
    run = plain("orders.py", stdin="break 24\ncontinue\nprint amount\ncontinue\n")
    assert run.lines[-3:] == ["27.5", "amount 27.5", "exited: status 0"]
    assert (run.status, run.err) == (0, "")


def test_a_refused_command_from_a_pipe_does_not_change_the_status() -> None:
    run = plain("ends.py", "status", stdin="frobnicate\ncontinue\n")
    assert run.status == 3
    assert run.err.startswith("error: ")


def test_quit_among_the_commands_ends_at_once() -> None:
    run = plain("orders.py", commands=["quit", "print 1"])
    assert (run.status, run.err, len(run.lines)) == (0, "", 2)


def test_a_script_from_standard_input() -> None:
    run = plain("-", "one", commands=["next", "next"], stdin="import sys\nprint('argv', sys.argv)\n")
    assert run.stops[0].startswith("stopped: start <stdin>:1 in <module>")
    assert "argv ['-', 'one']" in run.lines


def test_a_script_from_elsewhere_finds_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text("def twice(n):\n    return 2 * n\n")
    (tmp_path / "main.py").write_text("import neighbour\nprint(neighbour.twice(4))\n")
    run = plain(str(tmp_path / "main.py"), commands=["break neighbour.py:2", "continue", "print n", "continue"])
    assert run.stops[1] == f"stopped: breakpoint 1 {tmp_path}/neighbour.py:2 in twice"
    assert run.lines[-3:] == ["4", "8", "exited: status 0"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "No script is given."),
        (("absent.py",), "There is no file absent.py."),
        ((".",), ". is a folder without a __main__.py."),
    ],
)
def test_what_can_not_be_run(arguments: tuple[str, ...], words: str) -> None:
    run = plain(*arguments, commands=["continue"])
    assert (run.status, run.out) == (2, "")
    assert run.err.startswith(f"error: {words}")


def test_a_folder_runs_its_main_and_finds_its_neighbours(tmp_path: Path) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "neighbour.py").write_text("def twice(n):\n    return 2 * n\n")
    (folder / "__main__.py").write_text(
        "import sys\nfrom neighbour import twice\n\n"
        "print(twice(4), __name__, __spec__.name, repr(__package__), sys.argv)\n"
        "print(sys.modules['__main__'].twice is twice)\n"
    )
    alone = subprocess.run(
        [sys.executable, "app", "a"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    run = plain("app", "a", folder=tmp_path, commands=["break 4", "continue", "continue"])
    assert (run.err, run.status) == ("", 0)
    assert run.stops[1] == "stopped: breakpoint 1 app/__main__.py:4 in <module>"
    assert run.lines[-3:] == [*alone, "exited: status 0"]


def test_what_the_program_says_in_an_exception_moves_no_cursor_and_ends_no_line(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text("raise ValueError('a\\r\\x1b[31mb\\u2028c\\x9bd\\ne\\tf')\n")
    run = plain("odd.py", folder=tmp_path, commands=["continue", "continue"])
    assert run.out.split("\n")[2] == (r"stopped: exception ValueError: a\r\x1b[31mb\u2028c\x9bd odd.py:1 in <module>")
    assert run.out.split("\n")[-2:] == [r"exited: exception ValueError: a\r\x1b[31mb\u2028c\x9bd", ""]


def test_a_syntax_error_is_shown_with_a_caret(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("x = 1\nif x:\n    y = = 2\n")
    run = plain("broken.py", folder=tmp_path, commands=["continue"])
    assert (run.status, run.out) == (2, "")
    assert run.err.splitlines() == [
        "error: broken.py, line 3: invalid syntax.",
        "    y = = 2",
        "        ^",
    ]


def test_a_missing_interpreter() -> None:
    run = plain("--python", "/absent/python", "orders.py", commands=["continue"])
    assert run.status == 2
    assert run.err.startswith("error: /absent/python can't be started: No such file or directory.")


def test_the_prompt_comes_after_the_commands_on_a_terminal() -> None:
    with terminal("-c", "tbreak 24", "-c", "continue", "orders.py") as child:
        child.expect_exact("stopped: breakpoint 1 orders.py:24 in main")
        child.expect_exact(PROMPT)
        child.sendline("print amount")
        child.expect_exact("27.5")
        child.expect_exact(PROMPT)
        child.sendeof()
        child.wait()
        assert child.exitstatus == 0


def test_json_is_one_object_a_line() -> None:
    commands = ["break 24", "display amount", "continue", "print lines", "up", "up", "continue"]
    run = plain("--json", "orders.py", commands=commands)
    assert (run.status, run.err) == (1, "")
    assert [each["event"] for each in run.objects] == [
        "stopped",
        "reply",
        "reply",
        "reply",
        "stopped",
        "displays",
        "reply",
        "reply",
        "error",
        "reply",
        "output",
        "exited",
        "refused",
    ]
    stop = run.events("stopped")[1]
    assert (stop["reason"], stop["breakpoints"], stop["line"], stop["function"]) == ("breakpoint", [1], 24, "main")
    assert stop["file"] == str(FIXTURES / "orders.py")
    assert stop["source"] == '    print("amount", amount)'
    assert [frame["function"] for frame in stop["frames"]] == ["main", "<module>"]
    assert next(each["text"] for each in stop["variables"] if each["name"] == "amount") == "27.5"
    assert run.events("displays")[0]["displays"][0]["evaluation"]["text"] == "27.5"
    assert run.events("reply")[3]["text"] == "[(1, 5.0), (10, 2.0), (3, 1.5)]"
    assert run.events("error")[0]["title"] == "This is the outermost frame."
    exited = {"event": "exited", "text": "status 0", "status": 0, "signal": "", "exception": None}
    assert run.events("exited") == [exited]
    assert run.events("output")[0]["text"] == "amount 27.5\r\n"
    assert run.events("refused") == [{"event": "refused", "command": "up"}]


@pytest.mark.parametrize("how", ["flood", "bytes", "c", "partial", "stderr"])
def test_json_stays_json_whatever_is_printed(how: str) -> None:
    run = plain("--json", "speaking.py", how, commands=["continue"])
    text = "".join(each["text"] for each in run.events("output"))
    assert text.replace("\r\n", "\n").endswith(f"done {how}\n")
    assert run.objects[-1]["event"] == "exited"


def test_json_has_no_numbers_that_json_does_not_know() -> None:
    commands = ["print float('nan')", "print -float('inf')", "print '\\ud800'", "print 10**30"]
    run = plain("--json", "orders.py", commands=commands)
    texts = [each["text"] for each in run.events("reply")]
    assert texts == ["nan", "-inf", "'\\ud800'", "1000000000000000000000000000000"]
    assert "NaN" not in run.out
    assert "Infinity" not in run.out
    assert run.out.isascii()


def test_json_of_an_exception() -> None:
    run = plain("--json", "failing.py", commands=["continue", "print [1.5, None, {'a': (1,)}]"])
    stop = run.events("stopped")[1]
    assert stop["exception"]["type"] == "ValueError"
    assert stop["reason"] == "exception"
    assert run.events("reply")[-1]["text"] == "[1.5, None, {'a': (1,)}]"


ASKS_FOR_A_SECOND = "import os, threading; threading.Timer(1, os._exit, (0,)).start(); input()"


def test_every_member_of_json_is_documented() -> None:
    text = (ROOT / "docs" / "plain.md").read_text()
    rows: dict[str, str] = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", text.partition("## JSON")[2], re.MULTILINE))
    runs = (
        plain(
            "--json",
            "orders.py",
            commands=["log 14 q={quantity}", "display 1", "break 15", "continue", "!print(1)", "absent"],
        ),
        plain("--json", "failing.py", commands=["continue", "continue"]),
        plain("--json", "ends.py", "closefds", "65536", "1", commands=["continue"]),
        plain("--json", "-", commands=["continue"], stdin=ASKS_FOR_A_SECOND),
    )
    seen = set()
    for run in runs:
        for each in run.objects:
            seen.add(each["event"])
            for member in each.keys() - {"event"}:
                named = member in rows[each["event"]]
                assert named, f"{member} of {each['event']}"
    assert seen == rows.keys() - {"event"}


def test_the_screen_is_refused_where_it_would_be_drawn_into_a_file(tmp_path: Path) -> None:
    command = f"{shlex.join([*COMMAND, 'ends.py'])} 2>{tmp_path / 'log'}"
    output, status = pexpect.run(f"sh -c {shlex.quote(command)}", cwd=str(FIXTURES), withexitstatus=True, timeout=20)
    assert output.decode().splitlines() == [
        "error: The screen is drawn on standard error, which is no terminal. Don't redirect it."
    ]
    assert status == 2
    assert (tmp_path / "log").read_text() == ""


def test_the_screen_is_refused_on_a_terminal_that_cannot_move_its_cursor() -> None:
    output, status = pexpect.run(
        shlex.join([*COMMAND, "ends.py"]), cwd=str(FIXTURES), env={**environment(), "TERM": "dumb"},
        withexitstatus=True, timeout=20,
    )  # fmt: skip
    assert output.decode().splitlines() == [
        "error: This terminal (TERM=dumb) can't move its cursor, so no screen. Use --plain here."
    ]
    assert status == 2


def test_a_zip_archive_is_called_what_it_is(tmp_path: Path) -> None:
    archive = tmp_path / "app.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("__main__.py", "print(1)\n")
    run = plain(str(archive), commands=["continue"])
    assert run.status == 2
    assert run.err == f"error: {archive} is a zip archive, which is not debugged. Unpack it and give the folder.\n"


@pytest.mark.parametrize(
    ("closed", "mode", "says"),
    [
        ("<&-", "--plain -c continue", "exited: status 0"),
        ("<&-", "--plain", "stopped: start"),
        ("<&-", "", "The screen needs a terminal"),
        (">&-", "--plain -c continue", ""),
        ("2>&-", "--plain -c continue", "exited: status 0"),
        ("<&- >&- 2>&-", "--plain -c continue", ""),
    ],
)
def test_a_closed_standard_stream_is_one_where_nothing_is(tmp_path: Path, closed: str, mode: str, says: str) -> None:
    (tmp_path / "p.py").write_text("import sys\nopen('left', 'w').write('ran')\nsys.stdout.write('said\\n')\n")
    command = f"{shlex.join(COMMAND)} {mode} p.py {closed}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert says in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    if "continue" in mode:
        assert done.returncode == 0
        assert (tmp_path / "left").read_text() == "ran"


def test_a_stopped_prompt_comes_back_when_the_shell_gives_the_terminal_back() -> None:
    child = pexpect.spawn("bash", ["--norc", "-i"], cwd=str(FIXTURES), env=environment(), encoding="utf-8", timeout=20)
    try:
        child.sendline(f"{shlex.join(COMMAND)} --plain orders.py")
        child.expect_exact(PROMPT)
        child.send("\x1a")
        child.expect("Stopped")
        child.sendline("fg")
        child.expect_exact(PROMPT)
        child.sendline("next")
        child.expect("stopped: step ")
        child.expect_exact(PROMPT)
        child.sendline("quit")
        child.sendline("exit")
        child.expect(pexpect.EOF)
    finally:
        child.close(force=True)
