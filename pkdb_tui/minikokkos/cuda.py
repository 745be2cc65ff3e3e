"""CUDA as it is found here: CuPy with its arrays, the device, and the compiler."""

from __future__ import annotations

import functools
import importlib
import os
import shutil
import sys
from typing import Any

from pkdb_tui.minikokkos.errors import CompileError, DeviceError

INSTEAD = "or use pk.ExecutionSpace.OpenMP with numpy arrays."


def is_device_array(value: Any) -> bool:
    """Whether it is a CuPy array, asked without importing CuPy."""
    module = sys.modules.get("cupy")
    kind = getattr(module, "ndarray", None)
    return kind is not None and isinstance(value, kind)


@functools.cache
def cupy() -> Any:
    """CuPy, with a device to use. Raises DeviceError with the remedy."""
    try:
        module = importlib.import_module("cupy")
    except ImportError as error:
        raise DeviceError(
            f"Kernels on Cuda need CuPy, which can't be imported ({error}). Install it (pip install cupy-cuda13x, or "
            f"the one of your CUDA version), {INSTEAD}"
        ) from error
    try:
        count = module.cuda.runtime.getDeviceCount()
    except Exception as error:  # whatever CUDA has against it is said in the message
        raise DeviceError(
            f"Kernels on Cuda need an NVIDIA device with its driver, and CUDA finds none ({error}). Run on a machine "
            f"that has one, {INSTEAD}"
        ) from error
    if not count:
        raise DeviceError(
            f"Kernels on Cuda need an NVIDIA device, and none is visible. Set CUDA_VISIBLE_DEVICES, {INSTEAD}"
        )
    return module


def architecture() -> str:
    """nvcc's flag for the device in use."""
    return f"-arch=sm_{cupy().cuda.Device().compute_capability}"


def stream() -> int:
    """The stream that CuPy uses now."""
    return int(cupy().cuda.get_current_stream().ptr)


def nvcc() -> str:
    """The path of CUDA's compiler. Raises CompileError with the remedy."""
    wanted = os.environ.get("NVCC")
    folders = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    for name in [wanted] if wanted else ["nvcc", *(f"{folder}/bin/nvcc" for folder in [*folders, "/usr/local/cuda"])]:
        found = shutil.which(name)
        if found:
            return found
    said = f"The CUDA compiler {wanted} named by NVCC was not found." if wanted else "No nvcc was found."
    raise CompileError(
        f"{said} Kernels on Cuda are compiled with it: install the CUDA toolkit, name its nvcc in the environment "
        f"variable NVCC, {INSTEAD}"
    )
