"""The sessions that are played from records elsewhere, on a device; PKDB_RECORD names a folder for new records."""

from __future__ import annotations

import pytest
from cuda_scenes import SCENES, on_device
from scenes import recorded_to


@pytest.mark.parametrize("name", SCENES)
async def test_scene(name: str) -> None:
    scene, program, conditions = SCENES[name]
    stage = on_device(*program, conditions=conditions)
    try:
        await stage.kernel_comes()
        await scene(stage)
    finally:
        await stage.end()
        recorded_to(stage, name)
