"""How the command line is taken apart, and why a script can't be run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pkdb_tui import __version__, cli


@pytest.mark.parametrize(
    ("given", "options", "program"),
    [
        (["a.py"], [], ["a.py"]),
        (["a.py", "-c", "x"], [], ["a.py", "-c", "x"]),
        (["--plain", "-c", "next", "a.py", "--plain"], ["--plain", "-c", "next"], ["a.py", "--plain"]),
        (["-c", "-x", "a.py"], ["-c", "-x"], ["a.py"]),
        (["-x", "file", "--json", "a.py"], ["-x", "file", "--json"], ["a.py"]),
        (["-m", "pkg", "-m", "other"], ["-m", "pkg"], ["-m", "other"]),
        (["--plain", "-m", "pkg", "5"], ["--plain", "-m", "pkg"], ["5"]),
        (["--plain", "--", "-odd.py", "1"], ["--plain"], ["-odd.py", "1"]),
        (["--plain", "-", "1"], ["--plain"], ["-", "1"]),
        (["--python=/usr/bin/python3", "a.py"], ["--python=/usr/bin/python3"], ["a.py"]),
        (["--plain"], ["--plain"], []),
    ],
)
def test_options_end_where_the_program_begins(given: list[str], options: list[str], program: list[str]) -> None:
    assert cli._split(given) == (options, program)


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out == f"pkdb-tui {__version__}\n"


def test_help_names_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["--help"])
    assert left.value.code == 0
    text = capsys.readouterr().out
    for option in ("-m", "--plain", "--json", "-c", "-x", "--python", "--runtime", "--gdb", "--no-bounds", "--theme"):
        assert option in text


def test_an_unknown_option_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["--colour", "a.py"])
    assert left.value.code == 2
    assert "--colour" in capsys.readouterr().err


def test_the_screen_needs_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    assert cli.main([str(tmp_path / "a.py")]) == 2
    assert capsys.readouterr().err == "error: The screen needs a terminal. Use --plain here.\n"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = 1\n", ""),
        ("def f(:\n", "line 1: invalid syntax.\n    def f(:\n          ^"),
        ("if x:\n\tif y:\n        z\n", "line 3: inconsistent use of tabs and spaces in indentation."),
        ("x = '\n", "line 1: unterminated string literal (detected at line 1).\n    x = '\n        ^"),
        ("print 'x'\n", "line 1: Missing parentheses in call to 'print'. Did you mean print(...)?."),
    ],
)
def test_syntax_errors_with_their_caret(tmp_path: Path, source: str, said: str) -> None:
    path = tmp_path / "a.py"
    path.write_text(source)
    problem = cli.script_error(str(path))
    assert problem == "" if not said else problem.startswith(f"{path}, {said}")
    assert cli.script_error("-", source).startswith(f"<stdin>, {said}" if said else "")


def test_scripts_that_can_not_be_read(tmp_path: Path) -> None:
    assert cli.script_error(str(tmp_path / "absent.py")) == (
        f"There is no file {tmp_path}/absent.py. Give the path of a script, or `-m` and the name of a module."
    )
    assert cli.script_error(str(tmp_path)) == f"{tmp_path} is a folder without a __main__.py."
    (tmp_path / "__main__.py").write_text("x = 1\n")
    assert cli.script_error(str(tmp_path)) == ""
    (tmp_path / "null.py").write_bytes(b"x = 1\0\n")
    problem = cli.script_error(str(tmp_path / "null.py"))
    assert problem == f"{tmp_path}/null.py is not Python source: source code string cannot contain null bytes."
    (tmp_path / "latin.py").write_bytes(b"x = '\xe9'\n")
    assert cli.script_error(str(tmp_path / "latin.py")).startswith(f"{tmp_path}/latin.py, line ")
