"""The console: wrapping, history, several lines, completion."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from host import PALETTE, lines, sent, shown
from textual.events import Paste
from textual.widgets import Static

from pkdb_tui.bridge import Bridge
from pkdb_tui.panes import completion
from pkdb_tui.panes.completion import Completions
from pkdb_tui.panes.console import ConsolePane, Entered, History


async def names(text: str) -> Completions:
    return Completions(text, [name for name in ("row_sum", "row_max", "rows") if name.startswith(text)])


def console(history: Path | None = None) -> ConsolePane:
    return ConsolePane(PALETTE, names, Bridge.incomplete, history)


async def test_long_answers_wrap_at_blanks_and_lose_nothing() -> None:
    pane = console()
    async with shown(pane, 30, 8) as pilot:
        await pilot.pause()
        pane.say("breakpoint 1 at p01_yax.py:13 in kernel yax: pending")
        text = [line.strip() for line in lines(pane.lines) if line.strip()]
        assert " ".join(text) == "breakpoint 1 at p01_yax.py:13 in kernel yax: pending"
        assert len(text) > 1


async def test_enter_sends_the_line_and_up_brings_it_back() -> None:
    pane = console()
    async with shown(pane, 60, 8) as pilot:
        pane.input.focus()
        await pilot.press(*"next", "enter", *"step", "enter", "up", "up")
        await pilot.pause()
        assert [m.text for m in sent(pilot, Entered)] == ["next", "step"]
        assert pane.input.value == "next"
        await pilot.press("down", "down")
        assert pane.input.value == ""


async def test_an_unfinished_statement_is_continued() -> None:
    pane = console()
    async with shown(pane, 60, 8) as pilot:
        pane.input.focus()
        for line in ("for i in range(2):", "    print(i)", ""):
            pane.input.replace_text(line)
            await pilot.press("enter")
        await pilot.pause()
        assert [m.text for m in sent(pilot, Entered)] == ["for i in range(2):\n    print(i)"]


async def test_tab_completes_as_far_as_all_agree() -> None:
    pane = console()
    async with shown(pane, 60, 8) as pilot:
        pane.input.focus()
        pane.input.replace_text("ro")
        await pilot.press("tab")
        assert pane.input.value == "row"
        assert "row_sum  row_max  rows" in " ".join(lines(pane.lines))
        pane.input.replace_text("row_s")
        await pilot.press("tab")
        assert pane.input.value == "row_sum"


def test_the_history_is_kept_and_searched(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history"
    history = History(path)
    history.add("break 13 if j == 3")
    history.add("for i in x:\n    print(i)")
    history.add("'a\x0bb\u2028c'")
    history.save()
    again = History(path)
    assert again.entries == ["break 13 if j == 3", "for i in x:\n    print(i)", "'a\x0bb\u2028c'"]
    assert again.search("j ==") == "break 13 if j == 3"


def test_a_history_that_cant_be_written_whole_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text("break 13\n")
    program = """import resource, signal, sys
from pathlib import Path
from pkdb_tui.panes.console import History
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
history = History(Path(sys.argv[1]))
history.add("x" * 5000)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
history.save()
"""
    subprocess.run([sys.executable, "-c", program, str(path)], check=True, cwd=Path(__file__).parents[2])
    assert path.read_text() == "break 13\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_damaged_line_of_the_history_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes("next\nprint 'é'\n".encode() + b"\xff\xfe\x00\nbreak 13\n")
    assert History(path).entries == ["next", "print 'é'", "break 13"]


def test_a_history_that_cant_be_read_begins_anew(tmp_path: Path) -> None:
    assert History(tmp_path).entries == []
    assert "could not be saved in" in History(tmp_path).save()


async def test_the_history_is_searched_as_one_types(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text("break 13 if j == 3\nprint row_sum\nbreak 20\n")
    pane = console(path)
    async with shown(pane, 60, 8) as pilot:
        pane.input.focus()
        await pilot.press("x", "ctrl+r", "backspace", *"break")
        await pilot.pause()
        found = pane.query_one("#console-found", Static)
        assert str(found.content) == "break 20"
        await pilot.press("ctrl+r")
        assert str(found.content) == "break 13 if j == 3"
        await pilot.press("enter")
        assert pane.input.value == "break 13 if j == 3"
        assert sent(pilot, Entered) == []
        await pilot.press("ctrl+r", "q", "escape")
        assert pane.input.value == "break 13 if j == 3"


async def test_a_paste_of_several_lines_is_entered_line_by_line() -> None:
    pane = console()
    async with shown(pane, 60, 8) as pilot:
        pane.input.focus()
        pane.input.post_message(Paste("for i in range(2):\n    print(i)\n\nnext\nst"))
        await pilot.pause()
        assert [m.text for m in sent(pilot, Entered)] == ["for i in range(2):\n    print(i)", "next"]
        assert pane.input.value == "st"


def test_names_of_files_are_completed(tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernel.py").touch()
    (tmp_path / ".hidden").touch()
    assert completion.files(f"{tmp_path}/ker") == [f"{tmp_path}/kernel.py", f"{tmp_path}/kernels/"]
    assert completion.files(f"{tmp_path}/.h") == [f"{tmp_path}/.hidden"]
    assert completion.files(f"{tmp_path}/nothing/x") == []


def test_names_of_files_with_blanks_are_completed(tmp_path: Path) -> None:
    (tmp_path / "my kernel.py").touch()
    (tmp_path / "my kernels").mkdir()
    both = [f"{tmp_path}/my kernel.py", f"{tmp_path}/my kernels/"]
    assert completion.file_named(f"{tmp_path}/my k") == (f"{tmp_path}/my k", both)
    assert completion.file_named(f"'{tmp_path}/my kernel.") == (f"{tmp_path}/my kernel.", both[:1])
    assert completion.file_named(f"12 if {tmp_path}/my") == (f"{tmp_path}/my", both)
    assert completion.file_named("12 if j").matches == []


async def test_nothing_is_cut_where_the_scrollbar_comes() -> None:
    pane = console()
    async with shown(pane, 40, 6) as pilot:
        for length in range(30, 50):
            pane.say(("word " * 10)[:length] + "end")
        await pilot.pause()
        assert pane.lines.show_vertical_scrollbar
        pane.lines.scroll_home(animate=False)
        await pilot.pause()
        shown_rows = lines(pane.lines)
        assert shown_rows[0].strip().endswith("end")
        for y in range(len(pane.lines._rows)):
            pane.lines.scroll_to(y=y, animate=False, force=True, immediate=True)
            assert "…" not in pane.lines.render_line(0).text
        assert "…" not in "".join(lines(pane.lines))
