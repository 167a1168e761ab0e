"""Optimizer: an optax transformation that works on Variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import jax
import optax

from graphc.autograph import call
from graphc.base import at, user_location
from graphc.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError
from graphc.core import ArrayLike, Tensor, Variable, apply, context, type_of_any
from graphc.gradients import GradientTape
from graphc.ops import asarray
from graphc.optim.update import UPDATE, register, update_attrs

__all__ = ["Optimizer"]


class Optimizer:
    """Updates Variables by any optax transformation.

    The transformation sees the variables as a list of arrays, in the order in which they were first given. Its state
    is held in Variables that are not trainable, made at the first update or by :meth:`build`. A step is one op, so one
    kernel in eager code; in a compiled function variables and state are updated in place.

    Args:
      transformation: an ``optax.GradientTransformation``, alone or chained.
      name: what its updates are called in graphs.

    Raises:
      InvalidTypeError: ``transformation`` is none.

    Example:
      >>> import graphc as gx, optax
      >>> w = gx.Variable([3.0, 4.0])
      >>> optimizer = gx.optim.Optimizer(optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(1.0)))
      >>> optimizer.apply_gradients([(gx.asarray([30.0, 40.0]), w)])
      >>> w.numpy().round(3)
      array([2.4, 3.2], dtype=float32)
    """

    def __init__(self, transformation: optax.GradientTransformation, *, name: str = "optimizer") -> None:
        if not (callable(getattr(transformation, "init", None)) and callable(getattr(transformation, "update", None))):
            raise _error(
                InvalidTypeError,
                f"Optimizer: expected an optax transformation such as optax.adam(1e-3), got {transformation!r:.60}",
            )
        self._start(name, register(transformation, name), transformation.init)

    def _start(self, name: str, transformation: str, init: Callable[[Any], Any]) -> None:
        self.name = name
        self._transformation = transformation
        self._init = init
        self._targets: list[Variable] = []
        self._state: list[Variable] = []

    @property
    def variables(self) -> list[Variable]:
        """The optimizer's state; empty before the first update or :meth:`build`."""
        return list(self._state)

    def build(self, variables: Iterable[Variable]) -> None:
        """Makes the state for these variables.

        The first update does this, which in a compiled function makes its first call run eagerly, as every call that makes
        Variables; a call of this method before spares that.

        Args:
          variables: all that this optimizer will update, in the order in which the transformation sees them.

        Raises:
          InvalidTypeError: one is no Variable.
          InvalidArgumentError: the state has been made before, for other variables; or a variable is given twice.
        """
        targets = _checked_variables(variables)
        if self._targets:
            self._check_known(targets)
            return
        leaves = jax.tree.leaves(self._init([variable.raw for variable in targets]))  # pyright: ignore[reportPrivateUsage]
        state = [Variable(leaf, trainable=False, name=f"{self.name}/state") for leaf in leaves]
        self._targets, self._state = targets, state

    def apply_gradients(self, grads_and_vars: Iterable[tuple[ArrayLike | None, Variable]]) -> None:
        """Updates variables by their gradients.

        Inside a data-parallel step the gradients are averaged over the replicas first.

        Args:
          grads_and_vars: pairs, as from ``zip(gradients, variables)``. Every call gives the same variables. A variable
            whose gradient is None stays as it is, and so does the state that belongs to it.

        Raises:
          InvalidArgumentError: all gradients are None, a gradient has another shape than its variable, or the variables are
            not those of the calls before.
          InvalidTypeError: something is no pair, no Variable, or no tensor of a floating dtype.
        """
        pairs = [_pair(item) for item in grads_and_vars]
        self.apply([gradient for gradient, _ in pairs], [variable for _, variable in pairs])

    def apply(self, gradients: Sequence[ArrayLike | None], variables: Sequence[Variable]) -> None:
        """Updates variables by their gradients, given as two lists; as :meth:`apply_gradients` otherwise.

        Raises:
          InvalidArgumentError: the lists differ in length; and as :meth:`apply_gradients`.
        """
        if len(gradients) != len(variables):
            raise _error(
                InvalidArgumentError,
                f"{self.name}: {len(gradients)} gradients were given for {len(variables)} variables; give one for each, "
                "None for a variable that is to stay as it is",
            )
        self.build(variables)
        given = {
            id(variable): _checked_gradient(gradient, variable)
            for gradient, variable in zip(gradients, variables, strict=True)
            if gradient is not None
        }
        if not given:
            names = ", ".join(repr(variable.name) for variable in variables)
            raise _error(
                InvalidArgumentError,
                f"{self.name}: the gradient of every variable ({names}) is None: the loss does not depend on them, or was "
                "computed outside the tape",
            )
        updated = [position for position, target in enumerate(self._targets) if id(target) in given]
        ordered = [given[id(self._targets[position])] for position in updated]
        if context.replica is not None:
            ordered = context.replica.mean([asarray(gradient) for gradient in ordered])
        self._update(updated, ordered)

    def _update(self, updated: Sequence[int], gradients: Sequence[Any]) -> None:
        attrs = update_attrs(self._transformation, len(self._targets), updated)
        written = [*self._targets, *self._state]
        results = apply(UPDATE, (*self._targets, *gradients, *self._state), attrs)
        for variable, value in zip(written, results if isinstance(results, tuple) else (results,), strict=True):
            variable.assign(cast("Tensor", value))

    def minimize(self, loss_fn: Callable[[], Tensor], variables: Sequence[Variable]) -> Tensor:
        """Computes a loss and its gradients, and updates the variables.

        Args:
          loss_fn: takes nothing, returns the loss.
          variables: what to update.

        Returns:
          The loss before the update.

        Raises:
          InvalidTypeError: ``loss_fn`` cannot be called, or returns no tensor; and as :meth:`apply_gradients`.

        Example:
          >>> import graphc as gx
          >>> w = gx.Variable(5.0)
          >>> loss = gx.optim.SGD(0.1).minimize(lambda: w * w, [w])
          >>> loss.item(), round(w.item(), 3)
          (25.0, 4.0)
        """
        if not callable(loss_fn):
            raise _error(
                InvalidTypeError,
                f"{self.name}.minimize: loss_fn must be a function of no arguments that returns the loss, got "
                f"{loss_fn!r:.60}; for a loss that is computed already use a GradientTape and apply_gradients",
            )
        targets = _checked_variables(variables)
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(targets)
            loss = call(loss_fn)()
        self.apply(tape.gradient(loss, targets), targets)
        return loss

    def _check_known(self, variables: Sequence[Variable]) -> None:
        known = {id(target) for target in self._targets}
        new = [repr(variable.name) for variable in variables if id(variable) not in known]
        present = {id(variable) for variable in variables}
        absent = [repr(target.name) for target in self._targets if id(target) not in present]
        if new or absent:
            changes = [f"{', '.join(names)} {verb}" for names, verb in ((new, "is new"), (absent, "is missing")) if names]
            raise _error(
                InvalidArgumentError,
                f"{self.name}: the variables are not those that its state was made for: {'; '.join(changes)}. Give all of "
                "them every time, with the gradient None for one that is to stay; use one optimizer for each set of variables",
            )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._transformation}, {len(self._targets)} variables>"


def _pair(item: Any) -> tuple[Any, Any]:
    if not isinstance(item, tuple | list) or len(cast("Sequence[Any]", item)) != 2:
        raise _error(
            InvalidTypeError,
            f"apply_gradients: expected pairs as from zip(gradients, variables), got {item!r:.60}",
        )
    gradient, variable = cast("Sequence[Any]", item)
    return gradient, variable


def _checked_variables(variables: Iterable[Any]) -> list[Variable]:
    checked: list[Variable] = []
    seen: set[int] = set()
    for variable in variables:
        if not isinstance(variable, Variable):
            raise _error(
                InvalidTypeError,
                f"optimizers update Variables, got {type(variable).__name__} {variable!r:.60}; make it a gx.Variable, and put "
                "the gradient first in each pair",
            )
        if id(variable) in seen:
            raise _error(InvalidArgumentError, f"Variable {variable.name!r} is given twice; add its gradients up")
        if not variable.type.is_inexact:
            raise _error(
                InvalidTypeError, f"Variable {variable.name!r} is {variable.type}: only floating dtypes can be optimized"
            )
        seen.add(id(variable))
        checked.append(variable)
    return checked


def _checked_gradient(gradient: Any, variable: Variable) -> Any:
    try:
        tensor = asarray(gradient)
    except GraphcError as error:
        error.args = (f"the gradient of Variable {variable.name!r}: {error.args[0]}",)
        raise
    found = type_of_any(tensor)
    if found.shape != variable.shape:
        raise _error(
            InvalidArgumentError,
            f"the gradient of Variable {variable.name!r} has shape {found.shape}, the variable has shape {variable.shape}",
        )
    if not found.is_inexact:
        raise _error(
            InvalidTypeError, f"the gradient of Variable {variable.name!r} is {found}: a floating dtype is expected"
        )
    return tensor


def _error(kind: type[InvalidArgumentError], message: str) -> InvalidArgumentError:
    return at(kind(message), user_location())
