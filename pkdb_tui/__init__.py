"""pkdb-tui: a full-screen terminal debugger for Python programs that launch parallel kernels."""

__version__ = "0.1.0"
