"""The forward pass of a compiled function under a tape, which keeps the residuals for the backward pass.

The ``vjp`` op has a forward pass of its own, which the lowering merges with the first one if both are in one program. A
compiled function that is called under a tape, and differentiated outside, is two programs; the first passes residuals
to the second, as with ``jax.vjp``, so that nothing is computed twice and no host call is made twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import jax

from graphc.compiler.core import (
    FAILED,
    Tensor,
    apply_compiled,
    call_kernel,
    context,
    kernel,
    region_function,
    thread_settings,
    type_of,
)
from graphc.compiler.devices import find_device, on_one
from graphc.compiler.ir import OPS, Attrs, Graph, OpDef, TensorType
from graphc.compiler.lowering import XlaFunction, lower
from graphc.compiler.ops import CALL, VJP, calls_host, pull_back, pushforward, vjp_attrs
from graphc.compiler.tracing import is_followed

Gradients = Sequence[Tensor | None]


class ForwardPass:
    """A replacement for a call's kernel, from raw arrays to raw arrays, that keeps the derivative."""

    # If JAX has no derivative it is the kernel itself, so that a request for a gradient raises the error.

    __slots__ = ("_attrs", "_body", "_kept", "_leaves", "_settings", "_wrt")

    _kept: _Kept
    _leaves: Sequence[Any] | None

    def __init__(self, attrs: Attrs, body: Graph, wrt: tuple[int, ...]) -> None:
        self._attrs, self._body, self._wrt = attrs, body, wrt
        self._leaves = None
        self._settings = thread_settings()

    def __call__(self, *arrays: Any) -> Sequence[Any]:
        """Runs the forward pass and keeps the derivative."""
        passes = _passes(self._body, self._wrt, arrays)
        if passes is None:
            return kernel(CALL, self._attrs, (self._body,))(*arrays)
        outputs, self._leaves, self._kept = passes.forward(*arrays)
        return outputs

    def directly(self, arrays: Sequence[Any]) -> Sequence[Any] | None:
        """Runs the forward pass as :meth:`__call__` does, if it takes no more than one call of JAX's; else None."""
        passes = self._body.caches.get(("passes", self._wrt))
        if passes is None or passes.direct is None:
            return None
        outputs, self._leaves, self._kept = passes.direct(*arrays)
        return outputs

    def pull(self, inputs: Sequence[Any], wrt: tuple[int, ...], cotangents: Gradients) -> Gradients | None:
        """Returns the gradients of the inputs at these positions."""
        # None if there is no derivative, or if another tape must record how the gradient depends on the inputs.
        leaves = self._leaves
        if leaves is None or is_followed():
            return None
        saved = self._kept
        upstream = [cotangent for cotangent in cotangents if cotangent is not None]
        mask = tuple([cotangent is not None for cotangent in cotangents])
        compiled = saved.backward(wrt, mask)
        if context.eager and saved.is_free and self._settings is thread_settings():
            values = (*[inputs[index] for index in saved.inputs], *upstream)
            arrays = call_kernel(partial(compiled, *leaves), values, Tensor)
            if arrays is not FAILED:
                return list(map(Tensor, arrays))
        attrs = vjp_attrs(CALL, self._attrs, wrt, mask)
        count, last = len(leaves), len(leaves) + len(inputs)

        def run(*arrays: Any) -> Sequence[Any]:
            return compiled(*arrays[:count], *[arrays[count + index] for index in saved.inputs], *arrays[last:])

        with self._settings():
            return list(apply_compiled(VJP, (*inputs, *upstream), attrs, (self._body,), run, extra=leaves))


def forward_pass(
    op: OpDef, inputs: Sequence[Any], attrs: Attrs, regions: Sequence[Graph], is_connected: Callable[[Tensor], bool]
) -> ForwardPass | None:
    """Returns the forward pass of an op that is applied eagerly under one tape; None if the op runs as usual."""
    # None if the op runs as usual: it is not a call of a compiled function, runs on several devices, or has nothing to
    # differentiate.
    if op is not CALL or not _is_one_program(regions[0]) or not any(_differentiated(regions[0])):
        return None
    wrt = [index for index, value in enumerate(inputs) if isinstance(value, Tensor) and is_connected(value)]
    return ForwardPass(attrs, regions[0], tuple(wrt)) if wrt else None


@jax.tree_util.register_static
class _Kept:
    """The derivative that one trace of a forward pass returns besides its residuals, which are arrays."""

    def __init__(
        self, push: Any, values: Sequence[Any], wrt: tuple[int, ...], differentiated: Sequence[bool], index: Any
    ) -> None:
        leaves, self._tree = cast("Any", jax.tree.flatten)(push)
        positions = {id(value): position for position, value in enumerate(values)}
        self._sources = [positions.get(id(leaf), -1) for leaf in leaves]
        # The positions of the inputs that are residuals: as outputs of a program they would be copies.
        self.inputs = tuple(sorted({source for source in self._sources if source >= 0}))
        # The residuals that are not inputs.
        self.leaves = tuple([leaf for leaf, source in zip(leaves, self._sources, strict=True) if source < 0])
        self._wrt, self._types = wrt, [type_of(values[position]) for position in wrt]
        self._differentiated, self._place = differentiated, index
        self.is_free = index is None  # whether the passes run where their inputs are
        self._compiled: dict[Any, Callable[..., Any]] = {}

    def without_leaves(self) -> _Kept:
        """Drops the residuals, which belong to the trace, and returns itself."""
        self.leaves = ()
        return self

    def backward(self, wrt: tuple[int, ...], mask: tuple[bool, ...]) -> Callable[..., Any]:
        """Returns the compiled backward pass: from residuals, :attr:`inputs` and cotangents to gradients."""
        compiled = self._compiled.get((wrt, mask))
        if compiled is None:
            compiled = self._compiled[wrt, mask] = self._make_backward(wrt, mask)
        return compiled

    def _make_backward(self, wrt: tuple[int, ...], mask: tuple[bool, ...]) -> Callable[..., Any]:
        present = tuple(itertools.compress(mask, self._differentiated))
        positions = tuple(map(self._wrt.index, wrt))
        count = sum(source < 0 for source in self._sources)

        def backward(*values: Any) -> tuple[Any, ...]:
            leaves = iter(values[:count])
            inputs = dict(zip(self.inputs, values[count:], strict=False))
            filled = [next(leaves) if source < 0 else inputs[source] for source in self._sources]
            push = jax.tree.unflatten(self._tree, filled)
            return pull_back(push, self._types, present, positions, values[count + len(self.inputs) :])

        compiled = cast("Callable[..., Any]", jax.jit(backward))
        return compiled if self._place is None else on_one(self._place, compiled)


@dataclass(frozen=True)
class _Passes:
    """The compiled forward pass of a body: from the inputs to all outputs, residuals, and what they belong to."""

    forward: Callable[..., Any]
    # The same as a function of JAX's, for calls that need no more; None if it needs more.
    direct: Callable[..., Any] | None


def _passes(body: Graph, wrt: tuple[int, ...], arrays: Sequence[Any]) -> _Passes | None:
    """Returns the compiled passes; None if there is no derivative, which a trace for arrays like these shows."""
    key = ("passes", wrt)
    if key not in body.caches:
        body.caches[key] = _make_passes(body, wrt, list(map(type_of, arrays)))
    return cast("_Passes | None", body.caches[key])


def _make_passes(body: Graph, wrt: tuple[int, ...], types: Sequence[TensorType]) -> _Passes | None:
    function, wanted = region_function(body), _differentiated(body)
    (device,) = _devices(body)
    target = find_device(device) if device else None

    def forward(*values: Any) -> tuple[tuple[Any, ...], Sequence[Any], _Kept]:
        outputs, push = pushforward(function, values, wrt, wanted)
        saved = _Kept(push, values, wrt, wanted, target)
        return outputs, saved.leaves, saved.without_leaves()

    forward.__name__ = f"{body.name}_forward"
    program = XlaFunction(forward, body.name, calls_host=calls_host(body))
    try:
        program.trace(types)
    except Exception:  # JAX has no derivative; the kernel raises any other error
        return None

    def launch(*arrays: Any) -> Any:
        return program.launch(arrays)

    if target is not None:
        return _Passes(on_one(target, launch), None)
    return _Passes(launch, None if calls_host(body) else program.jitted)


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
