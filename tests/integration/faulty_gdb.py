"""A real gdb that gets a signal at one moment: when a command that matches is about to be given to it."""

from __future__ import annotations

import sys
from pathlib import Path

_SCRIPT = r"""#!{python}
import os, re, signal, subprocess, sys, threading
whom = {whom!r}
gdb = subprocess.Popen(["gdb", *sys.argv[1:]], stdin=subprocess.PIPE)
threading.Thread(target=lambda: os._exit(gdb.wait() & 255), daemon=True).start()
left = {count}
program = 0
for line in sys.stdin.buffer:
    if found := re.search(r"/proc/(\d+)/exe", line.decode()):
        program = int(found[1])
    if re.search({pattern!r}, line.decode()) and not os.path.exists({once!r}):
        left -= 1
        if not left:
            open({once!r}, "w").close()
            if whom == "program":
                os.kill(program, {number})
            else:
                os.kill(gdb.pid, {number})
    try:
        gdb.stdin.write(line)
        gdb.stdin.flush()
    except BrokenPipeError:
        break
gdb.stdin.close()
threading.Event().wait()
"""


def faulty_gdb(folder: Path, pattern: str, number: int, count: int = 1, *, whom: str = "gdb") -> str:
    """The path of a program to be named by --gdb: the `count`th command that matches comes with signal `number`.

    `whom` gets it: gdb, or the program that it debugs.

    Only once in this folder: a gdb that is started after that is sound.
    """
    path = folder / "faulty-gdb"
    once = str(folder / "happened")
    path.write_text(
        _SCRIPT.format(python=sys.executable, pattern=pattern, count=count, number=int(number), once=once, whom=whom)
    )
    path.chmod(0o755)
    return str(path)
