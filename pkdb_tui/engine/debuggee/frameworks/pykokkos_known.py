"""Whether an installed PyKokkos has what the adapter hooks into, seen in its source text without importing it."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

# File below the package -> what it must define.
NEEDED = {
    "core/runtime.py": (
        "class Runtime", "def execute_workunit", "def run_workload", "def call_wrapper", "def retrieve_results",
        "def run_callbacks", "def get_module_setup",
    ),
    "core/compiler.py": ("class Compiler", "def compile_object", "def get_parser"),
    "core/cpp_setup.py": ("class CppSetup", "def invoke_script", "def write_raw_source"),
    "core/module_setup.py": ("class ModuleSetup", "def get_main_dir", "def get_metadata"),
    "core/cppast/serializer.py": ("class Serializer", "def serialize"),
    "core/visitors/pykokkos_visitor.py": ("class PyKokkosVisitor",),
    "core/visitors/kokkosmain_visitor.py": ("class KokkosMainVisitor", "def visit_FunctionDef"),
}  # fmt: skip


def missing(package: Path) -> str:
    """The first thing that a package lacks, as `core/runtime.py has no def execute_workunit`; empty when it has all."""
    for name, wanted in NEEDED.items():
        try:
            text = (package / name).read_text()
        except (OSError, UnicodeDecodeError):
            return f"{name} can't be read"
        for definition in wanted:
            if not re.search(rf"^\s*{definition}\b", text, re.MULTILINE):
                return f"{name} has no {definition.split()[1]}"
    return ""


def version() -> str:
    try:
        return importlib.metadata.version("pykokkos")
    except importlib.metadata.PackageNotFoundError:
        return ""


def detail(package: Path) -> str:
    """What to say of it at the start."""
    number = version()
    lacking = missing(package)
    return ", ".join(part for part in (number, f"not one pkdb-tui knows: {lacking}" if lacking else "") if part)


def sentence(lacking: str) -> str:
    return (
        f"This PyKokkos is not one pkdb-tui knows ({lacking}): kernels run as they are and breakpoints in them can't "
        "stop; Python debugging works."
    )
