"""The update op: one step of an optax transformation, as one node of a graph and one kernel in eager mode.

A node's attributes are plain values, so that graphs print, parse and compare; an optax transformation is a pair of
Python functions. The node therefore holds its name in :data:`TRANSFORMATIONS`. The structure of the state is not kept
anywhere: the transformation's ``init`` gives it for parameters of these types, without computing anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import jax
import jax.numpy as jnp
import optax

from graphc.compiler.base import Registry, UniqueNames
from graphc.compiler.ir import Attrs, TensorType, define_op
from graphc.compiler.lowering import needed_inputs
from graphc.compiler.ops import infer_by_evaluation

TRANSFORMATIONS: Registry[optax.GradientTransformation] = Registry("optax transformation")
_names = UniqueNames()


def register(transformation: optax.GradientTransformation, label: str) -> str:
    """Makes a transformation known to the op."""
    name = _names(label)
    TRANSFORMATIONS.add(name, transformation)
    return name


def update_attrs(transformation: str, num_variables: int, updated: Sequence[int]) -> Attrs:
    """Makes the attributes of an update."""
    if len(updated) == num_variables:
        return Attrs(transformation=transformation, num_variables=num_variables)
    return Attrs(transformation=transformation, num_variables=num_variables, updated=tuple(updated))


def initial_state(transformation: str, params: Sequence[jax.Array]) -> list[tuple[str, jax.Array]]:
    """Returns the leaves of the state that a transformation starts with, each with its path; keys as their data."""
    state = TRANSFORMATIONS[transformation].init(list(params))
    return [(name, _data(leaf)) for name, leaf in _leaves(state)]


def state_names(transformation: str, params: Sequence[tuple[tuple[int, ...], Any]]) -> list[str]:
    """Returns the paths of the leaves of a transformation's state, for parameters of these shapes and dtypes."""
    types = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in params]
    return [name for name, _ in _leaves(jax.eval_shape(TRANSFORMATIONS[transformation].init, types))]


def _leaves(state: Any) -> list[tuple[str, Any]]:
    flat = cast("Any", jax.tree_util.tree_flatten_with_path(state))
    return [(jax.tree_util.keystr(path, simple=True, separator="/"), leaf) for path, leaf in flat[0]]


def _data(leaf: Any) -> jax.Array:
    return jax.random.key_data(leaf) if _is_key(leaf) else jnp.asarray(leaf)


def _is_key(leaf: Any) -> bool:
    return bool(jnp.issubdtype(jnp.result_type(leaf), jax.dtypes.prng_key))


def _state(transformation: str, params: Sequence[Any], leaves: Sequence[Any]) -> Any:
    """The state that these are the leaves of: with the structure that ``init`` gives, and keys made from their data."""
    implementations: list[Any] = []

    def init(params: Any) -> Any:
        state = TRANSFORMATIONS[transformation].init(params)
        implementations.extend(jax.random.key_impl(leaf) if _is_key(leaf) else None for leaf in jax.tree.leaves(state))
        return state

    structure = cast("Any", jax.tree.structure(jax.eval_shape(init, list(params))))
    values: list[Any] = [
        leaf if implementation is None else jax.random.wrap_key_data(leaf, impl=implementation)
        for leaf, implementation in zip(leaves, implementations, strict=True)
    ]
    return jax.tree.unflatten(structure, values)


def state_owners(transformation: str, params: Sequence[Any]) -> list[int | None]:
    """Returns, for each leaf of the state, the position of the parameter that it belongs to; None for a shared one."""
    init = TRANSFORMATIONS[transformation].init

    def owner(leaf: Any, position: int) -> int:
        del leaf
        return position

    def shared(leaf: Any) -> int:
        del leaf
        return -1

    state = jax.eval_shape(init, list(params))
    positions = list(range(len(params)))
    owners = optax.tree_utils.tree_map_params(init, owner, state, positions, transform_non_params=shared)
    return [None if position < 0 else position for position in jax.tree.leaves(owners)]


def _update(
    *values: Any, transformation: str, num_variables: int, updated: tuple[int, ...] | None = None,
    taken: tuple[int, ...] | None = None, types: tuple[TensorType, ...] = (), wanted: tuple[int, ...] = (),
) -> tuple[Any, ...]:  # fmt: skip
    """One step on flat values, or the part of one that gives the results in ``wanted``."""
    # A part is given the values in ``taken``. Its results do not depend on the others, so zeros do for those, which XLA
    # drops.
    if taken is None:
        return _whole(values, transformation, num_variables, updated)
    passed = dict(zip(taken, values, strict=True))
    filled = [passed[i] if i in passed else jnp.zeros(type.shape, type.dtype) for i, type in enumerate(types)]
    results = _whole(filled, transformation, num_variables, updated)
    return tuple([results[position] for position in wanted])


def _whole(
    values: Sequence[Any], transformation: str, num_variables: int, updated: tuple[int, ...] | None
) -> tuple[Any, ...]:
    """One step on flat values: parameters, then the gradients of those in ``updated``, then the leaves of the state."""
    # A parameter without gradient stays, and so does the state that belongs to it. The transformation sees a gradient
    # of zeros for it, so that what is computed over all gradients, such as their norm, is what it is without it.
    rule = TRANSFORMATIONS[transformation]
    chosen = range(num_variables) if updated is None else updated
    params = list(values[:num_variables])
    by_index = dict(zip(chosen, values[num_variables:], strict=False))
    gradients = [by_index[i] if i in by_index else jnp.zeros_like(param) for i, param in enumerate(params)]
    leaves = values[num_variables + len(chosen) :]
    changes, state = rule.update(gradients, _state(transformation, params, leaves), params)
    new_params: list[Any] = jax.tree.leaves(optax.apply_updates(params, changes))
    # A Variable keeps its dtype, also where a rule of a wider one is mixed in.
    new_leaves = [_data(new).astype(old.dtype) for new, old in zip(jax.tree.leaves(state), leaves, strict=True)]
    if updated is not None:
        owners = state_owners(transformation, params)
        new_params = [
            new if i in by_index else old for i, (new, old) in enumerate(zip(new_params, params, strict=True))
        ]
        new_leaves = [
            new if owner is None or owner in by_index else old
            for owner, new, old in zip(owners, new_leaves, leaves, strict=True)
        ]
    return (*new_params, *new_leaves)


UPDATE = define_op(
    "optim.update",
    impl=_update,
    infer=infer_by_evaluation(_update),
    params=("*values",),
    differentiable=False,
    doc="One step of an optax transformation: new parameters and new state.",
)


# An update cut into parts, one for each device that it writes on.


@dataclass(frozen=True, slots=True)
class DeviceUpdate:
    """The part of an update that one device does."""

    device: str
    taken: tuple[int, ...]  # the positions of the inputs that it needs
    wanted: tuple[int, ...]  # the positions of the results that it gives
    attrs: Attrs


@lru_cache(maxsize=256)
def parts(attrs: Attrs, types: tuple[TensorType, ...], homes: tuple[str, ...]) -> Sequence[DeviceUpdate]:
    """Cuts an update into parts."""
    # Each takes what its results depend on and no more: the gradients of all Variables where a rule clips by their
    # norm, else those of its own.

    def update(*values: Any) -> Any:
        return UPDATE.impl(*values, **attrs)

    jaxpr = jax.make_jaxpr(update)(*(jax.ShapeDtypeStruct(type.shape, type.dtype) for type in types)).jaxpr
    pieces: list[DeviceUpdate] = []
    for device in dict.fromkeys(homes):
        wanted = tuple(position for position, home in enumerate(homes) if home == device)
        needed = needed_inputs(jaxpr, wanted)
        taken = tuple(position for position, variable in enumerate(jaxpr.invars) if id(variable) in needed)
        part = Attrs(**attrs, taken=taken, types=types, wanted=wanted)
        pieces.append(DeviceUpdate(device, taken, wanted, part))
    return pieces
