"""Names of C++ functions and types, as compilers and debuggers write them."""

from __future__ import annotations

import pytest

from pkdb_tui.engine.native import gdbside_names as names

NVCC = "_ZZN67_INTERNAL_68f5_36_cpp_921ffc238pkk_dots7pk_bodyERN2pk4TeamERdiNS1_4ViewIdLi2EEEEUliS4_E"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pkk_sums::pk_body(pk::Team&)::{lambda(int)#1}::operator()(int) const", True),
        (f"{NVCC}_::operator()(int, double&) const", True),
        (f"{NVCC}0_::operator()(int, double&) const", True),
        ("pkk_sums::pk_body(pk::Team&)", False),
        ("Functor::operator()(int) const", False),
    ],
)
def test_bodies_of_lambdas(name: str, expected: bool) -> None:
    assert names.is_lambda(name) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pk_body(pk::Team&)::<lambda(int)>", True),
        (f"{NVCC}_", True),
        (f"{NVCC}0_", True),
        ("pk::View<double, 2>", False),
    ],
)
def test_types_of_lambdas(name: str, expected: bool) -> None:
    assert names.is_lambda_type(name) is expected
