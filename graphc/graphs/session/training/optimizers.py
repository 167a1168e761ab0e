"""TensorFlow 1's optimizers by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError, UnimplementedError
from graphc.graphs.session.graphs.graph import Graph
from graphc.graphs.session.training.optimizer import Optimizer, called, number
from graphc.graphs.session.variables.variable import GraphVariable

__all__ = [
    "AdadeltaOptimizer",
    "AdagradOptimizer",
    "AdamOptimizer",
    "FtrlOptimizer",
    "GradientDescentOptimizer",
    "MomentumOptimizer",
    "RMSPropOptimizer",
]


class GradientDescentOptimizer(Optimizer):
    """Gradient descent: ``w - learning_rate * gradient``.

    Args:
      learning_rate: a number, a tensor, or a function that returns one.
      use_locking: ignored.
      name: the name of the operations.
    """

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def rule(self) -> str:
        """Returns the name of the update."""
        return "GradientDescent"

    def numbers(self, graph: Graph) -> Sequence[Any]:
        """Returns the learning rate."""
        del graph
        return (self._learning_rate,)


class MomentumOptimizer(Optimizer):
    """Gradient descent with momentum: the steps of before go on, each time smaller.

    Args:
      learning_rate: a number, a tensor, or a function that returns one.
      momentum: the momentum; likewise.
      use_locking: ignored.
      name: the name of the operations and slots.
      use_nesterov: whether the momentum is applied before the gradient is (Nesterov 1983).
    """

    slot_names = ("momentum",)

    def __init__(
        self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._numbers = (learning_rate, momentum)
        self._use_nesterov = use_nesterov

    def rule(self) -> str:
        """Returns the name of the update."""
        return "NesterovMomentum" if self._use_nesterov else "Momentum"

    def numbers(self, graph: Graph) -> Sequence[Any]:
        """Returns the learning rate and the momentum."""
        del graph
        return self._numbers


class AdamOptimizer(Optimizer):
    """Adam: steps scaled by running means of the gradient and its square (Kingma and Ba 2014).

    Args:
      learning_rate: a number, a tensor, or a function that returns one.
      beta1: the decay of the mean of the gradients; likewise.
      beta2: the decay of the mean of their squares; likewise.
      epsilon: added to the root of the mean square before the bias is corrected; likewise.
      use_locking: ignored.
      name: the name of the operations and slots.
    """

    slot_names = ("m", "v")

    def __init__(
        self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-08,
        use_locking: bool = False, name: str = "Adam",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._numbers = (learning_rate, beta1, beta2, epsilon)

    def rule(self) -> str:
        """Returns the name of the update."""
        return "Adam"

    def numbers(self, graph: Graph) -> Sequence[Any]:
        """Returns the numbers that it was given, and the powers of the decays."""
        return (*self._numbers, *self._powers(graph))

    def prepare(self, graph: Graph) -> None:
        """Makes the powers of the decays."""
        self._powers(graph)

    def finish(self, graph: Graph) -> Sequence[Any]:
        """Returns what makes the powers those of the next update."""
        decays = [number(value) for value in self._numbers[1:3]]
        found: list[Any] = []
        for power, decay in zip(self._powers(graph), decays, strict=True):
            with graph.colocate_with(power):
                found.append(power.assign(power * decay, read_value=False))
        return found

    def _powers(self, graph: Graph) -> list[GraphVariable]:
        names = ("beta1_power", "beta2_power")
        return [self.other(graph, name, called(first)) for name, first in zip(names, self._numbers[1:3], strict=True)]


class AdagradOptimizer(Optimizer):
    """Adagrad: steps divided by the root of the sum of all squared gradients (Duchi and others 2011).

    Args:
      learning_rate: a number, a tensor, or a function that returns one.
      initial_accumulator_value: the initial value of the sums, above zero.
      use_locking: ignored.
      name: the name of the operations and slots.

    Raises:
      InvalidArgumentError: the sums would begin with zero or less.
    """

    slot_names = ("accumulator",)

    def __init__(
        self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        if initial_accumulator_value <= 0.0:
            message = f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            raise at(InvalidArgumentError(message), user_location())
        self._learning_rate, self._first = learning_rate, initial_accumulator_value

    def rule(self) -> str:
        """Returns the name of the update."""
        return "Adagrad"

    def numbers(self, graph: Graph) -> Sequence[Any]:
        """Returns the learning rate."""
        del graph
        return (self._learning_rate,)

    def first_value(self, slot: str) -> float:
        """Returns what the sums begin with."""
        del slot
        return self._first


class AdadeltaOptimizer(Optimizer):
    """Adadelta: steps scaled by the ratio of running means of steps and gradients (Zeiler 2012).

    Args:
      learning_rate: a number, a tensor, or a function that returns one.
      rho: the decay of the means; likewise.
      epsilon: added to the means; likewise.
      use_locking: ignored.
      name: the name of the operations and slots.
    """

    slot_names = ("accum", "accum_update")

    def __init__(
        self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-08, use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._numbers = (learning_rate, rho, epsilon)

    def rule(self) -> str:
        """Returns the name of the update."""
        return "Adadelta"

    def numbers(self, graph: Graph) -> Sequence[Any]:
        """Returns the numbers that it was given."""
        del graph
        return self._numbers


class RMSPropOptimizer(Optimizer):
    """RMSProp: steps divided by the root of a running mean of squared gradients (Tieleman and Hinton 2012).

    Args:
      learning_rate: a number, a tensor, or a function that returns one.
      decay: the decay rate of the mean; likewise.
      momentum: the momentum; likewise.
      epsilon: added to the mean; likewise.
      use_locking: ignored.
      centered: whether the mean gradient is taken off the mean square.
      name: the name of the operations and slots.
    """

    def __init__(
        self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
        use_locking: bool = False, centered: bool = False, name: str = "RMSProp",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._numbers = (learning_rate, decay, momentum, epsilon)
        self._centered = centered
        self.slot_names = ("rms", "mg", "momentum") if centered else ("rms", "momentum")  # pyright: ignore

    def rule(self) -> str:
        """Returns the name of the update."""
        return "CenteredRMSProp" if self._centered else "RMSProp"

    def numbers(self, graph: Graph) -> Sequence[Any]:
        """Returns the numbers that it was given."""
        del graph
        return self._numbers

    def first_value(self, slot: str) -> float:
        """Returns one for the mean square, else zero."""
        return 1.0 if slot == "rms" else 0.0


class FtrlOptimizer:
    """Refused: optax has no such rule."""

    def __init__(self, *arguments: Any, **options: Any) -> NoReturn:  # pyright: ignore[reportInvalidTypeForm]
        del arguments, options
        error = UnimplementedError(
            "FtrlOptimizer: optax has no FTRL rule; use AdagradOptimizer, or gx.optim.Optimizer with a rule of your own"
        )
        raise at(error, user_location())
