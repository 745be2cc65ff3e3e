"""The keys of the screen: one table that bindings, the key line, help and the README are made from."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from textual.binding import Binding, BindingType


class Key(NamedTuple):
    """`name` identifies the action in the configuration file's [keys]; `label` stands in the key line."""

    name: str
    keys: str
    action: str
    label: str
    about: str
    priority: bool = False
    pane: str = ""  # the pane it means something in; empty for everywhere


KEYS: tuple[Key, ...] = (
    Key("pause", "ctrl+c", "pause", "pause", "stop the running program, or interrupt an evaluation", True),
    Key("restart", "R", "restart", "restart", "run the program again from its start"),
    Key("next", "n,f10", "command('next')", "next", "run this line, stepping over calls"),
    Key("step", "s,f11", "command('step')", "step", "run this line, stepping into calls and kernels"),
    Key("continue", "c,f5", "command('continue')", "continue", "go on to the next stop"),
    Key("finish", "f,shift+f11", "command('finish')", "finish", "run to the end of this function"),
    Key("break", "b,f9", "toggle_breakpoint", "break", "set or delete a breakpoint at the cursor line of the source"),
    Key("print", "e", "fill('print ')", "eval", "evaluate an expression (the command `print`)"),
    Key("watch", "w", "fill('display ')", "watch", "show an expression at every stop (the command `display`)"),
    Key("quit", "q,ctrl+q", "quit_session", "quit", "end the program and leave"),
    Key("help", "question_mark,f1", "help", "help", "explain the focused pane and the keys"),
    Key("until", "O", "command('until')", "until", "run to a line further down"),
    Key("threads", "t", "focus_pane('threads')", "threads", "go to the threads"),
    Key("up", "u,ctrl+up", "command('up')", "", "select the frame that called this one"),
    Key("down", "d,ctrl+down", "command('down')", "", "select the frame this one called"),
    Key("console", "colon,grave_accent", "focus_pane('console')", "console", "go to the console"),
    Key("zoom", "z", "zoom", "zoom", "show the focused pane alone, or all again"),
    Key("hotswap", "x", "fill('hotswap ')", "hotswap", "let a kernel run in place of another (the command `hotswap`)"),
    Key("layout", "L", "next_preset", "layout", "the next layout"),
    Key("wider", "ctrl+left", "resize_columns(4)", "", "make the right column wider"),
    Key("narrower", "ctrl+right", "resize_columns(-4)", "", "make the right column narrower"),
    Key("higher", "ctrl+shift+up", "resize_rows(4)", "", "make the bottom higher"),
    Key("lower", "ctrl+shift+down", "resize_rows(-4)", "", "make the bottom lower"),
    Key("search", "slash", "search", "", "search in the source; Up and Down go from match to match"),
    Key("again", "N", "search_again", "", "search again"),
    Key("goto", "g", "go_to", "", "go to a line of the source, or to a thread"),
    Key("open", "o,ctrl+o", "open_file", "", "open a file in the source pane"),
    Key("glue", "a", "toggle_glue", "", "show or hide frames of libraries and generated code"),
    Key("generated", "G", "toggle_generated", "", "show the C++ made from the kernel beside its lines, or hide it"),
    Key("lens", "A", "lens", "", "look at an array as a table or picture (the command `lens`)"),
    Key("edit_kernel", "E", "edit_kernel", "", "change the kernel at the cursor of the source, or of the stop"),
    Key("heat", "v", "heat", "", "colour the threads by the value of an expression"),
    Key("next_pane", "tab", "cycle(1)", "", "go to the next pane"),
    Key("previous_pane", "shift+tab", "cycle(-1)", "", "go to the pane before"),
    Key("leave", "escape", "leave", "", "back to the source"),
    Key("suspend", "ctrl+z", "suspend_process", "", "back to the shell; `fg` there brings the screen back"),
    Key("palette", "ctrl+p", "command_palette", "", "search all commands"),
)
PANE_KEYS: tuple[Key, ...] = (
    Key("row_up", "up,k", "cursor(-1)", "", "one row up", pane="any"),
    Key("row_down", "down,j", "cursor(1)", "", "one row down", pane="any"),
    Key("page_up", "pageup", "page(-1)", "", "one page up", pane="any"),
    Key("page_down", "pagedown", "page(1)", "", "one page down", pane="any"),
    Key("first_row", "home", "edge(-1)", "", "the first row", pane="any"),
    Key("last_row", "end", "edge(1)", "", "the last row", pane="any"),
    Key("scroll_left", "left", "shift(-8)", "", "scroll to the left", pane="any"),
    Key("scroll_right", "right", "shift(8)", "", "scroll to the right", pane="any"),
    Key("choose", "enter", "choose", "", "choose the row", pane="any"),
    Key("temporary", "T", "temporary", "", "a breakpoint at the cursor that goes when it is hit", pane="source"),
    Key("run_to_cursor", "U", "run_to_cursor", "", "run to the cursor, or to a stop before it", pane="source"),
    Key("show_focus", "full_stop", "home_to_focus", "", "back to the line where the program is", pane="source"),
    Key("thread_left", "left", "side(-1)", "", "the thread before", pane="threads"),
    Key("thread_right", "right", "side(1)", "", "the thread after", pane="threads"),
    Key("watch_variable", "w", "watch_variable", "", "show the variable at every stop", pane="variables"),
    Key("edit_watch", "e", "edit", "", "change the watch", pane="watches"),
    Key("delete_watch", "d", "delete", "", "delete the watch", pane="watches"),
    Key("type", "i", "choose", "", "type to the program, as Enter does", pane="output"),
    Key("arguments", "space", "arguments", "", "show or hide what the latest launch was given", pane="launches"),
    Key("enable", "space", "enable", "", "disable or enable the breakpoint", pane="breakpoints"),
    Key("edit_condition", "e", "edit", "", "change the breakpoint's condition", pane="breakpoints"),
    Key("element_left", "left,h", "side(-1)", "", "one column to the left", pane="table"),
    Key("element_right", "right,l", "side(1)", "", "one column to the right", pane="table"),
    Key("first_column", "shift+home,0", "side_edge(-1)", "", "the first column", pane="table"),
    Key("last_column", "shift+end,dollar_sign", "side_edge(1)", "", "the last column", pane="table"),
    Key("least", "less_than_sign", "extreme(True)", "", "to the least element", pane="lens"),
    Key("greatest", "greater_than_sign", "extreme(False)", "", "to the greatest element", pane="lens"),
    Key("not_finite", "exclamation_mark", "not_finite", "", "to the next NaN or infinite element", pane="lens"),
    Key("condition", "slash", "condition", "", "to elements with a condition, such as abs(v) > 1e3", pane="lens"),
    Key("next_element", "n", "again", "", "to the next of them", pane="lens"),
    Key("element", "g", "go_to", "", "to an element by its index", pane="lens"),
    Key("previous_plane", "left_square_bracket", "turn(-1)", "", "the plane before, of more dimensions", pane="lens"),
    Key("next_plane", "right_square_bracket", "turn(1)", "", "the next plane", pane="lens"),
    Key("picture", "p", "picture", "", "a picture, or the table again", pane="lens"),
    Key("save", "s", "save", "", "save the elements to a file", pane="lens"),
    Key("install", "ctrl+s", "install", "install", "let it run from the kernel's next launch on", pane="editor"),
    Key("install_here", "ctrl+l", "install_here", "only here", "only where the stop's line launches it", pane="editor"),
    Key("save_kernel", "f2", "save", "save", "save it in the program's file", pane="editor"),
    Key("compare", "f4", "compare", "diff", "the difference to the program's own, or hide it", pane="editor"),
    Key("variants", "f8", "variants", "history", "the texts that were installed, to go back to one", pane="editor"),
    Key("find_text", "ctrl+f", "find", "", "find a text", pane="editor"),
    Key("find_next", "f3", "find_next", "", "find it again", pane="editor"),
    Key("to_line", "ctrl+g", "go_to_line", "", "go to a line", pane="editor"),
    Key("delete_breakpoint", "d", "delete", "", "delete the breakpoint", pane="breakpoints"),
)
PANES = ("source", "threads", "stack", "variables", "watches", "console", "output", "launches", "breakpoints")


PANE_CHOICES = tuple(
    Key(f"pane_{pane}", str(number), f"focus_pane('{pane}')", "", f"go to {pane}")
    for number, pane in enumerate(PANES, 1)
)


def bindings() -> list[Binding]:
    """Every key as a Textual binding whose id is the action's name."""
    return [_binding(key) for key in (*KEYS, *PANE_CHOICES)]


def of_pane(pane: str) -> tuple[Key, ...]:
    """The keys of one pane; `any` for those of all."""
    return tuple(key for key in PANE_KEYS if key.pane == pane)


def pane_bindings(pane: str) -> list[BindingType]:
    """The keys of one pane, as bindings."""
    return [_binding(key) for key in of_pane(pane)]


def _binding(key: Key) -> Binding:
    return Binding(key.keys, key.action, key.label or key.name, id=key.name, show=False, priority=key.priority)


def remapped(changes: Mapping[str, str], keys: Sequence[Key] = KEYS) -> tuple[Key, ...]:
    """The keys as the person's settings have them."""
    return tuple(key._replace(keys=_tidy(changes[key.name])) if key.name in changes else key for key in keys)


def _tidy(keys: str) -> str:
    return ",".join(key.strip() for key in keys.split(","))


def sound(changes: Mapping[str, object]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The entries of [keys] without those that are wrong, and for each of these its name and what is wrong with it."""
    known = {key.name: key for key in (*KEYS, *PANE_CHOICES, *PANE_KEYS)}
    kept: dict[str, str] = {}
    faults: list[tuple[str, str]] = []
    for name, text in changes.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            faults.append((name, f"`{name}` is no action{f', `{near[0]}` is one' if near else ''}"))
        elif not isinstance(text, str):
            faults.append((name, f'`{name}` wants a text in quotes, such as "n"'))
        elif not all(KEY_NAME.fullmatch(part.strip()) for part in text.split(",")):
            faults.append((name, f"`{text}` is not a key; write keys as in `n`, `f6`, `ctrl+n`, several with commas"))
        else:
            kept[name] = text
    while taken := _taken_twice(remapped(kept, list(known.values())), kept):
        name, why = taken
        faults.append((name, why))
        del kept[name]  # its own key again, which another entry may have taken
    return kept, faults


def _taken_twice(used: Sequence[Key], changes: Mapping[str, str]) -> tuple[str, str] | None:
    """The first changed key that has another's key, and why that can't be."""
    taken: dict[tuple[str, str], str] = {}
    for key in sorted(used, key=lambda key: key.name in changes):
        for part in key.keys.split(","):
            other = taken.setdefault((key.pane, LONG.get(part, part)), key.name)
            if other != key.name:
                return key.name, f"`{part}` is the key of `{other}` already"
    return None


SHOWN = {
    "question_mark": "?", "colon": ":", "slash": "/", "grave_accent": "`", "full_stop": ".", "less_than_sign": "<",
    "greater_than_sign": ">", "exclamation_mark": "!", "dollar_sign": "$", "left_square_bracket": "[",
    "right_square_bracket": "]", "ctrl+c": "^C",
    "escape": "Esc", "enter": "Enter", "tab": "Tab",
}  # fmt: skip
LONG = {short: long for long, short in SHOWN.items() if len(short) == 1}
KEY_NAME = re.compile(r"[^\s,]|(?:(?:ctrl|shift|alt|super|hyper|meta)\+)*[A-Za-z0-9_]+")


def shown(keys: str) -> str:
    """How a key is written for a person: its first form, `^C` for ctrl+c."""
    first = keys.split(",")[0]
    return SHOWN.get(first, first.replace("ctrl+", "^").replace("shift+", "⇧"))


def table(keys: Sequence[Key], pane: str = "") -> str:
    """Keys, a line each, for help: those of everywhere, or of one pane."""
    own = {part for key in keys if pane and key.pane == pane for part in key.keys.split(",")}
    rows = [
        f"{', '.join(shown(k) for k in key.keys.split(',')):<16} {key.about}"
        for key in keys
        # What a pane has a key for of its own, that key does not do as it does in all others.
        if key.pane in ((pane, "any") if pane else ("",)) and not (key.pane == "any" and own & set(key.keys.split(",")))
    ]
    if not pane:
        rows.append(f"{'1-9':<16} go to a pane: {', '.join(PANES)}")
    return "\n".join(rows)
