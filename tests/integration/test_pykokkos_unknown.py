"""A PyKokkos of another make: said plainly, and Python is debugged all the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli import plain

from pkdb_tui.engine.debuggee.frameworks import pykokkos_known

RUNTIME = """
class Runtime:
    def run(self, kernel):
        return kernel()
"""
PROGRAM = """import pykokkos.core.runtime


def kernel():
    value = 41
    return value + 1


print("kernel", pykokkos.core.runtime.Runtime().run(kernel))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("pykokkos/__init__.py", "pykokkos/core/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "pykokkos/core/runtime.py").write_text(RUNTIME)
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


def test_it_is_named_with_what_it_lacks_and_python_stops(folder: Path) -> None:
    run = plain(
        "program.py", commands=["info runtime", "break 6", "continue", "print value", "continue"], folder=folder
    )
    said = "core/runtime.py has no execute_workunit"
    assert f"installed PyKokkos (not one pkdb-tui knows: {said})" in run.lines
    (warning,) = run.starting("warning:")
    assert f"This PyKokkos is not one pkdb-tui knows ({said})" in warning
    assert run.stops[-1].startswith("stopped: breakpoint 1 program.py:6 in kernel")
    assert "41" in run.lines
    assert "kernel 42" in run.lines
    assert run.lines[-1] == "exited: status 0"


def test_each_definition_that_is_hooked_is_looked_for(folder: Path) -> None:
    package = folder / "pykokkos"
    for name, wanted in pykokkos_known.NEEDED.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("\n".join(f"{'    ' * (text[0] == 'd')}{text}:" for text in wanted))
    assert pykokkos_known.missing(package) == ""
    for name, wanted in pykokkos_known.NEEDED.items():
        whole = (package / name).read_text()
        for text in wanted:
            (package / name).write_text(whole.replace(text, f"{text}_of_old"))
            assert pykokkos_known.missing(package) == f"{name} has no {text.split()[1]}"
        (package / name).unlink()
        assert pykokkos_known.missing(package) == f"{name} can't be read"
        (package / name).write_text(whole)
