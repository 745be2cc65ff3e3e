"""Commands about the debugger itself: help, settings, files of commands, the native debugger, the program's input."""

from __future__ import annotations

import os
from weakref import WeakKeyDictionary

from pkdb_tui.commands.registry import ANY, Command, Reply, registry
from pkdb_tui.engine.api import Phase, Printed
from pkdb_tui.engine.errors import PkdbError, UsageError
from pkdb_tui.engine.session import Session

GROUP = "Debugger"
SETTINGS = {
    "bounds": "bounds",
    "catch": "catchFaults",
    "stepinto": "stepIntoKernel",
    "justmycode": "justMyCode",
}
OF_A_BUILD = ("bounds", "catch")  # what a kernel under way was built and started with
LONGEST = 1e6  # seconds that an evaluation may be given
_under_way: WeakKeyDictionary[Session, set[str]] = WeakKeyDictionary()  # files whose commands are being carried out
ESCAPES = {"\\n": "\n", "\\t": "\t", "\\x04": "\x04", "\\x03": "\x03"}


@registry.command("help", "list the commands, or explain one", aliases=("h", "?"), usage="help [COMMAND]", group=GROUP)
async def help_(session: Session, text: str) -> Reply:
    if text:
        command = registry.find(text)
        if command is None:
            raise UsageError(f"There is no command {text}.", "`help` lists the commands.")
        return Reply(text=explanation(command))
    return Reply(text=overview())


def explanation(command: Command) -> str:
    lines = [command.usage or command.name, f"  {command.summary[:1].upper()}{command.summary[1:]}."]
    if command.details:
        lines.append(f"  {command.details}")
    if command.aliases:
        lines.append(f"  Also {', '.join(command.aliases)}.")
    if command.key:
        lines.append(f"  Key {command.key}.")
    return "\n".join(lines)


def overview() -> str:
    """All commands by group, a line each."""
    groups: dict[str, list[Command]] = {}
    for command in registry.commands.values():
        groups.setdefault(command.group or "Other", []).append(command)
    lines: list[str] = []
    for group, commands in groups.items():
        lines.append(group)
        for command in commands:
            short = f" ({', '.join(command.aliases)})" if command.aliases else ""
            lines.append(f"  {command.name + short:<32} {command.summary}")
    lines.append("Anything else is Python, evaluated in the selected frame; `!` before it makes sure.")
    return "\n".join(lines)


@registry.command(
    "set",
    "change a setting, or list them",
    usage="set bounds|catch|stepinto|justmycode on|off, set timeout SECONDS",
    details="bounds: check array indices in debug builds. catch (also `catch faults`): run every kernel under the "
    "native debugger, so that a fault stops at its line. stepinto: `step` enters kernels. justmycode: `step` passes "
    "over library functions. timeout: after which an evaluation is broken off. In Python, `set x = 5` is written "
    "`x = 5`.",
    group=GROUP,
)
async def set_(session: Session, text: str) -> Reply:
    if not text:
        rows = [f"{name} {'on' if session.settings[key] else 'off'}" for name, key in SETTINGS.items()]
        return Reply(text="\n".join([*rows, f"timeout {session.evaluator.timeout:g} s"]))
    words = text.replace("faults", "").split()
    if words[0] == "timeout":
        session.evaluator.timeout = _seconds(" ".join(words[1:]))
        return Reply(text=f"timeout {session.evaluator.timeout:g} s")
    if len(words) != 2 or words[0] not in SETTINGS or words[1] not in ("on", "off"):
        raise UsageError(f"`set {text}` is not known.", f"Write one of {', '.join(SETTINGS)} and on or off.")
    await session.set_setting(SETTINGS[words[0]], words[1] == "on")
    later = words[0] in OF_A_BUILD and session.phase in (Phase.STOPPED_KERNEL, Phase.RUNNING_KERNEL)
    return Reply(text=f"{words[0]} {words[1]}" + (" from the next launch on" if later else ""))


def _seconds(text: str) -> float:
    try:
        seconds = float(text.removesuffix("s"))
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < LONGEST:
        raise UsageError(f"`{text}` is not a time limit.", "Write for example `set timeout 60`, in seconds.")
    return seconds


@registry.command("source", "carry out the commands of a file", usage="source FILE", group=GROUP)
async def source(session: Session, text: str) -> Reply:
    """Each answer is told before the stop that its command leads to, as if it were typed."""
    under_way = _under_way.setdefault(session, set())
    path = _path(text)
    if path in under_way:
        raise UsageError(f"{text} is being carried out already.", "A file of commands can't call itself.")
    under_way.add(path)
    try:
        return await _carry_out(session, text)
    finally:
        under_way.remove(path)


def _path(text: str) -> str:
    return os.path.realpath(os.path.expanduser(text))


async def _carry_out(session: Session, text: str) -> Reply:
    from pkdb_tui.commands.language import named, parts, run

    try:
        lines = read_commands(text)
    except UsageError as error:
        raise UsageError(error.title, "`list` and `longlist` show source text.") from error
    for number, line in enumerate(lines, 1):
        for part in parts(line):
            try:
                reply = await run(part, session)
            except PkdbError as error:
                raise UsageError(f"{text}, command {number} (`{named(part)}`): {error.title}", error.hint) from error
            if reply.value == "quit":
                return reply
            if reply.text:
                session.emit(Printed(text=reply.text))
            await session.settled()
    return Reply()


def read_commands(path: str) -> list[str]:
    """The commands of a file. Raises UsageError when it can't be read."""
    from pkdb_tui.commands.language import of_file

    try:
        with open(_path(path), encoding="utf-8") as stream:
            lines = stream.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UsageError(f"The command file {path} can't be read: {why}.") from error
    return of_file(lines)


@registry.command("send", "send a raw command to the native debugger", usage="send COMMAND", phases=ANY, group=GROUP)
async def send(session: Session, text: str) -> Reply:
    if not text:
        raise UsageError("Send what?", "For example `send info threads`.")
    return Reply(text=(await session.send_native(text)).rstrip("\n"))


@registry.command(
    "send-input",
    "type a line into the program's terminal",
    usage="send-input TEXT",
    details=r"The line end is added; `\x04` at the end sends end-of-file instead.",
    group=GROUP,
)
async def send_input(session: Session, text: str) -> Reply:
    for written, meant in ESCAPES.items():
        text = text.replace(written, meant)
    ends = text.endswith(("\x04", "\x03"))
    session.write_input(text.encode() if ends else text.encode() + b"\n")
    return Reply()
