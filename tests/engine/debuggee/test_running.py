"""Pause, threads and asyncio: the right line, within half a second, and the program goes on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from debuggee_client import PATIENCE, Client, where

Program = Callable[..., Client]


def pause(client: Client) -> dict[str, object]:
    begun = time.monotonic()
    client.request("pause")
    stop = client.event("stopped")
    assert time.monotonic() - begun < 0.5
    assert stop["reason"] == "pause"
    return stop


@pytest.mark.parametrize(
    ("before", "wait", "lines"),
    [
        ("done = False", "while not done:\n    pass", (3, 4, 5)),  # a signal may also land at the end of the print
        ("", "time.sleep(30)", (4,)),
        ("t = threading.Thread(target=time.sleep, args=(30,), daemon=True); t.start()", "t.join()", (4,)),
        ("lock = threading.Lock(); lock.acquire()", "lock.acquire()", (4,)),
        ("", "input()", (4,)),
    ],
)
def test_pause_in_plain_code(program: Program, before: str, wait: str, lines: tuple[int, ...]) -> None:
    client = program(f"import threading, time\n{before}\nprint('up', flush=True)\n{wait}\n")
    client.start()
    client.resume("continue")
    client.until_printed("up")
    if not wait.startswith("while"):
        until_it_waits(client.process.pid)
    stop = pause(client)
    assert where(stop)[0] == "<module>"
    assert where(stop)[1] in lines
    client.resume("continue")
    stop = pause(client)
    assert where(stop)[1] in lines


def test_pause_in_asyncio_shows_the_awaiting_line(program: Program) -> None:
    client = program(
        """
        import asyncio

        async def ticker():
            print("up", flush=True)
            for _ in range(400):
                await asyncio.sleep(0.05)

        asyncio.run(ticker())
        """
    )
    client.start()
    client.resume("continue")
    client.until_printed("up")
    for _ in range(3):
        stop = pause(client)
        assert where(stop)[0] == "ticker"
        assert where(stop)[1] in (4, 5, 6)
        client.resume("continue")


def test_pause_in_asyncio_that_only_waits_stops_where_it_is(program: Program) -> None:
    client = program(
        """
        import asyncio

        async def waits():
            print("up", flush=True)
            await asyncio.sleep(30)

        asyncio.run(waits())
        """
    )
    client.start()
    client.resume("continue")
    client.until_printed("up")
    until_it_waits(client.process.pid)
    stop = pause(client)
    assert where(stop) == ("<module>", 7)


def test_a_step_after_a_pause_goes_to_the_next_line(program: Program) -> None:
    client = program("n = 0\nprint('up', flush=True)\nwhile True:\n    n += 1\n    n -= 1\n")
    client.start()
    client.resume("continue")
    client.until_printed("up")
    stop = pause(client)
    before = where(stop)[1]
    after = client.line("next")
    # A signal lands between two instructions: on any line of the loop, or still at the end of the print.
    assert (before, after) in {(2, 3), (3, 4), (4, 5), (5, 3), (5, 4), (4, 4), (5, 5), (3, 3), (3, 5)}
    order = [client.line("next") for _ in range(4)]
    assert set(order) <= {3, 4, 5}


def test_the_thread_that_hits_stops_and_the_others_run(program: Program, tmp_path: Path) -> None:
    client = program(
        """
        import threading, time

        ticks = 0
        def tick():
            global ticks
            while True:
                ticks += 1
                time.sleep(0.001)

        def work():
            value = 42
            return value

        threading.Thread(target=tick, daemon=True, name="ticker").start()
        t = threading.Thread(target=work, name="worker")
        t.start()
        t.join()
        print("joined")
        """
    )
    client.start({"file": str(tmp_path / "program.py"), "line": 12})
    stop = client.go("continue")
    assert where(stop) == ("work", 12)
    threads = {t["name"]: (t["current"], t["function"]) for t in stop["threads"]}
    assert threads["worker"] == (True, "work")
    assert threads["MainThread"] == (False, "<module>")
    assert threads["ticker"][0] is False
    first = int(client.text("ticks"))
    deadline = time.monotonic() + PATIENCE
    while int(client.text("ticks")) == first:
        assert time.monotonic() < deadline
    assert client.text("value") == "42"
    assert client.run_out() == 0
    assert client.printed == "joined\n"


def test_two_threads_that_hit_at_once_are_shown_one_after_the_other(program: Program, tmp_path: Path) -> None:
    client = program(
        """
        import threading

        barrier = threading.Barrier(3)
        def work(name):
            barrier.wait()
            return name

        threads = [threading.Thread(target=work, args=(n,)) for n in "abc"]
        for t in threads: t.start()
        for t in threads: t.join()
        print("end")
        """
    )
    client.start({"file": str(tmp_path / "program.py"), "line": 6})
    names = []
    for _ in range(3):
        client.go("continue")
        names.append(client.text("name"))
    assert sorted(names) == ["'a'", "'b'", "'c'"]
    assert client.run_out() == 0


def test_a_runaway_expression_in_another_thread_ends_too(program: Program, tmp_path: Path) -> None:
    client = program(
        """
        import threading

        def work():
            return 1

        t = threading.Thread(target=work)
        t.start()
        t.join()
        """
    )
    client.start({"file": str(tmp_path / "program.py"), "line": 4})
    client.go("continue")
    assert client.evaluate("while True: pass", timeout=0.3)["error"] == "stopped after 0.3 s"
    assert client.text("1 + 1") == "2"
    assert client.run_out() == 0


ASYNC = """
    import asyncio

    async def value():
        await asyncio.sleep(0)
        return 5

    async def main():
        a = await value()
        b = a + 1
        return b

    print(asyncio.run(main()))
"""


def test_await_at_a_stop_in_a_coroutine(program: Program, tmp_path: Path) -> None:
    client = program(ASYNC)
    client.start({"file": str(tmp_path / "program.py"), "line": 9})
    client.go("continue")
    assert client.text("await value() + a") == "10"
    assert client.text("await asyncio.sleep(0.01, 'slept')") == "'slept'"
    assert client.run_out() == 0
    assert client.printed == "6\n"


def test_next_over_an_await_stays_in_the_coroutine(program: Program, tmp_path: Path) -> None:
    client = program(ASYNC)
    client.start({"file": str(tmp_path / "program.py"), "line": 8, "temporary": True})
    client.go("continue")
    assert where(client.go("next")) == ("main", 9)
    assert client.text("a") == "5"


def test_h03_the_three_places(launch: Callable[..., Client], tmp_path: Path) -> None:
    text = """
import asyncio
import threading
import time


async def ticker():
    print("ticking", flush=True)
    while len(over) < 2:
        await asyncio.sleep(0.05)


def busy():
    while not over:
        pass


over = []
gate = threading.Event()
if __name__ == "__main__":
    print("busy", flush=True)
    busy()
    asyncio.run(ticker())
    t = threading.Thread(target=gate.wait)
    t.start()
    print("waiting", flush=True)
    t.join()
    print("finished")
"""
    (tmp_path / "loops.py").write_text(text)
    client = launch(tmp_path / "loops.py")
    client.start()
    client.resume("continue")
    client.until_printed("busy")
    assert where(pause(client))[0] in ("busy", "<module>")
    client.text("over.append(1)")
    client.resume("continue")
    client.until_printed("ticking")
    assert where(pause(client)) in (("ticker", 8), ("ticker", 9), ("ticker", 10))
    client.text("over.append(2)")
    client.resume("continue")
    client.until_printed("waiting")
    stop = pause(client)
    assert where(stop)[0] == "<module>"
    client.text("gate.set()", frame=stop["frame"])
    assert client.run_out() == 0


def test_the_programs_own_breakpoint_call_stops_there(program: Program) -> None:
    client = program("def f():\n    breakpoint()\n    return 1\n\nprint(f())\n")
    client.start()
    stop = client.go("continue")
    assert (stop["reason"], stop["breakpoints"], where(stop)) == ("breakpoint", [], ("f", 2))
    assert client.line("next") == 3
    assert client.run_out() == 0


def test_an_interrupt_typed_while_stopped_arrives_when_the_program_goes_on(program: Program, tmp_path: Path) -> None:
    client = program(
        """
        import time
        try:
            print("up", flush=True)
            time.sleep(30)
        except KeyboardInterrupt:
            print("interrupted")
        """
    )
    client.start({"file": str(tmp_path / "program.py"), "line": 4})
    client.go("continue")
    os.kill(client.process.pid, signal.SIGINT)
    assert client.text("1 + 1") == "2"
    assert client.run_out() == 0
    assert client.printed == "up\ninterrupted\n"


WAITING_TURN = """
    import threading, time

    def work():
        here = 1
        return here

    def main():
        print("waiting", flush=True)
        there = 2
        time.sleep(30 * there)

    try:
        worker = threading.Thread(target=work)
        worker.start()
        main()
        worker.join()
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_an_interrupt_while_a_stop_waits_for_that_of_another_thread_loses_neither(
    program: Program, tmp_path: Path
) -> None:
    client = program(WAITING_TURN)
    file = str(tmp_path / "program.py")
    client.start({"file": file, "line": 5}, {"file": file, "line": 9})
    assert where(client.go("continue")) == ("work", 5)
    client.until_printed("waiting")
    until_it_waits(client.process.pid)
    os.kill(client.process.pid, signal.SIGINT)
    assert client.text("here") == "1"
    assert where(client.go("continue")) == ("main", 9)
    assert client.run_out() == 0
    assert client.printed.endswith("interrupted\n")


def until_it_waits(pid: int) -> None:
    """Until the first thread sleeps in the system."""
    deadline = time.monotonic() + PATIENCE
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "S":
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_clearing_all_breakpoints_while_running_and_setting_one_again(program: Program, tmp_path: Path) -> None:
    client = program(
        """
        def spin():
            n = 0
            while True:
                n += 1

        print("up", flush=True)
        spin()
        """
    )
    file = str(tmp_path / "program.py")
    client.start({"file": file, "line": 4, "condition": "n < 0"})
    client.resume("continue")
    client.until_printed("up")
    client.set_breakpoints()
    for _ in range(3):
        client.set_breakpoints({"file": file, "line": 4})
        assert where(client.event("stopped")) == ("spin", 4)
        client.set_breakpoints()
        client.resume("continue")
