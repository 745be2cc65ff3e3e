"""The controller for OpenMP kernels with gdb, and without it against what gdb 13.1 said.

PKDB_RECORD names a folder for new records.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from openmp_scenes import RECORDED, SCENES, from_record, with_gdb
from scenes import recorded_to


@pytest.mark.parametrize("name", SCENES)
async def test_with_gdb(name: str) -> None:
    scene, program = SCENES[name]
    stage = with_gdb(program)
    try:
        await stage.kernel_comes()
        await scene(stage)
        recorded_to(stage, name)
    finally:
        await stage.end()


@pytest.mark.parametrize("name", SCENES)
async def test_from_the_record(name: str, tmp_path: Path) -> None:
    stage = from_record(RECORDED / f"{name}.mi", tmp_path)
    try:
        await SCENES[name][0](stage)
    finally:
        await stage.end()
