"""The command line: arguments to the screen or to plain mode. Imports stay light: a debugger starts often."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence

from pkdb_tui import __version__


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pkdb-tui",
        usage="pkdb-tui [options] SCRIPT [ARG ...] | pkdb-tui [options] -m MODULE [ARG ...]",
        description="Debug a Python program and the parallel kernels it launches, from one screen.",
        epilog="SCRIPT may be - for standard input. Options come before it; what follows is the program's.",
    )
    parser.add_argument("--version", action="version", version=f"pkdb-tui {__version__}")
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module as `python -m` does")
    parser.add_argument("--plain", action="store_true", help="a line prompt instead of the screen")
    parser.add_argument("--json", action="store_true", help="plain mode with one JSON object a line")
    parser.add_argument(
        "-c",
        dest="commands",
        metavar="COMMAND",
        action="append",
        default=[],
        help="run this command first (repeatable)",
    )
    parser.add_argument("-x", dest="file", metavar="FILE", help="run the commands of this file first")
    parser.add_argument("--python", default="", metavar="PATH", help="the interpreter that runs the program")
    parser.add_argument(
        "--runtime",
        choices=("auto", "embedded", "installed"),
        default="auto",
        help="which pykokkos an import finds (auto: the installed one, else the embedded one)",
    )
    parser.add_argument("--gdb", default="gdb", metavar="PATH", help="the native debugger")
    parser.add_argument(
        "--cuda-gdb", default="cuda-gdb", metavar="PATH", help="the native debugger for kernels on a device"
    )
    parser.add_argument("--no-bounds", action="store_true", help="no index checks in debug builds of kernels")
    parser.add_argument("--theme", default="", help="the screen's colours: dark, light, high-contrast, ansi-16")
    parser.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """(options, the program and its arguments): options end at the first thing that is not one, as Python's do."""
    takes_value = {"-c", "-x", "--python", "--runtime", "--gdb", "--cuda-gdb", "--theme"}
    position = 0
    while position < len(arguments):
        word = arguments[position]
        if word == "-m":
            return list(arguments[: position + 2]), list(arguments[position + 2 :])
        if word == "--":
            return list(arguments[:position]), list(arguments[position + 1 :])
        if word == "-" or not word.startswith("-"):
            return list(arguments[:position]), list(arguments[position:])
        position += 2 if word in takes_value else 1
    return list(arguments), []


def script_error(path: str, source: str = "") -> str:
    """Why a script can't be run, in a line with its source line and caret where that helps; empty when it can.

    `source` is the text of the script `-`.
    """
    if path == "-":
        return source_error(source, "<stdin>")
    if not os.path.exists(path):
        return f"There is no file {path}. Give the path of a script, or `-m` and the name of a module."
    if os.path.isdir(path) and not os.path.exists(os.path.join(path, "__main__.py")):
        return f"{path} is a folder without a __main__.py."
    if os.path.isdir(path):
        return ""
    try:
        with open(path, "rb") as stream:
            text = stream.read()
        if text.startswith(b"PK\x03\x04"):
            return f"{path} is a zip archive, which is not debugged. Unpack it and give the folder."
        return source_error(text, path)
    except OSError as error:
        return f"{path} can't be read: {error.strerror}."


def source_error(source: str | bytes, path: str) -> str:
    """A syntax error with its line and caret; empty when there is none."""
    try:
        compile(source, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        if error.lineno is None:
            return f"{path} is not Python source: {error.msg}."
        text = (error.text or "").rstrip("\n")
        lead = len(text) - len(text.lstrip())
        caret = " " * (max((error.offset or 1) - 1 - lead, 0)) + "^"
        return f"{path}, line {error.lineno}: {error.msg}.\n    {text.strip()}\n    {caret}"
    except ValueError as error:
        return f"{path} is not Python source: {error}."
    return ""


def _log_to(path: str) -> None:
    """Everything said to and by the native debugger, for reports of defects."""
    import logging

    logging.basicConfig(filename=path, level=logging.DEBUG, format="%(relativeCreated)8d %(name)s %(message)s")


def open_standard_streams() -> None:
    """What was closed for this program reads and writes nothing; else its numbers would be those of the next files."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number is this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - for all of the run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run pkdb-tui; returns the exit status."""
    open_standard_streams()
    options_given, program = _split(list(sys.argv[1:] if arguments is None else arguments))
    parsed = _parser().parse_args(options_given)
    if not parsed.module and not program:
        sys.stderr.write("error: No script is given. Write `pkdb-tui script.py`, or `pkdb-tui --help`.\n")
        return 2
    script = "" if parsed.module else program[0]
    source = sys.stdin.read() if script == "-" else ""
    if script and (problem := script_error(script, source)):
        sys.stderr.write(f"error: {problem}\n")
        return 2
    if os.environ.get("PKDB_LOG"):
        _log_to(os.environ["PKDB_LOG"])
    from pkdb_tui.engine.api import LaunchOptions
    from pkdb_tui.engine.errors import PkdbError

    options = LaunchOptions(
        script=script,
        source=source,
        module=parsed.module or "",
        arguments=tuple(program if parsed.module else program[1:]),
        python=parsed.python,
        runtime=parsed.runtime,
        bounds=not parsed.no_bounds,
        gdb=parsed.gdb,
        cuda_gdb=parsed.cuda_gdb,
    )
    if source:
        import linecache

        linecache.cache["<stdin>"] = (len(source), None, source.splitlines(True), "<stdin>")
    commands = list(parsed.commands)
    if parsed.file:
        from pkdb_tui.commands.control import read_commands

        try:
            commands += read_commands(parsed.file)
        except PkdbError as error:
            sys.stderr.write(f"error: {error}\n")
            return 2
    if parsed.plain or parsed.json:
        from pkdb_tui import plain

        return plain.run(options, commands, json=parsed.json)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.stderr.write("error: The screen needs a terminal. Use --plain here.\n")
        return 2
    if not sys.stderr.isatty():  # Textual draws there
        sys.stdout.write("error: The screen is drawn on standard error, which is no terminal. Don't redirect it.\n")
        return 2
    if os.environ.get("TERM") == "dumb":
        sys.stderr.write("error: This terminal (TERM=dumb) can't move its cursor, so no screen. Use --plain here.\n")
        return 2
    from textual import constants

    # At Textual's 60 frames a second a step would wait up to three frames of 17 ms to be drawn.
    setattr(constants, "MAX_FPS", 240)  # noqa: B010 - declared Final, read once when textual.screen is imported
    from pkdb_tui import app

    # Collections over all of Textual's objects take 25 ms, in the middle of a repaint: leave out what stays for good.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    return app.run(options, commands=commands, theme=parsed.theme)
