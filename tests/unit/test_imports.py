"""What importing a part really brings in, seen from fresh interpreters."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def modules_after(code: str) -> set[str]:
    """Names in sys.modules after running the code, those of the bare interpreter aside."""
    program = (
        f"import sys, json; before = set(sys.modules)\n{code}\nprint(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(json.loads(done.stdout.splitlines()[-1]))


def roots(names: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def test_the_engine_brings_no_screen_and_no_numpy() -> None:
    found = roots(modules_after("import pkdb_tui.engine.session, pkdb_tui.plain, pkdb_tui.commands.language"))
    assert not found & {"textual", "rich", "pygments", "numpy"}


def test_the_command_line_is_light() -> None:
    found = modules_after("import pkdb_tui.cli")
    assert not roots(found) & {"textual", "rich", "numpy", "msgspec", "asyncio"}
    assert len(found) < 60


def test_the_debuggees_half_is_the_standard_library_alone() -> None:
    found = modules_after(
        "from pkdb_tui.engine.debuggee import library; library.load('pkdb_tui.engine.debuggee.bootstrap')"
    )
    foreign = {name for name in roots(found) if name not in sys.stdlib_module_names and name != "pkdb_tui"}
    assert not {name for name in foreign if not name.startswith("_sysconfigdata")}
    assert all(
        name in ("pkdb_tui", "pkdb_tui.engine") or name.startswith("pkdb_tui.engine.debuggee")
        for name in found
        if name.startswith("pkdb_tui")
    )
    # Felt at every start, and none of what the program would have without a debugger.
    assert not found & {"asyncio", "dataclasses", "importlib.abc", "inspect", "signal", "socket"}


def test_panes_bring_no_engine_that_acts() -> None:
    found = modules_after(
        "import pkdb_tui.panes.source, pkdb_tui.panes.threads, pkdb_tui.panes.watches, pkdb_tui.panes.console"
    )
    assert not any(name.startswith(("pkdb_tui.engine.session", "pkdb_tui.engine.native")) for name in found)


def test_the_contract_of_the_panes_names_every_room_of_the_engine() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (panes,) = (each for each in contracts if each.get("source_modules") == ["pkdb_tui.panes"])
    engine = ROOT / "pkdb_tui" / "engine"
    rooms = {path.stem for path in engine.glob("*.py")} | {path.parent.name for path in engine.glob("*/__init__.py")}
    seen = {"__init__", "api", "errors", "formatting"}
    assert {f"pkdb_tui.engine.{room}" for room in rooms - seen} <= set(panes["forbidden_modules"])
