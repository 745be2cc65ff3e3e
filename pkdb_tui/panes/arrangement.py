"""Where each pane stands for a size, a preset and a zoom: plain geometry, and the layout that applies it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from textual.geometry import Offset, Region, Size, Spacing
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

RIGHT = ("threads", "stack", "variables", "watches")
TABS = ("console", "output", "launches", "breakpoints")
SMALLEST = (60, 15)
WIDE = 100


@dataclass(frozen=True)
class Arrangement:
    """What decides the geometry. `columns` and `rows` are shares of the right column and the bottom in percent.

    Without a right column the bottom has more to show, and a share of its own.
    """

    tab: str = "console"
    zoomed: str = ""
    columns: int = 41
    rows: int = 30
    narrow_rows: int = 42
    threads: bool = False  # whether the threads pane is worth its rows
    beside: bool = False  # whether the generated C++ stands in the place of the right column
    needs: tuple[tuple[str, int], ...] = ()  # the most rows each pane of the right column has had to show

    def with_tab(self, name: str) -> Arrangement:
        return replace(self, tab=name)


SHARES = ("columns", "rows", "narrow_rows")
PRESETS: Mapping[str, tuple[int, int, int]] = {
    "balanced": (41, 30, 42),
    "source": (32, 20, 28),
    "values": (55, 25, 55),
    "console": (41, 50, 65),
}


def is_narrow(size: Size) -> bool:
    return size.width < WIDE


def is_tiny(size: Size) -> bool:
    return size.width < SMALLEST[0] or size.height < SMALLEST[1] - 2


def tabs(size: Size) -> tuple[str, ...]:
    """The panes that share the bottom."""
    return (*RIGHT, *TABS) if is_narrow(size) else TABS


def regions(size: Size, wanted: Arrangement) -> dict[str, Region]:
    """Regions by widget id; `title-X` is the title of pane X, `tabs` the tab line. What is absent is not shown."""
    width, height = size.width, size.height
    if is_tiny(size):
        return {"title-tiny": Region(0, 0, width, min(1, height)), "console": Region(0, 1, width, max(height - 1, 1))}
    if wanted.zoomed:
        return {f"title-{wanted.zoomed}": Region(0, 0, width, 1), wanted.zoomed: Region(0, 1, width, height - 1)}
    share = wanted.narrow_rows if is_narrow(size) else wanted.rows
    bottom = max(6, min(height - 6, round(height * share / 100)))
    top = height - bottom
    found: dict[str, Region] = {}
    left = width
    if not is_narrow(size):
        share = max(wanted.columns, 48) if wanted.beside else wanted.columns
        right = max(40, min(width - 50, round(width * share / 100)))
        left = width - right - 1
        found["divider"] = Region(left, 0, 1, top)
        if wanted.beside:
            found["title-generated"] = Region(left + 1, 0, right, 1)
            found["generated"] = Region(left + 1, 1, right, top - 1)
        else:
            found.update(_column(left + 1, right, top, wanted))
    found["title-source"] = Region(0, 0, left, 1)
    found["source"] = Region(0, 1, left, top - 1)
    active = wanted.tab if wanted.tab in tabs(size) else TABS[0]
    found["tabs"] = Region(0, top, width, 1)
    found["generated" if wanted.beside and is_narrow(size) else active] = Region(0, top + 1, width, bottom - 1)
    return found


def _column(x: int, width: int, height: int, wanted: Arrangement) -> dict[str, Region]:
    """The right column: panes get the rows they need, within their shares; variables take what is left.

    Needs only grow during a session, so that nothing moves while stepping.
    """
    needs = dict(wanted.needs)
    sizes = {
        "stack": max(3, min(needs.get("stack", 0), height // 5)),
        "watches": max(2, min(needs.get("watches", 0), height // 4)),
    }
    if wanted.threads:
        sizes["threads"] = max(1, min(needs.get("threads", 0), height // 5))
    used = sum(sizes.values()) + len(sizes) + 1
    sizes["variables"] = max(1, height - used)
    found: dict[str, Region] = {}
    y = 0
    for name in RIGHT:
        if name in sizes and y + 1 < height:
            rows = min(sizes[name], height - y - 1)
            found[f"title-{name}"] = Region(x, y, width, 1)
            found[name] = Region(x, y + 1, width, rows)
            y += rows + 1
    return found


class WorkspaceLayout(Layout):
    """Places the workspace's children by `regions`."""

    name = "pkdb"

    def __init__(self) -> None:
        super().__init__()
        self.wanted = Arrangement()
        self.placed: dict[str, Region] = {}

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        self.placed = regions(size, self.wanted)
        placements: list[WidgetPlacement] = []
        for order, child in enumerate(children):
            region = self.placed.get(child.id or "")
            if region is not None and region.area:
                placements.append(WidgetPlacement(region, Offset(0, 0), Spacing(), child, order))
        return placements
