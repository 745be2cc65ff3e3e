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
DEBUG_LIMIT = 6.0  # seconds for one run in the Debug space
PLAIN, ELSEWHERE = "no kernel breakpoint", "one elsewhere"
TARGETS = {PLAIN: 1.05, ELSEWHERE: 1.15}
FASTER_THAN_DEBUG = 10.0
START = "import numpy\nimport pykokkos\nprint('start steps 0')\n"


@dataclass(frozen=True)
class Workload:
    """A program, its sizes with their steps, and the text of a line in a kernel that isn't hot."""

    name: str
    sizes: tuple[tuple[int, int], ...]
    elsewhere: str
    published: str  # PKDB's mean ratio to pdb


LOADS = (
    Workload("molecular_dynamics", ((108, 20), (500, 30)), "    acc += 0.5 * (v[i][0] * v[i][0]", "1.54–1.95×"),
    Workload("boltzmann", ((500, 20), (5000, 50)), "    x[i] = moved - floor(moved)", "1.70–2.33×"),
    Workload("ewald", ((216, 2), (1000, 2)), "        at: float = x[i][d] / h", "1.39–1.86×"),
)


@dataclass(frozen=True)
class Runtime:
    """An interpreter and how `pykokkos` is found in it."""

    name: str
    python: str
    variables: Mapping[str, str]
    option: tuple[str, ...]


Measured = list[tuple[Runtime, Workload, int, dict[str, list[float]]]]


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
        "no debugger": [runtime.python, *program],
        "pdb": [runtime.python, "-m", "pdb", "-c", "continue", "-c", "quit", *program],
        PLAIN: ours(),
        ELSEWHERE: ours(impossible),
        "one disabled": ours(impossible, "disable 1"),
        "debug builds": ours("set catch on"),
        "Debug space": [runtime.python, *program, "Debug"],
    }


def once(command: list[str], folder: Path, runtime: Runtime) -> float | None:
    """Seconds of one run; None beyond the limit of the Debug space. Raises where the program's check isn't passed."""
    state = {"PKDB_STATE": str(folder / "state"), "PKDB_CACHE": str(folder / "cache")}
    begin = time.perf_counter()
    try:
        done = subprocess.run(
            command, cwd=folder, env={**runtime.variables, **state}, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, check=False, timeout=DEBUG_LIMIT if command[-1] == "Debug" else 120,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        if command[-1] != "Debug":
            raise
        return None
    took = time.perf_counter() - begin
    if " steps " not in done.stdout or "Traceback" in done.stdout + done.stderr:
        raise RuntimeError(
            f"{' '.join(command)} failed with status {done.returncode}: {(done.stdout + done.stderr)[-800:]}"
        )
    return took


def measure(
    load: Workload, runtime: Runtime, folder: Path, size: int, steps: int, rounds: int, python: str
) -> dict[str, list[float]]:
    """Seconds of each column, one column after the other in each round; one round before them warms the caches."""
    script = folder / f"{load.name}.py"
    script.write_text((WORKLOADS / script.name).read_text())
    timed = commands(load, runtime, script, size, steps, python)
    seconds: dict[str, list[float]] = {name: [] for name in timed}
    for turn in range(rounds + 1):
        for name, command in timed.items():
            if name == "Debug space" and turn > 0:
                continue  # it has no cache to warm, and takes long
            took = once(command, folder, runtime)
            if took is not None and (turn > 0 or name == "Debug space"):
                seconds[name].append(took)
    return seconds


def table(measured: Measured) -> str:
    """Minimum and median in seconds, and the median's ratio to pdb's."""
    columns = list(measured[0][3])
    rows = [["runtime", "program", "size", *columns, "PKDB (published)"]]
    for runtime, load, size, seconds in measured:
        pdb = statistics.median(seconds["pdb"])
        cells = [cell(seconds[name], pdb) for name in columns]
        rows.append([runtime.name, load.name, str(size), *cells, load.published])
    rows.insert(1, ["---"] * len(rows[0]))
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def cell(seconds: list[float], pdb: float) -> str:
    if not seconds:
        return f"> {DEBUG_LIMIT:.0f} s"
    middle = statistics.median(seconds)
    return f"{min(seconds):.2f} / {middle:.2f} s ({middle / pdb:.2f}×)"


def start_alone(runtime: Runtime, folder: Path, rounds: int) -> float:
    """Seconds that pkdb-tui takes more than pdb for a program that only imports."""
    script = folder / "start.py"
    script.write_text(START)
    pdb = [runtime.python, "-m", "pdb", "-c", "continue", "-c", "quit", script.name]
    ours = [sys.executable, "-m", "pkdb_tui", "--plain", *runtime.option, "-c", "continue", script.name]
    turns = [(once(ours, folder, runtime) or 0.0, once(pdb, folder, runtime) or 0.0) for _ in range(rounds)]
    return statistics.median(mine - other for mine, other in turns)


def verdicts(measured: Measured, starts: Mapping[str, float]) -> list[str]:
    """Each target, whether it was met, and what the difference consists of."""
    lines = []
    for runtime, start in starts.items():
        mine = [(load, size, seconds) for which, load, size, seconds in measured if which.name == runtime]
        lines.append(f"- {runtime}: a program that only imports takes {start:.2f} s more than under pdb")
        for name, limit in TARGETS.items():
            pairs = [(statistics.median(each[name]), statistics.median(each["pdb"])) for _, _, each in mine]
            mean = statistics.mean(took / pdb for took, pdb in pairs)
            more = statistics.mean(took - pdb for took, pdb in pairs)
            why = f"runs take {more:.2f} s more on average, a program that only imports {start:.2f} s"
            met = "met" if mean <= limit else f"**missed**: {why}"
            lines.append(f"- {runtime}, {name}, mean ratio to pdb {mean:.2f}, target ≤ {limit}: {met}")
        for load, size, seconds in mine:
            ended = bool(seconds["Debug space"])
            slow, took = seconds["Debug space"][0] if ended else DEBUG_LIMIT, statistics.median(seconds[PLAIN])
            times = slow / took
            why = f"**missed**: the whole run takes {took:.2f} s, start and end included" if ended else "not known"
            met = "met" if times >= FASTER_THAN_DEBUG else why
            least = "" if ended else "at least "
            lines.append(f"- {runtime}, {load.name} {size}, faster than Debug {least}{times:.1f}×, target ≥ 10×: {met}")
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
                for size, steps in load.sizes:
                    print(f"measuring {load.name} {size}, {runtime.name} …", file=sys.stderr)
                    seconds = measure(load, runtime, folder, size, steps, options.rounds, sys.executable)
                    measured.append((runtime, load, size, seconds))
    minutes = (time.perf_counter() - begin) / 60
    facts = "\n".join(f"- {line}" for line in machine.facts([sys.executable, *filter(None, [options.installed])]))
    head = (
        f"## Whole programs\n\nMeasured on {time.strftime('%Y-%m-%d')} in {minutes:.1f} minutes by `python -m "
        f"{' '.join(['benchmarks.overhead', *sys.argv[1:]])}`: minimum/median of {options.rounds} runs in turns, warm cache, start to "  # noqa: E501
        "end of the process, and the median's ratio to pdb's; the Debug space once."
    )
    text = "\n\n".join([BEGIN, head, facts, table(measured), "\n".join(verdicts(measured, starts)), END])
    print(text)
    old = options.output.read_text() if options.output.exists() else ""
    options.output.write_text(with_section(old, text))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
