"""No settings of the person who runs the tests."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PKDB_CONFIG", str(tmp_path / "none.toml"))
