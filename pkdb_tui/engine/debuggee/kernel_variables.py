"""A paused kernel's variables as Python objects: what a native debugger read, and the arrays themselves."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pkdb_tui.engine.debuggee.scopes import Kernel
from pkdb_tui.engine.debuggee.values import is_array
from pkdb_tui.engine.debuggee.wire import RequestError

Json = dict[str, Any]


class _Memory:
    """Memory of the program as numpy takes it over."""

    def __init__(self, interface: Json) -> None:
        self.__array_interface__ = interface


def kernel_of(bodies: Sequence[Json], arguments: Mapping[str, Any]) -> Kernel:
    """From KernelVariable bodies; an array that is one of the launch's arguments is that very object."""
    values: dict[str, Any] = {}
    arrays: list[str] = []
    for body in bodies:
        name = str(body["name"])
        if body.get("dtype"):
            values[name] = _array(body, arguments.get(name))
            arrays.append(name)
        elif body.get("number"):
            made = _numpy(name).frombuffer(bytes.fromhex(str(body["value"])), body["number"])
            values[name] = made[0]
        else:
            value = body.get("value")
            values[name] = complex(value) if body.get("complex") and isinstance(value, str) else value
    return Kernel(values, arrays)


def _array(body: Json, argument: Any) -> Any:
    shape, strides, address = tuple(body["shape"]), tuple(body["strides"]), int(body["address"])
    if is_array(argument) and tuple(argument.shape) == shape:
        interface = getattr(argument, "__array_interface__", None)
        if interface is not None and interface["data"][0] == address:
            return argument
    numpy = _numpy(str(body["name"]))
    name = str(body["dtype"])
    fields = name.removeprefix("record ")
    dtype = numpy.dtype(ast.literal_eval(fields) if fields.startswith("{") else name)
    if fields != name:
        dtype = numpy.dtype((numpy.record, dtype))
    if 0 in shape or not address:
        return numpy.empty(shape, dtype)
    interface = {"version": 3, "typestr": dtype.str, "shape": shape, "strides": strides, "data": (address, False)}
    made = numpy.asarray(_Memory(interface)).view(dtype)  # the interface knows records as bytes
    return made if shape else made[()]  # one record, which is still the one in memory


def _numpy(name: str) -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        raise RequestError(f"`{name}` can't be used here: the program has not imported numpy.")
    return numpy
