"""TensorFlow 1's optimizers: a table of their updates, and a class for each, one op for all Variables of a device.

The numbers are TensorFlow's, which for some rules are not those of the optax optimizer of the same name: Adam adds
epsilon before the correction of the bias, RMSProp begins with means of one, momentum is applied to scaled steps. So the
rules are formulas, which also spares a Session the import of optax.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import jax as _jax

from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.ir import define_op
from graphc.compiler.ops import infer_by_evaluation
from graphc.graphs.refusals import user_error
from graphc.graphs.session.training.optimizer import Optimizer

jnp: Any = _jax.numpy  # its functions are only partly annotated


class _Rule(NamedTuple):
    """An update.

    Attributes:
      numbers: how many tensors it is told besides the gradient, so that runs may change them.
      step: a function of the gradient, the slots and the numbers; returns what to subtract, and the new slots.
    """

    numbers: int
    slots: Mapping[str, float]
    step: Callable[..., tuple[Any, ...]]


def _descent(g: Any, rate: Any) -> Any:
    return (rate * g,)


def _momentum(g: Any, velocity: Any, rate: Any, momentum: Any) -> Any:
    velocity = momentum * velocity + g
    return rate * velocity, velocity


def _nesterov(g: Any, velocity: Any, rate: Any, momentum: Any) -> Any:
    velocity = momentum * velocity + g
    return rate * (g + momentum * velocity), velocity


def _adam(g: Any, m: Any, v: Any, rate: Any, beta1: Any, beta2: Any, epsilon: Any, power1: Any, power2: Any) -> Any:
    m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
    return rate * jnp.sqrt(1 - power2) / (1 - power1) * m / (jnp.sqrt(v) + epsilon), m, v


def _adagrad(g: Any, total: Any, rate: Any) -> Any:
    total = total + g * g
    return rate * g / jnp.sqrt(total), total


def _adadelta(g: Any, mean: Any, steps: Any, rate: Any, rho: Any, epsilon: Any) -> Any:
    mean = rho * mean + (1 - rho) * g * g
    step = jnp.sqrt(steps + epsilon) / jnp.sqrt(mean + epsilon) * g
    return rate * step, mean, rho * steps + (1 - rho) * step * step


def _rms_prop(g: Any, rms: Any, velocity: Any, rate: Any, decay: Any, momentum: Any, epsilon: Any) -> Any:
    rms = decay * rms + (1 - decay) * g * g
    velocity = momentum * velocity + rate * g / jnp.sqrt(rms + epsilon)
    return velocity, rms, velocity


def _centered(g: Any, rms: Any, mean: Any, velocity: Any, rate: Any, decay: Any, momentum: Any, epsilon: Any) -> Any:
    rms, mean = decay * rms + (1 - decay) * g * g, decay * mean + (1 - decay) * g
    velocity = momentum * velocity + rate * g / jnp.sqrt(rms - mean * mean + epsilon)
    return velocity, rms, mean, velocity


_RULES: dict[str, _Rule] = {
    "GradientDescent": _Rule(1, {}, _descent),
    "Momentum": _Rule(2, {"momentum": 0.0}, _momentum),
    "NesterovMomentum": _Rule(2, {"momentum": 0.0}, _nesterov),
    "Adam": _Rule(6, {"m": 0.0, "v": 0.0}, _adam),
    "Adagrad": _Rule(1, {"accumulator": 0.1}, _adagrad),
    "Adadelta": _Rule(3, {"accum": 0.0, "accum_update": 0.0}, _adadelta),
    "RMSProp": _Rule(4, {"rms": 1.0, "momentum": 0.0}, _rms_prop),
    "CenteredRMSProp": _Rule(4, {"rms": 1.0, "mg": 0.0, "momentum": 0.0}, _centered),
}


def _update(*values: Any, rule: str) -> tuple[Any, ...]:
    """Updates: takes the numbers, then each Variable's value, gradient and slots; returns new values and slots."""
    count, slots, step = _RULES[rule]
    numbers, rest = values[:count], values[count:]
    results: list[Any] = []
    for start in range(0, len(rest), 2 + len(slots)):
        value, gradient, *state = rest[start : start + 2 + len(slots)]
        change, *new = step(gradient, *state, *[number.astype(value.dtype) for number in numbers])
        results += [new.astype(old.dtype) for new, old in zip((value - change, *new), (value, *state), strict=True)]
    return tuple(results)


define_op(
        "train.update", _update, infer_by_evaluation(_update), ("*values",), differentiable=False,
        doc="One update of Variables by an optimizer: new values, and what is kept for each.",
    )  # fmt: skip


class _Row(Optimizer):
    """An optimizer that is a row of the table: all numbers are tensors, numbers, or functions that return one."""

    def __init__(self, rule: str, numbers: Sequence[Any], use_locking: bool, name: str, **first: float) -> None:
        super().__init__(use_locking, name)
        self._rule, self._numbers = rule, tuple(numbers)
        self.slots = {**_RULES[rule].slots, **first}

    def rule(self) -> str:
        return self._rule

    def numbers(self, graph: Any) -> Sequence[Any]:
        del graph
        return self._numbers


class GradientDescentOptimizer(_Row):
    """Gradient descent: ``w - learning_rate * gradient``.

    Args:
      learning_rate: a number, a tensor, or a function that returns one; likewise all numbers of the other optimizers.
      use_locking: ignored.
      name: the name of the operations and slots.
    """

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__("GradientDescent", [learning_rate], use_locking, name)


class MomentumOptimizer(_Row):
    """Gradient descent with momentum: earlier steps go on, each time smaller.

    Args:
      learning_rate: see :class:`GradientDescentOptimizer`; likewise ``use_locking`` and ``name``.
      momentum: the factor of earlier steps.
      use_nesterov: whether the momentum is applied before the gradient is (Nesterov 1983).
    """

    def __init__(
        self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            "NesterovMomentum" if use_nesterov else "Momentum", [learning_rate, momentum], use_locking, name
        )


class AdamOptimizer(_Row):
    """Adam: steps scaled by running means of the gradient and its square (Kingma and Ba 2014).

    Args:
      learning_rate: see :class:`GradientDescentOptimizer`; likewise ``use_locking`` and ``name``.
      beta1: the decay of the mean of the gradients.
      beta2: the decay of the mean of their squares.
      epsilon: added to the root of the mean square before the bias is corrected.
    """

    def __init__(
        self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-08,
        use_locking: bool = False, name: str = "Adam",
    ) -> None:  # fmt: skip
        super().__init__("Adam", [learning_rate, beta1, beta2, epsilon], use_locking, name)
        self.powers = {"beta1_power": beta1, "beta2_power": beta2}


class AdagradOptimizer(_Row):
    """Adagrad: steps divided by the root of the sum of all squared gradients (Duchi and others 2011).

    Args:
      learning_rate: see :class:`GradientDescentOptimizer`; likewise ``use_locking`` and ``name``.
      initial_accumulator_value: the initial value of the sums, above zero.

    Raises:
      InvalidArgumentError: the sums would begin with zero or less.
    """

    def __init__(
        self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:  # fmt: skip
        super().__init__("Adagrad", [learning_rate], use_locking, name, accumulator=initial_accumulator_value)
        if initial_accumulator_value <= 0.0:
            raise user_error(f"initial_accumulator_value must be positive: {initial_accumulator_value}")


class AdadeltaOptimizer(_Row):
    """Adadelta: steps scaled by the ratio of running means of steps and gradients (Zeiler 2012).

    Args:
      learning_rate: see :class:`GradientDescentOptimizer`; likewise ``use_locking`` and ``name``.
      rho: the decay of the means.
      epsilon: added to the means.
    """

    def __init__(
        self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-08, use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:  # fmt: skip
        super().__init__("Adadelta", [learning_rate, rho, epsilon], use_locking, name)


class RMSPropOptimizer(_Row):
    """RMSProp: steps divided by the root of a running mean of squared gradients (Tieleman and Hinton 2012).

    Args:
      learning_rate: see :class:`GradientDescentOptimizer`; likewise ``use_locking`` and ``name``.
      decay: the decay rate of the mean.
      momentum: the factor of earlier steps.
      epsilon: added to the mean.
      centered: whether the mean gradient is taken off the mean square.
    """

    def __init__(
        self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
        use_locking: bool = False, centered: bool = False, name: str = "RMSProp",
    ) -> None:  # fmt: skip
        rule = "CenteredRMSProp" if centered else "RMSProp"
        super().__init__(rule, [learning_rate, decay, momentum, epsilon], use_locking, name)


class FtrlOptimizer:
    """Refused; the message says what to use instead."""

    def __init__(self, *arguments: Any, **options: Any) -> NoReturn:  # pyright: ignore[reportInvalidTypeForm]
        del arguments, options
        problem = (
            "FtrlOptimizer: there is no FTRL rule; use AdagradOptimizer, or gx.optim.Optimizer with a rule of your own"
        )
        raise user_error(problem, UnimplementedError)
