"""For all tests: folders of their own for caches and state, and no process left behind."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

MARK = f"PKDB_TEST_RUN={uuid.uuid4()}"
# A run in the background may be told to ignore it, and all that the tests start would do so as well.
signal.signal(signal.SIGINT, signal.default_int_handler)


def processes_of_this_run() -> dict[int, str]:
    """Processes that inherited this run's mark in their environment, this one aside."""
    found: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        pid = int(folder.name)
        try:
            if pid != os.getpid() and MARK.encode() in (folder / "environ").read_bytes():
                found[pid] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except (OSError, ValueError):
            continue
    return {pid: command for pid, command in found.items() if command}


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A run that was broken off has not used all pictures: nobody is to be told to delete the others."""
    if exitstatus == pytest.ExitCode.INTERRUPTED:
        session.config.pluginmanager.unregister(name="syrupy")


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Caches, saved breakpoints and settings of the person running the tests stay out of them."""
    folder = tmp_path_factory.mktemp("own")
    own = {
        "PKDB_CACHE": str(folder / "cache"),
        "PKDB_STATE": str(folder / "state"),
        "PKDB_CONFIG": str(folder / "config.toml"),
        MARK.partition("=")[0]: MARK.partition("=")[2],
    }
    before = {name: os.environ.get(name) for name in own}
    os.environ.update(own)
    yield
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@pytest.fixture(autouse=True)
def no_process_left(own_folders: None, request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever a test starts has ended with it; processes need a moment to be reaped."""
    import time

    before = set(processes_of_this_run())
    yield
    deadline = time.monotonic() + 5.0
    left = {pid: command for pid, command in processes_of_this_run().items() if pid not in before}
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = {pid: command for pid, command in processes_of_this_run().items() if pid not in before}
    assert not left, f"{request.node.name} left processes behind: {left}"
