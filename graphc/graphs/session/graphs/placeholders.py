"""Placeholders: tensors of a graph whose values are fed to each run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphc.compiler.base.errors import InternalError, InvalidTypeError
from graphc.compiler.core import FUNCTIONS, SCALARS, STRING, apply, as_dtype, is_string_dtype
from graphc.compiler.ir import Attrs, TensorType, define_op
from graphc.compiler.ir import Graph as GraphIR
from graphc.graphs.refusals import user_error
from graphc.graphs.session.graphs.graph import default_graph
from graphc.graphs.session.graphs.tensor import GraphTensor, sizes_of


def _never(**attrs: Any) -> Any:
    raise InternalError(f"a placeholder is run ({attrs}), not fed")


def _type(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[GraphIR]) -> tuple[TensorType, ...]:
    del types, regions
    return (attrs["type"],)


def _same(value: Any) -> Any:
    return value


def _default_type(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[GraphIR]) -> tuple[TensorType, ...]:
    del attrs, regions
    return (types[0],)


PLACEHOLDER = define_op("placeholder", _never, _type, differentiable=False, doc="A value that is fed to each run.")
_WITH_DEFAULT = define_op(
    "placeholder_with_default",
    _same,
    _default_type,
    ("value",),
    doc="A value that may be fed to a run; otherwise its input.",
)


def graph_dtype(dtype: Any) -> np.dtype[Any]:
    """Converts a user's dtype to the dtype that graphs use."""
    return STRING if is_string_dtype(dtype) or dtype == STRING else as_dtype(dtype)


def graph_type(dtype: Any, shape: Any) -> TensorType:
    """Returns the type for a user's dtype and shape, with None for open sizes."""
    sizes = sizes_of(shape)
    converted = graph_dtype(dtype)
    return TensorType((), converted, ranked=False) if sizes is None else TensorType(sizes, converted)


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> GraphTensor:
    """Makes a tensor of the default graph whose value is passed to each run in ``feed_dict``.

    Args:
      dtype: its dtype, ``gx.string`` for strings.
      shape: the size of each axis, None for one that differs between runs; None for any shape at all.
      name: the name of the operation.

    Raises:
      InvalidTypeError: the dtype does not exist.

    Example:
      >>> import graphc as gx
      >>> with gx.Graph().as_default() as graph:
      ...     x = gx.placeholder("float32", shape=(None, 2), name="x")
      ...     mean = gx.mean(x, axis=0)
      >>> mean
      <Tensor 'mean:0' shape=(2,) dtype=float32>
      >>> with gx.Session(graph=graph) as session:
      ...     print(session.run(mean, {x: [[1.0, 2.0], [3.0, 4.0]]}))
      [2. 3.]
    """
    if dtype is None:
        raise user_error("gx.placeholder: a placeholder needs a dtype", InvalidTypeError)
    graph = default_graph()
    with graph.making(name):
        return graph.named(apply(PLACEHOLDER, (), Attrs(type=graph_type(dtype, shape))), name)


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> GraphTensor:
    """Makes a tensor of the default graph that may be fed; otherwise it has the value of another one.

    Args:
      input: the value if none is fed.
      shape: the shape of values to feed; see :func:`placeholder`.
      name: the name of the operation.

    Example:
      >>> import graphc as gx
      >>> with gx.Graph().as_default() as graph:
      ...     rate = gx.placeholder_with_default(0.5, shape=())
      ...     doubled = rate * 2.0
      >>> with gx.Session(graph=graph) as session:
      ...     float(session.run(doubled)), float(session.run(doubled, {rate: 3.0}))
      (1.0, 6.0)
    """
    graph = default_graph()
    with graph.making(name):
        # A Python number has the same dtype as in eager code.
        value = graph.trace.lift(FUNCTIONS["asarray"](input) if type(input) in SCALARS else input)
        tensor = apply(_WITH_DEFAULT, (value,))
        tensor.raw.type = graph_type(value.raw.type.dtype, shape)  # the type of values to feed
        return graph.named(tensor, name)
