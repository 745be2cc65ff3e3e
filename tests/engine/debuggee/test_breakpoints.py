"""Breakpoints land where they say, hit when they should, and count every hit."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from debuggee_client import Client, where

Program = Callable[..., Client]

LOOP = """
    def work(i):
        a = i * 2

        # a comment
        b = a + 1
        return b


    for i in range(10):
        work(i)
    print("done")
"""


def at(tmp_path: Path, line: int, **more: object) -> dict[str, object]:
    return {"file": str(tmp_path / "program.py"), "line": line, **more}


def test_a_line_is_hit_and_counted(program: Program, tmp_path: Path) -> None:
    client = program(LOOP)
    client.start(at(tmp_path, 5))
    assert client.placements[0]["state"] == "bound"
    stop = client.go("continue")
    assert (stop["reason"], stop["breakpoints"], where(stop)) == ("breakpoint", [1], ("work", 5))
    client.go("continue")
    assert client.set_breakpoints(at(tmp_path, 5))[0]["hits"] == 2


def test_a_line_without_code_moves_to_the_next_in_the_same_function(program: Program, tmp_path: Path) -> None:
    client = program(LOOP)
    client.start(at(tmp_path, 3), at(tmp_path, 7), at(tmp_path, 99))
    moved, outside, nowhere = client.placements
    assert (moved["line"], moved["reason"]) == (5, "line 3 has no code: moved to 5")
    assert (outside["line"], outside["reason"]) == (9, "line 7 has no code: moved to 9")
    assert nowhere["state"] == "cannot bind"
    assert nowhere["reason"] == "line 99 has no code, and no line after it in the file has"
    assert where(client.go("continue")) == ("<module>", 9)


def test_conditions_ignore_counts_and_temporaries(program: Program, tmp_path: Path) -> None:
    client = program(LOOP)
    client.start(at(tmp_path, 2, condition="i == 3"), at(tmp_path, 5, ignore=6), at(tmp_path, 6, temporary=True))
    assert where(client.go("continue")) == ("work", 6)
    assert client.text("i") == "0"
    client.go("continue")
    assert client.text("i") == "3"
    assert where(client.go("continue")) == ("work", 5)
    assert client.text("i") == "6"


def test_a_condition_that_raises_stops_and_says_so(program: Program, tmp_path: Path) -> None:
    client = program(LOOP)
    client.start(at(tmp_path, 5, condition="missing > 1"))
    stop = client.go("continue")
    assert (stop["breakpoints"], stop["text"]) == ([1], "condition failed: NameError: name 'missing' is not defined")
    assert where(stop) == ("work", 5)
    assert not client.events("notice")


def test_a_condition_that_raises_is_named_where_other_breakpoints_of_the_line_stop_too(
    program: Program, tmp_path: Path
) -> None:
    client = program(LOOP)
    client.start(at(tmp_path, 5), at(tmp_path, 5, condition="1 // i"), at(tmp_path, 5, condition="i < 0"))
    stop = client.go("continue")
    assert stop["breakpoints"] == [1, 2]
    assert stop["text"] == "condition of 2 failed: ZeroDivisionError: integer division or modulo by zero"


def test_a_condition_that_is_no_expression_is_refused(program: Program, tmp_path: Path) -> None:
    client = program(LOOP)
    client.start(at(tmp_path, 5, condition="a ="))
    assert client.placements[0]["state"] == "cannot bind"
    assert "the condition is not a Python expression" in client.placements[0]["reason"]


def test_log_points_print_and_go_on(program: Program, tmp_path: Path) -> None:
    client = program(LOOP)
    client.start(at(tmp_path, 5, log="a={a} twice {a * 2:>4} {missing}", condition="i < 2"))
    assert client.run_out() == 0
    assert [body["text"] for body in client.events("logPoint")] == [
        "program.py:5 a=0 twice    0 <NameError: name 'missing' is not defined>",
        "program.py:5 a=2 twice    4 <NameError: name 'missing' is not defined>",
    ]


def test_function_breakpoints_stop_at_the_first_body_line(program: Program, tmp_path: Path) -> None:
    client = program(
        '''
        class Box:
            def size(self):
                """Doc."""

                return 3

        def outer():
            def inner():
                return 1
            return inner()

        print(Box().size(), outer())
        '''
    )
    client.start({"function": "Box.size"}, {"function": "inner"}, {"function": "nothing"})
    assert [(p["state"], p["line"]) for p in client.placements] == [("bound", 5), ("bound", 9), ("pending", 0)]
    assert client.placements[2]["reason"] == "no function nothing in the code loaded so far"
    assert where(client.go("continue")) == ("size", 5)
    assert where(client.go("continue")) == ("inner", 9)


def test_a_function_on_one_line_stops_when_called_not_when_defined(program: Program) -> None:
    client = program("a = 0\ndef one(): return 1\na = 5\nprint(one())\n")
    client.start({"function": "one"})
    stop = client.go("continue")
    assert (where(stop), client.text("a")) == (("one", 2), "5")


def test_a_file_not_yet_imported_is_pending_then_bound(program: Program, tmp_path: Path) -> None:
    (tmp_path / "later.py").write_text("def late(x):\n    return x + 1\n")
    client = program("print('before')\nimport later\nprint(later.late(1))\n")
    client.start({"file": str(tmp_path / "later.py"), "line": 2}, {"function": "late"})
    assert [p["state"] for p in client.placements] == ["pending", "pending"]
    stop = client.go("continue")
    assert (where(stop), stop["breakpoints"]) == (("late", 2), [1, 2])
    states = {p["id"]: p["state"] for body in client.events("breakpoints") for p in body["placements"]}
    assert states == {1: "bound", 2: "bound"}


def test_files_match_by_their_real_path(program: Program, tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "mod.py").write_text("def f():\n    return 1\n")
    os.symlink(real, tmp_path / "linked")
    client = program("import sys\nsys.path.insert(0, 'linked')\nimport mod\nmod.f()\n", cwd=tmp_path)
    client.start({"file": str(real / "mod.py"), "line": 2})
    assert where(client.go("continue")) == ("f", 2)


def test_set_while_stopped_on_the_stack_and_cleared_again(program: Program, tmp_path: Path) -> None:
    client = program(LOOP)
    client.start(at(tmp_path, 2))
    client.go("continue")
    client.set_breakpoints(at(tmp_path, 6))
    assert where(client.go("continue")) == ("work", 6)
    client.set_breakpoints()
    assert client.run_out() == 0


def test_set_while_the_program_runs_takes_effect_at_once(program: Program, tmp_path: Path) -> None:
    client = program(
        """
        def spin():
            n = 0
            while True:
                n += 1

        def other():
            return 1

        print("go", flush=True)
        spin()
        """
    )
    client.start()
    client.resume("continue")
    client.until_printed("go")
    placed = client.set_breakpoints(at(tmp_path, 4))
    assert placed[0]["state"] == "bound"
    assert where(client.event("stopped")) == ("spin", 4)


def test_every_hit_counts_across_functions_and_comprehensions(program: Program, tmp_path: Path) -> None:
    client = program(
        """
        def f(x):
            return x * 2

        a = [f(i) for i in range(4)]
        b = list(map(lambda v: f(v), range(3)))
        print(sum(a), sum(b))
        """
    )
    client.start(at(tmp_path, 2))
    for _ in range(7):
        assert where(client.go("continue")) == ("f", 2)
    assert client.run_out() == 0
    assert client.printed == "12 6\n"


def test_a_multi_line_statement_is_one_hit(program: Program, tmp_path: Path) -> None:
    client = program(
        """
        def add(a, b):
            return a + b

        for i in range(2):
            x = add(
                i,
                2,
            )
        print(x)
        """
    )
    client.start(at(tmp_path, 5))
    assert where(client.go("continue")) == ("<module>", 5)
    assert client.text("i") == "0"
    assert where(client.go("continue")) == ("<module>", 5)
    assert client.text("i") == "1"
    assert client.run_out() == 0
    assert client.printed == "3\n"


def test_describes_a_file_without_running_it(program: Program, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("a = 1\nb = (\n")
    client = program(LOOP)
    client.start()
    body = client.request("describeFile", file=str(tmp_path / "program.py"))
    assert body["python_lines"] == [1, 2, 5, 6, 9, 10, 11]
    assert body["kernels"] == []
    assert "Line 2 is not valid Python" in client.request("describeFile", file=str(tmp_path / "bad.py"))["error"]


def test_no_hit_is_lost_while_tracing_rests(program: Program, tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text("class Box:\n    size = 1\n\n    def grow(self):\n        self.size += 1\n")
    client = program(
        """
        import importlib

        def plain(x):
            return x + 1

        def outer():
            def nested(x):
                return x + 2
            return nested

        def numbers():
            for i in range(3):
                yield i

        def busy():
            for i in range(1000):
                pass

        busy()
        total = [plain(i) for i in range(3)]
        inner = outer()
        busy()
        total += [inner(i) for i in range(3)]
        for n in numbers():
            busy()
        import library
        box = library.Box()
        box.grow()
        importlib.reload(library)
        library.Box().grow()
        pick = [lambda v: v + 3][0]
        pick(1)
        try:
            raise ValueError
        except ValueError:
            plain(9)
        print(total)
        """
    )
    lines = [4, 8, 13, 31]
    library = {"file": str(tmp_path / "library.py"), "line": 5}
    client.start(*(at(tmp_path, line) for line in lines), library)
    seen = []
    while True:
        client.resume("continue")
        message = client._next(lambda m: m.get("event") in ("stopped", "ending"))
        client.seen = client.messages.index(message) + 1
        if message["event"] == "ending":
            break
        seen.append(message["body"]["breakpoints"][0])
    # The lambda's line is hit as it is made and as it is called.
    assert seen == [1, 1, 1, 2, 2, 2, 3, 3, 3, 5, 5, 4, 4, 1]
    assert client.finish() == 0
    assert client.printed == "[1, 2, 3, 2, 3, 4]\n"


def test_functions_with_breakpoints_look_and_raise_as_before(program: Program, tmp_path: Path) -> None:
    client = program(
        """
        import inspect, traceback

        def divide(a, b=0, *rest, **more):
            try:
                for i in range(3):
                    if i == 2:
                        return a / b
            finally:
                more["ran"] = True

        try:
            divide(1)
        except ZeroDivisionError as error:
            print(traceback.extract_tb(error.__traceback__)[-1].lineno, inspect.signature(divide))
        print(inspect.getsource(divide).count("\\n"), divide.__code__.co_varnames, divide.__code__.co_firstlineno)
        """
    )
    client.start(at(tmp_path, 8, ignore=100))
    assert client.run_out() == 0
    assert client.printed == "7 (a, b=0, *rest, **more)\n7 ('a', 'b', 'rest', 'more', 'i') 3\n"


PLACES = """
    import functools


    def decorated(f):
        return f


    @decorated
    def many(
        a: int,
        b: str = "b",
    ) -> int:
        \"\"\"Its text.\"\"\"

        # a comment
        total = max(
            a,
            2,
        )
        if total > 1:
            total += 1
        else:
            total -= 1
        return total


    many(1)
    # the end
"""


@pytest.mark.parametrize(
    ("asked", "landed", "reason"),
    [
        (8, 8, ""),
        (9, 9, ""),
        (10, 16, "line 10 is in the head of a function: moved to 16"),
        (12, 16, "line 12 is in the head of a function: moved to 16"),
        (13, 16, "line 13 has no code: moved to 16"),
        (15, 16, "line 15 has no code: moved to 16"),
        (19, 16, "line 19 continues the statement of line 16: moved to 16"),
        (17, 17, ""),
        (22, 23, "line 22 has no code: moved to 23"),
        (25, 27, "line 25 has no code: moved to 27"),
    ],
)
def test_lines_of_every_kind(program: Program, tmp_path: Path, asked: int, landed: int, reason: str) -> None:
    client = program(PLACES)
    client.start(at(tmp_path, asked))
    (placed,) = client.placements
    assert (placed["state"], placed["line"], placed["reason"]) == ("bound", landed, reason)


def test_a_line_behind_the_last_is_refused(program: Program, tmp_path: Path) -> None:
    client = program(PLACES)
    client.start(at(tmp_path, 28))
    (placed,) = client.placements
    assert (placed["state"], placed["reason"]) == (
        "cannot bind",
        "line 28 has no code, and no line after it in the file has",
    )


KERNEL = """
    import pykokkos as pk

    SCALE = 2


    @pk.workunit
    def fill(
        j: int,
        n: int, out: pk.View1D[pk.double],
    ):
        # the first
        part: float = (
            j +
            n
        )
        if part > 1:
            out[j] = part

        else:
            out[j] = 0


    print("end")
"""


@pytest.mark.parametrize(
    ("asked", "landed", "reason"),
    [
        (6, 12, "line 6 is in the head of kernel fill: moved to 12"),
        (7, 12, "line 7 is in the head of kernel fill: moved to 12"),
        (9, 12, "line 9 is in the head of kernel fill: moved to 12"),
        (11, 12, "line 11 is in the head of kernel fill: moved to 12"),
        (5, 12, "line 5 has no code: moved to 12"),
        (14, 12, "line 14 continues the statement of line 12: moved to 12"),
        (17, 17, ""),
        (18, 20, "line 18 has no code: moved to 20"),
        (19, 20, "line 19 has no code: moved to 20"),
    ],
)
def test_lines_of_a_kernel_of_every_kind(
    program: Program, tmp_path: Path, asked: int, landed: int, reason: str
) -> None:
    client = program(KERNEL, runtime="embedded")
    client.start(at(tmp_path, asked))
    (placed,) = client.placements
    assert (placed["kernel"], placed["line"], placed["reason"]) == ("fill", landed, reason)
    client.resume("continue")
    assert client.finish() == 0
    assert client.printed == "end\n"


@pytest.mark.parametrize("condition", ["jj == 3", "out[jj] > 0", "j == 3 and missing"])
def test_a_kernels_condition_with_an_unknown_name_is_refused_at_once(
    program: Program, tmp_path: Path, condition: str
) -> None:
    client = program(KERNEL, runtime="embedded")
    client.start(at(tmp_path, 17, condition=condition))
    (placed,) = client.placements
    name = "missing" if "missing" in condition else "jj"
    assert placed["state"] == "cannot bind"
    assert placed["reason"] == f"the condition names {name}, and kernel fill has only j, n, out, part"


@pytest.mark.parametrize("condition", ["j == SCALE", "len(out) > 3 and math.sqrt(part) < 1", "any(x > j for x in out)"])
def test_a_kernels_condition_may_name_what_its_file_has(program: Program, tmp_path: Path, condition: str) -> None:
    client = program(KERNEL, runtime="embedded")
    client.start(at(tmp_path, 17, condition=condition))
    assert client.placements[0]["reason"] == ""


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("a={a:>4}|{a!r}|{a=}", "a=   2|2|a=2"),
        ("{a / 3:.3f} {a:{width}} {{a}}", "0.667   2 {a}"),
        ("{'text':>6} {\"quoted\"!r}", "  text 'quoted'"),
        (
            "{missing} {1 / 0:.2f} {a}",
            "<NameError: name 'missing' is not defined> <ZeroDivisionError: division by zero> 2",
        ),
        ("back\\slash {a}", "back\\slash 2"),
    ],
)
def test_log_points_format_as_f_strings_do(program: Program, tmp_path: Path, template: str, text: str) -> None:
    client = program("width = 3\na = 2\nprint(a)\n")
    client.start(at(tmp_path, 3, log=template))
    client.resume("continue")
    assert client.finish() == 0
    assert [body["text"] for body in client.events("logPoint")] == [f"program.py:3 {text}"]


def test_a_log_point_comes_between_what_the_program_wrote_before_and_after(program: Program, tmp_path: Path) -> None:
    text = "import sys\nfor i in range(50):\n    print(i, end=' ')\n    i += 0\n    print('after', i)\n"
    client = program(text)
    client.start(at(tmp_path, 4, log="{i}"))
    written: list[bytes] = []
    client.on_log = lambda: written.append(client.output)
    client.resume("continue")
    assert client.finish() == 0
    assert [w.split()[-1] for w in written] == [str(i).encode() for i in range(50)]
    assert [w.count(b"after") for w in written] == list(range(50))
