"""Common features of the named optimizers: assignable rates, clipping, weight decay, loss scales."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from types import MappingProxyType
from typing import Any, Literal, TypedDict, cast

import jax
import jax.numpy as jnp
import optax

from graphc.compiler.base.errors import FailedPreconditionError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import Tensor, Variable, with_short_errors
from graphc.compiler.ops import asarray, call_jax
from graphc.compiler.tracing import refuse_in_trace
from graphc.training.optim.optimizer import Optimizer
from graphc.training.optim.update import register

# Rules of optax whose learning rate and loss scale are in their state, so that they change without a new program.

_GROWTH_STEPS = 2000
_map: Any = jax.tree.map


def clipping_by_norm(limit: float) -> optax.GradientTransformation:
    """Returns the rule that scales each gradient down to a norm of ``limit``, each by itself."""

    def clip(gradient: Any) -> Any:
        norm = optax.tree_utils.tree_norm(gradient)
        return gradient * jnp.where(norm > limit, limit / norm, 1.0).astype(gradient.dtype)

    def update(updates: Any, params: Any) -> Any:
        del params
        return _map(clip, updates)

    return optax.stateless(update)


def rated(
    make: Callable[[Any], optax.GradientTransformation],
    learning_rate: float | Callable[[Any], Any],
    *,
    clips: Sequence[optax.GradientTransformation] = (),
    loss_scale: float | str | None = None,
) -> optax.GradientTransformation:
    """Returns the rule ``make(rate)``, whose rate is read from the state at each update.

    Args:
      make: gives the rule for a rate, which may be traced; its state is a tuple.
      learning_rate: the rate that the state starts with, or a schedule, for which the state has a count of steps.
      loss_scale: by what the gradients given are too large; ``"dynamic"`` for a power of two that grows while they are
        finite and is halved when they are not. Gradients that are not finite change nothing then.
    """
    scheduled = callable(learning_rate)

    def init(params: Any) -> Any:
        wide = any(leaf.dtype in (jnp.float64, jnp.complex128) for leaf in jax.tree.leaves(params))
        rate = learning_rate(jnp.int32(0)) if callable(learning_rate) else learning_rate
        own: dict[str, Any] = {}
        if loss_scale is not None:
            own["loss_scale"] = jnp.float32(2.0**15 if loss_scale == "dynamic" else loss_scale)
        if loss_scale == "dynamic":
            own["finite_steps"] = jnp.int32(0)
        if scheduled:
            own["steps"] = jnp.int32(0)
        else:
            own["learning_rate"] = jnp.asarray(rate, jnp.float64 if wide else jnp.float32)
        return (*cast("Any", make(rate).init(params)), own)

    def step(gradients: Any, state: Any, params: Any) -> tuple[Any, Any]:
        *inner, own = state
        for clip in clips:
            gradients, _ = clip.update(gradients, clip.init(params), params)
        rate = learning_rate(own["steps"]) if callable(learning_rate) else own["learning_rate"]
        changes, inner = make(rate).update(gradients, tuple(inner), params)
        return changes, (*cast("Any", inner), {**own, "steps": own["steps"] + 1} if scheduled else own)

    def scaled(gradients: Any, state: Any, params: Any) -> tuple[Any, Any]:
        scale = state[-1]["loss_scale"]

        def unscaled(gradient: Any) -> Any:
            return (gradient / scale).astype(gradient.dtype)  # float16 has no scale of 2**16

        def chosen(new: Any, old: Any) -> Any:
            return jnp.where(finite, new, old)

        gradients = _map(unscaled, gradients)
        finite = jnp.all(jnp.stack([jnp.all(jnp.isfinite(gradient)) for gradient in jax.tree.leaves(gradients)]))
        changes, new = step(gradients, state, params)
        changes = _map(chosen, changes, _map(jnp.zeros_like, changes))
        new = _map(chosen, new, state)
        if loss_scale == "dynamic":
            new = (*new[:-1], {**new[-1], **_adjusted(scale, state[-1]["finite_steps"], finite)})
        return changes, new

    return optax.GradientTransformation(init, step if loss_scale is None else scaled)  # pyright: ignore[reportArgumentType]


def _adjusted(scale: Any, finite_steps: Any, finite: Any) -> dict[str, Any]:
    steps = jnp.where(finite, finite_steps + 1, 0)
    grows = steps == _GROWTH_STEPS
    grown = jnp.where(grows, scale * 2, scale)
    halved = jnp.maximum(scale / 2, 1)
    # A scale past float32 would make every later gradient zero.
    return {
        "loss_scale": jnp.where(finite, jnp.where(jnp.isfinite(grown), grown, scale), halved),
        "finite_steps": jnp.where(grows, 0, steps),
    }


LearningRate = float | Callable[[Any], Any]
LossScale = float | Literal["dynamic"] | None

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
        values = {**numbers, "weight_decay": weight_decay, **{clip: options.get(clip) for clip in _CLIPS}}
        if loss_scale != "dynamic":
            values["loss_scale"] = loss_scale
        if unknown := [option for option in options if option not in (*_CLIPS, "loss_scale")]:
            names = ("learning_rate", *inspect.signature(type(self)).parameters, "weight_decay", *_CLIPS, "loss_scale")
            names = [option for option in dict.fromkeys(names) if option != "options"]
            hint = f"it is {here} here; " if (here := _CALLED_HERE.get(unknown[0])) else ""
            raise InvalidTypeError(
                f"{name}: there is no option {unknown[0]!r}; {hint}there are {', '.join(names)}"
            ).here()
        values = {
            argument: value if type(value) is bool and argument in numbers else number(f"{name}: {argument}", value)
            for argument, value in values.items()
            if value is not None
        }
        transformation = rated(
            lambda rate: _decayed(
                rule(rate, **{argument: values.get(argument) for argument in numbers}, **others), rate, weight_decay
            ),
            learning_rate,
            clips=[clip(values[argument]) for argument, clip in _CLIPS.items() if argument in values],
            loss_scale=loss_scale,
        )
        values = {"learning_rate": learning_rate, **values, **others, "loss_scale": loss_scale}
        label = (
            f"{name}({', '.join(f'{argument}={value!r}' for argument, value in values.items() if value is not None)})"
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
            index = self._own.index("learning_rate") - len(self._own)
            path, rate = state[index]
            state[index] = (path, jnp.full_like(rate, self._learning_rate))
        return state

    @property
    def learning_rate(self) -> Any:
        """The learning rate of the next update, a scalar tensor.

        It can be assigned, a number or a scalar tensor, at any time and without a new trace; that of a schedule cannot.

        Raises:
          UnimplementedError: a rate that follows a schedule is assigned.
          FailedPreconditionError: it is read or assigned in a compiled function before the optimizer has its state.
        """
        schedule = self._learning_rate
        own = self._own_variable("steps" if callable(schedule) else "learning_rate", "the learning rate")
        if callable(schedule):
            return call_jax(schedule, asarray(0, "int32") if own is None else own.value())
        return asarray(schedule, "float32") if own is None else own.value()

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        if callable(self._learning_rate):
            raise UnimplementedError(
                f"{self.name}: the learning rate follows a schedule and cannot be set to {value!r:.40}; make the "
                "optimizer with a number to assign another"
            ).here()
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
            raise FailedPreconditionError(
                f"{self.name}: scale_loss: there is no state yet; call optimizer.build(variables) before"
            ).here()
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
        raise InvalidTypeError(
            f"{what} must be a Python number{alternative}, got {type(value).__name__} {value!r:.60}"
        ).here()
    return float(value)
