"""The whole screen over a kernel on a device."""

from __future__ import annotations

from pathlib import Path

import pytest
from gpu_runs import PROGRAMS, environment
from whole import carried_out, until_phase, until_seen

from pkdb_tui.app import PkdbApp
from pkdb_tui.engine.api import LaunchOptions, Phase


async def test_the_screen_shows_the_grid_and_moves_the_focus_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PKDB_CONFIG", str(tmp_path / "none.toml"))
    options = LaunchOptions(script=str(PROGRAMS / "rows.py"), runtime="embedded", environment=environment())
    app = PkdbApp(options, remember=False)
    async with app.run_test(size=(160, 48)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        app.action_command("break 17")
        await carried_out(app, pilot)
        await pilot.press("c")
        await until_phase(app, Phase.STOPPED_KERNEL)
        await until_seen(app, pilot, "block 0 thread 0 of 512")
        threads, source = app.workspace.threads, app.workspace.source
        assert threads.badge.startswith("· 512 in kernel, ")
        assert threads.badge.endswith(" at line 17")
        assert source.cursor_row == 16
        threads.focus()
        threads.select(300)
        await pilot.press("enter")
        await until_seen(app, pilot, "block 1 thread 44 of 512")
        await carried_out(app, pilot)
        state = threads.state_of(300)
        assert state is not None
        assert source.cursor_row == state.line - 1
        shown = [app.workspace.variables.render_line(y).text.split() for y in range(4)]
        assert any(row[:1] == ["j"] and row[-1] == "300" for row in shown)
        app.action_command("parallel_print j * 2")
        await carried_out(app, pilot)
        threads.select(0)
        await until_seen(app, pilot, "j * 2  ▂ 0 … █ ")
        app.action_command("delete")
        await carried_out(app, pilot)
        threads.select(5)
        await pilot.press("c")
        await until_phase(app, Phase.EXITED)
        await until_seen(app, pilot, "exited: status 0")
        assert app.internal_errors == []
        await app.bridge.session.quit()
