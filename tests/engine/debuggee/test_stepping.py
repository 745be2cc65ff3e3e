"""Step, next, finish, until and jump stop where pdb would."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from debuggee_client import Client, Refused, where

Program = Callable[..., Client]

CALLS = """
    def double(x):
        y = x * 2
        return y

    a = double(1)
    b = double(a)
    print(a, b)
"""


def test_starts_stopped_before_the_first_line(program: Program) -> None:
    client = program(CALLS)
    stop = client.start()
    assert (stop["reason"], where(stop)) == ("start", ("<module>", 1))
    assert client.printed == ""
    assert client.run_out() == 0
    assert client.printed == "2 4\n"


def test_next_goes_over_calls_and_step_into_them(program: Program) -> None:
    client = program(CALLS)
    client.start()
    assert client.line("next") == 5
    assert client.line("next") == 6
    assert where(client.go("step")) == ("double", 2)
    assert where(client.go("step")) == ("double", 3)
    returning = client.go("step")
    assert (where(returning), returning["returnText"]) == (("double", 3), "4")
    assert where(client.go("step")) == ("<module>", 7)


def test_finish_stops_at_the_return_of_the_selected_frame(program: Program) -> None:
    client = program(
        """
        def inner():
            x = 1
            return x

        def outer():
            value = inner()
            return [value, value]

        outer()
        print("end")
        """
    )
    client.start()
    client.line("until", line=9)
    client.go("step")
    stop = client.go("step")
    assert where(stop) == ("inner", 2)
    stop = client.go("return", frame=1)
    assert (where(stop), stop["returnText"]) == (("outer", 7), "[1, 1]")
    assert where(client.go("step")) == ("<module>", 10)


def test_until_leaves_a_loop(program: Program) -> None:
    client = program(
        """
        total = 0
        for i in range(5):
            total += i
        print(total)
        """
    )
    client.start()
    assert [client.line("next") for _ in range(3)] == [2, 3, 2]
    assert client.line("next") == 3
    assert client.line("until") == 4
    assert client.text("total") == "10"


def test_jump_skips_lines(program: Program) -> None:
    client = program(
        """
        a = 1
        a = 2
        a = 3
        print(a)
        """
    )
    client.start()
    client.line("next")
    client.request("jump", line=4)
    assert where(client.event("stopped")) == ("<module>", 4)
    client.resume("next")
    assert client.finish() == 0
    assert client.printed == "1\n"


def test_jump_goes_back_and_steps_on_from_there(program: Program) -> None:
    client = program("a = 0\na += 1\nb = a\nprint(b)\n")
    client.start()
    assert client.line("next") == 2
    assert client.line("next") == 3
    client.request("jump", line=2)
    client.event("stopped")
    assert client.line("next") == 3
    assert client.text("a") == "2"


def test_jump_into_a_loop_is_refused_with_the_reason(program: Program) -> None:
    client = program(
        """
        a = 1
        for i in range(2):
            a += i
        """
    )
    client.start()
    with pytest.raises(Refused, match="Line 3 can't be jumped to"):
        client.request("jump", line=3)
    assert client.line("next") == 2


def test_recursion_next_stays_in_its_own_frame(program: Program) -> None:
    client = program(
        """
        def fact(n):
            if n == 0:
                return 1
            below = fact(n - 1)
            return n * below

        print(fact(3))
        """
    )
    client.start()
    client.line("next")
    client.go("step")
    assert client.line("next") == 4
    stop = client.go("next")
    assert (where(stop), client.text("n, below")) == (("fact", 5), "(3, 2)")


def test_generators_next_goes_over_the_yield(program: Program) -> None:
    client = program(
        """
        def numbers():
            a = 1
            yield a
            b = 2
            yield b

        for n in numbers():
            print(n)
        """
    )
    client.start()
    client.line("next")
    assert where(client.go("step")) == ("numbers", 2)
    assert client.line("next") == 3
    stop = client.go("next")
    assert where(stop) == ("numbers", 4)
    client.until_printed("1\n")
    assert client.printed == "1\n"


def test_with_and_try_finally_lines(program: Program) -> None:
    client = program(
        """
        import contextlib

        @contextlib.contextmanager
        def held():
            print("in")
            yield 1
            print("out")

        def run():
            with held() as h:
                a = h
            try:
                a += 1
            finally:
                a += 10
            return a

        print(run())
        """
    )
    client.start()
    client.line("until", line=18)
    lines = [where(client.go("step"))[1] for _ in range(2)]
    assert lines == [10, 5]
    assert client.line("next") == 6
    assert where(client.go("return")) == ("held", 7)
    assert client.run_out() == 0
    assert client.printed == "in\nout\n12\n"


def test_an_exception_caught_in_the_caller_is_followed(program: Program) -> None:
    client = program(
        """
        def fails():
            raise ValueError("no")

        try:
            fails()
        except ValueError:
            print("caught")
        """
    )
    client.start()
    assert [client.line("next") for _ in range(2)] == [4, 5]
    assert where(client.go("step")) == ("fails", 2)
    stop = client.go("next")
    seen = [where(stop)]
    while seen[-1] != ("<module>", 7):
        seen.append(where(client.go("next")))
    assert ("<module>", 6) in seen


def test_step_stays_out_of_the_standard_library_but_enters_callbacks(program: Program) -> None:
    client = program(
        """
        import textwrap
        import functools

        def key(x):
            return -x

        print(textwrap.dedent("  a"))
        print(functools.reduce(lambda a, b: a + b, [1, 2]))
        print(sorted([1, 2], key=key))
        print("end")
        """
    )
    client.start()
    assert [client.line("step") for _ in range(4)] == [2, 4, 7, 8]
    client.line("until", line=9)
    assert where(client.go("step")) == ("key", 5)


def test_step_enters_the_standard_library_when_asked(program: Program) -> None:
    client = program('import textwrap\nprint(textwrap.dedent("  a"))\n')
    client.start()
    client.request("settings", justMyCode=False)
    client.line("next")
    assert where(client.go("step"))[0] == "dedent"


def test_class_bodies_decorators_and_lambdas(program: Program) -> None:
    client = program(
        """
        def decorate(f):
            return f

        class A:
            x = 1

            @decorate
            def method(self):
                return self.x

        pick = lambda v: v.method()
        print(pick(A()))
        """
    )
    client.start()
    assert client.line("next") == 4
    assert where(client.go("step")) == ("A", 4)
    assert where(client.go("next")) == ("A", 5)
    client.line("until", line=7)
    client.resume("continue")
    assert client.finish() == 0
    assert client.printed == "1\n"


def test_exec_and_nested_functions(program: Program) -> None:
    client = program(
        """
        code = compile("z = 1\\nz += 1\\n", "made.py", "exec")
        def outer():
            def nested():
                return 5
            return nested()
        exec(code)
        print(z, outer())
        """
    )
    client.start()
    client.line("until", line=6)
    stop = client.go("step")
    assert stop["frames"][0]["line"] == 1
    assert stop["frames"][0]["file"].endswith("made.py")
    assert client.run_out() == 0
    assert client.printed == "2 5\n"


def test_next_at_the_last_line_ends_the_program(program: Program, tmp_path: Path) -> None:
    client = program("a = 1\nprint(a)\n")
    client.start()
    client.line("next")
    client.resume("next")
    assert client.finish() == 0
    assert client.events("ending") == [{"status": 0}]


RAISING = """
    import contextlib

    class Count:
        def __init__(self):
            self.n = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.n += 1
            if self.n > 1:
                raise StopIteration
            return self.n

    def inner():
        yield 1

    def outer():
        yield from inner()

    def bad(table):
        return table["missing"]

    def work():
        for i in Count():
            i += 1
        for j in outer():
            j += 1
        (only,) = inner()
        with contextlib.suppress(KeyError):
            bad({})
        try:
            bad({})
        except KeyError:
            only += 1
        bad({})

    work()
"""


def test_next_stops_at_exceptions_of_its_line_and_at_no_iterators_end(program: Program) -> None:
    client = program(RAISING)
    client.start()
    client.line("until", line=39)
    client.go("step")
    seen = []
    for _ in range(20):
        stop = client.go("next")
        text = stop["exception"]["type"] if stop["reason"] == "exception" else ""
        seen.append((where(stop)[1], text))
        if stop.get("postMortem"):
            break
    assert seen == [
        (27, ""), (26, ""), (28, ""), (29, ""), (28, ""), (30, ""),
        (31, ""), (32, ""), (32, "KeyError"), (31, ""), (33, ""),
        (34, ""), (34, "KeyError"), (35, ""), (36, ""),
        (37, ""), (37, "KeyError"), (39, "KeyError"), (23, "KeyError"),
    ]  # fmt: skip


def test_step_shows_an_exception_in_each_frame_it_passes(program: Program) -> None:
    client = program(
        """
        def bad():
            raise ValueError("no")

        def middle():
            bad()

        try:
            middle()
        except ValueError:
            print("handled")
        """
    )
    client.start()
    client.line("until", line=8)
    client.go("step")
    stop = client.go("step")
    assert (where(stop), stop["reason"]) == (("bad", 2), "step")
    stops = [client.go("step") for _ in range(4)]
    assert [(where(s), s["reason"]) for s in stops] == [
        (("bad", 2), "exception"),
        (("middle", 5), "exception"),
        (("<module>", 8), "exception"),
        (("<module>", 9), "step"),
    ]
    assert [s["exception"]["message"] for s in stops[:3]] == ["no"] * 3
    assert stops[0]["exception"]["traceback"].splitlines()[-1] == "ValueError: no"


def test_an_exception_that_nobody_steps_over_stops_nowhere(program: Program) -> None:
    client = program("try:\n    int('x')\nexcept ValueError:\n    print('handled')\nprint('end')\n")
    client.start()
    assert client.line("until", line=5) == 5
    client.until_printed("handled\n")
    assert client.printed == "handled\n"
