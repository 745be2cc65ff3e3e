"""Runs as the debugged program: runs a script of the embedded runtime whose launches become debug builds.

Each launch is told as a line of JSON before it runs, which waits for a line of input, and after it has run.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from typing import Any

from pkdb_tui.minikokkos import debug, finder

CONDITIONS = json.loads(sys.argv[2])


def hook(launch: debug.Launch) -> Any:
    conditions = [debug.Condition(**condition) for condition in CONDITIONS]
    build = launch.build_debug(conditions, bounds=os.environ.get("BOUNDS") != "off")
    ready = {
        "launch": 1,
        "kernel": launch.kernel.name,
        "file": launch.kernel.file,
        "firstLine": launch.kernel.first_line,
        "lastLine": launch.kernel.last_line,
        "pattern": launch.pattern,
        "space": launch.space,
        "policy": launch.policy,
        "framework": "minikokkos",
        "binary": build.path,
        "lines": {file: list(lines) for file, lines in build.lines.items()},
        "entry": build.entry,
        "views": "minikokkos",
        "team": build.team,
        "boundsSymbol": build.bounds,
        "indexNames": list(launch.index_names),
        "conditions": [{"id": number, **placed._asdict()} for number, placed in build.conditions.items()],
    }
    print(json.dumps(ready), flush=True)
    sys.stdin.readline()
    answer = launch.run_debug(build)
    print(json.dumps({"total": answer}), flush=True)
    return answer


if __name__ == "__main__":
    finder.install(force=True)
    debug.hook = hook
    script, sys.argv[:] = sys.argv[1], [sys.argv[1], *sys.argv[3:]]
    runpy.run_path(script, run_name="__main__")
