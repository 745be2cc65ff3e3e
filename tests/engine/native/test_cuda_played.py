"""The controller for devices against what cuda-gdb 13.0 said on an NVIDIA H200."""

from __future__ import annotations

import pytest
from cuda_scenes import SCENES, from_record


@pytest.mark.parametrize("name", SCENES)
async def test_scene(name: str) -> None:
    stage = from_record(name)
    try:
        await SCENES[name][0](stage)
    finally:
        await stage.end()
