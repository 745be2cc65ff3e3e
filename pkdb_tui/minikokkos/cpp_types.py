"""C++ types of kernels: from annotations, from numpy, and how they combine."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from pkdb_tui.minikokkos.records import Record

SCALARS = {
    "bool": "bool",
    "int": "int32_t",
    "float": "double",
    "double": "double",
    "real": "double",
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int32_t",
    "int64": "int64_t",
    "uint8": "uint8_t",
    "uint16": "uint16_t",
    "uint32": "uint32_t",
    "uint64": "uint64_t",
    "float32": "float",
    "float64": "double",
    "complex64": "std::complex<float>",
    "complex128": "std::complex<double>",
    "float16": "pk::half",
    "longdouble": "pk::longdouble",
    "float128": "pk::longdouble",
    "clongdouble": "std::complex<pk::longdouble>",
    "complex256": "std::complex<pk::longdouble>",
}
VIEW_ELEMENTS = {**SCALARS, "float": "float"}  # in PyKokkos `pk.float` is single precision, Python's `float` double
NUMPY = {
    "?": "bool", "b": "int8_t", "B": "uint8_t", "h": "int16_t", "H": "uint16_t", "i": "int32_t", "I": "uint32_t",
    "l": "int64_t", "L": "uint64_t", "q": "int64_t", "Q": "uint64_t", "f": "float", "d": "double",
    "F": "std::complex<float>", "D": "std::complex<double>", "e": "pk::half", "g": "pk::longdouble",
    "G": "std::complex<pk::longdouble>",
}  # fmt: skip
PACK = {
    "bool": "?7x", "int8_t": "b7x", "uint8_t": "B7x", "int16_t": "h6x", "uint16_t": "H6x", "int32_t": "i4x",
    "uint32_t": "I4x", "int64_t": "q", "uint64_t": "Q", "float": "f4x", "double": "d",
    "std::complex<float>": "ff", "std::complex<double>": "dd", "pk::half": "e6x",
}  # fmt: skip
_INEXACT = (
    "std::complex<pk::longdouble>", "std::complex<double>", "std::complex<float>", "pk::longdouble", "double", "float",
    "pk::half",
)  # fmt: skip
_ORDER = ("bool", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t")


@dataclass(frozen=True)
class CType:
    """A scalar (`rank` 0), a view of `rank` dimensions, or one of `team`, `void`.

    A view's `access` is `Unaligned` or `Swapped` where its elements aren't as the processor takes them, which changes
    nothing of their values' type. Those of a structured array are records, whose type is named `record`.
    """

    name: str
    rank: int = 0
    reduction: str = ""  # sum | min | max for an accumulator
    access: str = ""
    record: Record | None = None

    @property
    def is_view(self) -> bool:
        return self.rank > 0

    @property
    def is_float(self) -> bool:
        return self.name in ("float", "double", "pk::half", "pk::longdouble")

    @property
    def is_loose(self) -> bool:
        """Whether it is read and written byte by byte."""
        return bool(self.access) or self.record is not None

    @property
    def element(self) -> str:
        """What a loose view holds, in C++."""
        return self.record.text if self.record is not None else f"pk::{self.access}<{self.name}>"

    @property
    def value(self) -> CType:
        """The type of an element, or of what a name bound to one has."""
        return CType(self.name, record=self.record)

    def holds(self, other: CType) -> bool:
        """Whether both are of one type and rank, whichever way the elements lie in memory."""
        alike = (self.name, self.rank) == (other.name, other.rank)
        if self.record is None or other.record is None:
            return alike
        return alike and self.record.fields == other.record.fields

    def of_rank(self, rank: int) -> CType:
        """A view of the same elements."""
        return replace(self, rank=rank, reduction="")

    @property
    def is_complex(self) -> bool:
        return self.name.startswith("std::complex")

    @property
    def is_integer(self) -> bool:
        return self.name in _ORDER

    @property
    def text(self) -> str:
        if self.record is not None or (self.rank and self.access):
            return f"pk::Loose<{self.element}, {self.rank}>"
        if self.rank:
            return f"pk::View<{self.name}, {self.rank}>"
        return "pk::Team" if self.name == "team" else self.name


INT = CType("int32_t")
LONG = CType("int64_t")
DOUBLE = CType("double")
BOOL = CType("bool")
VOID = CType("void")
TEAM = CType("team")


def promote(left: CType, right: CType) -> CType:
    """The type C++ gives an arithmetic expression of both."""
    pair = left.name, right.name
    if "pk::longdouble" in pair and (left.is_complex or right.is_complex):
        return CType("std::complex<pk::longdouble>")
    for name in _INEXACT:
        if name in pair:
            return CType("float" if name == "pk::half" else name)
    names = [name if _ORDER.index(name) > _ORDER.index("int32_t") else "int32_t" for name in (left.name, right.name)]
    return CType(max(names, key=_ORDER.index))


def last_name(node: ast.expr) -> str:
    """`double` of `pk.double` or `double`; empty for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def from_annotation(node: ast.expr | None) -> CType | None:
    """The type an annotation asks for; None without one. Raises ValueError naming what is not known."""
    if node is None:
        return None
    if isinstance(node, ast.Constant) and node.value is None:
        return VOID
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return from_annotation(ast.parse(node.value, mode="eval").body)
    if isinstance(node, ast.Subscript):
        return _subscripted(last_name(node.value), node.slice)
    name = last_name(node)
    if name == "TeamMember":
        return TEAM
    if name == "Acc":
        return CType("double", reduction="sum")
    # `pk.float` is a C float, Python's own `float` a double.
    known = VIEW_ELEMENTS if isinstance(node, ast.Attribute) else SCALARS
    if name in known:
        return CType(known[name])
    raise ValueError(f"the type {ast.unparse(node)} is not known")


def _subscripted(name: str, element: ast.expr) -> CType:
    reductions = {"Acc": "sum", "Sum": "sum", "Min": "min", "Max": "max"}
    known = VIEW_ELEMENTS if isinstance(element, ast.Attribute) else SCALARS
    inner = last_name(element)
    if inner not in known:
        raise ValueError(f"the element type {ast.unparse(element)} is not known")
    if name in reductions:
        return CType(known[inner], reduction=reductions[name])
    rank = view_rank(name)
    if rank:
        return CType(known[inner], rank)
    raise ValueError(f"the type {name}[{ast.unparse(element)}] is not known")


def view_rank(name: str) -> int:
    """3 of `View3D` and `ScratchView3D`; 0 of what is no view of 1 to 8 dimensions."""
    for prefix in ("View", "ScratchView"):
        digits = name.removeprefix(prefix).removesuffix("D")
        if name.startswith(prefix) and digits.isdigit() and 1 <= int(digits) <= 8:
            return int(digits)
    return 0
