"""The commands of pdb, typed in plain mode, do what pdb does."""

from __future__ import annotations

from pathlib import Path

from cli import FIXTURES, plain


def shown(*commands: str, script: str = "orders.py") -> list[str]:
    """Everything written before the program's end, after the first stop."""
    run = plain(script, commands=commands)
    assert (run.err, run.status) == ("", 0)
    return run.lines[2:]


def test_it_starts_stopped_before_the_first_line() -> None:
    run = plain("orders.py", commands=["whereami"])
    doc = '   1 """A small shop: nested calls, a loop, a multi-line call and a class, for stepping through."""'
    assert run.lines == ["stopped: start orders.py:1 in <module>", doc, "orders.py:1 in <module>", doc]


def test_next_steps_over_calls() -> None:
    lines = shown("break 22", "continue", "next", "next", "next")
    assert lines == [
        "breakpoint 1 at orders.py:22: bound",
        "stopped: breakpoint 1 orders.py:22 in main",
        "  22     lines = [(1, 5.0), (10, 2.0), (3, 1.5)]",
        "stopped: step orders.py:23 in main",
        "  23     amount = invoice(lines)",
        "stopped: step orders.py:24 in main",
        '  24     print("amount", amount)',
        "amount 27.5",
        "stopped: step orders.py:25 in main",
        "  25     return amount",
    ]


def test_step_enters_calls_and_return_stops_where_the_function_returns() -> None:
    lines = shown("tbreak 14", "continue", "step", "step", "return", "next")
    assert lines[3:] == [
        "stopped: step orders.py:5 in price",
        "   5     total = quantity * unit",
        "stopped: step orders.py:6 in price",
        "   6     if quantity >= 10:",
        "stopped: step orders.py:8 in price returning 5.0",
        "   8     return total",
        "stopped: step orders.py:13 in invoice",
        "  13     for quantity, unit in lines:",
    ]


def test_until_leaves_a_loop_and_until_line_goes_to_it() -> None:
    lines = shown("tbreak 14", "continue", "next", "until 18")
    assert [line for line in lines if line.startswith("stopped:")] == [
        "stopped: breakpoint 1 orders.py:14 in invoice",
        "stopped: step orders.py:13 in invoice",
        "stopped: step orders.py:15 in invoice returning 27.5",
    ]
    lines = shown("tbreak 14", "continue", "until")
    assert [line for line in lines if line.startswith("stopped:")][1] == "stopped: step orders.py:15 in invoice"


def test_jump_leaves_lines_out() -> None:
    assert shown("tbreak 28", "continue", "jump 30", "whereami", "continue", script="shapes.py")[3:] == [
        "stopped: step shapes.py:30 in <module>",
        "  30 squares = [n * n for n in range(5)]",
        "shapes.py:30 in <module>",
        "  30 squares = [n * n for n in range(5)]",
        "squares [0, 1, 4, 9, 16]",
        "guarded absent",
        "done",
        "exited: status 0",
    ]


def test_a_refused_jump_says_why_and_stays() -> None:
    run = plain("shapes.py", commands=["tbreak 22", "continue", "jump 30", "whereami"])
    assert run.err.splitlines() == [
        "error: Line 30 can't be jumped to: line 30 comes after the current code block.",
        "error: the command `jump 30` was refused",
    ]
    assert run.lines[-2:] == ["shapes.py:22 in guarded", "  22     try:"]


def test_a_temporary_breakpoint_goes_after_its_hit() -> None:
    lines = shown("tbreak 5", "continue", "info breakpoints", "continue")
    assert lines == [
        "breakpoint 1 at orders.py:5, temporary: bound",
        "stopped: breakpoint 1 orders.py:5 in price",
        "   5     total = quantity * unit",
        "there are no breakpoints",
        "amount 27.5",
        "exited: status 0",
    ]


def test_conditions_with_both_spellings() -> None:
    for spelling in ("break 5 if quantity == 10", "break 5, quantity == 10"):
        lines = shown(spelling, "continue", "print quantity", "continue")
        assert lines[0] == "breakpoint 1 at orders.py:5 if quantity == 10: bound"
        assert lines[3:] == ["10", "amount 27.5", "exited: status 0"]


def test_condition_and_ignore_change_a_breakpoint() -> None:
    lines = shown("break 5", "condition 1 quantity > 1", "ignore 1 1", "continue", "print quantity", "info breakpoints")
    assert lines[1] == "breakpoint 1 at orders.py:5 if quantity > 1: bound"
    assert lines[2] == "breakpoint 1 at orders.py:5 if quantity > 1 ignore next 1 hit: bound"
    assert lines[6].endswith(": bound, hit 2 times")
    assert lines[5] == "3"


def test_taking_a_condition_away() -> None:
    lines = shown("break 5 if quantity == 3", "condition 1", "continue", "print quantity")
    assert lines[1] == "breakpoint 1 at orders.py:5: bound"
    assert lines[-1] == "1"


def test_disable_enable_and_delete() -> None:
    lines = shown("break 5", "disable 1", "info breakpoints", "enable 1", "continue", "delete", "continue")
    assert lines == [
        "breakpoint 1 at orders.py:5: bound",
        "disabled 1",
        "breakpoint 1 at orders.py:5: disabled",
        "enabled 1",
        "stopped: breakpoint 1 orders.py:5 in price",
        "   5     total = quantity * unit",
        "deleted 1; `break orders.py:5` sets it again",
        "amount 27.5",
        "exited: status 0",
    ]


def test_a_breakpoint_on_a_function_and_one_on_a_blank_line() -> None:
    lines = shown("break invoice", "break 9", "continue")
    assert lines[0] == "breakpoint 1 at orders.py:12: bound"
    assert lines[1].startswith("breakpoint 2 at orders.py:11: ")
    assert lines[2] == "stopped: breakpoint 2 orders.py:11 in <module>"


def test_display_is_shown_at_every_stop_with_what_changed() -> None:
    lines = shown("tbreak 13", "continue", "display amount", "next", "next")
    assert lines[3:] == [
        "1: amount = 0.0",
        "stopped: step orders.py:14 in invoice",
        "  14         amount += price(quantity, unit)",
        "1: amount = 0.0",
        "stopped: step orders.py:13 in invoice",
        "  13     for quantity, unit in lines:",
        "1: amount = 5.0  (was 0.0)",
    ]


def test_undisplay_and_a_display_out_of_scope() -> None:
    lines = shown("display nowhere", "tbreak 13", "continue", "undisplay 1", "next")
    assert lines[0] == "1: nowhere: not in scope here"
    assert lines[4] == "1: nowhere: not in scope here"
    assert lines[5] == "watch 1 is deleted; `display nowhere` brings it back"
    assert lines[6].startswith("stopped: step")
    assert lines[-1] == "  14         amount += price(quantity, unit)"


def test_args_where_up_and_down() -> None:
    lines = shown("tbreak 7", "continue", "args", "where", "up", "print amount", "down", "print total")
    assert lines[3:] == [
        "quantity  int  10",
        "unit      float  2.0",
        ">  0 price orders.py:7 python",
        "   1 invoice orders.py:14 python",
        "   2 main orders.py:23 python",
        "   3 <module> orders.py:29 python",
        "orders.py:14 in invoice",
        "  14         amount += price(quantity, unit)",
        "5.0",
        "orders.py:7 in price",
        "   7         total = total * 0.9",
        "20.0",
    ]


def test_u_and_d_are_up_and_down_and_take_no_breakpoint_away() -> None:
    lines = shown("break 7", "continue", "u", "print amount", "d", "break")
    assert [line for line in lines[3:] if not line.startswith("  ")] == [
        "orders.py:14 in invoice",
        "5.0",
        "orders.py:7 in price",
        "breakpoint 1 at orders.py:7: bound, hit 1 time",
    ]


def test_up_and_down_end_at_the_ends_of_the_stack() -> None:
    run = plain("orders.py", commands=["up"])
    assert run.err.splitlines() == ["error: This is the outermost frame.", "error: the command `up` was refused"]
    assert plain("orders.py", commands=["down"]).err.startswith("error: This is the innermost frame.\n")
    advised = "error: This is the innermost frame. `delete 1` deletes a breakpoint.\n"  # what gdb's `d 1` does
    assert plain("orders.py", commands=["d 1"]).err.startswith(advised)


def test_statements_change_the_program() -> None:
    lines = shown("tbreak 24", "continue", "amount = 100", "!amount += 1", "continue")
    assert lines[3:] == ["amount 101", "exited: status 0"]


def test_an_exclamation_mark_makes_python_of_a_command_name() -> None:
    lines = shown("next = 5", "!next", "!print('x', 1 + 1)", "[c for c in 'ab']")
    assert lines == ["5", "x 2", "['a', 'b']"]


def test_statements_over_several_lines() -> None:
    typed = "for n in range(2):\n    m = 2 * n\n    print('m', m)\n\ndef twice(n):\n    return 2 * n\n\ntwice(\n21)\n"
    run = plain("orders.py", stdin=typed)
    assert (run.lines[2:], run.err) == (["m 0", "m 2", "42"], "")


def test_list_marks_the_line_and_the_breakpoints() -> None:
    lines = shown("break 7", "tbreak 6", "continue", "list 4,8", "list 22")
    at = lines.index("    4    def price(quantity, unit):")
    assert lines[at : at + 5] == [
        "    4    def price(quantity, unit):",
        "    5        total = quantity * unit",
        "    6  >     if quantity >= 10:",
        "    7 b          total = total * 0.9",
        "    8        return total",
    ]
    assert lines[at + 5].startswith("   17 ")
    assert lines[at + 15].startswith("   27 ")


def test_list_goes_on_until_the_frame_changes() -> None:
    run = plain("orders.py", commands=["tbreak 6", "continue", "list", "list", "list", "list", "list .", "up", "list"])
    # A listing's numbers are five wide; those of the source lines after a stop are four wide.
    numbers = [int(line[:5]) for line in run.lines if line[:5].strip().isdigit() and line[5] == " " and line[4] != " "]
    assert numbers == [*range(1, 30), *range(1, 12), *range(9, 20)]
    assert run.err.splitlines()[0] == "error: The file ends at line 29. `list .` shows the current line."


def test_longlist_shows_the_whole_file() -> None:
    lines = shown("longlist")
    text = (FIXTURES / "orders.py").read_text().splitlines()
    assert [line[9:] for line in lines[-len(text) :]] == text


def test_up_wants_a_number() -> None:
    run = plain("orders.py", commands=["break 6", "continue", "up two", "whereami"])
    assert run.err.splitlines()[0] == "error: `two` is not a number of frames. Write for example `up 2`."
    assert run.lines[-2].startswith("orders.py:6 in price")


def test_an_uncaught_exception_stops_with_its_traceback_and_post_mortem_looks_at_it() -> None:
    run = plain("failing.py", commands=["continue", "print text", "up", "up", "where", "continue"])
    assert run.lines[2:5] == [
        "adding",
        "stopped: exception ValueError: invalid literal for int() with base 10: 'three' failing.py:5 in parse",
        "   5     value = int(text)",
    ]
    assert "Traceback (most recent call last):" in run.lines
    assert "'three'" in run.lines
    assert run.lines[-1] == "exited: exception ValueError: invalid literal for int() with base 10: 'three'"
    assert run.status == 1  # as Python's own


def test_a_caught_exception_does_not_stop() -> None:
    run = plain("shapes.py", commands=["continue"])
    assert run.lines[2:] == [
        "countdown [3, 2, 1]",
        "factorial 120",
        "squares [0, 1, 4, 9, 16]",
        "guarded absent",
        "done",
        "exited: status 0",
    ]


def test_an_error_in_what_is_typed_names_it_and_changes_nothing() -> None:
    run = plain("orders.py", commands=["print absent", "1 +", "1 / 0", "print 2"])
    assert run.err.splitlines() == [
        "error: NameError: name 'absent' is not defined",
        "error: SyntaxError: invalid syntax. What is no command is taken as Python, `help` lists the commands.",
        "error: ZeroDivisionError: division by zero",
        "error: the command `print absent` was refused",
    ]
    assert run.lines[2:] == ["2"]
    assert run.status == 1


def test_log_points_print_and_go_on() -> None:
    lines = shown("log 6 q={quantity} total={total:.2f}", "continue")
    assert lines[0] == "log point 1 at orders.py:6 log q={quantity} total={total:.2f}: bound"
    assert [line for line in lines[1:] if line.startswith("orders.py:6")] == [
        "orders.py:6 q=1 total=5.00",
        "orders.py:6 q=10 total=20.00",
        "orders.py:6 q=3 total=4.50",
    ]


def test_a_second_breakpoint_on_a_line_says_what_the_first_does() -> None:
    lines = shown("break 6", "break 6 if quantity == 2", "break 6", "log 6 {quantity}", "break 7")
    assert [line for line in lines if line.startswith("Note")] == [
        "Note: breakpoint 1 also stops at orders.py:6, without a condition; `condition 1 quantity == 2` gives it this "
        "one.",
        "Note: breakpoints 1, 2 also stop at orders.py:6.",
    ]


def test_a_condition_that_fails_is_the_reason_of_its_stop() -> None:
    run = plain("orders.py", commands=["break 6 if absent > 1", "continue"])
    assert run.stops[1].startswith(
        "stopped: breakpoint 1: condition failed: NameError: name 'absent' is not defined orders.py:6 in "
    )


def test_what_is_mistyped_names_the_nearest_command() -> None:
    run = plain("orders.py", commands=["brek 19", "contine", "absent", "help(absent)"])
    assert run.err.splitlines()[:3] == [
        "error: SyntaxError: invalid syntax. Did you mean the command `break`? `help` lists all.",
        "error: NameError: name 'contine' is not defined. Did you mean the command `continue`? `help` lists all.",
        "error: NameError: name 'absent' is not defined. `locals` lists the names here, `help` lists the commands.",
    ]
    assert run.status == 1


def test_letters_of_keys_are_commands_where_they_are_no_variables() -> None:
    run = plain("orders.py", commands=["break 5", "c", "e quantity * 2", "f", "e = 5", "e", "x nothing nowhere", "T 7"])
    assert run.lines[2:6] == [
        "breakpoint 1 at orders.py:5: bound",
        "stopped: breakpoint 1 orders.py:5 in price",
        "   5     total = quantity * unit",
        "2",
    ]
    assert run.lines[6].startswith("stopped: step orders.py:8 in price returning ")
    assert run.lines[8] == "5"
    assert run.lines[-1] == "breakpoint 2 at orders.py:7, temporary: bound"
    assert "nothing" in run.err
    assert "SyntaxError" not in run.err


def test_of_a_large_array_the_shape_is_its_own_and_a_part_of_it_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "large.py").write_text("import numpy as np\na = np.arange(256 * 1024.0).reshape(256, 1024)\nprint(a)\n")
    run = plain("large.py", folder=tmp_path, commands=["tbreak 3", "continue", "display a", "inspect a"])
    (shown,) = run.starting("1: a = ")
    assert shown.startswith("1: a = the first 256 of 262,144 elements, array([[")
    assert run.starting("   min 0.0 max 255.0 · no NaN · first 256 of 262,144")[0].endswith("256×1024 float64")
    assert run.starting("shape ") == ["shape     256 × 1024"]
    assert run.starting("max ") == ["max       4095.0 (of the first 4,096)"]
