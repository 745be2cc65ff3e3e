"""GDB/MI over pipes: commands with tokens, replies before events, and no trust in what comes back."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
import os
import re
import shutil
import signal
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from pkdb_tui.engine.errors import NativeError, NativeLost, NativeUnavailable
from pkdb_tui.engine.native.hanging import HangWatch

log = logging.getLogger(__name__)

LONGEST = 1 << 28
PATIENCE = 20.0  # seconds a command may take before the debugger counts as hung
OFF_LOOP = 1 << 16  # bytes beyond which a reply is decoded in a thread
SCRUBBED = (
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONINSPECT",
    "VIRTUAL_ENV",
    "LD_PRELOAD",
    "DEBUGINFOD_URLS",
)
_RESULT = re.compile(rb"(\d*)\^(done|running|connected|error|exit)(.*)$", re.DOTALL)
_BULK = re.compile(rb',json="(.*)"$', re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"e": b"\x1b", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
_ASYNC = re.compile(rb"\d*([*=])([a-z-]+)(.*)$", re.DOTALL)
_TOKEN = re.compile(rb"(\d+)\^")


class Record(msgspec.Struct, frozen=True):
    """An asynchronous record: `*stopped` has kind "*" and name "stopped"."""

    kind: str
    name: str
    body: dict[str, Any]


def parse_body(text: str) -> dict[str, Any]:
    """The results of a record. The one place that knows pygdbmi; raises ValueError for a damaged record.

    pygdbmi loops for ever on a list that ends early, so brackets are counted before it sees anything.
    """
    if not text:
        return {}
    if not _balanced(text):
        raise ValueError("a record ends in the middle")
    from pygdbmi.gdbmiparser import parse_response

    try:
        parsed = parse_response("^done" + text)
    except (TypeError, IndexError, AssertionError) as error:  # what it meets at a name without a value
        raise ValueError("a record ends in the middle") from error
    body = parsed.get("payload")
    if not isinstance(body, dict) or not body:
        raise ValueError("a record ends in the middle")
    if isinstance(body.get("reason"), list):
        body["reason"] = body["reason"][-1]  # gdb names both when a breakpoint is met while threads are asked to stop
    return body


def _balanced(text: str) -> bool:
    """Whether brackets and quotes close, and in order."""
    stack: list[str] = []
    quoted = False
    position = 0
    while position < len(text):
        ch = text[position]
        if quoted:
            if ch == "\\":
                position += 1
            elif ch == '"':
                quoted = False
        elif ch == '"':
            quoted = True
        elif ch in "[{":
            stack.append("]" if ch == "[" else "}")
        elif ch in "]}" and (not stack or stack.pop() != ch):
            return False
        position += 1
    return not stack and not quoted


def quote(text: str) -> str:
    """A C string of MI."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def unquote(data: bytes) -> str:
    """The text of a C string of MI, in which bytes beyond ASCII stand as octal escapes; lenient at a missing end."""
    inside = data[1:-1] if data.endswith(b'"') and len(data) > 1 else data[1:]
    return _ESCAPE.sub(_unescaped, inside).decode("utf-8", "replace")


def _unescaped(match: re.Match[bytes]) -> bytes:
    text = match[1]
    return bytes([int(text, 8) & 255]) if text.isdigit() else _ESCAPED.get(text, text)


def decode_bulk(data: bytes) -> Any:
    """The JSON that our own commands answer as one MI string; ASCII by agreement."""
    text = data.decode("ascii")
    return json.loads(json.loads(f'"{text}"'))


class MiProcess:
    """A debugger speaking MI. `on_record` gets asynchronous records, `on_end` the reason when it is gone.

    `on_hang(seconds)` is told when it owes an answer and has done nothing for so long; `before_end` is called when it
    is about to be given up, while it still holds the program's threads.
    """

    def __init__(
        self,
        on_record: Callable[[Record], None],
        on_end: Callable[[str], None],
        on_hang: Callable[[float], None] = lambda seconds: None,
        before_end: Callable[[], None] = lambda: None,
    ) -> None:
        self._on_record = on_record
        self._on_end = on_end
        self._before_end = before_end
        self.hang = HangWatch(on_hang, self._give_up)
        self._over = False
        self._tokens = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._printed: list[str] = []  # since the last reply, while anyone asks for it
        self._console: dict[int, list[str]] = {}  # by the token of a command whose text is asked for
        self._process: asyncio.subprocess.Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._killed = False
        self.garbled = 0

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.returncode is None and not self._over

    async def start(self, command: Sequence[str]) -> None:
        """Raises NativeUnavailable when it can't be started."""
        if shutil.which(command[0]) is None:
            raise NativeUnavailable(
                f"{command[0]} is not there, so kernel lines can't stop.",
                "Install it (on Debian and Ubuntu: apt-get install gdb) or name one with --gdb.",
            )
        environment = {name: value for name, value in os.environ.items() if name not in SCRUBBED}
        environment.update(LC_ALL="C.UTF-8", TERM="dumb")
        self._killed = False
        self._process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment,
            limit=LONGEST,
            start_new_session=True,
        )
        self._over = False
        self._tasks = [asyncio.create_task(self._read())]
        if self._killed:  # while it was being started
            self.kill()

    async def command(self, text: str, timeout: float = PATIENCE) -> Any:
        """The reply's body, or the decoded JSON of a bulk reply. Raises NativeError with the debugger's words."""
        return await self._ask(text, timeout)

    async def _ask(self, text: str, timeout: float, printed: list[str] | None = None) -> Any:
        """`printed` gets what the debugger prints for this command."""
        process = self._process
        if process is None or process.stdin is None or not self.running:
            raise NativeLost("The native debugger is not running.")
        token = next(self._tokens)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[token] = future
        self.hang.asked(process.pid)
        if printed is not None:
            self._console[token] = printed
        log.debug("-> %d%s", token, text)
        process.stdin.write(f"{token}{text}\n".encode())
        # Not wait_for: it hands the result on some turns of the loop later, behind records that came after the reply.
        timer = asyncio.get_running_loop().call_later(timeout, self._hung, future, timeout)
        try:
            return await future
        finally:
            timer.cancel()
            self._waiting.pop(token, None)
            self._console.pop(token, None)
            if not self._waiting:
                self.hang.answered()

    async def answered(self) -> None:
        """Until what is asked now is answered, or can't be any more."""
        if self._waiting:
            await asyncio.wait(set(self._waiting.values()))

    async def console(self, text: str) -> str:
        """A command of the debugger's own language, with what it printed."""
        printed: list[str] = []
        await self._ask(f"-interpreter-exec console {quote(text)}", PATIENCE, printed)
        return "".join(printed)

    def _hung(self, future: asyncio.Future[Any], timeout: float) -> None:
        if not future.done():
            self._give_up(timeout)

    def _give_up(self, seconds: float) -> None:
        self.give_up(f"it did not answer within {seconds:g} s and was ended")

    def give_up(self, reason: str) -> None:
        """End a debugger that is of no use any more; whoever waits for it is told so."""
        if not self._over:
            self._before_end()
            self.kill()
            self._ended(reason)

    def _ended(self, reason: str) -> None:
        if not self._over:
            self._over = True
            self.hang.answered()
            self._fail(f"The native debugger is gone: {reason}.")
            self._on_end(reason)

    def kill(self) -> None:
        self._killed = True
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def close(self) -> None:
        """End it and wait until it is gone."""
        self.kill()
        if self._process is not None:
            await self._process.wait()
        for task in self._tasks:
            if task is not asyncio.current_task():
                task.cancel()
        await asyncio.gather(*(t for t in self._tasks if t is not asyncio.current_task()), return_exceptions=True)
        self._over = True
        self._fail("The native debugger was ended.")

    # --- reading ---

    async def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        while True:
            try:
                line = await self._process.stdout.readline()
            except ValueError:
                self.garbled += 1
                continue
            if not line.endswith(b"\n"):
                break  # killed while it wrote: half a line tells nothing that its end doesn't
            self.hang.heard()
            if not self._over:
                await self.feed(line.rstrip(b"\r\n"))
        await self._process.wait()
        self._ended("it ended")

    async def feed(self, line: bytes) -> None:
        """One line of output. One that is waited for and can't be read ends the debugger, others are dropped."""
        log.debug("<- %s", line[:2000])
        if line[:1] in (b"~", b"@", b"&"):
            self._stream(line)
            return
        result = _RESULT.match(line)
        if result is not None:
            await self._result(result)
            # Whoever waits for the reply goes on before the records that came after it.
            await asyncio.sleep(0)
            return
        token = _TOKEN.match(line)
        if token is not None and int(token[1]) in self._waiting:
            self._unreadable("an answer")
            return
        event = _ASYNC.match(line)
        if event is None:
            return
        try:
            body = parse_body(event[3].decode("utf-8", "replace"))
            self._on_record(Record(event[1].decode(), event[2].decode(), body))
        except ValueError as error:
            log.warning("Unreadable (%s): %s", error, line[:2000])
            if event[2] == b"stopped":
                self._unreadable("a stop")  # and its thread would stand for ever
            else:
                self.garbled += 1

    def _unreadable(self, what: str) -> None:
        self.garbled += 1
        self.give_up(f"it told {what} that can't be read and was ended")

    def _stream(self, line: bytes) -> None:
        if line[:1] == b"~" and self._console:
            self._printed.append(unquote(line[1:]))

    async def _result(self, match: re.Match[bytes]) -> None:
        token = int(match[1] or 0)
        # Commands are carried out one after the other: what was printed since the last reply is this one's.
        self._console.get(token, []).extend(self._printed)
        self._printed.clear()
        future = self._waiting.get(token)
        if future is None or future.done():
            return
        kind, rest = match[2], match[3]
        bulk = _BULK.search(rest)
        try:
            if kind == b"error":
                body = parse_body(rest.decode("utf-8", "replace"))
                future.set_exception(NativeError(str(body.get("msg", "The native debugger refused a command."))))
            elif bulk is not None:
                decoded = (
                    await asyncio.to_thread(decode_bulk, bulk[1]) if len(rest) > OFF_LOOP else decode_bulk(bulk[1])
                )
                if not future.done():
                    future.set_result(decoded)
            else:
                future.set_result(parse_body(rest.decode("utf-8", "replace")))
        except ValueError as error:
            log.warning("Unreadable (%s): %s", error, rest[:2000])
            self._unreadable("an answer")

    def _fail(self, reason: str) -> None:
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(NativeLost(reason))
