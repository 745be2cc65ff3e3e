"""Commands that let the program go on, stop it, or start it again."""

from __future__ import annotations

from pkdb_tui.commands.registry import ANY, KERNEL, PYTHON, STOPPED, Reply, registry
from pkdb_tui.engine.api import Phase
from pkdb_tui.engine.errors import UsageError
from pkdb_tui.engine.moves import Verb
from pkdb_tui.engine.session import Session

GROUP = "Running"
RUNNING = frozenset({Phase.RUNNING_PYTHON, Phase.DISPATCHING, Phase.RUNNING_KERNEL})


def _nothing_after(name: str, text: str) -> None:
    if text:
        raise UsageError(f"`{name}` takes nothing behind it, and `{text}` was given.", f"Type `{name}` alone.")


@registry.command(
    "continue",
    "go on to the next stop",
    aliases=("c", "cont"),
    usage="continue [threads [b:e]]",
    details="In a kernel all threads go on; the stop is shown when each has come to a breakpoint, a barrier or the end "
    "of the region. `continue threads 0:4` lets only threads 0 to 3 go on.",
    phases=STOPPED,
    key="c",
    group=GROUP,
)
async def continue_(session: Session, text: str) -> Reply:
    word, _, threads = text.partition(" ")
    if text and word not in ("threads", "thread"):
        raise UsageError(f"`continue {text}` is not known.", "Write `continue` or `continue threads 0:4`.")
    if word and not threads.strip():
        raise UsageError("Which threads?", "For example `continue threads 0:4`.")
    await session.resume(Verb.CONTINUE, threads=threads.strip())
    return Reply()


@registry.command(
    "next",
    "run this line, stepping over calls",
    aliases=("n",),
    usage="next [all]",
    details="In a kernel the focused thread steps and the others stay; `next all` steps all of them.",
    phases=STOPPED,
    key="n",
    group=GROUP,
)
async def next_(session: Session, text: str) -> Reply:
    return await _step(session, Verb.NEXT, "next", text)


@registry.command(
    "step",
    "run this line, stepping into calls and kernels",
    aliases=("s",),
    usage="step [all]",
    details="At a line that launches a kernel it stops at the kernel's first line. In a kernel the focused thread "
    "steps, into kernel functions too; `step all` steps all threads.",
    phases=STOPPED,
    key="s",
    group=GROUP,
)
async def step(session: Session, text: str) -> Reply:
    return await _step(session, Verb.STEP, "step", text)


async def _step(session: Session, verb: Verb, name: str, text: str) -> Reply:
    if text not in ("", "all"):
        raise UsageError(f"`{name} {text}` is not known.", f"Write `{name}` or `{name} all`.")
    await session.resume(verb, all_threads=text == "all")
    return Reply()


@registry.command(
    "finish",
    "run to the end of this function",
    aliases=("return", "r", "fin"),
    details="In Python it stops where the function returns, with the value. In a kernel function it stops in its "
    "caller; in the kernel itself the launch runs to its end, past its breakpoints, and the stop is back in Python.",
    phases=STOPPED,
    key="f",
    group=GROUP,
)
async def finish(session: Session, text: str) -> Reply:
    _nothing_after("finish", text)
    await session.resume(Verb.FINISH)
    return Reply()


@registry.command(
    "until",
    "run to a line further down in this function",
    aliases=("unt",),
    usage="until [LINE]",
    details="Without a line: to the next line greater than this one, so that loops run out.",
    phases=STOPPED,
    key="O",
    group=GROUP,
)
async def until(session: Session, text: str) -> Reply:
    line = 0
    if text:
        if not text.isdigit():
            raise UsageError(f"`{text}` is not a line.", "Write `until` or `until 25`.")
        line = int(text)
        here = session.require_stop().location.line
        if line <= here:
            raise UsageError(f"Line {line} is not below line {here}.", "Use `break` and `continue` to go back.")
    await session.resume(Verb.UNTIL, line=line)
    return Reply()


@registry.command(
    "jump",
    "go on from another line of this function, without running what is between",
    aliases=("j",),
    usage="jump LINE",
    phases=PYTHON,
    group=GROUP,
)
async def jump(session: Session, text: str) -> Reply:
    if not text.isdigit():
        raise UsageError("Jump to which line?", "For example `jump 25`.")
    await session.jump(int(text))
    return Reply()


@registry.command(
    "debug",
    "run code with breakpoints on, and step into it",
    usage="debug [EXPRESSION]",
    details="It stops at the first line of the program's that it comes to, and all breakpoints hold, in kernels that "
    "it launches too; when it ends, its value is told and the stop is this one again. `debug` alone breaks it off: "
    "what it has changed by then stays. Not at a stop in a kernel.",
    phases=STOPPED,
    group=GROUP,
)
async def debug(session: Session, text: str) -> Reply:
    await session.debug(text)
    return Reply()


@registry.command(
    "pause",
    "stop the program where it is",
    details="At a stop in a kernel: stop also the threads that still run, such as those a thread filter lets go on.",
    phases=RUNNING | KERNEL,
    key="ctrl+c",
    group=GROUP,
)
async def pause(session: Session, text: str) -> Reply:
    _nothing_after("pause", text)
    await session.pause()
    return Reply()


@registry.command(
    "restart",
    "run the program again from its start",
    aliases=("run",),
    details="Breakpoints, watches and settings stay.",
    phases=ANY,
    key="R",
    group=GROUP,
)
async def restart(session: Session, text: str) -> Reply:
    _nothing_after("restart", text)
    await session.restart()
    return Reply()


@registry.command(
    "quit",
    "end the program and leave",
    aliases=("q", "exit"),
    details="Everything the debugger started ends. To leave a kernel and go on in Python use `finish`.",
    phases=ANY,
    key="q",
    group=GROUP,
)
async def quit_(session: Session, text: str) -> Reply:
    _nothing_after("quit", text)
    await session.quit()
    return Reply(value="quit")
