"""Expressions at a kernel stop: the same values as Python and numpy give, few bytes read, nothing dangerous done."""

from __future__ import annotations

import asyncio
import math
import warnings
from typing import Any

import numpy as np
import pytest
from native_memory import Memory

from pkdb_tui.engine import expressions
from pkdb_tui.engine.debuggee.log_points import template_literal
from pkdb_tui.engine.errors import ExpressionError
from pkdb_tui.engine.native.base import NativeVariable

rng = np.random.default_rng(7)
ARRAYS: dict[str, np.ndarray[Any, Any]] = {
    "A": rng.random((256, 1024)),
    "x": rng.random(40)[::2],
    "c": np.arange(504, dtype=np.int32) * 3 - 700,
    "F": np.asfortranarray(rng.random((6, 7))),
    "z": rng.random(5) + 1j * rng.random(5),
    "m": np.array([True, False, True, True]),
    "T3": rng.integers(0, 100, (3, 4, 5)),
    "nans": np.array([1.0, np.nan, np.inf, -np.inf, 0.0]),
}
SCALARS: dict[str, tuple[str, str, Any, str]] = {
    "j": ("int", "int", 96, "<i4"),
    "acc": ("double &", "float", 2.5, "<f8"),
    "flag": ("bool", "bool", True, "?"),
    "n": ("const int64_t", "int", -3, "<i8"),
    "w": ("float", "float", float(np.float32(0.1)), "<f4"),
    "u": ("uint32_t", "int", 4_000_000_000, "<u4"),
}


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
def variables(memory: Memory) -> dict[str, NativeVariable]:
    placed = {name: memory.place(name, array) for name, array in ARRAYS.items()}
    return placed | {name: memory.scalar(name, *facts) for name, facts in SCALARS.items()}


def value_of(text: str, variables: dict[str, NativeVariable], memory: Memory, **options: Any) -> Any:
    return asyncio.run(expressions.evaluate(text, variables, memory.reader, **options)).value


SAME = """
A[j, 0:4]; A[j][3]; A[j, -1]; A[-1, -1]; A[j]; x; x[:]; x[::2]; x[::-1]; x[5:1:-2]; A[..., 0][:5]; x[None, :3]
A[:3, 0]; x[np.newaxis, 0]; T3[1]; T3[1, 2]; T3[..., 1]; T3[:, ::2, -1]; T3[[0, 2], :, 1]; T3[[0, 1], [1, 2], [2, 3]]
T3[0, [1, 2]]; T3[:, [0, 1], :]; T3[[0], :, [1]]; T3[T3 > 50]; c[c > 700]; c[[1, 5, -1]]
c[np.array([[0, 1], [2, 3]])]; F.T[2, 1:4]; F[2:4, ::3]; F.T.T; A.shape; A.ndim; A.size; A.dtype; A.strides
A[0].shape; x.itemsize; x.nbytes; len(A); len(A[0]); m.dtype; A.T.shape; x.sum(); x.min(); x.max(); x.mean(); x.std()
m.any(); m.all(); x.argmin(); x.argmax(); T3.sum(axis=0); T3.max(axis=(0, 2)); x.round(2); x.tolist()
c[:4].astype(float); T3.reshape(12, 5)[3]; z.real; z.imag; z[1]; z.conj(); abs(n); min(j, n); max(x); max(3, 4.5)
sum(c); sum(x[:3]); round(acc); round(x[0], 3); int(acc); float(j); bool(j); any(m); all(m); sorted(x)[:3]
list(enumerate(x[:2])); list(zip(x[:2], c[:2])); [i for i in range(5)]; [x[i] for i in range(3)]
[i * k for i in range(3) for k in range(i)]; {i: i ** 2 for i in range(3)}; {i % 2 for i in range(5)}
sum(x[i] for i in range(4)); [v for v in x[:4] if v > 0.5]; [r[0] for r in A[:3]]
[a + b for a, b in zip(x[:3], x[1:4])]; any(v > 0.5 for v in x); all(v > 0.5 for v in x)
next(i for i in range(504) if c[i] > 0); next((i for i in range(3) if i > 5), -1); 1 if j > 3 else 2; 0 < j < 100
0 < j < 50 < 1 / 0; not flag; flag and acc; flag or 1 / 0; n and x[0]; j // 5; n // 2; n % 2; -7 // n; j % 8 == 3
j / 7; 2 ** 10; 2 ** -1; j << 3; ~j; j & 6; j | 1; j ^ 3; j >> 2; u + 1; u * 2; w; -x[:3]; x + 1; x * x; 2 ** c[-3:]
m & ~m; x > 0.5; (x > 0.2) & (x < 0.8); F @ F.T; c @ c; 5 in c; -700 in c; 3 not in (1, 2); j in range(90, 99)
acc is None; None is None; np.sqrt(x[:3]); np.abs(c[:4]); numpy.max(x); np.where(x > 0.5, x, 0.0); np.isnan(nans)
np.isnan(nans).sum(); np.nanmax(nans); math.sqrt(acc); math.pi; np.pi * j; math.floor(acc); math.isnan(nans[1])
np.linalg.norm(x); np.float32(acc); np.arange(3); np.allclose(x, x); np.argsort(x)[:3]; np.cumsum(x)[-1]
np.concatenate([x, x]).shape; np.unique(c % 7); np.diff(x); np.dot(c, c); np.histogram(x, 4)[0]; np.array([1, 2, 3])
np.zeros((2, 3)); np.linspace(0, 1, 5); np.percentile(x, 50); np.median(x); f"{j:>5}"; f"{acc:.2f} {x[0]:.3f}"
f"{j!r}"; f"{j:{5}}"; "a" + "b"; "ab" * 2; (1, 2)[0]; [1, 2, 3][-1]; [[1, 2], [3]][0][1]; 1e400; -0.0; nans
x[0] / 0.0; nans[3] * 0; x.T; A[0:0]; A[3, 5:5]; complex(1, 2); z[0] * 2; divmod(j, 7); pow(2, 5); hex(j); x[n]
x[j - 90]; x[j - 96 : j - 90 : 2]; A[j, c[234]]; x[x.argmax()]; x[int(acc)]; c[c.argmax()]; T3[flag + 0]; A[j].sum()
max(x, default=0); sum([1, 2], 3); round(2.5); str(j); reversed([1, 2]); 10**20 + j; x[len(x) - 1]; [*x[:2], 5]
m.sum()
"""


@pytest.mark.parametrize("text", [t.strip() for line in SAME.strip().splitlines() for t in line.split(";")])
def test_value_equals_pythons(text: str, variables: dict[str, NativeVariable], memory: Memory) -> None:
    names = {**ARRAYS, **{name: facts[2] for name, facts in SCALARS.items()}, "np": np, "numpy": np, "math": math}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = eval(text, names)
    if hasattr(expected, "__next__"):
        expected = list(expected)
    value = value_of(text, variables, memory)
    assert type(value) is type(expected)
    if isinstance(expected, np.ndarray):
        assert value.dtype == expected.dtype
        assert value.shape == expected.shape
    np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize(
    ("text", "bytes_read"),
    [
        ("A[j, 0:4]", 32),
        ("A[j][3]", 8),
        ("A[:, 0]", 2048),
        ("A[::64, ::512]", 64),
        ("A.shape", 0),
        ("len(A[j])", 0),
        ("A.T[3, 0:2]", 16),
        ("A.T.shape", 0),
        ("A[[3, 200], 5]", 16),
        ("[r[0] for r in A[:3]]", 24),
        ("j + acc", 0),
        ("1 if j > 3 else A[0, 0]", 0),
        ("flag or A[0, 0]", 0),
        ("next(i for i in range(504) if c[i] > -695)", 12),
        ("A[j].sum()", 8192),
        ("c[100:200]", 400),
    ],
)
def test_only_the_bytes_needed_are_read(
    text: str, bytes_read: int, variables: dict[str, NativeVariable], memory: Memory
) -> None:
    value_of(text, variables, memory)
    assert memory.read == bytes_read


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("k + 1", "There is no `k` here; this frame has A, x, c, F, z, m, T3, nans, j, acc, flag, n, w, u."),
        ("c[504]", "`c`: index 504 is out of bounds for axis 0 with size 504."),
        ("A[j][1024]", "`A[96]`: index 1024 is out of bounds for axis 0 with size 1024."),
        ("A[j, 1024]", "`A`: index 1024 is out of bounds for axis 1 with size 1024."),
        ("x[0, 0]", "`x`: too many indices for array: array is 1-dimensional, but 2 were indexed."),
        ("1 / 0", "`1 / 0`: ZeroDivisionError: division by zero."),
        ("A[", "`A[` is not an expression: '[' was never closed at column 2."),
        ("x + c", "`x + c`: ValueError: operands could not be broadcast together with shapes (20,) (504,)."),
        ("len", "`len` is a function; call it."),
        ("(y := 3)", "`(y := 3)` can't be used in an expression at a kernel stop."),
        ("lambda: 0", "`lambda: 0` can't be used in an expression at a kernel stop."),
        ("[0 for i in range(10**9)]", "A loop of 1,000,000,000 turns is too long; at most 300,000 steps are made."),
        ("[0 for i in range(1000) for k in range(1000)]", "The expression was interrupted after 300,000 steps."),
        ("sum(range(10**9))", "The expression was interrupted after 300,000 steps."),
        ("sorted(range(10**9))", "The expression was interrupted after 300,000 steps."),
        ("10 ** 10 ** 10", "The result would be an integer of 40,000,000,000 bits, more than 16,384."),
        ("1 << 10 ** 9", "The result would be an integer of 1,000,000,001 bits, more than 16,384."),
        ("[0] * 10 ** 9", "`*` would make 1,000,000,000 elements, more than the limit of 10,000."),
        ("np.zeros(10 ** 9)", "`np.zeros` would make 1,000,000,000 elements, more than the limit of 1,048,576."),
        ("np.arange(10 ** 9)", "`np.arange` would make 1,000,000,000 elements, more than the limit of 1,048,576."),
        ("f'{j:2000}'", "The format `2000` is wider than 1,000 characters."),
        ("next(i for i in [1] if i > 2)", "next(): the generator has no items."),
    ],
)
def test_errors_say_what_happened(
    text: str, sentence: str, variables: dict[str, NativeVariable], memory: Memory
) -> None:
    with pytest.raises(ExpressionError) as caught:
        value_of(text, variables, memory)
    assert caught.value.title == sentence


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')", "().__class__", "j.__class__", "A.__array_interface__", "np.__builtins__", "open('x')",
        "np.load('x')", "np.fromfile('x')", "np.save('x', x)", "np.ctypeslib", "np.lib", "np.random.rand(3)",
        "x.tofile('f')", "x.data", "x.dump('f')", "f'{x.__class__}'", "'{0.__class__}'.format(j)", "x.ctypes",
        "math.__loader__", "eval('1')", "exec('1')", "getattr(x, 'data')", "globals()", "type(j)",
        "np.vectorize(len)", "sorted(x, key=len)", "x.base", "np.zeros(1, 'S1000000')",
        "np.zeros(1, [('a', 'f8', (1000000,))])", "np.frompyfunc(len, 1, 1)", "x.view('i8')", "np.memmap('x')",
        "[i async for i in x]", "await j", "(yield)", "print(j)", "input()", "x.setflags(1)", "x.resize(3)",
        "math.factorial(100000)", "'%1000000000d' % 1",
    ],
)  # fmt: skip
def test_what_could_do_harm_is_refused(text: str, variables: dict[str, NativeVariable], memory: Memory) -> None:
    with pytest.raises(ExpressionError):
        value_of(text, variables, memory)
    assert memory.read <= ARRAYS["x"].nbytes * 2


def test_a_huge_array_says_how_large_it_is_and_a_slice_of_it_works(memory: Memory) -> None:
    small = memory.place("big", np.arange(64.0))
    big = NativeVariable(
        name="big", native_type="", type="float64", dtype="<f8", shape=(10**9,), strides=(8,), address=small.address
    )
    with pytest.raises(ExpressionError) as caught:
        value_of("big.sum()", {"big": big}, memory)
    assert caught.value.title == "`big` has 1,000,000,000 elements, more than the 1,048,576 that are fetched at once."
    assert value_of("big[3:6].sum()", {"big": big}, memory) == 12.0
    assert memory.read == 24


def test_many_fetches_count_together(variables: dict[str, NativeVariable], memory: Memory) -> None:
    with pytest.raises(ExpressionError) as caught:
        value_of("[A[0:200].sum() for i in range(9)]", variables, memory)
    assert caught.value.title == "The expression fetches more than 1,048,576 elements in all."


def test_an_explicit_limit_is_kept(variables: dict[str, NativeVariable], memory: Memory) -> None:
    with pytest.raises(ExpressionError, match="`A` has 262,144 elements, more than the 1,000"):
        value_of("A.sum()", variables, memory, limit=1000)
    assert value_of("A.sum()", variables, memory, limit=300_000) == pytest.approx(ARRAYS["A"].sum())


def test_an_unreadable_variable_says_why(memory: Memory) -> None:
    gone = NativeVariable(name="t", native_type="double", type="float", error="optimised out")
    with pytest.raises(ExpressionError, match="`t` can't be read here: optimised out"):
        value_of("t + 1", {"t": gone}, memory)


def test_constants_are_found_after_the_frames_names(variables: dict[str, NativeVariable], memory: Memory) -> None:
    assert value_of("COLS + j", variables, memory, constants={"COLS": 1024, "j": 0}) == 1120


def test_text_and_type_are_a_persons(variables: dict[str, NativeVariable], memory: Memory) -> None:
    def shown(text: str) -> tuple[str, str]:
        value = asyncio.run(expressions.evaluate(text, variables, memory.reader))
        return value.text, value.type

    assert shown("c[:3]") == ("array([-700, -697, -694], dtype=int32)", "int32[3]")
    assert shown("acc") == ("2.5", "float")
    assert shown("c[0]") == ("-700", "int32")
    assert shown("(c[0], acc)") == ("(-700, 2.5)", "tuple")
    assert shown("[c[0] > 3]") == ("[False]", "list")
    assert shown("A.shape") == ("(256, 1024)", "tuple")


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("A[j, 0:4] + k", {"A", "j", "k"}),
        ("sum(x[i] for i in range(n))", {"x", "n"}),
        ("[i for i in i]", {"i"}),
        ("np.sqrt(acc) + math.pi", {"acc"}),
        ("len(v)", {"v"}),
        ("A[j, 0] = acc", {"A", "j", "acc"}),
        ("j += 1", {"j"}),
        ("max", {"max"}),
        ("{a: b for a, b in pairs if c}", {"pairs", "c"}),
        ("[y for x in xs for y in x if q]", {"xs", "q"}),
    ],
)
def test_names_an_expression_needs(text: str, needed: set[str]) -> None:
    assert expressions.names(text) == needed


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("v[0] = 1", {"v"}),
        ("self.k = 1", {"k"}),
        ("self.x[2] += 1", {"x"}),
        ("a = self.b = 2", {"a", "b"}),
        ("config.size = 3", {"config"}),
        ("f()[0] = 1", {""}),
    ],
)
def test_the_names_that_are_assigned_to_are_those_of_the_frame(text: str, names: set[str]) -> None:
    assert expressions.targets(text) == names


def test_assignments_are_told_from_expressions() -> None:
    assert expressions.is_assignment("A[j, 0] = 2.5")
    assert expressions.is_assignment("j += 1")
    assert not expressions.is_assignment("j == 1")
    assert not expressions.is_assignment("A[")


@pytest.mark.parametrize(
    ("statement", "check", "expected"),
    [
        ("A[j, 0] = 2.5", "A[j, 0]", 2.5),
        ("A[j, 0] += 1", "A[j, 0]", ARRAYS["A"][96, 0] + 1),
        ("A[j][1] = 7", "A[j, 1]", 7.0),
        ("c[-1] = 3.9", "c[-1]", 3),
        ("x[::2] = 0", "x.tolist()", np.where(np.arange(20) % 2 == 0, 0, ARRAYS["x"]).tolist()),
        ("x[x > 0.5] = -1.0", "x.tolist()", np.where(ARRAYS["x"] > 0.5, -1.0, ARRAYS["x"]).tolist()),
        ("T3[:, 1, [0, 2]] = 5", "T3[:, 1].tolist()", [[5, r[1, 1], 5, r[1, 3], r[1, 4]] for r in ARRAYS["T3"]]),
        ("F.T[0] = F[0, 0]", "F[:, 0].tolist()", [ARRAYS["F"][0, 0]] * 6),
        ("m[1] = True", "m.all()", True),
        ("x[...] = c[:20]", "x[3]", float(ARRAYS["c"][3])),
        ("z[0] = 1 + 2j", "z[0]", 1 + 2j),
    ],
)
def test_assigning_elements(
    statement: str, check: str, expected: Any, variables: dict[str, NativeVariable], memory: Memory
) -> None:
    asyncio.run(expressions.assign(statement, variables, memory.reader, memory.writer))
    assert value_of(check, variables, memory) == expected


@pytest.mark.parametrize(
    ("statement", "name", "dtype", "expected"),
    [
        ("j = 3", "j", "<i4", 3),
        ("j += 4", "j", "<i4", 100),
        ("j = acc * 2", "j", "<i4", 5),
        ("acc = x[0]", "acc", "<f8", ARRAYS["x"][0]),
        ("acc -= 1", "acc", "<f8", 1.5),
        ("flag = not flag", "flag", "?", False),
        ("n //= 2", "n", "<i8", -2),
        ("w = 0.5", "w", "<f4", 0.5),
        ("u = 4294967295", "u", "<u4", 4294967295),
    ],
)
def test_assigning_scalars_writes_their_bytes(
    statement: str, name: str, dtype: str, expected: Any, variables: dict[str, NativeVariable], memory: Memory
) -> None:
    asyncio.run(expressions.assign(statement, variables, memory.reader, memory.writer))
    address, size = variables[name].lvalue_address, np.dtype(dtype).itemsize
    assert np.frombuffer(asyncio.run(memory.reader([(address, size)]))[0], dtype)[0] == expected


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("j = 2.5", "`j` is a int here and can't hold 2.5"),
        ("j = 2 ** 40", "OverflowError"),
        ("u = -1", "OverflowError"),
        ("A = 3", "`A` is an array."),
        ("k = 3", "There is no `k` here"),
        ("c[504] = 1", "index 504 is out of bounds for axis 0 with size 504"),
        ("x[:3] = c[:4]", "could not broadcast"),
        ("acc = 'text'", "can't hold a str"),
        ("acc = 1j", "a complex number can't become a float64"),
        ("(1, 2)[0] = 3", "is not an array of the program"),
        ("A.shape = 3", "can't be assigned to"),
        ("import os", "is not an assignment"),
        ("j, n = 1, 2", "can't be assigned to"),
    ],
)
def test_refused_assignments_write_nothing(
    statement: str, part: str, variables: dict[str, NativeVariable], memory: Memory
) -> None:
    before = bytes(memory.data)
    with pytest.raises(ExpressionError) as caught:
        asyncio.run(expressions.assign(statement, variables, memory.reader, memory.writer))
    assert part in caught.value.title
    assert bytes(memory.data) == before


def test_a_long_evaluation_lets_the_loop_go_on(variables: dict[str, NativeVariable], memory: Memory) -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def both() -> None:
        counter = asyncio.create_task(count())
        await expressions.evaluate("sum(i * i for i in range(20000))", variables, memory.reader)
        counter.cancel()

    asyncio.run(both())
    assert turns > 10


def test_truth_of_conditions(variables: dict[str, NativeVariable], memory: Memory) -> None:
    assert asyncio.run(expressions.truth("A[j, 0] >= 0.0 and j % 8 == 0", variables, memory.reader)) is True
    assert asyncio.run(expressions.truth("x[0] > 2", variables, memory.reader)) is False
    with pytest.raises(ExpressionError, match="ambiguous"):
        asyncio.run(expressions.truth("x > 0.5", variables, memory.reader))


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("j={j} n={n}", "j=96 n=-3"),
        ("{acc:.3f} and {c[0:2]}", "2.500 and [-700 -697]"),
        ("no expressions", "no expressions"),
        ("{{braces}} {flag!r}", "{braces} True"),
        ('say "j" {j}', 'say "j" 96'),
        ('"{j}"', '"96"'),
        ("back\\slash {j}", "back\\slash 96"),
        ("{j=}", "j=96"),
        ("{k} {1 / 0} {j}", "<There is no `k` here; this frame has KNOWN.> <ZeroDivisionError: division by zero> 96"),
    ],
)
def test_log_texts(template: str, text: str, variables: dict[str, NativeVariable], memory: Memory) -> None:
    text = text.replace("KNOWN", ", ".join(variables))
    assert asyncio.run(expressions.log_text(template, variables, memory.reader)) == text


def test_names_of_a_log_text() -> None:
    assert expressions.names(template_literal("{A[j, 0]} {k:.2f}")) == {"A", "j", "k"}


@pytest.mark.parametrize(("text", "value"), [("self.j + 1", 97), ("self.c[self.n]", 803), ("max(self.acc, 1)", 2.5)])
def test_members_through_self_are_variables_of_the_kernel(
    text: str, value: float, variables: dict[str, NativeVariable], memory: Memory
) -> None:
    assert value_of(text, variables, memory) == value
    assert "self" not in expressions.names(text)


def test_a_team_member_answers_what_a_kernel_asks_it(memory: Memory) -> None:
    text = "league rank 3 of 6, team rank 1 of 2"
    member = NativeVariable(name="m", native_type="pk::Team", type="TeamMember", value=text)
    asked = "m.league_rank(), m.league_size(), m.team_rank(), m.team_size()"
    assert value_of(asked, {"m": member}, memory) == (3, 6, 1, 2)
    assert asyncio.run(expressions.evaluate("m", {"m": member}, memory.reader)).text == text
    with pytest.raises(ExpressionError, match="team_barrier"):
        value_of("m.team_barrier()", {"m": member}, memory)
