"""Optimizer: an optax transformation that works on Variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, cast

import jax
import optax

from graphc.compiler.autograph import call
from graphc.compiler.base import user_location, warn_at
from graphc.compiler.base.errors import GraphcError, GraphcWarning, InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import ArrayLike, Tensor, Variable, apply, array_of, context, device, shorten, target_sharding
from graphc.compiler.gradients import GradientTape
from graphc.compiler.ir import Attrs
from graphc.compiler.ops import as_numbers, asarray
from graphc.compiler.tracing import making_state
from graphc.library.states import Stateful
from graphc.training.optim.update import UPDATE, initial_state, parts, register, state_names, state_owners, update_attrs

_WHEN_MADE = (
    "layers make theirs at the first call, so call optimizer.minimize(loss, model), or ask for trainable_variables "
    "after it"
)


class HasVariables(Protocol):
    """A model: an object with trainable Variables, which its first call may make."""

    @property
    def trainable_variables(self) -> Iterable[Variable]:
        """The Variables that training changes."""
        ...


class Optimizer(Stateful):
    """Updates Variables by any optax transformation.

    The transformation sees the variables as a list of arrays, in the order in which they were first given. Its state
    is held in Variables that are not trainable, made at the first update or by :meth:`build`. A step is one op, so one
    kernel in eager code; in a compiled function variables and state are updated in place.

    Args:
      transformation: an ``optax.GradientTransformation``, alone or chained.
      name: for people, and the start of its state's names.

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

    _scales = False
    """True if losses are scaled."""

    def __init__(self, transformation: optax.GradientTransformation, *, name: str = "optimizer") -> None:
        if not (callable(getattr(transformation, "init", None)) and callable(getattr(transformation, "update", None))):
            raise _error(
                InvalidTypeError,
                f"Optimizer: expected an optax transformation such as optax.adam(1e-3), got {transformation!r:.60}",
            )
        self._start(name, register(transformation, name))

    def _start(self, name: str, transformation: str) -> None:
        self.name = name
        # A string, not the transformation itself: compiled methods are cached by their objects' attributes, so objects
        # with equal optimizers share their traces.
        self._transformation = transformation
        self._targets: list[Variable] = []
        self._state: list[Variable] = []
        self._warned = False

    @property
    def transformation(self) -> str:
        """The name of its rule in graphs."""
        return self._transformation

    @property
    def variables(self) -> list[Variable]:
        """The optimizer's state; empty before the first update or :meth:`build`, and where the rule has none."""
        return list(self._state)

    @property
    def targets(self) -> list[Variable]:
        """The Variables that its state was made for, in order; empty before."""
        return list(self._targets)

    def state_names(self, params: Sequence[Any]) -> list[str]:
        """Returns the names that the leaves of the state have for some arrays, as in :meth:`named_variables`.

        Args:
          params: the arrays, or their shapes and dtypes.
        """
        return state_names(self._transformation, [(param.shape, param.dtype) for param in params])

    def named_variables(self) -> dict[str, Variable]:
        """Returns the state by names that are the same in every run, such as ``0/mu/2``.

        The last number of such a name is the position of the updated variable, in the order that :meth:`build` or the
        first update was given.
        """
        if not self._state:
            return {}
        names = state_names(self._transformation, [(target.shape, target.dtype) for target in self._targets])
        return dict(zip(names, self._state, strict=True))

    def build(self, variables: Iterable[Variable]) -> None:
        """Makes the state for these variables.

        The first update does this, also in a compiled function.

        Args:
          variables: all that this optimizer will update, in the order in which the transformation sees them.

        Raises:
          InvalidTypeError: one is no Variable of a floating dtype.
          InvalidArgumentError: there are none, or one is given twice, or the state has been made for others.
        """
        targets = checked_variables(variables)
        if self._targets:
            self._check_known(targets)
        else:
            with making_state(targets):
                self._make_state(targets)

    def _make_state(self, targets: list[Variable]) -> None:
        if context.creating is not None:
            context.creating.note_built(self)
        arrays = list(map(array_of, targets))
        # What the state holds beside arrays made from the variables', such as a count of steps, goes where they are.
        target = target_sharding(arrays) or next((_device_of(array) for array in arrays if array.committed), None)
        state = self._initial_state(arrays)
        self._state = [
            Variable(
                leaf if target is None or leaf.committed else jax.device_put(leaf, target),
                trainable=False,
                name=f"{self.name}/{path}",
            )
            for path, leaf in state
        ]
        self._targets = targets

    def _initial_state(self, arrays: list[Any]) -> list[tuple[str, Any]]:
        return initial_state(self._transformation, arrays)

    def start_arrays(self, params: Sequence[Any]) -> list[Any]:
        """Returns the state that the rule starts with for some JAX arrays; no Variables are made.

        Args:
          params: the arrays.
        """
        return [leaf for _, leaf in self._initial_state(list(params))]

    def update_arrays(
        self, params: Sequence[Any], gradients: Sequence[Any], state: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        """Returns JAX arrays after one update, and the new state: a pure function, without Variables.

        Args:
          params: the arrays.
          gradients: one for each.
          state: what :meth:`start_arrays` or an update gave.

        Example:
          >>> import graphc as gx, jax.numpy as jnp
          >>> optimizer = gx.optim.SGD(0.5)
          >>> params = [jnp.ones(2)]
          >>> optimizer.update_arrays(params, [jnp.ones(2)], optimizer.start_arrays(params))[0]
          [Array([0.5, 0.5], dtype=float32)]
        """
        attrs = update_attrs(self._transformation, len(params), range(len(params)))
        results = UPDATE.impl(*params, *gradients, *state, **attrs)
        return list(results[: len(params)]), list(results[len(params) :])

    def state_owners(self, params: Sequence[Any]) -> list[int | None]:
        """Returns, for each leaf of the state, the position of the array that it belongs to; None for a shared one.

        Args:
          params: the arrays, or their shapes and dtypes.
        """
        return state_owners(self._transformation, params)

    def scale_loss(self, loss: Tensor) -> Tensor:
        """Returns the loss as the gradients given to this optimizer are to be computed of it: here as it is."""
        return loss

    def apply_gradients(self, grads_and_vars: Iterable[tuple[ArrayLike | None, Variable]]) -> None:
        """Updates variables by their gradients.

        Inside a data-parallel step the gradients are averaged over the replicas first.

        Args:
          grads_and_vars: pairs, as from ``zip(gradients, variables)``. Every call gives the same variables. A variable
            whose gradient is None stays as it is, and so does the state that belongs to it. Where there are no pairs
            nothing is updated, with a warning.

        Raises:
          InvalidArgumentError: all gradients are None, a gradient has another shape than its variable, or the variables
            are not those of the calls before.
          InvalidTypeError: something is no pair, no Variable, or no tensor of a floating dtype.
        """
        pairs = [_pair(item) for item in grads_and_vars]
        if not pairs:
            self._warn_of_none()
            return
        try:
            self.apply([gradient for gradient, _ in pairs], [variable for _, variable in pairs])
        except Exception as error:
            shorten(error)
            raise

    def _warn_of_none(self) -> None:
        if not self._warned:
            self._warned = True
            text = f"{self.name}: apply_gradients: no variables were given, so nothing is updated; {_WHEN_MADE}"
            warn_at(GraphcWarning(text), user_location())

    def apply(self, gradients: Sequence[ArrayLike | None], variables: Sequence[Variable]) -> None:
        """Updates variables by their gradients, given as two lists; as :meth:`apply_gradients` otherwise.

        Raises:
          InvalidArgumentError: the lists differ in length; and as :meth:`apply_gradients`.
        """
        targets = checked_variables(variables)
        if len(gradients) != len(targets):
            raise _error(
                InvalidArgumentError,
                f"{self.name}: {len(gradients)} gradients were given for {len(targets)} variables; give one for each, "
                "and None for a variable that is to stay as it is",
            )
        by_id = {
            id(variable): _checked_gradient(gradient, variable)
            for gradient, variable in zip(gradients, targets, strict=True)
            if gradient is not None
        }
        if not by_id:
            raise _error(
                InvalidArgumentError,
                f"{self.name}: the gradient of every variable ({_names(targets)}) is None: the loss does not depend on "
                "them, or was computed outside the tape",
            )
        if context.updates is not None:
            context.updates.take(self, [by_id.get(id(target)) for target in targets], targets)
            return
        self.build(targets)
        updated = [position for position, target in enumerate(self._targets) if id(target) in by_id]
        ordered = [by_id[id(self._targets[position])] for position in updated]
        if context.replica is not None:
            ordered = context.replica.mean(ordered)
        self._update(updated, ordered)

    def _update(self, updated: Sequence[int], gradients: Sequence[Tensor]) -> None:
        attrs = update_attrs(self._transformation, len(self._targets), updated)
        written = [*self._targets, *self._state]
        values = (*self._targets, *gradients, *self._state)
        homes = tuple([variable.device for variable in written])
        # Replicas have copies of all, and of Variables with copies on several devices one is everywhere.
        if len(set(homes)) == 1 or context.replica is not None or any("," in home for home in homes):
            results = _several(apply(UPDATE, values, attrs))
        else:
            results = _apart(attrs, values, homes)
        for variable, value in zip(written, results, strict=True):
            variable.assign(value)

    def minimize(
        self,
        loss_fn: Callable[[], Tensor],
        variables: Iterable[Variable] | HasVariables | Callable[[], Iterable[Variable]],
    ) -> Tensor:
        """Computes a loss and its gradients, and updates the variables.

        Args:
          loss_fn: takes nothing, returns the loss.
          variables: what to update: a model, whose layers may make their Variables in this very call; Variables; or a
            function that returns them, which is called after ``loss_fn``.

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
          >>> model = gx.layers.Sequential([gx.layers.Dense(1)])
          >>> loss = gx.optim.Adam(0.1).minimize(lambda: gx.mean(model(gx.ones((2, 3))) ** 2), model)
        """
        if not callable(loss_fn):
            raise _error(
                InvalidTypeError,
                f"{self.name}: minimize takes a function of no arguments that returns the loss, got {loss_fn!r:.60}; "
                "for a loss that is computed already use a GradientTape and apply_gradients",
            )
        later = _asked_later(variables)
        targets = checked_variables(cast("Iterable[Variable]", variables)) if later is None else []
        with GradientTape(watch_accessed_variables=later is not None) as tape:
            tape.watch(targets)
            loss = call(loss_fn)()
            if later is not None:
                targets = checked_variables(later())
            if self._scales:
                self.build(targets)
            scaled = self.scale_loss(loss) if self._scales else loss
        self.apply(tape.gradient(scaled, targets), targets)
        return loss

    def _check_known(self, variables: Sequence[Variable]) -> None:
        existing = {id(target) for target in self._targets}
        present = {id(variable) for variable in variables}
        if existing == present:
            return
        new = [variable for variable in variables if id(variable) not in existing]
        absent = [target for target in self._targets if id(target) not in present]
        changes = [
            f"{_names(some)} {'is' if len(some) == 1 else 'are'} {how}"
            for some, how in ((new, "new"), (absent, "missing"))
            if some
        ]
        raise _error(
            InvalidArgumentError,
            f"{self.name}: the variables are not those that its state was made for: {'; '.join(changes)}. Give all of "
            "them every time, with the gradient None for one that is to stay, or use one optimizer for each set",
        )

    def __repr__(self) -> str:
        # Without what the first update makes: an object that reads alike before and after is no reason for a trace.
        return f"<{type(self).__name__} {self._transformation}>"


def _asked_later(variables: Any) -> Callable[[], Iterable[Variable]] | None:
    """Returns the function that gives the Variables once the loss is computed; None for Variables that are given."""
    if hasattr(variables, "trainable_variables"):
        return lambda: variables.trainable_variables
    return cast("Callable[[], Iterable[Variable]]", variables) if callable(variables) else None


def _device_of(array: jax.Array) -> Any:
    """Returns the one device that an array is on; its sharding may be one for arrays of its rank alone."""
    return next(iter(array.devices()))


def _several(results: Tensor | tuple[Tensor, ...]) -> Sequence[Tensor]:
    return results if isinstance(results, tuple) else (results,)


def _apart(attrs: Attrs, operands: Sequence[Variable | Tensor], homes: tuple[str, ...]) -> Sequence[Tensor]:
    """Returns the results of an update of Variables on several devices, each computed where its Variable is."""
    results: dict[int, Tensor] = {}
    for part in parts(attrs, tuple([value.type for value in operands]), homes):
        with device(part.device):
            outputs = _several(apply(UPDATE, [operands[position] for position in part.taken], part.attrs))
        results.update(zip(part.wanted, outputs, strict=True))
    return [results[position] for position in range(len(homes))]


def _names(variables: Sequence[Variable]) -> str:
    return ", ".join(repr(variable.name) for variable in variables)


def _pair(item: Any) -> tuple[Any, Any]:
    if not isinstance(item, tuple | list) or len(cast("Sequence[Any]", item)) != 2:
        raise _error(
            InvalidTypeError, f"apply_gradients: expected pairs as from zip(gradients, variables), got {item!r:.60}"
        )
    gradient, variable = cast("Sequence[Any]", item)
    return gradient, variable


def checked_variables(variables: Iterable[Any]) -> list[Variable]:
    """Returns the Variables, once it is sure that they are such, of floating dtypes, and none is there twice."""
    checked: dict[int, Variable] = {}
    for variable in variables:
        if not isinstance(variable, Variable):
            raise _error(
                InvalidTypeError,
                f"optimizers update Variables, got {type(variable).__name__} {variable!r:.60}; make it a gx.Variable, "
                "and put the gradient first in each pair",
            )
        if id(variable) in checked:
            raise _error(InvalidArgumentError, f"Variable {variable.name!r} is given twice; add its gradients up")
        if not variable.type.is_inexact:
            raise _error(
                InvalidTypeError,
                f"Variable {variable.name!r} is {variable.type}: only floating dtypes can be optimized",
            )
        checked[id(variable)] = variable
    if not checked:
        raise _error(InvalidArgumentError, f"no variables were given; {_WHEN_MADE}")
    return list(checked.values())


def _checked_gradient(gradient: Any, variable: Variable) -> Tensor:
    label = f"the gradient of Variable {variable.name!r}"
    try:
        tensor = as_numbers(gradient)
    except GraphcError as error:
        error.args = (f"{label}: {error.args[0]}",)
        raise
    if tensor.shape != variable.shape:
        raise _error(InvalidArgumentError, f"{label} has shape {tensor.shape}, the variable has shape {variable.shape}")
    narrows = tensor.dtype.kind == "c" and variable.dtype.kind != "c"
    if narrows or not tensor.type.is_inexact:
        raise _error(InvalidTypeError, f"{label} is {tensor.type}, the variable is {variable.type}")
    return asarray(tensor, variable.dtype)


def _error(kind: type[InvalidArgumentError], message: str) -> InvalidArgumentError:
    return kind(message).here()
