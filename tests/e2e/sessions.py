"""What several sessions do: go to the kernel of the test program, type a command."""

from __future__ import annotations

from programs import SUM_LINE
from terminal import Terminal

AT_START = r"▪ python · <module> · start"


def stop_in_kernel(screen: Terminal, line: int = SUM_LINE) -> str:
    """Sets a breakpoint at a kernel line with the cursor and goes on to it."""
    screen.wait_for(AT_START)
    screen.press(*["Down"] * (line - 1), "b")
    screen.wait_for(rf"{line} ○")
    screen.press("c")
    return screen.wait_for(r"▪ kernel scaled_sum .*breakpoint 1")


def enter(screen: Terminal, command: str) -> None:
    """Types a command at the console, coming from the source or the threads."""
    screen.move(":")
    screen.wait_for_cursor("^ pkdb>")
    screen.type(command)
    screen.press("Enter")
