"""Commands that look at a stop: stack, variables, values, source, threads."""

from __future__ import annotations

import linecache
import re
import time

import msgspec

from pkdb_tui.commands.breaking import listing, watches
from pkdb_tui.commands.locations import current_file, shown_path
from pkdb_tui.commands.registry import KERNEL, STOPPED, Reply, registry
from pkdb_tui.engine import formatting
from pkdb_tui.engine.api import (
    Evaluation,
    Frame,
    FrameKind,
    LaunchRecord,
    StopSnapshot,
    ThreadRange,
    ThreadValues,
    Variable,
)
from pkdb_tui.engine.errors import UsageError
from pkdb_tui.engine.session import Session

GROUP = "Looking"
Place = tuple[int, int, int]
SCALARS_PER_LINE = 6


def frame_line(frame: Frame, selected: bool) -> str:
    mark = ">" if selected else " "
    return f"{mark} {frame.index:2} {frame.function} {shown_path(frame.file)}:{frame.line} {frame.kind.value}"


def stop_line(snapshot: StopSnapshot) -> str:
    """`stopped: breakpoint 2 yax.py:13 in yax thread 3 of 8 · j = 96`."""
    frame = snapshot.location
    focus = f" {snapshot.focus.text}" if snapshot.focus is not None and frame.kind is FrameKind.KERNEL else ""
    text = f"stopped: {snapshot.reason_text} {shown_path(frame.file)}:{frame.line} in {frame.function}{focus}"
    return f"{text} returning {snapshot.return_text}" if snapshot.return_text else text


def source_line(frame: Frame) -> str:
    """The frame's source line, as `13      acc += y[j] * row_sum`; empty where there is none."""
    text = linecache.getline(frame.file, frame.line).rstrip()
    return f"{frame.line:4} {text}" if text else ""


def variable_line(variable: Variable, width: int) -> str:
    changed = f"  (was {variable.previous})" if variable.changed else ""
    return f"{variable.name:<{width}}  {variable.type}  {variable.text}{changed}"


def variable_lines(variables: tuple[Variable, ...]) -> str:
    width = max((len(variable.name) for variable in variables), default=0)
    return "\n".join(variable_line(variable, width) for variable in variables)


@registry.command(
    "where", "show the stack: kernel frames, then the Python frames that launched it",
    aliases=("w", "bt", "backtrace"), usage="where [all]",
    details="`where all` shows the hidden frames of libraries and generated code too.", phases=STOPPED, group=GROUP,
)  # fmt: skip
async def where(session: Session, text: str) -> Reply:
    if text not in ("", "all"):
        raise UsageError(f"`where {text}` is not known.", "Write `where` or `where all`.")
    if (text == "all") != session.glue:
        await session.show_glue(text == "all")
    snapshot = session.require_stop()
    lines = [frame_line(frame, frame.index == snapshot.frame) for frame in snapshot.frames]
    return Reply(text="\n".join(lines), value=snapshot.frames)


@registry.command("whereami", "say where the program is", phases=STOPPED, group=GROUP)
async def whereami(session: Session, text: str) -> Reply:
    return _here(session.require_stop())


def _here(snapshot: StopSnapshot) -> Reply:
    frame = snapshot.location
    focus = f" {snapshot.focus.text}" if snapshot.focus is not None and frame.kind is FrameKind.KERNEL else ""
    text = f"{shown_path(frame.file)}:{frame.line} in {frame.function}{focus}"
    return Reply(text="\n".join(filter(None, (text, source_line(frame)))), value=snapshot)


@registry.command(
    "up", "select the frame that called this one", aliases=("u",), usage="up [N]", phases=STOPPED, key="u", group=GROUP
)
async def up(session: Session, text: str) -> Reply:
    return await _move(session, text, 1)


@registry.command(
    "down", "select the frame this one called", aliases=("d",), usage="down [N]", phases=STOPPED, key="d", group=GROUP
)
async def down(session: Session, text: str) -> Reply:
    return await _move(session, text, -1)


async def _move(session: Session, text: str, direction: int) -> Reply:
    snapshot = session.require_stop()
    if text and not text.isdigit():
        raise UsageError(f"`{text}` is not a number of frames.", "Write for example `up 2`.")
    count = int(text) if text else 1
    target = max(0, min(snapshot.frame + direction * count, len(snapshot.frames) - 1))
    if target == snapshot.frame:
        if direction > 0:
            raise UsageError("This is the outermost frame.")
        raise UsageError("This is the innermost frame.", f"`delete {text}` deletes a breakpoint." if text else "")
    return _here(await session.select_frame(target))


@registry.command(
    "frame", "select a frame by its number", usage="frame [N]", aliases=("fr",), phases=STOPPED, group=GROUP
)
async def frame(session: Session, text: str) -> Reply:
    if not text:
        return _here(session.require_stop())
    if not text.isdigit():
        raise UsageError(f"`{text}` is not a frame.", "`where` shows their numbers.")
    return _here(await session.select_frame(int(text)))


@registry.command("locals", "show the variables of this frame", phases=STOPPED, group=GROUP)
async def locals_(session: Session, text: str) -> Reply:
    found = session.require_stop().variables
    return Reply(text=variable_lines(found) or "no variables here", value=found)


@registry.command("args", "show the arguments of this function", aliases=("a",), phases=STOPPED, group=GROUP)
async def args(session: Session, text: str) -> Reply:
    found = tuple(v for v in session.require_stop().variables if v.scope == "argument")
    return Reply(text=variable_lines(found) or "no arguments", value=found)


@registry.command(
    "print",
    "show the value of an expression",
    aliases=("p", "eval"),
    usage="print EXPRESSION",
    details="Array slices work at every stop, `print a[j, 0:4]`, and fetch only the elements named.",
    phases=STOPPED,
    key="e",
    group=GROUP,
)
async def print_(session: Session, text: str) -> Reply:
    if not text:
        raise UsageError("Print what?", "For example `print a[j, 0:4]`.")
    return _shown(await session.evaluate(text))


def _shown(evaluation: Evaluation) -> Reply:
    return Reply(text=evaluation.text or ("None" if evaluation.type == "NoneType" else ""), value=evaluation)


@registry.command("pp", "show a value laid out over lines", usage="pp EXPRESSION", phases=STOPPED, group=GROUP)
async def pretty_print(session: Session, text: str) -> Reply:
    if not text:
        raise UsageError("Print what?", "For example `pp config`.")
    if session.snapshot is not None and session.snapshot.location.kind is FrameKind.KERNEL:
        return _shown(await session.evaluate(text))
    evaluation = await session.evaluate(f"__import__('pprint').pprint({text})")
    return Reply(value=evaluation)


@registry.command("whatis", "show the type of an expression", usage="whatis EXPRESSION", phases=STOPPED, group=GROUP)
async def whatis(session: Session, text: str) -> Reply:
    if not text:
        raise UsageError("The type of what?", "For example `whatis row_sum`.")
    for variable in session.require_stop().variables:
        if variable.name == text:
            native = f" ({variable.native_type})" if variable.native_type else ""
            return Reply(text=f"{variable.type}{native}", value=variable)
    evaluation = await session.evaluate(text)
    return Reply(text=evaluation.type, value=evaluation)


@registry.command("len", "show how many elements a view or sequence has", usage="len VIEW", phases=STOPPED, group=GROUP)
async def len_(session: Session, text: str) -> Reply:
    if not text:
        raise UsageError("The length of what?", "For example `len counter`.")
    return _shown(await session.evaluate(f"len({text})"))


@registry.command("threads", "show what each thread does", phases=STOPPED, key="t", group=GROUP)
async def threads(session: Session, text: str) -> Reply:
    snapshot = session.require_stop()
    if snapshot.threads:
        return Reply(text="\n".join(thread_line(part) for part in snapshot.threads), value=snapshot.threads)
    rows = [
        f"{'>' if t.current else ' '} {t.name} {shown_path(t.file)}:{t.line} in {t.function}"
        for t in snapshot.python_threads
    ]
    return Reply(text="\n".join(rows), value=snapshot.python_threads)


def thread_line(part: ThreadRange) -> str:
    name = str(part.first) if part.first == part.last else f"{part.first}-{part.last}"
    place = f" {shown_path(part.file)}:{part.line}" if part.line else ""
    return f"{name:>7}  {part.state.value}{place}{' ' + part.detail if part.detail else ''}"


@registry.command("thread", "look at another kernel thread", usage="thread N", phases=KERNEL, group=GROUP)
async def thread(session: Session, text: str) -> Reply:
    if not text:
        return _here(session.require_stop())
    if not text.isdigit():
        raise UsageError(f"`{text}` is not a thread.", "`threads` lists them.")
    return _here(await session.select_thread(int(text)))


@registry.command(
    "cuda",
    "look at another thread of a device, by its block and its place in it",
    usage="cuda block B thread T",
    details="Blocks and threads are numbers, or `(x,y,z)`; what isn't named stays. `cuda thread B T` is the same.",
    phases=KERNEL,
    group=GROUP,
)
async def cuda(session: Session, text: str) -> Reply:
    block, place = device_thread(text)
    return _here(await session.select_device_thread(block, place))


def device_thread(text: str) -> tuple[Place | None, Place | None]:
    """The block and the thread that `block B thread T`, `thread B T` or `thread T` names; None for what it doesn't."""
    words = re.findall(r"\([^)]*\)|[^\s]+", text)
    match words:
        case ["block", block, "thread", place]:
            return _place(block, text), _place(place, text)
        case ["block", block]:
            return _place(block, text), None
        case ["thread", block, place]:
            return _place(block, text), _place(place, text)
        case ["thread", place]:
            return None, _place(place, text)
    raise UsageError(f"`cuda {text}`".rstrip() + " names no thread.", "Write for example `cuda block 2 thread 5`.")


def _place(word: str, text: str) -> Place:
    numbers = [part.strip() for part in word.strip("()").split(",")]
    if not 1 <= len(numbers) <= 3 or not all(number.isdigit() for number in numbers):
        raise UsageError(f"`{word}` in `cuda {text}` is no place in a grid.", "Write a number, or `(x,y,z)`.")
    x, y, z = (*map(int, numbers), 0, 0)[:3]
    return x, y, z


@registry.command(
    "parallel_print",
    "show an expression in every stopped thread",
    aliases=("pprint_threads", "pt"),
    usage="parallel_print EXPRESSION",
    phases=KERNEL,
    key="v",
    group=GROUP,
)
async def parallel_print(session: Session, text: str) -> Reply:
    if not text:
        raise UsageError("Print what?", "For example `parallel_print row_sum`.")
    values = await session.parallel_print(text)
    return Reply(text=thread_values_text(values), value=values)


def thread_values_text(values: ThreadValues) -> str:
    """A table, several threads a line where all values are numbers; threads without a value say why."""
    good = [row for row in values.values if not row.error]
    lines: list[str] = []
    if good and all(isinstance(row.value, (int, float)) for row in good):
        texts = formatting.columns([row.value for row in good], digits=8)
        cells = [f"{row.thread:>5} {text}" for row, text in zip(good, texts, strict=True)]
        lines += ["  ".join(cells[i : i + SCALARS_PER_LINE]) for i in range(0, len(cells), SCALARS_PER_LINE)]
    else:
        lines += [f"{row.thread:>5} {row.text}" for row in good]
    lines += [f"{row.thread:>5} {row.error}" for row in values.values if row.error]
    if values.missing:
        lines.append(f"not stopped in the kernel: threads {formatting.ranges(values.missing)}")
    return "\n".join(lines)


@registry.command(
    "info",
    "list breakpoints, watches, threads, locals, args, launches, the runtime or the source file",
    aliases=("i",),
    usage="info breakpoints|watches|threads|locals|args|frame|launches|runtime|source",
    group=GROUP,
)
async def info(session: Session, text: str) -> Reply:
    stopped = {"threads": threads, "locals": locals_, "args": args, "frame": whereami, "stack": where}
    topics = ("breakpoints", "watches", "displays", "launches", "runtime", "source", *stopped)
    found = [topic for topic in topics if text and topic.startswith(text)]
    topic = text if text in topics else found[0] if len(found) == 1 else ""
    if topic in stopped:
        return await stopped[topic](session, "")
    if topic == "breakpoints":
        return listing(session)
    if topic in ("displays", "watches"):
        return watches(session)
    if topic == "launches":
        return _launches(session)
    if topic == "runtime":
        return _runtime(session)
    if topic == "source":
        return Reply(text=current_file(session))
    raise UsageError(
        f"`info {text}` is not known." if text else "Info about what?",
        f"One of {', '.join(t for t in topics if t != 'displays')}.",
    )


def _launches(session: Session) -> Reply:
    rows = [
        f"{launch.title} {shown_path(launch.file)}:{launch.line} {launch.pattern} {_policy(launch)} {launch.build} "
        f"{launch.count + (launch.running_since is not None)}× {_launch_time(launch)}"
        + "".join(f"\n  {text}" for text in (*launch.warnings, *_arguments(launch)))
        for launch in session.launches
    ]
    return Reply(text="\n".join(rows) or "no kernel has been launched", value=session.launches)


def _arguments(launch: LaunchRecord) -> list[str]:
    shown = [msgspec.structs.replace(a, text=formatting.layout(a.text, a.strides)) for a in launch.arguments]
    return variable_lines(tuple(shown)).splitlines()


def _policy(launch: LaunchRecord) -> str:
    """Policy and space; PyKokkos' workloads have no policy that names it."""
    space = "" if launch.space in launch.policy else f"in {launch.space}"
    return " ".join(text for text in (launch.policy, space) if text)


def _launch_time(launch: LaunchRecord) -> str:
    if launch.stopped:
        return "stopped"
    if launch.running_since is not None:
        return f"running {formatting.duration(time.monotonic() - launch.running_since)}"
    return f"last {formatting.duration(launch.last_seconds)}"


def _runtime(session: Session) -> Reply:
    rows = [
        f"Python {session.python} by {session.backend}" if session.python else "the program has not started",
        session.runtime or "pykokkos can't be imported here",
        f"native debugger {'attached' if session.kernels.attached else 'not attached'} ({session.options.gdb})",
        *(f"{name} {'on' if value else 'off'}" for name, value in session.settings.items()),
    ]
    return Reply(text="\n".join(rows))
