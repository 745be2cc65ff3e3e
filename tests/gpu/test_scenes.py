"""The sessions that are played from records elsewhere, on a device; PKDB_RECORD names a folder for new records."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cuda_scenes import SCENES, Live


@pytest.mark.parametrize("name", SCENES)
async def test_scene(name: str) -> None:
    scene, program, conditions = SCENES[name]
    stage = Live(*program, conditions=conditions)
    try:
        await stage.kernel_comes()
        await scene(stage)
    finally:
        await stage.end()
        folder = os.environ.get("PKDB_RECORD")
        if folder:
            stage.save(Path(folder) / f"{name}.mi")
