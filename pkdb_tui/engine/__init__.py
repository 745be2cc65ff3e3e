"""The debugger itself, independent of any screen."""
