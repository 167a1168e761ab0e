"""Explicit order: control dependencies, groups, and tensors that become available together."""

from __future__ import annotations

import builtins
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.base.errors import InternalError, InvalidTypeError
from graphc.compiler.core import SymbolicTensor, Tensor, Variable, apply, apply_all
from graphc.compiler.ir import CONSTANT, OPS, Attrs, Effect, Graph, Node, TensorType, define_op, reads, writes
from graphc.compiler.tracing import Controls, Trace, context, is_tracing, refusal

# Reading and writing variables.


def _needs_lowering(*values: Any, **attrs: Any) -> Any:
    raise InternalError(f"a variable is used outside the lowering that holds its value ({attrs})")


def _read_type(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> builtins.tuple[TensorType, ...]:
    del types, regions
    return (attrs["type"],)


def _no_output(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> builtins.tuple[TensorType, ...]:
    del types, attrs, regions
    return ()


def _reads(attrs: Mapping[str, Any]) -> builtins.tuple[Effect, ...]:
    return (reads(attrs["variable"]),)


def _writes(attrs: Mapping[str, Any]) -> builtins.tuple[Effect, ...]:
    return (writes(attrs["variable"]),)


READ_VARIABLE = define_op(
    "read_variable",
    impl=_needs_lowering,
    infer=_read_type,
    takes_open=True,
    effects=_reads,
    differentiable=False,
    doc="The value of a variable at this point.",
)

ASSIGN_VARIABLE = define_op(
    "assign_variable",
    impl=_needs_lowering,
    infer=_no_output,
    takes_open=True,
    params=("value",),
    effects=_writes,
    differentiable=False,
    doc="Sets a variable from this point on.",
)


_TOKEN = TensorType((), np.dtype(np.bool_))


@dataclass(frozen=True)
class Operation:
    """An operation without a value, made by :func:`group` and :func:`no_op`, to be listed or returned.

    Attributes:
      token: a boolean scalar that is computed once everything is done; its value is irrelevant.
    """

    token: Tensor


def _token() -> np.ndarray[Any, Any]:
    return np.zeros((), np.bool_)


def _token_type(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> builtins.tuple[TensorType, ...]:
    del types, attrs, regions
    return (_TOKEN,)


def _together(*values: Any) -> builtins.tuple[Any, ...]:
    return builtins.tuple(jax.lax.optimization_barrier(values))


def _same_types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> builtins.tuple[TensorType, ...]:
    del attrs, regions
    return builtins.tuple(types)


NO_OP = define_op(
    "no_op",
    impl=_token,
    infer=_token_type,
    takes_open=True,
    differentiable=False,
    doc="Does nothing; completes after its control inputs.",
)
TOGETHER = define_op(
    "together",
    impl=_together,
    infer=_same_types,
    takes_open=True,
    params=("*values",),
    doc="The same tensors, each available once all are computed.",
)


@contextmanager
def control_dependencies(control_inputs: Any) -> Generator[None]:
    """Runs ops made inside the ``with`` block after the listed ones (TensorFlow's ``control_dependencies``).

    Eager code runs in program order anyway; only the list is checked. In a compiled function each op made inside gets a
    control edge, which the compiled program obeys: XLA computes none of it before the listed values, and does not merge
    it with equal values computed elsewhere. Using an op made before the block inside it does not move the op. Effects
    (assignments, prints, ``gx.pyfunc``, exceptions) keep program order anyway; control dependencies add an order
    between values, to reduce peak memory, or to time or log computed values.

    Scopes nest, and their lists add up. An op listed in a loop or branch is awaited there; a block around a loop or
    branch applies to all of it.

    Args:
      control_inputs: tensors, Variables (which represent their last assignment), and operations (:func:`group`), in a
        list or any nested structure. Values computed before the call of the compiled function need no edge. None lifts
        the enclosing scopes, as in TensorFlow.

    Raises:
      InvalidTypeError: another value is listed, such as the None that ``print`` returns.
      LeakedTensorError: a tensor belongs to another function, branch or loop body, which has ended.

    Example:
      >>> import graphc as gx
      >>> @gx.function
      ... def f(x):
      ...     first = gx.sum(gx.sin(x))
      ...     with gx.control_dependencies([first]):
      ...         second = gx.sum(gx.cos(x))  # not before `first` is there
      ...     return first + second
      >>> f(gx.zeros(3)).item()
      3.0
    """
    trace = context.trace
    if trace is not None and trace.is_graph:  # graphs built by hand also have operations
        owner: Any = trace
        with owner.graph.control_dependencies(None if control_inputs is None else nest.flatten(control_inputs)[0]):
            yield
        return
    listed = _listed("gx.control_dependencies", control_inputs)
    if trace is None:
        yield
        return
    saved = trace.controls
    # Values from before the trace have no node.
    computed = [_assignment(trace, value) if isinstance(value, Variable) else _source(trace, value) for value in listed]
    nodes = [*dict.fromkeys(node for node in computed if node is not None)]
    trace.controls = None if control_inputs is None else Controls(nodes, saved) if nodes else saved
    try:
        yield
    finally:
        trace.controls = saved


def group(*values: Any) -> Operation:
    """Returns an operation that completes when all the values are computed (TensorFlow's ``group``).

    Args:
      *values: as for :func:`control_dependencies`.

    Raises:
      InvalidTypeError: a value is neither a tensor, a Variable nor an operation.

    Example:
      >>> import graphc as gx
      >>> v, w = gx.Variable(1.0), gx.Variable(2.0)
      >>> @gx.function
      ... def step(x):
      ...     done = gx.group(v.assign_add(x), w.assign_sub(x))
      ...     with gx.control_dependencies([done]):
      ...         return v + w
      >>> step(gx.asarray(0.5)).item()
      3.0
    """
    listed = _listed("gx.group", values)
    if not is_tracing():
        return Operation(Tensor(jax.numpy.asarray(_token())))
    with control_dependencies(listed):
        return no_op()


def no_op() -> Operation:
    """Returns an operation that does nothing; in a :func:`control_dependencies` scope it follows the listed ones.

    Example:
      >>> import graphc as gx
      >>> with gx.control_dependencies([gx.no_op()]):
      ...     pass
    """
    if not is_tracing():
        return group()
    return Operation(apply(NO_OP, ()))


def tuple(values: Any, control_inputs: Any = None) -> Any:
    """Returns the same tensors, each available only when all of them are computed (TensorFlow's ``tuple``).

    Args:
      values: a list or tuple of tensors, Variables, which become their values, and None, which stays None.
      control_inputs: further values to wait for, as for :func:`control_dependencies`.

    Returns:
      A list or tuple, like ``values``.

    Raises:
      InvalidTypeError: ``values`` is not a list or tuple, or contains another value.

    Example:
      >>> import graphc as gx
      >>> @gx.function
      ... def f(x):
      ...     low, high = gx.tuple([gx.min(x), gx.max(x)])
      ...     return high - low
      >>> f(gx.asarray([1.0, 5.0])).item()
      4.0
    """
    if not isinstance(values, list | builtins.tuple):
        raise refusal(InvalidTypeError(f"gx.tuple: expected a list or tuple of tensors, got {values!r:.60}"))
    entries: list[Any] = [*values]
    listed = _listed("gx.tuple", [value for value in entries if value is not None])
    waited = _listed("gx.tuple: control_inputs", control_inputs)
    tensors = [value.value() if isinstance(value, Variable) else _as_tensor(value) for value in listed]
    if is_tracing() and tensors:
        with control_dependencies(waited or []):
            tensors = apply_all(TOGETHER, tensors)
    supply = iter(tensors)
    ordered = [None if value is None else next(supply) for value in entries]
    return ordered if isinstance(values, list) else builtins.tuple(ordered)


def _as_tensor(value: Any) -> Any:
    return value if isinstance(value, Tensor) else Tensor(value)


def _listed(what: str, values: Any) -> list[Any]:
    """Returns the tensors, arrays and Variables in a nested structure."""
    leaves: list[Any] = []
    for path, value in [] if values is None else _leaves(values):
        if isinstance(value, SymbolicTensor) and not is_tracing():
            raise value.trace.leaked(value)
        if not isinstance(value, Tensor | Variable | jax.Array):
            remedy = (
                "print and other calls that return None need not be listed, since effects keep program order"
                if value is None
                else "list tensors, Variables, and results of gx.group"
            )
            item = f"item {path} is {value!r:.60}, which" if path else f"{value!r:.60}"
            raise refusal(InvalidTypeError(f"{what}: {item} is not a tensor; {remedy}"))
        leaves.append(value)
    return leaves


def _leaves(values: Any) -> list[builtins.tuple[str, Any]]:
    """Returns the leaves of a nested structure with their paths; None counts as a leaf."""
    parts = nest.children(values) if values is not None else None
    if parts is None:
        return [("", values)]
    pairs: list[builtins.tuple[str, Any]] = []
    for key, part in zip(*parts, strict=True):
        pairs += [(f"[{key!r}]{path}", leaf) for path, leaf in _leaves(part)]
    return pairs


def _assignment(trace: Trace, variable: Variable) -> Node | None:
    if trace.parent is not None:
        return _source(trace, variable.value())
    for node in reversed(trace.builder.nodes):
        if node.op is ASSIGN_VARIABLE and node.attrs["variable"] == variable.name:
            return node
    return None


def _source(trace: Trace, value: Any) -> Node | None:
    inside = trace.lift(value) if isinstance(value, SymbolicTensor) else None
    if inside is None:
        return None
    if inside.raw.node is None and trace.parent is not None:
        # For a value from outside, a node of this trace from which the edge can start.
        inside = apply(OPS["identity"], (inside,))
    node = inside.raw.node
    return None if node is not None and node.op is CONSTANT else node
