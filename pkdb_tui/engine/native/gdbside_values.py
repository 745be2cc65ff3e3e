"""Runs inside gdb: a frame's variables in Python terms, scalars by value and views as descriptors."""

import math
import re

import gdb

DTYPES = {
    "double": "<f8", "float": "<f4", "bool": "|b1", "signed char": "|i1", "char": "|i1", "unsigned char": "|u1",
    "short": "<i2", "unsigned short": "<u2", "int": "<i4", "unsigned int": "<u4", "long": "<i8", "unsigned long": "<u8",
    "long long": "<i8", "unsigned long long": "<u8", "std::complex<double>": "<c16", "std::complex<float>": "<c8",
    "Kokkos::complex<double>": "<c16", "Kokkos::complex<float>": "<c8",
}  # fmt: skip
HIDDEN = re.compile(r"^(pk_|this$|__)")
VIEW = re.compile(r"^pk::(?:View|Dense)<(.+), *(\d+)>$")
readers = []  # (pattern of a type's name, reader)


def reader(pattern):
    def define(function):
        readers.append((re.compile(pattern), function))
        return function

    return define


def dtype_of(kind):
    plain = kind.strip_typedefs().unqualified()
    return DTYPES.get(str(plain), "")


@reader(VIEW.pattern)
def minikokkos_view(value, kind):
    """{T* data; int64_t extent[R]; int64_t stride[R];}, strides in elements."""
    rank = int(VIEW.match(str(kind)).group(2))
    element = value["data"].type.target()
    size = element.sizeof
    return {
        "dtype": dtype_of(element),
        "address": int(value["data"]),
        "shape": [int(value["extent"][d]) for d in range(rank)],
        "strides": [int(value["stride"][d]) * size for d in range(rank)],
    }


@reader(r"^Kokkos::View<")
def kokkos_view(value, kind):
    """Kokkos' views, old and new; extents that are template constants are read from the type's name."""
    element, rank = kokkos_element(kind)
    try:
        mapping, pointer = value["m_map"], kokkos_pointer(value)
        extents, padded = new_extents(mapping, rank)
    except (gdb.error, RuntimeError):
        return legacy_view(value, element, rank)
    strides = new_strides(mapping, str(mapping.type), extents, padded)
    size = element.sizeof
    return {
        "dtype": dtype_of(element),
        "address": pointer,
        "shape": extents,
        "strides": [step * size for step in strides],
    }


def kokkos_element(kind):
    """(the element type, the rank) of Kokkos::View<double**, ...>."""
    data = kind.strip_typedefs().template_argument(0)
    rank = 0
    while data.code == gdb.TYPE_CODE_PTR or data.code == gdb.TYPE_CODE_ARRAY:
        data = data.target()
        rank += 1
    return data, rank


def kokkos_pointer(value):
    pointer = value["m_ptr"]
    try:
        return int(pointer["m_handle"])
    except (gdb.error, RuntimeError):
        return int(pointer)


def number(value):
    return int(value)


def new_extents(mapping, rank):
    """(extents, padded stride) of layout_left/right_padded and layout_stride mappings."""
    fields = {field.name for field in mapping.type.strip_typedefs().fields()}
    if "m_members" in fields:
        exts = mapping["m_members"]["m_t1_val"]
        steps = [int(mapping["m_members"]["m_t2_val"]["vals"][d]) for d in range(rank)]
        return dynamic(exts, rank), steps
    padded = 0
    if "padded_stride" in fields:
        try:
            padded = int(mapping["padded_stride"]["m_dyn_vals"]["vals"][0])
        except (gdb.error, RuntimeError):
            padded = 0
    return dynamic(mapping["exts"], rank), padded


def dynamic(exts, rank):
    values = exts["m_vals"]["m_dyn_vals"]["vals"]
    return [int(values[d]) for d in range(rank)]


def new_strides(mapping, name, extents, padded):
    rank = len(extents)
    if isinstance(padded, list):
        return padded
    strides = [1] * rank
    if "layout_left" in name:
        for d in range(1, rank):
            strides[d] = strides[d - 1] * (extents[d - 1] if d > 1 or not padded else 1)
            if d == 1 and padded:
                strides[1] = padded
        return strides
    for d in range(rank - 2, -1, -1):
        strides[d] = strides[d + 1] * extents[d + 1]
        if d == rank - 2 and padded:
            strides[d] = padded
    return strides


def legacy_view(value, element, rank):
    """Kokkos up to 4.6: m_map.m_impl_handle and m_impl_offset."""
    mapping = value["m_map"]
    offset = mapping["m_impl_offset"]
    extents = [int(offset["m_dim"][f"N{d}"]) for d in range(rank)]
    name = str(value.type.strip_typedefs())
    try:
        step = int(offset["m_stride"])
    except (gdb.error, RuntimeError):
        step = 0
    strides = new_strides(mapping, "layout_left" if "LayoutLeft" in name else "", extents, step if rank > 1 else 0)
    handle = mapping["m_impl_handle"]
    return {
        "dtype": dtype_of(element),
        "address": int(handle),
        "shape": extents,
        "strides": [step * element.sizeof for step in strides],
    }


def python_type(kind):
    plain = kind.strip_typedefs().unqualified()
    if plain.code == gdb.TYPE_CODE_BOOL:
        return "bool"
    if plain.code == gdb.TYPE_CODE_FLT:
        return "float" if plain.sizeof == 8 else f"float{plain.sizeof * 8}"
    if plain.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_ENUM):
        if plain.sizeof == 4 and "unsigned" not in str(plain):
            return "int"
        sign = "u" if "unsigned" in str(plain) else ""
        return f"{sign}int{plain.sizeof * 8}"
    return str(plain)


def describe(name, value, scope):
    """A NativeVariable's members."""
    native = str(value.type)
    body = {"name": name, "native_type": native, "type": native, "scope": scope}
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
            if pattern.match(str(kind)):
                body.update(read(value, kind))
                body["type"] = "view"
                return body
        body["value"] = scalar(value, kind)
    except (gdb.error, RuntimeError, ValueError, OverflowError) as error:
        body["error"] = f"can't be read: {error}"
    return body


def scalar(value, kind):
    if kind.code == gdb.TYPE_CODE_BOOL:
        return bool(int(value))
    if kind.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_ENUM):
        return int(value)
    if kind.code == gdb.TYPE_CODE_FLT:
        number = float(value)
        return number if math.isfinite(number) else str(number)
    return str(value)[:200]


def variables(frame, names=None):
    """Arguments and locals in scope that have been declared by the frame's line; innermost of equal names."""
    sal = frame.find_sal()
    found, seen = [], set()
    try:
        block = frame.block()
    except RuntimeError:
        return []
    while block is not None:
        for symbol in block:
            name = symbol.name
            if (
                name in seen
                or not (symbol.is_variable or symbol.is_argument)
                or symbol.addr_class == gdb.SYMBOL_LOC_TYPEDEF
            ):
                continue
            if HIDDEN.match(name) or (names is not None and name not in names):
                continue
            same_file = (
                symbol.symtab is not None and sal.symtab is not None and symbol.symtab.filename == sal.symtab.filename
            )
            if not symbol.is_argument and same_file and symbol.line >= sal.line:
                continue
            seen.add(name)
            found.append(describe(name, symbol.value(frame), "argument" if symbol.is_argument else "local"))
        if block.function is not None:
            break
        block = block.superblock
    found += members(frame, seen, names)
    found.sort(key=lambda body: body["scope"] != "argument")
    return found


def members(frame, seen, names):
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
