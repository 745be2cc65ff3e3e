"""Settings: themes, keys, and what is said about a file that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from pkdb_tui import config, keys
from pkdb_tui.app import PkdbApp
from pkdb_tui.engine.api import LaunchOptions
from pkdb_tui.engine.errors import UsageError
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
        ("theme = ", "is not TOML"),
        ("colour = 'dark'", "unknown field `colour`"),
        ("[keys]\nnext = 3", "Expected `str`, got `int` - at `$.keys"),
    ],
)
def test_a_wrong_file_gets_one_sentence_and_the_defaults(file: Path, text: str, said: str) -> None:
    file.write_text(text)
    settings, problem = config.load()
    assert settings == config.Config()
    assert said in problem
    assert problem.startswith(str(file))
    assert problem.endswith("The defaults are used.")


def test_no_file_is_no_problem(file: Path) -> None:
    assert config.load() == (config.Config(), "")


def test_no_key_means_two_things() -> None:
    seen: dict[str, str] = {}
    for binding in keys.bindings():
        for key in binding.key.split(","):
            assert key not in seen, f"{key} is {seen.get(key)} and {binding.id}"
            seen[key] = binding.id or ""


async def test_a_key_can_be_remapped(file: Path, tmp_path: Path) -> None:
    file.write_text('[keys]\nzoom = "x"\n')
    script = tmp_path / "p.py"
    script.write_text("a = 1\n")
    app = PkdbApp(LaunchOptions(script=str(script)), remember=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("x")
        await pilot.pause()
        assert app.workspace.panes["source"].region.width == 120
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
