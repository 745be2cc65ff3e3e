"""Errors that reach the person: a title that says what happened, and a hint that says what to do."""

from __future__ import annotations


class PkdbError(Exception):
    """Something the person can understand and act on.

    `title` says what happened and where; `hint` says what to do, and may be empty when the title does.
    """

    def __init__(self, title: str, hint: str = "") -> None:
        super().__init__(title if not hint else f"{title} {hint}")
        self.title = title
        self.hint = hint


class WrongPhase(PkdbError):
    """A verb was used in a phase in which it has no meaning."""


class UsageError(PkdbError):
    """A command was written in a way that can't be understood."""


class FileChanged(PkdbError):
    """A file is another one than what is to be saved was made from."""


class LaunchError(PkdbError):
    """The program could not be started."""


class ExpressionError(PkdbError):
    """An expression could not be parsed or evaluated."""


class NotHere(ExpressionError):
    """An expression means nothing in this frame; `brief` is why, in a few words."""

    def __init__(self, title: str, hint: str = "", *, brief: str = "not in scope here") -> None:
        super().__init__(title, hint)
        self.brief = brief


class BreakpointError(PkdbError):
    """A breakpoint could not be set, changed or removed."""


class NativeError(PkdbError):
    """The native debugger refused or failed a request."""


class NativeLost(NativeError):
    """The native debugger is gone, and with it what was asked of it."""


class NativeUnavailable(NativeError):
    """No native debugger can be used here: missing, not permitted or lost."""


class DebuggeeLost(PkdbError):
    """The connection to the debugged process is gone."""
