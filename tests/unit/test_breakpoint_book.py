"""What the person asked for, against what became of it."""

from __future__ import annotations

import pytest

from pkdb_tui.engine.api import BreakpointSpec, BreakpointState
from pkdb_tui.engine.breakpoints import BreakpointBook, parse_threads
from pkdb_tui.engine.errors import BreakpointError
from pkdb_tui.engine.native.base import NativePlacement
from pkdb_tui.engine.protocol import Placement

LINE = BreakpointSpec(file="/a.py", line=3)


@pytest.mark.parametrize(
    ("text", "threads"),
    [
        ("", ()),
        ("3", (3,)),
        ("1,5", (1, 5)),
        ("0:4", (0, 1, 2, 3)),
        ("[0:4]", (0, 1, 2, 3)),
        (":2", (0, 1)),
        ("5, 1, 1", (1, 5)),
        ("0:2,7", (0, 1, 7)),
    ],
)
def test_threads_as_written(text: str, threads: tuple[int, ...]) -> None:
    assert parse_threads(text) == threads


@pytest.mark.parametrize("text", ["x", "4:4", "4:2", "-1:3", "1.5", "0:99999999999"])
def test_threads_that_make_no_sense(text: str) -> None:
    with pytest.raises(BreakpointError, match="does not name kernel threads"):
        parse_threads(text)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (BreakpointSpec(file="/a.py", line=3, condition="n >"), "The condition `n >` is not a Python expression"),
        (BreakpointSpec(watch="out["), "The watch expression `out\\[` is not a Python expression"),
        (BreakpointSpec(file="/a.py", line=3, log="{1+}"), "The log text can't be read"),
        (BreakpointSpec(file="/a.py", line=3, log="i={i"), "The log text can't be read: .*expecting '}'"),
        (BreakpointSpec(file="/a.py", line=3, ignore=-1), "An ignore count can't be -1"),
        (BreakpointSpec(file="/a.py"), "There is no line 0"),
        (BreakpointSpec(file="/a.py", line=3, threads="4:2"), "does not name kernel threads"),
    ],
)
def test_what_could_never_work_is_refused(spec: BreakpointSpec, words: str) -> None:
    book = BreakpointBook()
    with pytest.raises(BreakpointError, match=words):
        book.add(spec)
    assert book.public() == ()


def test_numbers_are_never_used_twice() -> None:
    book = BreakpointBook()
    book.add(LINE)
    book.add(LINE)
    book.remove([2])
    assert book.add(LINE).id == 3
    assert [each.id for each in book.public()] == [1, 3]


def test_removing_is_all_or_nothing() -> None:
    book = BreakpointBook()
    book.add(LINE)
    with pytest.raises(BreakpointError, match="There is no breakpoint 7"):
        book.remove([1, 7])
    assert [each.id for each in book.public()] == [1]


def test_a_python_line_from_pending_to_bound_to_moved() -> None:
    book = BreakpointBook()
    entry = book.add(LINE)
    assert entry.state() == (BreakpointState.PENDING, "")
    book.placed([Placement(id=1, state="bound", file="/a.py", line=3, hits=2)])
    assert (entry.state(), entry.hits, entry.line) == ((BreakpointState.BOUND, ""), 2, 3)
    book.placed([Placement(id=1, state="bound", file="/a.py", line=4, reason="line 3 has no code: moved to 4")])
    assert (entry.state()[1], entry.line) == ("line 3 has no code: moved to 4", 4)
    book.placed([Placement(id=1, state="cannot bind", reason="/a.py can't be read")])
    assert entry.state() == (BreakpointState.UNBOUND, "/a.py can't be read")


def test_a_kernel_line_is_bound_only_where_the_native_debugger_bound_it() -> None:
    book = BreakpointBook()
    entry = book.add(LINE)
    book.placed([Placement(id=1, state="bound", file="/a.py", line=3, kernel="scale")])
    assert entry.state() == (BreakpointState.PENDING, "the kernel has not run yet")
    book.placed_natively([NativePlacement(id=1, locations=2)])
    assert entry.state() == (BreakpointState.BOUND, "")
    book.placed_natively([NativePlacement(id=1, locations=0, reason="line 3 is not a kernel line")])
    assert entry.state() == (BreakpointState.UNBOUND, "line 3 is not a kernel line")
    entry.unavailable = "gdb is not installed"
    assert entry.state() == (BreakpointState.UNBOUND, "gdb is not installed")
    entry.enabled = False
    assert entry.state() == (BreakpointState.DISABLED, "")


def test_hits_of_both_sides_add_up_and_go_with_the_process() -> None:
    book = BreakpointBook()
    entry = book.add(LINE)
    book.placed([Placement(id=1, state="bound", file="/a.py", line=3, kernel="scale", hits=1)])
    book.hit({1: 4, 9: 1})
    assert entry.hits == 5
    book.forget_bindings()
    assert (entry.hits, entry.state()) == (0, (BreakpointState.PENDING, ""))


def test_what_the_program_is_asked_for() -> None:
    book = BreakpointBook()
    book.add(LINE)
    book.add(LINE, enabled=False)
    book.add(BreakpointSpec(watch="out[3]"))
    (request,) = book.requests()
    assert request == {
        "id": 1,
        "file": "/a.py",
        "line": 3,
        "function": "",
        "condition": "",
        "ignore": 0,
        "serial": 0,
        "temporary": False,
        "log": "",
    }


def test_temporary_ones_are_spent_by_their_hit() -> None:
    book = BreakpointBook()
    book.add(LINE)
    book.add(BreakpointSpec(file="/a.py", line=4, temporary=True))
    assert not book.spend_temporaries([1])
    assert book.spend_temporaries([1, 2, 5])
    assert [each.id for each in book.public()] == [1]


def test_names_of_sources_that_are_no_files_stay_as_they_are() -> None:
    assert BreakpointBook().add(BreakpointSpec(file="<stdin>", line=1)).file == "<stdin>"


def test_what_needs_a_native_debugger() -> None:
    book = BreakpointBook()
    book.add(LINE)
    book.add(BreakpointSpec(file="/a.py", line=5))
    book.add(BreakpointSpec(watch="out[3]"))
    book.placed([Placement(id=1, state="bound", file="/a.py", line=3, kernel="scale")])
    assert [entry.id for entry in book.in_kernels()] == [1, 3]
