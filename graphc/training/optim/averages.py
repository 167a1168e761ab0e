"""Averages of weights over the steps of training."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import optax

from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError
from graphc.compiler.core import Tensor, Variable, apply, context
from graphc.compiler.tracing import making_state
from graphc.library.states import Stateful
from graphc.training.optim.optimizer import checked_variables
from graphc.training.optim.update import UPDATE, register, update_attrs

_map: Any = jax.tree.map


class ExponentialMovingAverage(Stateful):
    """Follows Variables by averages, which often predict better than the last weights (Polyak and Juditsky, 1992).

    The averages are Variables that start as the Variables are at the first :meth:`update`.

    Args:
      decay: how much of the average is kept at each update: 0 < decay < 1.
      name: for people.

    Raises:
      InvalidArgumentError: ``decay`` is none.

    Example:
      >>> import graphc as gx
      >>> w = gx.Variable(0.0)
      >>> ema = gx.optim.ExponentialMovingAverage(0.75)
      >>> ema.update([w])
      >>> _ = w.assign(4.0)
      >>> ema.update([w])
      >>> with ema.applied():
      ...     print(w.item())
      1.0
      >>> w.item()
      4.0
    """

    def __init__(self, decay: float = 0.999, *, name: str = "ema") -> None:
        if isinstance(decay, bool) or not isinstance(decay, float) or not 0 < decay < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidArgumentError(f"{name}: decay must be a number between 0 and 1, got {decay!r:.60}").here()
        self.name = name

        def change(value: Any, average: Any) -> Any:
            return (1.0 - decay) * (value - average)

        def update(updates: Any, params: Any) -> Any:
            return _map(change, updates, params)

        self._rule = register(optax.stateless(update), f"{name}(decay={decay})")
        self._followed: list[Variable] = []
        self._averages: list[Variable] = []

    @property
    def variables(self) -> list[Variable]:
        """The averages, in the order in which their Variables were first given."""
        return list(self._averages)

    def named_variables(self) -> dict[str, Variable]:
        """Returns the averages by the positions of their Variables."""
        return {str(position): average for position, average in enumerate(self._averages)}

    def build(self, variables: Sequence[Variable]) -> None:
        """Makes the averages, as the Variables are now; the first update does this.

        Args:
          variables: those to follow.

        Raises:
          InvalidTypeError: one is no Variable of a floating dtype.
          InvalidArgumentError: there are none, one is given twice, or others were given before.
        """
        checked = checked_variables(variables)
        if not self._followed:
            with making_state(checked):
                self._make(checked)
        elif [*map(id, checked)] != [*map(id, self._followed)]:
            raise InvalidArgumentError(
                f"{self.name}: the variables are not those that it follows; give the same in the same order each time"
            ).here()

    def _make(self, variables: list[Variable]) -> None:
        if context.creating is not None:
            context.creating.note_built(self)
        self._averages = [
            Variable(variable.raw, trainable=False, name=f"{self.name}/{position}")
            for position, variable in enumerate(variables)
        ]
        self._followed = variables

    def update(self, variables: Sequence[Variable]) -> None:
        """Moves each average towards its Variable; the first time, makes them.

        Args:
          variables: those to follow, the same in the same order each time.

        Raises:
          InvalidTypeError: one is no Variable of a floating dtype.
          InvalidArgumentError: there are none, one is given twice, or others were given before.
        """
        self.build(variables)
        attrs = update_attrs(self._rule, len(self._averages), range(len(self._averages)))
        results: Tensor | tuple[Tensor, ...] = apply(UPDATE, (*self._averages, *self._followed), attrs)
        values = results if isinstance(results, tuple) else (results,)
        for average, value in zip(self._averages, values, strict=True):
            average.assign(value)

    @contextmanager
    def applied(self) -> Generator[None]:
        """Opens a scope in which the Variables have the values of their averages, such as for an evaluation.

        What is assigned to the Variables inside is lost.

        Raises:
          FailedPreconditionError: there are no averages yet.
        """
        if not self._followed:
            raise FailedPreconditionError(f"{self.name}: applied: there are no averages yet; call update before").here()
        values = [variable.value() for variable in self._followed]
        try:
            for variable, average in zip(self._followed, self._averages, strict=True):
                variable.assign(average)
            yield
        finally:
            for variable, value in zip(self._followed, values, strict=True):
                variable.assign(value)
