"""Files that are damaged or can't be written: it is said on the screen what to do, and the session is whole."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from disks import make_read_only, small_disk
from programs import BUSY
from sessions import AT_START
from terminal import Start, Terminal

from pkdb_tui.engine import saved

pytestmark = pytest.mark.e2e
PROGRAM = "a = 1\nb = 2\nc = 3\nprint('sum', a + b + c)\n"


def words(screen: Terminal) -> str:
    """What stands in the console, its lines joined as they were before they were broken."""
    screen.wait_for(AT_START)
    screen.press("Escape")  # what was laid over it goes with a key
    console = screen.wait_for(r"stopped: start(.*\n)+?.*pkdb>").partition(":console")[2].partition("pkdb>")[0]
    return re.sub(r"\s*\n\s*", " ", console)


def quit_by_key(screen: Terminal) -> str:
    """What stands on the terminal once the screen has gone."""
    screen.press("q")
    assert screen.wait_end() == "0"
    return re.sub(r"\s*\n\s*", " ", screen.all_text.partition("Pane is dead")[0]).strip()


def test_each_wrong_setting_is_named_and_the_others_hold(start: Start, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("theme = 'mauve'\n[keys]\nnxet = 'n'\nnext = 'X'\n")
    screen = start(PROGRAM)
    screen.wait_for(AT_START)
    screen.wait_for("config.toml, line 1: there is no theme `mauve`")
    said = words(screen)
    assert "line 1: there is no theme `mauve`; there are ansi-16, dark, high-contrast, light;" in said
    assert "line 3: `nxet` is no action, `next` is one. The defaults are used for these." in said
    screen.press("X")
    screen.wait_for(r"▪ python · <module> · step")
    quit_by_key(screen)


def test_settings_that_are_no_toml_are_told(start: Start, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("theme = 'dark'\n[keys\n")
    screen = start(PROGRAM)
    screen.wait_for(AT_START)
    assert re.search(r"config\.toml is not TOML: .*at line 2, .*The defaults are used\.", words(screen))
    screen.press("n")
    screen.wait_for(r"▪ python · <module> · step")
    quit_by_key(screen)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"version": 99, "breakpoints": {"other": "shape"}}', "it is of version 99, and this is version 1."),
        ("\0\0\0\0", "it is damaged:"),
        ('{"version": 1, "program": "', "it is damaged:"),
    ],
    ids=["another version", "damaged", "half written"],
)
def test_saved_breakpoints_that_cant_be_used(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, why: str
) -> None:
    monkeypatch.setenv("PKDB_STATE", str(tmp_path / "state"))
    kept = saved.path_of(os.path.realpath(tmp_path / "program.py"))
    kept.parent.mkdir(parents=True)
    kept.write_text(content)
    screen = start(PROGRAM)
    screen.wait_for(AT_START)
    said = words(screen)
    assert said.count("What was saved for this program in") == 1
    assert f"is left aside: {why}" in said
    assert said.count(f"It is kept as {kept.name}.old when this session is saved.") == 1
    screen.press("Down", "b")
    screen.wait_for("2 ●")
    assert quit_by_key(screen) == ""
    assert kept.with_name(f"{kept.name}.old").read_text() == content
    screen = start(PROGRAM)
    screen.wait_for(AT_START)
    screen.wait_for("2 [○●]")
    screen.press("c")
    screen.wait_for(r"▪ python · <module> · breakpoint 1")
    quit_by_key(screen)


def test_a_state_folder_that_cant_be_written(start: Start, tmp_path: Path) -> None:
    with small_disk(tmp_path / "state") as folder:
        make_read_only(folder)
        screen = start(PROGRAM)
        screen.wait_for(AT_START)
        screen.press("Down", "b")
        screen.wait_for("2 ●")
        screen.press("c")
        screen.wait_for(r"▪ python · <module> · breakpoint 1")
        said = quit_by_key(screen)
    assert said.count("warning: ") == 1
    assert f"warning: Breakpoints and watches could not be saved in {folder}/programs/program-" in said
    assert "Read-only file system. Make room there, or set PKDB_STATE to a folder that can be written." in said


def test_a_terminal_of_20_by_5(start: Start) -> None:
    """The smallest one has the console, from which all is reached, and shows all again when it grows."""
    screen = start(BUSY, 20, 5)
    screen.wait_for(r"^ start\b")
    screen.wait_for("pkdb>")
    enter_here(screen, "continue")
    screen.wait_for("running")
    screen.press("C-c")
    screen.wait_for(r"^ pause")
    enter_here(screen, "p count > 0")
    screen.wait_for("True")
    assert len(screen.lines) == 5
    screen.resize(100, 30)
    screen.wait_for(r"▪ python · <module> · pause")
    screen.press("Escape", "q")
    assert screen.wait_end() == "0"


def enter_here(screen: Terminal, command: str) -> None:
    screen.type(command)
    screen.press("Enter")
