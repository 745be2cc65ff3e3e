"""A recorded session of gdb, damaged: each ends in one clear error or goes on as if nothing were, and none hangs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from openmp_scenes import RECORDED, SCENES, from_record
from scenes import Lost

from pkdb_tui.engine.errors import NativeError
from pkdb_tui.engine.native.base import ControllerLost

LIMIT = 20.0  # by far; a hang has no end at all
UNREADABLE = r"(gdb|The native debugger is gone: it) told (an answer|a stop) that can't be read and was ended\."
Lines = list[str]


def told(lines: Lines, kind: str) -> list[int]:
    """Where the debugger says something of a kind: the first of equal ones, answers to each command."""
    found, seen, command = [], set[tuple[str, str]](), ""
    for at, line in enumerate(lines):
        if line.startswith(">"):
            command = line
        what = re.match(kind, line)
        if what is None:
            continue
        key = (command if kind == ANSWERS else "", what[0])
        if key not in seen:
            seen.add(key)
            found.append(at)
    return found


ANSWERS, STOPS = r"< \{token\}\^done,json=", r"< \*stopped,reason="
NOTES = r"< ([=*](?!stopped)[a-z-]+|\(gdb\))"


def cut(line: str) -> Iterator[str]:
    """Broken off behind the kind of record, in the middle, and before its last character."""
    for end in (len("< {token}^d"), len(line) // 2, len(line) - 1):
        yield line[:end]


def garbled(line: str) -> Iterator[str]:
    """With bytes in it that don't belong there, without some that do."""
    middle = len(line) // 2
    yield line[:middle] + "\x00\xff]}" + line[middle:]
    yield line[:middle] + line[middle + 1 :].replace('"', "", 1)
    yield line[:11] + line[11:].swapcase()


HOW = {"cut": cut, "garbled": garbled}


def damaged(lines: Lines, kind: str, how: str) -> Iterator[tuple[str, Lines]]:
    """(the line as it is then, the session with it)"""
    for at in told(lines, kind):
        for text in HOW[how](lines[at]):
            if text != lines[at]:
                yield text, [*lines[:at], text, *lines[at + 1 :]]


async def outcome(lines: Lines, name: str, folder: Path) -> str:
    """What a person is told of a session, or "as recorded"."""
    record = folder / "session.mi"
    record.write_text("\n".join(lines) + "\n")
    stage = from_record(record, folder)
    try:
        async with asyncio.timeout(LIMIT):
            await SCENES[name][0](stage)
    except (NativeError, Lost) as error:
        losses = [event.reason for event in stage.told if isinstance(event, ControllerLost)]
        return " ".join(losses) or str(error)
    finally:
        async with asyncio.timeout(LIMIT):
            await stage.end()
    return "as recorded"


@pytest.fixture(params=SCENES)
def scene(request: pytest.FixtureRequest) -> tuple[str, Lines]:
    name = str(request.param)
    return name, (RECORDED / f"{name}.mi").read_text().splitlines()


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", [ANSWERS, STOPS])
async def test_what_is_waited_for(scene: tuple[str, Lines], kind: str, how: str, tmp_path: Path) -> None:
    name, lines = scene
    for text, session in damaged(lines, kind, how):
        said = await outcome(session, name, tmp_path)
        harmless = said == "as recorded" and kind == STOPS and how == "garbled"  # in what nobody looks at
        assert harmless or re.match(UNREADABLE, said), (text, said)


@pytest.mark.parametrize("how", HOW)
async def test_what_nobody_waits_for(scene: tuple[str, Lines], how: str, tmp_path: Path) -> None:
    name, lines = scene
    for text, session in damaged(lines, NOTES, how):
        assert await outcome(session, name, tmp_path) == "as recorded", text


async def test_records_out_of_order(scene: tuple[str, Lines], tmp_path: Path) -> None:
    """A stop that is told before the answer to what let its thread go is a stop, or the loss of gdb; nobody waits."""
    name, lines = scene
    for at in told(lines, STOPS):
        begin = max(n for n in range(at) if lines[n].startswith(">"))
        moved = [*lines[: begin + 1], lines[at], *lines[begin + 1 : at], *lines[at + 1 :]]
        said = await outcome(moved, name, tmp_path)
        assert said == "as recorded" or said.endswith("."), (lines[at], said)
