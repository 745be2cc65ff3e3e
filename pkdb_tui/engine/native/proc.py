"""What the system says of a process's threads, without touching them."""

from __future__ import annotations

import os
import signal
from pathlib import Path


def _stat(path: str | Path) -> list[str]:
    """The fields of a `stat` file behind the command's name, the state first; none when that is gone."""
    try:
        return Path(path).read_text().rpartition(")")[2].split()
    except OSError:
        return []


def thread_state(pid: int, lwp: int) -> str:
    """R running, S sleeping, t traced stop, …; empty when the thread is gone."""
    fields = _stat(f"/proc/{pid}/task/{lwp}/stat")
    return fields[0] if fields else ""


def threads_of(pid: int) -> set[int]:
    """The threads of a process; none when it is gone."""
    return {int(task.name) for task in Path(f"/proc/{pid}/task").glob("[0-9]*")}


def computing_of(pid: int) -> int:
    """Time a process has computed, in the system's ticks; 0 when it is gone."""
    fields = _stat(f"/proc/{pid}/stat")
    return int(fields[11]) + int(fields[12]) if fields else 0


def session_members(session: int) -> dict[int, int]:
    """The processes of a session, each with its process group; none where there is no such session."""
    found: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        fields = _stat(entry)
        if fields and int(fields[3]) == session:
            found[int(entry.parent.name)] = int(fields[2])
    return found


def exit_of(pid: int) -> tuple[int | None, str]:
    """(exit status, signal name) of a process that has ended and that nobody has collected; (None, "") if unknown."""
    fields = _stat(f"/proc/{pid}/stat")
    if len(fields) < 50:
        return None, ""
    code = int(fields[49])
    if os.WIFSIGNALED(code):
        return None, signal.Signals(os.WTERMSIG(code)).name
    return os.WEXITSTATUS(code), ""


FUTEX = {"x86_64": "202", "aarch64": "98"}.get(os.uname().machine, "")


def waits_for_a_thread(pid: int, lwp: int) -> bool:
    """Whether a thread sleeps until another wakes it, as at a barrier; one that is gone counts too."""
    state = thread_state(pid, lwp)
    if state not in ("S", "D") or not FUTEX:
        return state in ("S", "D", "")
    try:
        call = Path(f"/proc/{pid}/task/{lwp}/syscall").read_text().split()
    except OSError:
        return True  # the system doesn't show it: asleep has to be enough
    return bool(call) and call[0] == FUTEX


def tracer_of(pid: int) -> int:
    """The process that traces this one, or 0."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("TracerPid:"):
                return int(line.split()[1])
    except OSError:
        return 0
    return 0


def ptrace_scope() -> int:
    """Yama's ptrace_scope; 0 where there is no Yama."""
    try:
        return int(Path("/proc/sys/kernel/yama/ptrace_scope").read_text())
    except (OSError, ValueError):
        return 0


def attach_remedy(pid: int, said: str) -> tuple[str, str]:
    """(why attaching failed, what to do), from what gdb said and the system's state."""
    other = tracer_of(pid)
    if other:
        return (
            f"The program is traced by process {other} already, so kernel lines can't stop.",
            "End that debugger or tracer, then go on.",
        )
    if any(words in said.lower() for words in ("ptrace", "not permitted", "permission denied")):
        scope = ptrace_scope()
        if scope >= 2:
            return (
                f"This system forbids attaching a debugger (kernel.yama.ptrace_scope is {scope}).",
                "An administrator can set it to 1 or less.",
            )
        return (
            "This system forbids attaching a debugger to the program.",
            "In a container start it with --cap-add=SYS_PTRACE; elsewhere set kernel.yama.ptrace_scope to 0.",
        )
    return f"gdb can't attach to the program: {said}", ""
