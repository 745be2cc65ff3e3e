"""Arrays of every type of elements, however they lie in memory, at stops in kernels: what is shown, set and watched."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runtimes import EMBEDDED, OnRuntime, debug

from pkdb_tui.engine import formatting

LETTERS = ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "g", "c8", "c16", "G"]
MAKING = """
SHAPE = (3, 4)


def forms(letter):
    swapped = np.dtype(letter).newbyteorder()
    values = np.arange(12).reshape(SHAPE) * (1 - 2j if np.dtype(letter).kind == "c" else 1)
    size = np.dtype(letter).itemsize
    made = {
        "plain": np.zeros(SHAPE, letter),
        "second": np.zeros((6, 4), letter)[::2],
        "backwards": np.zeros(SHAPE, letter)[::-1, ::-1],
        "turned": np.zeros(SHAPE[::-1], letter).T,
        "columns": np.zeros((3, 7), letter)[:, 2:6],
        "field": np.zeros(SHAPE, [("a", "u1"), ("it", letter)])["it"],
        "odd": np.frombuffer(bytearray(1 + 12 * size), letter, 12, 1).reshape(SHAPE),
        "swapped": np.zeros(SHAPE, swapped),
        "swapped_field": np.zeros(SHAPE, [("a", "u1"), ("it", swapped)])["it"],
        "swapped_turned": np.zeros(SHAPE[::-1], swapped).T[:, ::-1],
    }
    for array in made.values():
        array[...] = values
    return made
"""
ASKED = ["{0}", "{0}[1, 2]", "{0}[::2, 1]", "{0}.T[-1]", "{0}[1, 1:] * 2", "{0}.dtype, {0}.sum()"]


def forms(letter: str) -> dict[str, Any]:
    space: dict[str, Any] = {"np": np}
    exec(MAKING, space)
    made: dict[str, Any] = space["forms"](letter)
    return made


def lines_between(lines: list[str], begin: str, end: str) -> list[str]:
    return lines[lines.index(begin) + 1 : lines.index(end)]


@pytest.mark.parametrize("letter", LETTERS)
def test_every_dtype_in_every_form_is_shown_as_numpy_shows_it(letter: str, tmp_path: Path) -> None:
    made = forms(letter)
    script = tmp_path / "every.py"
    names = ", ".join(made)
    body = "\n".join(f"    {name}[i, 0] = {name}[i, 0]" for name in made)
    script.write_text(
        "import numpy as np\nimport pykokkos as pk\n\n\n"
        f"@pk.workunit\ndef every(i: int, {names}):\n{body}\n{MAKING}\n\n"
        f"pk.parallel_for(pk.RangePolicy(pk.OpenMP, 0, 3), every, **forms({letter!r}))\n"
    )
    asked = [text.format(name) for name in made for text in ASKED]
    marked = [part for number, text in enumerate(asked) for part in (f"print 'asked {number}'", f"print {text}")]
    run = debug(
        EMBEDDED, script, "break 7 if i == 2", "continue", *marked, "print 'end'", "locals", "quit",
        variables={"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert run.err == ""
    for number, text in enumerate(asked):
        end = f"'asked {number + 1}'" if number + 1 < len(asked) else "'end'"
        shown = "\n".join(lines_between(run.lines, f"'asked {number}'", end))
        assert shown == formatting.full(eval(text, {}, made)), text
    types = {parts[0]: parts[1] for parts in (line.split() for line in run.lines) if len(parts) > 1}
    for name, array in made.items():
        assert types[name] == formatting.array_type(array.dtype, ()).replace("[]", "[3,"), name


def test_variables_are_named_with_their_types(embedded: OnRuntime) -> None:
    run = embedded("elements.py", "break 19 if i == 3", "continue", "locals")
    shown = {line.split()[0]: " ".join(line.split()[1:]) for line in run.lines if re.match(r"\w+ +\S", line)}
    assert {
        "h": "float16[8] host", "w": f"{np.dtype('g').name}[8] host", "b": ">f8[8] host",
        "u": "int64[8] host, strides 9", "d": ">f8[8, 3] host, columns", "p": "record[8] host, fields x y v",
        "r": "record host, fields x y v",
        "vs": ">f4[8, 3] host, strides 24 4", "row": ">f8[3] host, strides 64", "half": "float16 0.5",
        "wide": "longdouble 1.0",
    }.items() <= shown.items()  # fmt: skip


def test_elements_are_set_in_their_own_form(embedded: OnRuntime) -> None:
    run = embedded(
        "elements.py", "break 12 if i == 3", "continue", "b[3] = 1.5", "h[3] = 0.1", "w[3] = np.longdouble(1) / 3",
        "u[3] += 1", "d[3] = [7, 8, 9]", "p[3]['y'] = 77", "p['v'][3, 1] = 9", "r['x'] = -1", "p[2] = (1.5, 2, 3)",
        "print b[3], u[3], d[3], p[3], p[2]", "print h[3]", "print w[3]", "print r['y'], r['v'][1], r",
        "print (lambda: [float(b[3]), int(u[3]), int(r['y']), bool(w[3] * 3 == 1), b.dtype.str])()",
    )  # fmt: skip
    point = "(-1.0, 77, [0.25, 9.0, 2.25])"
    assert f"(1.5, 31, array([7., 8., 9.], dtype='>f8'), {point}, (1.5, 2, [3.0, 3.0, 3.0]))" in run.lines
    assert "0.1" in run.lines
    assert str(np.longdouble(1) / 3) in run.lines
    assert f"(77, 9.0, {point})" in run.lines
    assert "[1.5, 31, 77, True, '>f8']" in run.lines
    assert run.err == ""


def test_locals_of_these_types_are_set(embedded: OnRuntime) -> None:
    run = embedded(
        "elements.py", "break 15 if i == 3", "continue", "half = 0.1", "wide = np.longdouble(2) / 3", "print half",
        "print wide", "wide = [wide * 2][0]", "print wide", "locals", "next", "print h[3]",
    )  # fmt: skip
    third = np.longdouble(2) / 3
    assert {"0.0999755859375", str(third), str(third * 2), "0.2"} <= set(run.lines)
    shown = [" ".join(line.split()) for line in run.lines]
    assert {"half float16 0.1", f"wide longdouble {third * 2!s}"} <= set(shown)


@pytest.mark.parametrize("when", ["before the launch", "while stopped"])
@pytest.mark.parametrize(
    "condition",
    [
        "b[i] == 5 and h[i] > 1",
        "u[i] == 50",
        "w[i] > 1.5 and w[i] < 1.7",
        "p[i]['y'] == 5",
        "d[i, 1] == 13",
        "half == 1.25",
    ],
)
def test_conditions(embedded: OnRuntime, condition: str, when: str) -> None:
    wanted = [f"break 15 if {condition}", "continue", "print i"]
    late = ["break 9", "continue", wanted[0], "delete 1", *wanted[1:]]
    run = embedded("elements.py", *(wanted if when == "before the launch" else late))
    assert run.lines[-1] == "5"
    assert "elements.py:15" in run.stops[-1]


@pytest.mark.parametrize(
    ("watched", "told"),
    [
        ("h[3]", "0.75 -> 1.5 elements.py:15"),
        ("w[3]", "1 -> 2 elements.py:17"),
        ("b[3]", "3.0 -> 6.0 elements.py:18"),
        ("u[3]", "30 -> 60 elements.py:19"),
        ("r['x']", "0.375 -> 4.25 elements.py:20"),
        ("p[3]['y']", "3 -> 4 elements.py:21"),
        ("half", "0.75 -> 0.5 elements.py:16"),
    ],
)
def test_watchpoints(embedded: OnRuntime, watched: str, told: str) -> None:
    run = embedded("elements.py", "break 15 if i == 3", "continue", f"watch {watched}", "delete 1", "continue")
    assert run.stops[-1].startswith(f"stopped: watchpoint 2: {watched} {told}"), run.out


@pytest.mark.parametrize(
    ("watched", "why"),
    [
        ("p[3]", "`p[3]` has records; a watchpoint needs one number. Name a field: `p[3]['x']`."),
        ("p[3]['z']", "no field of name z"),
        ("d[3]", "`d[3]` is not one element; a watchpoint needs 2 indices."),
    ],
)
def test_what_cannot_be_watched_says_why(embedded: OnRuntime, watched: str, why: str) -> None:
    run = embedded("elements.py", "break 15 if i == 3", "continue", f"watch {watched}")
    assert why in run.lines[-1]


def test_displays_lenses_and_threads(embedded: OnRuntime) -> None:
    run = embedded(
        "elements.py", "break 15 if i == 3", "continue", "display p['y']", "lens b", "lens p['v']", "lens h", "lens w",
        "parallel_print b[i] + p[i]['y']", "parallel_print half", "lens p",
    )  # fmt: skip
    text = run.out
    assert "1: p['y'] = array([" in text
    assert "b  float64 8  host\nmin 0.0 max" in text
    assert "p['v']  float32 8×3  host, strides 24 4\nmin 0.25 max 2.25 · mean 1.25" in text
    assert "h  float16 8  host\nmin 0.0" in text
    assert f"w  {np.dtype('g').name} 8  host\nmin 0.0" in text
    assert re.search(r"^ +0 6\.0$", text, re.MULTILINE), text
    assert re.search(r"^ +0 0\.75$", text, re.MULTILINE), text
    assert "`p` has records, not numbers. Name a field: `p['x']`." in run.out + run.err


def test_json_has_all_digits_of_longdouble(fixtures_copy: Path) -> None:
    run = debug(
        EMBEDDED, fixtures_copy / "elements.py", "break 15 if i == 1", "continue", "print wide", "display w", "quit",
        options=("--json",),
    )  # fmt: skip
    third = str(np.longdouble(1) / 3)
    assert run.status == 0
    assert f'"{third}"' in run.out


def test_an_index_beyond_stops(embedded: OnRuntime) -> None:
    run = embedded("elements_beyond.py", "break 8 if i == 3", "continue", "continue", "print h, p['x']")
    stop = "stopped: bounds: b index 4 in dimension 0, extent 4 elements_beyond.py:8 in past"
    assert run.stops[-1].startswith(stop), run.out


def test_what_a_function_returns_has_its_digits(embedded: OnRuntime) -> None:
    run = embedded(
        "returned_elements.py", "tbreak 7", "continue", "finish", "tbreak 12", "continue", "finish", threads=1
    )
    assert run.stops[2].endswith(f"i = 0 returning {np.longdouble(1) / 3!s}")
    assert run.stops[4].endswith(f"i = 0 returning {float(np.float16(0.1))}")


def test_fields_have_any_names_and_places(tmp_path: Path) -> None:
    script = tmp_path / "odd_fields.py"
    script.write_text(
        "import numpy as np\nimport pykokkos as pk\n\n\n@pk.workunit\ndef work(i: int, p):\n"
        "    p[i]['größe'] += 1\n    p[i]['half of it'] += 1\n\n\n"
        "names, places = ['größe', 'half of it', 'it'], [3, 3, 16]\n"
        "odd = np.dtype({'names': names, 'formats': ['<u4', '<u2', 'O'], 'offsets': places})\n"
        "p = np.zeros(3, odd)\np['it'] = 'kept'\n"
        "pk.parallel_for(pk.RangePolicy(pk.OpenMP, 0, 3), work, p=p)\nprint(p['größe'], p['it'])\n"
    )
    run = debug(
        EMBEDDED, script, "break 8 if p[i]['größe'] == 1", "continue", "print p['größe'], p[i]['half of it']",
        "p[i]['größe'] = 65537", "print p['half of it']", "locals", "delete 1", "continue",
        variables={"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert "(array([1, 0, 0], dtype=uint32), 1)" in run.lines
    assert "array([1, 0, 0], dtype=uint16)" in run.lines
    assert any(
        line.split() == ["p", "record[3]", "host,", "fields", "größe", "half", "of", "it", "it"] for line in run.lines
    )
    assert "[65538     2     2] ['kept' 'kept' 'kept']" in run.lines
    assert run.err == ""


def test_arrays_of_python_are_shown_alike(embedded: OnRuntime) -> None:
    run = embedded("elements.py", "tbreak 35", "continue", "lens p", "lens w * np.longdouble('1e4000')", "locals")
    assert "p has records, not numbers: name a field, such as p['x']." in run.out + run.err
    assert "max 2.33333e+4000" in run.out
    shown = {line.split()[0]: " ".join(line.split()[1:]) for line in run.lines if re.match(r"\w+ +\S", line)}
    assert shown["b"] == ">f8[8] host"
    assert shown["p"] == "record[8] host, fields x y v"


def test_fields_are_attributes_of_record_arrays(embedded: OnRuntime) -> None:
    run = embedded(
        "record_attributes.py", "break 8 if p[i].x == 3", "continue", "print p[i].x, p.y, p[1].at.z, p.at.z",
        "p[i].x = 77", "p[0].at.z += 5", "print p[i]", "lens p.y", "parallel_print p[i].y",
        "print (lambda: [float(p[i].x), int(p.y[3])])()", "watch p[3].y", "break 9 if p[i].y == 5", "continue",
        "continue", "print i", "delete", "continue", threads=1,
    )  # fmt: skip
    z = "array([1., 2., 0., 0., 0., 0.], dtype=float32)"
    assert f"(3.0, array([1, 2, 2, 3, 4, 5], dtype='>i4'), 2.0, {z})" in run.lines
    assert "(77.0, 2, (0.0,))" in run.lines
    assert "p.y  int32 6  host, strides 16" in run.lines
    assert "    0 2" in run.lines
    assert "[77.0, 3]" in run.lines
    assert run.stops[2].startswith("stopped: watchpoint 2: p[3].y 3 -> 4 record_attributes.py:8")
    assert run.stops[3].startswith("stopped: breakpoint 3 record_attributes.py:9")
    assert run.lines[-1] == "exited: status 0"
    assert "[ 1.  2. 77.  4.  5.  6.] [1 2 3 4 5 6] [ 6.  2. 77.  4.  5.  6.]" in run.lines
    assert "not " not in run.err
