"""Runs a program under debugpy the way an editor does: its adapter, spoken to over standard input and output."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import IO, Any

from benchmarks.rivals import PROGRAMS, Workplace


def run_under_debugpy(place: Workplace, program: str, line: int, result: Path) -> None:
    """From launch to the program's end, going on at the breakpoint."""
    path = str(PROGRAMS / program)
    process = subprocess.Popen(
        [place.rivals, "-m", "debugpy.adapter"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=place.environment,
        cwd=place.folder,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        _converse(process.stdin, process.stdout, path, line, [str(result)], place.rivals)
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def _converse(out: IO[bytes], answers: IO[bytes], path: str, line: int, arguments: list[str], python: str) -> None:
    _send(out, 1, "initialize", {"adapterID": "benchmark", "pathFormat": "path"})
    _send(out, 2, "launch", {"program": path, "args": arguments, "console": "internalConsole", "python": [python]})
    while message := _receive(answers):
        event = message.get("event")
        if event == "initialized":
            breakpoints = {"source": {"path": path}, "breakpoints": [{"line": line}]}
            _send(out, 3, "setBreakpoints", breakpoints)
            _send(out, 4, "configurationDone", {})
        elif event == "stopped":
            _send(out, 5, "continue", {"threadId": message["body"]["threadId"]})
        elif event == "terminated":
            return
        elif message.get("type") == "response" and not message["success"]:
            raise RuntimeError(f"debugpy: {message.get('message')}")
    raise RuntimeError("debugpy's adapter ended early")


def _send(out: IO[bytes], number: int, command: str, arguments: dict[str, Any]) -> None:
    body = json.dumps({"seq": number, "type": "request", "command": command, "arguments": arguments}).encode()
    out.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    out.flush()


def _receive(answers: IO[bytes]) -> dict[str, Any]:
    length = 0
    while header := answers.readline().strip():
        name, _, value = header.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    if not length:
        return {}
    message: dict[str, Any] = json.loads(answers.read(length))
    return message
