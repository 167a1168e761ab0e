"""Fetches and feeds: the outputs and inputs of a run, in any nested structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import jax
import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import STRING, Tensor, Variable, bytes_array, is_text, note_spread
from graphc.compiler.ir import OPEN, Node, TensorType, Value
from graphc.compiler.ops import READ_VARIABLE
from graphc.graphs.refusals import user_error
from graphc.graphs.session.graphs.graph import Graph
from graphc.graphs.session.graphs.tensor import GraphTensor, Operation
from graphc.graphs.session.state import parts_of


@dataclass(frozen=True)
class Fetches:
    """The values and operations that a run fetches."""

    values: tuple[Value, ...]
    nodes: tuple[Node, ...]
    places: tuple[int | None, ...]  # for each leaf of the structure, its index in ``values``; None for an operation
    structure: Any  # the nested structure of the fetches; None for a single leaf

    @classmethod
    def of(cls, graph: Graph, fetches: Any) -> Fetches:
        """Parses fetches: tensors, operations, Variables and names in lists, tuples, dicts and named tuples."""
        values, nodes, positions = dict[Value, int](), dict[Node, None](), list[int | None]()
        leaves, structure = _flattened(fetches)
        for leaf in leaves:
            element = graph.as_graph_element(leaf)
            if isinstance(element, Operation):
                nodes[element.node] = None
                positions.append(None)
            else:
                positions.append(values.setdefault(element.raw, len(values)))
        return cls(tuple(values), tuple(nodes), tuple(positions), structure)

    def result(self, results: Sequence[Any]) -> Any:
        """Returns the results of a run, for the user and in the structure of the fetches."""
        arrays = [_fetched_value(result) for result in results]
        if self.structure is None:
            return None if self.places[0] is None else arrays[self.places[0]]
        return nest.unflatten(self.structure, [None if index is None else arrays[index] for index in self.places])


def _flattened(fetches: Any) -> tuple[list[Any], Any]:
    if fetches is None:
        raise user_error("session.run: the fetches are None; give tensors or operations", InvalidTypeError)
    if isinstance(fetches, GraphTensor | Operation | str) or nest.children(fetches) is None:
        return [fetches], None
    leaves, structure = nest.flatten(fetches, repeats=True)
    return leaves, structure


def feed_targets(graph: Graph, key: Any) -> list[Value]:
    """Returns the values that a key of a ``feed_dict`` sets: for a Variable, all of its reads."""
    tensor = graph.as_graph_element(key, allow_operation=False) if not isinstance(key, GraphTensor) else key
    if tensor.trace.graph is not graph:
        raise user_error(f"the fed tensor {tensor.name!r} is of another graph")
    if tensor.raw in graph.unfed:
        reason = graph.unfed[tensor.raw]
        raise user_error(f"Tensor {tensor.name} may not be fed{f': {reason}' if reason else ''}.")
    node = tensor.op.node
    named = node.op is READ_VARIABLE and parts_of(node.attrs["variable"])[1] == node.name  # "v:0", the Variable's own
    if not isinstance(key, Variable) and not named:
        return [tensor.raw]
    resource = node.attrs["variable"]
    nodes = graph.trace.builder.nodes
    return [node.outputs[0] for node in nodes if node.op is READ_VARIABLE and node.attrs["variable"] == resource]


def feed_value(value: Value, fed: Any) -> Any:
    """Converts a fed value to an array of its tensor's type."""
    wanted = value.type
    if type(fed) is np.ndarray and fed.shape == wanted.shape and fed.dtype == wanted.dtype != STRING:
        return fed
    if isinstance(fed, GraphTensor):
        raise _refused(value, InvalidTypeError, "a tensor of a graph has no value; feed what session.run gives of it")
    try:
        array = _array(value, wanted, fed.raw if isinstance(fed, Tensor) else fed)
    except GraphcError:
        raise
    except (TypeError, ValueError) as error:
        raise _refused(value, InvalidTypeError, f"{fed!r:.60} is no array of {wanted.dtype.name}: {error}") from None
    if not wanted.ranked:
        return array
    shape = array.shape
    if len(shape) != len(wanted.shape) or any(
        declared not in (OPEN, size) for declared, size in zip(wanted.shape, shape, strict=False)
    ):
        raise _refused(
            value,
            InvalidArgumentError,
            f"Cannot feed value of shape {shape} for Tensor {_name(value)}, which has shape {_shown(wanted)}",
        )  # fmt: skip
    return array


def _array(value: Value, wanted: TensorType, fed: Any) -> Any:
    if wanted.dtype == STRING:
        if not is_text(fed) and np.size(fed):
            raise _refused(value, InvalidTypeError, f"expected strings, got {fed!r:.60}")
        return bytes_array(fed) if is_text(fed) else np.empty(np.shape(fed), object)
    if isinstance(fed, jax.Array):
        note_spread(fed.sharding)
    array: Any = fed if hasattr(fed, "dtype") else np.asarray(fed)
    if array.dtype == wanted.dtype:
        return array
    dtype = cast("np.dtype[Any]", array.dtype)
    number = not hasattr(fed, "dtype")
    fits = np.can_cast(dtype, wanted.dtype, "same_kind") or (number and array.size == 0)
    fits = fits or (dtype.kind in "iub" and wanted.dtype.kind not in "iub")
    if dtype.kind in "iu" and wanted.dtype.kind in "iu" and array.size:
        bounds = np.iinfo(wanted.dtype)
        fits = int(array.min()) >= bounds.min and int(array.max()) <= bounds.max
    if not fits:
        raise _refused(
            value, InvalidTypeError,
            f"{dtype.name} given for {wanted.dtype.name}, which cannot hold it; convert it first, as by "
            f"array.astype({wanted.dtype.name!r})",
        )  # fmt: skip
    return np.asarray(array).astype(wanted.dtype)


def _fetched_value(result: Any) -> Any:
    if isinstance(result, jax.Array):
        return _scalar(np.array(result))
    array: Any = result
    return _scalar(array if array.dtype == STRING else array.copy())


def _scalar(array: np.ndarray[Any, Any]) -> Any:
    return array if array.shape else array[()]


def _refused(value: Value, kind: type[GraphcError], message: str) -> GraphcError:
    return kind(f"session.run: the feed of {_name(value)}: {message}").here()


def _name(value: Value) -> str:
    return repr(value.name if value.node is None else f"{value.node.name}:{value.index}")


def _shown(type: TensorType) -> str:
    return str(tuple("?" if size == OPEN else size for size in type.shape)).replace("'", "")
