"""Functions with data-dependent result shapes, in graphs that are built by hand: NumPy computes them.

The indices of nonzero elements, or the distinct values of a tensor, have a data-dependent size. In a graph such a call
is one host op. Its types are inferred by calls with samples: a size in which the results differ is open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.core import SymbolicTensor, Tensor, apply_all, canonical_array, host_array, trace_scope
from graphc.compiler.ir import OPEN, OPS, Attrs, Graph, OpDef, TensorType, widen

__all__ = ["HOST_VALUE", "ON_HOST", "on_host"]

_SIZES = (2, 3)
"""Trial sizes for open ones."""


def on_host(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Adds a call as a host op.

    Args:
      function: a pure function of eager tensors, which returns tensors in any structure.
      args: the positional arguments, including tensors of the graph.
      kwargs: the keyword arguments.

    Raises:
      InvalidArgumentError: the function fails for all samples of these types.
    """
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
        """Calls the function with arrays in place of the tensors."""
        rest = iter(arrays)
        leaves = [Tensor(canonical_array(next(rest))) if leaf is None else leaf[0] for leaf in self._leaves]
        args, kwargs = nest.unflatten(self._arguments, leaves)
        with trace_scope(None):
            found, self.structure = nest.flatten(self._function(*args, **kwargs))
            return tuple([host_array(leaf) for leaf in found])


def _samples(types: Sequence[TensorType]) -> Iterator[list[np.ndarray[Any, Any]]]:
    """Yields arrays of these types: zeros, ones, and increasing numbers."""
    for size in _SIZES:
        shapes = [tuple([size if axis == OPEN else axis for axis in type.shape]) for type in types]
        for make in (np.zeros, np.ones, _rising):
            yield [make(shape).astype(type.dtype) for shape, type in zip(shapes, types, strict=True)]


def _rising(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.arange(math.prod(shape)).reshape(shape)


def _types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del regions
    found: list[list[TensorType]] = []
    refused: Exception | None = None
    for arrays in _samples(types):
        try:
            found.append([TensorType(array.shape, array.dtype) for array in attrs["function"](arrays)])
        except Exception as error:
            refused = error
    if not found:
        assert refused is not None
        raise refused
    ranked = all(type.ranked for type in types)
    columns = list(zip(*found, strict=True))
    return tuple(widen(column) if ranked else TensorType((), column[0].dtype, ranked=False) for column in columns)


def _run(*arrays: Any, function: _HostCall) -> tuple[Any, ...]:
    return function(arrays)


def _same_type(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del attrs, regions
    return tuple(types)


def _same(value: Any) -> Any:
    return value


ON_HOST = OPS.add(
    "on_host",
    OpDef(
        "on_host",
        impl=_run,
        infer=_types,
        params=("*values",),
        host=True,
        differentiable=False,
        doc="A function with data-dependent result shapes.",
    ),
)
HOST_VALUE = OPS.add(
    "host_value",
    OpDef(
        "host_value",
        impl=_same,
        infer=_same_type,
        params=("value",),
        host=True,
        differentiable=False,
        doc="The same value, made known before programs whose shapes depend on it are compiled.",
    ),
)
