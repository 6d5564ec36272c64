"""Ways through Numba's compiler that it does not promise: used only where `guard` found all of them to be what they were.

Numba optimises every function and makes machine code of it, and once more in each of its callers. Here a kernel that only
kernels call is a `Part`: it is typed and written down as LLVM's code, and optimised in the module of the entry that calls it,
once. Two more ways to save time follow: types of an operator are looked up once, and passes for what kernels do not have are
left out. A view is a bare pointer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.np.arrayobj import populate_array

NEEDLESS = {  # passes of Numba's for closures, `with`, exceptions and expressions of arrays: kernels have none of these
    *("WithLifting", "InlineClosureLikes", "RewriteDynamicRaises", "MakeFunctionToJitFunction", "FindLiterallyCalls"),
    *("LiteralUnroll", "LiteralPropagationSubPipelinePass", "InlineOverloads", "NopythonRewrites"),
}


# ── compiling ────────────────────────────────────────────────────────────────────────────────────────────────────────
class Part(JITCodeLibrary):
    """The intermediate code of a kernel that only kernels call: optimised and made machine code in their module alone.

    Numba would do both for every function and once more for each of its callers, and that is most of a cold start.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is no machine code to point at."""
        return 0

    @property
    def codegen(self) -> Any:
        """Asked for nothing but `set_env`."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Kernels look up no Python objects."""


class SmallPart(Part):
    """A part whose loops are not unrolled or vectorised: that takes longer to compile, and pays where loops are long."""

    def _optimize_functions(self, ll_module: Any) -> None:
        for function in ll_module.functions:
            if not function.is_declaration:
                function.add_function_attribute("optsize")
        super()._optimize_functions(ll_module)


class QuickFlags(Flags):
    """Numba's flags, quick to compare: with each expression that it types it looks for what it has typed with the same."""

    __slots__ = ()
    _same = hash(Flags())  # Numba's own hash is that of the names

    def __hash__(self) -> int:
        return self._same

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if isinstance(other, QuickFlags) else super().__eq__(other)


@cache
def remembering(rules: Any) -> Any:
    """Numba's rules of types, but all that they know of an operator is tried once, not with each expression.

    And to a kernel a constant is a number like any other: Numba would compile it anew for each.
    """
    known: dict[Any, Any] = {}
    plain = type(rules).resolve_function_type

    def resolve(self: Any, func: Any, args: Any, kws: Any) -> Any:
        if isinstance(func, types.Dispatcher):  # a kernel: not compiled anew for every constant that it is given
            args = tuple(map(types.unliteral, args))
        operator = getattr(func, "typing_key", None)
        if kws or operator is None or not isinstance(func, types.Function):
            return plain(self, func, args, kws)
        signature = known.get((operator, tuple(args)))
        if signature is None:
            signature = known[operator, tuple(args)] = plain(self, func, args, kws)
        return signature

    quick = object.__new__(type("Remembering", (type(rules),), {"resolve_function_type": resolve}))
    quick.__dict__ = rules.__dict__  # the same rules, whatever is added to them later
    return quick


def without_needless(pipelines: list[Any]) -> list[Any]:
    """Numba's pipelines without the passes that kernels have no use for; as they are if another pass needs one of these."""
    short = [type(full)(full.pipeline_name) for full in pipelines]
    for full, new in zip(pipelines, short, strict=True):
        for each, text in full.passes:
            if each.__name__ not in NEEDLESS:
                new.add_pass(each, text)
        new.finalize()
        required = set().union(*new.dependency_analysis().values())
        if any(each.__name__ in NEEDLESS for each in required):
            return pipelines
    return short


class EntryCompiler(Compiler):
    """Numba's compiler, with these shortcuts."""

    def __init__(
        self, typingctx: Any, targetctx: Any, library: Any, args: Any, result: Any, flags: Any, *rest: Any
    ) -> None:
        super().__init__(remembering(typingctx), targetctx, library, args, result, QuickFlags(flags), *rest)

    def define_pipelines(self) -> list[Any]:
        """The passes in their order."""
        return without_needless(super().define_pipelines())


class PartCompiler(EntryCompiler):
    """Numba's compiler for parts."""

    kind: type[Part] = Part

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        super().__init__(typingctx, targetctx, self.kind(targetctx.codegen(), "part"), *rest)


class SmallPartCompiler(PartCompiler):
    """Numba's compiler for small parts."""

    kind = SmallPart


_BARE: dict[str, Any] = {"_nrt": False}  # nothing is allocated, so nothing is counted; and no kernel can return a view
_ENTRY = _BARE | {"no_cfunc_wrapper": True, "pipeline_class": EntryCompiler}
_PART = _ENTRY | {"no_cpython_wrapper": True, "pipeline_class": PartCompiler}
OPTIONS: dict[str, dict[str, Any]] = {
    "written_in": _BARE,
    "entry": _ENTRY,
    "shared": _PART,
    "leaf": _PART | {"forceinline": True},
    "stage": _PART | {"forceinline": False},  # said, since it would be inherited from a calling leaf
}
SMALL: dict[str, Any] = {"pipeline_class": SmallPartCompiler}  # besides, for the leaves and stages of twins


# ── views ────────────────────────────────────────────────────────────────────────────────────────────────────────────
def _view(context: Any, builder: Any, kind: Any, data: Any, at: Any, shape: Any) -> Any:
    """An array of that kind and shape, which begins at number `at` of the data: a bare pointer with a shape."""
    size = context.get_constant(types.intp, kind.dtype.bitwidth // 8)
    strides = [builder.mul(size, n) for n in shape[1:]] + [size]
    view = context.make_array(kind)(context, builder)
    populate_array(view, builder.gep(data, [at]), shape, strides, size, None)
    return view._getvalue()


def lower_view(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The code of `row`, `table` and `flat`."""
    pack = context.make_array(signature.args[0])(context, builder, args[0])
    at, shape = context.get_constant(types.intp, 0), [pack.nitems]
    if len(args) > 1:
        pairs = zip(args[1:], signature.args[1:], strict=True)
        at, *shape = [context.cast(builder, x, t, types.intp) for x, t in pairs]
    return _view(context, builder, signature.return_type, pack.data, at, shape)


def lower_views(views: Callable[..., Any]) -> Callable[..., Any]:
    """The code of a function that makes a named tuple of views (see `views.define_views`)."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pairs = zip(signature.args, args, strict=True)
        data = [context.make_array(array)(context, builder, x).data for array, x in pairs]
        made = zip(views(builder, context.get_value_type(types.intp), data[0]), signature.return_type, strict=True)
        fields = [
            _view(context, builder, field, data[array], at, sides) if array >= 0 else at
            for (array, at, sides), field in made
        ]
        return context.make_tuple(builder, signature.return_type, fields)

    return lower
