#!/usr/bin/env python
"""Records anew what an installed PyKokkos makes of tests/fixtures/forms in debug builds: tests/fixtures/recorded.

`PKDB_PYKOKKOS` names an interpreter that has PyKokkos; `python3` in the PATH must have pybind11, as PyKokkos needs it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[1] / "tests" / "fixtures"
# The program, the folder of its build that is kept, and what is typed.
RECORDED = {
    "functor": ("functor_Scale", ["break 19 if self.k > 2 and i == 1", "set catch on", "continue", "continue"]),
    "workload": ("workload_Work", ["set catch on", "continue"]),
    "patterns": ("patterns_teams", ["set catch on", "continue"]),
    "fused": ("fused_firstfused_second", ["set catch on", "continue"]),
}
CHANGING = (  # by the folder that it was made in
    (r"PYBIND11_MODULE\(\w+", "PYBIND11_MODULE(kernel"),
    (r"pkdb_condition_\d+", "pkdb_condition_1"),
    (r"\bpk_at_(\d+)_\d+", r"pk_at_\1_1"),
)


def record(name: str, folder: Path) -> None:
    kept, commands = RECORDED[name]
    given = [part for command in commands for part in ("-c", command)]
    own = {"PKDB_CACHE": str(folder / "cache"), "PKDB_STATE": str(folder / "state")}
    line = [sys.executable, "-m", "pkdb_tui", "--plain", "--python", os.environ["PKDB_PYKOKKOS"], *given, f"{name}.py"]
    subprocess.run(line, cwd=folder, env={**os.environ, **own}, check=False, stdin=subprocess.DEVNULL)
    (module,) = (folder / "cache").glob(f"pykokkos/*/{kept}/**/bindings.cpp")
    target = FIXTURES / "recorded" / name
    for source, kept_as in ((module.parents[1] / "functor.hpp", "functor.hpp"), (module, "OpenMP/bindings.cpp")):
        text = source.read_text().replace(f"{folder}{os.sep}", "FORMS/")
        for pattern, instead in CHANGING:
            text = re.sub(pattern, instead, text)
        (target / kept_as).write_text(text)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(shutil.copytree(FIXTURES / "forms", Path(folder).resolve() / "forms"))
        for name in RECORDED:
            record(name, place)


if __name__ == "__main__":
    main()
