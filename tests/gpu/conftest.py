"""Sessions on a real GPU: `pytest -m gpu tests/gpu` on a machine with an NVIDIA device, CuPy and the CUDA toolkit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from gpu_runs import PROGRAMS, Plain, environment

from pkdb_tui.engine.native.cuda_process import find_cuda_gdb


def why_not() -> str:
    """Why no session can run here."""
    try:
        import cupy

        cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # noqa: BLE001 - whatever CuPy has against this machine is the reason
        return f"no CuPy with a device: {error}"
    return "" if find_cuda_gdb("cuda-gdb") else "no cuda-gdb"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    own = [item for item in items if Path(__file__).parent in item.path.parents]
    reason = why_not() if own else ""
    for item in own:
        item.add_marker(pytest.mark.gpu)
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def plain(tmp_path: Path) -> Plain:
    """`plain(program, *commands, arguments=(), options=(), log="")` runs it in plain mode and gives the output."""

    def run(
        program: str, *commands: str, arguments: tuple[str, ...] = (), options: tuple[str, ...] = (), log: str = ""
    ) -> str:
        given = [part for command in commands for part in ("-c", command)]
        variables = environment(PKDB_LOG=log) if log else environment()
        done = subprocess.run(
            [sys.executable, "-m", "pkdb_tui", "--plain", *options, *given, str(PROGRAMS / program), *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=tmp_path, env=variables, timeout=90,
            check=False,
        )  # fmt: skip
        text = done.stdout + done.stderr
        print(text)
        return text.replace(f"{PROGRAMS}{os.sep}", "")

    return run
