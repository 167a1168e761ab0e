"""Rules of optax whose learning rate and loss scale are in their state, so that they change without a new program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp
import optax

__all__ = ["clipping_by_norm", "rated"]

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
      clips: stateless rules that gradients go through before.
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
