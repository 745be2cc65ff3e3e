"""The part that runs inside the debugged process; standard library only."""
