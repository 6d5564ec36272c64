"""Kernels for a GPU on disk, so that a later process begins at once.

What is kept is what numba-cuda makes of a kernel, in the folder and with the checks of all compiled code (`cache`):
ours alone, whole, and under a key that names everything it was made from: the sources of this folder and of all
kernels, the shape, the versions, the device.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numba

from supple.errors import BadValue
from supple.kernels.compiling.cache import Damaged, home, keep, kept, source_digest

HERE = Path(__file__).parent
OLD = ("UNSUPPORTED_PTX_VERSION", "DRIVER_VERSION", "nvJitLink", "PTX version")  # what a driver says that is too old


@cache
def _sources() -> str:
    """A digest of the sources, whatever ends their lines."""
    digest = hashlib.sha256()
    for file in sorted(HERE.glob("*.py")):
        digest.update(file.name.encode() + file.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest() + source_digest(HERE.parents[1])


def _versions() -> str:
    out = [f"numba {numba.__version__}"]
    for name in ("numba-cuda", "cuda-bindings"):
        with contextlib.suppress(PackageNotFoundError):
            out.append(f"{name} {version(name)}")
    return " ".join(out)


def compiled(kernel: Any, signature: tuple[Any, ...], about: str) -> Any:
    """A kernel, compiled for a signature: from disk where it lies there, else compiled and kept."""
    key = f"{_sources()} {_versions()} {about} {signature}"
    folder = home().folder
    file = None if folder is None else folder / f"cuda-{hashlib.sha256(key.encode()).hexdigest()[:24]}.bin"
    if file is not None:
        with contextlib.suppress(Damaged, Exception):
            payload = kept(file, key)
            if payload is not None:
                kernel.add_overload(type_of_kernel()._rebuild(**pickle.loads(payload)), signature)
                return kernel
    try:
        kernel.compile(signature)
    except Exception as error:
        if any(word in str(error) for word in OLD):
            raise BadValue(
                "the driver of the GPU is older than the CUDA that kernels are compiled with: bring the driver up to date, or "
                f'install numba-cuda for its CUDA, as in "numba-cuda[cu12]" ({error})'
            ) from error
        raise
    if file is not None:
        with contextlib.suppress(Exception):  # what cannot be kept is compiled again next time
            keep(file, key, pickle.dumps(kernel.overloads[signature]._reduce_states()))
    return kernel


def type_of_kernel() -> Any:
    """The class of compiled kernels, an internal of numba-cuda; where it is not there nothing is kept."""
    from numba.cuda.dispatcher import _Kernel

    return _Kernel
