"""An embedded runtime with the names of PyKokkos, for machines on which it is not installed."""

# ruff: noqa: F401, F403, F811  # this module only gathers names, some of them those of builtins as in PyKokkos

from __future__ import annotations

from pkdb_tui.minikokkos.decorators import (
    BinSort,
    Random_XorShift64_Pool,
    Random_XorShift1024_Pool,
    Timer,
    ViewTypeInfo,
    callback,
    classtype,
    execute,
    finalize,
    function,
    functor,
    initialize,
    main,
    rand,
    workload,
    workunit,
)
from pkdb_tui.minikokkos.device import *
from pkdb_tui.minikokkos.errors import ArgumentError, CompileError, MinikokkosError
from pkdb_tui.minikokkos.launch import parallel_for, parallel_reduce, parallel_scan
from pkdb_tui.minikokkos.policies import (
    AUTO,
    ExecutionPolicy,
    ExecutionSpace,
    ExecutionSpaceInstance,
    Iterate,
    MDRangePolicy,
    PerTeam,
    PerThread,
    RangePolicy,
    Rank,
    TeamPolicy,
    get_default_space,
    is_host_execution_space,
    set_default_space,
)
from pkdb_tui.minikokkos.python_space import TeamMember, TeamThreadMDRange, TeamThreadRange, ThreadVectorRange, single
from pkdb_tui.minikokkos.views import *

embedded = True

OpenMP, Serial, Debug, Default = (
    ExecutionSpace.OpenMP,
    ExecutionSpace.Serial,
    ExecutionSpace.Debug,
    ExecutionSpace.Default,
)
Cuda, HIP, Threads = ExecutionSpace.Cuda, ExecutionSpace.HIP, ExecutionSpace.Threads
LayoutRight, LayoutLeft, LayoutDefault = Layout.LayoutRight, Layout.LayoutLeft, Layout.LayoutDefault
