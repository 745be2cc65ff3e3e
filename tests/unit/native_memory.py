"""A program's memory for tests: arrays placed in one block of bytes, and a count of what was read of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pkdb_tui.engine.errors import NativeError
from pkdb_tui.engine.native.base import NativeVariable

BASE = 0x7F00_0000_0000


@dataclass
class Memory:
    """Reads outside of what was placed fail, as they would in a real program."""

    data: bytearray = field(default_factory=bytearray)
    read: int = 0
    requests: int = 0
    regions: list[tuple[int, int]] = field(default_factory=list)

    def place(self, name: str, array: np.ndarray[Any, Any]) -> NativeVariable:
        """Copies the array with its strides and describes it as a native variable."""
        low, high = np.lib.array_utils.byte_bounds(array)
        self.data += bytes(-len(self.data) % 64)
        start = len(self.data)
        self.data += bytes(high - low)
        first = start + array.__array_interface__["data"][0] - low
        mirror: np.ndarray[Any, Any] = np.ndarray(array.shape, array.dtype, self.data, first, array.strides)
        mirror[...] = array
        return NativeVariable(
            name=name,
            native_type="pk::View",
            type=array.dtype.name,
            dtype=array.dtype.str,
            shape=array.shape,
            strides=array.strides,
            address=BASE + first,
        )

    def scalar(self, name: str, native_type: str, type_: str, value: Any, dtype: str) -> NativeVariable:
        self.data += bytes(-len(self.data) % 64)
        address = BASE + len(self.data)
        self.data += np.array(value, dtype=dtype).tobytes()
        return NativeVariable(name=name, native_type=native_type, type=type_, value=value, lvalue_address=address)

    async def reader(self, regions: Sequence[tuple[int, int]]) -> list[bytes]:
        self.requests += 1
        self.regions += regions
        self.read += sum(length for _, length in regions)
        return [self._block(address, length) for address, length in regions]

    def _block(self, address: int, length: int) -> bytes:
        start = address - BASE
        if not 0 <= start <= start + length <= len(self.data):
            raise NativeError(f"Cannot access memory at address {address:#x}.")
        return bytes(self.data[start : start + length])

    async def writer(self, address: int, data: bytes) -> None:
        self._block(address, len(data))
        self.data[address - BASE : address - BASE + len(data)] = data

    def forget(self) -> None:
        """Starts counting anew."""
        self.read = self.requests = 0
        self.regions.clear()
