"""Any Python at a stop, in the live program, on either runtime: what it sees, changes, prints, and what goes wrong."""

from __future__ import annotations

from cli import FIXTURES, Run, terminal
from runtimes import OnRuntime

SCRIPT = "evaluations.py"
T, LAUNCHED, SCALED = 14, 30, 25  # lines: of `t`, of the launch, of the statement of `scaled`
PLAIN = ["v [6.0, 22.0, 78.0, 228.0]", "m [[0, 0], [0, 0], [0, 0], [0, 0]]", "scale 2.0 2.0 [3, 3]"]
AT_KERNEL = (f"break {T + 1} if i == 1", "continue")
IN_A_THREAD = """\
w = v.copy()
{launch}
thread = threading.Thread(target=__import__('os').abort)
thread.start(); thread.join()"""
GO_ON = ("delete", "continue")
REFUSED = "RuntimeError: no other kernel can begin in OpenMP while add is stopped in it"  # what PyKokkos can't


def elsewhere(debug: OnRuntime, launch: str, size: int = 4) -> str:
    """A launch that can run while a kernel is stopped in OpenMP, where PyKokkos can launch in another space alone."""
    policy = str(size) if debug.embedded else f"pk.RangePolicy(pk.ExecutionSpace.Serial, 0, {size})"
    return f"pk.parallel_for({policy}, {launch})"


def told(run: Run) -> list[str]:
    """What the program itself printed."""
    return [line for line in run.lines if line.startswith(("v [", "m [", "scale "))]


def answers(run: Run, *, after: str = "stopped: breakpoint 1") -> list[str]:
    """Lines behind the source line of the first stop at the breakpoint."""
    place = next(place for place, line in enumerate(run.lines) if line.startswith(after))
    return run.lines[place + 2 :]


def reasons(run: Run) -> list[str]:
    """Why the program stopped, stop by stop."""
    return [stop.removeprefix("stopped: ").partition(f" {SCRIPT}")[0] for stop in run.stops]


def test_the_fixtures_lines(debug: OnRuntime) -> None:
    lines = (FIXTURES / SCRIPT).read_text().splitlines()
    assert "t: float" in lines[T - 1]
    assert "return value" in lines[SCALED - 1]
    assert "parallel_for" in lines[LAUNCHED - 1]
    assert told(debug(SCRIPT, "continue")) == PLAIN


def test_kernel_variables_are_usable_in_any_python(debug: OnRuntime) -> None:
    run = debug(
        SCRIPT,
        *AT_KERNEL, "print scaled(t)", "[x + t for x in v if x > n]", "(lambda k: k + i)(1)",
        "v is m, v.shape, m.T.shape",
        "np.linalg.norm(v - v)", "type(v).__name__, type(t).__name__, type(i).__name__", "print(*sorted(locals()))",
        "any(x == v[i] for x in v)", "import math\nmath.floor(t) + n", "whatis scaled(v)", "len ahead", "ahead[-1]",
        "x = v.sum()\nx + t", "x", "quit",
    )  # fmt: skip
    assert answers(run) == [
        "2.0", "[2.0, 7.0, 13.0]", "2", "(False, (4,), (2, 4))", "0.0", "('ndarray', 'float', 'int')",
        "ahead i m n t v", "True", "1", "float64[4]", "3", "3", "20.0", "19.0",
    ]  # fmt: skip
    assert not run.err


def test_scalars_of_the_focused_thread_are_written_and_arrays_are_the_live_ones(debug: OnRuntime) -> None:
    run = debug(
        SCRIPT,
        *AT_KERNEL, "t = scaled(t) + 1", "print t", "v[0] = -1", "v[2:] += [len(ahead)] * 2", "m[:] = [[1, 2]] * 4",
        "view = v", "for k in range(3):\n    m[0, 0] += k\n    t += k\n", "t", *GO_ON,
    )  # fmt: skip
    assert answers(run)[:2] == ["3.0", "6.0"]
    # Row 1: t = 6 times u = 2 is 12, then two launches more as ever; rows 2 and 3 had run already or run later.
    assert told(run)[1] == "m [[4, 2], [1, 2], [1, 2], [1, 2]]"
    assert told(run)[0].startswith("v [5.0, 62.0, ")


def test_a_rebound_global_a_new_function_and_a_kernel_defined_at_the_prompt(debug: OnRuntime) -> None:
    kernel = "@pk.workunit\ndef twice(i: int, v: pk.View1D[pk.double]):\n    v[i] = v[i] * 2.0\n"
    run = debug(
        SCRIPT,
        "set timeout 100",
        *AT_KERNEL, "SCALE = 7.0", "scaled(1)", "def scaled(value): return -value", kernel,
        f"z = np.ones(4)\n{elsewhere(debug, 'twice, v=z')}\nz", "hotswap fill twice", *GO_ON,
    )  # fmt: skip
    if debug.embedded:
        assert answers(run)[:2] == ["7.0", "array([2., 2., 2., 2.])"]
    else:  # it reads a kernel's text from a file
        assert answers(run)[0] == "7.0"
        assert "FileNotFoundError: [Errno 2] No such file or directory: '<console " in run.err
    assert told(run)[2] == "scale 7.0 -1.0 [3, 3]"


def test_what_the_kernel_can_not_take_is_refused_and_nothing_has_run(debug: OnRuntime) -> None:
    run = debug(
        SCRIPT,
        *AT_KERNEL, "v = [scaled(1)]", "t = 'text'", "i = 1.5", "!del t", "!del v", "nothing", "print nothing + t",
        "v[100]", "t", *GO_ON,
    )  # fmt: skip
    errors = run.err.splitlines()
    assert errors[0] == "error: `v` is an array of the kernel. Assign to its elements: `v[...] = …`."
    assert errors[1] == "error: A variable of the kernel can't hold a str. Give it a number."
    assert "can't hold 1.5" in errors[2]
    assert errors[3:5] == [f"error: `{name}` is a variable of the kernel and can't be deleted." for name in "tv"]
    assert errors[5].startswith("error: NameError: name 'nothing' is not defined")
    assert "nothing" in errors[6]
    assert "100" in errors[7]
    assert answers(run)[0] == "1.0"
    assert told(run) == PLAIN


def test_a_kernel_is_launched_while_another_is_paused_and_nothing_stops_in_it(debug: OnRuntime) -> None:
    run = debug(
        SCRIPT, "set timeout 100",
        f"break {T + 1}", f"break {SCALED}", f"log {T} passing {{i}}", "break 20", "continue", "z = np.zeros(8)",
        elsewhere(debug, "fill, v=z, x=scaled(t)", 8), "z.tolist() == [2 * t] * 8", "launch(1, z[:4].copy(), m.copy())",
        "pk.parallel_reduce(4, None)", "break", "info launches", "delete", "continue",
    )  # fmt: skip
    rest = answers(run)
    assert rest[0] == "True"
    assert (rest[1] == "3") is debug.embedded
    assert (REFUSED in run.err) is not debug.embedded
    assert ("workunit" if debug.embedded else "TypeError: <class 'NoneType'>") in run.err
    listed = [line for line in rest if line.startswith(("2 ", "4 "))]
    assert all("hit" not in line for line in listed)
    (launch,) = [line for line in rest if "RangePolicy" in line]
    assert " debug 1× stopped" in launch  # the paused one alone: those of the prompt are not the program's
    assert told(run) == PLAIN


def test_names_around_a_launch_in_a_comprehension(debug: OnRuntime) -> None:
    run = debug(
        SCRIPT, *AT_KERNEL, "up", "up", "k, [k for _ in 'a']", "v is counts if 'counts' in locals() else k", "quit"
    )
    assert "(0, [0])" in run.lines
    assert "0" in run.lines


def test_what_goes_wrong_is_told_and_the_session_goes_on(debug: OnRuntime) -> None:
    run = debug(
        SCRIPT,
        "set timeout 2", *AT_KERNEL, "1 / 0", "exit()", "import sys; sys.exit(4)", "raise KeyboardInterrupt",
        "while True: pass", "own = threading.Lock(); own.acquire() and own.acquire()", "t", "1 + 1", "await x",
        "class Odd:\n    def __repr__(self): raise ValueError('no')\n", "Odd()", "'a' * 10**8", *GO_ON,
    )  # fmt: skip
    errors = run.err.splitlines()
    assert errors[:5] == [
        "error: ZeroDivisionError: division by zero",
        "error: SystemExit: None. The program goes on; use quit to end the session.",
        "error: SystemExit: 4. The program goes on; use quit to end the session.",
        "error: KeyboardInterrupt",
        "error: stopped after 2 s",
    ]
    assert errors[5].startswith("error: ran out of time, but it waits or is in native code")
    assert errors[6].startswith("error: NameError: name 'x' is not defined")
    rest = answers(run)
    assert rest[0] == "1.0"
    assert "2" in rest
    assert "<Odd: its __repr__ raised ValueError: no>" in rest
    assert any(line.startswith("'aaa") and line.endswith("… 100,000,000 long") for line in rest)
    assert told(run) == PLAIN


def test_an_expression_that_waits_for_ever_ends_when_it_is_back_in_python(debug: OnRuntime) -> None:
    run = debug(SCRIPT, "set timeout 0.5", *AT_KERNEL, "import time\nwhile True: time.sleep(2)", "print t", *GO_ON)
    assert "left behind" in run.err
    assert answers(run)[0] == "1.0"
    assert told(run) == PLAIN


def test_native_code_that_can_not_be_broken_off_is_told_and_so_is_its_end(debug: OnRuntime) -> None:
    slow = "import ctypes; ctypes.PyDLL(None).sleep(6)"  # it keeps Python's lock
    run = debug(SCRIPT, "set timeout 0.5", *AT_KERNEL, slow, "print t", "scaled(1)", "complete", "locals", *GO_ON)
    errors = run.err.splitlines()
    assert "has run for 0.5 s, but it runs on: it is in native code" in errors[0]
    rest = answers(run)
    assert rest[0] == "1.0"
    assert "still runs in the program" in errors[1]
    assert any(line.startswith("note: `import ctypes;") and line.endswith(" has ended at last: 0") for line in rest)
    assert told(run) == PLAIN


def test_output_comes_whole_and_in_order(debug: OnRuntime) -> None:
    text = (
        "import ctypes, os, sys, subprocess\nc = ctypes.CDLL(None)\nprint('one')\nsys.stderr.write('two\\n')\n"
        "c.puts(b'three')\nos.write(1, b'four\\n')\nsubprocess.run(['echo', 'five'])\n"
        "sys.stdout.buffer.write(b'six\\n')\nsys.stdout.flush()\n"
        "sys.__stdout__.write('seven\\n')\nprint()\nprint('eight', end='')\n9\n"
    )
    for where in ((), AT_KERNEL):
        run = debug(SCRIPT, *(where or ("tbreak main", "continue")), text, "print('ten')", "delete", "continue")
        words = ["one", "two", "three", "four", "five", "six", "seven", "", "eight", "9", "ten"]
        first = run.lines.index("one")
        assert run.lines[first : first + len(words)] == words
        assert told(run) == PLAIN


def test_a_million_lines_are_all_there(debug: OnRuntime) -> None:
    run = debug(SCRIPT, "tbreak main", "continue", "for i in range(10**6): print(i)", "delete", "continue")
    first = run.lines.index("0")
    assert run.lines[first : first + 10**6] == [str(i) for i in range(10**6)]
    assert told(run) == PLAIN


def test_an_expression_that_ends_the_program_is_named(debug: OnRuntime) -> None:
    for text, how in (
        ("import ctypes; ctypes.string_at(0)", "signal SIGSEGV"),
        ("import os; os.abort()", "signal SIGABRT"),
        ("import os; os._exit(3)", "status 3"),
    ):
        run = debug(SCRIPT, "tbreak main", "continue", text)
        assert f"error: `{text}` ended the program: it ran in the program itself. `restart` runs it again" in run.err
        assert f"exited: {how}" in run.lines
        assert not any("set catch on" in line for line in run.lines)

    run = debug(
        SCRIPT, "tbreak main", "continue", "import os; os.abort()", "restart", "tbreak main", "continue", "1 + 1"
    )
    assert run.lines[-1] == "2"


def test_python_breakpoints_log_points_and_counts_see_nothing_of_an_evaluation(debug: OnRuntime) -> None:
    text = (
        "import threading\nthread = threading.Thread(target=scaled, args=(1,))\nthread.start()\nthread.join(5)\n"
        "thread.is_alive()"
    )
    run = debug(
        SCRIPT,
        "tbreak main", "continue", f"break {SCALED}", f"log {SCALED} said {{value}}", "scaled(3)", text,
        "[*map(scaled, (1, 2))]", "break", "continue", "quit",
    )  # fmt: skip
    rest = answers(run)
    assert "False" in rest
    assert "[2.0, 4.0]" in rest
    assert [line for line in rest if "said" in line and "log" not in line] == ["evaluations.py:25 said 1.0"]
    assert not [line for line in rest if "hit" in line and "stopped" not in line]
    assert rest[-2].startswith(f"stopped: breakpoint 2 {SCRIPT}:{SCALED}")


def test_ctrl_c_breaks_an_evaluation_off(debug: OnRuntime) -> None:
    with terminal(*debug.option, SCRIPT, folder=debug.folder) as child:
        child.expect_exact("pkdb> ")
        for command in ("tbreak main", "continue"):
            child.sendline(command)
            child.expect_exact("pkdb> ")
        child.sendline("print('begun'); __import__('time').sleep(60)")
        child.expect_exact("begun")
        child.sendintr()
        child.expect_exact("error: interrupted")
        child.sendline("1 + 1")
        child.expect_exact("2")


def test_a_crash_at_a_kernel_stop_is_the_expressions_and_says_what_can_go_on(debug: OnRuntime) -> None:
    for text, fault in (
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV at 0x0"),  # it keeps Python's lock
        ("import ctypes; ctypes.CDLL(None).strlen(0)", "SIGSEGV at 0x0"),
        ("import os; os.abort()", "SIGABRT"),
        (IN_A_THREAD.format(launch=elsewhere(debug, "fill, v=w, x=1.0")), "SIGABRT"),
    ):
        run = debug(
            SCRIPT,
            "set timeout 100",
            *AT_KERNEL,
            text,
            "t",
            "scaled(1)",
            "next",
            "print v[1] + t",
            "threads",
            "continue",
            "restart",
        )
        first, *errors = run.err.splitlines()
        line, _, more = text.partition("\n")
        shown = f"{line}…" if more else line
        crashed = f"error: `{shown}` crashed: {fault}. It ran in the program itself, which can't go on."
        assert first.startswith(crashed), text
        assert "`continue` lets the crash end the program" in first
        assert [error.startswith(crashed) for error in errors[:3]] == [True, True, False], errors  # scaled(1), next
        rest = answers(run)
        assert rest[:2] == ["1.0", "2.0"]
        ended = next(line for line in rest if line.startswith("exited: "))
        assert ended == f"exited: signal {fault.split()[0]}"
        assert not [line for line in rest if line.startswith("stopped: signal") or "set catch on" in line]
        assert rest[-2].startswith("stopped: start")


def test_a_crash_in_python_is_the_expressions_where_a_native_debugger_is_attached(debug: OnRuntime) -> None:
    run = debug(
        SCRIPT, *AT_KERNEL, "delete", "break 31", "catch faults", "continue", "import ctypes; ctypes.string_at(0)"
    )
    assert "error: `import ctypes; ctypes.string_at(0)` ended the program" in run.err
    assert run.lines[-1] == "exited: signal SIGSEGV"
    assert not [line for line in run.lines if line.startswith("stopped: signal")]


def test_watchpoints_see_nothing_of_an_evaluation_and_the_next_write_of_the_program(debug: OnRuntime) -> None:
    run = debug(
        SCRIPT, "set timeout 100",  # PyKokkos compiles what is launched at a stop
        *AT_KERNEL, "watch v[3]", "v[3] = 50", "np.copyto(v[3:], 60.0)", elsewhere(debug, "fill, v=v, x=7.0"),
        elsewhere(debug, "add, n=1, v=v, m=m"), "print v[3]", "break", "delete 1", f"break {LAUNCHED + 1}", "continue",
        "v[3] = 9.0", "pk.parallel_for(4, fill, v=v, x=8.0)", "break", "continue", "v[3] = 5.0", "print v[3] + t",
        "parallel_print t", "break", "quit",
    )  # fmt: skip
    rest = [line for line in run.lines if line.startswith(("stopped:", "watchpoint", "32.0", "14.0", "3 "))]
    assert rest[2:] == [
        "watchpoint 2 on v[3]: bound",
        "32.0",  # 7 + 1, times 4
        "watchpoint 2 on v[3]: bound",
        "stopped: breakpoint 3 evaluations.py:31 in launch",
        "watchpoint 2 on v[3]: bound",
        "stopped: watchpoint 2: v[3] 8 -> 36 evaluations.py:16 in add thread 1 of 2 · i = 3",
        "14.0",
        "watchpoint 2 on v[3]: bound, hit 1 time",
    ], run.lines
    assert not run.err


def test_debug_steps_into_the_expression_and_comes_back_to_the_stop(debug: OnRuntime) -> None:
    run = debug(
        SCRIPT,
        f"break {LAUNCHED}", "continue", "debug [scaled(1), scaled(k := 4)]", "value", "where", "finish", "next",
        "continue", "k", "print ahead", "debug 1 / 0", "debug 1 +", "debug", "debug None", *GO_ON,
    )  # fmt: skip
    assert [stop.removeprefix("stopped: ") for stop in run.stops[1:]] == [
        f"breakpoint 1 {SCRIPT}:{LAUNCHED} in launch",
        f"step {SCRIPT}:{SCALED} in scaled",
        f"step {SCRIPT}:{SCALED} in scaled returning 2.0",
        f"step {SCRIPT}:{SCALED} in scaled",
        f"debug: `[scaled(1), scaled(k := 4)]` has ended {SCRIPT}:{LAUNCHED} in launch",
        f"debug: `1 / 0` has ended {SCRIPT}:{LAUNCHED} in launch",
        f"debug: `None` has ended {SCRIPT}:{LAUNCHED} in launch",
    ]
    rest = answers(run)
    assert [line for line in rest if line in ("1", "4", "[2.0, 8.0]", "[1, 2, 3]")] == [
        "1",
        "[2.0, 8.0]",
        "4",
        "[1, 2, 3]",
    ]
    assert any("launch evaluations.py:30" in line for line in rest)
    errors = run.err.splitlines()
    assert errors[0] == "error: ZeroDivisionError: division by zero"
    assert errors[1].startswith("error: SyntaxError")
    assert errors[2].startswith("error: No expression is being debugged here.")
    assert told(run) == PLAIN


def test_debug_stops_at_breakpoints_also_in_kernels_and_in_expressions_within(debug: OnRuntime) -> None:
    run = debug(
        SCRIPT,
        f"break {LAUNCHED + 1}", "continue", f"break {SCALED} if value == 5", f"break {T} if i == 2", "log 21 at {i}",
        "debug [scaled(q) for q in range(9)]", "continue", "value", "debug scaled(5)", "value", "continue", "continue",
        "debug launch(0, v.copy(), m)", "continue", "t + i", "debug scaled(3)", "continue", "continue",
        "info launches", *GO_ON,
    )  # fmt: skip
    assert reasons(run)[2:] == [
        "step",  # in scaled, at its first call
        "breakpoint 2",
        "breakpoint 2",  # of one within
        "debug: `scaled(5)` has ended",
        "debug: `[scaled(q) for q in range(9)]` has ended",
        "step",  # in launch
        "breakpoint 3",
        "breakpoint 1",
        "debug: `launch(0, v.copy(), m)` has ended",
    ]
    assert "A kernel is stopped" in run.err
    assert "[0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0]" in run.lines
    assert told(run) == PLAIN


def test_debug_alone_breaks_off_what_is_debugged(debug: OnRuntime) -> None:
    run = debug(
        SCRIPT,
        f"break {LAUNCHED}", "continue", f"break {SCALED}", "debug scaled(1)", "debug scaled(2)", "debug", "value",
        "debug", "len(ahead)", "debug len(ahead)", *GO_ON,
    )  # fmt: skip
    assert run.err.splitlines() == ["error: interrupted", "error: interrupted"]
    assert reasons(run)[2:] == [
        "breakpoint 2",
        "breakpoint 2",
        "debug: `scaled(2)` has ended",
        "debug: `scaled(1)` has ended",
        "debug: `len(ahead)` has ended",
    ]
    assert [line for line in answers(run) if line in ("1", "3")] == ["1", "3", "3"]
    assert told(run) == PLAIN


def test_ctrl_c_pauses_what_is_debugged_and_it_can_be_broken_off(debug: OnRuntime) -> None:
    with terminal(*debug.option, SCRIPT, folder=debug.folder) as child:
        child.expect_exact("pkdb> ")
        for command in ("tbreak main", "continue"):
            child.sendline(command)
            child.expect_exact("pkdb> ")
        child.sendline("debug print('begun'); exec('while True: pass')")
        child.expect_exact("begun")
        child.sendintr()
        child.expect_exact("stopped: pause")
        child.expect_exact("pkdb> ")
        child.sendline("debug")
        child.expect_exact("error: interrupted")
        child.expect_exact("stopped: debug: ")
        child.expect_exact("pkdb> ")
        child.sendline("2 + 3")
        child.expect_exact("5")
