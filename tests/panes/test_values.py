"""Stack, variables and watches as lines of text."""

from __future__ import annotations

import msgspec
import numpy as np
from host import PALETTE, lines, sent, shown
from rich.cells import cell_len
from values import kernel_stop, slice_of

from pkdb_tui.engine.api import (
    Evaluation,
    ExceptionInfo,
    ExitCause,
    Frame,
    FrameKind,
    Slice,
    Variable,
    VariableKind,
    Watch,
)
from pkdb_tui.engine.slices import statistics
from pkdb_tui.panes.base import Inspect, RunCommand
from pkdb_tui.panes.stack import StackPane
from pkdb_tui.panes.variables import VariablesPane
from pkdb_tui.panes.watches import WatchesPane


async def test_the_stack_merges_kernel_and_python_frames() -> None:
    pane = StackPane(PALETTE)
    async with shown(pane, 60, 5) as pilot:
        pane.show(kernel_stop())
        assert lines(pane)[:3] == [
            " ▶ yax      yax.py:13  kernel, thread 3",
            "   run      yax.py:22  python",
            "   <module> yax.py:28  python",
        ]
        await pilot.press("down", "enter")
        await pilot.pause()
        assert [m.text for m in sent(pilot, RunCommand)] == ["frame 1"]


async def test_an_uncaught_exception_shows_its_traceback_below_the_frames() -> None:
    pane = StackPane(PALETTE)
    error = ExceptionInfo(type="KeyError", message="'missing'", traceback="Traceback:\n  File x\nKeyError: 'missing'")
    async with shown(pane, 60, 8) as pilot:
        pane.show(kernel_stop(exception=error))
        assert lines(pane)[0] == " KeyError: 'missing'"
        assert lines(pane)[1].startswith(" ▶ yax")
        assert lines(pane)[4:7] == [" Traceback:", "   File x", " KeyError: 'missing'"]
        await pilot.press("down", "enter")
        await pilot.pause()
        assert [m.text for m in sent(pilot, RunCommand)] == ["frame 1"]
        pane.show_end(ExitCause(status=1, exception=error))
        assert lines(pane)[3] == " KeyError: 'missing'"


async def test_a_long_exception_is_read_whole_at_every_width() -> None:
    pane = StackPane(PALETTE)
    message = "the matrix has 120 rows, and 96 were given: " + "x" * 50 + " 日本語の長い説明 (give 120)"
    error = ExceptionInfo(type="ValueError", message=message, traceback=f"Traceback:\nValueError: {message}")
    for width in (30, 48, 100):
        pane = StackPane(PALETTE)
        async with shown(pane, width, 24):
            pane.show(kernel_stop(exception=error))
            found = lines(pane)
            frame = next(index for index, line in enumerate(found) if "▶" in line)
            assert not any("…" in line for line in found[:frame])
            said = "".join(line.strip() for line in found[:frame])
            assert said.replace(" ", "") == f"ValueError: {message}".replace(" ", "")


async def test_a_short_pane_shows_the_beginning_of_the_exception_at_every_size() -> None:
    pane = StackPane(PALETTE)
    error = ExceptionInfo(
        type="ValueError", message="the matrix is singular " * 6, traceback="Traceback:\n  ValueError"
    )
    async with shown(pane, 50, 4) as pilot:
        pane.show(kernel_stop(exception=error))
        await pilot.resize_terminal(46, 5)
        await pilot.pause()
        assert lines(pane)[0].startswith(" ValueError: the matrix is singular")


async def test_a_long_function_name_leaves_the_line_number_whole() -> None:
    pane = StackPane(PALETTE)
    frames = tuple(
        Frame(index=i, function=name, file="/p/preconditioners.py", line=1204, kind=FrameKind.PYTHON)
        for i, name in enumerate(("apply_incomplete_cholesky_preconditioner", "solve"))
    )
    async with shown(pane, 48, 4):
        pane.show(kernel_stop(frames=frames))
        assert lines(pane)[:2] == [
            " ▶ apply_incomplete_c… preconditioners.py:1204",
            "   solve               preconditioners.py:1204",
        ]


async def test_values_are_aligned_and_changes_keep_the_old_value() -> None:
    pane = VariablesPane(PALETTE)
    async with shown(pane, 70, 5) as pilot:
        pane.show(kernel_stop())
        assert lines(pane)[:3] == [
            " row_sum  float                 253.649  « 0.0",
            " j        int                        96",
            " a        float64[256, 1024]  host, rows",
        ]
        await pilot.press("enter")
        await pilot.pause()
        assert [m.expression for m in sent(pilot, Inspect)] == ["row_sum"]


async def test_a_slice_is_a_row_of_numbers_over_its_statistics() -> None:
    pane = WatchesPane(PALETTE)
    part = slice_of("y[j:j+4]", [0.32433, 0.15355, 0.8812, float("nan")])
    watch = Watch(id=1, expression="y[j:j+4]", evaluation=Evaluation(text="", type="float64", slice=part))
    async with shown(pane, 60, 5):
        pane.show((watch,))
        assert lines(pane)[:2] == [
            " y[j:j+4]   0.32433  0.15355  0.8812       nan",
            "           1 NaN 0 Inf · min 0.15355 max 0.8812 …",
        ]


async def test_numbers_that_dont_fit_are_left_out_whole() -> None:
    pane = WatchesPane(PALETTE)
    part = slice_of("y", [1.5 + number for number in range(40)], total=100_000)
    watch = Watch(id=1, expression="y", evaluation=Evaluation(text="", type="float64", slice=part))
    async with shown(pane, 40, 6):
        pane.show((watch,))
        assert lines(pane)[:5] == [
            " y       1.5      2.5      3.5",
            "         4.5      5.5      6.5",
            "         7.5      8.5      9.5",
            "        10.5     11.5     12.5 …",
            "    min 1.5 max 40.5 · no NaN …",
        ]


async def test_a_changed_scalar_and_an_error() -> None:
    pane = WatchesPane(PALETTE)
    changed = Watch(id=1, expression="n", evaluation=Evaluation(text="5", type="int"), changed=True, previous="4")
    failed = Watch(id=2, expression="q", evaluation=None, error="ZeroDivisionError: division by zero")
    async with shown(pane, 50, 4):
        pane.show((changed, failed))
        assert lines(pane)[:2] == [" n  5  « 4", " q  ZeroDivisionError: division by zero"]


async def test_a_watch_out_of_scope_keeps_its_last_value_and_says_from_where() -> None:
    pane = WatchesPane(PALETTE)
    number = Watch(
        id=1, expression="n", evaluation=Evaluation(text="5", type="int"), error="not in scope here", seen="a.py:3"
    )
    part = slice_of("y[j:j+9]", [0.5 * index for index in range(9)])
    array = Watch(
        id=2, expression="y", evaluation=Evaluation(text="", slice=part), error="not in scope here", seen="a.py:9"
    )
    never = Watch(id=3, expression="q", evaluation=None, error="not in scope here")
    async with shown(pane, 70, 8):
        pane.show((number, array, never))
        assert lines(pane)[:5] == [
            " n  not in scope here · 5 at a.py:3",
            " y       0.0      0.5      1.0      1.5      2.0      2.5      3.0",
            "         3.5      4.0",
            "    not in scope here · the values at a.py:9",
            " q  not in scope here",
        ]
        before = pane.row_count()
        pane.show((number, msgspec.structs.replace(array, error=""), never))
        assert pane.row_count() == before  # nothing moves when it comes into scope again


async def test_empty_arrays_and_rows_are_said_to_be_empty() -> None:
    pane = WatchesPane(PALETTE)
    watches = []
    for number, shape in enumerate([(0,), (3, 0), (0, 3)], 1):
        array = np.zeros(shape)
        part = Slice(expression="e", dtype="float64", shape=shape, values=array, statistics=statistics(array))
        watches.append(Watch(id=number, expression=f"e{number}", evaluation=Evaluation(text="", slice=part)))
    async with shown(pane, 60, 8):
        pane.show(tuple(watches))
        assert [line.split()[:2] for line in lines(pane)[:6:2]] == [["e1", "empty"], ["e2", "empty"], ["e3", "empty"]]


async def test_a_narrow_pane_keeps_the_value_of_before_whole() -> None:
    pane = VariablesPane(PALETTE)
    async with shown(pane, 42, 5):
        pane.show(kernel_stop())
        assert lines(pane)[:3] == [
            " row_sum  float      253.649  « 0.0",
            " j        int             96",
            " a        float64[256, 1024]  host, rows",
        ]


def scalar(name: str, kind: str, text: str, previous: str = "") -> Variable:
    return Variable(
        name=name, type=kind, text=text, kind=VariableKind.SCALAR, changed=bool(previous), previous=previous
    )


async def test_values_that_differ_only_late_are_told_apart_and_short_ones_are_not_padded() -> None:
    pane = VariablesPane(PALETTE)
    variables = (
        scalar("quarter", "float", "0.25"),
        scalar("third", "float", "0.3333333333333333"),
        scalar("nearly", "float", "0.12345671", "0.12345672"),
        scalar("count", "int", "7", "6"),
        scalar("wrong", "float", "nan", "1.5"),
        scalar("turn", "complex", "(0.3333333333333333+2j)"),
    )
    async with shown(pane, 70, 8):
        pane.show(kernel_stop(variables=variables))
        rows = lines(pane)
        assert [row.split()[2:] for row in rows[:6]] == [
            ["0.25"],
            ["0.333333"],
            ["0.12345671", "«", "0.12345672"],
            ["7", "«", "6"],
            ["nan", "«", "1.5"],
            ["0.333333+2.0j"],
        ]
        ends = {row.partition("«")[0].rstrip() for row in rows[:6]}
        assert len({len(end) for end in ends}) == 1  # right-aligned


async def test_long_names_wide_characters_and_huge_integers_keep_the_columns() -> None:
    pane = VariablesPane(PALETTE)
    variables = (
        scalar("温度", "float", "21.5"),
        scalar("a_name_that_is_very_long_indeed_for_a_pane", "int", "3"),
        scalar("factorial", "int", str(10**70), "1"),
        Variable(name="words", type="list", text=repr(["日本語"] * 20), changed=True, previous="[]"),
    )
    async with shown(pane, 60, 6):
        pane.show(kernel_stop(variables=variables))
        rows = lines(pane)
        assert all(cell_len(row) <= 60 for row in rows)
        name = 23
        assert rows[0].startswith(" 温度")
        assert rows[1].startswith(" a_name_that_is_very…  int")
        assert rows[2].endswith("…")  # cut only at its end, and Enter shows all of it
        assert rows[3].endswith("…  « …")
        assert {
            cell_len(row[: row.index(kind)]) for row, kind in zip(rows, ("float", "int", "int", "list"), strict=False)
        } == {name}


async def test_a_paused_optimised_kernel_says_why_it_has_no_variables() -> None:
    pane = VariablesPane(PALETTE)
    kernel = kernel_stop().kernel
    assert kernel is not None
    argument = Variable(name="cols", type="int", text="1024", kind=VariableKind.SCALAR, value=1024, scope="argument")
    for width in (40, 70):
        pane = VariablesPane(PALETTE)
        async with shown(pane, width, 8) as pilot:
            pane.show(kernel_stop(variables=(argument,), kernel=msgspec.structs.replace(kernel, build="release")))
            rows = lines(pane)
            said = " ".join(row.strip() for row in rows[:-1] if "cols" not in row).strip()
            assert said == (
                "The optimised build of yax keeps no variables; below are the arguments it was launched with. "
                "Set a breakpoint in it, and its next launch runs a debug build, which keeps all."
            )
            assert [row.split() for row in rows if "cols" in row] == [["cols", "int", "1024"]]
            await pilot.press("end", "enter")
            await pilot.pause()
            assert [m.expression for m in sent(pilot, Inspect)] == ["cols"]
