"""The global step, a Variable of a graph that counts updates, and learning rates that depend on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphc.compiler.base import at, config, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import FUNCTIONS
from graphc.graphs.session.graphs.control_flow import convert_to_tensor
from graphc.graphs.session.graphs.graph import Graph, default_graph, graph_of
from graphc.graphs.session.graphs.naming import GraphKeys
from graphc.graphs.session.graphs.tensor import GraphTensor
from graphc.graphs.session.variables.scopes import scoped_name
from graphc.graphs.session.variables.variable import GraphVariable

__all__ = [
    "assert_global_step",
    "cosine_decay",
    "create_global_step",
    "exponential_decay",
    "get_global_step",
    "get_or_create_global_step",
    "global_step",
    "piecewise_constant",
    "polynomial_decay",
]


def get_global_step(graph: Graph | None = None) -> Any:
    """Returns the global step of a graph; None if there is none.

    Args:
      graph: the graph; the default one if None.

    Raises:
      InvalidArgumentError: there are several.
      InvalidTypeError: it is not a scalar integer.
    """
    graph = graph or default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        raise at(InvalidArgumentError("Multiple tensors in global_step collection."), user_location())
    if not found:
        variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
        found = [variable for variable in variables if variable.name == "global_step:0"]
    if not found:
        return None
    assert_global_step(found[0])
    return found[0]


def create_global_step(graph: Graph | None = None) -> Any:
    """Makes the global step of a graph: an integer Variable that starts at 0.

    Args:
      graph: the graph; the default one if None.

    Raises:
      InvalidArgumentError: there already is one.
    """
    graph = graph or default_graph()
    if get_global_step(graph) is not None:
        raise at(InvalidArgumentError('"global_step" already exists.'), user_location())
    dtype = np.int64 if config.enable_x64 else np.int32
    with graph.as_default(), graph.name_scope(None):
        return GraphVariable(
            np.zeros((), dtype),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
            name=scoped_name("global_step"),
        )


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """Returns the global step of a graph; makes it if there is none.

    Args:
      graph: the graph; the default one if None.

    Example:
      >>> import graphc as gx
      >>> from graphc.graphs.session import GradientDescentOptimizer, get_or_create_global_step, global_step
      >>> with gx.Graph().as_default() as graph:
      ...     w = gx.Variable(1.0)
      ...     train = GradientDescentOptimizer(0.1).minimize(w * w, get_or_create_global_step())
      ...     init = gx.global_variables_initializer()
      >>> with gx.Session(graph=graph) as session:
      ...     session.run(init)
      ...     session.run(train)
      ...     global_step(session, get_or_create_global_step())
      1
    """
    graph = graph or default_graph()
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """Returns the global step in a Session as an int.

    Args:
      sess: the Session.
      global_step_tensor: the Variable, or a tensor.
    """
    return int(sess.run(global_step_tensor))


def assert_global_step(global_step_tensor: Any) -> None:
    """Raises an error for a tensor that cannot be a global step.

    Raises:
      InvalidTypeError: it is not a scalar integer.
    """
    type = getattr(global_step_tensor, "type", None)
    if type is None or type.dtype.kind not in "iu" or (type.ranked and type.shape):
        error = InvalidTypeError(f"expected a scalar integer for the global step, got {global_step_tensor!r:.80}")
        raise at(error, user_location())


# Learning rates. In each, ``first`` is the initial rate and ``step`` the step, as a tensor of the rate's dtype.


def _rate(what: str, name: str | None, start: Any, global_step: Any, formula: Callable[[Any, Any], Any]) -> GraphTensor:
    if global_step is None:
        raise at(InvalidArgumentError(f"{what}: global_step is required"), user_location())
    graph = graph_of([global_step, start]) if not hasattr(global_step, "graph") else global_step.graph
    graph = graph or default_graph()
    with graph.making(name or what):
        first = convert_to_tensor(start)
        rate = formula(first, _like(global_step, first))
        return graph.named(rate, name or what)


def _like(value: Any, other: Any) -> Any:
    return FUNCTIONS["astype"](convert_to_tensor(value), other.raw.type.dtype)


def _floor(value: Any, wanted: bool) -> Any:
    return FUNCTIONS["floor"](value) if wanted else value


def _half_wave(done: Any) -> Any:
    return 0.5 * (1.0 + FUNCTIONS["cos"](done * np.pi))


def exponential_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
    name: str | None = None,
) -> GraphTensor:  # fmt: skip
    """Makes ``learning_rate * decay_rate ** (step / decay_steps)``.

    Args:
      learning_rate: the first rate, a number or a tensor; likewise the other numbers.
      global_step: the step, a tensor or Variable.
      decay_steps: the number of steps in which the rate is multiplied by ``decay_rate``.
      decay_rate: the factor.
      staircase: whether to round the exponent down.
      name: the name of the operation.

    Raises:
      InvalidArgumentError: there is no step.
    """
    return _rate(
        "ExponentialDecay", name, learning_rate, global_step,
        lambda first, step: first * FUNCTIONS["pow"](_like(decay_rate, first), _floor(step / decay_steps, staircase)),
    )  # fmt: skip


def polynomial_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, end_learning_rate: Any = 0.0001, power: Any = 1.0,
    cycle: bool = False, name: str | None = None,
) -> GraphTensor:  # fmt: skip
    """Makes a rate that decays to ``end_learning_rate`` by a power of the remaining steps.

    Args:
      learning_rate: see :func:`exponential_decay`; likewise ``global_step`` and ``name``.
      global_step: the step.
      decay_steps: the number of steps after which the rate stays constant.
      end_learning_rate: the last rate.
      power: 1 for a straight line.
      cycle: whether to double, triple and so on the number of steps when they are done.
      name: the name of the operation.
    """

    def formula(first: Any, step: Any) -> Any:
        steps: Any = _like(decay_steps, first)
        if cycle:
            steps = steps * FUNCTIONS["maximum"](1.0, FUNCTIONS["ceil"](step / steps))
        else:
            step = FUNCTIONS["minimum"](step, steps)
        return (first - end_learning_rate) * FUNCTIONS["pow"](1.0 - step / steps, power) + end_learning_rate

    return _rate("PolynomialDecay", name, learning_rate, global_step, formula)


def piecewise_constant(x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None) -> Any:
    """Makes a tensor that is ``values[0]`` up to the first boundary, then ``values[1]``, and so on.

    Args:
      x: the step, a scalar tensor or Variable.
      boundaries: ascending numbers.
      values: the values, one more than there are boundaries.
      name: the name of the operation.

    Raises:
      InvalidArgumentError: the number of values is wrong.
    """
    if len(values) != len(boundaries) + 1:
        error = InvalidArgumentError(
            f"piecewise_constant: {len(values)} values given for {len(boundaries)} boundaries; give one value more"
        )
        raise at(error, user_location())

    def formula(first: Any, step: Any) -> Any:
        del step  # of the rate's dtype, in which a large step would be rounded
        rate, given = convert_to_tensor(values[-1]), convert_to_tensor(x)
        for boundary, value in zip(reversed(boundaries), reversed(values[:-1]), strict=True):
            rate = FUNCTIONS["where"](given <= boundary, _like(value, first), rate)
        return rate

    return _rate("PiecewiseConstant", name, values[0], x, formula)


def cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, alpha: float = 0.0, name: str | None = None
) -> GraphTensor:
    """Makes a rate that decays along half a cosine wave (Loshchilov and Hutter 2016).

    Args:
      learning_rate: see :func:`exponential_decay`; likewise ``global_step`` and ``name``.
      global_step: the step.
      decay_steps: the length of half the wave.
      alpha: the last rate as a part of the first.
      name: the name of the operation.
    """

    def formula(first: Any, step: Any) -> Any:
        done = FUNCTIONS["minimum"](step, _like(decay_steps, first)) / decay_steps
        return first * ((1.0 - alpha) * _half_wave(done) + alpha)

    return _rate("CosineDecay", name, learning_rate, global_step, formula)
