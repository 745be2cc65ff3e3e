"""A disk that is full: it is said what to do, and debugging goes on where it can."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from cli import PROMPT, plain, terminal
from disks import make_read_only, small_disk

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)
COMMANDS = ["break 11", "continue", "delete", "continue"]


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "full") as folder:
        yield folder


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


def test_a_cache_that_can_only_be_read_is_used_and_new_kernels_are_kept_elsewhere(full: Path) -> None:
    (full / "kernels").mkdir()
    make_read_only(full)
    run = plain("--runtime", "embedded", "rounds.py", commands=COMMANDS, variables={"PKDB_CACHE": str(full)})
    (said,) = [line for line in run.lines if "RuntimeWarning" in line]
    assert f"The kernel cache {full}/kernels can't be written (Read-only file system)" in said
    assert "Set PKDB_CACHE to a folder that can be written." in said
    assert run.stops[1].startswith("stopped: breakpoint 1 rounds.py:11 in fill")
    assert run.lines[-2:] == ["sum 31.0", "exited: status 0"]


def left(state: Path) -> str:
    """What is said to who sets a breakpoint and leaves."""
    with terminal("rounds.py", state=state) as child:
        child.expect_exact(PROMPT)
        child.sendline("break 20")
        child.expect_exact("breakpoint 1")
        child.sendline("quit")
        child.expect(pexpect.EOF)
        said = child.before or ""
    child.close()
    assert child.exitstatus == 0
    assert "Traceback" not in said
    return said


NOT_SAVED = "warning: Breakpoints and watches could not be saved in "
REMEDY = "Make room there, or set PKDB_STATE to a folder that can be written."


def test_a_full_disk_for_what_is_remembered_is_said_at_the_end(full: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        (full / "ballast").write_bytes(b"\0" * 100_000)
    said = left(full / "state")
    assert said.count(NOT_SAVED) == 1
    assert f".json: No space left on device. {REMEDY}" in said


def test_what_was_remembered_is_found_where_nothing_can_be_written_and_stays(full: Path) -> None:
    assert NOT_SAVED not in left(full)
    (kept,) = (full / "programs").iterdir()
    before = kept.read_bytes()
    make_read_only(full)
    with terminal("rounds.py", state=full) as child:
        child.expect_exact("note: Back from the last session: 1 breakpoint.")
        child.expect_exact(PROMPT)
        child.sendline("break 18")
        child.expect_exact("breakpoint 2")
        child.sendline("quit")
        child.expect_exact(NOT_SAVED)
        child.expect_exact(f"Read-only file system. {REMEDY}")
        child.expect(pexpect.EOF)
    assert kept.read_bytes() == before
