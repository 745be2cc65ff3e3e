"""The kernels of these tests, each compiled once a run."""

from __future__ import annotations

import pytest
from kernel_programs import BODY, GLUE, Compile, KernelProgram, compile_kernel


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compile rows of Python and C++ in a folder of their own."""

    def make(rows: str, *, flags: tuple[str, ...] = (), preamble: str = "", glue: str = GLUE) -> KernelProgram:
        return compile_kernel(tmp_path_factory.mktemp("kernel"), rows, flags=flags, preamble=preamble, glue=glue)

    return make


@pytest.fixture(scope="session")
def branch(compiled: Compile) -> KernelProgram:
    """One iteration in eight enters the branch."""
    return compiled(f"""
def work(i, acc, a):               ## {BODY}
    value: float = i               ## double value = i;
    if i % 8 == 3:                 ## if (i % 8 == 3) {{
        value = value * 10.0       ## value = value * 10.0;
        value = value + 0.5        ## value = value + 0.5;
                                   ## }}
    a[i] = value                   ## a(i) = value;
    acc += value                   ## acc += value;
                                   ## }}
""")


@pytest.fixture(scope="session")
def calls(compiled: Compile) -> KernelProgram:
    """A function called from a loop."""
    return compiled(f"""
@pk.function                       ##
def half(x):                       ## PK_FUNCTION double half(double x) {{
    y: float = x / 2.0             ## double y = x / 2.0;
    return y                       ## return y;
                                   ## }}
def work(i, acc, a):               ## {BODY}
    total: float = 0.0             ## double total = 0.0;
    for k in range(3):             ## for (int32_t k = 0, pk_end = 3; k < pk_end; ++k) {{
        total += half(a[i]) + k    ## total += half(a(i)) + k;
                                   ## }}
    a[i] = total                   ## a(i) = total;
    acc += total                   ## acc += total;
                                   ## }}
""")
