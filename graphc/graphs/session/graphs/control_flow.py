"""Control flow, ordering and constants of graphs, with TensorFlow 1's arguments."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from graphc.compiler import ops as order
from graphc.compiler.autograph import cond as branch
from graphc.compiler.autograph import while_loop as loop
from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.core import (
    FUNCTIONS,
    STRING,
    SymbolicTensor,
    Variable,
    apply,
    apply_all,
    bytes_array,
    device,
    is_text,
    trace_scope,
)
from graphc.compiler.ir import CONSTANT, OPS, Attrs
from graphc.compiler.ops import NO_OP, TOGETHER
from graphc.compiler.tracing import current_trace, in_region
from graphc.graphs.refusals import user_error
from graphc.graphs.session.graphs.graph import Graph, default_graph, graph_of
from graphc.graphs.session.graphs.placeholders import graph_dtype, placeholder_with_default
from graphc.graphs.session.graphs.tensor import GraphTensor, Operation, sizes_of


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const", verify_shape: bool = False) -> Any:
    """Adds a constant.

    Args:
      value: a number, a string, an array or nested lists.
      dtype: its dtype; if None, Python numbers become int32 and float32.
      shape: its shape; a single value is repeated to fill it.
      name: the name of the operation.
      verify_shape: whether ``shape`` must equal the value's shape.

    Raises:
      InvalidArgumentError: the value does not have the shape.
    """
    graph = default_graph()
    array: Any = bytes_array(value) if is_text(value) else _numbers(value, dtype)
    if shape is not None:
        sizes: Any = sizes_of(shape)
        if array.size == 1 and not verify_shape:
            array = np.full(sizes, array.reshape(())[()], array.dtype)
        elif (verify_shape and array.shape != sizes) or array.size != np.prod(sizes, dtype=int):
            raise user_error(f"constant: shape {builtins.tuple(sizes)} wanted, the value has {array.shape}")
        array = array.reshape(sizes)
    if in_region() and array.dtype != STRING:
        return current_trace().lift(array)  # a constant of the branch, body or composition under construction
    with graph.making(name):
        return graph.named(graph.trace.array(array), name)


def _numbers(value: Any, dtype: Any) -> np.ndarray[Any, Any]:
    if dtype is not None and graph_dtype(dtype) == STRING:
        raise user_error(f"constant: {value!r:.60} is no string", InvalidTypeError)
    with trace_scope(None), device(None):
        converted: Any = FUNCTIONS["asarray"](value, dtype=None if dtype is None else graph_dtype(dtype))
    return np.asarray(converted.raw if hasattr(converted, "raw") else converted)


def convert_to_tensor(
    value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None
) -> GraphTensor:
    """Converts a value to a tensor of the default graph.

    Args:
      value: a tensor, a Variable, or an argument of :func:`constant`; lists may hold tensors.
      dtype: the dtype that it must have, or that numbers are converted to.
      name: the name of the operation, if one is made.
      preferred_dtype: ignored.

    Raises:
      InvalidTypeError: a tensor of another dtype.
    """
    del preferred_dtype
    if isinstance(value, Variable):
        value = value.value()
    if isinstance(value, SymbolicTensor):
        if dtype is not None and value.raw.type.dtype != graph_dtype(dtype):
            raise InvalidTypeError(f"convert_to_tensor: {value!r} is not {graph_dtype(dtype).name}; use cast").here()
        return cast("GraphTensor", value)
    graph = graph_of(nest.flatten(value)[0])
    if any(isinstance(leaf, SymbolicTensor | Variable) for leaf in nest.flatten(value)[0]):
        with graph.making(name):
            return graph.named(current_trace().lift(FUNCTIONS["asarray"](value)), name)
    return constant(value, dtype, name=name or "Const")


def no_op(name: str | None = None) -> Any:
    """Adds an operation that does nothing but wait for the control dependencies in scope."""
    graph = default_graph()
    if _is_inside(graph):
        return order.no_op()
    with graph.making(name):
        return graph.named(apply(NO_OP, ()).op, name)


def group(*inputs: Any, name: str | None = None, **ignored: Any) -> Any:
    """Adds an operation that completes when all of the inputs are computed.

    Args:
      *inputs: tensors, operations and Variables, also in lists.
      name: the name of the operation.
      **ignored: ignored.
    """
    del ignored
    items = [item for item in nest.flatten(inputs)[0] if item is not None]
    graph = graph_of(items)
    if _is_inside(graph):
        return order.group(*[item for item in items if not isinstance(item, Operation)])
    with graph.making(name), graph.control_dependencies(items):
        return graph.named(apply(NO_OP, ()).op, name)


def _is_inside(graph: Graph) -> bool:
    """Returns True while a branch or loop of the graph is built, whose operations are not nodes of the graph itself."""
    return graph.inner_trace is not None


def tuple(tensors: Any, name: str | None = None, control_inputs: Any = None) -> list[Any]:
    """Returns copies of tensors, each of which waits for all of them.

    Args:
      tensors: a list of tensors; None stands for itself.
      name: the name of the operation.
      control_inputs: further tensors and operations to wait for.

    Raises:
      InvalidArgumentError: there is no tensor.
    """
    present = [convert_to_tensor(item) for item in tensors if item is not None]
    if not present:
        raise user_error("tuple: there is no tensor among the inputs")
    graph = graph_of(present)
    with graph.making(name), graph.control_dependencies(control_inputs or []):
        copies = iter(graph.named(apply_all(TOGETHER, present), name))
    return [None if item is None else next(copies) for item in tensors]


def with_dependencies(dependencies: Sequence[Any], output: Any, name: str | None = None) -> Any:
    """Returns a copy of a tensor that waits for the dependencies."""
    graph = graph_of([output])
    with graph.making(name), graph.control_dependencies(dependencies):
        return graph.named(apply(OPS["identity"], (output,)), name)


def cond(
    pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None,
    strict: bool = False, name: str | None = None, fn1: Any = None, fn2: Any = None,
) -> Any:  # fmt: skip
    """Adds a branch: the result of one of two functions.

    Args:
      pred: a boolean scalar, or Python's.
      true_fn: a function of no arguments that makes the nodes for True.
      false_fn: a function that makes the nodes for False, of the same structure and dtypes.
      strict: whether a list of one item stays a list.
      name: the name of the scope.
      fn1: an older name of ``true_fn``.
      fn2: an older name of ``false_fn``.

    Raises:
      InvalidTypeError: a function is missing.
    """
    first, second = true_fn or fn1, false_fn or fn2
    if not callable(first) or not callable(second):
        raise user_error("cond: true_fn and false_fn must be functions of no arguments", InvalidTypeError)
    graph = graph_of([pred])
    with graph.making(name or "cond"):
        chosen = convert_to_tensor(pred)
        result: Any = branch(chosen, lambda: _branch(first()), lambda: _branch(second()))
    return result if strict else _alone(result)


def _alone(result: Any) -> Any:
    """Returns the only item of a list or tuple of one; returns anything else unchanged."""
    items = nest.as_tuple(result)
    return items[0] if len(items) == 1 else result


def _branch(result: Any) -> Any:
    """Returns the result of a branch, with tensors in place of Variables and operations."""
    if isinstance(result, order.Operation):
        return result.token
    if isinstance(result, Operation) or result is None:
        return FUNCTIONS["asarray"](True)
    leaves, structure = nest.flatten(result, repeats=True)
    return nest.unflatten(structure, [leaf.value() if isinstance(leaf, Variable) else leaf for leaf in leaves])


def case(
    pred_fn_pairs: Any, default: Callable[[], Any] | None = None, exclusive: bool = False, strict: bool = False,
    name: str = "case",
) -> Any:  # fmt: skip
    """Adds branches; the first one whose condition is true runs.

    Args:
      pred_fn_pairs: pairs of a boolean scalar and a function, in a list or a dict.
      default: the function to run if no condition is true; the last one of the pairs if None.
      exclusive: ignored.
      strict: see :func:`cond`.
      name: the name of the scope.

    Raises:
      InvalidArgumentError: there are no pairs.
    """
    del exclusive
    cases: Any = pred_fn_pairs
    pairs: list[Any] = list(cases.items() if hasattr(cases, "items") else cases)
    if not pairs:
        raise user_error("case: there are no pairs of a condition and a function")

    def chain(index: int) -> Any:
        if index == len(pairs):
            return default() if default is not None else pairs[-1][1]()
        pred, function = pairs[index]
        return cond(pred, function, lambda: chain(index + 1), strict=True, name=f"cond_{index}")

    with default_graph().making(name):
        result = chain(0)
    return result if strict else _alone(result)


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any = None,
    parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
    maximum_iterations: Any = None, return_same_structure: bool = False,
) -> Any:  # fmt: skip
    """Adds a loop that repeats ``loop_vars = body(*loop_vars)`` while ``cond(*loop_vars)``.

    Args:
      cond: a function that returns a boolean scalar.
      body: a function that returns the next values, of the same structure and dtypes, with shapes that fit the
        invariants.
      loop_vars: the first values, in a list or tuple.
      shape_invariants: the shape of each value, open where it changes between iterations; None for the shapes of the
        first values. A loop that changes shapes runs iteration by iteration.
      parallel_iterations: ignored: XLA decides.
      back_prop: ignored.
      swap_memory: ignored.
      name: the name of the scope.
      maximum_iterations: the maximum number of iterations, an int.
      return_same_structure: whether a list of one item stays a list.

    Raises:
      InvalidTypeError: ``loop_vars`` is not a list or tuple, or ``cond`` or ``body`` is not a function.
    """
    del parallel_iterations, back_prop, swap_memory
    if not callable(cond) or not callable(body):
        raise user_error("while_loop: cond and body must be functions", InvalidTypeError)
    if not isinstance(loop_vars, list | builtins.tuple) or not loop_vars:
        raise user_error("while_loop: loop_vars must be a list or tuple of values", InvalidTypeError)
    initial = nest.as_tuple(cast("Any", loop_vars))
    graph = graph_of(nest.flatten(initial)[0])

    def step(state: Any) -> Any:
        return nest.as_tuple(body(*state))

    with graph.making(name or "while"):
        first = builtins.tuple(_started(graph, item) for item in initial)
        if shape_invariants is not None:
            pairs = zip(first, nest.as_tuple(shape_invariants), strict=True)
            first = builtins.tuple(_opened(value, shape) for value, shape in pairs)
        final = loop(lambda state: cond(*state), step, first, max_iterations=maximum_iterations)
    if len(final) == 1 and not return_same_structure:
        return final[0]
    return list(final) if isinstance(loop_vars, list) else final


def _started(graph: Graph, value: Any) -> Any:
    """Converts a loop's first value to tensors, so that no iteration runs in Python."""
    leaves, structure = nest.flatten(value, repeats=True)
    tensors: Iterable[Any] = [_strong(graph, convert_to_tensor(leaf)) for leaf in leaves]
    return nest.unflatten(structure, tensors)


def _opened(value: Any, shape: Any) -> Any:
    """Returns a loop's first value with the shape that it has in every iteration."""
    if not isinstance(value, GraphTensor) or sizes_of(shape) == value.type.shape:
        return value
    return placeholder_with_default(value, shape)


def _strong(graph: Graph, tensor: GraphTensor) -> GraphTensor:
    """Returns a tensor with a strong dtype that is not a constant known to Python."""
    node = tensor.raw.node
    if tensor.raw.type.weak:
        return apply(OPS["astype"], (tensor,), Attrs(dtype=tensor.raw.type.dtype))
    if node is not None and node.op is CONSTANT and graph.trace_here is graph.trace:
        return apply(OPS["identity"], (tensor,))
    return tensor
