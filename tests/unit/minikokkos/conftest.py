"""Kernels of these tests are compiled into a cache of the test run's own."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from pkdb_tui.minikokkos import debug

HEADER = "import math\nimport numpy as np\nimport pkdb_tui.minikokkos as pk\n"
Load = Callable[[str], ModuleType]


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The cache folder of the run."""
    folder = tmp_path_factory.mktemp("kernel-cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PKDB_CACHE", str(folder))
        yield folder


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Load]:
    """Import a text, three lines of imports before it, as a file: line 1 of the text is line 4."""
    names: list[str] = []

    def module(text: str) -> ModuleType:
        name = f"kernels_{len(names)}_{tmp_path.name}"
        path = tmp_path / f"{name}.py"
        path.write_text(HEADER + text)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        made = importlib.util.module_from_spec(spec)
        sys.modules[name] = made
        names.append(name)
        spec.loader.exec_module(made)
        return made

    yield module
    for name in names:
        del sys.modules[name]


@pytest.fixture
def hooked() -> Iterator[Callable[[debug.Hook], None]]:
    """Set the debugger's hook for one test."""

    def install(hook: debug.Hook) -> None:
        debug.hook = hook

    yield install
    debug.hook = None
