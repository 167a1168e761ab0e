"""The updates of TensorFlow 1's optimizers, over optax's transformations, as one op for all Variables of a device.

The numbers are TensorFlow's, which for some rules are not those of the optax optimizer of the same name: Adam adds
epsilon before the correction of the bias, RMSProp begins with means of one, momentum is applied to scaled steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import optax

from graphc.compiler.ir import OpDef
from graphc.compiler.ops import infer_by_evaluation

__all__ = ["RULES", "UPDATE", "Rule"]

Step = Callable[..., tuple[Any, Sequence[Any]]]


@dataclass(frozen=True)
class Rule:
    """An update.

    Attributes:
      numbers: the names of what it is told by numbers, besides the gradient: tensors, so that runs may change them.
      slots: the number of values that it keeps for each Variable.
      step: a function from the gradient, the slots and the numbers to the amount to subtract, and the new slots.
    """

    numbers: tuple[str, ...]
    slots: int
    step: Step


def _descent(gradient: Any, slots: Sequence[Any], rate: Any) -> tuple[Any, Sequence[Any]]:
    del slots
    return rate * gradient, ()


def _momentum(gradient: Any, slots: Sequence[Any], rate: Any, momentum: Any, nesterov: bool = False) -> Any:
    update, state = _applied(optax.trace(momentum, nesterov), gradient, optax.TraceState(slots[0]))
    return rate * update, (state.trace,)


def _nesterov(gradient: Any, slots: Sequence[Any], rate: Any, momentum: Any) -> Any:
    return _momentum(gradient, slots, rate, momentum, nesterov=True)


def _adam(
    gradient: Any, slots: Sequence[Any], rate: Any, beta1: Any, beta2: Any, epsilon: Any, power1: Any, power2: Any
) -> Any:
    m = optax.tree.update_moment(gradient, slots[0], beta1, 1)
    v = optax.tree.update_moment_per_elem_norm(gradient, slots[1], beta2, 2)
    return rate * jnp.sqrt(1 - power2) / (1 - power1) * m / (jnp.sqrt(v) + epsilon), (m, v)


def _adagrad(gradient: Any, slots: Sequence[Any], rate: Any) -> Any:
    update, state = _applied(optax.scale_by_rss(eps=0.0), gradient, optax.ScaleByRssState(slots[0]))
    return rate * update, (state.sum_of_squares,)


def _adadelta(gradient: Any, slots: Sequence[Any], rate: Any, rho: Any, epsilon: Any) -> Any:
    update, state = _applied(optax.scale_by_adadelta(rho, epsilon), gradient, optax.ScaleByAdaDeltaState(*slots))
    return rate * update, (state.e_g, state.e_x)


def _rms_prop(gradient: Any, slots: Sequence[Any], rate: Any, decay: Any, momentum: Any, epsilon: Any) -> Any:
    update, state = _applied(optax.scale_by_rms(decay, epsilon), gradient, optax.ScaleByRmsState(slots[0]))
    step, kept = _applied(optax.trace(momentum), rate * update, optax.TraceState(slots[1]))
    return step, (state.nu, kept.trace)


def _centered_rms_prop(gradient: Any, slots: Sequence[Any], rate: Any, decay: Any, momentum: Any, epsilon: Any) -> Any:
    rms, mean, velocity = slots
    update, state = _applied(optax.scale_by_stddev(decay, epsilon), gradient, optax.ScaleByRStdDevState(mean, rms))
    step, kept = _applied(optax.trace(momentum), rate * update, optax.TraceState(velocity))
    return step, (state.nu, state.mu, kept.trace)


def _applied(transformation: Any, gradient: Any, state: Any) -> tuple[Any, Any]:
    return transformation.update(gradient, state)


RULES: dict[str, Rule] = {
    "GradientDescent": Rule(("learning_rate",), 0, _descent),
    "Momentum": Rule(("learning_rate", "momentum"), 1, _momentum),
    "NesterovMomentum": Rule(("learning_rate", "momentum"), 1, _nesterov),
    "Adam": Rule(("learning_rate", "beta1", "beta2", "epsilon", "beta1_power", "beta2_power"), 2, _adam),
    "Adagrad": Rule(("learning_rate",), 1, _adagrad),
    "Adadelta": Rule(("learning_rate", "rho", "epsilon"), 2, _adadelta),
    "RMSProp": Rule(("learning_rate", "decay", "momentum", "epsilon"), 2, _rms_prop),
    "CenteredRMSProp": Rule(("learning_rate", "decay", "momentum", "epsilon"), 3, _centered_rms_prop),
}


def _update(*values: Any, rule: str) -> tuple[Any, ...]:
    """One update: the numbers, then for each Variable its value, gradient and slots; gives new values and slots."""
    found = RULES[rule]
    numbers, rest = values[: len(found.numbers)], values[len(found.numbers) :]
    width = 2 + found.slots
    results: list[Any] = []
    for start in range(0, len(rest), width):
        value, gradient, *slots = rest[start : start + width]
        step, kept = found.step(gradient, slots, *[number.astype(value.dtype) for number in numbers])
        results += [value - step, *kept]
    return tuple(new.astype(old.dtype) for new, old in zip(results, _kept(rest, width), strict=True))


def _kept(values: Sequence[Any], width: int) -> list[Any]:
    return [value for place, value in enumerate(values) if place % width != 1]


UPDATE = OpDef(
    "train.update",
    impl=_update,
    infer=infer_by_evaluation(_update),
    params=("*values",),
    differentiable=False,
    doc="One update of Variables by an optimizer: new values, and what is kept for each.",
)
"""The op; :mod:`graphc.session.training.optimizer` adds it to the table, which imports this module when asked."""
