"""`python -m benchmarks.overhead`: what debuggers cost whole programs, as a section of RESULTS.md."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import machine
from benchmarks.rivals import ROOT, Workplace, throw_away

WORKLOADS = ROOT / "benchmarks" / "workloads"
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
BEGIN, END = "<!-- overhead: begin -->", "<!-- overhead: end -->"
WORK = 5.0  # seconds that a run is to work, by its number of steps; start and end of the process come on top
NONE, PLAIN, ELSEWHERE = "no debugger", "no kernel breakpoint", "one elsewhere"
BUILDS, DEBUG = "debug builds", "Debug space"
SLOW = (BUILDS, DEBUG)  # these run once, with fewer steps, and not to their end where that takes long
FEWER = 10
TARGETS = {PLAIN: 1.05, ELSEWHERE: 1.15}
FASTER_THAN_DEBUG = 10.0
PATIENCE = 1.1 * FASTER_THAN_DEBUG  # a slow run is ended after so many times one of its length with no breakpoint
FIRST_RUN = 600.0  # seconds: it compiles all kernels
START = "import numpy\nimport pykokkos\nprint('start steps 0')\n"


@dataclass(frozen=True)
class Workload:
    """A program, its sizes, the steps of its shortest run, and the text of a line in a kernel that isn't hot."""

    name: str
    sizes: tuple[int, ...]
    least: int
    elsewhere: str
    published: str  # PKDB's mean ratio to pdb


LOADS = (
    Workload("molecular_dynamics", (108, 500, 2048), 10, "    acc += 0.5 * (v[i][0] * v[i][0]", "1.54–1.95×"),
    Workload("boltzmann", (500, 5000), 10, "    x[i] = moved - floor(moved)", "1.70–2.33×"),
    Workload("ewald", (216, 1000), 2, "        at: float = x[i][d] / h", "1.39–1.86×"),
)


@dataclass(frozen=True)
class Runtime:
    """An interpreter and how `pykokkos` is found in it."""

    name: str
    python: str
    variables: Mapping[str, str]
    option: tuple[str, ...]


@dataclass(frozen=True)
class Measurement:
    """Seconds of each column; empty where the run was ended after `limit` seconds.

    Slow columns ran `few` steps, which take `short` seconds with no kernel breakpoint.
    """

    runtime: Runtime
    load: Workload
    size: int
    steps: int
    seconds: Mapping[str, list[float]]
    few: int
    short: float
    limit: float

    def middle(self, column: str) -> float:
        return statistics.median(self.seconds[column])


Measured = list[Measurement]


def runtimes(place: Workplace, installed: str) -> list[Runtime]:
    found = [Runtime("embedded", place.python, place.embedded, ("--runtime", "embedded"))]
    if installed:
        variables = {**os.environ, **{key: place.environment[key] for key in ("HOME", "OMP_NUM_THREADS")}}
        found.append(Runtime("installed", installed, {**variables, "PYTHONPATH": str(ROOT)}, ("--python", installed)))
    return found


def commands(
    load: Workload, runtime: Runtime, script: Path, size: int, steps: int, python: str
) -> dict[str, list[str]]:
    """What is timed, by the name of its column."""
    program = [script.name, str(size), str(steps)]
    line = next(n for n, text in enumerate(script.read_text().splitlines(), 1) if text.startswith(load.elsewhere))
    impossible = f"break {line} if i < 0"

    def ours(*given: str) -> list[str]:
        asked = [word for command in (*given, "continue") for word in ("-c", command)]
        return [python, "-m", "pkdb_tui", "--plain", *runtime.option, *asked, *program]

    return {
        NONE: [runtime.python, *program],
        "pdb": [runtime.python, "-m", "pdb", "-c", "continue", "-c", "quit", *program],
        PLAIN: ours(),
        ELSEWHERE: ours(impossible),
        "one disabled": ours(impossible, "disable 1"),
        BUILDS: ours("set catch on"),
        DEBUG: [runtime.python, *program, "Debug"],
    }


def once(command: list[str], folder: Path, runtime: Runtime, limit: float) -> float | None:
    """Seconds of one run; None beyond the limit. Raises where the program's check isn't passed."""
    state = {"PKDB_STATE": str(folder / "state"), "PKDB_CACHE": str(folder / "cache")}
    begin = time.perf_counter()
    try:
        done = subprocess.run(
            command, cwd=folder, env={**runtime.variables, **state}, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, check=False, timeout=limit,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    took = time.perf_counter() - begin
    if " steps " not in done.stdout or "Traceback" in done.stdout + done.stderr:
        raise RuntimeError(
            f"{' '.join(command)} failed with status {done.returncode}: {(done.stdout + done.stderr)[-800:]}"
        )
    return took


def whole(command: list[str], folder: Path, runtime: Runtime) -> float:
    """Seconds of a run that may take its time. Raises RuntimeError where it doesn't end."""
    took = once(command, folder, runtime, FIRST_RUN)
    if took is None:
        raise RuntimeError(f"{' '.join(command)} did not end within {FIRST_RUN:.0f} s")
    return took


def steps_for(load: Workload, runtime: Runtime, script: Path, size: int, python: str) -> int:
    """Steps that take about `WORK` seconds without a debugger; two digits of them are kept."""

    def took(steps: int) -> float:
        command = commands(load, runtime, script, size, steps, python)[NONE]
        return min(whole(command, script.parent, runtime) for _ in range(2))

    whole(commands(load, runtime, script, size, load.least, python)[NONE], script.parent, runtime)
    steps, alone = load.least, took(load.least)
    while (work := took(4 * steps) - alone) < WORK / 8:  # too short to tell its steps from the start
        steps *= 4
    each = work / (4 * steps - load.least)
    return rounded(max(load.least, WORK / each))


def rounded(count: float) -> int:
    """Two digits: 1234.5 becomes 1200."""
    scale = 10 ** max(len(str(int(count))) - 2, 0)
    return max(1, round(count / scale)) * scale


def measure(load: Workload, runtime: Runtime, folder: Path, size: int, rounds: int, python: str) -> Measurement:
    """One column after the other in each round; short runs before them warm the caches. The slow ones come once."""
    script = folder / f"{load.name}.py"
    script.write_text((WORKLOADS / script.name).read_text())
    steps = steps_for(load, runtime, script, size, python)
    timed = commands(load, runtime, script, size, steps, python)
    seconds: dict[str, list[float]] = {name: [] for name in timed if name not in SLOW}
    few = max(load.least, steps // FEWER)
    fewer = commands(load, runtime, script, size, few, python)
    warm = commands(load, runtime, script, size, load.least, python)
    for name in (*seconds, BUILDS):
        whole(warm[name], folder, runtime)
    for _ in range(rounds):
        for name, taken in seconds.items():
            taken.append(whole(timed[name], folder, runtime))
    short = min(whole(fewer[PLAIN], folder, runtime) for _ in range(2))
    limit = PATIENCE * short
    for name in SLOW:
        took = once(fewer[name], folder, runtime, limit)
        seconds[name] = [] if took is None else [took]
    return Measurement(runtime, load, size, steps, seconds, few, short, limit)


def table(measured: Measured) -> str:
    """Minimum and median in seconds, and the median's ratio to pdb's; slow columns by the step."""
    columns = list(measured[0].seconds)
    rows = [["runtime", "program", "size", "steps", *columns, "PKDB (published)"]]
    for each in measured:
        cells = [slow_cell(each, name) if name in SLOW else cell(each, name) for name in columns]
        rows.append([each.runtime.name, each.load.name, str(each.size), str(each.steps), *cells, each.load.published])
    rows.insert(1, ["---"] * len(rows[0]))
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def slow_cell(each: Measurement, column: str) -> str:
    """Of a run with fewer steps, and how many times the time with no kernel breakpoint that is."""
    seconds = each.seconds[column]
    if not seconds:
        return f"> {each.limit:.0f} s for {each.few} steps (> {PATIENCE:.0f}×)"
    return f"{seconds[0]:.2f} s for {each.few} steps ({seconds[0] / each.short:.1f}×)"


def cell(each: Measurement, column: str) -> str:
    seconds = each.seconds[column]
    return f"{min(seconds):.2f} / {each.middle(column):.2f} s ({each.middle(column) / each.middle('pdb'):.2f}×)"


def start_alone(runtime: Runtime, folder: Path, rounds: int) -> float:
    """Seconds that pkdb-tui takes more than pdb for a program that only imports; both are warm."""
    script = folder / "start.py"
    script.write_text(START)
    pdb = [runtime.python, "-m", "pdb", "-c", "continue", "-c", "quit", script.name]
    ours = [sys.executable, "-m", "pkdb_tui", "--plain", *runtime.option, "-c", "continue", script.name]
    turns = [(whole(ours, folder, runtime), whole(pdb, folder, runtime)) for _ in range(rounds + 1)]
    return statistics.median(mine - other for mine, other in turns[1:])


def verdicts(measured: Measured, starts: Mapping[str, float]) -> list[str]:
    """Each target, whether it was met, and what the difference consists of."""
    lines = []
    for runtime, start in starts.items():
        mine = [each for each in measured if each.runtime.name == runtime]
        lines.append(f"- {runtime}: a program that only imports takes {start:.2f} s more than under pdb")
        for name, limit in TARGETS.items():
            mean = statistics.mean(each.middle(name) / each.middle("pdb") for each in mine)
            more = statistics.mean(each.middle(name) - each.middle("pdb") for each in mine)
            why = f"runs take {more:.2f} s more on average, a program that only imports {start:.2f} s"
            met = "met" if mean <= limit else f"**missed**: {why}"
            lines.append(f"- {runtime}, {name}, mean ratio to pdb {mean:.2f}, target ≤ {limit}: {met}")
        for each in mine:
            ended = bool(each.seconds[DEBUG])
            times = (each.seconds[DEBUG][0] if ended else each.limit) / each.short
            least = "" if ended else "at least "
            why = f"**missed**: {each.few} steps take {each.short:.2f} s, start and end included"
            met = "met" if times >= FASTER_THAN_DEBUG else why
            lines.append(
                f"- {runtime}, {each.load.name} {each.size}, faster than Debug {least}{times:.1f}×, target ≥ 10×: {met}"
            )
    return lines


def section_of(text: str) -> str:
    """The section with its markers; empty where there is none."""
    begin, end = text.find(BEGIN), text.find(END)
    return text[begin : end + len(END)] if 0 <= begin < end else ""


def with_section(text: str, section: str) -> str:
    """The text with its section replaced, or added at its end."""
    old = section_of(text)
    if not section:
        return text
    return text.replace(old, section) if old else f"{text.rstrip()}\n\n{section}\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description=__doc__)
    parser.add_argument("only", nargs="*", choices=[*(load.name for load in LOADS), []], help="all by default")
    parser.add_argument("--rounds", type=int, default=2, help="runs of each column, in turns")
    parser.add_argument("--installed", default="", help="an interpreter that has PyKokkos, to measure as well")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the file whose section is written")
    options = parser.parse_args()
    begin = time.perf_counter()
    measured: Measured = []
    starts: dict[str, float] = {}
    with throw_away() as name:
        folder = Path(name)
        for runtime in runtimes(Workplace(folder, sys.executable), options.installed):
            starts[runtime.name] = start_alone(runtime, folder, options.rounds + 1)
            for load in LOADS:
                if options.only and load.name not in options.only:
                    continue
                for size in load.sizes:
                    print(f"measuring {load.name} {size}, {runtime.name} …", file=sys.stderr)
                    measured.append(measure(load, runtime, folder, size, options.rounds, sys.executable))
    minutes = (time.perf_counter() - begin) / 60
    facts = "\n".join(f"- {line}" for line in machine.facts([sys.executable, *filter(None, [options.installed])]))
    given = " ".join(
        "PYTHON" if word == options.installed else word for word in ["benchmarks.overhead", *sys.argv[1:]] if word
    )
    head = (
        f"## Whole programs\n\nMeasured on {time.strftime('%Y-%m-%d')} in {minutes:.1f} minutes by `python -m {given}`:"
        f" minimum / median of {options.rounds} runs in turns, with a warm cache, from start to end of the process, and"
        f" the median's ratio to pdb's. Steps are as many as take about {WORK:g} s without a debugger. Debug builds and"
        f" the Debug space run a tenth of the steps once, ended after {PATIENCE:.0f} times what those take with no"
        " kernel breakpoint; their ratio is to that."
    )
    text = "\n\n".join([BEGIN, head, facts, table(measured), "\n".join(verdicts(measured, starts)), END])
    print(text)
    old = options.output.read_text() if options.output.exists() else ""
    options.output.write_text(with_section(old, text))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
