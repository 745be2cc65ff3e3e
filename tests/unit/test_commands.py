"""The command language: what a line means, what is a place, and that the registry is whole."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from pkdb_tui.commands import language, locations
from pkdb_tui.commands.control import explanation, overview, read_commands
from pkdb_tui.commands.registry import ANY, STOPPED, Command, Registry, Reply, registry
from pkdb_tui.engine.api import BreakpointSpec, LaunchOptions, Phase
from pkdb_tui.engine.errors import BreakpointError, UsageError, WrongPhase
from pkdb_tui.engine.session import Session


@pytest.mark.parametrize(
    ("line", "name", "rest"),
    [
        ("n", "next", ""),
        ("break 12 if x == 3", "break", "12 if x == 3"),
        ("  b 12", "break", "12"),
        ("c", "continue", ""),
        ("cont", "continue", ""),
        ("s all", "step", "all"),
        ("r", "finish", ""),
        ("return", "finish", ""),
        ("p x", "print", "x"),
        ("print x", "print", "x"),
        ("w", "where", ""),
        ("bt", "where", ""),
        ("?", "help", ""),
        ("send-input a b", "send-input", "a b"),
        ("unt 20", "until", "20"),
    ],
)
def test_a_line_that_is_a_command(line: str, name: str, rest: str) -> None:
    command, text = language.split(line)
    assert command is not None
    assert (command.name, text) == (name, rest)


@pytest.mark.parametrize(
    ("line", "python"),
    [
        ("x", "x"),
        ("n = 5", "n = 5"),
        ("c += 1", "c += 1"),
        ("step=2", "step=2"),
        ("!n", "n"),
        ("! list(x)", "list(x)"),
        ("breakfast", "breakfast"),
        ("[1, 2]", "[1, 2]"),
        ("for i in x: print(i)", "for i in x: print(i)"),
        ("print(x)", "print(x)"),
        ("list(x)", "list(x)"),
        ("", ""),
    ],
)
def test_a_line_that_is_python(line: str, python: str) -> None:
    assert language.split(line) == (None, python)


def test_a_comparison_after_a_command_name_is_the_command_as_in_pdb() -> None:
    command, text = language.split("c == 3")
    assert command is not None
    assert (command.name, text) == ("continue", "== 3")


@pytest.mark.parametrize("line", ["for i in range(3):", "x = (1,", "def f():\n    return 1", "!if x:"])
def test_python_that_needs_more_lines(line: str) -> None:
    assert language.incomplete(line)


@pytest.mark.parametrize("line", ["x", "x = 1", "break 12 if (", "next", "", "1 +", "def f():\n    return 1\n"])
def test_lines_that_are_whole(line: str) -> None:
    assert not language.incomplete(line)


def test_every_command_is_explained_and_findable() -> None:
    for command in registry.commands.values():
        assert re.fullmatch(r"[a-z].*[^.]", command.summary), command.name
        assert command.group, command.name
        assert command.phases, command.name
        assert f"  {command.name}" in overview()
        assert explanation(command).splitlines()[1].endswith(".")
        for name in (command.name, *command.aliases):
            assert registry.find(name) is command


def test_keys_are_used_once() -> None:
    keys = [command.key for command in registry.commands.values() if command.key]
    assert len(keys) == len(set(keys))


async def _nothing(session: Session, text: str) -> Reply:
    return Reply()


def test_a_name_defined_twice_is_refused() -> None:
    own = Registry()
    own.add(Command(name="next", handler=_nothing, summary="go", aliases=("n",)))
    with pytest.raises(ValueError, match="'n' is defined twice"):
        own.add(Command(name="n", handler=_nothing, summary="other"))


def test_prefixes() -> None:
    assert registry.find("unti") is registry.commands["until"]
    assert registry.find("nonsense") is None
    with pytest.raises(UsageError, match="`di` may mean disable, display"):
        registry.find("di")


def test_a_command_in_the_wrong_phase_says_what_to_do() -> None:
    command = Command(name="look", handler=_nothing, summary="look", phases=STOPPED)
    own = Registry()
    own.check_phase(command, Phase.STOPPED_PYTHON)
    with pytest.raises(WrongPhase, match=r"`look` can't be used while the program runs\. Pause it first"):
        own.check_phase(command, Phase.RUNNING_PYTHON)
    with pytest.raises(WrongPhase, match=r"The program has ended: no `look`\. `restart` \(R\) runs it again"):
        own.check_phase(command, Phase.EXITED)
    with pytest.raises(WrongPhase, match=r"The program has not started: no `look`\. `restart` \(R\) starts it"):
        own.check_phase(command, Phase.IDLE)
    own.check_phase(Command(name="any", handler=_nothing, summary="any", phases=ANY), Phase.EXITED)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "script.py").write_text("x = 1\n")
    (tmp_path / "other.py").write_text("y = 1\n")
    return Session(LaunchOptions(script=str(tmp_path / "script.py"), directory=str(tmp_path)), lambda event: None)


@pytest.mark.parametrize(
    ("text", "file", "fields"),
    [
        ("12", "script.py", {"line": 12}),
        ("other.py:3", "other.py", {"line": 3}),
        ("other:3", "other.py", {"line": 3}),
        ("work", "", {"function": "work"}),
        ("Class.method", "", {"function": "Class.method"}),
        ("other.py:work", "other.py", {"function": "work"}),
        ("12 if x == 3", "script.py", {"line": 12, "condition": "x == 3"}),
        ("12, x == 3", "script.py", {"line": 12, "condition": "x == 3"}),
        ("12 thread 0:4 if x", "script.py", {"line": 12, "threads": "0:4", "condition": "x"}),
        ("12 thread [0:4]", "script.py", {"line": 12, "threads": "[0:4]"}),
        ("12 ignore 5", "script.py", {"line": 12, "ignore": 5}),
        ("12 ignore 5 thread 1,2", "script.py", {"line": 12, "ignore": 5, "threads": "1,2"}),
    ],
)
def test_places_to_break_at(session: Session, tmp_path: Path, text: str, file: str, fields: dict[str, object]) -> None:
    expected = BreakpointSpec(file=str(tmp_path / file) if file else "", **fields)  # type: ignore[arg-type]
    assert locations.parse_break(session, text) == expected


@pytest.mark.parametrize("name", ["disable", "enable", "delete"])
async def test_no_breakpoints_to_change(session: Session, name: str) -> None:
    assert (await registry.commands[name].handler(session, "")).text == "there are no breakpoints"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("12 if", "The condition is missing"),
        ("12,", "The condition is missing"),
        (
            "12 if x > 3 thread 0:4",
            r"`thread` stands behind the condition\. Write it before `if`: `break PLACE thread 0:4 if x > 3`",
        ),
        ("12, x > 3 ignore 5", r"Write it before `if`: `break PLACE ignore 5 if x > 3`"),
        ("12 unless x", "`unless x` can't follow a place"),
        ("12 ignore many", "`many` is not a number"),
        (":5", "`:5` is not a place"),
        ("1+2", "`1\\+2` is not a place"),
    ],
)
def test_places_that_make_no_sense(session: Session, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        locations.parse_break(session, text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("absent.py:3", r"There is no file absent\.py"),
        ("not here.py:3 if x", r"There is no file not here\.py"),
        ('"not here.py":3', r"There is no file not here\.py"),
    ],
)
def test_a_file_that_is_not_there(session: Session, text: str, words: str) -> None:
    with pytest.raises(BreakpointError, match=words):
        locations.parse_break(session, text)


ODD_NAMES = [
    "k n.py",
    "a, b.py",
    "a:3.py",
    'say "x".py',
    "it's.py",
    "größe µ.py",
    "c#1 #pkdb2.py",
    "12 if x.py",
    " a.py",
]


@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize("folder", ["", "with blank, comma:9 'quotes'"])
def test_files_of_any_name_can_be_written(session: Session, tmp_path: Path, name: str, folder: str) -> None:
    path = tmp_path / folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("x = 1\n")
    for written in (str(path), os.path.relpath(path, tmp_path), f'"{path}"', f"'{path}'"):
        spec = BreakpointSpec(file=str(path), line=7, condition="x[1:2] == 3")
        if written.strip() != written:
            continue  # blanks at the ends need quotes
        assert locations.parse_break(session, f"{written}:7 if x[1:2] == 3") == spec
        assert locations.parse_break(session, f"{written}:7, x[1:2] == 3") == spec
        assert locations.parse_break(session, f"{written}:wörk ignore 2") == BreakpointSpec(
            file=str(path), function="wörk", ignore=2
        )
    assert locations.parse_break(session, locations.written(str(path), 7)).file == str(path)


def test_the_longest_name_that_is_there_counts(session: Session, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    (tmp_path / "a.py:3 if b.py").write_text("")
    assert locations.parse_break(session, "a.py:3 if b.py:4").file == str(tmp_path / "a.py:3 if b.py")
    assert locations.parse_break(session, "a.py:3 if b[0:4]").condition == "b[0:4]"
    assert locations.parse_place(session, "a.py:3") == (str(tmp_path / "a.py"), 3, "")
    with pytest.raises(UsageError, match="`if x` can't follow a place"):
        locations.parse_place(session, "a.py:3 if x")


@pytest.mark.parametrize(
    ("text", "found"), [("1", [1]), ("1 2", [1, 2]), ("1,3", [1, 3]), ("2-4", [2, 3, 4]), ("", [])]
)
def test_lists_of_numbers(text: str, found: list[int]) -> None:
    assert locations.numbers(text, "breakpoint") == found


def test_a_list_of_numbers_with_a_word() -> None:
    with pytest.raises(UsageError, match=r"`two` is not a number\. Give the breakpoint as a whole number"):
        locations.numbers("1 two", "breakpoint")


def test_files_of_commands_have_statements_of_several_lines() -> None:
    body = "def twice(n):\n    # inside\n\n    return 2 * n"
    loop = "for k in range(2):\n    if k:\n        continue\nelse:\n    print('end')"
    text = "x = (1 +\n\n2)"
    last = "with open('f') as stream:\n    stream.read()"
    lines = f"# first\nbreak 3\n\n{body}\ntwice(4)\n\n{loop}\n\n# then\n{text}\ncontinue\nif x:\nnext\n{last}\n"
    assert language.of_file(lines.splitlines()) == [
        "break 3", body, "twice(4)", loop, text, "continue", "if x:\nnext", last,
    ]  # fmt: skip


def test_files_of_commands_leave_out_blanks_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "commands"
    path.write_text("# first\nbreak 3\n\n  # indented\ncontinue\n")
    assert read_commands(str(path)) == ["break 3", "continue"]
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="it is not text"):
        read_commands(str(path))
