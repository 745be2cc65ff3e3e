"""Arguments of a launch: their C++ types, whether they fit, and how they are handed over."""

from __future__ import annotations

import ast
import ctypes
import functools
import struct
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pkdb_tui.minikokkos import cpp_types as types
from pkdb_tui.minikokkos import cuda, debug
from pkdb_tui.minikokkos.cpp_types import NUMPY, PACK, CType
from pkdb_tui.minikokkos.elements import (
    WORDS,
    access_of,
    as_words,
    between,
    element_of,
    from_words,
    half,
    on_its_size,
    refusal,
    spoken,
)
from pkdb_tui.minikokkos.errors import ArgumentError
from pkdb_tui.minikokkos.policies import ExecutionPolicy
from pkdb_tui.minikokkos.program import Definition, annotated, roles
from pkdb_tui.minikokkos.records import record_of

_CODES = {
    bool: "bool", int: "int32_t", float: "double", complex: "std::complex<double>",
}  # fmt: skip


def signature(given: Mapping[str, Any]) -> tuple[Any, ...]:
    """What the arguments' C++ types depend on, quickly."""
    parts: list[Any] = []
    for value in given.values():
        if isinstance(value, np.ndarray):
            flags = value.flags
            dense = flags.c_contiguous
            fits = flags.aligned and (dense or not between(value))
            parts.append((value.dtype, value.ndim, dense, fits))
        elif cuda.is_device_array(value):
            dense = value.flags.c_contiguous
            parts.append((value.dtype, value.ndim, dense, dense or not between(value), on_its_size(value), "device"))
        elif type(value) is int and not -(2**31) <= value < 2**31:
            parts.append("long")
        else:
            parts.append(type(value))
    return tuple(parts)


class Layout:
    """The types and the packing of one signature's arguments. Raises ArgumentError."""

    def __init__(self, kernel: Definition, pattern: str, policy: ExecutionPolicy, given: Mapping[str, Any]) -> None:
        self._kernel = kernel
        self._device = policy.device
        self._order = roles(kernel, pattern, policy.kind, policy.rank).arguments
        self._check_names(given)
        wanted = annotated(kernel)
        self.types = {name: self._type(name, wanted.get(name), given[name]) for name in self._order}
        self.dense = tuple(
            name
            for name, kind in self.types.items()
            if kind.is_view and not kind.is_loose and given[name].flags.c_contiguous
        )
        self._written = _written(kernel.node)
        self._index = next(iter(roles(kernel, pattern, policy.kind, policy.rank).indices.values()))
        self._format = struct.Struct("<qqq" + "q" * len(policy.words) + "".join(map(_code, self.types.values())))
        self._buffer = ctypes.c_char * self._format.size
        self._given = {name: type(given[name]) for name in self._order}
        self._dtypes = {name: given[name].dtype for name, kind in self.types.items() if kind.is_view}
        self._strided = [n for n, kind in self.types.items() if kind.is_view and not given[n].flags.c_contiguous]

    @property
    def strided(self) -> bool:
        """Whether an array isn't in row order."""
        return bool(self._strided)

    def pack(self, how: int, words: tuple[int, ...], given: Mapping[str, Any]) -> Any:
        """The words that `pk_launch` reads; `how` is a number of threads, 0 for as many as there are, or a stream."""
        values: list[Any] = [0, 0, how, *words]
        for name, kind in self.types.items():
            value = given[name]
            if kind.rank:
                if self._device:
                    values.append(value.data.ptr)
                else:
                    if not value.flags.writeable and name in self._written:
                        raise ArgumentError(f"{self._kernel.name} writes to {name}, but that array is read-only.")
                    values.append(value.__array_interface__["data"][0])
                values += value.shape
                values += value.strides
            elif kind.name in WORDS:
                values += as_words(kind.name, value)
            elif kind.is_complex:
                values += (value.real, value.imag)
            elif kind.name == "pk::half":
                values.append(half(value))
            else:
                values.append(value)
        if self._index.name == "int32_t" and max(words) > 2**31 - 1:
            raise ArgumentError(f"{self._kernel.name} has int32 indices, {max(words)} is beyond them: use pk.int64.")
        buffer = self._buffer()
        try:
            self._format.pack_into(buffer, 0, *values)
        except struct.error:
            self._explain(given)
            raise
        return buffer

    def told(self, policy: ExecutionPolicy, buffer: Any) -> tuple[str, dict[str, Any]]:
        """The `latest` of `debug.Counts`, read back from what was packed."""
        words = list(self._format.unpack_from(buffer))[3 + len(policy.words) :]
        arguments: dict[str, Any] = {}
        for name, kind in self.types.items():
            if kind.rank:
                shape, strides = words[1 : 1 + kind.rank], words[1 + kind.rank : 1 + 2 * kind.rank]
                dtype = self._dtypes[name]
                arguments[name] = debug.ArrayFacts(
                    "record" if dtype.names else str(dtype), tuple(shape), tuple(strides), dtype.itemsize
                )
                del words[: 1 + 2 * kind.rank]
            elif kind.name in WORDS:
                count = len(as_words(kind.name, 0))
                arguments[name] = from_words(kind.name, struct.pack(f"={count}Q", *words[:count]))
                del words[:count]
            elif kind.is_complex:
                arguments[name] = self._given[name](complex(*words[:2]))
                del words[:2]
            else:
                value = words.pop(0)
                narrow = kind.name == "float"  # the number that was given has fewer digits than its nearest double
                arguments[name] = self._given[name](float(str(np.float32(value))) if narrow else value)
        return policy.describe(), arguments

    def _explain(self, given: Mapping[str, Any]) -> None:
        """Name the scalar that doesn't fit."""
        for name, kind in self.types.items():
            if kind.rank == 0 and not kind.is_complex and kind.name not in WORDS:
                try:
                    struct.pack(PACK[kind.name], given[name])
                except struct.error as error:
                    raise ArgumentError(
                        f"{self._kernel.name}: {name} is {given[name]!r}, which does not fit {spoken(kind)}."
                    ) from error

    def _check_names(self, given: Mapping[str, Any]) -> None:
        missing = [name for name in self._order if name not in given]
        unknown = [name for name in given if name not in self._order]
        if missing or unknown:
            parts = [f"it needs {', '.join(missing)}"] if missing else []
            parts += [f"it has no parameter {', '.join(unknown)}"] if unknown else []
            raise ArgumentError(f"The arguments don't fit {self._kernel.name}: {'; '.join(parts)}.")

    def _type(self, name: str, wanted: CType | None, value: Any) -> CType:
        on_device = cuda.is_device_array(value)
        if on_device or isinstance(value, np.ndarray):
            self._check_place(name, on_device)
            return self._view(name, wanted, value)
        if wanted is not None and wanted.is_view:
            raise ArgumentError(
                f"{self._kernel.name}: {name} is annotated as a view of {wanted.rank} dimensions, "
                f"{type(value).__name__} {value!r} is given."
            )
        return self._scalar(name, wanted, value)

    def _check_place(self, name: str, on_device: bool) -> None:
        """An array has to be in the memory that the policy's space can reach."""
        if on_device and not self._device:
            raise ArgumentError(
                f"{self._kernel.name}: {name} is a CuPy array in a device's memory, the policy's space is on the host. "
                f"Use pk.ExecutionSpace.Cuda, or pass a copy, cupy.asnumpy({name})."
            )
        if self._device and not on_device:
            raise ArgumentError(
                f"{self._kernel.name}: {name} is a numpy array in the host's memory, the policy's space is Cuda. "
                f"Pass a copy on the device, cupy.asarray({name})."
            )

    def _view(self, name: str, wanted: CType | None, value: Any) -> CType:
        start = f"{self._kernel.name}: {name} is"
        if not 1 <= value.ndim <= 8:
            raise ArgumentError(f"{start} an array of {value.ndim} dimensions: views have 1 to 8.")
        record = record_of(value.dtype)
        element = element_of(value.dtype)
        if record is not None:
            found = CType("record", value.ndim, record=record)
        elif element is None:
            raise ArgumentError(f"{start} an array of {value.dtype}, {refusal(value.dtype)}")
        else:
            found = CType(element, value.ndim, access="" if self._device else access_of(value))
        if self._device and (found.is_complex or found.is_loose or found.name in WORDS):
            raise ArgumentError(f"{start} an array of {value.dtype}, which kernels on Cuda don't support here.")
        if self._device and (between(value) or not on_its_size(value)):
            raise ArgumentError(
                f"{start} an array whose elements lie at odd addresses, which kernels on Cuda don't support here. "
                f"Pass a copy, {name}.copy()."
            )
        if wanted is not None and not wanted.holds(found):
            wish = f"View{wanted.rank}D of {spoken(wanted)}" if wanted.is_view else f"a number, {spoken(wanted)}"
            of = spoken(found) if record is None else "a name for its dtype"
            raise ArgumentError(
                f"{start} annotated as {wish}, an array of {value.dtype} with {value.ndim} dimensions is given: "
                f"annotate it as View{found.rank}D of {of}, or pass what the annotation says."
            )
        return found

    def _scalar(self, name: str, wanted: CType | None, value: Any) -> CType:
        code = NUMPY.get(value.dtype.char) if isinstance(value, np.generic) else _CODES.get(type(value))
        if code is None:
            raise ArgumentError(
                f"{self._kernel.name}: {name} is a {type(value).__name__}; arguments are numbers and numpy arrays."
            )
        if wanted is None:
            wide = type(value) is int and not -(2**31) <= value < 2**31
            return CType("int64_t" if wide else code)
        if wanted.is_integer and not CType(code).is_integer:
            raise ArgumentError(f"{self._kernel.name}: {name} is annotated as {spoken(wanted)}, {value!r} is given.")
        return wanted


def _code(kind: CType) -> str:
    if kind.rank:
        return "Q" + "q" * (2 * kind.rank)
    return "Q" * len(as_words(kind.name, 0)) if kind.name in WORDS else PACK[kind.name]


@functools.lru_cache(maxsize=256)
def _written(node: ast.FunctionDef) -> frozenset[str]:
    """Names whose elements the kernel assigns or changes atomically."""
    found = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Subscript | ast.Attribute) and isinstance(child.ctx, ast.Store):
            found.add(types.last_name(_base(child)))
        elif isinstance(child, ast.Call) and types.last_name(child.func).startswith("atomic_") and child.args:
            found.add(types.last_name(_base(child.args[0])))
    bound = list(_bound(node))  # `r = a[i]`, and `r["x"] = 1` writes to a
    for _ in bound:
        found |= {whole for name, whole in bound if name in found}
    return frozenset(found)


def _bound(node: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Names that are given a part of something, with the name of that."""
    for child in ast.walk(node):
        if isinstance(child, ast.Assign | ast.AnnAssign) and isinstance(
            child.value, ast.Subscript | ast.Attribute | ast.Name
        ):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, types.last_name(_base(child.value))


def _base(node: ast.expr) -> ast.expr:
    """`a` of `a[i]["x"]` and `a[i].x`."""
    while isinstance(node, ast.Subscript) or (
        isinstance(node, ast.Attribute) and isinstance(node.value, ast.Subscript)
    ):
        node = node.value
    return node
