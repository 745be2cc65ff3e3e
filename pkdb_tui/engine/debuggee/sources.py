"""What is known of source files and code objects: which lines have code, who owns a line, what is library code."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType

RESUME = 151
CO_OPTIMIZED = 0x1
CO_GENERATOR_LIKE = 0x20 | 0x80 | 0x200

try:
    import _opcode_metadata

    RESUME = _opcode_metadata.opmap["RESUME"]
except ImportError:
    import opcode

    RESUME = opcode.opmap["RESUME"]


def nested(code: CodeType) -> Iterator[CodeType]:
    """The code object itself and all that are defined inside it, outermost first."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested(constant)


def _body_offset(code: CodeType) -> int:
    raw = code._co_code_adaptive if hasattr(code, "_co_code_adaptive") else code.co_code
    raw = code.co_code
    for offset in range(0, len(raw), 2):
        if raw[offset] == RESUME:
            return offset
    return -1


def code_lines(code: CodeType) -> frozenset[int]:
    """Lines on which the interpreter reports a line event in this code object alone."""
    start_of_body = _body_offset(code)
    return frozenset(
        line for start, end, line in code.co_lines() if line is not None and line > 0 and end - 2 > start_of_body
    ) - (frozenset({code.co_firstlineno}) if _only_prologue(code, start_of_body) else frozenset())


def _only_prologue(code: CodeType, start_of_body: int) -> bool:
    """Whether a function's own `def` line carries nothing but its prologue (and generator clean-up)."""
    if not code.co_flags & CO_OPTIMIZED:
        return False
    first = code.co_firstlineno
    lines = [(start, line) for start, end, line in code.co_lines() if line is not None and end - 2 > start_of_body]
    return not lines or lines[0][1] != first


def first_line(code: CodeType) -> int:
    """The line of the first statement of a function's body."""
    start_of_body = _body_offset(code)
    for _, end, line in code.co_lines():
        if line is not None and line > 0 and end - 2 > start_of_body:
            return line
    return code.co_firstlineno


def is_function(code: CodeType) -> bool:
    """A def or async def: not a module, class body, lambda or comprehension."""
    return bool(code.co_flags & CO_OPTIMIZED) and not code.co_name.startswith("<")


@lru_cache(maxsize=4096)
def real_path(file: str) -> str:
    """The file as one canonical path; names such as `<string>` stay as they are."""
    if file.startswith("<") and file.endswith(">"):
        return file
    return os.path.realpath(file)


def _library_roots() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    roots = {paths["stdlib"], paths["platstdlib"], paths["purelib"], paths["platlib"], site.getusersitepackages()}
    roots.update(site.getsitepackages())
    return tuple(sorted({os.path.realpath(root) + os.sep for root in roots if root}))


LIBRARY_ROOTS = _library_roots()
OWN_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))) + os.sep
DEBUGGEE_ROOT = os.path.dirname(os.path.realpath(__file__)) + os.sep


@lru_cache(maxsize=4096)
def is_glue(file: str) -> bool:
    """Library code: the standard library, site-packages, the import system, our own and the embedded runtime."""
    if file.startswith("<frozen "):
        return True
    if file.startswith("<") and file.endswith(">"):
        return False
    path = real_path(file)
    return path.startswith(OWN_ROOT) or any(path.startswith(root) for root in LIBRARY_ROOTS)


@lru_cache(maxsize=4096)
def is_runtime(file: str) -> bool:
    """Code that a step never enters, whatever the settings: the import system, our own, the embedded runtime."""
    if file.startswith("<frozen "):
        return True
    return real_path(file).startswith(OWN_ROOT) or os.path.basename(file) == "runpy.py"


def is_own(file: str) -> bool:
    """The debugger's own half in this process, which no stack shows."""
    return real_path(file).startswith(DEBUGGEE_ROOT)


class SourceFile:
    """A source file's code objects as compiled from the text on disk or from a running module."""

    def __init__(self, file: str, root: CodeType) -> None:
        self.file = file
        self.codes = list(nested(root))
        self.lines = {id(code): code_lines(code) for code in self.codes}
        self._last = {id(code): self._end(code) for code in self.codes}

    def _end(self, code: CodeType) -> int:
        return max((max(code_lines(inner), default=inner.co_firstlineno) for inner in nested(code)), default=0)

    def all_lines(self) -> tuple[int, ...]:
        return tuple(sorted(set().union(*self.lines.values())))

    def owner(self, line: int) -> CodeType:
        """The innermost function (or module) whose text spans the line."""
        best = self.codes[0]
        for code in self.codes[1:]:
            if code.co_firstlineno <= line <= self._last[id(code)] and code.co_firstlineno >= best.co_firstlineno:
                best = code
        return best

    def place(self, line: int) -> tuple[int, str]:
        """Where a breakpoint on `line` lands, and why it moved; line 0 with the reason when it can't land at all."""
        if any(line in lines for lines in self.lines.values()):
            return line, ""
        owner = self.owner(line)
        later = [candidate for inner in nested(owner) for candidate in self.lines[id(inner)] if candidate > line]
        if later:
            moved = min(later)
            return moved, f"line {line} has no code: moved to {moved}"
        where = f"function {owner.co_name}" if is_function(owner) else "the file"
        return 0, f"line {line} has no code, and no line after it in {where} has"

    def functions(self, name: str) -> list[CodeType]:
        """Functions of that (qualified) name."""
        matches = [
            code for code in self.codes if is_function(code) and code.co_qualname.replace(".<locals>", "") == name
        ]
        return matches or [code for code in self.codes if is_function(code) and code.co_name == name]


def read_source(file: str) -> str:
    """Text of a Python file in its declared encoding; raises OSError, SyntaxError or UnicodeDecodeError."""
    import tokenize

    with tokenize.open(file) as stream:
        return stream.read()


def compile_file(file: str) -> SourceFile:
    """Compile from disk without running; raises OSError, SyntaxError or ValueError."""
    with open(file, "rb") as stream:
        text = stream.read()
    return SourceFile(file, compile(text, file, "exec", dont_inherit=True))


def module_name_of(file: str) -> str:
    """The loaded module that came from a file, or an empty string."""
    for name, module in list(sys.modules.items()):
        origin = getattr(module, "__file__", None)
        if isinstance(origin, str) and real_path(origin) == file:
            return name
    return ""
