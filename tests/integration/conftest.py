"""Gives the tests the runtimes that can be had, each with its programs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cli import FIXTURES
from runtimes import BOTH, EMBEDDED, OnRuntime


@pytest.fixture(scope="session")
def fixtures_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fixtures in a folder of their own, as PyKokkos builds beside the program."""
    return Path(shutil.copytree(FIXTURES, tmp_path_factory.mktemp("programs") / "fixtures"))


@pytest.fixture(params=BOTH)
def debug(request: pytest.FixtureRequest, fixtures_copy: Path) -> OnRuntime:
    """`debug(SCRIPT, COMMAND...)` on each runtime that can be had here."""
    return OnRuntime(request.param, FIXTURES if request.param == EMBEDDED else fixtures_copy)


@pytest.fixture
def embedded() -> OnRuntime:
    """`debug` for what only the embedded runtime has."""
    return OnRuntime(EMBEDDED, FIXTURES)
