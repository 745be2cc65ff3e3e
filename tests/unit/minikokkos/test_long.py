"""Sums of thousands of terms and thousands of `elif`, which Python nests in each other, in every space."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pkdb_tui.minikokkos as pk
from pkdb_tui.minikokkos import debug
from pkdb_tui.minikokkos.cpp_types import CType
from pkdb_tui.minikokkos.debug import Condition
from pkdb_tui.minikokkos.errors import TOO_DEEP
from pkdb_tui.minikokkos.program import Program, definition
from pkdb_tui.minikokkos.spans import kernel_spans

COUNT = 2000  # Python itself takes about 2900 at most, up to 3.12
SPACES = [pk.ExecutionSpace.OpenMP, pk.ExecutionSpace.Serial, pk.ExecutionSpace.Debug]
IN_PYTHON = 600  # of a kernel with an accumulator, which the space Debug compiles from its tree


def sums(count: int) -> str:
    return f"""@pk.workunit
def work(i: int, x: pk.View1D[pk.double]):
    x[i] = {" + ".join(["i"] * COUNT)} - x[i]

@pk.workunit
def total(i: int, acc: pk.Acc[pk.double], x: pk.View1D[pk.double]):
    acc += {" + ".join(["x[i]"] * count)}
"""


def branches(count: int) -> str:
    def chain(begin: int, end: int, target: str) -> str:
        return "".join(f"    elif i == {k}:\n        {target} {k} * 2\n" for k in range(begin, end))

    return f"""@pk.workunit
def work(i: int, x: pk.View1D[pk.double]):
    if i == 0:
        y = 5
{chain(1, COUNT, "y =")}    else:
        y = 9
    x[i] = y

@pk.workunit
def total(i: int, acc: pk.Acc[pk.double], x: pk.View1D[pk.double]):
    if i == 0:
        acc += 5
{chain(COUNT - count + 1, COUNT, "acc +=")}    else:
        acc += 9
"""


FIRST = 6  # line of `if i == 0`, with the three lines that `load` puts in front


def launched(module: Any, space: pk.ExecutionSpace, begin: int, end: int) -> tuple[list[float], float]:
    """What both kernels compute for these indices: the elements that the first writes, and the second's sum."""
    x = np.zeros(end)
    policy = pk.RangePolicy(space, begin, end)
    pk.parallel_for(policy, module.work, x=x)
    return [float(value) for value in x[begin:]], float(pk.parallel_reduce(policy, module.total, x=x))


@pytest.mark.parametrize("space", SPACES)
def test_sums_of_thousands_of_terms(load: Any, space: pk.ExecutionSpace) -> None:
    count = IN_PYTHON if space is pk.ExecutionSpace.Debug else COUNT
    values = [float(COUNT * i) for i in range(3)]
    assert launched(load(sums(count)), space, 0, 3) == (values, sum(values) * count)


@pytest.mark.parametrize("space", SPACES)
def test_thousands_of_elif(load: Any, space: pk.ExecutionSpace) -> None:
    count = IN_PYTHON if space is pk.ExecutionSpace.Debug else COUNT
    begin = COUNT - 2
    values = [2.0 * begin, 2.0 * (begin + 1), 9.0, 9.0]
    assert launched(load(branches(count)), space, begin, begin + 4) == (values, sum(values))


def test_a_launch_from_deep_within_calls_takes_nothing_of_what_can_be_nested(load: Any) -> None:
    module = load(branches(COUNT))

    def call(depth: int) -> tuple[list[float], float]:
        return call(depth - 1) if depth else launched(module, pk.ExecutionSpace.OpenMP, 0, 2)

    assert call(500) == ([5.0, 2.0], 7.0)


@pytest.mark.parametrize("text", [sums(COUNT), branches(COUNT)])
def test_the_text_for_a_device_nests_no_blocks_for_them(load: Any, text: str) -> None:
    kernel = definition(load(text).work)
    source = Program(kernel, "for", "range", 1, {"x": CType("double", 1)}, debug=True, device=True).source
    assert source.count("if (") >= text.count("if i") // 2
    assert max(len(line) - len(line.lstrip()) for line in source.splitlines()) <= 12


def test_lines_and_conditions_of_a_chain(load: Any, hooked: Any) -> None:
    module = load(branches(COUNT))
    middle, beyond = FIRST + COUNT, FIRST + COUNT + 2
    conditions = [Condition(1, module.__file__, middle, "i > 1"), Condition(2, module.__file__, beyond, "i % 2 == 1")]
    found: dict[str, Any] = {}

    def hook(launch: Any) -> Any:
        build = launch.build_debug(conditions=conditions)
        found.update(conditions=build.conditions, refused=build.refused, lines=build.lines[module.__file__])
        return launch.run_debug(build)

    hooked(hook)
    x = np.zeros(3)
    pk.parallel_for(3, module.work, x=x)
    debug.hook = None
    assert list(x) == [5.0, 2.0, 4.0]
    assert {number: place.line for number, place in found["conditions"].items()} == {1: middle, 2: beyond}
    assert not found["refused"]
    work, _ = kernel_spans(Path(module.__file__).read_text(), module.__file__)
    assert found["lines"] == work.lines == (*range(FIRST, FIRST + 2 * COUNT), *(FIRST + 2 * COUNT + n for n in (1, 2)))


def test_the_lines_of_kernels_are_found_in_files_with_them() -> None:
    text = (
        "import pykokkos as pk\nlong = " + " + ".join(["1"] * COUNT) + "\n" + branches(COUNT).replace("y =", "return;")
    )
    work, total = kernel_spans(text, "long.py")
    assert work.lines == (*range(5, 5 + 2 * COUNT), 6 + 2 * COUNT)
    assert total.lines[-1] == total.last_line


@pytest.mark.parametrize(
    "expression", [" ** ".join(["1"] * COUNT), "i if i > 1 else " * COUNT + "2", "- " * COUNT + "i"]
)
def test_what_is_still_nested_too_deeply_is_refused_at_its_line(load: Any, expression: str) -> None:
    module = load(
        f"@pk.workunit\ndef work(i: int, x: pk.View1D[pk.double]):\n    if i == 0:\n        x[i] = {expression}\n"
    )
    for space in SPACES[:2]:
        with pytest.raises(pk.CompileError) as caught:
            pk.parallel_for(pk.RangePolicy(space, 0, 1), module.work, x=np.zeros(1))
        assert (caught.value.message, caught.value.line) == (TOO_DEEP, 7)
        assert all(len(line) < 250 for line in str(caught.value).splitlines())
    x = np.zeros(1)
    pk.parallel_for(pk.RangePolicy(pk.ExecutionSpace.Debug, 0, 1), module.work, x=x)
    assert x[0] == eval(expression, {"i": 0})


@pytest.mark.parametrize(
    ("condition", "refused"),
    [(" + ".join(["i"] * COUNT) + " > 1", ""), ("- " * COUNT + "i < 0", TOO_DEEP)],
)
def test_a_condition_as_long_is_built_in_or_refused_in_a_sentence(load: Any, condition: str, refused: str) -> None:
    module = load("@pk.workunit\ndef work(i: int, x: pk.View1D[pk.double]):\n    x[i] = i\n")
    built = Program(definition(module.work), "for", "range", 1, {"x": CType("double", 1)},
                    conditions=[Condition(1, module.__file__, 6, condition)], debug=True)  # fmt: skip
    assert built.refused.get(1, "") == refused
    assert (1 in built.placed) == (not refused)
