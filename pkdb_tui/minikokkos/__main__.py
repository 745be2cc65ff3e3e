"""`python -m pkdb_tui.minikokkos script.py args…`: run a program on the embedded runtime, without a debugger."""

from __future__ import annotations

import os
import runpy
import sys

from pkdb_tui.minikokkos import finder


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit("usage: python -m pkdb_tui.minikokkos script.py [arguments …]")
    script = sys.argv[1]
    if not os.path.exists(script):
        sys.exit(f"{script} does not exist.")
    finder.install(force=True)
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "children"))
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
