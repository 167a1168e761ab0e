"""The forward pass of a compiled function under a tape: it keeps what the backward pass needs.

The ``vjp`` op computes a forward pass of its own, which the lowering joins with the first where one program holds both.
A compiled function that is called under a tape, and differentiated outside, is two programs; the first gives the second
what it needs, as with ``jax.vjp``, so that nothing is computed twice, and no host call made twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import jax

from graphc.core import Tensor, apply_compiled, context, find_device, on_one, region_function
from graphc.ir import OPS, Attrs, Graph, OpDef, TensorType
from graphc.lowering import Attended, lower
from graphc.ops import CALL, HOST_CALLS, VJP, pull_back, pushforward, vjp_attrs

__all__ = ["ForwardPass", "forward_pass"]

Gradients = Sequence[Tensor | None]


class ForwardPass:
    """What runs in place of a call's kernel: raw arrays in, raw arrays out, and the derivative is kept.

    Args:
      attrs: the attributes of the call.
      body: the graph that is called.
      types: by their positions, the types of the inputs to differentiate with respect to.
    """

    def __init__(self, attrs: Attrs, body: Graph, types: Mapping[int, TensorType]) -> None:
        self._attrs, self._body, self._types = attrs, body, types
        self._push: Any = None

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Runs it, and keeps the derivative."""
        outputs, self._push = _passes(self._attrs, self._body, tuple(self._types))[0](*arrays)
        return outputs

    def pull(self, wrt: tuple[int, ...], cotangents: Gradients) -> Gradients | None:
        """The gradients of the inputs at these positions; None where another tape must see how they depend on these."""
        if context.tapes or context.trace is not None:
            return None
        given = [cotangent for cotangent in cotangents if cotangent is not None]
        mask = tuple([cotangent is not None for cotangent in cotangents])
        positions = tuple(self._types)
        gradients = partial(
            _passes(self._attrs, self._body, positions)[1],
            self._push,
            types=tuple(self._types.values()),
            given=tuple(itertools.compress(mask, _differentiated(self._body))),
            places=tuple(map(positions.index, wrt)),
        )
        return list(apply_compiled(VJP, given, vjp_attrs(CALL, self._attrs, wrt, mask), (self._body,), gradients))


def forward_pass(
    op: OpDef, inputs: Sequence[Any], attrs: Attrs, regions: Sequence[Graph], is_connected: Callable[[Tensor], bool]
) -> ForwardPass | None:
    """The forward pass of an op that is applied eagerly under one tape.

    Args:
      op: the op.
      inputs: tensors and numbers.
      attrs: its attributes.
      regions: its bodies.
      is_connected: whether a tensor comes from what the tape watches, and is of inexact dtype.

    Returns:
      None where the op is better run as usual: it is no call of a compiled function, it runs on several devices, or it
      has nothing to differentiate.
    """
    if op is not CALL or not any(_differentiated(regions[0])):
        return None
    pairs = enumerate(inputs)
    types = {place: value.type for place, value in pairs if isinstance(value, Tensor) and is_connected(value)}
    return ForwardPass(attrs, regions[0], types) if types else None


def _differentiated(body: Graph) -> Sequence[bool]:
    """Which outputs of a call have derivatives here: not the values that it gives to Variables, which come last.

    Of a graph over several devices none has: it is no program of its own.
    """
    key = "differentiated"
    if key not in body.caches:
        written = len(lower(body).written)
        found = (*[output.type.is_inexact for output in body.outputs], *[False] * written)
        body.caches[key] = found if len(_devices(body)) == 1 else ()
    return cast("Sequence[bool]", body.caches[key])


def _devices(body: Graph) -> set[str]:
    """The devices that a graph is pinned to, empty for where its arguments are."""
    return {node.device for node in body.walk() if node.op is not OPS["constant"]} or {""}


def _passes(attrs: Attrs, body: Graph, wrt: tuple[int, ...]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The compiled passes: arrays to all outputs and the derivative, and that and cotangents to gradients."""
    key = ("passes", attrs, wrt)
    if key not in body.caches:
        function, wanted = region_function(body), _differentiated(body)

        def forward(*values: Any) -> tuple[tuple[Any, ...], Any]:
            return pushforward(function, values, wrt, wanted)

        def backward(
            push: Any, *cotangents: Any, types: Sequence[TensorType], given: Sequence[bool], places: Sequence[int]
        ) -> tuple[Any, ...]:
            return pull_back(push, types, given, places, cotangents)

        forward.__name__, backward.__name__ = f"{body.name}_forward", f"{body.name}_backward"
        calls_host = any(node.op in HOST_CALLS for node in body.walk())
        passes = (
            Attended(forward, body.name, calls_host=calls_host),
            jax.jit(backward, static_argnames=("types", "given", "places")),
        )
        (device,) = _devices(body)
        body.caches[key] = tuple([on_one(find_device(device), each) for each in passes]) if device else passes
    return cast("tuple[Callable[..., Any], Callable[..., Any]]", body.caches[key])
