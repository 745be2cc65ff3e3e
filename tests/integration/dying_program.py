"""A real interpreter whose program is killed at one moment: when a request that matches comes to it."""

from __future__ import annotations

import sys
from pathlib import Path

_SCRIPT = r"""#!{python}
import json, os, re, runpy, signal, sys
met = {met!r}
def meet(text):
    if re.search({pattern!r}, text):
        with open(met, "a") as counted:
            counted.write("x")
        if os.path.getsize(met) == {count}:
            os.kill(os.getpid(), signal.SIGKILL)
usual = json.loads
def loads(text, *rest, **named):
    if isinstance(text, bytes):
        meet(text.decode())
    return usual(text, *rest, **named)
json.loads = loads
meet("begin")
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def dying_program(folder: Path, pattern: str, count: int) -> str:
    """The path of an interpreter to be named by --python: its program is killed by the `count`th matching request.

    Requests are counted over all programs that it starts; `begin` is met as a program starts.
    """
    path = folder / "dying-python"
    path.write_text(
        _SCRIPT.format(python=sys.executable, pattern=pattern, count=count, met=str(folder / "requests-met"))
    )
    path.chmod(0o755)
    return str(path)
