"""Expressions and statements at a stop: answers, effects, errors, limits."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from debuggee_client import Client, Refused

Program = Callable[..., Client]

FRAME = """
    import math
    SCALE = 3
    def work(a, b=2, *rest, key=None):
        c = a + b
        def inner():
            return c
        d = inner()
        return c + d

    print(work(1, 5, 7, key="k"))
"""


@pytest.fixture
def stopped(program: Program, tmp_path: Path) -> Client:
    client = program(FRAME)
    client.start({"file": str(tmp_path / "program.py"), "line": 8})
    client.go("continue")
    return client


def test_values_types_and_prints(stopped: Client) -> None:
    body = stopped.evaluate("a + b")
    assert (body["text"], body["type"], body["value"]) == ("6", "int", 6)
    assert stopped.text("[a * i for i in range(b)]") == "[0, 1, 2, 3, 4]"
    assert stopped.text("(lambda v: v + c)(1)") == "7"
    body = stopped.evaluate("print('out'); print('more')")
    assert (body["text"], stopped.console_text()) == ("", "out\nmore\n")
    assert stopped.text("None") == ""


def test_statements_change_the_frame_and_the_program(stopped: Client) -> None:
    assert stopped.text("c = 100") == ""
    stopped.text("SCALE2 = SCALE\nfor i in range(3):\n    c += i\n")
    assert stopped.text("c") == "103"
    assert stopped.text("x = 1\nx + 1") == "2"
    stopped.set_breakpoints()
    assert stopped.run_out() == 0
    assert stopped.printed == "109\n"


def test_a_text_may_stand_first_whatever_is_in_it(stopped: Client) -> None:
    assert stopped.text("'\\ud800'") == "'\\ud800'"
    assert stopped.text("'\\ud800'; 'b'\na + b") == "6"
    assert stopped.text("'\\ud800'\nx = '\\ud801'\nx") == "'\\ud801'"


def test_errors_are_answers(stopped: Client) -> None:
    assert stopped.evaluate("1 / 0")["error"] == "ZeroDivisionError: division by zero"
    body = stopped.evaluate("missing")
    assert body["error"] == "NameError: name 'missing' is not defined"
    assert "debuggee" not in body["traceback"]
    assert stopped.evaluate("a +")["error"].startswith("SyntaxError")
    assert stopped.evaluate("exit(3)")["error"].startswith("SystemExit: 3.")
    assert stopped.evaluate("import sys; sys.exit('x')")["error"].startswith("SystemExit: x.")
    assert stopped.text("a") == "1"


def test_a_runaway_expression_ends_at_its_time_limit(stopped: Client) -> None:
    assert stopped.evaluate("while True: pass", timeout=0.3)["error"] == "stopped after 0.3 s"
    assert stopped.evaluate("__import__('time').sleep(60)", timeout=0.3)["error"] == "stopped after 0.3 s"
    assert stopped.text("a") == "1"


def test_an_expression_can_be_interrupted(stopped: Client) -> None:
    stopped.post("evaluate", expression="import time; print('x'); time.sleep(60)", timeout=60)
    number = stopped._number
    stopped.request("interruptEvaluation")
    reply = stopped._next(lambda m: m.get("reply") == number)
    assert reply["body"]["error"] == "interrupted"


def test_variables_have_scopes_and_previews(stopped: Client) -> None:
    found = {v["name"]: (v["type"], v["text"], v["scope"]) for v in stopped.request("variables", frame=0)["variables"]}
    assert found["a"] == ("int", "1", "argument")
    assert found["rest"] == ("tuple", "(7,)", "argument")
    assert found["key"] == ("str", "'k'", "argument")
    assert found["d"] == ("int", "6", "local")
    assert found["inner"][1] == "<function work.<locals>.inner>"
    names = [v["name"] for v in stopped.request("variables", frame=1)["variables"]]
    assert names == ["math", "SCALE", "work"]


def test_completion(stopped: Client) -> None:
    assert stopped.request("complete", text="math.sq", frame=0)["matches"] == ["math.sqrt"]
    assert "SCALE" in stopped.request("complete", text="1 + SC", frame=0)["matches"]
    assert stopped.request("complete", text="key.upp", frame=0)["matches"] == ["key.upper"]


def test_slices_of_arrays_and_lists(program: Program, tmp_path: Path) -> None:
    client = program(
        """
        import numpy as np
        a = np.arange(12, dtype=np.float32).reshape(3, 4)
        f = np.asfortranarray(a)
        big = np.zeros((1000, 1000))
        numbers = [[1, 2], [3, 4.5]]
        ragged = [[1], [2, 3]]
        flag = True
        """
    )
    client.start({"file": str(tmp_path / "program.py"), "line": 7})
    stop = client.go("continue")
    variables = {v["name"]: (v["type"], v["text"], v["kind"]) for v in stop["variables"]}
    assert variables["a"] == ("float32[3, 4]", "host, rows", "array")
    assert variables["f"] == ("float32[3, 4]", "host, columns", "array")
    body = client.request("readSlice", expression="a[1, ::2]", limit=10)
    assert (body["dtype"], body["shape"], body["total"]) == ("<f4", [2], 2)
    assert struct.unpack("<2f", base64.b64decode(body["data"])) == (4.0, 6.0)
    assert client.request("readSlice", expression="a[:, ::2]", limit=10)["layout"] == "host, strides 16, 8"
    body = client.request("readSlice", expression="big", limit=2500)
    assert (body["shape"], body["total"], body["truncated"]) == ([1000, 1000], 1_000_000, True)
    body = client.request("readSlice", expression="f", limit=100)
    assert struct.unpack("<12f", base64.b64decode(body["data"])) == tuple(range(12))
    body = client.request("readSlice", expression="numbers", limit=100)
    assert (body["dtype"], body["shape"], body["layout"]) == ("<f8", [2, 2], "list")
    with pytest.raises(Refused, match="ragged is not a rectangular list of numbers"):
        client.request("readSlice", expression="ragged", limit=100)
    with pytest.raises(Refused, match="NameError"):
        client.request("readSlice", expression="nothing", limit=100)
    for expression in ("[1.5, 10**400]", "10**400", "[1j, -10**400]"):
        with pytest.raises(Refused, match=r"holds integers that are too large for an array\.$"):
            client.request("readSlice", expression=expression, limit=100)
    assert client.text("big") == "float64[1000, 1000] host, rows"


def test_previews_are_bounded_and_safe(program: Program, tmp_path: Path) -> None:
    client = program(
        """
        import time

        class Raises:
            def __repr__(self):
                raise RuntimeError("no")

        class Slow:
            def __repr__(self):
                while True:
                    time.sleep(0.01)

        raises, slow = Raises(), Slow()
        huge = list(range(10**6))
        deep = {"a": [huge, {"b": "x" * 100000}]}
        self_list = []
        self_list.append(self_list)
        nan, number = float("nan"), 10**400
        done = 1
        """
    )
    client.start({"file": str(tmp_path / "program.py"), "line": 18})
    stop = client.go("continue")
    texts = {v["name"]: v["text"] for v in stop["variables"]}
    assert texts["raises"] == "<Raises: its __repr__ raised RuntimeError>"
    assert texts["slow"] == "<Slow: its __repr__ took too long>"
    assert texts["huge"].startswith("[0, 1, 2, 3,")
    assert texts["huge"].endswith("… 999980 more]")
    assert len(texts["deep"]) <= 400
    assert texts["nan"] == "nan"
    assert texts["self_list"] == "[[[<list of 1>]]]"


def test_an_evaluation_hits_no_breakpoints(stopped: Client, tmp_path: Path) -> None:
    assert stopped.text("work(1)") == "6"


def test_requests_that_need_a_stop_are_refused_while_running(program: Program) -> None:
    client = program("print('up', flush=True)\ninput()\n")
    client.start()
    client.resume("continue")
    client.until_printed("up")
    with pytest.raises(Refused, match=r"The program is running\. Pause it first\."):
        client.evaluate("1")
    assert client.request("complete", text="a", frame=0)["matches"] == []
