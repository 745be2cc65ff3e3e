"""Disks that are full or can't be written, for faults that a permission doesn't make: root may write everywhere."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk of 40 KiB, less than any kernel takes, mounted on a new folder; skips where that isn't allowed."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", folder]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a small disk can't be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def make_read_only(disk: Path) -> None:
    """What is on the disk stays; nothing can be written any more."""
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
