"""A kernel's text changed while the program is stopped: checked, run in place of the kernel, the file left alone."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from cli import FIXTURES

from pkdb_tui.commands import language
from pkdb_tui.commands.locations import shown_path
from pkdb_tui.engine.api import EditCheck, Event, FrameKind, LaunchOptions, ProgramOutput
from pkdb_tui.engine.errors import FileChanged, PkdbError
from pkdb_tui.engine.session import Session

pytestmark = pytest.mark.skipif(
    shutil.which("gdb") is None or shutil.which("g++") is None, reason="needs gdb and g++: apt-get install gdb g++"
)


class Edited:
    """A session on a copy of the fixture; drafts are changed in the file that `edit` hands out."""

    def __init__(self, folder: Path) -> None:
        self.script = folder / "edited.py"
        self.script.write_bytes((FIXTURES / "edited.py").read_bytes())
        self.events: list[Event] = []
        options = LaunchOptions(
            script=str(self.script), runtime="embedded", environment={"OMP_NUM_THREADS": "2", "PYTHONUNBUFFERED": "1"}
        )
        self.session = Session(options, self.events.append)

    async def do(self, *commands: str) -> str:
        said = ""
        for command in commands:
            said = (await language.run(command, self.session)).text
            await self.session.settled()
        return said

    def change(self, old: str, new: str) -> None:
        draft = self.session.edits.require().draft_file
        text = draft.read_text()
        assert old in text
        draft.write_text(text.replace(old, new))

    @property
    def place(self) -> tuple[str, int, FrameKind]:
        assert self.session.snapshot is not None
        frame = self.session.snapshot.location
        return Path(frame.file).name, frame.line, frame.kind

    @property
    def printed(self) -> list[str]:
        data = b"".join(event.data for event in self.events if isinstance(event, ProgramOutput))
        return data.decode().splitlines()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Edited:
    monkeypatch.setenv("PKDB_STATE", str(tmp_path / "state"))
    return Edited(tmp_path)


@asynccontextmanager
async def started(run: Edited) -> AsyncIterator[None]:
    await run.session.start()
    await run.session.settled()
    try:
        yield
    finally:
        await run.session.quit()


async def test_the_next_launch_computes_what_was_edited_and_the_file_stays(run: Edited) -> None:
    before = run.script.read_bytes()
    async with started(run):
        await run.do("break 9", "continue", "edit")
        run.change("by * 2.0", "by * 20.0\n    step = step + 1.0")
        assert "add: compiled in" in await run.do("edit --check")
        assert await run.do("edit --install") == "Edit 1 runs for add from the next launch on."
        await run.do("delete", "continue")
    assert run.printed[:4] == ["first 1.0", "second 12.0", "first 23.0", "second 34.0"]
    assert run.script.read_bytes() == before


async def test_a_breakpoint_in_the_edited_kernel_stops_at_its_own_line(run: Edited) -> None:
    async with started(run):
        await run.do("break 9", "continue", "edit")
        run.change("by * 2.0", "by * 20.0\n    step = step + 1.0")
        await run.do("edit --install")
        path = run.session.edits.require().variants[0].path
        await run.do("delete", f"break {path}:10", "continue")
        assert run.place == ("edited_edit1.py", 10, FrameKind.KERNEL)
        assert await run.do("print step") == "10.0"


async def test_breakpoints_of_the_kernel_stop_in_the_edited_one_at_the_line_where_theirs_went(run: Edited) -> None:
    async with started(run):
        await run.do("break 10 if i == 3", "continue", "edit")
        run.change("by * 2.0", "by * 20.0\n    step = step + 1.0")
        await run.do("edit --install", "continue")
        assert run.place == ("edited_edit1.py", 11, FrameKind.KERNEL)
        assert [await run.do("print i"), await run.do("print step")] == ["3", "11.0"]
        run.change("    v[i] =", "    step = step + 1.0\n    v[i] =")
        await run.do("edit --install", "continue")
        assert run.place == ("edited_edit2.py", 12, FrameKind.KERNEL)
        assert await run.do("print step") == "12.0"
        run.change(run.session.edits.require().text, run.session.edits.require().loaded)
        await run.do("edit --install", "continue")
        assert run.place == ("edited.py", 10, FrameKind.KERNEL)
        assert [(Path(each.file).name, each.line) for each in run.session.breakpoints] == [("edited.py", 10)]


async def test_a_breakpoint_set_at_the_kernel_while_another_text_runs_stops_there_too(run: Edited) -> None:
    async with started(run):
        await run.do("tbreak 25", "continue", "edit add")
        run.change("by * 2.0", "by * 20.0\n    step = step + 1.0")
        await run.do("edit --install", "tbreak 10", "continue")
        assert run.place == ("edited_edit1.py", 11, FrameKind.KERNEL)
        assert run.session.breakpoints == ()
        await run.do("break 9", "delete 4", "continue")
    assert run.printed[-1] == "scaled 336.0"


async def test_a_line_that_launches_nothing_is_refused_and_changes_nothing(run: Edited) -> None:
    async with started(run):
        await run.do("break 25", "continue", "edit add")
        run.change("by * 2.0", "by * 20.0")
        for place in ("here", "25"):
            with pytest.raises(PkdbError, match=r"Line 25 of edited\.py launches no kernel"):
                await run.do(f"edit --install {place}")
        with pytest.raises(PkdbError, match=r"Line 25 of edited\.py launches no kernel"):
            await run.do("hotswap 25 add add")
        assert run.session.substitutions.public() == ()
        await run.do("delete", "continue")
    assert run.printed[:2] == ["first 1.0", "second 2.0"]


async def test_the_launch_log_tells_the_edited_kernel_from_the_programs_own(run: Edited) -> None:
    async with started(run):
        await run.do("tbreak 25", "tbreak 27", "continue", "edit add")
        run.change("by * 2.0", "by * 20.0")
        await run.do("edit --install", "continue")
        rows = [
            row.partition(f" {shown_path(str(run.script))}:") for row in (await run.do("info launches")).splitlines()
        ]
        assert [name for name, found, _ in rows if found] == ["add", "add of edited_edit1.py"]


async def test_only_the_launches_of_one_line(run: Edited) -> None:
    async with started(run):
        await run.do("tbreak 24", "continue", "edit add")
        run.change("by * 2.0", "by * 20.0")
        assert await run.do("edit --install here") == "Edit 1 runs for add at edited.py:24 from the next launch on."
        await run.do("continue")
    assert run.printed[:4] == ["first 10.0", "second 11.0", "first 21.0", "second 22.0"]


async def test_the_text_of_before_takes_the_rule_away(run: Edited) -> None:
    async with started(run):
        await run.do("tbreak 25", "tbreak 27", "continue", "edit add")
        run.change("by * 2.0", "by * 20.0")
        await run.do("edit --install", "continue")
        run.change("by * 20.0", "by * 2.0")
        assert "runs as the program has it again" in await run.do("edit --install")
        assert run.session.substitutions.public() == ()
        await run.do("continue")
    assert run.printed[:3] == ["first 1.0", "second 11.0", "first 12.0"]


async def test_a_kernel_with_variables_around_it_sees_those_of_each_launch(run: Edited) -> None:
    async with started(run):
        await run.do("tbreak 29", "continue", "edit scale")
        run.change("v[i] * factor", "v[i] * factor + 1.0")
        await run.do("edit --install", "continue")
    assert run.printed[-2:] == ["scaled 13.0", "scaled 40.0"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("by * 2.0", "by * nope", "edited.py:9: nope is not defined in this kernel"),
        ("by * 2.0", "by * (2.0", "edited.py:9: '(' was never closed"),
        (
            "by: float",
            "by: int",
            "edited.py:8: by is int, float in the file: its launches pass what the original takes",
        ),
        ("def add", "def sub", "edited.py:8: the kernel must stay called add"),
        ("@pk.workunit", "", "its decorator is gone"),
        ("    v[i] =", "x = 1\n    v[i] =", "edited.py:11"),
    ],
)
async def test_what_is_wrong_is_told_at_its_line_and_not_installed(run: Edited, old: str, new: str, said: str) -> None:
    async with started(run):
        await run.do("break 9", "continue", "edit")
        run.change(old, new)
        assert said in await run.do("edit --check")
        with pytest.raises(PkdbError, match="add is not installed"):
            await run.do("edit --install")
        assert run.session.edits.require().check is EditCheck.WRONG
        await run.do("delete", "continue")
    assert run.printed[:2] == ["first 1.0", "second 2.0"]


@pytest.mark.parametrize("commands", [(), ("edit --check",), ("edit",)])
async def test_a_draft_is_back_in_the_next_session(run: Edited, commands: tuple[str, ...]) -> None:
    async with started(run):
        await run.do("edit add")
        run.change("by * 2.0", "by * 7.0")
        await run.do(*commands)
        run.change("by * 7.0", "by * 8.0")
    again = Session(run.session.options, run.events.append)
    await again.start()
    await again.settled()
    try:
        await language.run("edit add", again)
        assert "by * 8.0" in again.edits.require().text
        assert "by * 8.0" in again.edits.require().draft_file.read_text()
    finally:
        await again.quit()


async def test_the_file_changes_when_it_is_saved_and_only_in_the_kernel(run: Edited) -> None:
    run.script.chmod(0o750)
    before = run.script.read_text()
    async with started(run):
        await run.do("edit add")
        run.change("by * 2.0", "by * 20.0")
        assert await run.do("edit --save") == (
            "add is saved in edited.py; this run of the program has it only where it is installed."
        )
        assert run.script.read_text() == before.replace("by * 2.0", "by * 20.0")
        assert run.script.stat().st_mode & 0o777 == 0o750
        assert await run.do("edit --save") == "add is saved in edited.py already."
        await run.do("restart", "edit add")
        assert await run.do("edit --check") == "add: as the program has it"
        await run.do("continue")
    assert run.printed[:2] == ["first 10.0", "second 20.0"]


async def test_a_file_that_another_program_changed_is_not_written_over(run: Edited) -> None:
    async with started(run):
        await run.do("edit add")
        run.change("by * 2.0", "by * 20.0")
        theirs = (
            run.script.read_text().replace("range(3)", "range(1)").replace("import numpy", "# theirs\nimport numpy")
        )
        run.script.write_text(theirs)
        with pytest.raises(FileChanged, match=r"edited\.py was changed by another program"):
            await run.do("edit --save")
        assert run.script.read_text() == theirs
        await run.do("edit --save!")
        assert run.script.read_text() == theirs.replace("by * 2.0", "by * 20.0")
        run.script.write_text(theirs.replace("by * 2.0", "by * 3.0"))
        assert await run.do("edit --reload") == "add is as edited.py has it now."
        assert "by * 3.0" in run.session.edits.require().draft_file.read_text()
        assert [each.text.count("by * 20.0") for each in run.session.edits.state().variants] == [0, 1]


async def test_texts_of_before_are_listed_compared_and_taken_again(run: Edited) -> None:
    async with started(run):
        await run.do("tbreak 24", "continue", "edit add")
        run.change("by * 2.0", "by * 20.0")
        await run.do("edit --install")
        run.change("by * 20.0", "by * 30.0")
        assert (await run.do("edit --diff")).splitlines()[2:4] == [
            "-    9     step: float = by * 2.0",
            "+    9     step: float = by * 30.0",
        ]
        assert await run.do("edit --use 1") == "Edit 1 is in the editor; it is not installed yet."
        assert "by * 20.0" in run.session.edits.require().draft_file.read_text()
        rows = (await run.do("edit --history")).splitlines()
        assert [row.split()[1] for row in rows] == ["0", "1", "2"]
        assert rows[1].endswith("+1 -1 lines       runs everywhere")
        await run.do("edit --use 2", "edit --install", "continue")
    assert run.printed[0] == "first 15.0"


async def test_a_program_that_ended_runs_the_edit_when_it_is_restarted(run: Edited) -> None:
    async with started(run):
        await run.do("edit add")
        run.change("by * 2.0", "by * 20.0")
        await run.do("continue", "edit --install", "restart", "break 10", "continue")
        assert run.place == ("edited_edit1.py", 10, FrameKind.KERNEL)


async def test_a_file_that_was_changed_after_the_start_is_told(run: Edited) -> None:
    async with started(run):
        await run.do("edit add")
        assert await run.do("edit --check") == "add: as the program has it"
        os.utime(run.script, (time.time() + 5, time.time() + 5))
        await run.do("edit scale")
        assert "changed" not in await run.do("edit --check")
    again = Edited(run.script.parent)
    async with started(again):
        os.utime(again.script, (time.time() + 5, time.time() + 5))
        await again.do("edit add")
        assert "edited.py was changed after the program began" in await again.do("edit --check")
