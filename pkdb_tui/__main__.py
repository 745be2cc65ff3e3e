"""`python -m pkdb_tui` is the same as the `pkdb-tui` script."""

from pkdb_tui.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
