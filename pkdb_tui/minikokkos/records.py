"""The fields of structured arrays, as kernels reach them."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

Dtype = Any  # numpy's, which this module has no need to import


@dataclass(frozen=True)
class Field:
    """One field of a record: `shape` is that of an array in it."""

    offset: int  # bytes
    dtype: Dtype  # of one element
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Record:
    """The type of a structured array's elements; those of a numpy.recarray have `attributes`."""

    dtype: Dtype
    attributes: bool

    @property
    def description(self) -> str:
        """The fields, behind `record` where they are attributes."""
        return f"record {self.fields}" if self.attributes else self.fields

    @property
    def fields(self) -> str:
        """Python's text, in ASCII, of what `numpy.dtype` makes the same type of."""
        return ascii(_described(self.dtype))

    @property
    def text(self) -> str:
        """The element in C++; the number keeps types with other fields apart."""
        return f"pk::Record<{self.dtype.itemsize}, {zlib.crc32(self.fields.encode())}>"

    def field(self, name: str) -> Field | None:
        if name not in (self.dtype.names or ()):
            return None
        dtype, offset = self.dtype.fields[name][:2]
        return Field(offset, dtype.base, dtype.shape)

    @property
    def names(self) -> str:
        """The fields for a message."""
        return ", ".join(self.dtype.names)


def record_of(dtype: Dtype, within: Record | None = None) -> Record | None:
    """None for what is no structured type; a record within one with attributes has them too."""
    attributes = dtype.type.__name__ == "record" or (within is not None and within.attributes)
    return Record(dtype, attributes) if dtype.names else None


def _described(dtype: Dtype) -> Any:
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return _described(base), shape
    if dtype.names:
        fields = [dtype.fields[name][:2] for name in dtype.names]
        return {
            "names": list(dtype.names),
            "formats": [_described(each) for each, _ in fields],
            "offsets": [offset for _, offset in fields],
            "itemsize": dtype.itemsize,
        }
    if dtype.hasobject:  # what is there are addresses, which nobody may take for objects
        return f"|V{dtype.itemsize}"
    return dtype.str
