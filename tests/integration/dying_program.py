"""A real interpreter whose program is killed at one moment: when a request that matches comes to it."""

from __future__ import annotations

import sys
from pathlib import Path

_SCRIPT = r"""#!{python}
import _json, os, re, runpy, signal, sys
met = {met!r}
def meet(text):
    if re.search({pattern!r}, text):
        with open(met, "a") as counted:
            counted.write("x")
        if os.path.getsize(met) == {count}:
            os.kill(os.getpid(), signal.SIGKILL)
usual = _json.make_scanner
def make_scanner(context):
    scan = usual(context)
    def scan_once(text, start):
        meet(text)
        return scan(text, start)
    return scan_once
_json.make_scanner = make_scanner
meet("begin")
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def dying_program(folder: Path, pattern: str, count: int) -> str:
    """The path of an interpreter to be named by --python: its program is killed by the `count`th matching request.

    They are met in the C module that reads JSON: the debugger's half has library modules of its own, which no
    replacement reaches. Requests are counted over all programs that it starts; `begin` is met as a program starts.
    """
    path = folder / "dying-python"
    path.write_text(
        _SCRIPT.format(python=sys.executable, pattern=pattern, count=count, met=str(folder / "requests-met"))
    )
    path.chmod(0o755)
    return str(path)
