"""Output on its way from the program's terminal: whole lines, nothing lost, and a bound."""

from __future__ import annotations

import random

from pkdb_tui.engine.held_output import HeldOutput


def held(*parts: bytes, most: int = 1 << 20) -> HeldOutput:
    output = HeldOutput(most)
    for part in parts:
        output.add(part)
    return output


def test_a_line_that_comes_in_two_parts_is_delivered_whole() -> None:
    output = held(b"first\r\nwith 4.0")
    assert output.take_lines() == (b"first\r\n", 0)
    output.add(b"\r\n")
    assert output.take_lines() == (b"with 4.0\r\n", 0)
    assert not output


def test_a_question_is_held_once_only() -> None:
    output = held(b"name? ")
    assert output.take_later() == (b"", 0)
    assert output
    assert output.take_later() == (b"name? ", 0)
    assert not output


def test_a_line_begun_behind_a_whole_one_is_held_anew() -> None:
    output = held(b"a")
    output.take_later()
    output.add(b"b\nc")
    assert output.take_later() == (b"ab\n", 0)
    output.add(b"d\n")
    assert output.take_later() == (b"cd\n", 0)


def test_what_is_said_meanwhile_never_splits_a_line_however_long_that_takes() -> None:
    output = held(b"one\r\nwi")
    assert output.take_later() == (b"one\r\n", 0)
    assert output.take_lines() == (b"", 0)
    assert output.take_lines() == (b"", 0)
    output.add(b"th 4.0\r\n")
    assert output.take_lines() == (b"with 4.0\r\n", 0)


def test_at_a_stop_all_is_taken() -> None:
    output = held(b"one\ntw")
    assert output.take() == (b"one\ntw", 0)
    assert output.take() == (b"", 0)


def test_what_is_too_much_is_dropped_from_the_front_and_counted() -> None:
    output = held(b"12345", b"678", b"9\n", most=6)
    assert output.take_lines() == (b"6789\n", 5)
    assert output.take() == (b"", 0)


def test_nothing_is_lost_or_changed_however_it_comes() -> None:
    choice = random.Random(7)
    written = b"".join(choice.choice((b"word ", b"\r", b"\n", b"\r\n", b"x" * 50)) for _ in range(2000))
    output, taken, position = HeldOutput(1 << 20), b"", 0
    while position < len(written):
        size = choice.randint(1, 40)
        output.add(written[position : position + size])
        position += size
        if choice.random() < 0.5:
            taken += choice.choice((output.take, output.take_lines, output.take_later))()[0]
    assert taken + output.take()[0] == written
