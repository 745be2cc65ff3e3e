"""How programs start and end: as without a debugger, and post-mortem where an exception ends them."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from debuggee_client import Client, where

Program = Callable[..., Client]

ENDS = """
    import os, signal, sys
    how = sys.argv[1]
    if how == "exit3":
        sys.exit(3)
    if how == "message":
        sys.exit("a message")
    if how == "hard":
        os._exit(7)
    if how == "abort":
        os.abort()
    if how == "segv":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "closefds":
        os.closerange(3, 256)
        print("still here")
"""


@pytest.mark.parametrize(
    ("how", "status", "printed"),
    [
        ("exit3", 3, ""),
        ("message", 1, "a message\n"),
        ("hard", 7, ""),
        ("abort", -signal.SIGABRT, ""),
        ("segv", -signal.SIGSEGV, ""),
        ("closefds", 0, "still here\n"),
    ],
)
def test_each_way_to_end(program: Program, how: str, status: int, printed: str) -> None:
    client = program(ENDS, how)
    client.start()
    assert client.run_out() == status
    assert client.printed == printed


def test_the_connection_survives_a_program_that_closes_its_descriptors(program: Program) -> None:
    client = program("import os\nos.closerange(3, 256)\nprint('here')\n")
    client.start()
    client.line("next")
    assert client.line("next") == 3
    assert client.text("1 + 1") == "2"


def test_post_mortem_at_an_uncaught_exception(program: Program) -> None:
    client = program(
        """
        def look(d):
            key = "missing"
            return d[key]

        print("before", flush=True)
        look({})
        """
    )
    client.start()
    stop = client.go("continue")
    assert (stop["reason"], stop["postMortem"], where(stop)) == ("exception", True, ("look", 3))
    assert stop["exception"]["type"] == "KeyError"
    assert stop["exception"]["message"] == "'missing'"
    assert [(f["function"], f["line"]) for f in stop["frames"]] == [("look", 3), ("<module>", 6)]
    assert client.text("key") == "'missing'"
    assert client.text("look", frame=1).startswith("<function look")
    assert client.run_out() == 1
    assert client.printed.startswith("before\nTraceback (most recent call last):\n  File ")
    assert client.printed.endswith("KeyError: 'missing'\n")
    assert "pkdb" not in client.printed
    assert client.printed.count("File ") == 2


UNSPEAKABLE = """
    class Unspeakable(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    def fail():
        raise Unspeakable

    def work():
        return 1

    work()
    fail()
"""


def test_post_mortem_at_an_exception_whose_text_raises(program: Program) -> None:
    client = program(UNSPEAKABLE)
    client.start()
    stop = client.go("continue")
    assert (stop["reason"], stop["postMortem"], where(stop)) == ("exception", True, ("fail", 6))
    assert (stop["exception"]["type"], stop["exception"]["message"]) == ("Unspeakable", "<exception str() failed>")
    assert client.run_out() == 1
    assert client.printed.endswith("Unspeakable: <exception str() failed>\n")
    assert "pkdb" not in client.printed


def test_a_step_a_condition_and_a_log_point_with_an_exception_whose_text_raises(
    program: Program, tmp_path: Path
) -> None:
    client = program(UNSPEAKABLE)
    file = str(tmp_path / "program.py")
    client.start({"file": file, "line": 9, "condition": "fail()"}, {"file": file, "line": 11, "log": "got {fail()}"})
    stop = client.go("continue")
    assert stop["text"] == "condition failed: Unspeakable: <exception str() failed>"
    client.line("return")
    client.line("next")
    stop = client.go("next")
    assert (stop["reason"], stop["exception"]["message"]) == ("exception", "<exception str() failed>")
    assert [body["text"] for body in client.events("logPoint")] == [
        "program.py:11 got <Unspeakable: <exception str() failed>>"
    ]


def test_a_traceback_the_program_prints_has_no_debugger_frames(program: Program, tmp_path: Path) -> None:
    client = program(
        """
        import traceback

        def f():
            raise ValueError("x")

        try:
            f()
        except ValueError:
            traceback.print_exc()
        traceback.print_stack()
        """
    )
    client.start({"file": str(tmp_path / "program.py"), "line": 4})
    client.go("continue")
    assert client.run_out() == 0
    lines = [line.strip().split(",")[0] for line in client.printed.splitlines() if "File" in line]
    assert lines[:2] == [f'File "{tmp_path / "program.py"}"'] * 2


def test_module_with_relative_import_spec_and_arguments(launch: Callable[..., Client], tmp_path: Path) -> None:
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "tool.py").write_text("SCALE = 3\n")
    (package / "__main__.py").write_text(
        "import sys\nfrom . import tool\n"
        "print(__spec__.name, sys.argv[1:], tool.SCALE * int(sys.argv[1]))\nsys.exit(4)\n"
    )
    client = launch("", "5", module="pack", cwd=tmp_path)
    stop = client.start({"file": str(package / "__main__.py"), "line": 3})
    assert where(stop) == ("<module>", 1)
    assert client.ready["file"] == str(package / "__main__.py")
    assert where(client.go("continue")) == ("<module>", 3)
    assert client.run_out() == 4
    assert client.printed == "pack.__main__ ['5'] 15\n"


def test_a_missing_module_says_so_as_python_does(launch: Callable[..., Client], tmp_path: Path) -> None:
    client = launch("", module="no_such_module", cwd=tmp_path)
    assert client.finish() == 1
    assert client.printed.endswith(": No module named no_such_module\n")


def test_a_syntax_error_is_shown_as_python_does(program: Program, tmp_path: Path) -> None:
    client = program("a = 1\nb = (\n")
    assert client.finish() == 1
    assert f'File "{tmp_path / "program.py"}", line 2' in client.printed
    assert "SyntaxError: '(' was never closed" in client.printed


def test_script_from_standard_input(launch: Callable[..., Client]) -> None:
    client = launch("-", "x")
    client.type("import sys\nprint(__name__, sys.argv)\n\x04")
    stop = client.start()
    assert where(stop) == ("<module>", 1)
    assert client.run_out() == 0
    assert client.printed.endswith("__main__ ['-', 'x']\n")


def test_the_program_sees_itself_as_without_a_debugger(program: Program, tmp_path: Path) -> None:
    client = program(
        """
        import inspect, os, pickle, sys, threading

        class Thing:
            pass

        print(__name__, sys.modules["__main__"].Thing is Thing, sys.argv, __spec__, __package__)
        print(os.path.realpath(sys.path[0]) == os.path.dirname(os.path.realpath(__file__)))
        print("PKDB_DEBUGGEE" in os.environ, any("debuggee" in p for p in sys.path), "numpy" in sys.modules)
        print(type(pickle.loads(pickle.dumps(Thing()))).__name__, inspect.getsource(Thing).count("pass"))
        print(threading.active_count(), [t.name for t in threading.enumerate()], sys.stdin.isatty())
        try:
            import pkdb_tui_nothing
        except ImportError as error:
            print(error)
        """
    )
    client.start()
    assert client.run_out() == 0
    script = str(tmp_path / "program.py")
    assert client.printed.splitlines() == [
        f"__main__ True ['{script}'] None None",
        "True",
        "False False False",
        "Thing 1",
        "1 ['MainThread'] True",
        "No module named 'pkdb_tui_nothing'",
    ]


def test_exit_handlers_and_threads_at_exit_are_debugged(program: Program, tmp_path: Path) -> None:
    client = program(
        """
        import atexit, threading, time

        @atexit.register
        def bye():
            print("bye")

        def late():
            time.sleep(0.2)
            print("late")

        threading.Thread(target=late).start()
        """
    )
    file = str(tmp_path / "program.py")
    client.start({"file": file, "line": 5}, {"file": file, "line": 9})
    assert where(client.go("continue")) == ("late", 9)
    assert where(client.go("continue")) == ("bye", 5)
    assert client.run_out() == 0
    assert client.printed == "late\nbye\n"


def test_input_comes_from_the_terminal(program: Program) -> None:
    client = program('name = input("name? ")\nprint("hello", name)\n')
    client.start()
    client.resume("continue")
    client.until_printed("name? ")
    client.type("Ada\n")
    assert client.finish() == 0
    assert client.printed.endswith("hello Ada\n")


def test_the_program_dies_with_the_engine(program: Program) -> None:
    client = program(
        """
        while True:
            try:
                input("quit me: ")
            except BaseException as error:
                print("swallowed", type(error).__name__)
        """
    )
    client.start()
    client.resume("continue")
    client.until_printed("quit me")
    client.socket.close()
    assert client.process.wait(10) == -signal.SIGKILL


def test_terminate_ends_the_whole_group(program: Program) -> None:
    client = program("import subprocess\nprint('child', subprocess.Popen(['sleep', '100']).pid, flush=True)\ninput()\n")
    client.start()
    client.resume("continue")
    client.until_printed("\n")
    child = int(client.printed.split()[1])
    watch = os.pidfd_open(child)
    client.post("terminate")
    assert client.process.wait(10) == -signal.SIGKILL
    assert select.select([watch], [], [], 10)[0] == [watch]
    os.close(watch)


def test_forks_and_multiprocessing_run_undisturbed(program: Program, tmp_path: Path) -> None:
    client = program(
        """
        import multiprocessing, os, sys

        def square(x):
            return x * x

        if __name__ == "__main__":
            with multiprocessing.get_context("fork").Pool(2) as pool:
                print(pool.map(square, range(4)))
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(square, range(3)))
            pid = os.fork()
            if pid == 0:
                square(5)
                os._exit(9)
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """
    )
    client.start({"file": str(tmp_path / "program.py"), "line": 4})
    assert client.run_out() == 0
    assert client.printed == "[0, 1, 4, 9]\n[0, 1, 4]\n9\n"


def test_an_interrupt_typed_at_the_terminal_ends_as_in_python(program: Program) -> None:
    client = program(
        """
        import os, signal
        try:
            os.kill(os.getpid(), signal.SIGINT)
            print("not reached")
        except KeyboardInterrupt:
            print("caught")
        os.kill(os.getpid(), signal.SIGINT)
        """
    )
    client.start()
    stop = client.go("continue")
    assert (stop["exception"]["type"], where(stop)) == ("KeyboardInterrupt", ("<module>", 7))
    assert client.run_out() == -signal.SIGINT
    assert client.printed.startswith("caught\nTraceback")
