"""The forward pass of a compiled function under a tape, which keeps the residuals for the backward pass.

The ``vjp`` op has a forward pass of its own, which the lowering merges with the first one if both are in one program. A
compiled function that is called under a tape, and differentiated outside, is two programs; the first passes residuals
to the second, as with ``jax.vjp``, so that nothing is computed twice and no host call is made twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import jax

from graphc.core import Tensor, apply_compiled, kernel, region_function, thread_settings, type_of
from graphc.devices import find_device, on_one
from graphc.ir import OPS, Attrs, Graph, OpDef, TensorType
from graphc.lowering import XlaFunction, lower
from graphc.ops import CALL, VJP, calls_host, pull_back, pushforward, vjp_attrs
from graphc.tracing import is_followed

__all__ = ["ForwardPass", "forward_pass"]

Gradients = Sequence[Tensor | None]


class ForwardPass:
    """A replacement for a call's kernel, from raw arrays to raw arrays, that keeps the derivative.

    If JAX has no derivative it is the kernel itself, so that a request for a gradient raises the error.

    Args:
      attrs: the call's attributes.
      body: the called graph.
      types: the types of the inputs to differentiate with respect to, by position.
    """

    def __init__(self, attrs: Attrs, body: Graph, types: Mapping[int, TensorType]) -> None:
        self._attrs, self._body, self._types = attrs, body, types
        self._passes: _Passes | None = None
        self._push: Any = None
        self._settings = thread_settings()

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Runs the forward pass and keeps the derivative."""
        self._passes = _passes(self._body, tuple(self._types), arrays)
        if self._passes is None:
            return kernel(CALL, self._attrs, (self._body,))(*arrays)
        outputs, self._push = self._passes.forward(*arrays)
        return outputs

    def pull(self, inputs: Sequence[Any], wrt: tuple[int, ...], cotangents: Gradients) -> Gradients | None:
        """Returns the gradients of the inputs at these positions.

        Returns:
          None if there is no derivative, or if another tape must record how the gradient depends on the inputs.
        """
        passes = self._passes
        if passes is None or is_followed():
            return None
        given = [cotangent for cotangent in cotangents if cotangent is not None]
        mask = tuple([cotangent is not None for cotangent in cotangents])
        leaves, tree = _flat(self._push)
        positions = tuple(self._types)
        asked = _Asked(
            tree=tree,
            types=tuple(self._types.values()),
            given=tuple(itertools.compress(mask, _differentiated(self._body))),
            places=tuple(map(positions.index, wrt)),
        )
        attrs = vjp_attrs(CALL, self._attrs, wrt, mask)
        with self._settings():
            return list(
                apply_compiled(
                    VJP,
                    (*inputs, *given),
                    attrs,
                    (self._body,),
                    lambda *arrays: passes.backward(*arrays, asked=asked),
                    extra=leaves,
                )
            )


def forward_pass(
    op: OpDef, inputs: Sequence[Any], attrs: Attrs, regions: Sequence[Graph], is_connected: Callable[[Tensor], bool]
) -> ForwardPass | None:
    """Returns the forward pass of an op that is applied eagerly under one tape.

    Args:
      op: the op.
      inputs: tensors and numbers.
      attrs: the op's attributes.
      regions: the op's bodies.
      is_connected: returns True for an inexact tensor that depends on the tape's watched tensors.

    Returns:
      None if the op runs as usual: it is not a call of a compiled function, runs on several devices, or has nothing to
      differentiate.
    """
    if op is not CALL or not _is_one_program(regions[0]) or not any(_differentiated(regions[0])):
        return None
    pairs = enumerate(inputs)
    types = {place: value.type for place, value in pairs if isinstance(value, Tensor) and is_connected(value)}
    return ForwardPass(attrs, regions[0], types) if types else None


@dataclass(frozen=True)
class _Asked:
    """The key of a compiled backward pass.

    Attributes:
      tree: the structure of the pushforward.
      types: the types of its tangents.
      given: for each of its outputs, whether it has a cotangent.
      places: the positions of the tangents whose gradients are wanted.
    """

    tree: Any
    types: Sequence[TensorType]
    given: Sequence[bool]
    places: Sequence[int]


@dataclass(frozen=True)
class _Passes:
    """The compiled forward and backward passes of a body.

    Attributes:
      forward: from the inputs to all outputs and the pushforward, without the inputs that are part of it.
      backward: from the leaves of the pushforward, the inputs, and the cotangents given by ``asked`` to the gradients.
    """

    forward: Callable[..., Any]
    backward: Callable[..., Any]


@jax.tree_util.register_static
@dataclass(frozen=True)
class _Input:
    """A placeholder for an input in place of a leaf: as an output of the program it would be a copy."""

    position: int


def _flat(tree: Any) -> tuple[Sequence[Any], Any]:
    return cast("Any", jax.tree.flatten)(tree)


def _is_input(node: Any) -> bool:
    return isinstance(node, _Input)


def _passes(body: Graph, wrt: tuple[int, ...], arrays: Sequence[Any]) -> _Passes | None:
    """Returns the compiled passes; None if there is no derivative, which a trace for arrays like these shows."""
    key = ("passes", wrt)
    if key not in body.caches:
        body.caches[key] = _make_passes(body, wrt, list(map(type_of, arrays)))
    return cast("_Passes | None", body.caches[key])


def _make_passes(body: Graph, wrt: tuple[int, ...], types: Sequence[TensorType]) -> _Passes | None:
    function, wanted = region_function(body), _differentiated(body)

    def forward(*values: Any) -> tuple[tuple[Any, ...], Any]:
        outputs, push = pushforward(function, values, wrt, wanted)
        positions = {id(value): position for position, value in enumerate(values)}
        leaves, tree = _flat(push)
        kept = [_Input(positions[id(leaf)]) if id(leaf) in positions else leaf for leaf in leaves]
        return outputs, jax.tree.unflatten(tree, kept)

    def backward(*values: Any, asked: _Asked) -> tuple[Any, ...]:
        count = asked.tree.num_leaves
        inputs = values[count:]
        kept = jax.tree.unflatten(asked.tree, values[:count])

        def filled(leaf: Any) -> Any:
            return inputs[leaf.position] if _is_input(leaf) else leaf

        push = cast("Any", jax.tree.map)(filled, kept, is_leaf=_is_input)
        cotangents = values[len(values) - sum(asked.given) :]
        return pull_back(push, asked.types, asked.given, asked.places, cotangents)

    forward.__name__, backward.__name__ = f"{body.name}_forward", f"{body.name}_backward"
    program = XlaFunction(forward, body.name, calls_host=calls_host(body))
    try:
        program.trace(types)
    except Exception:  # JAX has no derivative; the kernel raises any other error
        return None
    passes = _Passes(lambda *arrays: program.launch(arrays), cast("Any", jax.jit(backward, static_argnames="asked")))
    (device,) = _devices(body)
    if not device:
        return passes
    place = find_device(device)
    return _Passes(on_one(place, passes.forward), on_one(place, passes.backward))


def _differentiated(body: Graph) -> Sequence[bool]:
    """Returns, for each output of a call, whether it has a derivative: new Variable values, at the end, have none."""
    key = "differentiated"
    if key not in body.caches:
        written = len(lower(body).written)
        body.caches[key] = (*[output.type.is_inexact for output in body.outputs], *[False] * written)
    return cast("Sequence[bool]", body.caches[key])


def _is_one_program(body: Graph) -> bool:
    key = "is one program"
    if key not in body.caches:
        body.caches[key] = len(_devices(body)) == 1
    return body.caches[key]


def _devices(body: Graph) -> set[str]:
    """Returns the devices that a graph is pinned to; empty if it runs where its arguments are."""
    return {node.device for node in body.walk() if node.op is not OPS["constant"]} or {""}
