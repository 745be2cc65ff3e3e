"""Where panes stand: geometry alone."""

from __future__ import annotations

import pytest
from textual.geometry import Region, Size

from pkdb_tui.panes.arrangement import Arrangement, is_tiny, regions, tabs

SIZES = [Size(80, 22), Size(100, 28), Size(120, 38), Size(200, 58), Size(60, 13), Size(61, 40)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("threads", [False, True])
def test_panes_fill_the_screen_and_dont_overlap(size: Size, threads: bool) -> None:
    placed = regions(size, Arrangement(threads=threads))
    covered = [[0] * size.width for _ in range(size.height)]
    for region in placed.values():
        for y in range(region.y, region.bottom):
            for x in range(region.x, region.right):
                covered[y][x] += 1
    assert all(cell == 1 for row in covered for cell in row)


def test_a_narrow_screen_folds_the_right_column_into_the_tabs() -> None:
    assert "variables" in tabs(Size(80, 22))
    assert "variables" not in tabs(Size(120, 38))
    placed = regions(Size(80, 22), Arrangement(tab="variables"))
    assert "variables" in placed
    assert "stack" not in placed
    assert placed["source"].height >= 8


def test_a_zoomed_pane_has_everything() -> None:
    placed = regions(Size(120, 38), Arrangement(zoomed="variables"))
    assert placed == {"title-variables": Region(0, 0, 120, 1), "variables": Region(0, 1, 120, 37)}


def test_a_tiny_screen_keeps_the_console() -> None:
    assert is_tiny(Size(20, 3))
    placed = regions(Size(20, 3), Arrangement())
    assert placed["console"] == Region(0, 1, 20, 2)


def test_the_right_column_gives_rows_to_what_needs_them() -> None:
    needs = (("threads", 1), ("stack", 5), ("watches", 4))
    placed = regions(Size(120, 38), Arrangement(threads=True, needs=needs))
    assert [placed[name].height for name in ("threads", "stack", "watches")] == [1, 5, 4]
    assert placed["variables"].height == 27 - 4 - 1 - 5 - 4
    crowded = regions(
        Size(120, 38), Arrangement(threads=True, needs=(("threads", 9000), ("stack", 80), ("watches", 70)))
    )
    assert crowded["variables"].height >= 5
