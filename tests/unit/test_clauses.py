"""What is typed behind `parallel_launch`, taken apart."""

from __future__ import annotations

import pytest

from pkdb_tui.engine.debuggee.clauses import Argument, expressions, parse, split
from pkdb_tui.engine.debuggee.wire import RequestError


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("damp 120 v", ["damp", "120", "v"]),
        ("k n // 2 a + b f(x, 2)[0]", ["k", "n // 2", "a + b", "f(x, 2)[0]"]),
        ("k n a -b", ["k", "n", "a", "-b"]),
        ("k n a - b", ["k", "n", "a - b"]),
        ("k n v [0]", ["k", "n", "v", "[0]"]),
        ("k n v[0, 1:2]", ["k", "n", "v[0, 1:2]"]),
        ("k n, a if b else c, lambda q: q + 1", ["k", "n", "a if b else c", "lambda q: q + 1"]),
        ("k n not a x is not None", ["k", "n", "not a", "x is not None"]),
        ("k n 'a b' f'{x} y' z", ["k", "n", "'a b'", "f'{x} y'", "z"]),
        ("k n ~mask x**2 1e-3", ["k", "n", "~mask", "x**2", "1e-3"]),
        ("k n {'a': 1} (1, 2)", ["k", "n", "{'a': 1}", "(1, 2)"]),
    ],
)
def test_words_are_expressions(text: str, words: list[str]) -> None:
    assert expressions(text) == words


def test_semicolons_in_texts_and_brackets_are_no_ends() -> None:
    assert split("a 1 ; b 2 'x;y' ;; c 3 ;") == ["a 1", "b 2 'x;y'", "c 3"]


def test_a_clause_has_pattern_kernel_and_arguments() -> None:
    clause = parse("pk.parallel_reduce mod.dot pk.OpenMP n mut:x y=mut_y mut:z = a[:, 1]")
    assert (clause.pattern, clause.kernel) == ("parallel_reduce", "mod.dot")
    assert clause.words == [
        Argument("pk.OpenMP"),
        Argument("n"),
        Argument("x", shared=True),
        Argument("mut_y", "y"),
        Argument("a[:, 1]", "z", shared=True),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing to launch"),
        (" ; ;", "nothing to launch"),
        ("damp", "`damp` has no policy"),
        ("reduce", "`reduce` has no policy"),
        ("3 v", "`3 v` names no kernel"),
        ("f(x) 3", "names no kernel"),
        ("k 3,, v", "a comma with nothing beside it"),
        ("k (3", "can't be understood"),
        ("k 'a", "can't be understood"),
    ],
)
def test_what_is_none_says_why(text: str, said: str) -> None:
    def understand() -> None:
        for part in split(text):
            parse(part)

    with pytest.raises(RequestError, match=said) as caught:
        understand()
    assert caught.value.hint
