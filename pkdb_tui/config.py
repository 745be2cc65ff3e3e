"""The person's settings: theme and keys, from one TOML file, and the themes that ship with the program."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import msgspec
import platformdirs

from pkdb_tui.engine.errors import UsageError

THEMES = Path(__file__).parent / "themes"


class Theme(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Colours by role; see themes/dark.toml for the roles."""

    name: str
    colors: dict[str, str]
    dark: bool = True
    ansi: bool = False


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`theme` names a theme; `keys` maps action names to keys, several separated by commas."""

    theme: str = "dark"
    keys: dict[str, str] = {}


def config_path() -> Path:
    """$PKDB_CONFIG, or config.toml in the user's configuration directory."""
    explicit = os.environ.get("PKDB_CONFIG")
    return Path(explicit) if explicit else Path(platformdirs.user_config_dir("pkdb-tui")) / "config.toml"


def load() -> tuple[Config, str]:
    """(the settings, what is wrong with the file in one sentence); the defaults when anything is wrong."""
    path = config_path()
    try:
        return msgspec.convert(tomllib.loads(path.read_text()), Config), ""
    except FileNotFoundError:
        return Config(), ""
    except tomllib.TOMLDecodeError as error:
        return Config(), f"{path} is not TOML: {error}. The defaults are used."
    except msgspec.ValidationError as error:
        return Config(), f"{path}: {error}. The defaults are used."
    except (OSError, UnicodeDecodeError) as error:
        return Config(), f"{path} can't be read: {error}. The defaults are used."


def theme_names() -> list[str]:
    return sorted(path.stem for path in THEMES.glob("*.toml"))


def theme(name: str) -> Theme:
    """Raises UsageError for a theme that isn't there."""
    path = THEMES / f"{name}.toml"
    if not path.is_file():
        raise UsageError(f"There is no theme {name}.", f"There are {', '.join(theme_names())}.")
    return msgspec.convert(tomllib.loads(path.read_text()), Theme)
