"""The MI transport against recorded sessions: whole, truncated, garbled, out of order, very long."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from pkdb_tui.engine.errors import NativeError, NativeLost
from pkdb_tui.engine.native.mi import MiProcess, Record, decode_bulk, parse_body, quote

REPLAYED = Path(__file__).with_name("replayed.py")
STOPPED = '*stopped,reason="breakpoint-hit",bkptno="1",thread-id="2",stopped-threads=["2"]'


class Played:
    """A transport to a replayed session, with what it reported in order."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.records: list[Record] = []
        self.ended = asyncio.Event()
        self._more = asyncio.Event()
        self.mi = MiProcess(self._record, self._end)

    def _record(self, record: Record) -> None:
        self.records.append(record)
        self._note(record.name)

    def _end(self, reason: str) -> None:
        self._note("end")
        self.ended.set()

    def _note(self, word: str) -> None:
        self.log.append(word)
        self._more.set()

    async def ask(self, command: str, timeout: float = 5.0) -> object:
        answer = await self.mi.command(command, timeout)
        self.log.append("reply")
        return answer

    async def until(self, name: str) -> None:
        async with asyncio.timeout(5):
            while name not in self.log:
                self._more.clear()
                await self._more.wait()


Play = Callable[[str], AbstractAsyncContextManager[Played]]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    @asynccontextmanager
    async def start(transcript: str) -> AsyncIterator[Played]:
        path = tmp_path / "session.mi"
        path.write_text(transcript)
        played = Played()
        await played.mi.start([sys.executable, str(REPLAYED), str(path)])
        try:
            yield played
        finally:
            await played.mi.close()

    return start


async def test_a_reply_is_told_before_the_records_behind_it(play: Play) -> None:
    async with play(f'> continue\n< {{token}}^running\n< *running,thread-id="2"\n< {STOPPED}') as played:
        assert await played.ask("-exec-continue") == {}
        await played.until("stopped")
        assert played.log == ["reply", "running", "stopped"]
        assert played.records[1].body["stopped-threads"] == ["2"]


async def test_replies_out_of_order_reach_their_askers(play: Play) -> None:
    transcript = '> a\n> b\n< {token2}^done,value="second"\n< {token1}^done,value="first"'
    async with play(transcript) as played:
        first, second = await asyncio.gather(played.ask("-a"), played.ask("-b"))
        assert (first, second) == ({"value": "first"}, {"value": "second"})


async def test_a_refusal_has_the_debuggers_words(play: Play) -> None:
    async with play('> x\n< {token}^error,msg="No symbol \\"j\\" in current context."') as played:
        with pytest.raises(NativeError, match='No symbol "j" in current context'):
            await played.ask("-x")


@pytest.mark.parametrize("damaged", ['{token}^done,threads=[{id="1",name="py', "{token}^do", '{token}^done,json="{"'])
async def test_a_truncated_reply_ends_the_debugger_and_frees_all_askers(play: Play, damaged: str) -> None:
    async with play(f'> a\n> b\n< {damaged}\n> c\n< {{token1}}^done,ok="1"') as played:
        answers = await asyncio.gather(played.ask("-a"), played.ask("-b"), return_exceptions=True)
        for answer in answers:
            assert isinstance(answer, NativeLost)
            assert "it told an answer that can't be read and was ended" in str(answer)
        assert played.mi.garbled == 1
        assert played.ended.is_set()


STOPS = (
    '*stopped,reason="breakpoint-hit",frame={addr="0x1",args=[{name="i"',
    "*stopped,reason=]",
    '*stopped,reason="never closed',
    '*stopped,stopped-threads=["1","2"',
)


@pytest.mark.parametrize("damaged", STOPS)
async def test_a_damaged_stop_ends_the_debugger(play: Play, damaged: str) -> None:
    """Its thread would stand for ever."""
    async with play(f"> a\n< {damaged}\n< {STOPPED}\n> b\n< {{token}}^done") as played:
        with pytest.raises(NativeLost, match="it told a stop that can't be read and was ended"):
            await played.ask("-a")
        assert played.mi.garbled == 1
        assert played.records == []


async def test_other_damaged_records_are_dropped(play: Play) -> None:
    async with play(f'> a\n< =thread-created,id="1\n< *running,thread-id=[\n< {STOPPED}\n< {{token}}^done') as played:
        await played.ask("-a")
        assert [r.body["thread-id"] for r in played.records] == ["2"]
        assert played.mi.garbled == 2


async def test_noise_between_records_is_ignored(play: Play) -> None:
    noise = 'Segmentation fault in \\xff\n< \x00\x01\n< ^done\n< 99999^done\n< (gdb)\n< ~"half a stream'
    async with play(f'> a\n< {noise}\n< {{token}}^done,ok="1"') as played:
        assert await played.ask("-a") == {"ok": "1"}
        assert played.records == []


async def test_a_very_long_reply_does_not_hold_the_loop(play: Play) -> None:
    async with play('> a\n< {token}^done,json="\\"{long}\\""') as played:
        assert await played.ask("-a") == "x" * 300_000


async def test_bulk_text_keeps_every_character(play: Play) -> None:
    value = {"name": 'a "quoted" \\ back', "unicode": "µ → ∞", "lines": "1\n2\t3"}
    text = json.dumps(json.dumps(value, ensure_ascii=True))[1:-1]
    async with play(f'> a\n< {{token}}^done,json="{text}"') as played:
        assert await played.ask("-a") == value


async def test_silence_ends_the_debugger_and_frees_the_asker(play: Play) -> None:
    async with play("> a\n> never") as played:
        with pytest.raises(NativeError, match=r"did not answer within 0\.2 s"):
            await played.ask("-a", timeout=0.2)
        async with asyncio.timeout(5):
            await played.ended.wait()
        assert not played.mi.running
        with pytest.raises(NativeError, match="not running"):
            await played.ask("-b")


@pytest.mark.parametrize("last", ['2^done,value="hal', "=thread-exited,id=", '*stopped,reason="breakp'])
async def test_death_in_the_middle_of_a_record_frees_all_askers(
    play: Play, last: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Its end is the reason they get; half a record is no fault of its own."""
    async with play(f"> a\n> b\n! {last}") as played:
        answers = await asyncio.gather(played.ask("-a"), played.ask("-b"), return_exceptions=True)
        assert [type(answer) for answer in answers] == [NativeLost, NativeLost]
        await played.until("end")
    assert (played.mi.garbled, caplog.records) == (0, [])


async def test_console_text_is_collected(play: Play) -> None:
    async with play('> a\n< ~"$1 = 42\\n"\n< &"a log\\n"\n< ~"tab\\there \\303\\251\\n"\n< {token}^done') as played:
        assert await played.mi.console("print 42") == "$1 = 42\ntab\there é\n"


async def test_console_text_of_two_at_once_is_not_mixed(play: Play) -> None:
    transcript = (
        '> a\n> b\n> c\n< ~"one\\n"\n< {token1}^done\n< ~"noise\\n"\n< {token2}^done\n< ~"two\\n"\n< {token3}^done'
    )
    async with play(transcript) as played:
        answers = await asyncio.gather(played.mi.console("a"), played.mi.command("-b"), played.mi.console("c"))
        assert answers == ["one\n", {}, "two\n"]


async def test_console_text_of_one_that_nobody_waits_for_any_more_is_dropped(play: Play) -> None:
    async with play('> a\n> b\n< ~"late\\n"\n< {token1}^done\n< ~"asked\\n"\n< {token2}^done') as played:
        given_up = asyncio.create_task(played.mi.console("a"))
        await asyncio.sleep(0)
        given_up.cancel()
        assert await played.mi.console("b") == "asked\n"


def kept(played: Played) -> int:
    """How many things the transport holds."""
    return sum(len(value) for value in vars(played.mi).values() if isinstance(value, list | dict))


async def test_text_that_nobody_asked_for_is_not_kept(play: Play) -> None:
    async with play("> a\n" + '< ~"noise\\n"\n' * 500 + "< {token}^done\n> b\n< {token}^done") as played:
        before = kept(played)
        await played.ask("-a")
        await played.ask("-b")
        assert kept(played) == before


def test_bodies() -> None:
    assert parse_body("") == {}
    assert parse_body(',a="1",b={c=["x","y"]}') == {"a": "1", "b": {"c": ["x", "y"]}}
    for damaged in (",", ",a=[", ",a=", ",json", ',thread-id="1",gr'):
        with pytest.raises(ValueError, match="ends in the middle"):
            parse_body(damaged)


def test_a_reason_given_twice_is_the_last() -> None:
    """gdb does so for a breakpoint met while all threads are asked to stop."""
    body = parse_body(',reason="signal-received",signal-name="0",reason="breakpoint-hit"')
    assert body["reason"] == "breakpoint-hit"


def test_quoting() -> None:
    assert quote('print "a\\b"\n') == '"print \\"a\\\\b\\"\\n"'
    assert decode_bulk(b'\\"x\\"') == "x"
