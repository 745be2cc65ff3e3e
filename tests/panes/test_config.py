"""Settings: themes, keys, and what is said about a file that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from pkdb_tui import config, keys
from pkdb_tui.app import PkdbApp
from pkdb_tui.engine.api import LaunchOptions
from pkdb_tui.engine.errors import UsageError
from pkdb_tui.look import fitting_theme, look
from pkdb_tui.panes.help import TextScreen
from pkdb_tui.panes.palette import Palette


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.toml"
    monkeypatch.setenv("PKDB_CONFIG", str(path))
    return path


@pytest.mark.parametrize("name", ["dark", "light", "high-contrast", "ansi-16"])
def test_every_theme_has_every_role(name: str) -> None:
    assert name in config.theme_names()
    Palette.of(config.theme(name).colors)


def test_a_theme_that_isnt_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(UsageError, match=r"There is no theme mauve.*ansi-16, dark"):
        config.theme("mauve")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("theme = ", " is not TOML: Invalid value (at end of document)"),
        ("\ncolour = 'dark'", ", line 2: `colour` is not a setting; there are theme and keys"),
        ("theme = 3", ", line 1: `theme` wants a text in quotes"),
        ("theme = 'mauve'", ", line 1: there is no theme `mauve`; there are ansi-16, dark, high-contrast, light"),
        ("[keys]\nnext = 3", ', line 2: `next` wants a text in quotes, such as "n"'),
        ("[keys]\nnxet = 'n'", ", line 2: `nxet` is no action, `next` is one"),
        ("[keys]\n# steps\nnext = 's'", ", line 3: `s` is the key of `step` already"),
        ("[keys]\nnext = 'f6, control-n'", ", line 2: `f6, control-n` is not a key; write keys as in"),
        ("keys = 'n'", ", line 1: `keys` wants a table, [keys]"),
    ],
)
def test_a_wrong_file_gets_one_sentence_with_the_line_and_the_defaults(file: Path, text: str, said: str) -> None:
    file.write_text(text)
    settings, problem = config.load()
    assert settings == config.Config()
    assert problem.startswith(f"{file}{said}")
    assert problem.endswith(("The default is used.", "The defaults are used."))
    assert "\n" not in problem


def test_every_wrong_setting_is_named_and_the_others_hold(file: Path) -> None:
    file.write_text("theme = 'mauve'\ncolour = 1\n[keys]\nnext = 'f6'\nstep = 3\nzoom = 'X'\n")
    settings, problem = config.load()
    assert settings == config.Config(keys={"next": "f6", "zoom": "X"})
    assert problem == (
        f"{file}, line 1: there is no theme `mauve`; there are ansi-16, dark, high-contrast, light; "
        "line 2: `colour` is not a setting; there are theme and keys; "
        'line 5: `step` wants a text in quotes, such as "n". The defaults are used for these.'
    )


def test_a_key_left_aside_takes_with_it_what_had_its_place(file: Path) -> None:
    file.write_text("theme = 'light'\n[keys]\nnext = 's, Z Z'\nstep = 'n'\n")
    settings, problem = config.load()
    assert settings == config.Config(theme="light")
    assert "line 3: `s, Z Z` is not a key" in problem
    assert "line 4: `n` is the key of `next` already" in problem


def test_a_folder_for_a_file_is_told_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PKDB_CONFIG", str(tmp_path))
    assert config.load() == (
        config.Config(),
        f"{tmp_path} is a folder, and settings are one file: set PKDB_CONFIG to {tmp_path}/config.toml. "
        "The defaults are used.",
    )


def test_a_file_that_cannot_be_read_is_told_with_what_to_do(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("")
    monkeypatch.setenv("PKDB_CONFIG", f"{file}/config.toml")
    settings, problem = config.load()
    assert settings == config.Config()
    assert problem == (
        f"The settings in {file}/config.toml can't be read (Not a directory): make the file readable, "
        "or unset PKDB_CONFIG. The defaults are used."
    )
    file.write_bytes(b"\xff\xfe")
    monkeypatch.setenv("PKDB_CONFIG", str(file))
    assert config.load()[1] == f"{file} is not UTF-8 text: save it as UTF-8. The defaults are used."


def test_keys_may_change_places(file: Path) -> None:
    file.write_text("[keys]\nnext = 's'\nstep = 'n, f6'\nrow_up = 'up'\n")
    settings, problem = config.load()
    assert problem == ""
    found = {key.name: key.keys for key in keys.remapped(settings.keys)}
    assert (found["next"], found["step"], found["continue"]) == ("s", "n,f6", "c,f5")


@pytest.mark.parametrize(
    ("environment", "theme"),
    [
        ({"TERM": "xterm-256color"}, "dark"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "dark"),
        ({"TERM": "linux"}, "ansi-16"),
        ({"TERM": "vt100"}, "ansi-16"),
        ({"TERM": "no-such-terminal"}, "ansi-16"),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, "ansi-16"),
    ],
)
def test_the_theme_fits_the_terminal(environment: dict[str, str], theme: str) -> None:
    assert fitting_theme(environment) == theme


def test_without_colour_the_cursor_line_is_reversed_and_changes_are_underlined() -> None:
    palette = look("", {"TERM": "xterm", "NO_COLOR": "1"}).palette
    assert palette.here_line.reverse
    assert palette.changed.underline


def test_no_file_is_no_problem(file: Path) -> None:
    assert config.load() == (config.Config(), "")


def test_no_key_means_two_things() -> None:
    assert keys.sound({}) == ({}, [])


async def test_a_key_can_be_remapped(file: Path, tmp_path: Path) -> None:
    file.write_text('[keys]\nzoom = "X"\n')
    script = tmp_path / "p.py"
    script.write_text("a = 1\n")
    app = PkdbApp(LaunchOptions(script=str(script)), remember=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("X")
        await pilot.pause()
        assert app.workspace.panes["source"].region.width == 120
        assert "X zoom" in app.key_line.render_line(0).text
        await app.bridge.session.quit()


async def test_a_wrong_file_is_told_on_the_screen(file: Path, tmp_path: Path) -> None:
    file.write_text("theme = ")
    script = tmp_path / "p.py"
    script.write_text("a = 1\n")
    app = PkdbApp(LaunchOptions(script=str(script)), remember=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert "is not TOML" in app.key_line.message
        await app.bridge.session.quit()


async def test_a_defect_of_a_pane_is_shown_and_the_session_goes_on(file: Path, tmp_path: Path) -> None:
    script = tmp_path / "p.py"
    script.write_text("a = 1\nb = 2\n")
    app = PkdbApp(LaunchOptions(script=str(script)), remember=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await app.bridge.session.settled()
        await pilot.pause()

        def fail(*_: object) -> None:
            raise ZeroDivisionError("a defect")

        working = app.workspace.variables.show
        app.workspace.variables.show = fail  # type: ignore[method-assign, assignment]
        await pilot.press("n")
        await app.bridge.session.settled()
        await pilot.pause()
        assert [str(error) for error in app.internal_errors] == ["a defect"]
        page = app.screen
        assert isinstance(page, TextScreen)
        assert "ZeroDivisionError: a defect" in page.text
        app.workspace.variables.show = working  # type: ignore[method-assign]
        await pilot.press("escape", "n")
        await app.bridge.session.settled()
        await pilot.pause()
        assert app.bridge.session.snapshot is None or app.workspace.source.cursor_row == 1
        assert app.screen is not page
        await app.bridge.session.quit()
