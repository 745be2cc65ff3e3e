"""Runs as the debugged program: calls a kernel library's `pk_launch` each time a line of JSON asks for it."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from typing import Any


def launch(request: dict[str, Any]) -> dict[str, Any]:
    data = (ctypes.c_double * len(request["data"]))(*request["data"])
    function = ctypes.CDLL(request["binary"]).pk_launch
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_double)]
    total = function(request["threads"], request["count"], len(data), data)
    return {"total": total, "data": list(data)}


def fork(status: int) -> int:
    """A child that only ends, with a status."""
    child = os.fork()
    if child == 0:
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "exit" in request:
            sys.exit(request["exit"])
        if "spawn" in request:
            print(json.dumps({"status": subprocess.run(request["spawn"], check=False).returncode}), flush=True)
        elif "fork" in request:
            print(json.dumps({"status": fork(request["fork"])}), flush=True)
        elif "load" in request:
            ctypes.CDLL(request["load"])
            print(json.dumps({}), flush=True)
        else:
            print(json.dumps(launch(request)), flush=True)


if __name__ == "__main__":
    main()
