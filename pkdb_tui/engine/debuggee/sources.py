"""What is known of source files and code objects: which lines have code, who owns a line, what is library code."""

from __future__ import annotations

import ast
import builtins
import linecache
import opcode
import os
import site
import sysconfig
import tokenize
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType

RESUME: int = opcode.opmap["RESUME"]
CO_OPTIMIZED = 0x1
CO_GENERATOR_LIKE = 0x20 | 0x80 | 0x200


def nested(code: CodeType) -> Iterator[CodeType]:
    """The code object itself and all that are defined inside it, outermost first."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested(constant)


def _body_offset(code: CodeType) -> int:
    raw = code.co_code
    for offset in range(0, len(raw), 2):
        if raw[offset] == RESUME:
            return offset
    return -1


def _body_lines(code: CodeType) -> list[tuple[int, int, int]]:
    """(start, end, line) of the code behind the prologue, in order of the bytecode."""
    body = _body_offset(code)
    return [
        (start, end, line) for start, end, line in code.co_lines() if line is not None and line > 0 and end - 2 > body
    ]


def code_lines(code: CodeType) -> frozenset[int]:
    """Lines on which the interpreter reports a line event in this code object alone."""
    body = _body_lines(code)
    lines = frozenset(line for _, _, line in body)
    if code.co_flags & CO_OPTIMIZED and body and body[0][2] != code.co_firstlineno:
        # The def line itself carries only the prologue, and a generator's clean-up.
        return lines - {code.co_firstlineno}
    return lines


def returns_within(code: CodeType, span: tuple[int, int], line: int) -> list[tuple[int, int]]:
    """Bytecode ranges in which a many-line statement comes back to `line` after having begun there."""
    entries, again = 0, []
    previous = 0
    for start, end, at in _body_lines(code):
        if at == line and previous != line:
            if span[0] <= previous <= span[1]:
                again.append((start, end))
            else:
                entries += 1
        elif at == line and again and again[-1][1] == start:
            again[-1] = (again[-1][0], end)
        previous = at
    return again if entries else []


def first_line(code: CodeType) -> int:
    """The line of the first statement of a function's body."""
    body = _body_lines(code)
    return body[0][2] if body else code.co_firstlineno


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


def add_library(folder: str) -> None:
    """Count a folder as library code, such as a framework installed for development outside site-packages."""
    global LIBRARY_ROOTS
    LIBRARY_ROOTS = (*LIBRARY_ROOTS, os.path.realpath(folder) + os.sep)
    is_glue.cache_clear()
    is_runtime.cache_clear()


@lru_cache(maxsize=4096)
def is_glue(file: str) -> bool:
    """Library code: the standard library, site-packages, the import system, our own and the embedded runtime.

    So is code nobody can read, such as the methods a dataclass generates.
    """
    if file.startswith("<") and file.endswith(">"):
        return file not in linecache.cache
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
        self.spans: list[tuple[int, int]] = []
        self.signatures: list[tuple[int, int]] = []  # lines of functions' heads behind the def line
        self.loop_lines: frozenset[int] = frozenset()
        self.lines = {id(code): code_lines(code) for code in self.codes}
        self._last = {id(code): self._end(code) for code in self.codes}

    def _end(self, code: CodeType) -> int:
        return max((max(code_lines(inner), default=inner.co_firstlineno) for inner in nested(code)), default=0)

    def span(self, line: int) -> tuple[int, int]:
        """The innermost many-line statement that has the line, or the line alone."""
        found = [span for span in self.spans if span[0] <= line <= span[1]]
        return max(found, default=(line, line))

    def all_lines(self) -> tuple[int, ...]:
        return tuple(sorted(set().union(*self.lines.values())))

    def has(self, line: int) -> bool:
        """Whether the interpreter reports a line event there."""
        return any(line in lines for lines in self.lines.values())

    def owner(self, line: int) -> CodeType:
        """The innermost function (or module) whose text spans the line."""
        best = self.codes[0]
        for code in self.codes[1:]:
            if code.co_firstlineno <= line <= self._last[id(code)] and code.co_firstlineno >= best.co_firstlineno:
                best = code
        return best

    def place(self, line: int) -> tuple[int, str]:
        """Where a breakpoint on `line` lands, and why it moved; line 0 with the reason when it can't land at all.

        A signature's lines run when the function is made, not when it is called: they mean its first line.
        """
        for start, end in self.signatures:
            if start <= line <= end:
                moved = min((n for n in self.all_lines() if n > end), default=0)
                return moved, f"line {line} is in the head of a function: moved to {moved}" if moved else ""
        if self.has(line):
            return line, ""
        begin = self.span(line)[0]
        if begin < line and self.has(begin):
            return begin, f"line {line} continues the statement of line {begin}: moved to {begin}"
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


def may_launch(text: str, first: int, last: int) -> bool:
    """Whether something is called in these lines that may be a launch: a policy and a kernel are given to it."""
    return any(
        isinstance(node, ast.Call)
        and first <= node.lineno <= last
        and not (isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id))
        and (len(node.args) + len(node.keywords) > 1 or _unpacks(node))
        for node in ast.walk(ast.parse(text))
    )


def _unpacks(call: ast.Call) -> bool:
    return any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords)


def read_source(file: str) -> str:
    """Text of a Python file in its declared encoding; raises OSError, SyntaxError or UnicodeDecodeError."""
    with tokenize.open(file) as stream:
        return stream.read()


def statement_spans(tree: ast.AST) -> list[tuple[int, int]]:
    """First and last line of each statement longer than a line; of a compound one, its header alone."""
    spans = []
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            last = node.end_lineno or node.lineno
            if isinstance(body, list) and body:
                first = body[0]
                last = max(node.lineno, (first.lineno if isinstance(first, ast.stmt) else first.pattern.lineno) - 1)
            if last > node.lineno:
                spans.append((node.lineno, last))
    return spans


def signatures(tree: ast.AST) -> list[tuple[int, int]]:
    """(line behind the def line, last line of the head) of each function whose head has several lines."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parts = [*ast.walk(node.args), *([node.returns] if node.returns is not None else [])]
            last = max([getattr(part, "end_lineno", None) or node.lineno for part in parts], default=node.lineno)
            # The closing bracket may have a line of its own, which no node tells.
            last = max(last, min(node.body[0].lineno - 1, last + 1)) if last > node.lineno else last
            if last > node.lineno:
                found.append((node.lineno + 1, last))
    return found


def lines_in_loops(tree: ast.AST) -> frozenset[int]:
    """Lines of statements inside for and while: a def there makes several functions."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.While | ast.AsyncFor):
            found.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(found)


def compile_file(file: str) -> SourceFile:
    """Compile from disk without running; raises OSError, SyntaxError or ValueError."""
    if file.startswith("<") and file in linecache.cache:
        text = "".join(linecache.getlines(file)).encode()
    else:
        with open(file, "rb") as stream:
            text = stream.read()
    tree = ast.parse(text, file)
    source = SourceFile(file, compile(text, file, "exec", dont_inherit=True))
    source.spans = statement_spans(tree)
    source.signatures = signatures(tree)
    source.loop_lines = lines_in_loops(tree)
    return source
