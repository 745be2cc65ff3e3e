"""`python -m benchmarks`: measures and prints one table; `--output` also writes it with the machine's facts."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import crowd, hotswaps, kernels, loops, machine, screens
from benchmarks.overhead import section_of, with_section
from benchmarks.rivals import Workplace, install_rivals, throw_away
from benchmarks.table import Row, markdown

Measurement = Callable[[Workplace], list[Row]]

MEASUREMENTS: dict[str, Measurement] = {
    "start": screens.start,
    "step": screens.steps,
    "launch": loops.launches,
    "loop": loops.loop,
    "stop": kernels.stops,
    "screen": kernels.on_screen,
    "condition": kernels.conditions,
    "hotswap": hotswaps.hotswaps,
    "crowd": crowd.crowd,
    "flood": loops.flood,
}


def main() -> int:
    options = _options()
    with throw_away() as folder:
        place = Workplace(Path(folder), options.python[0], others=tuple(options.python[1:]), quick=options.quick)
        place.rivals = options.rivals if options.rivals not in ("none", "install") else ""
        if options.rivals == "install":
            print("installing the rivals …", file=sys.stderr)
            place.rivals = install_rivals(place.folder)
        rows: list[Row] = []
        begin = time.perf_counter()
        for name in options.only or MEASUREMENTS:
            print(f"measuring {name} …", file=sys.stderr)
            rows += MEASUREMENTS[name](place)
        minutes = (time.perf_counter() - begin) / 60
    text = report(rows, options.python, minutes)
    print(text)
    if options.output:
        kept = section_of(options.output.read_text()) if options.output.exists() else ""
        options.output.write_text(with_section(text, kept))
    return 0 if all(row.met is not False for row in rows) else 1


def report(rows: list[Row], pythons: list[str], minutes: float) -> str:
    """The whole of RESULTS.md."""
    facts = "\n".join(f"- {line}" for line in machine.facts(pythons))
    day = time.strftime("%Y-%m-%d")
    head = f"# Results\n\nMeasured on {day} in {minutes:.0f} minutes by `python -m benchmarks`."
    return f"{head}\n\n{facts}\n\n{markdown(rows)}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("only", nargs="*", choices=[*MEASUREMENTS, []], help="what to measure; all by default")
    parser.add_argument(
        "--python", action="append", help="interpreter to measure with; further ones are used for the loop rows"
    )
    parser.add_argument(
        "--rivals",
        default="install",
        help="`install` them into a throw-away environment, `none`, or an interpreter that has them",
    )
    parser.add_argument("--quick", action="store_true", help="few repetitions, to see that it works")
    parser.add_argument("--output", type=Path, help="file to write the table to, such as benchmarks/RESULTS.md")
    options = parser.parse_args()
    options.python = options.python or [sys.executable]
    return options


if __name__ == "__main__":
    raise SystemExit(main())
