"""How large a cache of kernels may be. Imports nothing but the standard library: the debugged program uses it."""

from __future__ import annotations

import os
import warnings

VARIABLE = "PKDB_CACHE_MIB"


def cache_bound(default_mib: int) -> float:
    """In bytes: what PKDB_CACHE_MIB says, or the default with a warning where that is not a size."""
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return float(default_mib * 2**20)
    try:
        mib = float(given)
    except ValueError:
        mib = -1.0
    if mib >= 0:
        return mib * 2**20
    warnings.warn(
        f"{VARIABLE}={given} is not a size in MiB: the kernel cache is bounded by {default_mib} MiB. Give a number, "
        f"such as {VARIABLE}={default_mib}, or unset it.",
        RuntimeWarning,
        stacklevel=2,
    )
    return float(default_mib * 2**20)
