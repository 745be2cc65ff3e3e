"""Line mapping of PyKokkos' debug builds by sources recorded from this project's own kernels, and conditions as C++."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pkdb_tui.engine.debuggee.frameworks import pykokkos_build as build
from pkdb_tui.engine.debuggee.frameworks.pykokkos import _Scanner
from pkdb_tui.engine.debuggee.frameworks.pykokkos_conditions import (
    MISSING,
    Condition,
    Refused,
    compile_condition,
    places,
)
from pkdb_tui.engine.debuggee.frameworks.pykokkos_errors import explain

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
KERNELS = {
    "functor": {"scaled", "fill", "total"},
    "workload": {"__init__", "norm", "run", "add", "cell", "square"},
    "patterns": {"twice", "teams"},
    "fused": {"first", "second"},
}
_PLACE = re.compile(r'^#line (\d+) "FORMS/(\w+)\.py"\n(.*)', re.MULTILINE)


def module(name: str) -> str:
    return str(FIXTURES / "recorded" / name / "OpenMP" / "kernel.so")


def generated(name: str) -> str:
    folder = FIXTURES / "recorded" / name
    return (folder / "functor.hpp").read_text() + (folder / "OpenMP" / "bindings.cpp").read_text()


@pytest.mark.parametrize("name", KERNELS)
def test_exactly_the_lines_with_code_are_mapped(name: str) -> None:
    source = (FIXTURES / "forms" / f"{name}.py").read_text()
    spans = [span for span in _Scanner().spans(f"{name}.py", source) if span["name"] in KERNELS[name]]
    assert {span["name"] for span in spans} == KERNELS[name]
    wanted = sorted({line for span in spans for line in span["lines"]})
    assert build.lines_of(module(name)) == {f"FORMS/{name}.py": wanted}


@pytest.mark.parametrize("name", KERNELS)
def test_what_follows_a_directive_is_made_of_its_python_line(name: str) -> None:
    lines = (FIXTURES / "forms" / f"{name}.py").read_text().splitlines()
    found = _PLACE.findall(generated(name))
    assert found
    for number, file, code in found:
        assert file == name
        words = set(re.findall(r"[a-z]\w*", lines[int(number) - 1])) | {"return"}
        said = re.findall(r"[a-z]\w*", code.replace("fused_", "").replace("_0", "").replace("_1", ""))
        assert words & set(said) or not said, (number, code)


@pytest.mark.parametrize("name", KERNELS)
def test_the_way_out_of_a_block_is_glue(name: str) -> None:
    """It would be a line of threads that go around its last statement."""
    text = (FIXTURES / "recorded" / name / "functor.hpp").read_text()
    ends = re.findall(r'^#line \d+ "([^"\n]+)"\n *\}', text, re.MULTILINE)
    assert set(ends) == {"pk_glue.hpp"}
    assert not [code for _, _, code in _PLACE.findall(text) if code.rstrip().endswith("};")]


@pytest.mark.parametrize("name", KERNELS)
def test_heads_and_what_follows_a_function_are_glue(name: str) -> None:
    text = (FIXTURES / "recorded" / name / "functor.hpp").read_text()
    for head in re.finditer(r"^KOKKOS_FUNCTION .*\{ *$", text, re.MULTILINE):
        assert text[: head.start()].rstrip().endswith('#line 1 "pk_glue.hpp"')
    assert re.findall(r"^#line .*", text, re.MULTILINE)[-1] == '#line 1 "pk_glue.hpp"'


@pytest.mark.parametrize("name", KERNELS)
def test_each_function_that_launches_lets_pythons_lock_go(name: str) -> None:
    text = (FIXTURES / "recorded" / name / "OpenMP" / "bindings.cpp").read_text()
    runs = re.findall(r"^\w+ run\w*\([^()]*\) \{ *(.*)", text, re.MULTILINE)
    assert runs
    assert all(body.startswith(build.UNLOCKED) for body in runs)
    assert not build.holds_lock(module(name))
    plain = text.replace(build.UNLOCKED + " ", "")
    assert build.without_lock(plain).replace(" ", "") == text.replace(" ", "")


def test_a_condition_stands_before_its_statement_under_a_name_of_its_own() -> None:
    (name,) = build.built_in(module("functor"))
    text = generated("functor")
    assert re.search(rf'return bool\(.*\)\n#line 19 "{name}"\n.*nop.*\n\n#line 19 "FORMS/functor.py"\ndouble t=', text)
    assert name == "FORMS/functor.py#pkdb19"


SOURCE = """import pykokkos as pk


@pk.workunit
def work(i: int, acc: pk.Acc[pk.double], v: pk.View1D[pk.double]):
    total: float = 0
    for k in range(3):
        part: float = v[k]
        total += part
    acc += total
"""


def cpp(line: int, expression: str, **outside: object) -> str:
    condition = Condition(1, "/a.py", line, expression)
    return compile_condition(condition, SOURCE, lambda name: outside.get(name, MISSING)).text


@pytest.mark.parametrize(
    ("line", "expression", "text"),
    [
        (6, "i == 3", "(pkdb::num(i) == (3LL))"),
        (9, "part > 0 and not k", "((pkdb::num(part) > (0LL)) && (!pkdb::truth(pkdb::num(k))))"),
        (10, "total // 2 == N", "(pkdb::floordiv(pkdb::num(total), (2LL)) == (7LL))"),
        (7, "k in (1, 2)", "((pkdb::num(k) == (1LL)) || (pkdb::num(k) == (2LL)))"),
        (10, "v[-1]", 'pkdb::truth(pkdb::num(pkdb::at("v", v, (-pkdb::num((1LL))))))'),
    ],
)
def test_conditions_are_written_with_pythons_arithmetic(line: int, expression: str, text: str) -> None:
    assert cpp(line, expression, N=7) == text


@pytest.mark.parametrize(
    ("line", "expression", "why"),
    [
        (6, "total > 0", "the kernel has no `total` at this line"),
        (10, "part > 0", "the kernel has no `part` at this line"),
        (5, "i == 1", "line 5 has no code in this kernel"),
        (6, "i +", "is not an expression"),
        (6, "v[0:2]", "one element of a view of the kernel can"),
        (6, "words", "`words` is a list outside of the kernel; a condition needs numbers"),
    ],
)
def test_a_condition_that_cant_be_compiled_says_why(line: int, expression: str, why: str) -> None:
    with pytest.raises(Refused, match=re.escape(why)):
        cpp(line, expression, words=[1])


def test_where_a_condition_stands_depends_on_what_those_of_its_line_say_alone() -> None:
    def placed(*conditions: tuple[int, int, str]) -> dict[int, tuple[str, int]]:
        compiled = {
            number: compile_condition(Condition(number, "/a.py", line, text), SOURCE, lambda _: MISSING)
            for number, line, text in conditions
        }
        return {number: (place.file, place.number) for number, place in places(compiled).items()}

    now = placed((1, 6, "i == 3"), (2, 6, "i == 4"), (3, 6, "i==3"), (4, 10, "i == 3"))
    later = placed((11, 6, "i == 4"), (12, 10, "i == 3"), (13, 6, "i == 3"))
    assert now[1] == now[3] == later[13]
    assert now[2] == later[11]
    assert {now[1], now[2]} == {("/a.py#pkdb6", 0), ("/a.py#pkdb6", 1)}
    assert now[4] == later[12] == ("/a.py#pkdb10", 0)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            "\x1b[31mError on line 8 \x1b[0m: Not supported for translation\nDEBUG AST:",
            "translate: work.py:8: Not supported",
        ),
        ('File "/x/work.py", line 8:\n undefined symbol q used', "translate: work.py:8: undefined symbol q used"),
        ("In file\n/x/work.py:9:3: error: cannot convert ‘a’ to ‘b’", "compile: work.py:9: cannot convert ‘a’ to ‘b’"),
    ],
)
def test_errors_are_told_at_their_python_line(said: str, sentence: str) -> None:
    text = explain(said, "work", "/x/work.py")
    assert text.startswith(f"work doesn't {sentence}")
    assert text.endswith("When it goes on, PyKokkos ends the program by SystemExit.")
