"""The person's settings: theme and keys, from one TOML file, and the themes that ship with the program."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import platformdirs

from pkdb_tui import keys
from pkdb_tui.engine.errors import UsageError

THEMES = Path(__file__).parent / "themes"


class Theme(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Colours by role; see themes/dark.toml for the roles."""

    name: str
    colors: dict[str, str]
    dark: bool = True
    ansi: bool = False


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`theme` names a theme, empty for one that fits the terminal; `keys` maps action names to keys."""

    theme: str = ""
    keys: dict[str, str] = {}


def config_path() -> Path:
    """$PKDB_CONFIG, or config.toml in the user's configuration directory."""
    explicit = os.environ.get("PKDB_CONFIG")
    return Path(explicit) if explicit else Path(platformdirs.user_config_dir("pkdb-tui")) / "config.toml"


def load() -> tuple[Config, str]:
    """(the settings, what is wrong with the file, in one line); what is wrong has its default, the rest holds."""
    path = config_path()
    try:
        text = path.read_text(encoding="utf-8")
        raw = tomllib.loads(text)
    except FileNotFoundError:
        return Config(), ""
    except tomllib.TOMLDecodeError as error:
        return Config(), f"{path} is not TOML: {error}. The defaults are used."
    except OSError as error:
        if os.path.isdir(path):
            wrong = f"{path} is a folder, and settings are one file: set PKDB_CONFIG to {path / 'config.toml'}"
            return Config(), f"{wrong}. The defaults are used."
        wrong = f"The settings in {path} can't be read ({error.strerror}): make the file readable, or unset PKDB_CONFIG"
        return Config(), f"{wrong}. The defaults are used."
    except UnicodeDecodeError:
        return Config(), f"{path} is not UTF-8 text: save it as UTF-8. The defaults are used."
    settings, faults = _sound(raw)
    told = "; ".join(f"line {line}: {why}" for line, why in sorted((_line_of(name, text), why) for name, why in faults))
    used = "The default is used." if len(faults) == 1 else "The defaults are used for these."
    return settings, f"{path}, {told}. {used}" if faults else ""


def _sound(raw: dict[str, Any]) -> tuple[Config, list[tuple[str, str]]]:
    """The settings without those that are wrong, and for each of these its key and what is wrong with it."""
    settings = Config.__struct_fields__
    kept: dict[str, Any] = {}
    faults: list[tuple[str, str]] = []
    for name, value in raw.items():
        wanted = dict if name == "keys" else str
        if name not in settings:
            faults.append((name, f"`{name}` is not a setting; there are {' and '.join(settings)}"))
        elif not isinstance(value, wanted):
            faults.append((name, f"`{name}` wants {'a table, [keys]' if wanted is dict else 'a text in quotes'}"))
        elif name == "theme" and value and value not in theme_names():
            faults.append((name, f"there is no theme `{value}`; there are {', '.join(theme_names())}"))
        else:
            kept[name] = value
    if "keys" in kept:
        kept["keys"], wrong = keys.sound(kept["keys"])
        faults += wrong
    return msgspec.convert(kept, Config), faults


def _line_of(name: str, text: str) -> int:
    """The line that sets a key, or opens a table of that name; 1 when it isn't found."""
    pattern = re.compile(rf"""\s*(?:\[\s*)?["']?{re.escape(name)}["']?\s*(?:[=.\]])""")
    lines = text.splitlines()
    return next((number for number, line in enumerate(lines, 1) if pattern.match(line)), 1)


def theme_names() -> list[str]:
    return sorted(path.stem for path in THEMES.glob("*.toml"))


def theme(name: str) -> Theme:
    """Raises UsageError for a theme that isn't there."""
    path = THEMES / f"{name}.toml"
    if not path.is_file():
        raise UsageError(f"There is no theme {name}.", f"There are {', '.join(theme_names())}.")
    return msgspec.convert(tomllib.loads(path.read_text()), Theme)
