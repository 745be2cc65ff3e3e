"""Kokkos' views, new and old, by the members that their releases have; laid out here as in their headers."""

from __future__ import annotations

import pytest
from debugged import Debugged
from kernel_programs import BODY, Compile, KernelProgram

KOKKOS = """
namespace Kokkos {
struct LayoutLeft {}; struct LayoutRight {}; struct LayoutStride {};
template <class D, class... P> struct View;
struct NewTag {}; struct OldTag {};
struct Held { double* m_handle; };
template <int N> struct Array { size_t vals[N]; };
template <int N> struct Values { Array<N> m_dyn_vals; };
template <int N> struct Extents { Values<N> m_vals; };
template <int N> struct layout_right_padded { Extents<N> exts; struct { Array<1> m_dyn_vals; } padded_stride; };
template <int N> struct layout_left_padded { Extents<N> exts; struct { Array<1> m_dyn_vals; } padded_stride; };
template <int N> struct layout_stride { struct { Extents<N> m_t1_val; Array<N> m_t2_val; } m_members; };
template <class D> struct View<D, LayoutRight, NewTag> { Held m_ptr; layout_right_padded<2> m_map; };
template <class D> struct View<D, LayoutLeft, NewTag> { Held m_ptr; layout_left_padded<3> m_map; };
template <class D> struct View<D, LayoutStride, NewTag> { Held m_ptr; layout_stride<2> m_map; };
template <class D> struct View<D, LayoutRight> { double* m_ptr; layout_right_padded<1> m_map; };
struct Dim3 { size_t N0, N1, N2; };
struct Steps { size_t S0, S1, S2; };
template <class S> struct Offset { Dim3 m_dim; S m_stride; };
template <class S> struct Mapping { double* m_impl_handle; Offset<S> m_impl_offset; };
template <class D> struct View<D, LayoutRight, OldTag> { Mapping<size_t> m_map; };
template <class D> struct View<D, LayoutLeft, OldTag> { Mapping<size_t> m_map; };
template <class D> struct View<D, LayoutStride, OldTag> { Mapping<Steps> m_map; };
}
using namespace Kokkos;
"""
ROWS = f"""
def work(i, acc, a):               ## {BODY}
    right = 1                      ## View<double**, LayoutRight, NewTag> right{{}}; right.m_ptr.m_handle = a.data; right.m_map.exts.m_vals.m_dyn_vals = {{5, 6}}; right.m_map.padded_stride.m_dyn_vals.vals[0] = 8;
    left = 1                       ## View<double***, LayoutLeft, NewTag> left{{}}; left.m_ptr.m_handle = a.data; left.m_map.exts.m_vals.m_dyn_vals = {{5, 6, 7}}; left.m_map.padded_stride.m_dyn_vals.vals[0] = 8;
    strided = 1                    ## View<double**, LayoutStride, NewTag> strided{{}}; strided.m_ptr.m_handle = a.data; strided.m_map.m_members.m_t1_val.m_vals.m_dyn_vals = {{5, 6}}; strided.m_map.m_members.m_t2_val = {{2, 20}};
    scratch = 1                    ## View<double*, LayoutRight> scratch{{}}; scratch.m_ptr = a.data; scratch.m_map.exts.m_vals.m_dyn_vals = {{9}};
    fixed = 1                      ## View<double*[3], LayoutRight> fixed{{}}; fixed.m_ptr = a.data; fixed.m_map.exts.m_vals.m_dyn_vals = {{9}};
    old_right = 1                  ## View<double***, LayoutRight, OldTag> old_right{{{{a.data, {{{{5, 6, 7}}, 44}}}}}};
    old_left = 1                   ## View<double***, LayoutLeft, OldTag> old_left{{{{a.data, {{{{5, 6, 7}}, 8}}}}}};
    old_strided = 1                ## View<double***, LayoutStride, OldTag> old_strided{{{{a.data, {{{{5, 6, 7}}, {{2, 10, 60}}}}}}}};
    acc += i                       ## acc += i;
                                   ## }}
"""  # noqa: E501


@pytest.fixture(scope="module")
def kokkos(compiled: Compile) -> KernelProgram:
    return compiled(ROWS, preamble=KOKKOS)


async def test_all_layouts(kokkos: KernelProgram) -> None:
    async with Debugged(kokkos, threads=1, count=1) as run:
        await run.begin(run.at("acc += i"))
        await run.stop()
        values = await run.values(0)
        found = {name: (v.shape, v.strides) for name, v in values.items() if v.dtype and name != "a"}
        assert found == {
            "right": ((5, 6), (64, 8)),
            "left": ((5, 6, 7), (8, 64, 64 * 6)),
            "strided": ((5, 6), (16, 160)),
            "scratch": ((9,), (8,)),
            "fixed": ((9, 3), (24, 8)),
            "old_right": ((5, 6, 7), (44 * 8, 56, 8)),
            "old_left": ((5, 6, 7), (8, 64, 64 * 6)),
            "old_strided": ((5, 6, 7), (16, 80, 480)),
        }
        assert {v.address for v in values.values() if v.dtype} == {values["a"].address}
        assert {v.dtype for v in values.values() if v.dtype} == {"<f8"}
