"""What lies over the screen covers no more than its own rows: the program's text stays readable behind it."""

from __future__ import annotations

from pathlib import Path

import pytest
from whole import debugging, seen, until_phase

from pkdb_tui.engine.api import Phase

pytestmark = pytest.mark.usefixtures("no_settings")
TEXT = "".join(f"value_{number} = {number}\n" for number in range(1, 61))


@pytest.mark.parametrize("theme", ["dark", "ansi-16"])
@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("g", "go to line:"),
        ("slash", "search in the source:"),
        ("o", "open file:"),
        ("v", "colour threads"),
        ("question_mark", "help: source"),
        ("ctrl+p", "Search for commands"),
    ],
)
async def test_the_source_is_seen_behind_what_lies_over_it(tmp_path: Path, key: str, words: str, theme: str) -> None:
    app = debugging(tmp_path, TEXT, theme=theme)
    async with app.run_test(size=(140, 40)) as pilot:
        await until_phase(app, Phase.STOPPED_PYTHON)
        await pilot.press(key)
        await pilot.pause()
        assert words in seen(app)
        assert "value_1 = 1" in seen(app)
        await pilot.press("escape")
        await pilot.pause()
        assert words not in seen(app)
        assert app.internal_errors == []
        await app.bridge.session.quit()
