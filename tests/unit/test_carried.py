"""Breakpoints of a kernel and their copies in the texts that run in its place."""

from __future__ import annotations

import msgspec

from pkdb_tui.engine.api import BreakpointSpec
from pkdb_tui.engine.breakpoints import BreakpointBook
from pkdb_tui.engine.carried import Carried, Text

ORIGINAL = Text("/p/k.py", 10, "def k(i):\n    a = 1\n    b = 2")
FIRST = Text("/e/1.py", 10, "def k(i):\n    new = 0\n    a = 1\n    b = 2")
SECOND = Text("/e/2.py", 10, "def k(i):\n    new = 0\n    new = 1\n    a = 1\n    b = 2")


def book_with(*lines: int) -> tuple[BreakpointBook, Carried]:
    book = BreakpointBook()
    for line in lines:
        book.add(BreakpointSpec(file=ORIGINAL.path, line=line))
    return book, Carried(book)


def shown(book: BreakpointBook) -> list[tuple[int, str, int]]:
    return [(entry.id, entry.file, entry.line) for entry in book.entries.values()]


def test_only_breakpoints_in_the_kernel_are_carried_and_each_once() -> None:
    book, carried = book_with(9, 11, 12, 13)
    for _ in range(2):
        carried.follow(ORIGINAL, [FIRST], [])
    assert shown(book)[4:] == [(5, "/e/1.py", 12), (6, "/e/1.py", 13)]
    assert [entry.public().reason for entry in book.entries.values()][4:] == [
        "2 in the edited kernel",
        "3 in the edited kernel",
    ]


def test_a_copy_goes_on_in_the_next_text_and_goes_with_the_last() -> None:
    book, carried = book_with(12)
    carried.follow(ORIGINAL, [FIRST], [])
    carried.follow(ORIGINAL, [SECOND], [FIRST])
    assert shown(book) == [(1, "/p/k.py", 12), (2, "/e/2.py", 14)]
    carried.follow(ORIGINAL, [], [SECOND])
    assert shown(book) == [(1, "/p/k.py", 12)]


def test_what_the_person_does_to_a_copy_stays_until_the_original_changes() -> None:
    book, carried = book_with(11, 12)
    carried.follow(ORIGINAL, [FIRST], [])
    book.remove([3])
    book.change(4, msgspec.structs.replace(book[4].spec, condition="i == 2"))
    carried.follow(ORIGINAL, [FIRST], [])
    assert sorted(book.entries) == [1, 2, 4]
    assert book[4].spec.condition == "i == 2"
    book.change(2, msgspec.structs.replace(book[2].spec, condition="i == 5"))
    book[2].enabled = False
    carried.follow(ORIGINAL, [FIRST], [])
    assert (book[4].spec.condition, book[4].enabled, book[4].line) == ("i == 5", False, 13)


def test_an_original_takes_its_copies_along_also_when_a_temporary_one_is_hit_there() -> None:
    book, carried = book_with(11, 12)
    book.change(2, msgspec.structs.replace(book[2].spec, temporary=True))
    carried.follow(ORIGINAL, [FIRST], [])
    book.remove([1])
    assert sorted(book.entries) == [2, 4]
    assert book.spend_temporaries([4])
    assert not book.entries


def test_a_breakpoint_set_in_an_edited_text_moves_to_the_one_that_took_its_place() -> None:
    book, carried = book_with()
    book.add(BreakpointSpec(file=FIRST.path, line=13))
    carried.follow(ORIGINAL, [FIRST], [])
    carried.follow(ORIGINAL, [SECOND], [FIRST])
    assert shown(book) == [(1, "/e/2.py", 14)]
