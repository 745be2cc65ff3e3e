"""Runs inside gdb: a frame's variables in Python terms, scalars by value and views as descriptors."""

from __future__ import annotations

import itertools
import math
import re
import struct
from collections.abc import Callable
from typing import Any

import gdb

from pkdb_tui.engine.native import gdbside_names as texts
from pkdb_tui.engine.native.gdbside_symbols import before_turn

Reader = Callable[[Any, Any], dict[str, Any]]

DTYPES = {
    "double": "<f8", "float": "<f4", "bool": "|b1", "signed char": "|i1", "char": "|i1", "unsigned char": "|u1",
    "short": "<i2", "unsigned short": "<u2", "int": "<i4", "unsigned int": "<u4", "long": "<i8", "unsigned long": "<u8",
    "long long": "<i8", "unsigned long long": "<u8", "std::complex<double>": "<c16", "std::complex<float>": "<c8",
    "Kokkos::complex<double>": "<c16", "Kokkos::complex<float>": "<c8", "pk::half": "<f2", "half": "<f2",
}  # fmt: skip
HIDDEN = re.compile(r"^(pk_|this$|__)")
LONG_DOUBLE = re.compile(r"^(?:(std::complex)<)?long double>?$")
LOOSE = re.compile(r"^(?:pk::)?Loose<(?:pk::)?(Unaligned|Swapped|Record)<.+>, *(\d+)>$")
VIEW = re.compile(r"^(?:pk::)?(?:View|Dense)<(.+), *(\d+)>$")  # devices' debug information has no namespaces
SPACE = re.compile(r" ?@(?:generic|global|local|shared|constant|parameter|register|managed)\b ?")
VIEWS = re.compile(r"^Kokkos::View<")
TEAM = re.compile(r"^(?:Kokkos::Impl::HostThreadTeamMember<|(?:pk::)?Team$)")
readers: list[Any] = []  # (pattern of a type's name, reader)


def reader(pattern: str) -> Callable[[Reader], Reader]:
    def define(function: Reader) -> Reader:
        readers.append((re.compile(pattern), function))
        return function

    return define


def dtype_of(kind: Any) -> str:
    plain = kind.strip_typedefs().unqualified()
    wide = LONG_DOUBLE.match(type_text(plain))  # its size is the machine's
    if wide is not None:
        return f"<{'c' if wide[1] else 'f'}{plain.sizeof}"
    return DTYPES.get(type_text(plain), "")


@reader(VIEW.pattern)
def minikokkos_view(value: Any, kind: Any) -> dict[str, Any]:
    """{T* data; int64_t extent[R]; int64_t stride[R];}, strides in elements."""
    rank = int(str(kind).rpartition(",")[2].rstrip("> "))
    element = value["data"].type.target()
    size = element.sizeof
    return {
        "dtype": dtype_of(element),
        "address": int(value["data"]),
        "shape": [int(value["extent"][d]) for d in range(rank)],
        "strides": [int(value["stride"][d]) * size for d in range(rank)],
    }


@reader(LOOSE.pattern)
def minikokkos_loose(value: Any, kind: Any) -> dict[str, Any]:
    """{char* data; int64_t extent[R]; int64_t stride[R]; ...; char* dtype;}, strides in bytes."""
    found = LOOSE.match(type_text(kind))
    assert found is not None
    form, rank = found[1], int(found[2])
    if form == "Record":
        dtype = value["dtype"].string()
    else:
        dtype = dtype_of(kind.template_argument(0).strip_typedefs().template_argument(0))
        dtype = f">{dtype[1:]}" if form == "Swapped" else dtype
    return {
        "dtype": dtype,
        "address": int(value["data"]),
        "shape": [int(value["extent"][d]) for d in range(rank)],
        "strides": [int(value["stride"][d]) for d in range(rank)],
    }


@reader(VIEWS.pattern)
def kokkos_view(value: Any, kind: Any) -> dict[str, Any]:
    """Kokkos' views, new and old."""
    element, rank, fixed = kokkos_element(kind)
    try:
        mapping, pointer = value["m_map"], kokkos_pointer(value)
        shape, strides = new_layout(mapping, rank, fixed)
    except (gdb.error, RuntimeError):
        pointer, shape, strides = legacy_layout(value, rank, fixed)
    return {
        "dtype": dtype_of(element),
        "address": pointer,
        "shape": shape,
        "strides": [step * element.sizeof for step in strides],
    }


def kokkos_element(kind: Any) -> tuple[Any, int, list[int]]:
    """(element type, count of extents known at run time, those fixed in the type) of Kokkos::View<double**[3], ...>."""
    data = kind.strip_typedefs().template_argument(0)
    fixed, rank = [], 0
    while data.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_ARRAY):
        if data.code == gdb.TYPE_CODE_ARRAY:
            fixed.append(data.range()[1] + 1)
        else:
            rank += 1
        data = data.target()
    return data, rank, fixed


def kokkos_pointer(value: Any) -> int:
    return handle_address(value["m_ptr"], "m_handle")


def handle_address(handle: Any, member: str) -> int:
    """A view's data: a pointer, or one in an object that gives access in a special way, as atomic traits do."""
    return int(handle[member] if has_field(handle, member) else handle)


def new_layout(mapping: Any, rank: int, fixed: list[int]) -> tuple[list[int], list[int]]:
    """(shape, strides in elements) of layout_stride, and of layout_left and layout_right with or without padding."""
    fields = {field.name for field in mapping.type.strip_typedefs().fields()}
    if "m_members" in fields:
        members = mapping["m_members"]
        shape = dynamic_extents(members["m_t1_val"], rank) + fixed
        return shape, [int(members["m_t2_val"]["vals"][d]) for d in range(len(shape))]
    shape = dynamic_extents(mapping["exts"], rank) + fixed
    left = "layout_left" in str(mapping.type.strip_typedefs())
    strides = dense_strides(shape, left)
    padded = padded_stride(mapping) if "padded_stride" in fields else 0
    if padded and len(shape) > 1:
        return shape, pad(strides, shape, padded, left)
    return shape, strides


def dynamic_extents(exts: Any, rank: int) -> list[int]:
    if rank == 0:
        return []
    values = exts["m_vals"]["m_dyn_vals"]["vals"]
    return [int(values[d]) for d in range(rank)]


def padded_stride(mapping: Any) -> int:
    """Zero where the padding is not stored, because the type says that there is none."""
    try:
        return int(mapping["padded_stride"]["m_dyn_vals"]["vals"][0])
    except (gdb.error, RuntimeError):
        return 0


def dense_strides(shape: list[int], left: bool) -> list[int]:
    strides, step = [], 1
    for extent in shape if left else reversed(shape):
        strides.append(step)
        step *= extent
    return strides if left else strides[::-1]


def pad(strides: list[int], shape: list[int], padded: int, left: bool) -> list[int]:
    """The second fastest dimension has the padded stride, the slower ones build on it."""
    order = list(range(len(shape))) if left else list(range(len(shape)))[::-1]
    strides[order[1]] = padded
    for faster, slower in itertools.pairwise(order[1:]):
        strides[slower] = strides[faster] * shape[faster]
    return strides


def legacy_layout(value: Any, rank: int, fixed: list[int]) -> tuple[int, list[int], list[int]]:
    """(address, shape, strides in elements) up to Kokkos 4.6: m_impl_handle, m_impl_offset."""
    mapping = value["m_map"]
    offset = mapping["m_impl_offset"]
    shape = [int(offset["m_dim"][f"N{d}"]) for d in range(rank)] + fixed
    name = str(value.type.strip_typedefs())
    left = "LayoutLeft" in name
    strides = dense_strides(shape, left)
    if "LayoutStride" in name:
        strides = [int(offset["m_stride"][f"S{d}"]) for d in range(len(shape))]
    elif len(shape) > 1 and has_field(offset, "m_stride"):
        step = int(offset["m_stride"])
        # Here LayoutRight keeps the stride of its slowest dimension, LayoutLeft that of its second fastest.
        strides = pad(strides, shape, step, left) if left else [step, *strides[1:]]
    return handle_address(mapping["m_impl_handle"], "ptr"), shape, strides


def has_field(value: Any, name: str) -> bool:
    kind = value.type.strip_typedefs()
    return kind.code == gdb.TYPE_CODE_STRUCT and any(field.name == name for field in kind.fields())


def type_text(kind: Any) -> str:
    """A type's name as written in C++.

    gdb puts `class` before it while another language's frame is innermost, cuda-gdb the memory that it is in.
    """
    return re.sub(r"^(?:class|struct) ", "", SPACE.sub("", str(kind)))


def python_type(kind: Any) -> str:
    plain = kind.strip_typedefs().unqualified()
    if plain.code == gdb.TYPE_CODE_BOOL:
        return "bool"
    wide = LONG_DOUBLE.match(type_text(plain))
    if wide is not None:
        return "clongdouble" if wide[1] else "longdouble"
    if dtype_of(plain) == "<f2":
        return "float16"
    if plain.code == gdb.TYPE_CODE_FLT:
        return "float" if plain.sizeof == 8 else f"float{plain.sizeof * 8}"
    if dtype_of(plain).startswith("<c"):
        return "complex" if plain.sizeof == 16 else "complex64"
    if plain.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_ENUM):
        if plain.sizeof == 4 and "unsigned" not in str(plain):
            return "int"
        sign = "u" if "unsigned" in str(plain) else ""
        return f"{sign}int{plain.sizeof * 8}"
    if TEAM.search(type_text(plain)):
        return "TeamMember"
    return type_text(plain)


def describe(name: str, value: Any, scope: str) -> dict[str, Any]:
    """A NativeVariable's members."""
    native = SPACE.sub("", str(value.type))
    body: dict[str, Any] = {"name": name, "native_type": native, "type": native, "scope": scope}
    try:
        if value.is_optimized_out:
            return {**body, "error": "optimised out"}
        kind = value.type.strip_typedefs()
        if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            value = value.referenced_value()
            kind = value.type.strip_typedefs()
        kind = kind.unqualified()
        body["type"] = python_type(kind)
        if value.address is not None:
            body["lvalue_address"] = int(value.address)
        for pattern, read in readers:
            if pattern.match(type_text(kind)):
                body.update(read(value, kind))
                body["type"] = "view"
                return body
        body["value"] = scalar(value, kind)
    except (gdb.error, RuntimeError, ValueError, OverflowError) as error:
        body["error"] = f"can't be read: {error}"
    return body


def scalar(value: Any, kind: Any) -> int | float | bool | str:
    if kind.code == gdb.TYPE_CODE_BOOL:
        return bool(int(value))
    if kind.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_ENUM):
        return int(value)
    if LONG_DOUBLE.match(type_text(kind)):
        return wide_text(value, kind)
    if dtype_of(kind) == "<f2":
        (number,) = struct.unpack("<e", int(value["bits"]).to_bytes(2, "little"))
        return number if math.isfinite(number) else str(number)
    if kind.code == gdb.TYPE_CODE_FLT:
        number = float(value)
        return number if math.isfinite(number) else str(number)
    if dtype_of(kind).startswith("<c"):
        return complex_text(value, kind)
    if TEAM.search(type_text(kind)):
        return team_text(value)
    return str(value)[:200]


def team_text(value: Any) -> str:
    """Where a member of a team is, in the embedded runtime's struct or in Kokkos'."""
    own = has_field(value, "pk_league_rank")
    prefix, team = ("pk_", value) if own else ("m_", value["m_data"])
    league = f"league rank {int(value[prefix + 'league_rank'])} of {int(value[prefix + 'league_size'])}"
    return f"{league}, team rank {int(team[prefix + 'team_rank'])} of {int(team[prefix + 'team_size'])}"


def complex_text(value: Any, kind: Any) -> str:
    data = bytes(gdb.selected_inferior().read_memory(int(value.address), kind.sizeof))
    return str(complex(*struct.unpack("<2d" if kind.sizeof == 16 else "<2f", data)))


def wide_text(value: Any, kind: Any) -> str:
    """A number of more bits than Python's: its bytes in hex behind `0x`, or its digits where it has no address."""
    if value.address is None:
        return str(value)
    return f"0x{bytes(gdb.selected_inferior().read_memory(int(value.address), kind.sizeof)).hex()}"


def person_name(symbol: Any) -> str:
    """A symbol's name in the program.

    The embedded runtime ends names that C++ keeps for itself with `__py`; PyKokkos' mains work on copies `pk_d_x` of
    views `x`, and return in others.
    """
    name = texts.in_python(symbol.name)
    if name.startswith(("pk_d_", "reduction_result_")) and VIEWS.match(type_text(symbol.type)):
        return name.removeprefix("pk_d_").replace("reduction_result_", "pk_reduction_result_")
    return name


def is_closure(kind: Any) -> bool:
    """A nested function of the kernel, which is a C++ lambda: no value."""
    plain = kind.strip_typedefs()
    return plain.code == gdb.TYPE_CODE_STRUCT and (plain.tag is None or texts.is_lambda_type(plain.tag))


def is_ahead(symbol: Any, sal: Any) -> bool:
    """Whether a local's declaration is still to come; at the test of a loop its own variable has its value."""
    if symbol.symtab is None or sal.symtab is None:
        return False
    file = texts.unmarked(sal.symtab.filename)
    if texts.unmarked(symbol.symtab.filename) != file:
        return False
    in_test = file != sal.symtab.filename and before_turn(file, sal.line)
    return bool(symbol.line > sal.line if in_test else symbol.line >= sal.line)


def variables(frame: Any, names: set[str] | None = None) -> list[dict[str, Any]]:
    """Arguments and locals in scope that have been declared by the frame's line; innermost of equal names."""
    sal = frame.find_sal()
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    try:
        block = frame.block()
    except RuntimeError:
        return []
    while block is not None:
        for symbol in block:
            name = person_name(symbol)
            if (
                name in seen
                or not (symbol.is_variable or symbol.is_argument)
                or symbol.addr_class == gdb.SYMBOL_LOC_TYPEDEF
            ):
                continue
            hidden = HIDDEN.match(symbol.name) and name == symbol.name
            if hidden or (names is not None and name not in names):
                continue
            if not symbol.is_argument and is_ahead(symbol, sal):
                continue
            seen.add(name)
            if not is_closure(symbol.type):
                scope = "argument" if symbol.is_argument else "local"
                found.append({**describe(name, symbol.value(frame), scope), "symbol": symbol.name})
        if block.function is not None:
            break
        block = block.superblock
    found += members(frame, seen, names)
    found.sort(key=lambda body: body["scope"] != "argument")
    return found


def members(frame: Any, seen: set[str], names: set[str] | None) -> list[dict[str, Any]]:
    """A functor's members are variables of its methods too."""
    try:
        this = frame.read_var("this").dereference()
    except (ValueError, gdb.error):
        return []
    found = []
    for field in this.type.strip_typedefs().fields():
        if not field.name or field.is_base_class or field.name in seen or HIDDEN.match(field.name):
            continue
        if names is None or field.name in names:
            found.append(describe(field.name, this[field], "argument"))
    return found
