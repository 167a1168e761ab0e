"""An optimizer's update as a program that runs on the servers: on flat buffers, if the rule allows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from graphc.cluster.parameters.layout import Buffer, ShardLayout, SharedProgram
from graphc.cluster.parameters.shard import Elements, padded, picked
from graphc.compiler.base.errors import UnimplementedError
from graphc.graphs.refusals import user_error
from graphc.training.optim import Optimizer

_ACROSS = ("sort", "rev", "fft", "cholesky", "triangular_solve", "roll")


@dataclass(frozen=True)
class RuleText:
    """The description of an update rule that a server receives.

    Attributes:
      owners: for each leaf of the state, the index in ``buffers`` of the buffer that it matches number by number; None
        for any other leaf.
      by_element: whether it treats each number independently, so that it may run on some of them.
    """

    start: SharedProgram
    update: SharedProgram
    buffers: tuple[int, ...]
    owners: tuple[int | None, ...]
    by_element: bool


class Applied:
    """A rule in the form that a shard uses."""

    def __init__(self, text: RuleText) -> None:
        self._text = text
        self._update = text.update.compiled
        self._run: Any = jax.jit(self._parts if text.by_element else self._whole)

    def start(self, values: Sequence[Any]) -> list[Any]:
        """Returns the initial state."""
        return list(self._text.start.compiled([jnp.asarray(values[buffer]) for buffer in self._text.buffers]))

    def __call__(
        self, values: Sequence[Any], gradients: Mapping[int, tuple[Elements, Any]], state: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        """Returns new buffers and a new state; see :class:`graphc.cluster.parameters.shard.Rule`."""
        elements: list[Any] = []
        sums: list[Any] = []
        for buffer in self._text.buffers:
            size = values[buffer].shape[0]
            none = jnp.zeros(0, "int32"), jnp.zeros(0, values[buffer].dtype)
            some, numbers = padded(*gradients.get(buffer, none), size)
            elements.append(some)
            sums.append(numbers)
        old = [values[buffer] for buffer in self._text.buffers]
        new, state = self._run(old, sums, list(state), elements)
        result = list(values)
        for buffer, array in zip(self._text.buffers, new, strict=True):
            result[buffer] = array
        return result, list(state)

    def _whole(self, values: Any, gradients: Any, state: Any, elements: Any) -> Any:
        del elements
        return self._update(values, gradients, state)

    def _parts(self, values: Any, gradients: Any, state: Any, elements: Any) -> Any:
        """Updates some elements, with their part of the state."""
        state_elements = [None if owner is None else elements[owner] for owner in self._text.owners]
        taken = [picked(*pair) for pair in zip(values, elements, strict=True)]
        states = [picked(*pair) for pair in zip(state, state_elements, strict=True)]
        new, left = self._update(taken, gradients, states)
        return (
            [_put(*each) for each in zip(values, elements, new, strict=True)],
            [_put(*each) for each in zip(state, state_elements, left, strict=True)],
        )


def _put(old: Any, elements: Any, new: Any) -> Any:
    return new if elements is None else old.at[elements].set(new, mode="drop")


def rule_text(optimizer: Optimizer, layout: ShardLayout, server: int, updated: set[str]) -> RuleText | None:
    """Makes the description of an optimizer for a server; None if the server keeps nothing that it updates."""
    buffers = layout.servers[server]
    indices = [index for index, buffer in enumerate(buffers) if any(piece.name in updated for piece in buffer.pieces)]
    if not indices:
        return None
    chosen = [buffers[index] for index in indices]
    flats = [jax.ShapeDtypeStruct((buffer.size,), buffer.dtype) for buffer in chosen]
    owners = _owners(optimizer, flats)
    probe = [jax.ShapeDtypeStruct((7,), buffer.dtype) for buffer in chosen]
    if owners is not None and _is_by_element(optimizer, probe):
        start, update = (
            SharedProgram(optimizer.start_arrays, (flats,)),
            SharedProgram(optimizer.update_arrays, _open(optimizer, chosen)),
        )
        return RuleText(start, update, tuple(indices), owners, by_element=True)
    if len(layout.servers) > 1:
        raise user_error(
            f"ParameterServer: the update of {optimizer.name} for one number depends on others, as in clipping by a "
            "norm, but these may be on another server; clip in the step, before apply_gradients, or use servers=1",
            UnimplementedError,
        )
    return _by_variable(optimizer, chosen, tuple(indices), layout.shapes, updated)


def _owners(optimizer: Optimizer, flats: Sequence[Any]) -> tuple[int | None, ...] | None:
    """Returns the buffer of each leaf of the state; None if a leaf is not a number and does not match its buffer."""
    owners = optimizer.state_owners(flats)
    leaves = jax.eval_shape(optimizer.start_arrays, flats)
    fits = [
        leaf.shape == (() if owner is None else flats[owner].shape) for owner, leaf in zip(owners, leaves, strict=True)
    ]
    return tuple(owners) if all(fits) else None


def _open(optimizer: Optimizer, buffers: Sequence[Buffer]) -> Any:
    """Returns the types of an update of any number of elements of each buffer."""

    def types(sizes: Sequence[Any]) -> Any:
        flats = [jax.ShapeDtypeStruct((size,), buffer.dtype) for size, buffer in zip(sizes, buffers, strict=True)]
        owners = optimizer.state_owners(flats)
        leaves = jax.eval_shape(optimizer.start_arrays, [jax.ShapeDtypeStruct((3,), flat.dtype) for flat in flats])
        state = [
            jax.ShapeDtypeStruct(() if owner is None else flats[owner].shape, leaf.dtype)
            for owner, leaf in zip(owners, leaves, strict=True)
        ]
        return flats, flats, state

    def of_any_size() -> Any:
        from jax import export

        return types(export.symbolic_shape(", ".join(f"n{index}" for index in range(len(buffers)))))

    return of_any_size


def _by_variable(
    optimizer: Optimizer, buffers: Sequence[Buffer], indices: tuple[int, ...], shapes: Mapping[str, Any],
    updated: set[str],
) -> RuleText:  # fmt: skip
    """Returns a rule that works on whole Variables; Variables that it does not update stay unchanged."""
    spots = [
        (index, piece.offset, piece.size, shapes[piece.name])
        for index, buffer in enumerate(buffers)
        for piece in buffer.pieces
        if piece.name in updated
    ]

    def cut(values: Sequence[Any]) -> list[Any]:
        return [values[index][offset : offset + size].reshape(shape) for index, offset, size, shape in spots]

    def start(values: Sequence[Any]) -> list[Any]:
        return optimizer.start_arrays(cut(values))

    def update(values: Sequence[Any], gradients: Sequence[Any], state: Sequence[Any]) -> Any:
        new, left = optimizer.update_arrays(cut(values), cut(gradients), state)
        result = list(values)
        for (index, offset, size, _), array in zip(spots, new, strict=True):
            result[index] = result[index].at[offset : offset + size].set(array.reshape(-1))
        return result, left

    flats = [jax.ShapeDtypeStruct((buffer.size,), buffer.dtype) for buffer in buffers]
    state = jax.eval_shape(start, flats)
    program = SharedProgram(update, (flats, flats, state))
    return RuleText(SharedProgram(start, (flats,)), program, indices, (None,) * len(state), by_element=False)


def _is_by_element(optimizer: Optimizer, flats: Sequence[Any]) -> bool:
    """Returns True if an update treats each number independently: no op changes shapes or combines numbers."""
    state = jax.eval_shape(optimizer.start_arrays, flats)
    return _keeps_apart(jax.make_jaxpr(optimizer.update_arrays)(flats, flats, state).jaxpr)


def _keeps_apart(jaxpr: Any) -> bool:
    for equation in jaxpr.eqns:
        inner = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
        if inner is not None and equation.primitive.name in ("jit", "pjit", "closed_call", "custom_jvp_call"):
            if not _keeps_apart(getattr(inner, "jaxpr", inner)):
                return False
            continue
        name, shapes = equation.primitive.name, {variable.aval.shape for variable in equation.invars} - {()}
        results = {variable.aval.shape for variable in equation.outvars}
        if name in _ACROSS or name.startswith("cum") or len(shapes) > 1 or (shapes and results != shapes):
            return False
    return True
