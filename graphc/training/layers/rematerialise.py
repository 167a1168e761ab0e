"""``remat``: a function whose intermediate values are computed again for its gradient, and not kept."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ParamSpec, TypeVar, cast

import jax as _jax

from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import apply_all, converted
from graphc.compiler.function import Function
from graphc.compiler.ir import Attrs, Graph, TensorType, define_op
from graphc.compiler.ops import ORDER, asarray
from graphc.compiler.tracing import Region, current_trace, is_tracing, refusal
from graphc.training.layers.layer import Layer

jax: Any = _jax  # its functions are only partly annotated

P = ParamSpec("P")
R = TypeVar("R")

_POLICIES = (
    "checkpoint_dots",
    "checkpoint_dots_with_no_batch_dims",
    "dots_saveable",
    "dots_with_no_batch_dims_saveable",
    "everything_saveable",
    "nothing_saveable",
)


def remat(fn: Callable[P, R], *, policy: str | None = None) -> Callable[P, R]:
    """Makes the same function with a gradient that takes less memory and more time (``jax.checkpoint``).

    What ``fn`` computes on the way is not kept until the gradient needs it, but computed again from the arguments. Put
    it around the blocks of a deep model. ``fn`` is compiled, in eager code too, and draws the same random numbers when
    it is computed again. From Griewank, 1992, and Chen and others, 2016.

    Args:
      fn: a function of tensors, such as a layer. It may read and assign Variables.
      policy: what to keep all the same: ``"dots_saveable"`` for the results of matrix products, or another name in
        ``jax.checkpoint_policies`` that takes no arguments; None for nothing.

    Returns:
      The function, of the same arguments and results; of a layer, a layer with its Variables. Numbers that ``fn``
      returns become tensors.

    Raises:
      InvalidTypeError: ``fn`` is no function.
      InvalidArgumentError: there is no such policy.
      UnimplementedError: when called: ``fn`` prints or calls ``gx.pyfunc``, which would happen twice, or changes an
        object from outside.

    Example:
      >>> import graphc as gx
      >>> block = gx.remat(lambda x: gx.sin(gx.sin(x)))
      >>> f"{gx.grad(block)(1.0).item():.4f}"
      '0.3600'
    """
    if not callable(fn):
        raise InvalidTypeError(f"remat: expected a function, got {fn!r:.60}").here()
    if policy is not None and policy not in _POLICIES:
        policies = ", ".join([*_POLICIES])
        raise InvalidArgumentError(f"remat: there is no policy {policy!r:.60}; there are {policies}").here()
    name = str(getattr(fn, "__name__", type(fn).__name__))
    compiled = Function(partial(_as_region, fn, policy, name), on_retrace="ignore", name=name)

    def rematerialised(*args: Any, **kwargs: Any) -> Any:
        return compiled(*args, **kwargs)

    if isinstance(fn, Layer):
        return cast("Callable[P, R]", _Block(fn, rematerialised))
    return functools.update_wrapper(rematerialised, fn)


class _Block(Layer):
    """A layer that is computed again: with its Variables, by their names."""

    def __init__(self, layer: Layer, run: Callable[..., Any]) -> None:
        super().__init__(layer.name)
        self.layer, self._run, self.built = layer, run, True

    def _parts(self) -> Iterable[tuple[str, Any]]:
        return self.layer._parts()  # pyright: ignore[reportPrivateUsage]  a family's own

    def call(self, *inputs: Any, training: bool = False, **options: Any) -> Any:
        """Computes what the layer gives."""
        return self._run(*inputs, training=training, **options)


def _remat(*values: Any, body: Callable[..., Any], policy: str | None = None) -> tuple[Any, ...]:
    keep = None if policy is None else getattr(jax.checkpoint_policies, policy)

    def graph(*inputs: Any) -> tuple[Any, ...]:
        return tuple(body(*inputs))

    return jax.checkpoint(graph, policy=keep)(*values)


def _types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types, attrs
    return tuple([output.type for output in regions[0].outputs])


def _entries(
    types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]
) -> list[list[tuple[TensorType, int | None]]]:
    del attrs, regions
    return [[(type, index) for index, type in enumerate(types)]]


REMAT = define_op(
    "remat",
    impl=_remat,
    infer=_types,
    params=("*values",),
    regions=("body",),
    entries=_entries,
    doc="A graph whose intermediate values are computed again for its gradient.",
)


def _as_region(fn: Callable[..., Any], policy: str | None, name: str, /, *args: Any, **kwargs: Any) -> Any:
    if not is_tracing():  # for the Variables that it makes
        return fn(*args, **kwargs)
    what = f"the function {name!r} of gx.remat"
    region = Region(current_trace(), what)
    with region.tracing():
        leaves, structure = nest.flatten(converted(fn)(*args, **kwargs))
        outputs = [region.lift(asarray(leaf)).snapshot() for leaf in leaves]
    region.refuse_writes(what)
    written = region.written()
    if any(state is ORDER for state in written):
        text = f"{what} prints or calls gx.pyfunc, which would happen again for the gradient; do it outside"
        raise refusal(UnimplementedError(text))
    captures, states = list(region.captures.values()), list(region.states.values())
    graph = region.close(
        [*(inner for _, inner in captures), *(state.entry for state in states)],
        [*outputs, *(region.states[state.name].current for state in written)],
    )
    values = [*(outer for outer, _ in captures), *(state.variable.value() for state in states)]
    results = apply_all(REMAT, values, Attrs(policy=policy) if policy else Attrs(), (graph,))
    for state, value in zip(written, results[len(outputs) :], strict=True):
        state.assign(value)
    return nest.unflatten(structure, results[: len(outputs)])
