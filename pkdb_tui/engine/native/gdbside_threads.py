"""Runs inside gdb: threads, the team they make, and why and where each stopped."""

from __future__ import annotations

import os
import re
from typing import Any

import gdb

from pkdb_tui.engine.native import gdbside_bounds as bounds
from pkdb_tui.engine.native import gdbside_frames as frames
from pkdb_tui.engine.native import gdbside_names as names
from pkdb_tui.engine.native.gdbside_places import reached, taken, team
from pkdb_tui.engine.native.gdbside_symbols import Body, before_turn, begins_line, objfile_of

SI_TKILL = -6  # as abort sends it
SI_KERNEL = 0x80  # without an address

# gdb thread number -> (kind, breakpoint numbers, detail) of its last stop
stops: dict[int, tuple[str, list[int], str]] = {}
failures: dict[int, dict[int, str]] = {}  # gdb thread -> why conditions failed at its last stop


def on_stop(event: Any) -> None:
    """Remember why a thread stopped, with all breakpoints at its place."""
    thread = getattr(event, "inferior_thread", None) or gdb.selected_thread()
    if thread is None:
        return
    if not isinstance(event, gdb.BreakpointEvent):
        taken.pop(thread.num, None)
    if isinstance(event, gdb.BreakpointEvent):
        watched = any(b.type == gdb.BP_HARDWARE_WATCHPOINT for b in event.breakpoints)
        kind = "watchpoint" if watched else "breakpoint"
        numbers, failures[thread.num] = reached(thread.num, event)
        stops[thread.num] = (kind, numbers, "")
    elif isinstance(event, gdb.SignalEvent):
        stops[thread.num] = ("signal", [], event.stop_signal)
    else:
        stops[thread.num] = ("stop", [], "")


def threads(argument: Body) -> Body:
    """All threads: gdb number, lwp, whether it is stopped; and the team."""
    listed = [[t.num, t.ptid[1], t.is_stopped()] for t in gdb.selected_inferior().threads() if t.is_valid()]
    return {"threads": listed, "team": [[lwp, number] for lwp, number in team().items()]}


def place(argument: Body) -> list[Body]:
    """Where each of some stopped threads is, and why it stopped."""
    answer = []
    for number in argument["threads"]:
        body = {"thread": number, "file": "", "line": 0, "function": "", "pc": 0}
        try:
            frames.select(number)
            kind, numbers, detail = stops.get(number, ("stop", [], ""))
            body.update(kind=kind, breakpoints=numbers, detail=detail, pc=gdb.newest_frame().pc())
            sal = gdb.newest_frame().find_sal()
            body["source"] = sal.symtab.filename if sal.symtab is not None else ""
            if kind == "breakpoint":
                body["failures"] = failures.get(number, {})
            body["innermost"] = names.qualified(gdb.newest_frame().name())
            # A watchpoint stops behind the instruction that wrote, which may be the last of its line.
            watched = kind == "watchpoint"
            found = frames.kernel_frames()
            if watched:
                found = [frame for frame, glue in frames.all_frames(True) if not glue]
            if found:
                shown = frames.frame_body(found[0], False, watched)
                body.update({k: v for k, v in shown.items() if k in ("file", "line", "function")})
            body["at_top"] = bool(found) and found[0] == gdb.newest_frame()
            body["before_turn"] = body["at_top"] and before_turn(body["source"], body["line"])
            body["begins"] = begins_line(body["source"], body["pc"])
            body["depth"] = found[0].level() if found else -1
            body["stack"] = frames.entry_level()
            body["barrier"] = frames.in_barrier()
        except gdb.error as error:
            body.update(kind="error", breakpoints=[], detail=str(error))
        answer.append(body)
    return answer


def fault(argument: Body) -> str:
    """What a signal is about, or the message of a failed bounds check."""
    frames.select(argument["thread"])
    if argument["what"] == "message":
        pointer = gdb.newest_frame().read_register("rdi" if "rdi" in registers() else "x0")
        return bounds.told(str(pointer.cast(gdb.lookup_type("char").pointer()).string(errors="replace", length=-1)))
    try:
        return signal_text(argument["what"], gdb.parse_and_eval("$_siginfo"))
    except gdb.error:
        return str(argument["what"])


def signal_text(name: str, info: Any) -> str:
    """A signal with the address that it is about, or with who has sent it."""
    code, fields = int(info["si_code"]), info["_sifields"]
    if code <= 0:  # no fault: from kill, tgkill or sigqueue
        sender = int(fields["_kill"]["si_pid"])
        if sender != gdb.selected_inferior().pid:
            return f"{name} sent by {f'process {sender}' if sender else 'a process outside this container'}"
        return name if name == "SIGABRT" and code == SI_TKILL else f"{name} sent by the program itself"
    if name not in ("SIGSEGV", "SIGBUS"):
        return name
    if code == SI_KERNEL:
        return f"{name} at an address that the processor doesn't tell, as it can't be one of memory"
    return f"{name} at {int(fields['_sigfault']['si_addr']):#x}"


def registers() -> set[str]:
    return {r.name for r in gdb.newest_frame().architecture().registers()}


def unwindable(argument: Body) -> Body:
    """Read the unwind tables of the libraries that threads stand in, those not read yet."""
    wanted = set()
    for number in argument["threads"]:
        frames.select(number)
        name = gdb.solib_name(gdb.newest_frame().pc())
        if name and objfile_of(name) is None:
            wanted.add(re.escape(os.path.basename(name)))
    for name in wanted:
        gdb.execute(f"sharedlibrary {name}", to_string=True)
    return {}
