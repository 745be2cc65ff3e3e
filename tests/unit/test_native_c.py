"""Conditions as C text: real gdb must find them true exactly when Python does."""

from __future__ import annotations

import ast
import json
import math
import shutil
import subprocess
from typing import Any

import msgspec
import numpy as np
import pytest

from pkdb_tui.engine.errors import ExpressionError
from pkdb_tui.engine.native.base import NativeVariable, variable_of
from pkdb_tui.engine.native_c import lvalue_c, to_c, watched_dtype

PROGRAM = """
#include <cstdint>
namespace pk {
template <class T, int R> struct View { T* data; int64_t extent[R]; int64_t stride[R]; const char* label; };
}
double A_data[60]; int32_t c_data[10]; bool m_data[6];
volatile int sink;
__attribute__((noinline)) void body(int j, int64_t k, double &acc, float w, bool flag, uint32_t u,
    pk::View<double, 2> A, pk::View<int32_t, 1> c, pk::View<bool, 1> m) {
  sink = j;  // here
}
int main() {
  double acc = 0.75;
  body(7, -5, acc, 0.1f, true, 4000000000u,
       {A_data, {6, 10}, {10, 1}, "A"}, {c_data, {5}, {2}, "c"}, {m_data, {6}, {1}, "m"});
}
"""

PROBE = """
import gdb, json
def answer(text):
    try:
        return bool(gdb.parse_and_eval(text))
    except gdb.error as error:
        return str(error)
gdb.execute("break %(line)d")
gdb.execute("run")
answers = []
for setting, texts in json.load(open(%(cases)r)):
    for assignment in setting:
        gdb.execute("set variable " + assignment)
    answers.append([answer(text) for text in texts])
json.dump(answers, open(%(answers)r, "w"))
gdb.execute("kill")
"""

CONDITIONS = """
A[j, 0] > 0.5 and j % 8 == 3; j; k; acc; flag; not flag; not j; j == 3; j != k; j < k; -2 < k <= j; j < 5 < k
j // 3 == 1; k // 3 == -2; j // k == -1; j % 3 == 1; k % 3 == 1; j % k == -3; k % -4 == -1; -j // 2 == -4
j / 2 == 3.5; k / 3 < 0; j + k > 0; j * k == -20; j - k > 10; j ** 2 > 9; acc ** 3 < 0.5; 2 ** 3 == j; j & 1
j | 2 == 3; (j | 2) == 3; j ^ k < 0; ~j == -5; j << 2 > 20; k >> 1 == -3; flag + 1 == 2; flag == True; flag * j > 2
True; False; flag & (j > 3); flag | (j > 3); flag ^ (j > 3); not (j > 3); j in (1, 2, 3); j not in (1, 2, 3)
j in range(3, 9); j in range(0, 9, 3); j in range(4); acc in [0.5, 0.75]; k in {-5, 5}; j in (); abs(k) > 3
abs(acc) < 1; min(j, k) == k; max(j, k, 3) > 4; min(acc, j) < 1; int(acc) == 0; int(-acc * 3) == -1; float(j) == 4.0
bool(k); w < 0.2; w > 0.1; u > 2147483647; u + j > 4294967295; u - 5 > 0; acc == 0.75; acc > math.inf; acc < np.inf
acc != math.nan; math.isnan(acc); math.isinf(acc); np.isfinite(acc); math.floor(-acc) == -1; math.ceil(acc) == 1
math.trunc(-acc * 9) == -6; math.fabs(k) > 4; A[0, 0] > 0; A[1][2] < 0; A[-1, -1] > 0; A[j % 6, k % 10] > 0
A[k, 3] > 0.5; A[j - 8, 0] > 0; c[1] > 0; c[-1] < 0; c[c[0] % 5] > 0; c[2] // 2 == -1; m[0]; m[j % 6]; not m[k]
m[0] == m[1]; m[0] and m[1] or j > 4; len(A) == 6; len(c) > 5; A.shape[1] == 10; A.shape[-1] == 10; A.size == 60
A.ndim == 2; j if flag else k; (j if k > 0 else acc) > 0; j > 0 and acc; j > 100 and 1 // 0; j * 1000000000 > 0
k * 2147483648 < 0; A[j % 6, 0] > 0.5 > A[0, 1]; 1 < 2; 1e-3 < acc; acc * -1 < -0.5; (j > 3) + (k > 3) == 1
(j > 3) == (k > 3); j > 2.5; A[0, 0] != A[0, 0]; -A[0, 0] < 0; +j == 7; A[c[4] % 6, 1] > 0; j == 4 or acc > 0.5
not not j
"""

TEXTS = [text.strip() for line in CONDITIONS.strip().splitlines() for text in line.split(";")]


def frame(j: int, k: int, acc: float, flag: bool, u: int) -> dict[str, NativeVariable]:
    def scalar(name: str, native: str, type_: str, value: Any) -> NativeVariable:
        return NativeVariable(name=name, native_type=native, type=type_, value=value)

    def array(name: str, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...]) -> NativeVariable:
        return NativeVariable(
            name=name, native_type="pk::View", type=dtype, dtype=dtype, shape=shape, strides=strides, address=4096
        )

    variables = [
        scalar("j", "int", "int", j),
        scalar("k", "int64_t", "int", k),
        scalar("acc", "double &", "float", acc),
        scalar("w", "float", "float", float(np.float32(0.1))),
        scalar("flag", "bool", "bool", flag),
        scalar("u", "uint32_t", "int", u),
        array("A", "<f8", (6, 10), (80, 8)),
        array("c", "<i4", (5,), (8,)),
        array("m", "?", (6,), (1,)),
    ]
    return {variable.name: variable for variable in variables}


def python_answer(text: str, names: dict[str, Any]) -> bool | str | None:
    """None where Python has no answer but C has: int() of nan or infinity."""
    try:
        with np.errstate(all="ignore"):
            return bool(eval(text, {"np": np, "math": math, **names}))
    except (IndexError, ZeroDivisionError):
        return "Division by zero"
    except (ValueError, OverflowError):
        return None


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, dict[str, Any], bool | str, bool | str]]:
    """(condition, values, what gdb says, what Python says) over random values, from one run of gdb."""
    gdb, compiler = shutil.which("gdb"), shutil.which("g++")
    assert gdb, "gdb is needed for these tests"
    assert compiler, "g++ is needed for these tests"
    folder = tmp_path_factory.mktemp("native")
    source = folder / "program.cpp"
    source.write_text(PROGRAM)
    subprocess.run([compiler, "-g", "-O0", "-std=c++17", str(source), "-o", str(folder / "program")], check=True)
    cases, expected = random_cases(np.random.default_rng(3))
    (folder / "cases.json").write_text(json.dumps(cases))
    line = 1 + PROGRAM.splitlines().index("  sink = j;  // here")
    files = {"line": line, "cases": str(folder / "cases.json"), "answers": str(folder / "answers.json")}
    (folder / "probe.py").write_text(PROBE % files)
    command = [gdb, "-q", "-nx", "-batch", "-x", str(folder / "probe.py"), str(folder / "program")]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    found = json.loads((folder / "answers.json").read_text())
    return [
        (text, values, said, python)
        for (values, pythons), row in zip(expected, found, strict=True)
        for text, said, python in zip(TEXTS, row, pythons, strict=True)
    ]


def random_cases(rng: np.random.Generator) -> tuple[list[Any], list[Any]]:
    cases: list[Any] = []
    expected: list[Any] = []
    for turn in range(40):
        j, k = (7, -5) if turn == 0 else (int(rng.integers(-12, 13)), int(rng.integers(-9, 10)) or 1)
        acc = float(rng.choice([0.75, -0.25, 0.0, math.nan, math.inf, -math.inf, 1.5])) if turn else 0.75
        flag, u = bool(rng.integers(2)), int(rng.integers(5, 1 << 32))
        a, c, m = rng.normal(size=(6, 10)), rng.integers(-9, 9, 10).astype(np.int32), rng.random(6) < 0.5
        special = {math.inf: "1.0/0.0", -math.inf: "-1.0/0.0"}
        acc_text = "0.0/0.0" if math.isnan(acc) else special.get(acc, repr(acc))
        setting = [f"j={j}", f"k={k}", f"acc={acc_text}", f"flag={int(flag)}", f"u={u}u"]
        setting += [f"A_data[{i}]={value!r}" for i, value in enumerate(a.ravel().tolist())]
        setting += [f"c_data[{i}]={value}" for i, value in enumerate(c.tolist())]
        setting += [f"m_data[{i}]={int(value)}" for i, value in enumerate(m.tolist())]
        variables = frame(j, k, acc, flag, u)
        cases.append((setting, [to_c(text, variables) for text in TEXTS]))
        names = {"j": j, "k": k, "acc": acc, "w": float(np.float32(0.1)), "flag": flag, "u": u}
        pythons = [python_answer(text, {**names, "A": a, "c": c[::2], "m": m}) for text in TEXTS]
        expected.append((names, pythons))
    return cases, expected


def test_gdb_agrees_with_python(answers: list[tuple[str, dict[str, Any], bool | str, bool | str]]) -> None:
    assert [answer for answer in answers if answer[2] != answer[3] is not None] == []
    assert {answer[2] for answer in answers} == {True, False, "Division by zero"}


@pytest.fixture
def variables() -> dict[str, NativeVariable]:
    return frame(7, -5, 0.75, True, 5)


@pytest.mark.parametrize(
    ("text", "c_text"),
    [
        ("A[2, 0] > 0.5", "((double)A.data[(2)*A.stride[0] + (0)*A.stride[1]] > 0.5)"),
        ("A[-1][0] == 1", "((double)A.data[(A.extent[0] - 1)*A.stride[0] + (0)*A.stride[1]] == 1L)"),
        ("j == 3 and flag", "(((long)j == 3L) && flag)"),
        ("len(c) > 3", "(c.extent[0] > 3L)"),
        ("j in (1, 2)", "(((long)j == 1L) || ((long)j == 2L))"),
        ("COLS == 3", "(8L == 3L)"),
    ],
)
def test_the_text(text: str, c_text: str, variables: dict[str, NativeVariable]) -> None:
    assert to_c(text, variables, constants={"COLS": 8}) == c_text


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("missing > 3", "There is no `missing` here; this frame has j, k, acc, w, flag, u, A, c, m."),
        ("A[j] > 3", "`A[j]` is not one element of `A`; a condition needs 2 integer indices."),
        ("A[0:2, 0] > 3", "`A[0:2, 0]` is not one element of `A`"),
        ("A > 3", "`A` is an array of 2 dimensions"),
        ("c[9] > 3", "`c`: index 9 is out of bounds for axis 0 with size 5."),
        ("c[0.5] > 3", "`0.5` can't be written as a native condition where an integer is needed"),
        (
            "math.sqrt(acc) > 2",
            "`math.sqrt(acc)` can't be written as a native condition, because it would have to call",
        ),
        ("A.sum() > 2", "`A.sum()` can't be written"),
        ("acc // 2 == 1", "`acc // 2` can't be written as a native condition, because it has no C operator for floats"),
        ("j ** k > 1", "only constant powers from 1 to 16 can"),
        ("(j or k) > 1", "`j or k` can't be written as a native condition inside a larger expression"),
        ("'a' == 'b'", "`'a'` can't be written"),
        ("j == 10 ** 30", "10 ** 30"),
        ("j == 99999999999999999999", "doesn't fit in 64 bits"),
        ("[i for i in range(3)]", "can't be written"),
        ("j = 3", "is not an expression"),
        ("j %% 2", "is not an expression"),
    ],
)
def test_what_cant_be_expressed_is_named(text: str, part: str, variables: dict[str, NativeVariable]) -> None:
    with pytest.raises(ExpressionError) as caught:
        to_c(text, variables)
    assert part in caught.value.title


def test_unsigned_64_bit_values_are_refused_rather_than_wrong() -> None:
    big = {"h": NativeVariable(name="h", native_type="uint64_t", type="int", value=2**63)}
    with pytest.raises(ExpressionError, match="`h` is a 64-bit unsigned integer"):
        to_c("h > 3", big)


def test_a_condition_that_grows_without_end_is_refused(variables: dict[str, NativeVariable]) -> None:
    with pytest.raises(ExpressionError, match="too long"):
        to_c("j" + " // j" * 40, variables)


@pytest.mark.parametrize(
    ("text", "c_text"),
    [
        ("acc", "acc"),
        ("c[3]", "*(int *) 0x1018"),
        ("c[-1]", "*(int *) 0x1020"),
        ("A[1, 2]", "*(double *) 0x1060"),
        ("A[1][2]", "*(double *) 0x1060"),
        ("A[j - 5, 2]", "*(double *) 0x10b0"),
        ("m[2]", "*(bool *) 0x1002"),
    ],
)
def test_places_to_watch(text: str, c_text: str, variables: dict[str, NativeVariable]) -> None:
    assert lvalue_c(text, variables) == c_text


@pytest.mark.parametrize("text", ["c[flag]", "c[True]", "A[1, flag]"])
def test_a_truth_value_is_no_index_of_a_place_to_watch(text: str, variables: dict[str, NativeVariable]) -> None:
    with pytest.raises(ExpressionError):
        lvalue_c(text, variables)


def test_a_wide_number_that_is_nowhere_in_memory_is_an_error_of_its_own() -> None:
    row = {"name": "z", "native_type": "std::complex<pk::longdouble>", "type": "clongdouble"}
    read = variable_of({**row, "value": "1+2j"})
    assert (read.value, read.error) == (np.clongdouble(1 + 2j), "")
    unread = variable_of({**row, "value": "{_M_value = 1 + 2 * I}"})
    assert (unread.value, unread.error) == (None, "can't be read: {_M_value = 1 + 2 * I}")


def _placed(dtype: str) -> dict[str, NativeVariable]:
    strides = (2 * np.dtype(ast.literal_eval(dtype) if dtype.startswith("{") else dtype).itemsize,)
    kind = "pk::Loose<…, 1>"
    made = {"name": "x", "native_type": kind, "type": "view", "dtype": dtype, "shape": (4,), "strides": strides}
    return {"x": msgspec.convert({**made, "address": 0x1000}, NativeVariable)}


@pytest.mark.parametrize(
    ("dtype", "text", "c_text", "watched"),
    [
        (">f8", "x[1]", "*(unsigned long *) 0x1010", ">f8"),
        (">i4", "x[3]", "*(unsigned int *) 0x1018", ">i4"),
        ("<f2", "x[1]", "*(unsigned short *) 0x1004", "<f2"),
        ("<f8", "x[1]", "*(double *) 0x1010", ""),
        (np.dtype("g").str, "x[0]", "*(long double *) 0x1000", ""),
        ("{'names': ['a', 'b'], 'formats': ['|u1', '>i2']}", "x[1]['b']", "*(unsigned short *) 0x1007", ">i2"),
        ("{'names': ['a', 'b'], 'formats': ['|u1', '>i2']}", "x['a'][1]", "*(unsigned char *) 0x1006", ""),
    ],
)
def test_places_to_watch_of_other_forms(dtype: str, text: str, c_text: str, watched: str) -> None:
    variables = _placed(dtype)
    assert lvalue_c(text, variables) == c_text
    assert watched_dtype(text, variables) == watched


@pytest.mark.parametrize("dtype", [">c16", "<c8", np.dtype("g").newbyteorder().str])
def test_elements_that_gdb_has_no_type_for(dtype: str) -> None:
    with pytest.raises(ExpressionError, match=r"Elements of type .* can't be watched"):
        lvalue_c("x[1]", _placed(dtype))


@pytest.mark.parametrize("dtype", [">f8", "<f2", np.dtype("g").str, ">i4"])
def test_conditions_on_them_are_evaluated_from_outside(dtype: str) -> None:
    with pytest.raises(ExpressionError, match=r"`x\[1\]` is a .*, which has no exact native arithmetic here"):
        to_c("x[1] > 2", _placed(dtype))


def test_unaligned_elements_are_read_by_their_bytes() -> None:
    assert to_c("x[1] > 2", _placed("<i4")) == "((long)(*(int *)(x.data + (1)*x.stride[0])) > 2L)"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("A", "`A` is an array; a watchpoint needs one element of it."),
        ("A[1]", "`A[1]` is not one element; a watchpoint needs 2 indices."),
        ("A[1, 0:2]", "`0:2` can't be an index here."),
        ("c[9]", "index 9 is out of bounds for axis 0 with size 5"),
        ("j + 1", "`j + 1` can't be watched."),
        ("nothing", "There is no `nothing` here"),
        ("nothing[3]", "There is no `nothing` here"),
        ("j[3]", "`j[3]` can't be watched."),
        ("c[acc]", "`acc` can't be an index here."),
    ],
)
def test_what_cant_be_watched(text: str, part: str, variables: dict[str, NativeVariable]) -> None:
    with pytest.raises(ExpressionError) as caught:
        lvalue_c(text, variables)
    assert part in caught.value.title
