"""``export``: a compiled function as StableHLO, for other runtimes."""

from __future__ import annotations

from typing import Any

import jax as _jax
import numpy as np
from jax import export as _export

from graphc.compiler.base import at, nest, user_location
from graphc.compiler.base.errors import InvalidArgumentError, UnimplementedError
from graphc.compiler.core import StringTensor, Tensor, as_dtype
from graphc.compiler.function import TensorSpec, to_jax
from graphc.compiler.tracing import is_array

jax: Any = _jax  # its functions are only partly annotated
jax_export: Any = _export

__all__ = ["export"]


def export(f: Any, *args: Any, platforms: tuple[str, ...] | None = None) -> Any:
    """Exports a function for other runtimes: as StableHLO, in an artifact of ``jax.export``.

    Variables that the function reads become constants with their current values.

    Args:
      f: a compiled function, a method, a layer, or a function that was loaded.
      *args: its arguments, with a :class:`TensorSpec` of fixed sizes or an example for each tensor.
      platforms: the platforms to export for, such as ``("cpu", "cuda", "tpu")``; the current one when None.

    Returns:
      A ``jax.export.Exported``: ``.mlir_module()`` is its text, ``.serialize()`` its bytes, ``.call`` the function.

    Raises:
      UnimplementedError: the function assigns Variables, or calls Python.
      InvalidArgumentError: a size is open.

    Example:
      >>> import graphc as gx
      >>> exported = gx.saving.export(gx.function(gx.sin), gx.TensorSpec((3,)))
      >>> "stablehlo.sine" in exported.mlir_module(), exported.in_avals
      (True, (ShapedArray(float32[3]),))
    """
    pure = to_jax(f)
    examples = [_examples(arg) for arg in args]
    variables = pure.init(*examples)

    def flat(*arrays: Any) -> Any:
        given = iter(arrays)
        results, new = pure(variables, *[_filled(arg, given) for arg in examples])
        changed = [name for name in variables if new[name] is not variables[name]]
        if changed:
            error = UnimplementedError(
                f"gx.saving.export: the function assigns the Variable {changed[0]!r}; export a function that only "
                "computes, or use gx.save"
            )
            raise at(error, user_location())
        return results

    types = [
        jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)
        for arg in examples for leaf in nest.flatten(arg)[0] if isinstance(leaf, np.ndarray)
    ]  # fmt: skip
    return jax_export.export(jax.jit(flat), platforms=platforms)(*types)


def _examples(value: Any) -> Any:
    """Returns an argument with an array for each tensor."""
    if isinstance(value, TensorSpec):
        if value.shape is None or None in value.shape or value.of_strings:
            error = InvalidArgumentError(
                f"gx.saving.export: StableHLO needs fixed sizes, got {value}; pass all sizes, or use gx.save"
            )
            raise at(error, user_location())
        return np.zeros([size or 0 for size in value.shape], as_dtype(value.dtype))
    if (is_array(value) or isinstance(value, Tensor)) and not isinstance(value, StringTensor):
        return np.zeros(tuple(value.shape), as_dtype(value.dtype))
    parts = nest.children(value)
    return value if parts is None else nest.rebuilt(value, [_examples(part) for part in parts[1]])


def _filled(value: Any, arrays: Any) -> Any:
    """Returns an argument with its arrays replaced by the next ones."""
    if isinstance(value, np.ndarray):
        return next(arrays)
    parts = nest.children(value)
    return value if parts is None else nest.rebuilt(value, [_filled(part, arrays) for part in parts[1]])
