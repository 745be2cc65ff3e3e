"""The command that lets one kernel run in place of another."""

from __future__ import annotations

import os

from pkdb_tui.commands.locations import parse_place
from pkdb_tui.commands.registry import ANY, Reply, registry
from pkdb_tui.engine.api import Substitution
from pkdb_tui.engine.errors import UsageError
from pkdb_tui.engine.session import Session

GROUP = "Changing the program"
USAGE = "Write `hotswap KERNEL OTHER`, `hotswap LINE KERNEL OTHER` or `hotswap -d KERNEL`."
SWITCHES = {"-d": "remove", "--delete": "remove", "--disable": "disable", "--enable": "enable"}
DONE = {"remove": "deleted", "disable": "disabled", "enable": "enabled"}


@registry.command(
    "hotswap",
    "let a kernel run in place of another from its next launch on, or list such rules",
    usage="hotswap [[FILE:]LINE] KERNEL OTHER | hotswap -d|--disable|--enable [[FILE:]LINE] KERNEL|NUMBER|all",
    details="With a line, only for launches there; such a rule goes before one without. Both kernels need the same "
    "parameters, by name and annotation. The other kernel stops, steps and is built for debugging as any. Rules stay "
    "over a restart. Without arguments: the list, with how often each was used.",
    phases=ANY,
    key="x",
    group=GROUP,
)
async def hotswap(session: Session, text: str) -> Reply:
    if not text:
        await session.substitutions.refresh()
        return _listing(session)
    if text.startswith("-"):
        return await _switch(session, text)
    words = text.rsplit(None, 2)  # what stands before the names may be a file with blanks
    if len(words) not in (2, 3):
        raise UsageError(f"`hotswap {text}` can't be understood.", USAGE)
    file, line = _line(session, words[0]) if len(words) == 3 else ("", 0)
    made = await session.substitute(words[-2], words[-1], file=file, line=line)
    return Reply(text=describe(made), value=made)


def _line(session: Session, word: str) -> tuple[str, int]:
    file, line, function = parse_place(session, word)
    if function:
        raise UsageError(f"`{word}` is not a line.", USAGE)
    return os.path.realpath(file), line


async def _switch(session: Session, text: str) -> Reply:
    switch, _, rest = text.partition(" ")
    action, words = SWITCHES.get(switch), rest.rsplit(None, 1)
    if action is None or not words:
        raise UsageError(f"`hotswap {text}` can't be understood.", USAGE)
    chosen = _chosen(session, words)
    if action == "remove":
        await session.substitutions.remove(chosen)
    else:
        await session.substitutions.enable(chosen, action == "enable")
    await session.edits.rules_changed()
    return Reply(text=f"{DONE[action]} {', '.join(map(str, chosen))}", value=chosen)


def _chosen(session: Session, words: list[str]) -> list[int]:
    """The rules that `KERNEL`, `LINE KERNEL`, `NUMBER` or `all` names. Raises UsageError when there are none."""
    rules = session.substitutions.public()
    if words == ["all"]:
        found = [rule.id for rule in rules]
    elif len(words) == 1 and words[0].isdigit():
        found = [session.substitutions.known(int(words[0]))]
    else:
        place = _line(session, words[0]) if len(words) == 2 else ("", 0)
        found = [rule.id for rule in rules if rule.kernel == words[-1] and (rule.file, rule.line) == place]
        if not found and len(words) == 1:
            found = [rule.id for rule in rules if rule.kernel == words[0]]
    if not found:
        raise UsageError(f"Nothing stands for {' '.join(words)}.", "`hotswap` lists the rules.")
    return found


def describe(rule: Substitution) -> str:
    """`1: damp_fixed for damp at p05.py:24: bound, used 3 times`."""
    text = f"{rule.id}: {rule.replacement} for {rule.kernel}"
    if rule.line:
        text += f" at {os.path.basename(rule.file)}:{rule.line}"
    text += f": {rule.state if rule.enabled else 'disabled'}"
    if rule.reason:
        text += f" ({rule.reason})"
    if rule.uses:
        text += f", used {rule.uses} {'time' if rule.uses == 1 else 'times'}"
    return text


def _listing(session: Session) -> Reply:
    rules = session.substitutions.public()
    return Reply(text="\n".join(map(describe, rules)) or "no kernel stands for another", value=rules)
