"""Exports the picture of the README, docs/screen.svg, from the real screen at a kernel stop.

Run it in the project's folder: `python scripts/screenshot.py [FILE]`.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

from pkdb_tui.app import PkdbApp
from pkdb_tui.engine.api import LaunchOptions, Phase

COMMANDS = ("break 31", "continue", "display a[j, 0:6]", "display rows[0:6]", "continue", "continue")


async def export(path: Path) -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "4")
    app = PkdbApp(LaunchOptions(script="examples/yax.py"), commands=COMMANDS, theme="dark", remember=False)
    async with app.run_test(size=(120, 36)) as pilot:
        await app.commands_done.wait()
        if app.bridge.session.phase is not Phase.STOPPED_KERNEL:
            raise SystemExit(f"The demo did not stop in a kernel: it is {app.bridge.session.phase}.")
        await pilot.pause(0.5)
        picture = app.export_screenshot(title="pkdb-tui examples/yax.py")
        # The picture names its font; it needn't fetch one.
        path.write_text(re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL))
        await app.bridge.session.quit()


if __name__ == "__main__":
    asyncio.run(export(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/screen.svg")))
