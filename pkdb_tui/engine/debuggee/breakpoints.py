"""Desired breakpoints, where each landed, and the code objects they concern."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from types import CodeType, FrameType
from typing import Any

from pkdb_tui.engine.debuggee.kernel_names import KernelNames
from pkdb_tui.engine.debuggee.snippets import Snippet
from pkdb_tui.engine.debuggee.sources import (
    SourceFile,
    code_lines,
    compile_file,
    first_line,
    is_function,
    is_glue,
    nested,
    read_source,
    real_path,
    returns_within,
)

Json = dict[str, Any]


class Breakpoint:
    """One request and its state; `hits` survive a new set with the same id."""

    def __init__(self, request: Json) -> None:
        self.id = int(request["id"])
        self.hits = 0
        self.deleted = False
        self.ignore_until = 0
        self.ignoring = (-1, 0)
        self.change(request)
        self.unplace()

    def change(self, request: Json) -> None:
        """Take a new request over the old one, keeping the hits counted so far."""
        self.requested_file = str(request.get("file") or "")
        self.requested_line = int(request.get("line") or 0)
        self.function = str(request.get("function") or "")
        self.condition = str(request.get("condition") or "")
        self.temporary = bool(request.get("temporary"))
        self.log = str(request.get("log") or "")
        ignoring = (int(request.get("ignore") or 0), int(request.get("serial") or 0))
        if ignoring != self.ignoring:
            self.ignoring = ignoring
            self.ignore_until = self.hits + ignoring[0]
        self.code: Snippet | None = None
        self.error = ""
        if self.condition:
            try:
                self.code = Snippet(self.condition, "eval", f"<condition of breakpoint {self.id}>")
            except (SyntaxError, ValueError) as error:
                self.error = f"the condition is not a Python expression: {getattr(error, 'msg', error)}"

    def unplace(self) -> None:
        self.state = "pending"
        self.file = real_path(self.requested_file) if self.requested_file else ""
        self.line = self.requested_line
        self.kernel = ""
        self.reason = ""

    def refuse(self, reason: str) -> None:
        self.state = "cannot bind"
        self.reason = reason

    def placement(self) -> Json:
        return {
            "id": self.id,
            "state": self.state,
            "file": self.file,
            "line": self.line,
            "kernel": self.kernel,
            "reason": self.reason,
            "hits": self.hits,
        }


class CodeInfo:
    """A code object that has been seen, with the breakpoints on its lines."""

    def __init__(self, code: CodeType, forget: Callable[[int], None]) -> None:
        key = id(code)
        self.key = key
        self.reference = weakref.ref(code, lambda _: forget(key))
        self.file = real_path(code.co_filename)
        self.name = code.co_qualname
        self.function = is_function(code)
        self._lines: frozenset[int] | None = None
        self.breakpoints: dict[int, tuple[Breakpoint, ...]] = {}
        self.trace: Callable[..., Any] | None = None  # the settrace backend's function for its frames
        self.again: dict[int, list[tuple[int, int]]] = {}

    def comes_back(self, line: int, offset: int) -> bool:
        """Whether the statement of this line was already running when it came (back) to it."""
        ranges = self.again.get(line)
        return ranges is not None and any(start <= offset < end for start, end in ranges)

    @property
    def lines(self) -> frozenset[int]:
        if self._lines is None:
            code = self.reference()
            self._lines = code_lines(code) if code is not None else frozenset()
        return self._lines


class BreakpointTable:
    """All breakpoints of the session and all code objects seen, matched by real path and line."""

    def __init__(self, kernels: Callable[[str], list[Json]]) -> None:
        self._kernels = kernels
        self._breakpoints: dict[int, Breakpoint] = {}
        self._by_file: dict[str, dict[int, tuple[Breakpoint, ...]]] = {}
        self._sources: dict[str, SourceFile] = {}
        self.infos: dict[int, CodeInfo] = {}
        self._seen: dict[str, dict[int, CodeInfo]] = {}
        self.main_file = ""

    @property
    def all(self) -> list[Breakpoint]:
        return [breakpoint for breakpoint in self._breakpoints.values() if not breakpoint.deleted]

    # --- code objects ---

    def see(self, code: CodeType) -> CodeInfo:
        """Register a code object and all nested in it; binds what was pending for its file."""
        info = self.infos.get(id(code))
        if info is not None:
            return info
        for inner in nested(code):
            if id(inner) not in self.infos:
                self._register(inner)
        return self.infos[id(code)]

    def _register(self, code: CodeType) -> None:
        info = CodeInfo(code, self._forget)
        self.infos[id(code)] = info
        self._seen.setdefault(info.file, {})[id(code)] = info
        self._fill(info)

    def _forget(self, key: int) -> None:
        info = self.infos.pop(key, None)
        if info is not None:
            self._seen.get(info.file, {}).pop(key, None)

    def _fill(self, info: CodeInfo) -> None:
        wanted = self._by_file.get(info.file)
        if not wanted:
            info.breakpoints = {}
            return
        found: dict[int, tuple[Breakpoint, ...]] = {}
        for line, candidates in wanted.items():
            if line in info.lines:
                mine = tuple(b for b in candidates if not b.function or self._names(info, b.function))
                if mine:
                    found[line] = mine
        code = info.reference()
        if code is not None:
            info.again = self._comebacks(info.file, code, found)
        info.breakpoints = found

    def _comebacks(self, file: str, code: CodeType, lines: Iterable[int]) -> dict[int, list[tuple[int, int]]]:
        found = {}
        source = self._sources.get(file)
        for line in lines if source is not None else ():
            assert source is not None
            span = source.span(line)
            ranges = returns_within(code, span, line) if span[0] != span[1] else []
            if ranges:
                found[line] = ranges
        return found

    @staticmethod
    def _names(info: CodeInfo, function: str) -> bool:
        name = info.name.replace(".<locals>", "")
        return info.function and (function == name or function.endswith("." + name) or name.endswith("." + function))

    def infos_with_breakpoints(self) -> list[CodeInfo]:
        return [
            info for file in list(self._by_file) for info in list(self._seen.get(file, {}).values()) if info.breakpoints
        ]

    def file_seen(self, file: str) -> bool:
        return bool(self._seen.get(file))

    # --- requests ---

    def replace(self, requests: list[Json]) -> list[Json]:
        """Take the full desired set and answer where each landed."""
        kept: dict[int, Breakpoint] = {}
        for request in requests:
            number = int(request["id"])
            breakpoint = self._breakpoints.get(number)
            if breakpoint is None or (breakpoint.deleted and not request.get("temporary")):
                breakpoint = Breakpoint(request)
            else:
                breakpoint.change(request)
            kept[number] = breakpoint
        self._breakpoints = kept
        for breakpoint in kept.values():
            self._place(breakpoint)
        self.rearm()
        return [breakpoint.placement() for breakpoint in kept.values()]

    def place_again(self) -> list[Json]:
        """Try again for those not bound; answers the placements that changed."""
        changed = []
        for breakpoint in self.all:
            if breakpoint.state == "bound":
                continue
            before = breakpoint.placement()
            self._place(breakpoint)
            if breakpoint.placement() != before:
                changed.append(breakpoint.placement())
        if changed:
            self.rearm()
        return changed

    def rearm(self) -> None:
        """Refill every code object's table after the set or a placement changed."""
        by_file: dict[str, dict[int, tuple[Breakpoint, ...]]] = {}
        for breakpoint in self.all:
            if breakpoint.state == "cannot bind" or not breakpoint.line:
                continue
            lines = by_file.setdefault(breakpoint.file, {})
            lines[breakpoint.line] = (*lines.get(breakpoint.line, ()), breakpoint)
        files = set(by_file) | set(self._by_file)
        self._by_file = by_file
        for file in files:
            for info in list(self._seen.get(file, {}).values()):
                self._fill(info)

    def wants(self, file: str) -> bool:
        """Whether some breakpoint is meant for this file, or a function of a name not found yet."""
        return file in self._by_file or any(b.function and b.state == "pending" for b in self.all)

    def in_loop(self, file: str, line: int) -> bool:
        """Whether a def on that line may run more than once; True where the source is not known."""
        source = self._sources.get(file)
        return source is None or line in source.loop_lines

    def has_file(self, file: str) -> bool:
        """Whether some breakpoint lies in this file."""
        return file in self._by_file

    # --- placing ---

    def source(self, file: str) -> SourceFile:
        """The file's lines, from its running module when that was seen, else compiled from disk."""
        known = self._sources.get(file)
        if known is None:
            known = compile_file(file)
            self._sources[file] = known
        return known

    def _place(self, breakpoint: Breakpoint) -> None:
        breakpoint.unplace()
        if breakpoint.error:
            breakpoint.refuse(breakpoint.error)
        elif breakpoint.function:
            self._place_function(breakpoint)
        else:
            self._place_line(breakpoint)

    def _place_line(self, breakpoint: Breakpoint) -> None:
        try:
            source = self.source(breakpoint.file)
        except OSError as error:
            breakpoint.refuse(f"{breakpoint.requested_file} can't be read: {error.strerror}")
            return
        except (SyntaxError, ValueError) as error:
            breakpoint.refuse(f"{breakpoint.requested_file} is not valid Python: {error}")
            return
        line, reason = self._landing(breakpoint, source)
        if not line:
            breakpoint.refuse(reason)
            return
        breakpoint.line, breakpoint.reason = line, reason
        self._bind(breakpoint)

    def _landing(self, breakpoint: Breakpoint, source: SourceFile) -> tuple[int, str]:
        """The line a breakpoint lands on, and why it moved; 0 and why where it can't."""
        asked = breakpoint.requested_line
        span = self._kernel_at(breakpoint.file, asked)
        if span is not None:
            return place_in_kernel(span, source.span(asked), asked)
        line, reason = source.place(asked)
        span = self._kernel_at(breakpoint.file, line)
        if span is None or line == asked:
            return line, reason
        line = place_in_kernel(span, source.span(line), line)[0]
        return line, f"line {asked} has no code: moved to {line}" if line else reason

    def _kernel_at(self, file: str, line: int) -> Json | None:
        """The innermost kernel or kernel function that has this line."""
        found = [span for span in self._kernels(file) if span["firstLine"] <= line <= span["lastLine"]]
        return max(found, key=lambda span: int(span["firstLine"]), default=None)

    def _bind(self, breakpoint: Breakpoint) -> None:
        if self.file_seen(breakpoint.file):
            breakpoint.state = "bound"
        span = self._kernel_at(breakpoint.file, breakpoint.line)
        if span is not None:
            breakpoint.kernel = span["name"]
            self._check_names(breakpoint, span)

    def _check_names(self, breakpoint: Breakpoint, span: Json) -> None:
        """Refuse a condition with names that its kernel can't have: it could never be evaluated."""
        if not breakpoint.condition:
            return
        try:
            names = KernelNames(read_source(breakpoint.file), span["name"], span["lastLine"])
        except (OSError, SyntaxError, ValueError):
            return
        unknown = names.unknown(breakpoint.condition)
        if unknown:
            breakpoint.refuse(
                f"the condition names {', '.join(unknown)}, and kernel {span['name']} has only {', '.join(names.own)}"
            )

    def _place_function(self, breakpoint: Breakpoint) -> None:
        files = [real_path(breakpoint.requested_file)] if breakpoint.requested_file else self._function_files()
        for file in files:
            try:
                found = self.source(file).functions(breakpoint.function)
            except (OSError, SyntaxError, ValueError):
                continue
            if not found and "." in breakpoint.function:
                found = self._in_module(breakpoint.function, file)
            if found:
                breakpoint.file, breakpoint.line = file, first_line(found[0])
                self._bind(breakpoint)
                return
        breakpoint.reason = f"no function {breakpoint.function} in the code loaded so far"

    def _in_module(self, name: str, file: str) -> list[CodeType]:
        """`module.function`, the module named by the end of its file's path."""
        module, _, function = name.partition(".")
        stem = file.rsplit("/", 1)[-1].removesuffix(".py")
        return self.source(file).functions(function) if stem == module else []

    def _function_files(self) -> list[str]:
        seen = [file for file in list(self._seen) if not is_glue(file) and file != self.main_file]
        return ([self.main_file] if self.main_file else []) + seen


def place_in_kernel(span: Json, statement: tuple[int, int], line: int) -> tuple[int, str]:
    """Where a breakpoint on a line of a kernel lands: its code lies on the first lines of statements only."""
    lines = sorted(span["lines"])
    if line in lines:
        return line, ""
    if statement[0] in lines:
        return statement[0], f"line {line} continues the statement of line {statement[0]}: moved to {statement[0]}"
    moved = min((candidate for candidate in lines if candidate > line), default=0)
    if not moved:
        return 0, f"line {line} has no code, and no line after it in kernel {span['name']} has"
    if moved == lines[0]:
        return moved, f"line {line} is in the head of kernel {span['name']}: moved to {moved}"
    return moved, f"line {line} has no code: moved to {moved}"


def condition_holds(breakpoint: Breakpoint, frame: FrameType) -> bool:
    """Evaluate the condition in the frame; raises whatever it raises."""
    return breakpoint.code is None or bool(breakpoint.code.value(frame))
