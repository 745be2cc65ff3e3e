"""The whole screen over a real session: keys in a row, ends, what runs."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest
from values import kernel_stop
from whole import carried_out, debugging, rows, seen, until, until_phase, until_seen

from pkdb_tui import keys
from pkdb_tui.engine.api import BreakpointState, Notice, Phase, Severity
from pkdb_tui.panes.help import AskScreen, TextScreen

KEYS = {";": "semicolon", "+": "plus"}
pytestmark = pytest.mark.usefixtures("no_settings")


async def test_steps_typed_ahead_are_all_made(tmp_path: Path) -> None:
    app = debugging(tmp_path, "\n".join(f"v{number} = {number}" for number in range(1, 20)))
    async with app.run_test(size=(120, 40)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        for _ in range(6):
            app.action_command("next")
        await app.workers.wait_for_complete()
        await app.bridge.session.settled()
        await pilot.pause()
        assert app.workspace.source.cursor_row == 6
        assert app.key_line.message == ""
        assert app.internal_errors == []
        await app.bridge.session.quit()


async def test_what_runs_on_is_not_shown_where_it_stopped(tmp_path: Path) -> None:
    app = debugging(tmp_path, "while True:\n    pass\n")
    async with app.run_test(size=(120, 40)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.pause()
        assert "▶" in app.workspace.source.render_line(0).text
        await pilot.press("c")
        await until(pilot, lambda: app.workspace.stack.stale)
        await until(pilot, lambda: "▶" not in app.workspace.source.render_line(0).text)
        await pilot.press("ctrl+c")
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.pause()
        assert not app.workspace.stack.stale
        assert "▶" in "".join(app.workspace.source.render_line(y).text for y in range(2))
        await app.bridge.session.quit()


async def test_a_pane_that_comes_on_screen_has_rows_for_its_width(tmp_path: Path) -> None:
    """Though something asked for its region before it was shown, which keeps Textual from telling it its size."""
    app = debugging(tmp_path, "pass\n")
    async with app.run_test(size=(120, 40)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.pause()
        pane = app.workspace.threads
        app.workspace.show_threads(True)
        pane.show(kernel_stop())
        app.workspace.fit()
        app.screen._compositor._full_map_invalidated = True  # as scrolling does
        assert pane.region.height == 2
        await pilot.pause()
        assert (pane.virtual_size.height, pane.row_count(), pane.size.height) == (2, 2, 2)
        assert not pane.show_vertical_scrollbar
        await app.bridge.session.quit()


async def test_the_end_is_named_and_a_restart_begins_anew(tmp_path: Path) -> None:
    app = debugging(tmp_path, "print('said')\nraise SystemExit(3)\n")
    async with app.run_test(size=(120, 40)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("c")
        await carried_out(app, pilot)
        assert "exited: status 3" in app.status.render_line(0).text
        assert app.key_line.message == "The program ended: status 3. R runs it again, q leaves."
        assert app.workspace.output.lines.store.line(0) == b"said\r"
        await pilot.press("R")
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.pause()
        assert "python · <module> · start" in app.status.render_line(0).text
        await app.bridge.session.quit()


async def test_a_screen_too_small_gives_the_focus_back(tmp_path: Path) -> None:
    app = debugging(tmp_path, "a = 1\nb = 2\n")
    async with app.run_test(size=(120, 40)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("4")
        await pilot.resize_terminal(40, 10)
        await pilot.pause()
        assert app.workspace.focused_name() == "console"
        await pilot.resize_terminal(120, 40)
        await pilot.pause()
        assert app.workspace.focused_name() == "variables"
        await app.bridge.session.quit()


async def test_a_new_watch_is_shown_and_edited(tmp_path: Path) -> None:
    app = debugging(tmp_path, "a = 1\nb = 2\nc = 3\n")
    async with app.run_test(size=(120, 40)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("n", "w", *"a", "enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.workspace.watches.render_line(0).text.split() == ["a", "1"]
        await pilot.press("escape", "5", "e", *"+1", "enter")
        await carried_out(app, pilot)
        assert app.workspace.watches.render_line(0).text.split() == ["a+1", "2"]
        await pilot.press("d")
        await carried_out(app, pilot)
        assert "w adds a watch" in app.workspace.watches.render_line(0).text
        await app.bridge.session.quit()


async def test_a_program_that_runs_is_ended_only_when_asked_twice(tmp_path: Path) -> None:
    app = debugging(tmp_path, "while True:\n    pass\n")
    async with app.run_test(size=(120, 40)) as pilot:
        await app.bridge.session.settled()
        await pilot.press("c")
        async with asyncio.timeout(10):
            while not app.bridge.phase.running:
                await asyncio.sleep(0.01)
        await pilot.press("q")
        async with asyncio.timeout(10):
            while not app.key_line.message:
                await asyncio.sleep(0.01)
        assert app.key_line.message == "The program is running: q again ends it and leaves, ^C stops it where it is."
        assert app.bridge.phase.running
        await pilot.press("q")
        async with asyncio.timeout(10):
            while app.bridge.phase.running:
                await asyncio.sleep(0.01)
    assert app.return_value == 0


async def test_a_program_that_runs_is_run_anew_only_when_asked_twice(tmp_path: Path) -> None:
    app = debugging(tmp_path, "while True:\n    pass\n")
    async with app.run_test(size=(60, 15)) as pilot:
        await app.bridge.session.settled()
        await pilot.press("c")
        await until_phase(app, Phase.RUNNING_PYTHON)
        await pilot.press("R")
        await until_seen(app, pilot, "The program is running: R again runs it anew, ^C stops it")
        assert rows(app)[-1].strip() == "where it is."  # over two rows, and the panes stay where they are
        assert app.workspace.region.height == 13
        await pilot.press("down")  # the question is gone, and with it what R would mean
        await pilot.pause()
        assert "R again" not in seen(app)
        await pilot.press("R")
        await until_seen(app, pilot, "R again")
        assert app.bridge.phase is Phase.RUNNING_PYTHON
        await pilot.press("R")
        await until_phase(app, Phase.STOPPED_PYTHON)
        await app.bridge.session.quit()


async def test_every_stop_is_a_line_of_the_console(tmp_path: Path) -> None:
    app = debugging(tmp_path, "a = 1\nb = 2\nraise ValueError('much too long' * 20)\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("n", "c")
        async with asyncio.timeout(10):
            while not any("ValueError" in text for text, _ in app.workspace.console.lines._texts):
                await asyncio.sleep(0.01)
        told = [text for text, _ in app.workspace.console.lines._texts if text.startswith("stopped: ")]
        assert [text.split(" ")[1] for text in told] == ["start", "step", "exception"]
        assert "much too long" * 20 in told[2]
        assert told[1].endswith("p.py:2 in <module>")
        await app.bridge.session.quit()


async def test_the_key_line_shows_what_works_where_the_focus_is(tmp_path: Path) -> None:
    app = debugging(tmp_path, "a = 1\nb = 2\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.pause()
        for words in ("n next", "c continue", "b break", "e eval", "w watch", "? help", "q quit"):
            assert words in app.key_line.render_line(0).text
        await pilot.press("colon")
        await pilot.pause()
        typing = app.key_line.render_line(0).text
        assert typing.split()[:4] == ["Enter", "run", "Tab", "complete"]
        assert "Esc back" in typing
        assert "n next" not in typing
        assert "f10 next" in typing
        await pilot.press("f10")
        await app.workers.wait_for_complete([worker for worker in app.workers if worker.group == "commands"])
        await app.bridge.session.settled()
        assert app.bridge.session.require_stop().location.line == 2
        await app.bridge.session.quit()


async def test_keys_are_commands_in_the_output_once_the_program_has_ended(tmp_path: Path) -> None:
    app = debugging(tmp_path, "print('said')\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("7", "enter", "x")
        assert app.workspace.output.input.value == "x"
        await pilot.press("escape", "7", "c")
        await until_phase(app, Phase.EXITED)
        await pilot.pause()
        await pilot.press("7")
        await pilot.pause()
        assert app.workspace.focused_name() == "output"
        await pilot.press("R")
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.pause()
        assert app.workspace.output.input.display
        await app.bridge.session.quit()


async def test_the_focus_is_seen_without_colours(tmp_path: Path) -> None:
    app = debugging(tmp_path, "a = 1\nb = 2\n")
    async with app.run_test(size=(120, 40)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        for key, name in [("3", "3:stack"), ("4", "4:variables"), ("colon", "6:console"), ("escape", "1:p.py")]:
            await pilot.press(key)
            await pilot.pause()
            assert re.findall(r"─\[([^\s\]]+)", seen(app)) == [name]
        await app.bridge.session.quit()


async def test_a_second_q_ends_what_runs_however_soon_it_comes(tmp_path: Path) -> None:
    app = debugging(tmp_path, "while True:\n    pass\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("c")
        async with asyncio.timeout(10):
            while not app.bridge.phase.running:
                await asyncio.sleep(0.01)
        app.action_quit_session()
        app.action_quit_session()
        async with asyncio.timeout(10):
            while app.bridge.phase.running:
                await asyncio.sleep(0.01)
    assert app.return_value == 0


async def test_run_to_the_cursor_ends_there_or_at_a_stop_before_it(tmp_path: Path) -> None:
    app = debugging(tmp_path, "".join(f"v{number} = {number}\n" for number in range(1, 20)))
    session = app.bridge.session

    async def stopped_at(line: int) -> None:
        async with asyncio.timeout(10):
            while session.snapshot is None or session.snapshot.location.line != line:
                await asyncio.sleep(0.01)
        await app.workers.wait_for_complete([worker for worker in app.workers if worker.group == "commands"])

    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("g", "5", "enter", "U")
        await stopped_at(5)
        assert session.breakpoints == ()
        await pilot.press("g", "8", "enter", "b", "g", *"15", "enter", "U")
        await stopped_at(8)
        await pilot.pause()
        assert [breakpoint.line for breakpoint in session.breakpoints] == [8]
        await pilot.press("g", *"15", "enter", "U")
        await stopped_at(15)
        await app.bridge.session.quit()


async def test_run_to_a_line_without_code_says_so_and_stays(tmp_path: Path) -> None:
    app = debugging(tmp_path, "a = 1\nb = 2\n# the end\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("g", "3", "enter", "U")
        await app.workers.wait_for_complete([worker for worker in app.workers if worker.group == "commands"])
        await pilot.pause()
        assert app.key_line.message
        assert app.bridge.session.breakpoints == ()
        assert app.bridge.phase is Phase.STOPPED_PYTHON
        await app.bridge.session.quit()


async def test_esc_drops_what_was_typed(tmp_path: Path) -> None:
    app = debugging(tmp_path, "a = 1\nb = 2\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        for key in ("colon", "w", "e"):
            await pilot.press(key, *"half", "escape", key)
            await pilot.pause()
            assert app.workspace.console.input.value == ""
            await pilot.press("escape")
        await pilot.press("slash", *"half", "escape", "slash")
        assert isinstance(app.screen, AskScreen)
        assert app.screen.input.value == ""
        await pilot.press("escape")
        await app.bridge.session.quit()


async def test_names_of_the_program_are_completed_where_an_expression_is_asked_for(tmp_path: Path) -> None:
    app = debugging(tmp_path, "brightness = 1\nb = 2\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("n")
        await app.workers.wait_for_complete([worker for worker in app.workers if worker.group == "commands"])
        await app.bridge.session.settled()
        await pilot.press("w", *"br", "tab")
        await pilot.pause()
        assert app.workspace.console.input.value == "br"  # `breakpoint` and `break_` are names, too
        await pilot.press("i", "tab")
        await pilot.pause()
        assert app.workspace.console.input.value == "brightness"
        await app.bridge.session.quit()


async def test_a_file_with_blanks_in_its_name_is_completed_and_gets_a_breakpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my own.py").write_text("a = 1\nb = 2\n")
    monkeypatch.chdir(tmp_path)
    app = debugging(tmp_path, "a = 1\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press(*":break my o", "tab")
        await pilot.pause()
        assert app.workspace.console.input.value == "break my own.py"
        await pilot.press(*":2", "enter")
        await app.workers.wait_for_complete([worker for worker in app.workers if worker.group == "commands"])
        (made,) = app.bridge.breakpoints
        assert (made.spec.file, made.spec.line) == (str(tmp_path / "my own.py"), 2)
        await app.bridge.session.quit()


async def test_the_arrows_go_from_match_to_match_while_a_search_is_typed(tmp_path: Path) -> None:
    app = debugging(tmp_path, "a = 1\nfound = 2\nb = 3\nfound = 4\nc = 5\nfound = 6\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("slash", *"found", "down", "down")
        assert app.workspace.source.cursor_row == 3
        await pilot.press("up")
        assert app.workspace.source.cursor_row == 1
        await pilot.press("ctrl+n", "enter")
        await pilot.pause()
        assert app.workspace.source.cursor_row == 3
        await pilot.press("slash", "enter")
        await pilot.pause()
        assert app.workspace.source.cursor_row == 5
        await app.bridge.session.quit()


def test_help_names_no_key_twice() -> None:
    for pane in ("source", "threads", "variables", "watches", "launches", "breakpoints"):
        told = [line.split("  ")[0] for line in keys.table(keys.PANE_KEYS, pane).splitlines()]
        pressed = [key for line in told for key in line.split(", ")]
        assert len(pressed) == len(set(pressed))


async def test_an_answer_is_seen_where_the_console_goes_out_of_sight(tmp_path: Path) -> None:
    app = debugging(tmp_path, "a = 1\nb = 2\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("4", "e", *"6*7", "enter")
        await app.workers.wait_for_complete([worker for worker in app.workers if worker.group == "commands"])
        await pilot.pause()
        assert app.workspace.focused_name() == "variables"
        assert app.key_line.message == "42"
        assert [text for text, _ in app.workspace.console.lines._texts][-2:] == ["pkdb> print 6*7", "42"]
        await app.bridge.session.quit()


@pytest.mark.parametrize("folder", ["with blanks", "a, b", 'say "x"', "größe #1", "a:3"])
async def test_the_gutter_key_works_in_a_file_of_any_name(
    tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / folder
    place.mkdir()
    monkeypatch.chdir(tmp_path)
    app = debugging(place, "\n".join(f"v{number} = {number}" for number in range(1, 12)))
    async with app.run_test(size=(120, 40)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        app.workspace.source.move_cursor(2)
        await pilot.press("b")
        app.workspace.source.move_cursor(4)
        await pilot.press("T")
        await carried_out(app, pilot)
        made = app.bridge.breakpoints
        file = os.path.realpath(place / "p.py")
        assert [(b.file, b.line, b.spec.temporary, b.state) for b in made] == [
            (file, 3, False, BreakpointState.BOUND),
            (file, 5, True, BreakpointState.BOUND),
        ]
        assert f"breakpoint 2 at {folder}/p.py:5, temporary: bound" in app.key_line.message
        app.workspace.source.move_cursor(2)
        await pilot.press("b")
        await carried_out(app, pilot)
        app.workspace.source.move_cursor(8)
        await pilot.press("U")
        await carried_out(app, pilot)
        assert app.workspace.source.cursor_row == 4
        await pilot.press("U")
        await carried_out(app, pilot)
        await app.bridge.session.quit()


async def test_what_the_program_asks_is_seen_and_answered(tmp_path: Path) -> None:
    app = debugging(tmp_path, "import os\nname = input('na' 'me? ')\nprint('hello', name)\nos._exit(3)\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("n", "n")
        await until_seen(app, pilot, "waiting for input")
        assert "name? " in seen(app)
        assert app.workspace.focused_name() == "source"
        await pilot.press("7", *"Ada", "enter")
        await carried_out(app, pilot)
        assert "waiting for input" not in seen(app)
        await pilot.press("escape", "colon", "escape", "c")
        await carried_out(app, pilot)
        assert "hello Ada" in seen(app)
        assert "exited: status 3" in seen(app)
        await app.bridge.session.quit()


async def test_a_tab_that_came_by_itself_goes_again(tmp_path: Path) -> None:
    app = debugging(tmp_path, "name = input('na' 'me? ')\nb = 2\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("4", "escape", "n")
        await until_seen(app, pilot, "name? ")
        app.bridge.session.write_input(b"Ada\n")
        await carried_out(app, pilot)
        assert "name? " not in seen(app)
        assert "'Ada'" in seen(app)
        await app.bridge.session.quit()


async def test_new_output_marks_its_tab_without_colours(tmp_path: Path) -> None:
    app = debugging(tmp_path, "print('said')\nb = 2\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.pause()
        assert "─7:output─" in seen(app)
        await pilot.press("n")
        await until_seen(app, pilot, "─7:output +1─")
        await pilot.press("7")
        await carried_out(app, pilot)
        assert "[7:output 1]8:" in seen(app)
        await pilot.press("n")
        await app.workers.wait_for_complete([worker for worker in app.workers if worker.group == "commands"])
        await app.bridge.session.settled()
        assert app.workspace.output.input.value == ""
        await app.bridge.session.quit()


async def test_a_watch_of_several_rows_is_one_for_the_cursor_and_comes_back(tmp_path: Path) -> None:
    app = debugging(tmp_path, "import numpy\na = numpy.arange(4.0)\nj = 7\nb = 2\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        for line in ("until 4", "display a[0:4]", "display j"):
            await app.carry_out(line)
            await app.bridge.session.settled()
        await pilot.press("5", "down", "d")
        await carried_out(app, pilot)
        assert [watch.expression for watch in app.bridge.session.watches] == ["a[0:4]"]
        assert app.key_line.message == "watch 2 is deleted; `display j` brings it back"
        pane = app.workspace.watches
        await pilot.press("home")
        await pilot.pause()
        styles = {pane.row_style(index) for index in range(pane.row_count())}
        assert pane.row_count() == 2
        assert styles == {app.palette.here_line}
        await app.bridge.session.quit()


async def test_a_warning_is_seen_beside_the_end_and_marks_the_console(tmp_path: Path) -> None:
    app = debugging(tmp_path, "input('name? ')\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.pause()
        await pilot.press("c")
        await until_seen(app, pilot, "waiting for input")
        app.bridge.session.emit(Notice(text="argument v has a stride of 16 bytes", severity=Severity.WARNING))
        app.bridge.session.write_input(b"Ada\n")
        await until_seen(app, pilot, "The program ended: status 0.")
        assert app.key_line.message.startswith("argument v has a stride of 16 bytes\nThe program ended")
        assert "6:console+─" in seen(app) or "6:console +1" in seen(app)  # the output has taken its place
        await pilot.press("6")
        await pilot.pause()
        assert "[6:console]" in seen(app)
        assert app.key_line.message == ""
        await app.bridge.session.quit()


async def test_no_prompt_opens_for_what_means_nothing_after_the_end(tmp_path: Path) -> None:
    app = debugging(tmp_path, "{}['missing']\n")
    async with app.run_test(size=(120, 30)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("c", "c")
        await until_phase(app, Phase.EXITED)
        await until_seen(app, pilot, "3 shows its traceback, R runs it again, q leaves.")
        assert 'p.py", line 1, in <module>' in "\n".join(text for text, _ in app.workspace.console.lines._texts)
        await pilot.press("e")
        await pilot.pause()
        assert app.key_line.message == "The program has ended: no `print`. `restart` (R) runs it again."
        assert app.workspace.focused_name() == "source"
        await pilot.press("w", "x", "enter")  # a watch can be there for the next run
        await app.workers.wait_for_complete([worker for worker in app.workers if worker.group == "commands"])
        assert [watch.expression for watch in app.bridge.session.watches] == ["x"]
        await app.bridge.session.quit()


async def test_help_of_the_console_has_the_keys_that_are_no_letters(tmp_path: Path) -> None:
    app = debugging(tmp_path, "a = 1\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("colon", "f1")
        await pilot.pause()
        assert isinstance(app.screen, TextScreen)
        own, _, beside = app.screen.text.partition("On this line, too")
        shown = [row.split()[0] for row in beside.partition("Commands")[0].splitlines() if row.strip()]
        assert {"^C", "f10", "^q", "f1"} <= set(shown)
        assert all(len(key) > 1 for key in shown)
        assert "choose the row" not in own
        assert "Everywhere" not in app.screen.text
        await app.bridge.session.quit()


async def test_every_pane_has_a_help_of_its_own(tmp_path: Path) -> None:
    app = debugging(tmp_path, "a = 1\n")
    explained = {}
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        for number, pane in enumerate(keys.PANES, 1):
            await pilot.press("escape", str(number), "f1")
            await carried_out(app, pilot)
            assert isinstance(app.screen, TextScreen)
            assert f"help: {pane}" in seen(app)
            explained[pane] = app.screen.text.partition("\n\n")[0]
            await pilot.press("escape")
            await carried_out(app, pilot)
        await app.bridge.session.quit()
    assert len(set(explained.values())) == len(keys.PANES) == 9
    assert all(len(text) > 40 for text in explained.values())


async def test_the_palette_names_the_keys(tmp_path: Path) -> None:
    app = debugging(tmp_path, "a = 1\n")
    async with app.run_test(size=(80, 24)):
        await until_phase(app, Phase.STOPPED_PYTHON)
        about = {command.title: command.help for command in app.get_system_commands(app.screen)}
        assert about["step"].endswith("(key s)")
        assert about["pause"].endswith("(key ^C)")
        assert about["up"].endswith("(key u)")
        assert about["tbreak"].endswith("(key T)")
        assert "key" not in about["jump"]
        await app.bridge.session.quit()


async def test_u_and_d_look_at_frames_and_move_nothing(tmp_path: Path) -> None:
    app = debugging(tmp_path, "def f(n):\n    m = n\n    return m\n\nf(1)\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await app.carry_out("break 2")
        await pilot.press("c")
        await carried_out(app, pilot)
        for key, frame, function in (("u", 1, "<module>"), ("d", 0, "f"), ("ctrl+up", 1, "<module>")):
            await pilot.press(key)
            await carried_out(app, pilot)
            snapshot = app.bridge.session.require_stop()
            assert (snapshot.frame, snapshot.location.function) == (frame, function)
            assert (snapshot.frames[0].line, len(app.bridge.session.breakpoints)) == (2, 1)
        await app.bridge.session.quit()


async def test_an_empty_line_of_the_console_steps_again_and_several_commands_stand_on_one(tmp_path: Path) -> None:
    app = debugging(tmp_path, "\n".join(f"v{number} = {number}" for number in range(1, 12)))
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("colon", "enter")
        for typed, line in (("n;;n", 3), ("", 4), ("n", 5), ("", 6), ("v1+1", 6), ("", 6), ("nix;;n", 6)):
            await pilot.press(*(KEYS.get(letter, letter) for letter in typed), "enter")
            await carried_out(app, pilot)
            assert app.bridge.session.require_stop().location.line == line, typed
        await app.bridge.session.quit()


async def test_what_keys_do_is_in_the_palette_and_a_command_of_the_console(tmp_path: Path) -> None:
    app = debugging(tmp_path, "a = 1\nb = 2\nglue = 3\nc = 4\n")
    async with app.run_test(size=(120, 40)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        listed = {command.title: command for command in app.get_system_commands(app.screen)}
        of_source = [key for key in keys.PANE_KEYS if key.pane == "source"]
        for key in (*keys.KEYS, *keys.PANE_CHOICES, *of_source):
            assert key.name.replace("_", " ") in listed, key
        assert listed["zoom"].help.endswith("(key z)")
        listed["zoom"].callback()
        await carried_out(app, pilot)
        assert not app.workspace.console.is_on_screen
        await pilot.press("colon")  # the console takes the whole screen
        await carried_out(app, pilot)
        for rows_of_console in (range(3, 20), range(30, 40)):
            await pilot.press(*"zoom", "enter")
            await carried_out(app, pilot)
            assert app.workspace.console.size.height in rows_of_console
        assert "not defined" not in seen(app)
        await pilot.press(*"temporary", "enter")
        await carried_out(app, pilot)
        assert [(b.line, b.spec.temporary) for b in app.bridge.session.breakpoints] == [(1, True)]
        await pilot.press(*"pane", "underscore", *"source", "enter", "n", "n", "n", "colon", *"glue", "enter")
        await until_seen(app, pilot, "\n 3 ")  # the program's variable, as names of keys are no reserved words
        await app.bridge.session.quit()


async def test_a_message_of_several_lines_is_whole_in_the_console(tmp_path: Path) -> None:
    app = debugging(tmp_path, "raise ValueError('p.py:7: no list here\\n    x = [1]\\n        ^')\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press("c")
        await until_seen(app, pilot, "\n     x = [1]  ")
        at = next(number for number, row in enumerate(rows(app)) if row.startswith("     x = [1]  "))
        assert rows(app)[at + 1].index("^") == rows(app)[at].index("[")
        await app.bridge.session.quit()
