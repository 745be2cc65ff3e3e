"""From what the two sides report to the frozen values of one stop: frames, variables, what changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from pkdb_tui.engine import formatting, team
from pkdb_tui.engine.api import Argument, Frame, FrameKind, PythonThread, Variable, VariableKind
from pkdb_tui.engine.native.base import NativeFrame, NativeVariable
from pkdb_tui.engine.protocol import ArgumentBody, FrameBody, ThreadBody, VariableBody

NATIVE, PYTHON = "native", "python"


class Place(msgspec.Struct, frozen=True):
    """Which side owns a shown frame, and by what number that side knows it."""

    side: str
    index: int

    @property
    def in_python(self) -> int:
        """The frame for Python code: for one of a kernel, the one that launched it."""
        return self.index if self.side != NATIVE else 0


def python_frames(bodies: Sequence[FrameBody], *, glue: bool, start: int = 0) -> tuple[list[Frame], list[Place]]:
    """Frames to show, with their places; `start` is the index the first one gets."""
    frames: list[Frame] = []
    places: list[Place] = []
    for position, body in enumerate(bodies):
        if body.glue and not glue:
            continue
        kind = FrameKind.GLUE if body.glue else FrameKind.PYTHON
        frames.append(
            Frame(index=start + len(frames), function=body.function, file=body.file, line=body.line, kind=kind)
        )
        places.append(Place(PYTHON, position))
    if not frames and bodies:
        return python_frames(bodies, glue=True, start=start)
    return frames, places


def native_frames(found: Sequence[NativeFrame], *, glue: bool) -> tuple[list[Frame], list[Place]]:
    frames: list[Frame] = []
    places: list[Place] = []
    for native in found:
        if native.glue and not glue:
            continue
        kind = FrameKind.GLUE if native.glue else FrameKind.KERNEL
        frames.append(Frame(index=len(frames), function=native.function, file=native.file, line=native.line, kind=kind))
        places.append(Place(NATIVE, native.level))
    return frames, places


def python_variable(body: VariableBody) -> Variable:
    return Variable(
        name=body.name,
        type=body.type,
        text=body.text,
        kind=VariableKind(body.kind),
        value=body.value,
        scope=body.scope,
    )


def argument(body: ArgumentBody) -> Argument:
    fields = msgspec.structs.asdict(python_variable(body))
    return Argument(**fields, shape=tuple(body.shape), strides=tuple(body.strides))


def native_variable(variable: NativeVariable) -> Variable:
    """A kernel variable in Python terms; arrays show where they lie and how, never elements."""
    if variable.error:
        return Variable(
            name=variable.name,
            type=variable.type,
            text=variable.error,
            native_type=variable.native_type,
            scope=variable.scope,
        )
    if variable.dtype:
        from pkdb_tui.engine import arrays, slices

        view = arrays.from_variable(variable)
        return Variable(
            name=variable.name,
            type=formatting.array_type(view.dtype, view.shape) if view.shape else formatting.dtype_name(view.dtype),
            text=slices.layout(view),
            kind=VariableKind.ARRAY,
            native_type=variable.native_type,
            scope=variable.scope,
        )
    return Variable(
        name=variable.name,
        type=variable.type,
        text=_scalar_text(variable),
        kind=VariableKind.SCALAR,
        value=float(variable.value) if variable.type == "longdouble" else variable.value,
        native_type=variable.native_type,
        scope=variable.scope,
    )


def _scalar_text(variable: NativeVariable) -> str:
    """All digits that the C++ type distinguishes, and no more: those of a `float` are fewer."""
    if isinstance(variable.value, float):
        from pkdb_tui.engine import expressions

        dtype = expressions.scalar_dtype(variable.native_type)
        if dtype is not None and dtype.kind == "f":
            return formatting.full(dtype.type(variable.value))
    if variable.type == team.TYPE:
        return str(variable.value)  # a description, not a string of the program
    return formatting.full(variable.value)


def python_threads(bodies: Iterable[ThreadBody]) -> tuple[PythonThread, ...]:
    return tuple(PythonThread(**msgspec.structs.asdict(body)) for body in bodies)


class VariableHistory:
    """What each function's variables were at the stop before, so that changes can be marked."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, int], tuple[int, dict[str, str], dict[str, str]]] = {}

    def mark(
        self, frame: Frame, variables: Iterable[Variable], generation: int, thread: int = -1
    ) -> tuple[Variable, ...]:
        """The variables, those that differ from the last stop in this function (and thread) marked."""
        variables = tuple(variables)
        key = (frame.file, frame.function, thread)
        now = {variable.name: variable.text for variable in variables}
        last, texts, before = self._seen.get(key, (-1, {}, {}))
        previous = before if last == generation else texts
        self._seen[key] = (generation, now, previous)
        return tuple(_marked(variable, previous) for variable in variables)


def _marked(variable: Variable, previous: dict[str, str]) -> Variable:
    old = previous.get(variable.name)
    if old is None or old == variable.text or variable.kind is VariableKind.ARRAY:
        return variable
    return msgspec.structs.replace(variable, changed=True, previous=old)
