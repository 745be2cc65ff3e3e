"""Stack, variables and watches as lines of text."""

from __future__ import annotations

from host import PALETTE, lines, sent, shown
from values import kernel_stop, slice_of

from pkdb_tui.engine.api import Evaluation, ExceptionInfo, ExitCause, Watch
from pkdb_tui.panes.base import RunCommand
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
        assert [m.text for m in sent(pilot, RunCommand)] == ["frame 1"]  # type: ignore[attr-defined]


async def test_an_uncaught_exception_shows_its_traceback_below_the_frames() -> None:
    pane = StackPane(PALETTE)
    error = ExceptionInfo(type="KeyError", message="'missing'", traceback="Traceback:\n  File x\nKeyError: 'missing'")
    async with shown(pane, 60, 8):
        pane.show(kernel_stop(exception=error))
        assert lines(pane)[3:6] == [" Traceback:", "   File x", " KeyError: 'missing'"]
        pane.show_end(ExitCause(status=1, exception=error))
        assert lines(pane)[2] == " KeyError: 'missing'"


async def test_values_are_aligned_and_changes_keep_the_old_value() -> None:
    pane = VariablesPane(PALETTE)
    async with shown(pane, 70, 5) as pilot:
        pane.show(kernel_stop())
        assert lines(pane)[:3] == [
            " row_sum  float               253.64878  « 0.0000000",
            " j        int                        96",
            " a        float64[256, 1024]  host, rows",
        ]
        await pilot.press("enter")
        await pilot.pause()
        assert [m.text for m in sent(pilot, RunCommand)] == ["print row_sum"]  # type: ignore[attr-defined]


async def test_a_slice_is_a_row_of_numbers_over_its_statistics() -> None:
    pane = WatchesPane(PALETTE)
    part = slice_of("y[j:j+4]", [0.32433, 0.15355, 0.8812, float("nan")])
    watch = Watch(id=1, expression="y[j:j+4]", evaluation=Evaluation(text="", type="float64", slice=part))
    async with shown(pane, 60, 5):
        pane.show((watch,))
        assert lines(pane)[:2] == [
            " y[j:j+4]    0.32433   0.15355   0.88120 nan",
            "           1 NaN 0 Inf · min 0.15355 max 0.88120",
        ]


async def test_numbers_that_dont_fit_are_left_out_whole() -> None:
    pane = WatchesPane(PALETTE)
    part = slice_of("y", [1.5 + number for number in range(40)], total=100_000)
    watch = Watch(id=1, expression="y", evaluation=Evaluation(text="", type="float64", slice=part))
    async with shown(pane, 40, 5):
        pane.show((watch,))
        first, second = lines(pane)[:2]
        assert first == " y   1.5000  2.5000  3.5000  4.5000 …"
        assert second == "    min 1.5000 max 40.500 · no NaN"


async def test_a_changed_scalar_and_an_error() -> None:
    pane = WatchesPane(PALETTE)
    changed = Watch(id=1, expression="n", evaluation=Evaluation(text="5", type="int"), changed=True, previous="4")
    failed = Watch(id=2, expression="q", evaluation=None, error="there is no q here")
    async with shown(pane, 50, 4):
        pane.show((changed, failed))
        assert lines(pane)[:2] == [" n  5  « 4", " q  there is no q here"]


async def test_a_narrow_pane_keeps_the_value_of_before_whole() -> None:
    pane = VariablesPane(PALETTE)
    async with shown(pane, 42, 5):
        pane.show(kernel_stop())
        assert lines(pane)[:3] == [
            " row_sum  float    253.64878  « 0.0000000",
            " j        int             96",
            " a        float64[256, 1024]  host, rows",
        ]
