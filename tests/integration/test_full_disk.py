"""A disk that is full: it is said what to do, and debugging goes on where it can."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from cli import PROMPT, plain, terminal

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)
COMMANDS = ["break 11", "continue", "delete", "continue"]


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of 40 KiB, less than any kernel takes."""
    folder = tmp_path / "full"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", folder], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small disk can't be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_full_cache_is_said_and_kernels_are_kept_elsewhere(full: Path) -> None:
    run = plain("--runtime", "embedded", "rounds.py", commands=COMMANDS, variables={"PKDB_CACHE": str(full)})
    assert f"The kernel cache {full}/kernels can't be written (No space left on device)" in run.out
    assert "Set PKDB_CACHE to a folder that can be written." in run.out
    assert run.stops[1].startswith("stopped: breakpoint 1 rounds.py:11 in fill")
    assert run.lines[-2:] == ["sum 31.0", "exited: status 0"]


def test_no_room_anywhere_stops_at_the_launch_and_says_so(full: Path) -> None:
    variables = {"PKDB_CACHE": str(full), "TMPDIR": str(full)}
    run = plain(
        "--runtime", "embedded", "rounds.py", commands=["break 11", "continue", "print 6 * 7"], variables=variables
    )
    assert "Make room there, or set PKDB_CACHE to a folder that has some." in run.stops[1]
    assert "rounds.py:18 in main" in run.stops[1]
    assert "42" in run.lines


def test_a_full_disk_for_what_is_remembered_ends_no_session(full: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        (full / "ballast").write_bytes(b"\0" * 100_000)
    with terminal("rounds.py", "x", state=full / "state") as child:
        child.expect_exact(PROMPT)
        child.sendline("break 20")
        child.expect_exact("breakpoint 1")
        child.sendline("quit")
        child.expect(pexpect.EOF)
        assert "Traceback" not in (child.before or "")
    child.close()
    assert child.exitstatus == 0
