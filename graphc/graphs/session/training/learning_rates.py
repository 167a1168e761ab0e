"""Learning rates that depend on the step, as tensors of a graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import FUNCTIONS
from graphc.graphs.session.graphs.control_flow import convert_to_tensor
from graphc.graphs.session.graphs.graph import default_graph, graph_of
from graphc.graphs.session.graphs.tensor import GraphTensor

__all__ = [
    "cosine_decay",
    "cosine_decay_restarts",
    "exponential_decay",
    "inverse_time_decay",
    "linear_cosine_decay",
    "natural_exp_decay",
    "piecewise_constant",
    "polynomial_decay",
]


def _made(what: str, name: str | None, global_step: Any, rate: Callable[[Any, Any], Any], start: Any) -> GraphTensor:
    """Applies a function to the initial rate and the step, which is converted to the rate's dtype."""
    if global_step is None:
        raise at(InvalidArgumentError(f"{what}: global_step is required"), user_location())
    graph = graph_of([global_step, start]) if not hasattr(global_step, "graph") else global_step.graph
    graph = graph or default_graph()
    with graph.making(name or what):
        first = convert_to_tensor(start)
        found = rate(first, FUNCTIONS["astype"](convert_to_tensor(global_step), first.raw.type.dtype))
        return graph.named(found, name or what)


def _floor(value: Any, wanted: bool = True) -> Any:
    return FUNCTIONS["floor"](value) if wanted else value


def exponential_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
    name: str | None = None,
) -> GraphTensor:  # fmt: skip
    """Makes ``learning_rate * decay_rate ** (step / decay_steps)``.

    Args:
      learning_rate: the first rate, a number or a tensor.
      global_step: the step, a tensor or Variable.
      decay_steps: the number of steps in which the rate is multiplied by ``decay_rate``.
      decay_rate: a number or a tensor.
      staircase: whether to round the exponent down.
      name: the name of the operation.

    Raises:
      InvalidArgumentError: there is no step.
    """

    def rate(first: Any, step: Any) -> Any:
        return first * FUNCTIONS["pow"](_like(decay_rate, first), _floor(step / decay_steps, staircase))

    return _made("ExponentialDecay", name, global_step, rate, learning_rate)


def natural_exp_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
    name: str | None = None,
) -> GraphTensor:  # fmt: skip
    """Makes ``learning_rate * exp(-decay_rate * step / decay_steps)``; see :func:`exponential_decay`."""

    def rate(first: Any, step: Any) -> Any:
        return first * FUNCTIONS["exp"](-decay_rate * _floor(step / decay_steps, staircase))

    return _made("NaturalExpDecay", name, global_step, rate, learning_rate)


def inverse_time_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
    name: str | None = None,
) -> GraphTensor:  # fmt: skip
    """Makes ``learning_rate / (1 + decay_rate * step / decay_steps)``; see :func:`exponential_decay`."""

    def rate(first: Any, step: Any) -> Any:
        return first / (1.0 + decay_rate * _floor(step / decay_steps, staircase))

    return _made("InverseTimeDecay", name, global_step, rate, learning_rate)


def polynomial_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, end_learning_rate: Any = 0.0001, power: Any = 1.0,
    cycle: bool = False, name: str | None = None,
) -> GraphTensor:  # fmt: skip
    """Makes a rate that decays to a final one by a power of the remaining steps.

    Args:
      learning_rate: the first rate, a number or a tensor.
      global_step: the step, a tensor or Variable.
      decay_steps: the number of steps after which the rate stays constant.
      end_learning_rate: the last rate.
      power: 1 for a straight line.
      cycle: whether to double, triple and so on the number of steps when they are done.
      name: the name of the operation.

    Raises:
      InvalidArgumentError: there is no step.
    """

    def rate(first: Any, step: Any) -> Any:
        steps: Any = _like(decay_steps, first)
        if cycle:
            steps = steps * FUNCTIONS["maximum"](1.0, FUNCTIONS["ceil"](step / steps))
        else:
            step = FUNCTIONS["minimum"](step, steps)
        return (first - end_learning_rate) * FUNCTIONS["pow"](1.0 - step / steps, power) + end_learning_rate

    return _made("PolynomialDecay", name, global_step, rate, learning_rate)


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

    def rate(first: Any, step: Any) -> Any:
        del step
        given = convert_to_tensor(x)
        found = convert_to_tensor(values[-1])
        for boundary, value in zip(reversed(boundaries), reversed(values[:-1]), strict=True):
            found = FUNCTIONS["where"](given <= boundary, _like(value, first), found)
        return found

    return _made("PiecewiseConstant", name, x, rate, values[0])


def cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, alpha: float = 0.0, name: str | None = None
) -> GraphTensor:
    """Makes a rate that decays along half a cosine wave (Loshchilov and Hutter 2016).

    Args:
      learning_rate: the first rate, a number or a tensor.
      global_step: the step, a tensor or Variable.
      decay_steps: the length of half the wave.
      alpha: the last rate as a part of the first.
      name: the name of the operation.

    Raises:
      InvalidArgumentError: there is no step.
    """

    def rate(first: Any, step: Any) -> Any:
        done = FUNCTIONS["minimum"](step, _like(decay_steps, first)) / decay_steps
        return first * ((1.0 - alpha) * _half_wave(done) + alpha)

    return _made("CosineDecay", name, global_step, rate, learning_rate)


def cosine_decay_restarts(
    learning_rate: Any, global_step: Any, first_decay_steps: Any, t_mul: float = 2.0, m_mul: float = 1.0,
    alpha: float = 0.0, name: str | None = None,
) -> GraphTensor:  # fmt: skip
    """Makes a rate that repeatedly decays along half a cosine wave (Loshchilov and Hutter 2016).

    Args:
      learning_rate: the first rate, a number or a tensor.
      global_step: the step, a tensor or Variable.
      first_decay_steps: the length of the first half wave.
      t_mul: the ratio of the lengths of successive periods.
      m_mul: the ratio of the heights of successive periods.
      alpha: the last rate as a part of the first.
      name: the name of the operation.

    Raises:
      InvalidArgumentError: there is no step.
    """

    def rate(first: Any, step: Any) -> Any:
        done = step / first_decay_steps
        if t_mul == 1.0:
            count = FUNCTIONS["floor"](done)
            done = done - count
        else:
            count = FUNCTIONS["floor"](FUNCTIONS["log"](1.0 - done * (1.0 - t_mul)) / math.log(t_mul))
            scale = FUNCTIONS["pow"](_like(t_mul, first), count)
            done = (done - (1.0 - scale) / (1.0 - t_mul)) / scale
        height = FUNCTIONS["pow"](_like(m_mul, first), count)
        return first * ((1.0 - alpha) * height * _half_wave(done) + alpha)

    return _made("SGDRDecay", name, global_step, rate, learning_rate)


def linear_cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, num_periods: float = 0.5, alpha: float = 0.0,
    beta: float = 0.001, name: str | None = None,
) -> GraphTensor:  # fmt: skip
    """Makes a rate that decays linearly, times a cosine wave (Bello and others 2017).

    Args:
      learning_rate: the first rate, a number or a tensor.
      global_step: the step, a tensor or Variable.
      decay_steps: the number of steps after which the line ends.
      num_periods: the number of waves.
      alpha: an offset of the line.
      beta: an offset of the product.
      name: the name of the operation.

    Raises:
      InvalidArgumentError: there is no step.
    """

    def rate(first: Any, step: Any) -> Any:
        steps = _like(decay_steps, first)
        done = FUNCTIONS["minimum"](step, steps) / steps
        return first * ((alpha + 1.0 - done) * _half_wave(done * (2.0 * num_periods)) + beta)

    return _made("LinearCosineDecay", name, global_step, rate, learning_rate)


def _half_wave(done: Any) -> Any:
    return 0.5 * (1.0 + FUNCTIONS["cos"](done * np.pi))


def _like(value: Any, other: Any) -> Any:
    return FUNCTIONS["astype"](convert_to_tensor(value), other.raw.type.dtype)
