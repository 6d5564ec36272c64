"""Is Numba what it was? Asked by name and by parameter, before anything that it does not promise is used.

If anything has another name or other parameters, nothing of the kind is used: kernels are compiled by Numba's public ways
alone, which takes two to three times as long and gives the same answers to rounding, and a line on stderr says so.
``SUPPLE_SHORTCUTS=0`` chooses the same.
"""

from __future__ import annotations

import importlib
import inspect
import os
from typing import Any

import numba

TESTED_NUMBA = "0.68"  # the newest minor version with which all tests passed; pyproject.toml goes no further
WANTED = os.environ.get("SUPPLE_SHORTCUTS", "") != "0"

# What compiling faster is made of: where it is, and the names of its parameters; None: no function, it must be there.
_COMPILING: dict[str, str | None] = {
    "numba.core.codegen JITCodeLibrary._optimize_final_module": "self",
    "numba.core.codegen JITCodeLibrary._optimize_functions": "self ll_module",
    "numba.core.codegen JITCodeLibrary._finalize_final_module": "self",
    "numba.core.codegen JITCodeLibrary._finalize_dynamic_globals": "self",
    "numba.core.codegen JITCodeLibrary.get_pointer_to_function": "self name",
    "numba.core.codegen JITCodeLibrary.codegen": None,
    "numba.core.codegen JITCPUCodegen.set_env": "self env_name env",
    "numba.core.compiler Compiler.__init__": "self typingctx targetctx library args return_type flags locals",
    "numba.core.compiler Compiler.define_pipelines": "self",
    "numba.core.compiler Flags.__init__": "self copy_from",
    "numba.core.compiler Flags.values": "self",
    "numba.core.compiler Flags._values": None,
    "numba.core.compiler_machinery PassManager.__init__": "self pipeline_name",
    "numba.core.compiler_machinery PassManager.add_pass": "self pss description",
    "numba.core.compiler_machinery PassManager.finalize": "self",
    "numba.core.compiler_machinery PassManager.dependency_analysis": "self",
    "numba.core.typing.context BaseContext.resolve_function_type": "self func args kws",
    "numba.core.options DefaultOptions._nrt": None,
    "numba.core.options DefaultOptions.no_cpython_wrapper": None,
    "numba.core.options DefaultOptions.no_cfunc_wrapper": None,
    "numba.core.options DefaultOptions.forceinline": None,
    "numba.core.base BaseContext.make_array": "self typ",
    "numba.np.arrayobj populate_array": "array data shape strides itemsize meminfo parent",
}
# What keeping compiled code in files of our own is made of.
_KEEPING: dict[str, str | None] = {
    "numba.core.caching NullCache.load_overload": "self sig target_context",
    "numba.core.caching NullCache.save_overload": "self sig cres",
    "numba.core.codegen CPUCodegen.magic_tuple": "self",
    "numba.core.codegen JITCodeLibrary._get_module_for_linking": "self",
    "numba.core.codegen JitEngine._load_defined_symbols": "self mod",
    "numba.core.compiler CompileResult._reduce": "self",
    "numba.core.compiler CompileResult._rebuild": (
        "target_context libdata fndesc env signature objectmode lifted typeann reload_init referenced_envs"
    ),
    "numba.core.dispatcher Dispatcher.enable_caching": "self",
    "numba.core.environment Environment.from_fndesc": "fndesc",
    "numba.core.environment Environment.env_name": None,
    "numba.core.funcdesc FunctionDescriptor.modname": None,
    "numba.core.funcdesc FunctionDescriptor.lookup_module": "self",
    "numba.core.serialize dumps": "obj",
}


def _difference(place: str, parameters: str | None) -> str:
    """How a thing of Numba's differs from what is expected; "" if it does not."""
    module, path = place.split()
    try:
        found: Any = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
        if parameters is not None and list(inspect.signature(found).parameters) != parameters.split():
            return f"{path} takes other arguments"
    except (ImportError, AttributeError, TypeError, ValueError):
        return f"{path} is gone"
    return ""


def _differences(expected: dict[str, str | None]) -> list[str]:
    """How Numba differs from what is expected."""
    found = [_difference(place, parameters) for place, parameters in expected.items()]
    return [each for each in found if each]


_compiling, _keeping = _differences(_COMPILING), _differences(_KEEPING)
_version = f"Numba {numba.__version__} is not what it was in {TESTED_NUMBA}"
COMPILES_QUICKLY = WANTED and not _compiling
SLOW = (
    f"{_version} ({', '.join(_compiling)}), so it compiles more slowly" if WANTED and _compiling else ""
)  # why, if not
UNKEPT = f"{_version} ({', '.join(_keeping)})" if _keeping else ""  # why nothing is kept
