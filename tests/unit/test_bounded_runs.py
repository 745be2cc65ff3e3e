"""Time limits that come just as a run ends, by itself or by an exception: nothing arrives behind it."""

from __future__ import annotations

import functools
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from pkdb_tui.engine.debuggee.limits import SIGNAL, EvaluationInterrupted, EvaluationTimedOut, Limits

RUNS = 600
LIMIT = 0.002


pytestmark = pytest.mark.filterwarnings("error")  # also what arrives in a thread of another


@pytest.fixture
def limits() -> Iterator[Limits]:
    """Those of this process, whose main thread this is."""
    found = Limits(threading.get_ident())
    before = signal.signal(SIGNAL, lambda number, frame: found.on_signal())
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # threads meet at every place that they can
    yield found
    sys.setswitchinterval(usual)
    signal.signal(SIGNAL, before)


def spin(until: float, fails: bool = False) -> None:
    while time.monotonic() < until:
        pass
    if fails:
        raise ZeroDivisionError


def outside(limits: Limits) -> dict[str, int]:
    """How runs that take about as long as they may ended; fails where one is broken off behind its end."""
    choice = random.Random(11)
    ends = {"over": 0, "failed": 0, "broken off": 0}
    for _ in range(RUNS):
        fails, until = choice.random() < 0.5, time.monotonic() + LIMIT * choice.uniform(0.9, 1.1)
        try:
            limits.run(LIMIT, functools.partial(spin, until, fails))
            ends["over"] += 1
        except ZeroDivisionError:
            ends["failed"] += 1
        except EvaluationInterrupted:
            ends["broken off"] += 1
        for _ in range(2000):  # where it would arrive
            pass
    return ends


def test_on_the_main_thread(limits: Limits) -> None:
    ends = outside(limits)
    assert sum(ends.values()) == RUNS


def test_on_another_thread(limits: Limits) -> None:
    ends: list[dict[str, int]] = []
    faults: list[BaseException] = []

    def work() -> None:
        try:
            ends.append(outside(limits))
        except BaseException as error:  # noqa: BLE001 - it is what is looked for
            faults.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert faults == []
    assert sum(ends[0].values()) == RUNS


def test_an_interrupt_of_a_run_that_fails_is_not_left_for_the_next(limits: Limits) -> None:
    for _ in range(200):
        interrupting = threading.Thread(target=limits.interrupt)

        def work(begin: Callable[[], None] = interrupting.start) -> None:
            begin()
            raise ZeroDivisionError

        with pytest.raises((ZeroDivisionError, EvaluationInterrupted)):
            limits.run(10.0, work)
        interrupting.join()
        assert limits.run(10.0, lambda: sum(range(1000))) == 499500


def test_a_run_that_fails_hands_on_what_came_for_the_one_around_it(limits: Limits) -> None:
    """It arrives as the inner run is being left by an exception of its own, which the outer one catches."""

    def fails() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [SIGNAL])
        limits.interrupt()
        raise ZeroDivisionError

    def around() -> str:
        try:
            with suppress(ZeroDivisionError):
                limits.run(10.0, fails)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [SIGNAL])
        return "went on"

    with pytest.raises(EvaluationInterrupted):
        limits.run(10.0, around)
    assert limits.run(10.0, lambda: sum(range(1000))) == 499500


def test_the_end_of_a_run_inside_another_takes_nothing_from_that(limits: Limits) -> None:
    """Both times are over at about the same moment: whichever is first, the outer one doesn't go on."""
    for number in range(100):
        until = time.monotonic() + 5.0
        with pytest.raises(EvaluationTimedOut):
            limits.run(LIMIT, functools.partial(inner_runs, limits, until, LIMIT * (0.5 + number / 100)))
        assert time.monotonic() < until


def inner_runs(limits: Limits, until: float, seconds: float) -> None:
    while time.monotonic() < until:
        with suppress(ZeroDivisionError):
            limits.run(seconds, lambda: spin(time.monotonic() + seconds * 0.99, fails=True))
