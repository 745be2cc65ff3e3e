"""The names that code typed at a stop sees and binds: those of the program, as if it stood there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from debuggee_client import Client

Program = Callable[..., Client]

FRAME = """
    import math
    SCALE = 3
    KEPT = [1, 2]

    def scaled(v):
        return v * SCALE

    def work(a, b=2):
        c = a + b
        late: int
        def inner():
            return c
        def raise_it():
            nonlocal c
            c += 1
        d = inner()
        late = 5
        return c, d, late, scaled(2), b

    class Point:
        size = 2
        text = "x" * size

    print(work(1, 5))
    print([scaled(k) for k in range(2)])
"""
MARK = {"work": 16, "class": 22, "comprehension": 25}


@pytest.fixture
def stopped(program: Program, tmp_path: Path) -> Client:
    client = program(FRAME)
    client.start({"file": str(tmp_path / "program.py"), "line": MARK["work"]})
    client.go("continue")
    return client


def finished(client: Client) -> list[str]:
    client.set_breakpoints()
    assert client.run_out() == 0
    return client.printed.splitlines()


def test_a_rebound_global_is_the_programs(stopped: Client) -> None:
    stopped.text("SCALE = 10")
    assert stopped.text("SCALE, scaled(1)") == "(10, 10)"
    assert stopped.text("(SCALE := SCALE + 1)") == "11"
    stopped.text("SCALE += sum(x for x in KEPT)")
    assert stopped.text("scaled(1), 'SCALE' in locals()") == "(14, False)"
    stopped.text("KEPT[0] = 7; del KEPT[1]")
    assert finished(stopped) == ["(6, 6, 5, 28, 5)", "[0, 14]"]


def test_a_global_statement_a_deletion_and_an_import(stopped: Client) -> None:
    stopped.text("global FRESH\nFRESH = [scaled(i) for i in range(2)]")
    assert stopped.text("FRESH, globals()['FRESH'] is FRESH") == "([0, 3], True)"
    stopped.text("del KEPT")
    assert stopped.evaluate("KEPT")["error"] == "NameError: name 'KEPT' is not defined"
    stopped.text("import json as j, os.path\nfrom math import *")
    assert stopped.text("j.dumps(os.path.basename('a/b')), floor(2.5)") == "('\"b\"', 2)"


def test_locals_are_rebound_also_by_functions_and_comprehensions_within(stopped: Client) -> None:
    assert stopped.text("[c := c + i for i in range(3)]") == "[6, 7, 9]"
    stopped.text("def more():\n    nonlocal_is = c\n    return nonlocal_is + b\nx = more()")
    assert stopped.text("x, c") == "(14, 9)"
    assert stopped.text("raise_it()\nc, inner()") == "(10, 10)"
    stopped.text("bump = lambda: raise_it() or c")
    assert stopped.text("bump() + bump(), c") == "(23, 12)"
    assert stopped.text("c = c - 2\nbump(), inner(), c") == "(11, 11, 11)"
    stopped.text("c = 10")
    stopped.text("for b in (b + 1,):\n    pass\nwith open('/dev/null') as stream: d = [c for _ in 'ab']")
    assert stopped.text("b, d, stream.closed") == "(6, [10, 10], True)"
    assert finished(stopped)[0] == "(10, 10, 5, 6, 6)"


def test_what_is_defined_at_the_prompt_stays_usable_and_sees_the_programs_names(stopped: Client) -> None:
    stopped.text("f = lambda v: v + c + SCALE")
    stopped.text("class Pair:\n    both = SCALE\n    def total(self): return self.both + c")
    stopped.text("SCALE = 100")
    assert stopped.text("f(1), Pair().total(), Pair.__qualname__") == "(107, 9, 'Pair')"
    assert stopped.text("list(map(f, range(2)))") == "[106, 107]"
    assert stopped.text("(lambda: [a + k for k in range(2) if any(k < b for _ in 'x')])()") == "[1, 2]"
    stopped.text("import inspect\ndef typed(v):\n    return v + c")
    assert eval(stopped.text("inspect.getsource(typed)")) == "def typed(v):\n    return v + c\n"


def test_statements_of_many_lines_errors_midway_and_what_is_refused(stopped: Client) -> None:
    text = "try:\n    c = 50\n    1 / 0\nexcept ZeroDivisionError as e:\n    match [c, 2]:\n"
    text += "        case [one, *rest]:\n            d = one\n"
    stopped.text(text)
    assert stopped.text("c, d, rest") == "(50, 50, [2])"
    assert stopped.evaluate("c = 51\n[x / 0 for x in [c]]")["error"] == "ZeroDivisionError: division by zero"
    assert stopped.text("c") == "51"
    for refused in ("return 1", "yield 1", "break", "nonlocal c", "c = = 1"):
        assert stopped.evaluate(refused)["error"].startswith("SyntaxError"), refused
    assert stopped.evaluate("print(late)")["error"].startswith("NameError")
    stopped.text("late = 8\nfor _ in (lambda: late,): pass")
    assert stopped.text("late") == "8"
    assert sorted(eval(stopped.text("[n for n in dir() if len(n) == 1 and n != '_']"))) == ["a", "b", "c", "d", "e"][:4]


def test_deleting_a_local(stopped: Client) -> None:
    body = stopped.evaluate("del b")
    if sys.version_info < (3, 12):
        assert not body["error"]
        assert stopped.evaluate("b")["error"].startswith("NameError")
    else:
        assert body["error"] == "`b` can't be deleted: from 3.12 on, Python keeps the variables of a running function."
        assert stopped.text("b") == "5"
    stopped.text("fresh = 1")
    body = stopped.evaluate("del fresh")
    if sys.version_info[:3] == (3, 13, 0):  # that one keeps the names of its debuggers, too
        assert body["error"].startswith("`fresh` can't be deleted")
    else:
        assert not body["error"]
        assert stopped.evaluate("fresh")["error"].startswith("NameError")


def test_a_class_body_and_the_outer_frames(program: Program, tmp_path: Path) -> None:
    client = program(FRAME)
    client.start({"file": str(tmp_path / "program.py"), "line": MARK["class"]})
    client.go("continue")
    assert client.text("size, [size * i for i in range(2)]") == "(2, [0, 2])"
    client.text("size = 4")
    client.text("SCALE = 5", frame=1)
    assert client.text("Point.text if 'Point' in globals() else SCALE") == "5"
    client.set_breakpoints({"file": str(tmp_path / "program.py"), "line": MARK["work"]})
    client.go("continue")
    assert client.text("Point.text, Point.size") == "('xxxx', 4)"
    client.text("c = 0\nm = [a for _ in [0]]", frame=0)
    client.text("fresh = 1\nlater = [fresh for _ in 'ab']", frame=1)
    assert client.text("fresh, later, c") == "(1, [1, 1], 0)"


def test_names_in_and_around_a_comprehension(program: Program, tmp_path: Path) -> None:
    client = program(
        """
        def seen(v):
            return v

        def work(n):
            total = 10
            found = [seen(k) + n for k in range(2)]
            pairs = {k: sum(seen(j) for j in range(k)) for k in range(3)}
            return found, pairs, total

        print(work(3))
        """
    )
    client.start({"file": str(tmp_path / "program.py"), "line": 2})
    client.go("continue")
    client.go("continue")
    assert client.text("k, n, total, [k + total for _ in [0]]", frame=1) == "(1, 3, 10, [11])"
    client.text("total = [total + k for _ in 'a'][0]", frame=1)
    client.go("continue")
    assert client.text("j, k, total, (lambda: j + total)()", frame=1) == "(0, 1, 11, 11)"
    client.set_breakpoints()
    assert client.run_out() == 0
    assert client.printed == "([3, 4], {0: 0, 1: 0, 2: 1}, 11)\n"


def test_awaiting_with_functions_of_its_own(stopped: Client) -> None:
    text = "import asyncio\nasync def later(v):\n    await asyncio.sleep(0)\n    return v + c\nc = await later(1)"
    stopped.text(text)
    assert stopped.text("await later(1)") == "8"
    assert stopped.text("[await later(i) for i in range(2)]") == "[7, 8]"
    assert finished(stopped)[0] == "(7, 7, 5, 6, 5)"


def test_conditions_and_log_points_with_functions_of_their_own(program: Program, tmp_path: Path) -> None:
    client = program(FRAME)
    condition = "any(x > c for x in (0, c + 1))"
    client.start(
        {"file": str(tmp_path / "program.py"), "line": MARK["work"], "condition": condition},
        {"file": str(tmp_path / "program.py"), "line": MARK["work"] + 1, "log": "{max(x + c for x in KEPT)}"},
    )
    assert client.go("continue")["text"] == ""
    client.set_breakpoints(
        {"file": "", "line": 0, "function": "nothing"},
        {"file": str(tmp_path / "program.py"), "line": MARK["work"] + 1, "log": "{max(x + c for x in KEPT)}"},
    )
    assert client.run_out() == 0
    assert [e["text"] for e in client.events("logPoint")] == ["program.py:17 8"]
