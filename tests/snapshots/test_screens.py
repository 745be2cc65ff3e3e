"""What the whole screen looks like; `pytest tests/snapshots --snapshot-update` renews the pictures."""

from __future__ import annotations

import asyncio
import html
import re
from pathlib import Path

import pytest
from pictures import HARD, at_rest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from pkdb_tui.engine.api import Phase

SIZES = [(80, 24), (120, 40), (200, 60)]
KERNEL = ("break 13", "continue", "display y[j:j+4]")


def picture_of(pilot: Pilot[int]) -> str:
    """The screen as SVG, without the web fonts it would fetch."""
    return re.sub(r"@font-face \{.*?\}\s*", "", pilot.app.export_screenshot(), flags=re.DOTALL)


def text(svg: str) -> str:
    """The picture's words, so that a failure here says more than that a file differs."""
    return html.unescape(re.sub(r"<[^>]+>", "", svg)).replace("\xa0", " ")


@pytest.mark.parametrize(("width", "height"), SIZES)
async def test_stopped_in_a_kernel(show, picture: SnapshotAssertion, width: int, height: int) -> None:  # type: ignore[no-untyped-def]
    async with show(width, height, KERNEL, Phase.STOPPED_KERNEL) as pilot:
        svg = picture_of(pilot)
        assert "kernel yax" in text(svg)
        assert "thread 0 of 2 · j = 0" in text(svg)
        assert width < 100 or "watches 1" in text(svg)
        assert svg == picture


@pytest.mark.parametrize(("width", "height"), SIZES)
async def test_stopped_in_python(show, picture: SnapshotAssertion, width: int, height: int) -> None:  # type: ignore[no-untyped-def]
    async with show(width, height, ("break 20", "continue"), Phase.STOPPED_PYTHON) as pilot:
        svg = picture_of(pilot)
        assert "python · run · breakpoint 1" in text(svg)
        assert svg == picture


async def test_an_uncaught_exception(show) -> None:  # type: ignore[no-untyped-def]
    async with show(120, 40, ("continue",), Phase.STOPPED_PYTHON) as pilot:
        svg = picture_of(pilot)
        # No picture: the traceback names the folder of the run.
        assert "exception KeyError: 'missing'" in text(svg)
        assert "Traceback (most recent call last):" in text(svg)


async def test_the_variables_zoomed(show, picture: SnapshotAssertion) -> None:  # type: ignore[no-untyped-def]
    async with show(80, 24, KERNEL, Phase.STOPPED_KERNEL) as pilot:
        await pilot.press("4", "z")
        await at_rest(pilot)
        svg = picture_of(pilot)
        assert "row_sum" in text(svg)
        assert svg == picture


@pytest.mark.parametrize("theme", ["light", "high-contrast", "ansi-16"])
async def test_themes(show, picture: SnapshotAssertion, theme: str) -> None:  # type: ignore[no-untyped-def]
    async with show(120, 40, KERNEL, Phase.STOPPED_KERNEL, theme) as pilot:
        assert picture_of(pilot) == picture


async def test_a_tiny_terminal(show, picture: SnapshotAssertion) -> None:  # type: ignore[no-untyped-def]
    async with show(40, 10, ("break 20",), Phase.STOPPED_PYTHON) as pilot:
        svg = picture_of(pilot)
        assert "The terminal is small" in text(svg)
        assert svg == picture


@pytest.mark.parametrize(("width", "height"), SIZES)
async def test_values_that_are_hard_to_show(show, picture: SnapshotAssertion, width: int, height: int) -> None:  # type: ignore[no-untyped-def]
    commands = ("break 23", "continue", "display weights", "display third", "next")
    async with show(width, height, commands, Phase.STOPPED_PYTHON, program=HARD) as pilot:
        await pilot.press("9", "4")
        await at_rest(pilot)
        svg = picture_of(pilot)
        assert "0.333333334  « 0.333333333" in text(svg)
        assert svg == picture


@pytest.mark.parametrize(("width", "height"), SIZES)
async def test_long_names_in_a_kernel(show, picture: SnapshotAssertion, width: int, height: int) -> None:  # type: ignore[no-untyped-def]
    commands = ("break 9", "break 300", "continue", "display weights_of_all_particles[0:12]", "thread 1")
    async with show(width, height, commands, Phase.STOPPED_KERNEL, program=HARD) as pilot:
        await pilot.press("9")
        await at_rest(pilot)
        svg = picture_of(pilot)
        assert "line 300 has no code" in text(svg)
        assert svg == picture


async def test_enter_shows_all_of_a_value(show, picture: SnapshotAssertion) -> None:  # type: ignore[no-untyped-def]
    async with show(80, 24, ("break 9", "continue"), Phase.STOPPED_KERNEL, program=HARD) as pilot:
        await pilot.press("4", "end", "enter")
        await at_rest(pilot)
        svg = picture_of(pilot)
        assert "strides   8 bytes" in text(svg)
        assert "NaN       1" in text(svg)
        assert svg == picture
        await pilot.press("escape")
        await at_rest(pilot)
        assert "strides" not in text(picture_of(pilot))


@pytest.mark.parametrize(("width", "height"), SIZES)
async def test_a_lens_at_a_kernel_stop(show, picture: SnapshotAssertion, width: int, height: int) -> None:  # type: ignore[no-untyped-def]
    async with show(width, height, KERNEL, Phase.STOPPED_KERNEL) as pilot:
        await pilot.press("A", *"a[$row, $col]", "enter")
        await at_rest(pilot)
        await pilot.press("greater_than_sign")
        await at_rest(pilot)
        svg = picture_of(pilot)
        assert "row = 15, col = 63   2.0" in text(svg)
        assert "min 0.0 max 2.0" in text(svg)
        assert svg == picture


@pytest.mark.parametrize(("width", "height"), SIZES)
async def test_the_kernel_editor_at_a_kernel_stop(  # type: ignore[no-untyped-def]
    show, picture: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, width: int, height: int
) -> None:
    monkeypatch.setenv("PKDB_STATE", str(tmp_path / "state"))
    async with show(width, height, KERNEL, Phase.STOPPED_KERNEL) as pilot:
        await pilot.press("E", *["down"] * 4, "end", *["backspace"] * 4, "z")
        async with asyncio.timeout(20):
            while "z is not defined" not in text(picture_of(pilot)):
                await pilot.pause(0.05)
        await at_rest(pilot)
        svg = picture_of(pilot)
        assert "yax.py:12" in text(svg)
        assert ("+   12" in text(svg)) == (width >= 110)
        assert svg == picture
