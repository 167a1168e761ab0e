"""Values that determine shapes, which NumPy computes in eager code, and values that are stored in a tensor."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.base.errors import ConcretizationError, GraphcError
from graphc.compiler.core import (
    FUNCTIONS,
    NO_ATTRS,
    ArrayMethods,
    SymbolicTensor,
    Tensor,
    apply,
    apply_all,
    as_strings,
    canonical_array,
    host_array,
    is_by_hand,
    is_symbolic,
    operand,
    trace_scope,
    translate_error,
)
from graphc.compiler.ir import OPEN, Attrs, Graph, OpDef, TensorType, define_op, widen
from graphc.compiler.tracing import current_trace, type_of_any

# Functions with data-dependent result shapes, in graphs that are built by hand: NumPy computes them.
#
# The indices of nonzero elements, or the distinct values of a tensor, have a data-dependent size. In a graph such a
# call is one host op. Its types are inferred by calls with samples: a size in which the results differ is open.

_SIZES = (2, 3)
"""Trial sizes for open ones."""


def on_host(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Adds a call as a host op."""
    call = _HostCall(function, args, kwargs)
    outputs = apply_all(ON_HOST, call.given, Attrs(function=call))
    return nest.unflatten(call.structure, outputs)


class _HostCall:
    """A function for one structure of its arguments, used as an attribute of the node."""

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self.__qualname__ = str(getattr(function, "__qualname__", "function"))
        self._function = function
        leaves, self._arguments = nest.flatten((tuple(args), dict(kwargs)))
        self.given = [leaf for leaf in leaves if isinstance(leaf, SymbolicTensor)]
        self._leaves = [None if isinstance(leaf, SymbolicTensor) else (leaf,) for leaf in leaves]
        self.structure: Any = None

    def __repr__(self) -> str:
        return f"<{self.__qualname__}>"

    def __call__(self, arrays: Sequence[np.ndarray[Any, Any]]) -> tuple[np.ndarray[Any, Any], ...]:
        rest = iter(arrays)
        leaves = [Tensor(canonical_array(next(rest))) if leaf is None else leaf[0] for leaf in self._leaves]
        args, kwargs = nest.unflatten(self._arguments, leaves)
        with trace_scope(None):
            results, self.structure = nest.flatten(self._function(*args, **kwargs))
            return tuple([host_array(leaf) for leaf in results])


def _rising(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.arange(math.prod(shape)).reshape(shape)


def _types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del regions
    runs: list[list[TensorType]] = []
    refused: Exception | None = None
    for size, make in itertools.product(_SIZES, (np.zeros, np.ones, _rising)):
        shapes = [tuple([size if axis == OPEN else axis for axis in type.shape]) for type in types]
        arrays = [make(shape).astype(type.dtype) for shape, type in zip(shapes, types, strict=True)]
        try:
            runs.append([TensorType(array.shape, array.dtype) for array in attrs["function"](arrays)])
        except Exception as error:
            refused = error
    if not runs:
        assert refused is not None
        raise refused
    ranked = all(type.ranked for type in types)
    columns = list(zip(*runs, strict=True))
    return tuple(widen(column) if ranked else TensorType((), column[0].dtype, ranked=False) for column in columns)


def _run(*arrays: Any, function: _HostCall) -> tuple[Any, ...]:
    return function(arrays)


def _same_type(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del attrs, regions
    return tuple(types)


def _same(value: Any) -> Any:
    return value


ON_HOST = define_op(
    "on_host",
    impl=_run,
    infer=_types,
    params=("*values",),
    host=True,
    differentiable=False,
    doc="A function with data-dependent result shapes.",
)
HOST_VALUE = define_op(
    "host_value",
    impl=_same,
    infer=_same_type,
    params=("value",),
    host=True,
    differentiable=False,
    doc="The same value, made known before programs whose shapes depend on it are compiled.",
)


def from_values(op: OpDef, function: Callable[..., Any]) -> Callable[[Sequence[Any], Mapping[str, Any]], Any]:
    """Returns the function that computes an op from the values of its inputs, with NumPy."""

    def run(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        if any(as_strings(value) is not None for value in inputs):
            return apply(op, inputs, Attrs(attributes))
        if is_by_hand() and any(map(is_symbolic, inputs)):
            return on_host(lambda *values: run(values, attributes), inputs, {})
        arrays = [
            known_values(
                op.name,
                name,
                value,
                "pass size=, the number of elements to keep, or call it outside the compiled function",
            )
            for name, value in zip(op.params, inputs, strict=True)
        ]
        try:
            computed: Any = function(*map(_sortable, arrays), **attributes)
        except Exception as error:
            raise translate_error(error, op, arrays, NO_ATTRS, operands=inputs) from error
        dtype = jnp.result_type(*arrays) if any(array.dtype.kind == "V" for array in arrays) else None
        if not isinstance(computed, tuple | list):
            return _tensor(computed, dtype)
        return tuple(_tensor(part, dtype) for part in cast("tuple[Any, ...]", computed))

    return run


def _sortable(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns an array in a dtype that NumPy can sort; NumPy has no order for those of ml_dtypes."""
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def known_values(name: str, parameter: str, value: Any, remedy: str) -> np.ndarray[Any, Any]:
    """Returns the values of an argument that determine the shape of the result."""
    try:
        value = operand(value)
    except GraphcError as error:
        error.args = (f"{name}: {error.args[0]}",)
        raise error.here() from None
    if is_symbolic(value):
        origin = f", {value.made_at()}," if isinstance(value, SymbolicTensor) else ""
        error = ConcretizationError(
            f"{name}: the shape of the result depends on the values of {parameter} ({type_of_any(value)}){origin} "
            f"which are not known while the function is traced; {remedy}"
        )
        raise current_trace().refuse(error)
    return value.numpy() if isinstance(value, ArrayMethods) else np.asarray(value)


def _tensor(value: Any, dtype: Any = None) -> Tensor:
    """Returns a result in a given dtype, which floats of tensors return to."""
    return FUNCTIONS["asarray"](value, dtype if value.dtype.kind == "f" else None)


def fitted(values: Any, x: Any) -> Any:
    """Returns values to store into a tensor, in its dtype."""
    values = jnp.asarray(values)  # a weakly typed constant arrives as a Python number
    if jnp.promote_types(x.dtype, values.dtype) != x.dtype and not _same_kind(values, x):
        raise TypeError(
            f"values of dtype {values.dtype} cannot be put into a tensor of dtype {x.dtype} without loss; "
            f"convert one of them with gx.astype"
        )
    return values.astype(x.dtype)


def _same_kind(values: Any, x: Any) -> bool:
    kinds = (jnp.bool_, jnp.integer, jnp.floating, jnp.complexfloating)
    return any(jnp.issubdtype(values.dtype, kind) and jnp.issubdtype(x.dtype, kind) for kind in kinds)
