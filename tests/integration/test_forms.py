"""Every form of workunit, stopped and stepped in at its Python lines.

Scans, teams and nested functions are on either runtime. Functor and workload classes, class types, mains and fused
workunits are PyKokkos' alone, and refused by name on the embedded one; workunits of two dimensions that are functions
are the embedded runtime's alone.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from runtimes import BOTH, EMBEDDED, INSTALLED, PYKOKKOS, ROOT, Run, debug

from pkdb_tui.panes.generated import without_directives

on_each = pytest.mark.parametrize("runtime", BOTH)
on_pykokkos = pytest.mark.parametrize("runtime", [pytest.param(INSTALLED, marks=PYKOKKOS)])
ONE = {"OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fixtures in a folder of their own, as PyKokkos builds beside the program."""
    return Path(shutil.copytree(ROOT / "tests" / "fixtures" / "forms", tmp_path_factory.mktemp("forms") / "forms"))


def line_of(script: Path, text: str) -> int:
    return next(n for n, line in enumerate(script.read_text().splitlines(), 1) if text in line)


def steps(run: Run) -> list[str]:
    """Where steps ended, as `line function`."""
    ends = [line.split() for line in run.starting("stopped: step")]
    return [f"{words[2].rpartition(':')[2]} {words[4]}" for words in ends]


@on_pykokkos
def test_a_functors_methods_and_its_function(runtime: str, forms: Path) -> None:
    script = forms / "functor.py"
    fill, scaled = line_of(script, "self.x[i] ="), line_of(script, "r: float")
    run = debug(
        runtime, script, f"break {fill}", "continue", "print t, k, self.x[0:2]", "self.k = 4", "print self.k + t",
        "self.k = 3", "delete", "step", "print v * self.k", "step", "step", "finish", "continue", variables=ONE,
    )  # fmt: skip
    assert "5.0" in run.lines
    assert run.stops[0] == f"functor.py:{fill}"
    assert "(1.0, 3.0, array([0., 0.]))" in run.lines
    assert steps(run)[:2] == [f"{scaled} scaled", f"{scaled + 1} scaled"]
    assert "3.0" in run.lines
    assert all("functor.py" in stop for stop in run.stops)
    assert "total 30.0" in run.lines


@on_pykokkos
def test_a_condition_names_a_functors_members_through_self(runtime: str, forms: Path) -> None:
    script = forms / "functor.py"
    total = line_of(script, "acc += self.x[i]")
    run = debug(
        runtime, script, f"break {total} if self.x[i] > 8 and self.k == 3", "continue", "print i", "continue",
        "print x[i]", variables=ONE,
    )  # fmt: skip
    assert run.stops == [f"functor.py:{total}"] * 2, run.out
    assert [line for line in run.lines if line in ("2", "12.0")] == ["2", "12.0"]


@on_pykokkos
def test_a_workloads_main_its_lambdas_methods_and_class_types(runtime: str, forms: Path) -> None:
    script = forms / "workload.py"
    main = line_of(script, "self.n, self.add")
    add, square, norm = (line_of(script, text) for text in ("q: float", "p: Pair", "s: float = self.x"))
    run = debug(
        runtime, script, f"break {main}", "continue", "where", "locals", "delete", *["step"] * 8, "where", "finish",
        "finish", "continue", variables=ONE,
    )  # fmt: skip
    assert run.stops[0] == f"workload.py:{main}"
    assert f">  0 run workload.py:{main} kernel" in run.lines
    assert any(line.split()[:2] == ["a", "float64[4]"] for line in run.lines)
    assert steps(run)[:7] == [
        f"{add} add", f"{square} square", f"{line_of(script, 'self.x: float')} Pair",
        f"{line_of(script, 'self.y: float')} Pair", f"{square + 1} square", f"{norm} norm", f"{norm + 1} norm",
    ]  # fmt: skip
    assert {"callback 64.0", "sum 64.0 31.0"} <= set(run.lines)


@on_pykokkos
def test_lambdas_of_a_main_stop_in_each_iteration(runtime: str, forms: Path) -> None:
    script = forms / "workload.py"
    line = line_of(script, "lambda i: i * 2.0")
    run = debug(
        runtime, script, f"break {line}", "continue", "continue", "where", "print i", "continue", "print i",
        "delete", "finish", "continue", variables=ONE,
    )  # fmt: skip
    assert run.stops[:3] == [f"workload.py:{line}"] * 3
    assert run.starting("stopped:")[1].split()[5] == "run"
    assert all(" in lambda " in stop for stop in run.starting("stopped:")[2:4])
    assert f">  0 lambda workload.py:{line} kernel" in run.lines
    assert [text for text in run.lines if text in ("0", "1")] == ["0", "1"]


@on_each
def test_a_scan(runtime: str, forms: Path) -> None:
    script = forms / "patterns.py"
    line = line_of(script, "acc += v[i]")
    run = debug(
        runtime, script, f"break {line} if last and i == 3", "continue", "print acc, v[0:4]", "delete", "continue",
        variables=ONE,
    )  # fmt: skip
    assert "(6.0, array([1., 3., 6., 4.]))" in run.lines
    assert "scan 15.0 [1.0, 3.0, 6.0, 10.0, 15.0]" in run.lines


@on_each
def test_a_kernel_of_two_dimensions(runtime: str, forms: Path) -> None:
    script = forms / ("box.py" if runtime == EMBEDDED else "workload.py")
    cell = line_of(script, "= s + j")
    cells = debug(
        runtime, script, f"break {cell} if i == 2 and j == 1", "continue", "print s, i, j", "delete", "continue"
    )
    assert "(20.0, 2, 1)" in cells.lines


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("functor.py", "pk.functor is not supported by the embedded runtime"),
        ("workload.py", "pk.classtype is not supported by the embedded runtime"),
        ("fused.py", "is not a workunit"),
    ],
)
def test_what_the_embedded_runtime_has_not_is_refused_by_name(forms: Path, name: str, refused: str) -> None:
    (stop,) = debug(EMBEDDED, forms / name, "continue").starting("stopped: exception")
    assert refused in stop


@on_each
def test_teams_with_scratch_memory_and_nested_functions(runtime: str, forms: Path) -> None:
    script = forms / "patterns.py"
    launch, load = line_of(script, "member, n), load"), line_of(script, "pad[k] = ")
    run = debug(
        runtime, script, f"break {launch}", "continue", "locals", "delete", "step", "where", "step", "step",
        "break 36", "continue", "print pad[0:4], row, e", "delete", "continue", variables=ONE,
    )  # fmt: skip
    assert any(line.split()[:2] == ["member", "TeamMember"] for line in run.lines)
    assert any("league rank 0 of 3, team rank 0 of 1" in line for line in run.lines)
    assert not [line for line in run.lines if line.split()[:1] in (["load"], ["inner"])]  # nested functions
    assert steps(run) == [f"{load} lambda"] * 3
    assert f"   1 teams patterns.py:{launch} kernel" in run.lines
    assert "(array([0., 1., 2., 3.]), 12.0, 0)" in run.lines
    assert "teams 264.0 [12.0, 44.0, 76.0]" in run.lines


@on_pykokkos
def test_fused_workunits_are_named_by_their_parts(runtime: str, forms: Path) -> None:
    script = forms / "fused.py"
    first, second = line_of(script, "v[i] = t"), line_of(script, "v[i] = u")
    run = debug(
        runtime, script, f"break {first}", f"break {second}", "continue", "continue", "print fused_u_1", "step",
        "info launches", "delete", "continue", variables=ONE,
    )  # fmt: skip
    assert [stop.split(" thread")[0] for stop in run.starting("stopped: breakpoint")] == [
        f"stopped: breakpoint 1 fused.py:{first} in first + second",
        f"stopped: breakpoint 2 fused.py:{second} in first + second",
    ]
    assert "12.0" in run.lines
    assert "fused 6.0 12.0" in run.lines


@on_pykokkos
def test_the_generated_cpp_of_a_stop_is_numbered_by_python_lines(runtime: str, forms: Path) -> None:
    script = forms / "functor.py"
    line = line_of(script, "self.x[i] =")
    run = debug(runtime, script, f"break {line}", "continue", "quit", variables=ONE, options=("--json",))
    (stop,) = [event for event in map(json.loads, run.lines) if event["event"] == "stopped" and event.get("kernel")]
    text, places = without_directives(Path(stop["kernel"]["generated"]).read_text())
    (code,) = [code for code, place in zip(text, places, strict=True) if place == (str(script), line)]
    assert "scaled(t)" in code
