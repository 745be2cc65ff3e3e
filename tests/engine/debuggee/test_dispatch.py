"""The launch protocol, driven by a framework written in the test: its kernels are Python functions."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from debuggee_client import Client, Refused, where

from pkdb_tui.engine.debuggee.limits import SIGNAL

Program = Callable[..., Client]

FRAMEWORK = """
    from pkdb_tui.minikokkos import debug

    class Launch(debug.Launch):
        pattern, space, index_names, frame_depth, functions = "parallel_for", "OpenMP", ("i",), 1, ()
        substituted = None  # no rule is set here
        def __init__(self, name, span, body, arguments, policy):
            lines = tuple(range(span[0] + 1, span[1] + 1))
            self.kernel = debug.KernelSource(name, body.__code__.co_filename, span[0], span[1], lines)
            self.arguments, self.policy, self.body = arguments, policy, body

        def run(self):
            print("release", flush=True)
            return self.body(**self.arguments)

        def optimised(self):
            lines = {self.kernel.file: self.kernel.lines}
            return debug.DebugBuild("/tmp/optimised.so", 0.0, "pk_body", "", "", "", lines)

        def built_debug(self, conditions=(), *, bounds=True):
            return None

        def build_debug(self, conditions=(), *, bounds=True):
            if self.kernel.name == "broken":
                raise ValueError("line 3 doesn't compile")
            placed = {c.id: debug.PlacedCondition(c.file + f"#pkdb{c.line}", c.line, "pk_at", 0) for c in conditions}
            lines = {self.kernel.file: self.kernel.lines}
            return debug.DebugBuild("/tmp/kernel.so", 0.1, "pk_body", "pk_team", "pk_bounds_fault", "m", lines, placed)

        def run_debug(self, build):
            print("debug", flush=True)
            return self.body(**self.arguments)

    def parallel_for(name, span, body, **arguments):
        launch = Launch(name, span, body, arguments, "RangePolicy(OpenMP, 0, 4)")
        return debug.hook(launch) if debug.hook else launch.run()
"""

PROGRAM = """
    import framework
    import numpy as np

    def scale(v, factor):
        # kernel
        v *= factor
        return float(v.sum())

    def fails(v):
        # kernel
        raise IndexError("v index 9 in dimension 0, extent 4")

    def main():
        v = np.ones(4)
        for step in range(2):
            total = framework.parallel_for("scale", (4, 7), scale, v=v, factor=2)
        print("total", total)
        try:
            framework.parallel_for("fails", (9, 11), fails, v=v)
        except IndexError as error:
            print(error)
        framework.parallel_for("scale", (4, 7), scale, v=np.ones(8)[::2], factor=3)

    main()
"""


@pytest.fixture
def dispatching(program: Program, tmp_path: Path) -> Client:
    import textwrap

    (tmp_path / "framework.py").write_text(textwrap.dedent(FRAMEWORK).lstrip("\n"))
    return program(PROGRAM)


def test_without_a_kernel_breakpoint_the_optimised_build_runs_and_is_logged(
    dispatching: Client, tmp_path: Path
) -> None:
    dispatching.start({"file": str(tmp_path / "program.py"), "line": 17})
    stop = dispatching.go("continue")
    assert where(stop) == ("main", 17)
    (row,) = dispatching.request("launches")["launches"]
    assert (row["kernel"], row["line"], row["count"], row["build"]) == ("scale", 16, 2, "release")
    assert row["policy"] == "RangePolicy(OpenMP, 0, 4)"
    assert row["arguments"][0]["type"] == "float64[4]"
    assert row["arguments"][0]["strides"] == [8]
    assert dispatching.events("launches")[-1]["launches"][0]["count"] == 2
    assert dispatching.events("launchReady") == []
    dispatching.until_printed("release\nrelease\n")
    assert dispatching.printed == "release\nrelease\n"


def test_a_kernel_breakpoint_runs_a_debug_build_when_told_to(dispatching: Client, tmp_path: Path) -> None:
    file = str(tmp_path / "program.py")
    dispatching.start({"file": file, "line": 6, "condition": "factor > 1"})
    dispatching.resume("continue")
    assert dispatching.event("progress")["task"] == "compiling scale for debugging"
    ready = dispatching.event("launchReady")
    assert (ready["launch"], ready["kernel"], ready["breakpoints"], ready["stopAtEntry"]) == (1, "scale", [1], False)
    assert ready["conditions"] == [{"id": 1, "file": f"{file}#pkdb6", "line": 6, "state": "pk_at", "number": 0}]
    assert [(f["function"], f["line"]) for f in ready["frames"]] == [("main", 16), ("<module>", 24)]
    assert (ready["entry"], ready["team"], ready["boundsSymbol"]) == ("pk_body", "pk_team", "pk_bounds_fault")
    assert dispatching.text("float(v.sum()) + step") == "4.0"
    assert dispatching.printed == ""
    with pytest.raises(Refused, match="Launch 7 is not waiting"):
        dispatching.request("launchGo", launch=7)
    dispatching.request("launchGo", launch=1)
    ended = dispatching.event("launchEnded")
    assert (ended["launch"], ended["error"]) == (1, "")
    dispatching.request("launchDone", launch=1, then="stop")
    stop = dispatching.event("stopped")
    assert (where(stop), stop["returnText"]) == (("main", 16), "8.0")
    dispatching.until_printed("debug\n")
    assert dispatching.printed == "debug\n"


def test_an_error_in_the_kernel_is_told_and_raised_into_the_program(dispatching: Client, tmp_path: Path) -> None:
    dispatching.start({"file": str(tmp_path / "program.py"), "line": 11})
    dispatching.resume("continue")
    ready = dispatching.event("launchReady")
    dispatching.request("launchGo", launch=ready["launch"])
    ended = dispatching.event("launchEnded")
    assert ended["error"] == "IndexError: v index 9 in dimension 0, extent 4"
    dispatching.request("launchDone", launch=ready["launch"], then="continue")
    assert dispatching.finish() == 0
    assert "v index 9 in dimension 0, extent 4\n" in dispatching.printed


def test_step_at_the_dispatch_line_enters_the_kernel(dispatching: Client, tmp_path: Path) -> None:
    file = str(tmp_path / "program.py")
    dispatching.start({"file": file, "line": 16, "temporary": True})
    dispatching.go("continue")
    dispatching.set_breakpoints()
    while where(dispatching.go("step")) != ("parallel_for", 35):
        pass  # the framework of this test is the person's own code, which a step enters
    dispatching.resume("step")
    ready = dispatching.event("launchReady")
    assert ready["stopAtEntry"] is True
    dispatching.request("launchGo", launch=ready["launch"])
    dispatching.event("launchEnded")
    dispatching.request("launchDone", launch=ready["launch"], then="continue")
    assert dispatching.finish() == 0


def test_next_at_the_dispatch_line_goes_over_the_kernel(dispatching: Client, tmp_path: Path) -> None:
    dispatching.start({"file": str(tmp_path / "program.py"), "line": 16, "temporary": True})
    dispatching.go("continue")
    assert dispatching.line("next") == 15
    dispatching.until_printed("release\n")
    assert dispatching.printed == "release\n"


def test_a_strided_argument_is_noted_once(dispatching: Client) -> None:
    dispatching.start()
    assert dispatching.run_out() == 0
    assert [body["text"] for body in dispatching.events("notice")] == [
        "scale at program.py:22: argument v has a stride of 16 bytes (2 elements); "
        "the embedded runtime follows the stride."
    ]
    (row,) = [r for r in dispatching.events("launches")[-1]["launches"] if r["line"] == 22]
    assert len(row["warnings"]) == 1


def test_a_build_that_fails_stops_at_the_line_and_raises_into_the_program(program: Program, tmp_path: Path) -> None:
    import textwrap

    (tmp_path / "framework.py").write_text(textwrap.dedent(FRAMEWORK).lstrip("\n"))
    client = program(
        """
        import framework

        def broken():
            return 1

        try:
            framework.parallel_for("broken", (3, 4), broken)
        except ValueError as error:
            print("raised:", error)
        """
    )
    client.start({"file": str(tmp_path / "program.py"), "line": 4})
    stop = client.go("continue")
    assert (stop["reason"], where(stop)) == ("error", ("<module>", 7))
    assert stop["text"] == "line 3 doesn't compile"
    assert client.run_out() == 0
    assert client.printed == "raised: line 3 doesn't compile\n"


@pytest.mark.parametrize("then", ["run", "stop", "pause"])
def test_a_pause_in_a_long_release_kernel_is_answered_by_the_reader(
    program: Program, tmp_path: Path, then: str
) -> None:
    import textwrap

    (tmp_path / "framework.py").write_text(textwrap.dedent(FRAMEWORK).lstrip("\n"))
    os.mkfifo(tmp_path / "gate")
    client = program(
        f"""
        import framework

        def waits(path):
            open(path).read()

        framework.parallel_for("waits", (3, 4), waits, path={str(tmp_path / "gate")!r})
        print("after")
        """
    )
    client.start()
    client.resume("continue")
    client.until_printed("release")
    client.post("pause")
    running = client.event("inKernel")
    assert (running["launch"], running["kernel"], running["build"]) == (1, "waits", "release")
    assert running["binary"] == "/tmp/optimised.so"
    assert client.text("waits.__name__") == "'waits'"
    (tmp_path / "gate").write_text("go on")
    assert client.event("launchEnded")["launch"] == 1
    client.request("launchDone", launch=1, then=then)
    if then != "run":
        assert where(client.event("stopped")) == ("<module>", 6)
        client.resume("continue")
    assert client.finish() == 0
    assert client.printed == "release\nafter\n"


def test_a_pause_right_before_a_long_release_kernel_is_answered_in_it(program: Program, tmp_path: Path) -> None:
    """The signal that would stop Python is held back until the kernel is over, as by a launch that just began."""
    import textwrap

    (tmp_path / "framework.py").write_text(textwrap.dedent(FRAMEWORK).lstrip("\n"))
    os.mkfifo(tmp_path / "gate")
    client = program(
        f"""
        import signal
        import framework

        def waits(path):
            open(path).read()

        signal.pthread_sigmask(signal.SIG_BLOCK, [{int(SIGNAL)}])
        print("blocked")
        while {int(SIGNAL)} not in signal.sigpending():
            pass
        framework.parallel_for("waits", (4, 5), waits, path={str(tmp_path / "gate")!r})
        """
    )
    client.start()
    client.resume("continue")
    client.until_printed("blocked")
    client.post("pause")
    assert client.event("inKernel")["kernel"] == "waits"
    (tmp_path / "gate").write_text("go on")
    client.event("launchEnded")
    client.request("launchDone", launch=1, then="run")
    assert client.finish() == 0


def test_a_pause_answered_in_the_kernel_of_a_thread_leaves_the_first_one_running(
    program: Program, tmp_path: Path
) -> None:
    """Python's signal comes to the first thread when the kernel, which waits for that thread, is looked at."""
    import textwrap

    (tmp_path / "framework.py").write_text(textwrap.dedent(FRAMEWORK).lstrip("\n"))
    gate, told = tmp_path / "gate", tmp_path / "told"
    os.mkfifo(gate)
    os.mkfifo(told)
    client = program(
        f"""
        import signal
        import threading
        import framework

        def waits(path):
            open(path).read()

        def launch():
            framework.parallel_for("waits", (5, 6), waits, path={str(gate)!r})

        signal.pthread_sigmask(signal.SIG_BLOCK, [{int(SIGNAL)}])
        print("blocked")
        while {int(SIGNAL)} not in signal.sigpending():
            pass
        thread = threading.Thread(target=launch)
        thread.start()
        open({str(told)!r}).read()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [{int(SIGNAL)}])
        with open({str(gate)!r}, "w") as opened:
            opened.write("go on")
        thread.join()
        """
    )
    client.start()
    client.resume("continue")
    client.until_printed("blocked")
    client.post("pause")
    assert client.event("inKernel")["kernel"] == "waits"
    told.write_text("go on")
    client.event("launchEnded")
    client.request("launchDone", launch=1, then="run")
    assert client.finish() == 0


def test_a_next_is_dropped_when_the_person_continued_in_the_kernel(dispatching: Client, tmp_path: Path) -> None:
    file = str(tmp_path / "program.py")
    dispatching.start({"file": file, "line": 16, "temporary": True}, {"file": file, "line": 6, "condition": "False"})
    dispatching.go("continue")
    for then, stops in (("continue", True), ("run", False)):
        dispatching.resume("next")
        ready = dispatching.event("launchReady")
        dispatching.request("launchGo", launch=ready["launch"])
        dispatching.event("launchEnded")
        dispatching.request("launchDone", launch=ready["launch"], then=then)
        if stops:
            assert where(dispatching.event("stopped")) == ("main", 15)
            assert dispatching.line("next") == 16
        else:
            assert dispatching.event("launchReady")["kernel"] == "scale"


def test_a_pause_at_the_end_of_a_debug_launch_stops_at_its_line(dispatching: Client, tmp_path: Path) -> None:
    dispatching.start({"file": str(tmp_path / "program.py"), "line": 6, "condition": "False"})
    dispatching.resume("continue")
    ready = dispatching.event("launchReady")
    dispatching.post("pause")
    dispatching.request("launchGo", launch=ready["launch"])
    dispatching.event("launchEnded")
    dispatching.request("launchDone", launch=ready["launch"], then="pause")
    stop = dispatching.event("stopped")
    assert (stop["reason"], where(stop)) == ("pause", ("main", 16))


def test_a_pause_that_a_stop_in_the_kernel_has_answered_is_over(dispatching: Client, tmp_path: Path) -> None:
    dispatching.start({"file": str(tmp_path / "program.py"), "line": 6, "condition": "False"})
    dispatching.resume("continue")
    for _ in range(3):
        ready = dispatching.event("launchReady")
        dispatching.post("pause")
        dispatching.request("launchGo", launch=ready["launch"])
        dispatching.event("launchEnded")
        dispatching.request("launchDone", launch=ready["launch"], then="run")
    assert dispatching.finish() == 0


HANDLED = """
    import sys
    import framework

    def late():
        return 1

    def body(call):
        untraced.append(sys.gettrace() is None)
        return late() if call else 0

    untraced = []

    def main():
        for turn in range(500):
            framework.parallel_for("body", (100, 101), body, call=turn % 250 == 249)
        print("done")

    main()
"""


def test_a_launch_runs_untraced_and_loses_no_breakpoint_in_it_or_after_it(program: Program, tmp_path: Path) -> None:
    import textwrap

    (tmp_path / "framework.py").write_text(textwrap.dedent(FRAMEWORK).lstrip("\n"))
    client = program(HANDLED)
    file = str(tmp_path / "program.py")
    client.start({"file": file, "line": 5}, {"file": file, "line": 16})
    assert where(client.go("continue")) == ("late", 5)
    assert where(client.go("continue")) == ("late", 5)
    assert where(client.go("continue")) == ("main", 16)
    # From 3.12 on the settrace backend is for tests only and never rests.
    assert client.text("sys.version_info >= (3, 12) or untraced.count(True) > 100") == "True"
