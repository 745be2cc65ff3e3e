"""Widgets, one per file; they see plain engine types only."""
