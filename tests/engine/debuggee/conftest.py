"""Fixtures that start a debuggee per test, once for each backend this interpreter has."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from debuggee_client import Client

BACKENDS = ["settrace"] if sys.version_info < (3, 12) else ["monitoring", "settrace"]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def launch(backend: str) -> Iterator[Callable[..., Client]]:
    """Start a debuggee; all are ended with the test."""
    clients: list[Client] = []

    def start(*args: Any, environment: dict[str, str] | None = None, **options: Any) -> Client:
        client = Client(*args, environment={"PKDB_BACKEND": backend, **(environment or {})}, **options)
        clients.append(client)
        return client

    yield start
    for client in clients:
        client.close()


@pytest.fixture
def program(tmp_path: Path, launch: Callable[..., Client]) -> Callable[..., Client]:
    """Write a script and start it."""

    def start(text: str, *args: str, name: str = "program.py", **options: Any) -> Client:
        path = tmp_path / name
        path.write_text(textwrap.dedent(text).lstrip("\n"))
        return launch(path, *args, **options)

    return start
