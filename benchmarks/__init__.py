"""Measurements of pkdb-tui beside its rivals, through the real programs in real terminals."""
