"""Facts of the machine the figures come from."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def facts(pythons: list[str]) -> list[str]:
    """Lines naming processor, memory, system, compiler, debugger and the versions measured."""
    lines = [
        f"{_processor()}, {os.cpu_count()} cores, {_memory()}",
        f"{_system()}, Linux {platform.release()}",
        _first_line(["g++", "--version"]),
        _first_line(["gdb", "--version"]),
    ]
    lines += [_first_line([python, "--version"]) for python in pythons]
    lines.append(", ".join(f"{name} {_version(name)}" for name in ("pkdb-tui", "textual", "numpy")))
    return [line for line in lines if line]


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory() -> str:
    kib = int(Path("/proc/meminfo").read_text().split()[1])
    return f"{kib / 1024**2:.0f} GiB"


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return "Linux"


def _first_line(command: list[str]) -> str:
    if not shutil.which(command[0]):
        return f"{command[0]}: not found"
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).splitlines()[0].strip()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(source tree)"
