"""Breakpoints, displays and the layout survive from one session to the next; what can't be used is told and kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pkdb_tui.engine import saved
from pkdb_tui.engine.api import BreakpointSpec, Event, LaunchOptions, Notice
from pkdb_tui.engine.session import Session

SOURCE = "def twice(n):\n    result = 2 * n\n    return result\n"


class Remembered:
    """Sessions on one script that are never started: what they save and restore."""

    def __init__(self, folder: Path) -> None:
        self.script = folder / "twice.py"
        self.script.write_text(SOURCE)
        self.options = LaunchOptions(script=str(self.script))
        self.path = saved.path_of(str(self.script))
        self.notices: list[str] = []

    def session(self) -> Session:
        self.notices.clear()
        return Session(self.options, self._listen)

    def _listen(self, event: Event) -> None:
        if isinstance(event, Notice):
            self.notices.append(event.text)

    def spec(self, line: int, **more: object) -> BreakpointSpec:
        return BreakpointSpec(file=str(self.script), line=line, **more)  # type: ignore[arg-type]

    async def save_one(self) -> None:
        session = self.session()
        await session.add_breakpoint(self.spec(2, condition="n > 1", ignore=3), enabled=False)
        await session.add_watch("n + 1")
        saved.save(session, {"zoom": 2})


@pytest.fixture
def remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Remembered:
    monkeypatch.setenv("PKDB_STATE", str(tmp_path / "state"))
    return Remembered(tmp_path)


async def test_breakpoints_displays_and_layout_come_back(remembered: Remembered) -> None:
    await remembered.save_one()
    session = remembered.session()
    assert await saved.restore(session) == {"zoom": 2}
    (made,) = session.breakpoints
    assert (made.spec, made.enabled) == (remembered.spec(2, condition="n > 1", ignore=3), False)
    assert [watch.expression for watch in session.watches] == ["n + 1"]
    assert remembered.notices == ["Back from the last session: 1 breakpoint, 1 display."]


async def test_nothing_is_written_where_there_is_nothing_to_keep(remembered: Remembered) -> None:
    saved.save(remembered.session())
    assert not remembered.path.exists()
    assert await saved.restore(remembered.session()) == {}
    assert remembered.notices == []


async def test_taking_all_away_is_kept_too(remembered: Remembered) -> None:
    await remembered.save_one()
    saved.save(remembered.session())
    session = remembered.session()
    assert await saved.restore(session) == {}
    assert session.breakpoints == ()


async def test_temporary_breakpoints_and_watchpoints_do_not_come_back(remembered: Remembered) -> None:
    session = remembered.session()
    await session.add_breakpoint(remembered.spec(2, temporary=True))
    await session.add_breakpoint(BreakpointSpec(watch="out[3]"))
    await session.add_breakpoint(BreakpointSpec(function="twice"))
    saved.save(session)
    session = remembered.session()
    await saved.restore(session)
    assert [each.spec.function for each in session.breakpoints] == ["twice"]


async def test_an_edited_line_is_named(remembered: Remembered) -> None:
    await remembered.save_one()
    remembered.script.write_text("import math\n\n\n" + SOURCE)
    session = remembered.session()
    await saved.restore(session)
    note = "line 2 of twice.py changed since this breakpoint was saved"
    assert remembered.notices[0] == f"Breakpoint 1: {note}."
    assert session.breakpoints[0].reason == note


async def test_an_edit_elsewhere_is_not(remembered: Remembered) -> None:
    await remembered.save_one()
    remembered.script.write_text(SOURCE.replace("return result", "return  result") + "\n\n")
    await saved.restore(remembered.session())
    assert remembered.notices == ["Back from the last session: 1 breakpoint, 1 display."]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "it is damaged: "),
        ('{"version": 1, "prog', "it is damaged: "),
        ("[1, 2]", "it is damaged: "),
        ('{"version": "one"}', "it is damaged: "),
        ('{"version": 1, "program": "twice.py", "breakpoints": [{"spec": {"line": "two"}}]}', "it is damaged: "),
        ('{"version": 99, "breakpoints": {"other": "shape"}}', "it is of version 99, and this is version 1"),
        ('{"version": 1, "program": "/elsewhere/other.py"}', "it belongs to /elsewhere/other.py"),
    ],
)
async def test_a_file_that_can_not_be_used_is_told_and_kept(remembered: Remembered, content: str, why: str) -> None:
    remembered.path.parent.mkdir(parents=True)
    remembered.path.write_text(content)
    session = remembered.session()
    assert await saved.restore(session) == {}
    assert len(remembered.notices) == 1
    assert remembered.notices[0].startswith(
        f"What was saved for this program in {remembered.path} is left aside: {why}"
    )
    await session.add_breakpoint(remembered.spec(3))
    saved.save(session)
    assert remembered.path.with_name(remembered.path.name + ".old").read_text() == content
    assert json.loads(remembered.path.read_text())["breakpoints"][0]["spec"]["line"] == 3


async def test_a_breakpoint_that_could_never_work_leaves_the_others(remembered: Remembered) -> None:
    await remembered.save_one()
    content = json.loads(remembered.path.read_text())
    content["breakpoints"].append({"spec": {"file": str(remembered.script), "line": 3}, "text": "return result"})
    content["breakpoints"][0]["spec"]["condition"] = "n >"
    remembered.path.write_text(json.dumps(content))
    session = remembered.session()
    await saved.restore(session)
    assert [each.spec.line for each in session.breakpoints] == [3]
    assert remembered.notices[0].startswith("A saved breakpoint is left aside: The condition `n >` is not a Python")


async def test_a_folder_that_can_not_be_written_is_told(remembered: Remembered) -> None:
    remembered.path.parent.parent.write_text("a file where the folder should be")
    session = remembered.session()
    await session.add_breakpoint(remembered.spec(2))
    problem = saved.save(session)
    assert problem.startswith(f"Breakpoints and watches could not be saved in {remembered.path}: ")
    assert problem.endswith("set PKDB_STATE to a folder that can be written.")


async def test_no_other_file_is_left_behind(remembered: Remembered) -> None:
    await remembered.save_one()
    await remembered.save_one()
    assert [each.name for each in remembered.path.parent.iterdir()] == [remembered.path.name]


async def test_scripts_of_the_same_name_are_kept_apart(tmp_path: Path, remembered: Remembered) -> None:
    await remembered.save_one()
    other = tmp_path / "other" / "twice.py"
    other.parent.mkdir()
    other.write_text(SOURCE)
    session = Session(LaunchOptions(script=str(other)), lambda event: None)
    assert await saved.restore(session) == {}
    assert session.breakpoints == ()
