"""Common features of the named optimizers: assignable rates, clipping, weight decay, loss scales."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from numbers import Real
from types import MappingProxyType
from typing import Any, Literal, TypedDict

import jax
import jax.numpy as jnp
import optax

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import FailedPreconditionError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import Tensor, Variable, with_short_errors
from graphc.compiler.ops import asarray, call_jax
from graphc.compiler.tracing import refuse_in_trace
from graphc.training.optim.optimizer import Optimizer
from graphc.training.optim.rated import clipping_by_norm, rated
from graphc.training.optim.update import register

__all__ = ["LearningRate", "Named", "Options"]

LearningRate = float | Callable[[Any], Any]
LossScale = float | Literal["dynamic"] | None

_map: Any = jax.tree.map
_NO_OTHERS: Mapping[str, Any] = MappingProxyType({})
_CALLED_HERE = {
    "lr": "learning_rate", "beta_1": "b1", "beta_2": "b2", "beta1": "b1", "beta2": "b2", "betas": "b1 and b2",
    "epsilon": "eps", "rho": "decay", "alpha": "decay",
}  # fmt: skip
"""Options of Keras and PyTorch, by what optax calls them."""
_CLIPS: dict[str, Callable[[float], optax.GradientTransformation]] = {
    "clipvalue": optax.clip,
    "clipnorm": clipping_by_norm,
    "global_clipnorm": optax.clip_by_global_norm,
}


class Options(TypedDict, total=False):
    """The options that every named optimizer takes in addition to its own.

    Attributes:
      clipvalue: each number of a gradient is cut to this magnitude.
      clipnorm: each gradient is scaled down to this norm.
      global_clipnorm: all gradients together are scaled down to this norm.
      loss_scale: the loss is multiplied by this, so that small gradients of half precision are not lost, see
        :meth:`graphc.optim.Optimizer.scale_loss`; ``"dynamic"`` finds a scale. A step whose gradients are not finite
        changes nothing.
    """

    clipvalue: float | None
    clipnorm: float | None
    global_clipnorm: float | None
    loss_scale: LossScale


class Named(Optimizer):
    """An optimizer that is one function of optax, told by numbers; ``others`` are passed on as they are."""

    @with_short_errors
    def __init__(
        self,
        rule: Callable[..., optax.GradientTransformation],
        learning_rate: Any,
        options: Options,
        *,
        weight_decay: float | None = None,
        others: Mapping[str, Any] = _NO_OTHERS,
        **numbers: Any,
    ) -> None:
        name = type(self).__name__.lower()
        scheduled = callable(learning_rate)
        if not scheduled:
            learning_rate = number(f"{name}: learning_rate", learning_rate, " or an optax schedule")
        loss_scale = options.get("loss_scale")
        given = {**numbers, "weight_decay": weight_decay, **{clip: options.get(clip) for clip in _CLIPS}}
        if loss_scale != "dynamic":
            given["loss_scale"] = loss_scale
        if unknown := [option for option in options if option not in (*_CLIPS, "loss_scale")]:
            known = ("learning_rate", *inspect.signature(type(self)).parameters, "weight_decay", *_CLIPS, "loss_scale")
            known = [option for option in dict.fromkeys(known) if option != "options"]
            hint = f"it is {here} here; " if (here := _CALLED_HERE.get(unknown[0])) else ""
            error = InvalidTypeError(f"{name}: there is no option {unknown[0]!r}; {hint}there are {', '.join(known)}")
            raise at(error, user_location())
        given = {
            argument: value if type(value) is bool and argument in numbers else number(f"{name}: {argument}", value)
            for argument, value in given.items()
            if value is not None
        }
        transformation = rated(
            lambda rate: _decayed(
                rule(rate, **{argument: given.get(argument) for argument in numbers}, **others), rate, weight_decay
            ),
            learning_rate,
            clips=[clip(given[argument]) for argument, clip in _CLIPS.items() if argument in given],
            loss_scale=loss_scale,
        )
        given = {"learning_rate": learning_rate, **given, **others, "loss_scale": loss_scale}
        label = (
            f"{name}({', '.join(f'{argument}={value!r}' for argument, value in given.items() if value is not None)})"
        )
        if scheduled or not all(isinstance(value, bool | int | float | str) for value in others.values()):
            token = register(transformation, name)
        else:
            token = _registered.get(label) or _registered.setdefault(label, register(transformation, label))
        self._start(name, token)
        self._learning_rate = learning_rate
        self._scales = loss_scale is not None
        # The last leaves of the state are those of ``rated``, sorted by name.
        own = {"loss_scale": loss_scale is not None, "finite_steps": loss_scale == "dynamic"}
        own |= {"steps": scheduled, "learning_rate": not scheduled}
        self._own = tuple(sorted(key for key, there in own.items() if there))

    def _own_variable(self, key: str, what: str) -> Variable | None:
        """Returns a Variable of the state; None where there is none yet."""
        if self._targets:
            return self._state[self._own.index(key) - len(self._own)]
        refuse_in_trace(
            f"{self.name}: {what} in a compiled function before the optimizer has its state would be a constant in "
            "all calls; call optimizer.build(variables) before",
            FailedPreconditionError,
        )
        return None

    def _initial_state(self, arrays: list[Any]) -> list[tuple[str, Any]]:
        state = super()._initial_state(arrays)
        if not callable(self._learning_rate):  # it may have been assigned
            place = self._own.index("learning_rate") - len(self._own)
            path, rate = state[place]
            state[place] = (path, jnp.full_like(rate, self._learning_rate))
        return state

    @property
    def learning_rate(self) -> Any:
        """The learning rate of the next update, a scalar tensor.

        It can be assigned, a number or a scalar tensor, at any time and without a new trace; that of a schedule cannot.

        Raises:
          UnimplementedError: a rate that follows a schedule is assigned.
          FailedPreconditionError: it is read or assigned in a compiled function before the optimizer has its state.
        """
        given = self._learning_rate
        own = self._own_variable("steps" if callable(given) else "learning_rate", "the learning rate")
        if callable(given):
            return call_jax(given, asarray(0, "int32") if own is None else own.value())
        return asarray(given, "float32") if own is None else own.value()

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        if callable(self._learning_rate):
            error = UnimplementedError(
                f"{self.name}: the learning rate follows a schedule and cannot be set to {value!r:.40}; make the "
                "optimizer with a number to assign another"
            )
            raise at(error, user_location())
        if not isinstance(value, Tensor | Variable):
            value = number(f"{self.name}: learning_rate", value)
        own = self._own_variable("learning_rate", "assigning the learning rate")
        if own is None:
            self._learning_rate = float(value)
        else:
            own.assign(value if type(value) is float else asarray(value, own.dtype))

    def scale_loss(self, loss: Tensor) -> Tensor:
        """Multiplies a loss by the loss scale; its gradients are to be given to this optimizer, which divides them.

        Args:
          loss: the loss; without the option ``loss_scale`` it is returned as it is.

        Raises:
          FailedPreconditionError: there is no state yet; call :meth:`build` before.

        Example:
          >>> import graphc as gx
          >>> w = gx.Variable([1.0, 2.0])
          >>> optimizer = gx.optim.SGD(0.5, loss_scale=1024.0)
          >>> optimizer.build([w])
          >>> with gx.GradientTape() as tape:
          ...     scaled = optimizer.scale_loss(gx.sum(w))
          >>> optimizer.apply_gradients([(tape.gradient(scaled, w), w)])
          >>> w.tolist()
          [0.5, 1.5]
        """
        if not self._scales:
            return loss
        own = self._own_variable("loss_scale", "the loss scale")
        if own is None:
            error = FailedPreconditionError(
                f"{self.name}: scale_loss: there is no state yet; call optimizer.build(variables) before"
            )
            raise at(error, user_location())
        return loss * asarray(own.value(), loss.dtype if loss.dtype.itemsize > 2 else "float32")


def _decayed(rule: optax.GradientTransformation, rate: Any, decay: float | None) -> optax.GradientTransformation:
    """Returns a rule, and what it takes off each weight besides: this share of it, times the rate."""
    if decay is None:
        return rule

    def decayed(change: Any, param: Any) -> Any:
        return change - rate * decay * param

    def update(updates: Any, state: Any, params: Any = None) -> Any:
        changes, state = rule.update(updates, state, params)
        return _map(decayed, changes, params), state

    return optax.GradientTransformation(rule.init, update)


_registered: dict[str, str] = {}
"""The registered names of the optimizers told by numbers: equal ones share a name, and so their compiled updates."""


def number(what: str, value: Any, alternative: str = "") -> float:
    """Returns a number of the user's as a float."""
    if isinstance(value, bool) or not isinstance(value, Real):
        error = InvalidTypeError(
            f"{what} must be a Python number{alternative}, got {type(value).__name__} {value!r:.60}"
        )
        raise at(error, user_location())
    return float(value)
