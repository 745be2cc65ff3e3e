"""What a debugger sees of launches, and under which name the runtime is imported."""

from __future__ import annotations

import inspect
import linecache
import subprocess
import sys
import weakref
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import pkdb_tui.minikokkos as pk
from pkdb_tui.minikokkos import debug, launch
from pkdb_tui.minikokkos.spans import kernel_spans

TEXT = """
@pk.function
def twice(x: float) -> float:
    return 2 * x


@pk.workunit
def work(j: int, acc: pk.Acc[pk.double], x: pk.View1D[pk.double], n: int):
    # a comment
    acc += twice(x[j]) + n


def run(space=pk.OpenMP):
    return pk.parallel_reduce("sum", pk.RangePolicy(space, 0, 3), work, x=np.arange(3.0), n=1)
"""


def test_a_launch_as_the_hook_sees_it(load: Any, hooked: Any) -> None:
    module = load(TEXT)
    seen: list[debug.Launch] = []
    callers: list[str] = []

    def hook(launch: debug.Launch) -> Any:
        seen.append(launch)
        callers.append(sys._getframe(launch.frame_depth + 1).f_code.co_name)
        return launch.run()

    hooked(hook)
    assert module.run() == 9.0
    (launch,) = seen
    assert callers == ["run"]
    assert (launch.pattern, launch.policy, launch.space) == ("reduce", "RangePolicy(OpenMP, 0, 3)", "OpenMP")
    assert launch.kernel == debug.KernelSource("work", module.__file__, 10, 13, (13,))
    assert list(launch.functions) == [debug.KernelSource("twice", module.__file__, 5, 7, (7,))]
    assert launch.index_names == ("j",)
    assert list(launch.arguments) == ["x", "n"]


class Counts:
    """What a debugger keeps of a launching line."""

    count, last, total = 0, 0.0, 0.0
    latest: tuple[Any, ...] = ()


def letting_run(hooked: Any) -> tuple[Counts, list[str]]:
    """(what all launches count themselves in, the kernel of each launch that passed the hook)."""
    counts, passed = Counts(), list[str]()

    def hook(launch: debug.Launch) -> Any:
        passed.append(launch.kernel.name)
        result = launch.run()
        launch.let_run(debug.epoch, counts, sys._getframe(launch.frame_depth + 1))
        return result

    hooked(hook)
    return counts, passed


KINDS = """
@pk.workunit
def kinds(i: int, v: pk.View1D[pk.double], a: pk.View3D[pk.float], k: int, f: pk.float, z: pk.complex128, b: bool):
    v[i] = v[i] + k


def run(n, **given):
    pk.parallel_for(pk.RangePolicy(pk.Serial, 1, n), kinds, **given)
"""


def test_a_launch_let_run_tells_what_it_was_given_and_keeps_none_of_it(load: Any, hooked: Any) -> None:
    module = load(KINDS)
    counts, passed = letting_run(hooked)

    def run(n: int) -> weakref.ref[Any]:
        v = np.zeros(n)
        module.run(n, v=v, a=np.ones((n, 2, 3), np.float32), k=-n, f=0.1 * n, z=complex(n, 1), b=n > 4)
        return weakref.ref(v)

    run(3)
    array = run(7)
    assert passed == ["kinds"]
    assert array() is None
    reader, *what = counts.latest
    policy, arguments = reader(*what)
    assert policy == "RangePolicy(Serial, 1, 7)"
    assert arguments == {
        "v": debug.ArrayFacts("float64", (7,), (8,), 8),
        "a": debug.ArrayFacts("float32", (7, 2, 3), (24, 12, 4), 4),
        "k": -7,
        "f": 0.7,
        "z": 7 + 1j,
        "b": True,
    }
    assert [type(value) for value in arguments.values()][2:] == [int, float, complex, bool]


def test_calls_of_two_functions_at_the_same_instruction_are_both_let_run(load: Any, hooked: Any) -> None:
    module = load(f"{TEXT}\n\ndef walk{TEXT.partition('def run')[2]}")
    assert module.run.__code__.co_code == module.walk.__code__.co_code
    counts, passed = letting_run(hooked)
    for _ in range(10):
        assert module.run() == module.walk() == 9.0
    assert passed == ["work", "work"]
    assert counts.count == 18


def test_code_made_anew_for_each_launch_is_not_kept_for_ever(load: Any, hooked: Any) -> None:
    module = load(TEXT)
    letting_run(hooked)
    codes = []
    for _ in range(launch.SITES + 1):
        call = FunctionType(module.run.__code__.replace(), module.__dict__)
        codes.append(weakref.ref(call.__code__))
        call(pk.OpenMP)
        del call
    assert sum(code() is not None for code in codes) <= 2


def test_a_debug_build_gives_the_same_result(load: Any, hooked: Any) -> None:
    module = load(TEXT)
    builds: list[debug.DebugBuild] = []

    def hook(launch: debug.Launch) -> Any:
        builds.append(launch.build_debug())
        return launch.run_debug(builds[-1])

    hooked(hook)
    assert [module.run(), module.run()] == [9.0, 9.0]
    assert builds[0].path == builds[1].path
    assert builds[1].seconds == 0.0
    assert builds[0].entry == "pkk_work::pk_body"
    assert (builds[0].team, builds[0].bounds, builds[0].message) == ("pk_team", "pk_bounds_fault", "pk_message")
    assert builds[0].lines == {module.__file__: (7, 13)}


def test_the_thread_table_is_filled(load: Any, hooked: Any) -> None:
    import ctypes

    module = load(TEXT)
    sizes: list[tuple[int, int]] = []

    def hook(launch: debug.Launch) -> Any:
        build = launch.build_debug()
        result = launch.run_debug(build)
        table = (ctypes.c_int * 1025).in_dll(ctypes.CDLL(build.path), "pk_team")
        sizes.append((table[0], len({tid for tid in table[1 : 1 + table[0]] if tid > 0})))
        return result

    hooked(hook)
    module.run(pk.Serial)
    module.run(pk.OpenMP)
    assert sizes[0] == (1, 1)
    assert sizes[1][0] == sizes[1][1] >= 1


def test_decorated_functions_stay_functions(load: Any) -> None:
    module = load(TEXT)
    assert module.twice(4) == 8
    assert module.work.__name__ == "work"
    assert module.work.__module__ == module.__name__
    assert inspect.getsource(module.work).startswith("@pk.workunit\ndef work(")


@pytest.mark.parametrize(
    ("imports", "decorator"),
    [
        ("import pykokkos as pk", "@pk.workunit"),
        ("import pykokkos", "@pykokkos.workunit"),
        ("from pykokkos import workunit", "@workunit"),
        ("from pykokkos import workunit as kernel", "@kernel"),
        ("from pykokkos import *", "@function"),
        ("from pkdb_tui import minikokkos as mk", "@mk.workunit(x=1)"),
    ],
)
def test_spans_are_found_without_importing(imports: str, decorator: str) -> None:
    source = f"{imports}\n{decorator}\ndef k(i, x):\n    x[i] = (\n        i\n    )\n\ndef other():\n    pass\n"
    assert kernel_spans(source, "f.py") == [debug.KernelSource("k", "f.py", 2, 6, (4,))]


def test_no_span_without_the_import() -> None:
    assert kernel_spans("@pk.workunit\ndef k(i):\n    pass\n", "f.py") == []


def _python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_the_finder_serves_the_name_where_nothing_else_does(tmp_path: Path) -> None:
    start = "import sys; from pkdb_tui.minikokkos import finder; "
    check = "import pykokkos as p, pykokkos.policies as q; print(p.embedded, p.RangePolicy is q.RangePolicy)"
    assert _python(f"{start}finder.install(); {check}") == "True True\n"
    real = tmp_path / "pykokkos.py"
    real.write_text("real = True\n")
    path = f"sys.path.insert(0, {str(tmp_path)!r}); "
    assert _python(f"{start}{path}finder.install(); import pykokkos; print(pykokkos.real)") == "True\n"
    forced = f"{start}{path}finder.install(force=True); import pykokkos; print(pykokkos.embedded)"
    assert _python(forced) == "True\n"


def test_the_demo_program_agrees_with_numpy() -> None:
    script = Path(__file__).parents[3] / "examples" / "yax.py"
    command = [sys.executable, "-m", "pkdb_tui.minikokkos", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "kernels 3758.478458  numpy 3758.478458\n"


def test_an_exception_in_the_debug_space_comes_through(load: Any) -> None:
    module = load("@pk.workunit\ndef work(i: int, x):\n    x[i + 9] = 1\n")
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        pk.parallel_for(pk.RangePolicy(pk.Debug, 0, 1), module.work, x=np.zeros(3))


EDITED = """
@pk.function
def one() -> float:
    return 1


@pk.workunit
def fill(i: int, x: pk.View1D[pk.double]):
    x[i] = one()


@pk.workunit(x=pk.ViewTypeInfo(trait=pk.Trait.Unmanaged))
def fill_unmanaged(i: int, x: pk.View1D[pk.double]):
    x[i] = one()
"""


def filled(kernel: Any) -> list[float]:
    x = np.zeros(2)
    pk.parallel_for(pk.RangePolicy(pk.Serial, 0, 2), kernel, x=x)
    return x.tolist()


@pytest.mark.parametrize("name", ["fill", "fill_unmanaged"])
@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_text(path.read_text().replace("return 1", "return 2").replace("one()", "5")),
        lambda path: path.write_text("# another line\n" + path.read_text()),
        lambda path: path.unlink(),
    ],
    ids=["other values", "other lines", "deleted"],
)
def test_a_file_that_is_edited_before_the_first_launch(load: Any, name: str, change: Any) -> None:
    module = load(EDITED)
    change(Path(module.__file__))
    linecache.checkcache()  # as each traceback does
    assert filled(getattr(module, name)) == [1, 1]


def test_a_module_that_is_edited_and_reloaded(load: Any) -> None:
    module = load(EDITED)
    assert filled(module.fill) == [1, 1]
    path = Path(module.__file__)
    text = path.read_text()
    path.write_text("\n\n" + text.replace("return 1", "return 22"))
    exec(compile(path.read_text(), path, "exec"), module.__dict__)
    assert filled(module.fill) == [22, 22]
