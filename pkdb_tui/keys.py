"""The keys of the screen: one table that bindings, the key line, help and the README are made from."""

from __future__ import annotations

from typing import NamedTuple

from textual.binding import Binding


class Key(NamedTuple):
    """`name` identifies the action in the configuration file's [keys]; `label` stands in the key line."""

    name: str
    keys: str
    action: str
    label: str
    about: str
    priority: bool = False


KEYS: tuple[Key, ...] = (
    Key("pause", "ctrl+c", "pause", "pause", "stop the running program, or interrupt an evaluation", True),
    Key("restart", "R", "command('restart')", "restart", "run the program again from its start"),
    Key("next", "n,f10", "command('next')", "next", "run this line, stepping over calls"),
    Key("step", "s,f11", "command('step')", "step", "run this line, stepping into calls and kernels"),
    Key("continue", "c,f5", "command('continue')", "continue", "go on to the next stop"),
    Key("finish", "f,shift+f11", "command('finish')", "finish", "run to the end of this function"),
    Key("until", "u", "command('until')", "until", "run to a line further down"),
    Key("break", "b,f9", "toggle_breakpoint", "break", "set or delete a breakpoint at the cursor line of the source"),
    Key("print", "e", "fill('print ')", "eval", "evaluate an expression"),
    Key("watch", "w", "fill('display ')", "watch", "show an expression at every stop"),
    Key("threads", "t", "focus_pane('threads')", "threads", "go to the threads"),
    Key("help", "question_mark,f1", "help", "help", "explain the focused pane and the keys"),
    Key("quit", "q,ctrl+q", "quit_session", "quit", "end the program and leave"),
    Key("up", "ctrl+up", "command('up')", "", "select the frame that called this one"),
    Key("down", "ctrl+down", "command('down')", "", "select the frame this one called"),
    Key("console", "colon,grave_accent", "focus_pane('console')", "console", "go to the console"),
    Key("zoom", "z", "zoom", "zoom", "show the focused pane alone, or all again"),
    Key("layout", "L", "next_preset", "layout", "the next layout"),
    Key("wider", "ctrl+left", "resize_columns(4)", "", "make the right column wider"),
    Key("narrower", "ctrl+right", "resize_columns(-4)", "", "make the right column narrower"),
    Key("higher", "ctrl+shift+up", "resize_rows(4)", "", "make the bottom higher"),
    Key("lower", "ctrl+shift+down", "resize_rows(-4)", "", "make the bottom lower"),
    Key("search", "slash", "search", "", "search in the source"),
    Key("again", "N", "search_again", "", "search again"),
    Key("goto", "g", "go_to", "", "go to a line of the source, or to a thread"),
    Key("open", "o,ctrl+o", "open_file", "", "open a file in the source pane"),
    Key("glue", "a", "toggle_glue", "", "show or hide frames of libraries and generated code"),
    Key("heat", "v", "heat", "", "colour the threads by the value of an expression"),
    Key("next_pane", "tab", "cycle(1)", "", "go to the next pane"),
    Key("previous_pane", "shift+tab", "cycle(-1)", "", "go to the pane before"),
    Key("leave", "escape", "leave", "", "back to the source"),
    Key("palette", "ctrl+p", "command_palette", "", "search all commands"),
)
PANES = ("source", "threads", "stack", "variables", "watches", "console", "output", "launches", "breakpoints")


def bindings() -> list[Binding]:
    """Every key as a Textual binding whose id is the action's name."""
    made = [
        Binding(key.keys, key.action, key.label or key.name, id=key.name, show=False, priority=key.priority)
        for key in KEYS
    ]
    made += [
        Binding(str(number), f"focus_pane('{pane}')", pane, id=f"pane_{pane}", show=False)
        for number, pane in enumerate(PANES, 1)
    ]
    return made


SHOWN = {"question_mark": "?", "colon": ":", "slash": "/", "grave_accent": "`", "ctrl+c": "^C", "escape": "Esc"}


def shown(keys: str) -> str:
    """How a key is written for a person: its first form, `^C` for ctrl+c."""
    first = keys.split(",")[0]
    return SHOWN.get(first, first.replace("ctrl+", "^").replace("shift+", "⇧"))


def table() -> str:
    """All keys, a line each, for help."""
    rows = [f"{', '.join(shown(k) for k in key.keys.split(',')):<16} {key.about}" for key in KEYS]
    rows.append(f"{'1-9':<16} go to a pane: {', '.join(PANES)}")
    return "\n".join(rows)
