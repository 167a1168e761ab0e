"""Calls of JAX's functions on tensors that have no value yet, which JAX cannot take."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import jax

from graphc.compiler.base import nest
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import SymbolicTensor, stay
from graphc.compiler.tracing import context

__all__ = ["checked"]

_NAMESPACES = {
    "jax.numpy": ("gx", "graphc.compiler.ops.functions"),
    "jax.numpy.fft": ("gx.fft", "graphc.compiler.ops.fft"),
    "jax.numpy.linalg": ("gx.linalg", "graphc.compiler.ops.linalg"),
    "jax.nn": ("gx.nn", "graphc.compiler.ops.nn"),
    "jax.lax": ("gx.lax", "graphc.compiler.ops.lax"),
    "jax.scipy.special": ("gx.special", "graphc.compiler.ops.special"),
}
"""JAX's modules of functions, with graphc's modules of the same functions."""

# These only take trees apart and put them together.
_STRUCTURAL = frozenset(
    id(value) for module in (jax.tree, jax.tree_util) for value in vars(module).values() if callable(value)
)
_FILES = tuple(
    os.path.dirname(spec.origin) + os.sep
    # Found, not imported: optax may not be installed.
    for spec in map(importlib.util.find_spec, ("jax", "jaxlib", "optax"))
    if spec is not None and spec.origin is not None
)


def checked(function: Any) -> Any:
    """Returns a function; one of JAX's refuses tensors of the trace with the name of the function to use instead."""
    if not _is_jax(function):
        return function

    @wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves = nest.flatten((args, kwargs))[0]
        symbolic = next((leaf for leaf in leaves if isinstance(leaf, SymbolicTensor)), None)
        if symbolic is not None and context.trace is not None:
            raise context.trace.refuse(_error(function, symbolic))
        return function(*args, **kwargs)

    return call


def _is_jax(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    if id(function) in _STRUCTURAL or isinstance(function, type):
        return False
    if code is None:  # a jitted function is an object of C++, without code
        return type(function).__module__.split(".")[0] in ("jax", "jaxlib")
    return code.co_filename.startswith(_FILES)


def _error(function: Callable[..., Any], tensor: SymbolicTensor) -> UnimplementedError:
    name = str(getattr(function, "__name__", function))
    module, home = _home(function, name)
    return UnimplementedError(
        f"{f'{module}.' * bool(module)}{name} was given a tensor ({tensor.type}, {tensor.made_at()}) that has no value "
        f"while the function is traced; {stay() if home is None else stay(f'{home}.{name}')}"
    )


def _home(function: Any, name: str) -> tuple[str, str | None]:
    """Returns the public module of a function of JAX's, and graphc's namespace with one of the same name."""
    for module, (home, namespace) in _NAMESPACES.items():
        if getattr(sys.modules.get(module), name, None) is function:
            return module, home if hasattr(importlib.import_module(namespace), name) else None
    module = str(getattr(function, "__module__", "") or "")
    return ("" if "._" in module else module), None  # jax._src is nothing that users write
