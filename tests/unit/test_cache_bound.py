"""The bound of the kernel caches: PKDB_CACHE_MIB, whatever stands in it."""

from __future__ import annotations

import warnings

import pytest

from pkdb_tui.cache_bound import cache_bound


@pytest.mark.parametrize(
    ("given", "mib"), [("", 256), ("  ", 256), ("12", 12), (" 2.5 ", 2.5), ("0", 0), ("1e3", 1000)]
)
def test_a_size_is_taken(monkeypatch: pytest.MonkeyPatch, given: str, mib: float) -> None:
    monkeypatch.setenv("PKDB_CACHE_MIB", given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache_bound(256) == mib * 2**20


@pytest.mark.parametrize("given", ["abc", "-1", "nan", "1 GiB", "12MiB"])
def test_what_is_no_size_is_told_and_the_default_holds(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("PKDB_CACHE_MIB", given)
    with pytest.warns(RuntimeWarning, match=f"PKDB_CACHE_MIB={given} is not a size in MiB.*bounded by 256 MiB"):
        assert cache_bound(256) == 256 * 2**20
