"""The folder where things are kept between sessions, and how a file in it is written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import platformdirs

REMEDY = "Make room there, or set PKDB_STATE to a folder that can be written."


def folder() -> Path:
    """The one PKDB_STATE names, else the user's state folder."""
    return Path(os.environ.get("PKDB_STATE") or platformdirs.user_state_dir("pkdb-tui"))


def write(path: Path, data: bytes) -> None:
    """All of it or nothing: a reader never sees half a file. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.stem)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
