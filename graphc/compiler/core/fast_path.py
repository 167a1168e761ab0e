"""The fast path of eager calls: it calls a kernel directly, without the checks of dispatch.

A Python function on the way to JAX costs more than its own call, since JAX records all callers. The fast path is
therefore source text that becomes part of each function. It runs while no thread traces, records or places ops; under
tapes, dispatch itself uses :func:`call_kernel`. If it fails, the slow path raises the error again, with the user's
line.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NoReturn, TypeAlias, TypeVar, cast

import jax

from graphc.compiler.base import ABOVE
from graphc.compiler.core.context import busy, context
from graphc.compiler.core.convert import SCALARS
from graphc.compiler.core.dtypes import copied_numpy
from graphc.compiler.ir import Attrs, Graph, OpDef

F = TypeVar("F", bound=Callable[..., Any])

_ONE = """\
if {conditions}:
        try:
            _result = _new(_Tensor)
            _result.raw = {kernel}({arrays})
            return _result
        except Exception:
            pass
    """
_SEVERAL = """\
if {conditions}:
        try:
            return _wrapped({kernel}({arrays}))
        except Exception:
            pass
    """
_FUNCTION = """\
def method({parameters}):
    {fast}return _slow({names})
"""


HOLDERS: Final[set[type[Any]]] = set()
"""The classes besides Tensor whose objects are arguments by their ``raw``: Variable, whose module adds it."""


def _array_of(value: Any) -> Any:
    """Returns the array of a Variable, or a copy of a NumPy array or scalar; raises for anything else."""
    return value.raw if type(value) in HOLDERS else copied_numpy(value)


def raw(name: str) -> str:
    """Returns the expression for an argument's array or number; it raises for anything else."""
    return f"{name}.raw if _type({name}) is _Tensor else {number(name)}"


def number(name: str) -> str:
    """Returns the expression for an argument that is no tensor: a number, Variable or NumPy array; or it raises."""
    return f"{name} if _type({name}) in _scalars else _array_of({name})"


def fast_path(kernel: str, arrays: Sequence[str], *, conditions: Sequence[str] = (), several: bool = False) -> str:
    """Returns a function's first lines, indented; its globals hold :data:`FAST_PATH`, and Tensor as ``_Tensor``."""
    asked = " and ".join(["(not _busy or _context.eager)", *conditions])
    # Of several arrays ``_wrapped`` makes the result.
    return (_SEVERAL if several else _ONE).format(conditions=asked, kernel=kernel, arrays=", ".join(arrays))


def with_fast_path(
    slow: F, arrays: Sequence[str] | None = None, conditions: Sequence[str] = ()
) -> tuple[F, dict[str, Any]]:
    """Returns ``slow``, whose defaults may only be None, with a fast path that calls ``_kernel``, and its globals."""
    # ``_kernel`` and ``_Tensor`` may be set later: until then calls take the slow path.
    parameters = inspect.signature(slow).parameters.values()
    names = [parameter.name for parameter in parameters]
    source = _FUNCTION.format(
        parameters=", ".join(each.name if each.default is each.empty else f"{each.name}=None" for each in parameters),
        fast=fast_path("_kernel", list(map(raw, names)) if arrays is None else arrays, conditions=conditions),
        names=", ".join(names),
    )
    namespace: dict[str, Any] = {**FAST_PATH, "_slow": slow, "_kernel": None, "_Tensor": None}
    exec(compile(source, f"<graphc op {slow.__name__}>", "exec"), namespace)
    return cast("F", functools.update_wrapper(namespace["method"], slow)), namespace


FAILED: Final = object()
"""Returned by :func:`call_kernel` to request the slow path."""


def call_kernel(kernel: Callable[..., Any], values: Sequence[Any], tensor: type[Any]) -> Any:
    """Calls a kernel from a Python function; FAILED if it raises or an argument is neither tensor nor number."""
    try:
        return kernel(
            *[
                value.raw if isinstance(value, tensor) else value if type(value) in SCALARS else _refuse()
                for value in values
            ]
        )
    except Exception:
        return FAILED


def _refuse() -> NoReturn:
    raise TypeError


FAST_PATH: Mapping[str, Any] = {
    "_array_of": _array_of,
    "_busy": busy,
    "_context": context,
    "_new": object.__new__,  # calling the class takes 70 ns more
    "_refuse": _refuse,
    "_scalars": SCALARS,
    "_type": type,
}
"""The globals of functions with a fast path, except for the class Tensor."""


# The compiled functions of ops, from raw arrays to raw arrays.

NO_ATTRS = Attrs()

_KERNELS_KEPT = 512
"""Maximum number of compiled functions per op, one for each set of static attributes. The oldest is evicted first, so
that a loop over ``x[:i]`` does not fill the memory."""
_kernels_lock = threading.Lock()


def region_function(region: Graph) -> Callable[..., Any]:
    """Returns a region as a single-device function that JAX can trace."""
    return ABOVE["region_function"](region)


Compiled: TypeAlias = Callable[..., Any]
"""A compiled function from raw arrays to raw arrays."""


def kernel(op: OpDef, attrs: Attrs = NO_ATTRS, regions: Sequence[Graph] = ()) -> Callable[..., Any]:
    """Returns an op's compiled function for these attributes and regions: raw arrays in, raw arrays out."""
    # It is cached on the op, or on its first region: it refers to the regions, and a cache elsewhere would keep them
    # alive.
    if regions:
        return _region_kernel(op, attrs, regions)
    compiled = op.caches.get(attrs)
    if compiled is None:
        compiled = jax.jit(partial(op.impl, **attrs) if attrs else op.impl)
        with _kernels_lock:
            while len(op.caches) >= _KERNELS_KEPT:
                del op.caches[next(iter(op.caches))]
            op.caches[attrs] = compiled
    return compiled


def _region_kernel(op: OpDef, attrs: Attrs, regions: Sequence[Graph]) -> Callable[..., Any]:
    caches = regions[0].caches
    key = (op, attrs, *regions[1:])
    compiled = caches.get(key)
    if compiled is None:
        bodies = op.region_keywords([region_function(region) for region in regions])

        # Not a partial: JAX caches the signature of the function that it compiles, which would hold the regions as
        # defaults.
        def run(*values: Any) -> Any:
            return op.impl(*values, **attrs, **bodies)

        run.__name__ = run.__qualname__ = op.name
        compiled = ABOVE["region_kernel"](op, attrs, regions, run)
        caches[key] = compiled
    return compiled


def is_pinned(regions: Sequence[Graph]) -> bool:
    """Returns True if a region has nodes that are pinned to a device."""
    return any(node.device for region in regions for node in region.walk())
